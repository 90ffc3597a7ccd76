"""Taints and tolerations (spec 06 §2.8, §2.10, §3.5)."""

from __future__ import annotations

import pytest

from vcsched.kube.objects import Taint, Toleration
from vcsched.model.taints import count_unpreferred, tolerates, tolerates_unschedulable, untolerated

GPU = Taint(key="gpu", value="only", effect="NoSchedule")


@pytest.mark.parametrize(
    "toleration",
    [
        Toleration(key="gpu", value="only", effect="NoSchedule"),
        Toleration(key="gpu", operator="Equal", value="only"),
        Toleration(key="gpu", operator="Exists"),
        Toleration(key="gpu", operator="Exists", value="anything"),
        Toleration(operator="Exists"),
        Toleration(operator="Exists", effect="NoSchedule"),
        Toleration(key="gpu", operator="Exists", toleration_seconds=0),
    ],
)
def test_these_tolerate(toleration: Toleration) -> None:
    assert tolerates(toleration, GPU)


@pytest.mark.parametrize(
    "toleration",
    [
        Toleration(),
        Toleration(key="gpu"),
        Toleration(key="gpu", value="other"),
        Toleration(key="other", value="only"),
        Toleration(key="other", operator="Exists"),
        Toleration(key="gpu", operator="Exists", effect="NoExecute"),
        Toleration(operator="Equal", value="only"),
        Toleration(key="gpu", operator="Near", value="only"),
    ],
)
def test_these_do_not(toleration: Toleration) -> None:
    assert not tolerates(toleration, GPU)


@pytest.mark.parametrize("operator", ["Lt", "Gt"])
def test_the_numeric_operators_tolerate_nothing(operator: str) -> None:
    for bound in ("1", "5", "9"):
        level = Taint(key="level", value="5", effect="NoSchedule")
        assert not tolerates(Toleration(key="level", operator=operator, value=bound), level)


def test_the_first_taint_that_keeps_the_pod_away_is_named() -> None:
    soft = Taint(key="a", effect="PreferNoSchedule")
    gone = Taint(key="b", effect="NoExecute")
    assert untolerated((soft, gone, GPU), ()) is gone
    assert untolerated((soft, gone, GPU), (Toleration(key="b", operator="Exists"),)) is GPU
    assert untolerated((soft, gone, GPU), (Toleration(operator="Exists"),)) is None
    assert untolerated((soft,), ()) is None
    assert untolerated((), ()) is None


def test_only_soft_taints_count_against_a_node_and_only_soft_tolerations_help() -> None:
    a, b = Taint(key="a", effect="PreferNoSchedule"), Taint(key="b", effect="PreferNoSchedule")
    assert count_unpreferred((a, b, GPU), ()) == 2
    assert count_unpreferred((a, b), (Toleration(key="a", operator="Exists"),)) == 1
    assert count_unpreferred((a, b), (Toleration(operator="Exists", effect="PreferNoSchedule"),)) == 0
    assert count_unpreferred((a, b), (Toleration(operator="Exists", effect="NoSchedule"),)) == 2


def test_a_node_marked_unschedulable_needs_its_own_toleration() -> None:
    assert tolerates_unschedulable((Toleration(key="node.kubernetes.io/unschedulable", operator="Exists"),))
    assert tolerates_unschedulable((Toleration(key="node.kubernetes.io/unschedulable", effect="NoSchedule"),))
    assert not tolerates_unschedulable((Toleration(key="node.kubernetes.io/unschedulable", effect="NoExecute"),))
    assert not tolerates_unschedulable((Toleration(key="gpu", operator="Exists"),))
