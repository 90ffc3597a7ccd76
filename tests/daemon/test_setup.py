"""What flags and gates mean: kinds followed, nodes served, the lease."""

from __future__ import annotations

import pytest

from vcsched.daemon.flags import parse_options
from vcsched.daemon.setup import cache_options_of, gates_of, kinds_of, lease_of
from vcsched.kube.objects import Node, Pod, PodDisruptionBudget, PodGroup, PriorityClass, Queue, ReplicaSet


def kinds(*flags: str) -> set[type]:
    options, _ = parse_options(flags)
    return set(kinds_of(options, gates_of(options, "v1.36.1")))


def test_everything_is_followed_by_default() -> None:
    assert kinds() >= {Node, Pod, PodGroup, Queue, PriorityClass, PodDisruptionBudget, ReplicaSet}


@pytest.mark.parametrize(
    ("flag", "kind"),
    [
        ("--priority-class=false", PriorityClass),
        ("--feature-gates=PriorityClass=false", PriorityClass),
        ("--feature-gates=PodDisruptionBudgetsSupport=false", PodDisruptionBudget),
        ("--feature-gates=WorkLoadSupport=false", ReplicaSet),
    ],
)
def test_a_flag_or_gate_takes_a_kind_out(flag: str, kind: type) -> None:
    assert kinds() - kinds(flag) >= {kind}
    assert {Node, Pod, PodGroup, Queue} <= kinds(flag)


@pytest.mark.parametrize("version", ["v1.34.0", "v1.33.5-eks-1234", "v1.32.0+simulator"])
def test_gates_follow_the_version_of_the_server(version: str) -> None:
    options, _ = parse_options([])

    assert gates_of(options, version).is_on("DynamicResourceAllocation") == (version == "v1.34.0")


def test_a_server_without_a_version_is_an_error() -> None:
    options, _ = parse_options([])

    with pytest.raises(ValueError, match="no minor version"):
        gates_of(options, "")


def test_node_selector_items_are_cut_at_the_first_colon() -> None:
    options, _ = parse_options(["--node-selector=pool: a:b ,broken,zone:", "--scheduler-name=x", "--default-queue=q"])

    made = cache_options_of(options)

    assert made.node_selector == (("pool", "a:b"),)
    assert (made.scheduler_names, made.default_queue) == (("x",), "q")


def test_without_leader_election_there_is_no_lease() -> None:
    assert lease_of(parse_options(["--leader-elect=false"])[0]) is None


def test_the_lease_is_the_one_of_the_replaced_scheduler() -> None:
    lease = lease_of(parse_options(["--leader-elect-lease-duration=30s", "--lock-object-namespace=old"])[0])

    assert lease is not None
    assert (lease.namespace, lease.name, lease.duration_s) == ("old", "volcano", 30.0)
