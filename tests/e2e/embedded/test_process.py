"""The daemon as a process among others: quiet when idle, talkative when asked."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import psutil

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.daemon import Daemon
from vcsched.daemon.scheduling import NICENESS
from vcsched.simulator.cluster import ApiServer

READS = ("get", "list", "watch")


def sessions(scheduler: Daemon) -> float:
    """How many sessions have ended."""
    found = re.search(r"^volcano_e2e_scheduling_latency_milliseconds_count (\S+)$", scheduler.metrics(), re.M)
    return float(found.group(1)) if found is not None else 0.0


def writes(server: ApiServer) -> Counter[str]:
    """What was asked of the server so far, reads not counted."""
    asked = server.requests().items()
    return Counter({request: count for request, count in asked if not request.startswith(READS)})


def run_sessions(cluster: Cluster, scheduler: Daemon, count: int) -> None:
    goal = sessions(scheduler) + count
    cluster.wait(lambda: sessions(scheduler) >= goal)


def test_an_idle_scheduler_writes_nothing(server: ApiServer, cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(2, cpu=2)
    cluster.gang("runs", pods=2, cpu=1)
    cluster.gang("waits", pods=3, cpu=1, min_resources=None)
    cluster.pod("bare", cpu=5)
    cluster.submit()
    scheduler = daemon()
    cluster.wait(lambda: cluster.phase("runs") == "Running" and cluster.why("waits"))
    cluster.wait(lambda: cluster.group("runs")["status"].get("running") == 2)

    def is_quiet() -> bool:
        before = writes(server)
        run_sessions(cluster, scheduler, 5)
        return writes(server) == before

    cluster.wait(is_quiet)  # what was decided before has been written
    before = writes(server)

    run_sessions(cluster, scheduler, 10)

    assert writes(server) - before == Counter()


def test_only_the_thread_that_decides_lets_others_go_first(cluster: Cluster, daemon: StartDaemon) -> None:
    """Where cores are few, binds leave beside a busy session, and probes are answered."""
    scheduler = daemon()
    run_sessions(cluster, scheduler, 1)
    process = psutil.Process(scheduler.pid)
    [io] = process.children()

    nices = [os.getpriority(os.PRIO_PROCESS, thread.id) for thread in process.threads()]

    ours = os.nice(0)
    assert sorted(nices) == [ours] * (len(nices) - 1) + [ours + NICENESS]
    assert io.nice() == ours


def test_signals_ask_for_dumps_to_a_file_and_to_the_log(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(1, cpu=2)
    cluster.gang("one", pods=2, cpu=1)
    cluster.submit()
    scheduler = daemon()
    cluster.wait(lambda: cluster.bound("one") == 2)
    cluster.wait(lambda: scheduler.catches(signal.SIGUSR1) and scheduler.catches(signal.SIGUSR2))

    scheduler.send(signal.SIGUSR1)
    cluster.wait(lambda: "the cache is dumped to /" in scheduler.log)
    scheduler.send(signal.SIGUSR2)
    cluster.wait(lambda: "the cache is dumped to this log" in scheduler.log)

    [dump] = scheduler.folder.glob("snapshot-*.json")
    nodes, *_ = [json.loads(line) for line in dump.read_text().splitlines()]
    assert list(nodes) == ["n-0"]
    assert f"{cluster.default_namespace}/one" in dump.read_text()
    assert dump.stat().st_mode & 0o777 == 0o600
    assert "Dump of nodes info in scheduler cache" in scheduler.log


def test_explain_gives_the_one_reason_and_the_numbers(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(2, cpu=2)
    cluster.queue("research", weight=3, capability={"cpu": 20})
    cluster.gang("wide", pods=9, cpu=1, queue="research", min_resources=None)
    cluster.submit()
    scheduler = daemon()
    cluster.wait(lambda: cluster.why("wide"))

    done = vcsched("explain", "podgroup", f"{cluster.default_namespace}/wide", "-o", "json", daemon=scheduler)
    shown = vcsched("explain", "pg", f"{cluster.default_namespace}/wide", daemon=scheduler)
    unknown = vcsched("explain", "podgroup", "nobody", daemon=scheduler)

    answer = json.loads(done.stdout)
    assert (answer["queue"], answer["gang"]["needs"], answer["gang"]["placed"]) == ("research", 9, 0)
    cluster.wait(lambda: answer["why"]["sentence"] in cluster.why("wide"))
    assert {"resource": "cpu", "used": "0", "limit": "20"} in answer["queueUsage"]["resources"]
    assert "9 pods created, 0 placed, needs 9" in shown.stdout
    assert (unknown.returncode, unknown.stderr) == (1, "Error: there is no podgroup default/nobody\n")


def test_a_standby_is_ready_to_take_over_and_explains_nothing(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.submit()
    daemon("--leader-elect=true")
    cluster.wait(cluster.leader)
    standby = daemon("--leader-elect=true")

    done = vcsched("explain", "podgroup", "any", daemon=standby)

    assert done.returncode == 1
    assert "does not lead" in done.stderr


def test_an_unknown_flag_ends_with_the_usage_and_status_2() -> None:
    done = subprocess.run([program("vc-scheduler"), "--shedule-period=1s"], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.startswith("Usage of vc-scheduler:")
    assert done.stderr.endswith("unknown flag: --shedule-period\n")


def test_a_server_that_does_not_answer_is_one_clear_line() -> None:
    done = subprocess.run(
        [program("vcsched"), "run", "--master=http://127.0.0.1:1", "--leader-elect=false"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "cannot start" in line
    assert "127.0.0.1" in line


def vcsched(*arguments: str, daemon: Daemon) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "VCSCHED_DAEMON": daemon.healthz}
    return subprocess.run([program("vcsched"), *arguments], capture_output=True, text=True, env=env, check=False)


def program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def test_without_a_good_configuration_a_strict_daemon_ends(server: ApiServer, kubeconfig: Path, tmp_path: Path) -> None:
    bad = tmp_path / "scheduler.conf"
    bad.write_text('actions: "alocate"\n')

    done = subprocess.run(
        [
            program("vc-scheduler"),
            f"--kubeconfig={kubeconfig}",
            f"--scheduler-conf={bad}",
            "--disable-default-scheduler-config",
            "--listen-address=127.0.0.1:0",
            "--healthz-address=127.0.0.1:0",
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 255
    assert "alocate" in done.stderr
    assert server.objects("Lease", "coordination.k8s.io/v1")[0]["spec"]["holderIdentity"] == ""
