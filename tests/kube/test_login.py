"""Login: whatever the official client's loader accepts, with credentials that expire and rotate."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import certifi
import pytest
import yaml
from kubernetes.config import incluster_config

from tests.kube.fake import FakeServer, Seen, failure
from vcsched.kube.client import Client
from vcsched.kube.config import Login
from vcsched.kube.curl import Answer
from vcsched.kube.errors import ApiError, LoginError


def kubeconfig(folder: Path, user: object, server: str = "http://server:8080") -> str:
    path = folder / "config"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


def test_a_kubeconfig_gives_server_and_token(tmp_path: Path) -> None:
    login = Login.load(kubeconfig(tmp_path, {"token": "secret"}))
    assert (login.server, login.header, login.tls) == ("http://server:8080", "Bearer secret", None)


def test_master_overrides_the_server(tmp_path: Path) -> None:
    login = Login.load(kubeconfig(tmp_path, {"token": "secret"}), "http://other:1/")
    assert (login.server, login.header) == ("http://other:1", "Bearer secret")
    assert Login.load(master="http://bare:1").server == "http://bare:1"


def test_a_missing_kubeconfig_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LoginError, match=r"cannot log in with .*nowhere: there is no such file"):
        Login.load(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("text", ["a: b: c", "- a\n- b", "a", ""])
def test_a_file_that_is_no_kubeconfig_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(LoginError, match=r"cannot log in with .*file: [^\n]+$"):
        Login.load(str(tmp_path / "file"))


def test_outside_a_cluster_without_a_kubeconfig_the_error_says_what_to_give() -> None:
    with pytest.raises(LoginError, match="give --kubeconfig or --master"):
        Login.load()


async def test_in_a_cluster_the_service_account_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token, ca = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("first\n")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(ca))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    ca.write_text("no certificate")
    with pytest.raises(LoginError, match="certificates of the service account"):
        Login.load()
    ca.write_text(Path(certifi.where()).read_text())
    login = Login.load()
    assert (login.server, login.header) == ("https://10.0.0.1:443", "bearer first")
    assert login.tls is not None
    token.write_text("second\n")
    await login.renew(login.header)
    assert login.header == "bearer second"


def exec_plugin(folder: Path) -> dict[str, object]:
    """An exec credential plugin that gives another token each time."""
    script, counter = folder / "plugin.py", folder / "count"
    script.write_text(
        f"""
import json, pathlib
counter = pathlib.Path({str(counter)!r})
n = int(counter.read_text()) + 1 if counter.exists() else 1
counter.write_text(str(n))
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                   "status": {{"token": f"token-{{n}}"}}}}))
"""
    )
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script)],
        }
    }


async def test_a_401_makes_the_login_load_anew_and_the_request_leave_once_more(tmp_path: Path) -> None:
    async with FakeServer() as server:
        inner = server._answer
        headers: list[str] = []

        def guarded(seen: Seen) -> object:
            return inner(seen) if headers[-1] == "Bearer token-2" else failure(401, "Unauthorized", "expired")

        server._answer = guarded  # type: ignore[assignment]
        client = Client(Login.load(kubeconfig(tmp_path, exec_plugin(tmp_path), server.url)))
        await client.open()
        curl = client._open_curl
        send = curl.send

        async def noting(method: str, url: str, body: bytes | None, lines: list[str], timeout_s: float) -> Answer:
            headers.append(next(line.removeprefix("Authorization: ") for line in lines if "Authorization" in line))
            return await send(method, url, body, lines, timeout_s)

        curl.send = noting  # type: ignore[method-assign]
        try:
            assert json.loads(await client.get("/version")) == {"gitVersion": "v1.36.1"}
            assert headers == ["Bearer token-1", "Bearer token-2"]
            headers.clear()
            await client.login.renew("Bearer token-1")  # somebody else's stale answer: nothing to do
            assert client.login.header == "Bearer token-2"
            await client.login.renew("Bearer token-2")
            with pytest.raises(ApiError) as refused:
                await client.get("/version")
            assert refused.value.status == 401
        finally:
            await client.close()
