"""`vcsched simulate`: one line when ready, a kubeconfig, a clean end."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tests.simulator.conftest import Http
from vcsched.cli.simulate import simulate
from vcsched.simulator.cluster import ApiServer, ApiServerProcess, Settings
from vcsched.simulator.world import World

COMMAND = [sys.executable, "-c", "from vcsched.cli.simulate import simulate; simulate()"]


@contextmanager
def running(*words: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_what_was_loaded_and_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    world = World()
    world.gang("llama", pods=2, cpu=1)
    (tmp_path / "world.yaml").write_text(world.yaml())
    out = tmp_path / "kubeconfig"
    words = ["--nodes", "3", "--load", str(tmp_path / "world.yaml"), "--kubeconfig-out", str(out)]
    with running(*words) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"simulator ready at (http://127\.0\.0\.1:\d+): 3 nodes, 3 objects loaded\n", line)
        assert found, line
        assert yaml.safe_load(out.read_text())["clusters"][0]["cluster"]["server"] == found[1]
        http = Http(found[1])
        assert len(http.get("/api/v1/nodes")["items"]) == 3
        uids = {pod["metadata"]["uid"] for pod in http.get("/api/v1/pods")["items"]}
        assert uids == {pod["metadata"]["uid"] for pod in world.of("Pod")}
        process.send_signal(number)
        rest, errors = process.communicate(timeout=60)
        assert (process.returncode, rest, errors) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--listen", "nonsense"], "'nonsense' is not HOST:PORT, for example 127.0.0.1:8001"),
        (["--nodes", "-3"], "-3 is not in the range x>=0"),
        (["--nodes", "1", "--node-cpu", "abc"], "'abc' is not an amount, for example 32"),
        (["--kubeconfig-out", "{file}/none"], "--kubeconfig-out {file}/none: Not a directory"),
        (["--load", "{file}"], "kind 'Banana' of 'v1' is not served here"),
    ],
)
def test_wrong_use_is_one_clear_error(tmp_path: Path, words: list[str], message: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("apiVersion: v1\nkind: Banana\nmetadata: {name: b}\n")
    done = CliRunner().invoke(simulate, [word.format(file=file) for word in words])
    assert done.exit_code != 0
    assert message.format(file=file) in done.output


def test_an_address_that_is_taken_is_one_clear_error() -> None:
    with ApiServer() as server:
        done = CliRunner().invoke(simulate, ["--listen", f"127.0.0.1:{server.port}"])
        assert done.exit_code == 1
        assert f"cannot serve on 127.0.0.1:{server.port}" in done.output
        with pytest.raises(OSError, match="address already in use"):
            ApiServer(settings=Settings(port=server.port)).start()


def test_a_server_in_a_process_of_its_own_answers_and_ends() -> None:
    world = World()
    world.nodes(2)
    with ApiServerProcess(world.objects()) as server:
        assert len(Http(server.url).get("/api/v1/nodes")["items"]) == 2
        url = server.url
    with pytest.raises(Exception, match="refused"):
        Http(url).get("/api/v1/nodes")
