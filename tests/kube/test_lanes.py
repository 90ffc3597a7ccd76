"""Whatever is sent, held, merged and repeated: every number ends once, one write an object at a time."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from vcsched.kube.lanes import Job, Lanes, Write, merge
from vcsched.kube.link import Bind, Condition, Evict, PodGroupStatus, PodStatus, QueueStatus

PODS = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("bind"), PODS, st.sampled_from(["", "g", "h"])),
        st.tuples(st.just("evict"), PODS),
        st.tuples(st.just("status"), PODS),
        st.tuples(st.just("queue"), PODS),
        st.tuples(st.just("start")),
        st.tuples(st.just("finish")),
        st.tuples(st.just("repeat")),
        st.tuples(st.just("hold"), st.sampled_from(["g", "h"])),
        st.tuples(st.just("clear")),
    ),
    max_size=60,
)


def message(no: int, step: tuple[Any, ...]) -> Write:
    kind, name = step[0], step[1]
    if kind == "bind":
        return Bind(no, "ns", name, f"uid-{name}", "n", gang=step[2])
    if kind == "evict":
        return Evict(no, "ns", name, f"uid-{name}", (), "m")
    if kind == "status":
        return PodStatus(no, "ns", name, f"uid-{name}", ())
    return QueueStatus(no, name, {})


@given(STEPS)
def test_every_number_ends_exactly_once(steps: list[tuple[Any, ...]]) -> None:
    lanes = Lanes()
    sent: list[int] = []
    ended: list[int] = []
    under_way: list[Job] = []

    def start() -> bool:
        job = lanes.next()
        if job is None:
            return False
        assert all(job.key != other.key for other in under_way)
        under_way.append(job)
        return True

    def finish(job: Job) -> None:
        ended.extend(job.numbers)
        lanes.done(job)

    for step in steps:
        if step[0] in ("bind", "evict", "status", "queue"):
            sent.append(len(sent))
            for overtaken in lanes.add(message(sent[-1], step)):
                ended.extend(overtaken.numbers)
        elif step[0] == "start":
            start()
        elif step[0] == "finish" and under_way:
            finish(under_way.pop(0))
        elif step[0] == "repeat" and under_way:
            job = under_way.pop(0)
            rival = lanes.rival(job)
            if rival is None:
                job.tries += 1
                lanes.again(job)
                again = lanes.next()
                assert again is not None
                under_way.append(again)
            elif rival.lane == job.lane:
                lanes.absorb(job, rival)
                finish(job)
            else:
                finish(job)
        elif step[0] == "hold":
            for held in lanes.hold(step[1]):
                ended.extend(held.numbers)
        elif step[0] == "clear":
            for cleared in lanes.clear():
                ended.extend(cleared.numbers)
    while under_way or start():
        finish(under_way.pop())
    assert sorted(ended) == sent
    assert lanes.unfinished == 0
    assert not lanes._busy
    assert not lanes._statuses
    assert not any(lanes._gangs.values())


def test_merged_statuses_keep_what_the_newer_one_does_not_say() -> None:
    older = PodStatus(1, "ns", "a", "u", (Condition("A", "True", "", ""), Condition("B", "True", "", "")), "n1")
    newer = PodStatus(2, "ns", "a", "u", (Condition("B", "False", "", ""),))
    merged = merge(older, newer)
    assert isinstance(merged, PodStatus)
    assert [(c.type, c.status) for c in merged.conditions] == [("A", "True"), ("B", "False")]
    assert merged.nominated == "n1"
    group = merge(
        PodGroupStatus(1, "ns", "g", "u", "5", {"phase": "Pending", "running": 1}, {"a": "1"}),
        PodGroupStatus(2, "ns", "g", "u", "6", {"phase": "Inqueue"}),
    )
    assert isinstance(group, PodGroupStatus)
    assert group.status == {"phase": "Inqueue", "running": 1}
    assert (group.resource_version, group.annotations) == ("6", {"a": "1"})
