"""A running simulator for each test that asks, and a plain HTTP client to talk to it."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from vcsched.simulator.cluster import ApiServer, Settings
from vcsched.simulator.kubelet import Pace

Obj = dict[str, Any]


class Http:
    """JSON requests without a Kubernetes client in between."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool = urllib3.PoolManager(retries=False, timeout=60)

    def __call__(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", **headers: str
    ) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        answer = self._pool.request(method, self._url + path, body=data, headers={"Content-Type": kind, **headers})
        return answer.status, json.loads(answer.data) if answer.data[:1] in b"{[" else answer.data.decode()

    def get(self, path: str, **headers: str) -> Any:
        status, body = self("GET", path, **headers)
        assert status == 200, body
        return body

    def post(self, path: str, body: Any) -> Any:
        status, answer = self("POST", path, body)
        assert status in (200, 201), answer
        return answer

    def watch(self, path: str) -> Iterator[Obj]:
        """The events of a watch; ends when the server ends it."""
        answer = self._pool.request("GET", self._url + path, preload_content=False)
        assert answer.status == 200
        rest = b""
        try:
            for chunk in answer.stream(1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from map(json.loads, lines)
        finally:
            answer.close()

    def raw_headers(self, path: str) -> tuple[int, dict[str, str]]:
        answer = self._pool.request("GET", self._url + path)
        return answer.status, dict(answer.headers)


def eventually(probe: Callable[[], Any], wanted: Any = True) -> Any:
    """Wait until the probe gives what is wanted; fail with what it gave last."""
    end = time.monotonic() + 60
    while (got := probe()) != wanted:
        assert time.monotonic() < end, f"still {got!r}, not {wanted!r}"
        time.sleep(0.02)
    return got


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(settings=Settings(pace=Pace(start_s=0.0, stop_s=0.0))) as running:
        yield running


@pytest.fixture
def http(server: ApiServer) -> Http:
    return Http(server.url)


@pytest.fixture
def kubeconfig(server: ApiServer, tmp_path: Path) -> Path:
    return server.write_kubeconfig(tmp_path / "kubeconfig")
