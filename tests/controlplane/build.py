"""The programs of a real control plane: found where the machine has them, else built once.

`KUBEBUILDER_ASSETS` names a folder with kube-apiserver and etcd (the convention of every operator's test
suite). Without it the two are compiled by Go from the modules pinned in this folder's `go.mod` into a
cache outside the tree, so only the first run waits for the compiler. This module does not start them
(`launch.py` does) and downloads no finished programs.

    python -m tests.controlplane.build      # prints the folder
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
}
KUBERNETES, ETCD = "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"


class NoControlPlaneError(RuntimeError):
    """The programs are neither found nor buildable here; the text says what to do."""


def programs() -> Path:
    """The folder that holds kube-apiserver and etcd, built first if need be (about 6 minutes on 2 cores).

    Raises `NoControlPlaneError` when `KUBEBUILDER_ASSETS` lacks one of them, or nothing can build them.
    """
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets:
        missing = [name for name in PROGRAMS if not (Path(assets) / name).is_file()]
        if missing:
            raise NoControlPlaneError(
                f"KUBEBUILDER_ASSETS={assets} has no {' and no '.join(missing)}; "
                "name a folder with both, or unset it to build them with Go"
            )
        return Path(assets)
    folder = cache_folder()
    if not _complete(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _only_one(folder / ".lock"):
            for name, package in PROGRAMS.items():
                if not (folder / name).is_file():
                    _build(package, folder / name)
    return folder


def cache_folder() -> Path:
    """Where built programs are kept: one folder for each pair of versions in `go.mod`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = f"kubernetes-{_pinned(KUBERNETES)}-etcd-{_pinned(ETCD)}"
    return Path(base) / "vcsched" / "controlplane" / name


def _complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in PROGRAMS)


def _pinned(module: str) -> str:
    found = re.search(rf"^\s*{re.escape(module)} (v\S+)", (HERE / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise NoControlPlaneError(f"{HERE / 'go.mod'} requires no version of {module}")
    return found.group(1)


def _build(package: str, target: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise NoControlPlaneError(
            "a real control plane needs Go 1.26 or newer on PATH to build kube-apiserver and etcd, "
            "or KUBEBUILDER_ASSETS set to a folder that has both"
        )
    print(f"building {target.name} into {target.parent} (once)", file=sys.stderr, flush=True)
    half_done = target.with_name(f".{target.name}.building")
    build = [
        go,
        "build",
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        _ldflags(),
        "-o",
        str(half_done),
        package,
    ]
    done = subprocess.run(
        build,
        cwd=HERE,
        env={**os.environ, "CGO_ENABLED": "0"},  # needs no C compiler, runs on any libc
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NoControlPlaneError(f"go build {package} failed in {HERE}:\n{done.stderr.strip()[-4000:]}")
    half_done.rename(target)


def _ldflags() -> str:
    """Without a version the API server takes itself for v0.0.0 and refuses its own default features."""
    version = _pinned(KUBERNETES)
    major, minor, _ = version.removeprefix("v").split(".", 2)
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{k}={v}" for k, v in values.items())


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Parallel test workers wait for the one that builds."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    print(programs())
