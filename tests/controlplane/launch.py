"""Start and stop a real kube-apiserver with its etcd, and hand out kubeconfigs.

The API server checks RBAC like a cluster's: `admin` is in system:masters, and `service_account_kubeconfig`
logs in as any ServiceAccount with just the rights that its bindings give. Data is thrown away at the end,
so etcd does not wait for the disk. There is no controller manager: nothing makes tokens for pods, taints
nodes or collects garbage, hence the two admission plugins that lean on it are off.

    python -m tests.controlplane.launch     # runs until Ctrl-C, prints the kubeconfig of the admin
"""

from __future__ import annotations

import contextlib
import json
import secrets
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.controlplane import audit
from tests.controlplane.build import programs

READY_WITHIN_S = 120.0


class ControlPlane:
    """One API server and its etcd, with everything they write under `folder`.

    `url` and `ca` say where and whom to trust; `admin` is the path of the admin's kubeconfig.
    """

    def __init__(self, folder: Path, binaries: Path | None = None) -> None:
        self.folder = folder
        self.token = secrets.token_hex(16)
        self.ca = folder / "certificates" / "apiserver.crt"
        self._binaries = binaries
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._reserved = reserve_ports(3)
        self._etcd_port, self._peer_port, self._port = ports_of(self._reserved)
        self.url = f"https://127.0.0.1:{self._port}"
        self.admin = folder / "admin.kubeconfig"
        self._audit_log = folder / "audit.log"

    def start(self) -> None:
        """Start both and return when /readyz answers ok (about 5 seconds); builds the programs if need be.

        Raises `RuntimeError` with the end of the log when one of them ends or is not ready in time.
        """
        binaries = self._binaries or programs()
        self.folder.mkdir(parents=True, exist_ok=True)
        tokens = self.folder / "tokens.csv"
        tokens.touch(mode=0o600)
        tokens.write_text(f'{self.token},admin,admin,"system:masters"\n')
        self._run(binaries, "etcd", self._etcd_flags())
        self._run(binaries, "kube-apiserver", self._apiserver_flags(tokens))
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        self.admin = self._write_kubeconfig("admin", self.token)

    def stop(self) -> None:
        """End both at once; nothing they hold is worth an orderly end."""
        for process in reversed(self._running.values()):
            process.kill()
            process.wait()
        self._running.clear()
        for one in self._reserved:
            one.close()

    def service_account_kubeconfig(self, namespace: str, name: str) -> Path:
        """A kubeconfig that logs in as this (existing) ServiceAccount, with a token good for a day."""
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        reply = self.request(
            "POST",
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {**request, "spec": {"expirationSeconds": 24 * 3600}},
        )
        return self._write_kubeconfig(f"{namespace}-{name}", reply["status"]["token"])

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """One call as the admin; the decoded reply. Raises `urllib.error.HTTPError` (its body says why)."""
        call = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        trust = ssl.create_default_context(cafile=str(self.ca))
        with urllib.request.urlopen(call, timeout=60, context=trust) as reply:
            text = reply.read()
            return json.loads(text) if reply.headers.get_content_type() == "application/json" else text

    def asked(self) -> list[audit.Request]:
        """What ServiceAccounts have asked so far, with the answers."""
        return audit.read(self._audit_log)

    def __enter__(self) -> ControlPlane:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _etcd_flags(self) -> list[str]:
        client, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{self._peer_port}"
        return [
            f"--data-dir={self.folder / 'etcd'}",
            "--unsafe-no-fsync",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--log-level=warn",
        ]

    def _apiserver_flags(self, tokens: Path) -> list[str]:
        # The API server makes itself a certificate before it reads the keys of service accounts, so its
        # own key can sign their tokens too and no tool for making keys is needed.
        key = self.ca.with_suffix(".key")
        return [
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            f"--cert-dir={self.ca.parent}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self._port}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--endpoint-reconciler-type=none",
            "--delete-collection-workers=8",
            f"--audit-policy-file={self._audit_policy()}",
            f"--audit-log-path={self._audit_log}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
        ]

    def _audit_policy(self) -> Path:
        policy = self.folder / "audit-policy.json"
        policy.write_text(json.dumps(audit.POLICY))
        return policy

    def _run(self, binaries: Path, program: str, flags: list[str]) -> None:
        with self._log(program).open("wb") as log:
            command = [str(binaries / program), *flags]
            self._running[program] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def _log(self, program: str) -> Path:
        return self.folder / f"{program}.log"

    def _wait_until_ready(self) -> None:
        give_up = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < give_up:
            for program, process in self._running.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{program} ended:\n{self._end_of_log(program)}")
            # No certificate yet, nobody listening yet, or not every check of /readyz passed yet.
            with contextlib.suppress(OSError, urllib.error.URLError):
                self.request("GET", "/readyz")
                return
            time.sleep(0.1)
        log = self._end_of_log("kube-apiserver")
        raise RuntimeError(f"kube-apiserver was not ready within {READY_WITHIN_S:.0f} s:\n{log}")

    def _end_of_log(self, program: str) -> str:
        return "\n".join(self._log(program).read_text(errors="replace").splitlines()[-15:])

    def _write_kubeconfig(self, user: str, token: str) -> Path:
        path = self.folder / f"{user}.kubeconfig"
        path.touch(mode=0o600)
        cluster = {"server": self.url, "certificate-authority": str(self.ca)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            "current-context": "test",
        }
        path.write_text(json.dumps(config, indent=2))
        return path


def reserve_ports(count: int) -> list[socket.socket]:
    """Sockets bound to free ports of 127.0.0.1, all different; close them when the ports are no longer needed.

    None of them listens, so a program may: servers set SO_REUSEADDR. And nobody else is given these ports by chance
    while a slow machine starts the program.
    """
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
    return sockets


def ports_of(sockets: list[socket.socket]) -> list[int]:
    """The ports of bound sockets."""
    return [one.getsockname()[1] for one in sockets]


def _main() -> None:
    # Blocked before the start, so that the programs started here do not get the Ctrl-C of the terminal.
    stop = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    with (
        tempfile.TemporaryDirectory(prefix="vcsched-controlplane-") as folder,
        ControlPlane(Path(folder)) as plane,
    ):
        print(f"export KUBECONFIG={plane.admin}", flush=True)
        signal.sigwait(stop)


if __name__ == "__main__":
    _main()
