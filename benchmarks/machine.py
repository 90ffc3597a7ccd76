"""On what the figures were taken: CPU, cores, load, Python, numpy. Reads /proc; elsewhere it says less."""

from __future__ import annotations

import math
import os
import platform
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil


def describe() -> dict[str, Any]:
    """Plain values for the JSON and the report's title."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version() + ("" if _has_gil() else " free-threaded"),
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.release()}",
    }


def load() -> float:
    """The load average of the last minute; 0 where there is none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def cpu_s(pid: int) -> float:
    """CPU seconds, user and system, that a process and its children (the daemon's I/O process) have used so far."""
    return sum(sum(one.cpu_times()[:2]) for one in family(pid))


class CpuLog:
    """Follows the CPU time of a process while the block runs; the ends of the log stand for what is beyond."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._times: list[float] = []  # unix seconds
        self._used: list[float] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> CpuLog:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def at(self, when: float) -> float:
        """CPU seconds used until then."""
        return float(np.interp(when, self._times, self._used))

    def since(self, began: float, until: float = math.inf) -> float:
        """CPU seconds used between two times."""
        return self.at(until) - self.at(began)

    def _follow(self) -> None:
        while not self._stopped.wait(0.05):
            try:
                self._used.append(cpu_s(self._pid))
            except psutil.NoSuchProcess:
                return
            self._times.append(time.time())


def resident_mb(pid: int) -> float:
    """Resident memory of a process and its children in MB (10^6 bytes)."""
    return sum(float(one.memory_info().rss) for one in family(pid)) / 1e6


def family(pid: int) -> list[psutil.Process]:
    """A process and all that it has started. Raises `psutil.NoSuchProcess`."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _has_gil() -> bool:
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
