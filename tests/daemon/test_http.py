"""The HTTP servers: metrics, profiles, health, readiness, TLS (spec 02 §4)."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest

from vcsched.daemon.endpoints import health_routes, metrics_routes
from vcsched.daemon.http import Route, serve, server_tls, split_address
from vcsched.framework.metrics import Metrics


def ask(routes: Mapping[str, Route], *paths: str, method: str = "GET") -> list[tuple[int, str]]:
    """Serve the routes for a moment and give status and text of each path."""

    async def run() -> list[tuple[int, str]]:
        server = await serve(routes, "127.0.0.1:0")
        try:
            async with aiohttp.ClientSession() as client:
                answers = []
                for path in paths:
                    async with client.request(method, f"http://{server.address}{path}") as reply:
                        answers.append((reply.status, await reply.text()))
                return answers
        finally:
            await server.close()

    return asyncio.run(run())


def test_the_process_is_healthy_while_it_answers() -> None:
    routes = health_routes(lambda: ["no lease"])
    health, ping, verbose, other = ask(routes, "/healthz", "/healthz/ping", "/healthz?verbose", "/other")
    assert health == ping == (200, "ok")
    assert verbose == (200, "[+]ping ok\nhealthz check passed\n")
    assert other[0] == 404
    assert ask(routes, "/healthz", method="POST") == [(200, "ok")]


def test_readiness_names_what_is_lacking() -> None:
    lacking = ["the lease is held by another replica", "Queue is not listed yet"]
    (answer,) = ask(health_routes(lambda: lacking), "/readyz")
    assert answer == (503, "".join(f"not ready: {reason}\n" for reason in lacking))
    assert ask(health_routes(list), "/readyz") == [(200, "ok")]


def test_metrics_are_served_in_the_prometheus_text_format() -> None:
    metrics = Metrics()
    metrics.queues.set_share("q", 0.5)
    (answer,) = ask(metrics_routes(metrics.exposition), "/metrics")
    assert answer[0] == 200
    assert 'volcano_queue_share{queue_name="q"} 0.5' in answer[1]


def test_what_is_not_switched_on_is_not_served() -> None:
    assert ask(metrics_routes(None, ["vc-scheduler"]), "/metrics")[0][0] == 404
    assert ask(metrics_routes(Metrics().exposition), "/debug/pprof/")[0][0] == 404


def test_profiles_show_command_line_and_stacks() -> None:
    routes = metrics_routes(None, ["vc-scheduler", "-v=3"])
    paths = ["/", "/cmdline", "/goroutine", "/profile?seconds=0.05", "/trace", "/symbol"]
    index, line, stacks, profile, trace, symbol = ask(routes, *[f"/debug/pprof{path}" for path in paths])
    assert "/debug/pprof/profile" in index[1]
    assert line == (200, "vc-scheduler\0-v=3")
    assert "thread MainThread" in stacks[1]
    assert profile[0] == 200
    assert any("run" in stack for stack in profile[1].splitlines())
    assert trace[0] == symbol[0] == 404


@pytest.mark.parametrize("seconds", ["0", "61", "-1", "x", "nan"])
def test_a_profile_has_a_sensible_length(seconds: str) -> None:
    (answer,) = ask(metrics_routes(None, []), f"/debug/pprof/profile?seconds={seconds}")
    assert answer[0] == 400


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        (":8080", None, 8080),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("[::1]:80", "::1", 80),
        ("localhost:1", "localhost", 1),
    ],
)
def test_an_address_has_a_port_and_maybe_a_host(address: str, host: str | None, port: int) -> None:
    assert split_address(address) == (host, port)


@pytest.mark.parametrize("address", ["", "8080", "host", "host:", "host:http", ":70000"])
def test_other_addresses_are_refused_with_a_hint(address: str) -> None:
    with pytest.raises(ValueError, match="write host:port or :port"):
        split_address(address)


def test_an_address_in_use_is_an_error() -> None:
    async def run() -> None:
        server = await serve(health_routes(list), "127.0.0.1:0")
        try:
            with pytest.raises(OSError, match="address already in use"):
                await serve(health_routes(list), server.address)
        finally:
            await server.close()

    asyncio.run(run())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate for 127.0.0.1, which is its own CA, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "tls.crt", folder / "tls.key"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-out", str(certificate), "-keyout", str(key)]
    subprocess.run(command, check=True, capture_output=True)
    return str(certificate), str(key)


@pytest.mark.parametrize("with_client_certificate", [False, True])
def test_health_speaks_tls_with_the_three_files(files: tuple[str, str], with_client_certificate: bool) -> None:
    certificate, key = files

    async def run() -> str:
        server = await serve(health_routes(list), "127.0.0.1:0", server_tls(certificate, certificate, key))
        trust = ssl.create_default_context(cafile=certificate)
        if with_client_certificate:
            trust.load_cert_chain(certificate, key)
        try:
            url = f"https://{server.address}/healthz"
            async with aiohttp.ClientSession() as client, client.get(url, ssl=trust) as reply:
                return await reply.text()
        finally:
            await server.close()

    assert asyncio.run(run()) == "ok"


def test_tls_older_than_1_2_is_not_spoken(files: tuple[str, str]) -> None:
    certificate, key = files
    assert server_tls(certificate, certificate, key).minimum_version == ssl.TLSVersion.TLSv1_2


def test_a_tls_file_that_cannot_be_used_is_named(files: tuple[str, str], tmp_path: Path) -> None:
    certificate, key = files
    missing = str(tmp_path / "missing.crt")
    with pytest.raises(OSError, match=r"missing\.crt"):
        server_tls(missing, certificate, key)
    bad = tmp_path / "bad.crt"
    bad.write_text("no certificate")
    with pytest.raises(ssl.SSLError, match=r"bad\.crt"):
        server_tls(certificate, str(bad), key)
