"""Login: where the API server is, and as whom we speak to it.

The official client's loader does the work, so that everything kubectl accepts is accepted here: kubeconfig
with client certificates, token files, exec plugins and auth providers, and the in-cluster service account
with its rotating token. `--master` overrides the server of the kubeconfig (spec 02 §1.2).

The loader blocks (files, exec plugins), so it never runs on the event loop: `renew` and `keep_fresh` go
through a thread. Nothing here is logged or dumped, since it holds secrets.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from kubernetes import client as official
from kubernetes import config as loader
from kubernetes.config.config_exception import ConfigException

from vcsched.kube.errors import LoginError

log = logging.getLogger(__name__)

REFRESH_S = 30.0
"""How often an expiring credential is looked at; service account tokens are re-read once a minute."""


@dataclass
class Login:
    """A server and an identity.

    `server` has no trailing slash; `header` is the whole value of the Authorization header, "" for none;
    `tls` is None for plain HTTP; `server_name` replaces the host name in certificate checks. The same trust
    as file names, for libcurl: `ca_file` ("" for the system's), `cert_file` and `key_file`, `verify`.
    """

    server: str
    header: str = ""
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    proxy: str | None = None
    kubeconfig: str = ""
    master: str = ""
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    verify: bool = True

    @property
    def connect_to(self) -> str:
        """How libcurl is told to reach the server where certificates are checked for another name; else ""."""
        if not self.server_name:
            return ""
        url = urlsplit(self.server)
        port = url.port or 443
        return f"{self.server_name}:{port}:{url.hostname}:{port}"

    @property
    def url(self) -> str:
        """The server as single requests name it: with `server_name` for its host where that is set."""
        if not self.server_name:
            return self.server
        url = urlsplit(self.server)
        return f"{url.scheme}://{self.server_name}:{url.port or 443}{url.path}"

    def __post_init__(self) -> None:
        self._official: official.Configuration | None = None
        self._renewing = asyncio.Lock()

    @classmethod
    def load(cls, kubeconfig: str = "", master: str = "") -> Login:
        """Log in by kubeconfig, by bare URL, or, with neither, as the pod we run in. Raises `LoginError`."""
        made = cls(server="", kubeconfig=kubeconfig, master=master)
        made._load()
        return made

    async def renew(self, stale: str) -> None:
        """Load everything anew after a 401 that the header `stale` met; once for all who ask meanwhile.

        Raises `LoginError`.
        """
        async with self._renewing:
            if self.header == stale:
                await asyncio.to_thread(self._load)

    async def keep_fresh(self) -> None:
        """Let the loader's own expiry checks run, for ever."""
        while True:
            await asyncio.sleep(REFRESH_S)
            try:
                await asyncio.to_thread(self._refresh)
            except (LoginError, ConfigException, OSError) as error:
                log.warning("credentials could not be refreshed, the old ones stay in use: %s", error)

    def _load(self) -> None:
        if not self.kubeconfig and self.master:
            self.server = self.master.rstrip("/")
            if self.server.startswith("https"):
                self.tls = ssl.create_default_context()
                self.ca_file = _system_trust()
            return
        made = official.Configuration()
        source = self.kubeconfig or "in-cluster service account"
        try:
            if self.kubeconfig:
                load: Callable[..., None] = loader.load_kube_config
                load(self.kubeconfig, client_configuration=made, persist_config=False)
            else:
                load_in_cluster: Callable[..., None] = loader.load_incluster_config
                load_in_cluster(client_configuration=made)
        except (ConfigException, OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
            hint = "" if self.kubeconfig else "; outside a cluster give --kubeconfig or --master"
            why = " ".join(str(error).split())
            if self.kubeconfig and not Path(self.kubeconfig).expanduser().exists():
                why = "there is no such file"  # which the loader calls invalid
            raise LoginError(f"cannot log in with {source}: {why}{hint}") from error
        self._official = made
        self.server = (self.master or made.host).rstrip("/")
        self.server_name = made.tls_server_name
        self.proxy = made.proxy
        if self.server.startswith("https"):
            self._load_tls(made)
        self._refresh()

    def _load_tls(self, made: official.Configuration) -> None:
        """A context that is in use is changed in place, so that new connections use a new certificate."""
        self.ca_file, self.verify = made.ssl_ca_cert or _system_trust(), bool(made.verify_ssl)
        self.cert_file, self.key_file = made.cert_file or "", made.key_file or ""
        try:
            if self.tls is None:
                self.tls = ssl.create_default_context(cafile=made.ssl_ca_cert)
                if not made.verify_ssl:
                    self.tls.check_hostname = False
                    self.tls.verify_mode = ssl.CERT_NONE
            elif made.ssl_ca_cert:
                self.tls.load_verify_locations(cafile=made.ssl_ca_cert)
            if made.cert_file:
                self.tls.load_cert_chain(made.cert_file, made.key_file)
        except (ssl.SSLError, OSError) as error:
            whose = self.kubeconfig or "the service account"
            raise LoginError(f"cannot use the certificates of {whose}: {error}") from error

    def _refresh(self) -> None:
        """Ask the loader for the token; it re-reads or re-runs what has expired."""
        if self._official is None:
            return
        token = self._official.get_api_key_with_prefix("BearerToken")
        self.header = (token or "").strip()
        if not self.header and self._official.username:
            with contextlib.suppress(UnicodeError):
                self.header = self._official.get_basic_auth_token() or ""


def _system_trust() -> str:
    """The file with the certificates that this system trusts, or ""."""
    return ssl.get_default_verify_paths().cafile or ""
