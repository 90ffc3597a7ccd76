"""Image locality (spec 06 §3.8)."""

from __future__ import annotations

import pytest

from vcsched.kube.objects import Container, PodSpec
from vcsched.model.images import image_name, locality_score, spread_size, wanted_images

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("web", "web:latest"),
        ("web:1", "web:1"),
        ("host:5000/web", "host:5000/web:latest"),
        ("host:5000/web:1", "host:5000/web:1"),
        ("web@sha256:ab", "web@sha256:ab"),
    ],
)
def test_a_name_without_tag_means_the_latest(name: str, known: str) -> None:
    assert image_name(name) == known


def test_init_containers_and_containers_bring_their_images() -> None:
    spec = PodSpec(
        containers=(Container(image="web"), Container(image="web")), init_containers=(Container(image="i:1"),)
    )
    assert wanted_images(spec) == ("i:1", "web:latest", "web:latest")


def test_an_image_counts_with_the_share_of_nodes_that_have_it() -> None:
    assert spread_size(100 * MIB, 1, 4) == 25 * MIB
    assert spread_size(10, 1, 3) == 3


@pytest.mark.parametrize(
    ("sizes", "containers", "score"),
    [
        ([], 1, 0),
        ([23 * MIB], 1, 0),
        ([1000 * MIB], 1, 100),
        ([9000 * MIB], 1, 100),
        ([300 * MIB, 200 * MIB], 1, 48),
        ([1000 * MIB], 2, 49),
    ],
)
def test_scores_rise_from_23_mib_to_1000_mib_a_container(sizes: list[int], containers: int, score: int) -> None:
    assert locality_score(sizes, containers) == score
