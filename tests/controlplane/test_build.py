"""Where the programs of the control plane come from, and what is said when there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.controlplane import build


def test_the_folder_of_the_test_assets_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("etcd", "kube-apiserver", "kubectl"):
        (tmp_path / name).touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

    assert build.programs() == tmp_path
    assert build.kubectl() == tmp_path / "kubectl"


def test_an_incomplete_folder_is_named_with_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etcd").touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

    with pytest.raises(build.NoControlPlaneError, match=f"KUBEBUILDER_ASSETS={tmp_path} has no kube-apiserver"):
        build.programs()


def test_without_programs_and_without_go_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(build.NoControlPlaneError, match=r"Go 1\.26 or newer on PATH"):
        build.programs()


def test_built_programs_are_kept_by_version_outside_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = tmp_path / "vcsched" / "controlplane" / "kubernetes-v1.36.1-etcd-v3.6.8"
    kept.mkdir(parents=True)
    for name in ("etcd", "kube-apiserver"):
        (kept / name).touch()

    assert build.programs() == kept
