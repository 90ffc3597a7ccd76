"""The programs of a real control plane: found where the machine has them, else built once.

`KUBEBUILDER_ASSETS` names a folder with kube-apiserver and etcd (the convention of every operator's test
suite). Without it the two are compiled by Go from the modules pinned in this folder's `go.mod` into a
cache outside the tree, so only the first run waits for the compiler; so is kubectl where the machine has
none. This module does not start them (`launch.py` does) and downloads no finished programs.

    python -m tests.controlplane.build      # prints the folder, and where kubectl is
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
KUBERNETES, ETCD = "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"
PROGRAMS = {"etcd": ETCD, "kube-apiserver": f"{KUBERNETES}/cmd/kube-apiserver"}
KUBECTL = f"{KUBERNETES}/cmd/kubectl"


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
    for name, package in PROGRAMS.items():
        _built(name, package)
    return cache_folder()


def kubectl() -> Path:
    """kubectl from `KUBEBUILDER_ASSETS`, else PATH, else built. Raises `NoControlPlaneError` as above."""
    beside = Path(os.environ.get("KUBEBUILDER_ASSETS", "/nonexistent")) / "kubectl"
    installed = str(beside) if beside.is_file() else shutil.which("kubectl")
    return Path(installed) if installed else _built("kubectl", KUBECTL)


def cache_folder() -> Path:
    """Where built programs are kept: one folder for each pair of versions in `go.mod`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = f"kubernetes-{_pinned(KUBERNETES)}-etcd-{_pinned(ETCD)}"
    return Path(base) / "vcsched" / "controlplane" / name


def _built(name: str, package: str) -> Path:
    """The program in the cache; of parallel test workers one builds and the others wait for it."""
    target = cache_folder() / name
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with (target.parent / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.is_file():
                _build(package, target)
    return target


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
    options = ["-trimpath", "-buildvcs=false", "-ldflags", _ldflags(), "-o", str(half_done)]
    done = subprocess.run(
        [go, "build", *options, package],
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


if __name__ == "__main__":
    print(programs())
    print(kubectl())
