"""What pods say in annotations, labels, gates and names (spec 01 §2.1, §2.5, §3.2; spec 08 §1.2)."""

from __future__ import annotations

import pytest

from vcsched.kube.keys import (
    GROUP_NAME,
    PREEMPTABLE,
    QUEUE_ALLOCATION_GATE,
    REVOCABLE_ZONE,
    TASK_PRIORITY,
    TASK_SPEC,
    VOLCANO_GROUP_NAME,
)
from vcsched.kube.objects import ObjectMeta, OwnerReference, Pod, PodSpec, SchedulingGate
from vcsched.model.podflags import (
    bare_group_name,
    gates,
    group_preemptable,
    group_waiting_time_s,
    has_only_queue_gate,
    job_key,
    name_index,
    preemptable,
    revocable_zone,
    role,
    task_priority,
    wants_queue_gate,
)


def pod(
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    priority: int | None = None,
) -> Pod:
    return Pod(
        metadata=ObjectMeta(namespace="ns", uid="u1", labels=labels or {}, annotations=annotations or {}),
        spec=PodSpec(priority=priority),
    )


def gated(*names: str) -> Pod:
    return Pod(spec=PodSpec(scheduling_gates=tuple(SchedulingGate(name=name) for name in names)))


def test_a_pod_belongs_to_the_group_it_names() -> None:
    assert job_key(pod({GROUP_NAME: "llama"})) == "ns/llama"
    assert job_key(pod({GROUP_NAME: ""})) == ""
    assert job_key(pod({VOLCANO_GROUP_NAME: "llama"})) == ""
    assert job_key(pod(labels={GROUP_NAME: "llama"})) == ""


def test_bare_pods_of_one_controller_share_a_group() -> None:
    owners = (OwnerReference(uid="other"), OwnerReference(uid="rs", controller=True))
    owned, free = (
        ObjectMeta(uid="u1", owner_references=owners),
        ObjectMeta(uid="u1", owner_references=owners[:1]),
    )
    assert bare_group_name(Pod(metadata=owned)) == "podgroup-rs"
    assert bare_group_name(Pod(metadata=free)) == "podgroup-u1"


def test_the_role_is_an_annotation_or_else_a_label() -> None:
    assert role(pod({TASK_SPEC: "worker"}, {TASK_SPEC: "ps"})) == "worker"
    assert role(pod({TASK_SPEC: ""}, {TASK_SPEC: "ps"})) == "ps"
    assert role(pod()) == ""


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("llama-worker-7", 7),
        ("a-b-c-012", 12),
        ("llama-7", None),
        ("a-b-c", None),
        ("a-b-", None),
        ("7", None),
    ],
)
def test_pods_of_a_gang_are_numbered_by_name(name: str, index: int | None) -> None:
    assert name_index(name) == index


@pytest.mark.parametrize(
    ("said", "spec", "result"),
    [
        (None, None, 1),
        (None, 0, 0),
        (None, 7, 7),
        ("9", 7, 9),
        ("-3", 7, -3),
        ("2147483648", 7, 7),
        ("high", 7, 7),
        ("", None, 1),
    ],
)
def test_priority_of_annotation_then_spec_then_one(said: str | None, spec: int | None, result: int) -> None:
    assert task_priority(pod(None if said is None else {TASK_PRIORITY: said}, priority=spec)) == result


def test_a_pod_is_preemptable_unless_it_says_no() -> None:
    assert preemptable(pod())
    assert preemptable(pod(labels={PREEMPTABLE: "1"}))
    assert not preemptable(pod({PREEMPTABLE: "false"}, {PREEMPTABLE: "true"}))
    assert not preemptable(pod({PREEMPTABLE: "maybe"}, {PREEMPTABLE: "true"}))
    assert not preemptable(pod(labels={PREEMPTABLE: ""}))


def test_a_group_is_not_preemptable_unless_it_says_so() -> None:
    assert not group_preemptable(ObjectMeta())
    assert group_preemptable(ObjectMeta(annotations={PREEMPTABLE: "true"}))
    assert group_preemptable(ObjectMeta(labels={PREEMPTABLE: "true"}))
    assert not group_preemptable(ObjectMeta(annotations={PREEMPTABLE: "yes"}))


@pytest.mark.parametrize(
    ("annotations", "zone"),
    [
        ({REVOCABLE_ZONE: "*"}, "*"),
        ({REVOCABLE_ZONE: "zone1"}, ""),
        ({REVOCABLE_ZONE: "", PREEMPTABLE: "true"}, ""),
        ({PREEMPTABLE: "true"}, "*"),
        ({PREEMPTABLE: "false"}, ""),
        ({}, ""),
    ],
)
def test_revocable_nodes_are_for_those_who_say_so(annotations: dict[str, str], zone: str) -> None:
    labels = {PREEMPTABLE: "true", REVOCABLE_ZONE: "*"}
    assert revocable_zone(ObjectMeta(annotations=annotations, labels=labels)) == zone


@pytest.mark.parametrize(
    ("long", "short", "seconds"),
    [("1h2m3s", "1s", 3723), ("soon", "1s", 1), ("-1s", "1s", 1), ("", "0", None), ("", "", None)],
)
def test_a_waiting_time_is_the_first_readable_one_above_nothing(long: str, short: str, seconds: float | None) -> None:
    said = {"volcano.sh/sla-waiting-time": long, "sla-waiting-time": short}
    assert group_waiting_time_s(ObjectMeta(annotations=said)) == seconds


def test_a_group_without_annotations_waits_for_ever() -> None:
    assert group_waiting_time_s(ObjectMeta()) is None


def test_gates_hold_a_pod_back() -> None:
    assert gates(gated()) == ()
    assert gates(gated(QUEUE_ALLOCATION_GATE, "other")) == (QUEUE_ALLOCATION_GATE, "other")
    assert has_only_queue_gate(gated(QUEUE_ALLOCATION_GATE))
    assert not has_only_queue_gate(gated(QUEUE_ALLOCATION_GATE, "other"))
    assert not has_only_queue_gate(gated("other"))
    assert not has_only_queue_gate(gated())


def test_opting_in_to_the_queue_gate_takes_the_exact_word() -> None:
    assert wants_queue_gate(pod({QUEUE_ALLOCATION_GATE: "true"}))
    assert not wants_queue_gate(pod({QUEUE_ALLOCATION_GATE: "True"}))
    assert not wants_queue_gate(pod(labels={QUEUE_ALLOCATION_GATE: "true"}))
