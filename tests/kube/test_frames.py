"""The link's values as bytes: what goes in comes out, cut anywhere; what cannot go in is refused by name."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from vcsched.kube.frames import Unpacker, pack_inbound, pack_outbound
from vcsched.kube.link import (
    Bind,
    Condition,
    Deleted,
    Event,
    Evict,
    Inbound,
    Outbound,
    PodGroupStatus,
    PodStatus,
    QueueStatus,
    Reference,
    Refused,
    Synced,
    Upsert,
    Wrote,
)
from vcsched.kube.objects import KINDS, Node, Object, Pod, PodGroup, decode
from vcsched.simulator.world import World

_CONDITION = Condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")


def _objects() -> list[Object]:
    world = World()
    world.nodes(2, cpu=8, memory="16Gi")
    world.gang("train", pods=3, cpu="1500m", requests={"nvidia.com/gpu": 1})
    by_name = {resource.kind: kind for kind, resource in KINDS.items()}
    return [decode(by_name[obj["kind"]], _json(obj)) for obj in world.objects() if obj["kind"] in by_name]


def _json(obj: dict[str, Any]) -> bytes:
    return msgspec.json.encode(obj)


OBJECTS = _objects()
INBOUND: list[Inbound] = [
    *(Upsert(obj) for obj in OBJECTS),
    Deleted(Pod, "ns/a", "uid-a"),
    Refused(PodGroup, "ns/g", "uid-g", "spec.minMember: 'x' is no number"),
    Synced(Node),
    Wrote(7, False, 409, "conflict"),
    Wrote(8, True, 200, "", OBJECTS[-1], 0.25, 1.7e9),
]
OUTBOUND: list[Outbound] = [
    Bind(1, "ns", "a", "uid-a", "n1", {"k": "v"}, "ns/g"),
    Evict(2, "ns", "b", "uid-b", (_CONDITION,), "preempted"),
    PodStatus(3, "ns", "c", "uid-c", (_CONDITION,), ""),
    PodGroupStatus(
        4, "ns", "g", "uid-g", "12", {"phase": "Running", "conditions": [{"type": "Scheduled"}]}, said=("S",)
    ),
    QueueStatus(5, "default", {"cpu": "3"}),
    Event(Reference("Pod", "ns", "a", "uid-a"), "Normal", "Scheduled", "assigned"),
]


@given(st.lists(st.sampled_from(INBOUND), max_size=12), st.integers(1, 700))
def test_what_arrives_is_what_was_put_in_the_same_order_however_it_is_cut(messages: list[Inbound], piece: int) -> None:
    data = pack_inbound(messages)
    unpacker = Unpacker()
    arrived = [m for at in range(0, len(data), piece) for m in unpacker.feed(data[at : at + piece])]
    assert arrived == messages


@given(st.lists(st.sampled_from(OUTBOUND), min_size=1, max_size=12))
def test_writes_keep_their_order_across_types(messages: list[Outbound]) -> None:
    assert Unpacker().feed(pack_outbound(messages)) == messages


def test_an_object_with_a_number_beyond_64_bits_is_refused_by_name_and_its_neighbours_pass() -> None:
    pods = [obj for obj in OBJECTS if isinstance(obj, Pod)]
    text = _json({"metadata": {"name": "big", "namespace": "ns", "uid": "u"}})
    huge = decode(Pod, text)
    spec = msgspec.structs.replace(huge.spec, priority=2**70)
    huge = msgspec.structs.replace(huge, spec=spec)
    arrived = Unpacker().feed(pack_inbound([Upsert(pods[0]), Upsert(huge), Upsert(pods[1])]))
    assert [type(message) for message in arrived] == [Upsert, Refused, Upsert]
    assert arrived[1].key == "ns/big"
    assert arrived[1].reason.startswith("Pod ns/big: a number in it is out of range")
