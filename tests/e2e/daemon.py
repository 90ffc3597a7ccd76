"""The daemon as a process of its own, started with the very arguments of `deploy/deployment.yaml`.

Its configuration lies in a folder like a mounted ConfigMap: the file is a link through `..data`, and a change
replaces that link. Settings that a test needs otherwise (ports, paths, a shorter period) follow the deployed
arguments, where the last one wins.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import yaml

from tests.controlplane.launch import ports_of, reserve_ports

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CONFIGURATION = (DEPLOY / "volcano-scheduler.conf").read_text()
READY_WITHIN_S = 120.0


class Daemon:
    """One scheduler process; `log` is everything it printed, `folder` holds its files and dumps."""

    def __init__(self, kubeconfig: Path, *flags: str, configuration: str = CONFIGURATION) -> None:
        # Not pytest's folder: the path of the log-level socket may have 107 characters at most.
        self.folder = Path(tempfile.mkdtemp(prefix="vcsched-e2e-"))
        self._generation = 0
        self._mount = self.folder / "volcano.scheduler"
        self._mount.mkdir()
        self.configure(configuration)
        name = "volcano-scheduler.conf"
        (self._mount / name).symlink_to(Path("..data") / name)
        self._reserved = reserve_ports(2)
        metrics, healthz = ports_of(self._reserved)
        self.healthz = f"http://127.0.0.1:{healthz}"
        self._metrics = f"http://127.0.0.1:{metrics}/metrics"
        self._log = self.folder / "log"
        command = [
            str(Path(sys.executable).with_name("vc-scheduler")),
            *_deployed_arguments(),
            f"--kubeconfig={kubeconfig}",
            f"--scheduler-conf={self._mount / name}",
            f"--listen-address=127.0.0.1:{metrics}",
            f"--healthz-address=127.0.0.1:{healthz}",
            f"--cache-dump-dir={self.folder}",
            "--leader-elect=false",
            "--schedule-period=100ms",
            *flags,
            "2>&1",  # the stock manifests pass this as an argument
        ]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/bin:/bin", "DEBUG_SOCKET_DIR": str(self.folder)},
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def configure(self, text: str) -> None:
        """Replace the configuration as the kubelet updates a mounted ConfigMap."""
        self._generation += 1
        folder = self._mount / f"..{self._generation}"
        folder.mkdir()
        (folder / "volcano-scheduler.conf").write_text(text)
        link = self._mount / "..data_tmp"
        link.symlink_to(folder.name)
        link.rename(self._mount / "..data")

    def answers(self, path: str) -> bool:
        """Whether the health server says 200 to this path; false also while nobody listens."""
        try:
            with urllib.request.urlopen(self.healthz + path, timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def wait_until(self, path: str = "/readyz") -> None:
        """Wait for an answer of 200; fails with the end of the log if the process ends or is too slow."""
        give_up = time.monotonic() + READY_WITHIN_S
        while not self.answers(path):
            if self._process.poll() is not None or time.monotonic() > give_up:
                raise AssertionError(f"no {path} (exit code {self._process.poll()})\n{self.log[-4000:]}")
            time.sleep(0.05)

    def metrics(self) -> str:
        """The page /metrics."""
        with urllib.request.urlopen(self._metrics, timeout=60) as reply:
            return str(reply.read().decode())

    def kill(self) -> None:
        """SIGKILL: no goodbye."""
        self._process.kill()
        self._process.wait()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def catches(self, number: signal.Signals) -> bool:
        """Whether the process has a handler for a signal by now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) >> (number - 1) & 1)

    def wait(self) -> int:
        """Wait for the end of the process; its exit code."""
        return self._process.wait(timeout=120)

    def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.send(signal.SIGTERM)
        return self.wait()

    def close(self) -> None:
        """End the process if it still runs, and remove its files."""
        if self._process.poll() is None:
            self.kill()
        for one in self._reserved:
            one.close()
        shutil.rmtree(self.folder)


def _deployed_arguments() -> list[str]:
    deployment = yaml.safe_load((DEPLOY / "deployment.yaml").read_text())
    return list(deployment["spec"]["template"]["spec"]["containers"][0]["args"])
