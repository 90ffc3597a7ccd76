"""What pods say in annotations, labels and gates (spec 01 §2.1, §2.5, §3.2; spec 08 §1.2)."""

from __future__ import annotations

import pytest

from vcsched.kube.objects import ObjectMeta, OwnerReference, Pod, PodSpec, SchedulingGate
from vcsched.model.podflags import (
    PREEMPTABLE,
    QUEUE_GATE,
    REVOCABLE_ZONE,
    TASK_PRIORITY,
    TASK_SPEC,
    bare_group_name,
    gates,
    has_only_queue_gate,
    is_preemptable,
    job_key,
    priority,
    revocable_zone,
    role,
    waiting_time_s,
    wants_queue_gate,
)


def meta(labels: dict[str, str] | None = None, **annotations: str) -> ObjectMeta:
    return ObjectMeta(namespace="ns", uid="u1", labels=labels or {}, annotations=annotations)


def annotated(key: str, value: str, labels: dict[str, str] | None = None) -> ObjectMeta:
    return meta(labels, **{key: value})


def test_a_pod_belongs_to_the_group_it_names() -> None:
    assert job_key(annotated("scheduling.k8s.io/group-name", "llama")) == "ns/llama"
    assert job_key(annotated("scheduling.k8s.io/group-name", "")) == ""
    assert job_key(annotated("scheduling.volcano.sh/group-name", "llama")) == ""
    assert job_key(meta({"scheduling.k8s.io/group-name": "llama"})) == ""


def test_bare_pods_of_one_controller_share_a_group() -> None:
    owners = (OwnerReference(uid="other"), OwnerReference(uid="rs", controller=True))
    assert bare_group_name(ObjectMeta(uid="u1", owner_references=owners)) == "podgroup-rs"
    assert bare_group_name(ObjectMeta(uid="u1", owner_references=owners[:1])) == "podgroup-u1"


def test_the_role_is_an_annotation_or_else_a_label() -> None:
    assert role(annotated(TASK_SPEC, "worker", {TASK_SPEC: "ps"})) == "worker"
    assert role(annotated(TASK_SPEC, "", {TASK_SPEC: "ps"})) == "ps"
    assert role(meta()) == ""


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
    made = meta() if said is None else annotated(TASK_PRIORITY, said)
    assert priority(Pod(metadata=made, spec=PodSpec(priority=spec))) == result


@pytest.mark.parametrize("default", [True, False])
def test_preemptable_is_said_by_annotation_before_label(default: bool) -> None:
    assert is_preemptable(annotated(PREEMPTABLE, "false", {PREEMPTABLE: "true"}), default) is False
    assert is_preemptable(meta({PREEMPTABLE: "1"}), default) is True
    assert is_preemptable(annotated(PREEMPTABLE, "maybe", {PREEMPTABLE: "true"}), default) is False
    assert is_preemptable(meta({PREEMPTABLE: ""}), default) is False
    assert is_preemptable(meta(), default) is default


def test_revocable_nodes_are_for_those_who_say_so() -> None:
    assert revocable_zone(annotated(REVOCABLE_ZONE, "*")) == "*"
    assert revocable_zone(annotated(REVOCABLE_ZONE, "zone1")) == ""
    assert revocable_zone(meta(None, **{REVOCABLE_ZONE: "", PREEMPTABLE: "true"})) == ""
    assert revocable_zone(annotated(PREEMPTABLE, "true")) == "*"
    assert revocable_zone(annotated(PREEMPTABLE, "false")) == ""
    assert revocable_zone(meta({PREEMPTABLE: "true", REVOCABLE_ZONE: "*"})) == ""


def test_a_waiting_time_is_the_first_readable_one_above_nothing() -> None:
    new, old = "volcano.sh/sla-waiting-time", "sla-waiting-time"
    assert waiting_time_s({new: "1h2m3s", old: "1s"}) == 3723
    assert waiting_time_s({new: "soon", old: "1s"}) == 1
    assert waiting_time_s({new: "-1s", old: "1s"}) == 1
    assert waiting_time_s({old: "0"}) is None
    assert waiting_time_s({}) is None


def test_gates_hold_a_pod_back() -> None:
    queue, other = SchedulingGate(name=QUEUE_GATE), SchedulingGate(name="other")
    assert gates(PodSpec()) == ()
    assert gates(PodSpec(scheduling_gates=(queue, other))) == (QUEUE_GATE, "other")
    assert has_only_queue_gate(PodSpec(scheduling_gates=(queue,)))
    assert not has_only_queue_gate(PodSpec(scheduling_gates=(queue, other)))
    assert not has_only_queue_gate(PodSpec(scheduling_gates=(other,)))
    assert not has_only_queue_gate(PodSpec())


def test_opting_in_to_the_queue_gate_takes_the_exact_word() -> None:
    assert wants_queue_gate(annotated(QUEUE_GATE, "true"))
    assert not wants_queue_gate(annotated(QUEUE_GATE, "True"))
    assert not wants_queue_gate(meta({QUEUE_GATE: "true"}))
