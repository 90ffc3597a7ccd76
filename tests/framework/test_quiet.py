"""What is said about a waiting job is said once, whatever chance does and whoever is faster, watch or answer.

Design-notes §4, invariants 11 and 15.
"""

from __future__ import annotations

import copy

from tests.generators.story import Story
from tests.harness import SessionWorld
from vcsched.kube.keys import JOB_ALLOCATED_HYPERNODE
from vcsched.kube.link import PodGroupStatus, PodStatus


def written(story: Story, kind: type, since: int = 0) -> int:
    return sum(type(message) is kind for message in story.writes[since:])


def go_on(story: Story, sessions: int) -> int:
    """Sessions, each of whose writes is answered and seen; the number of statuses they write."""
    story.settle()
    before = len(story.writes)
    for _ in range(sessions):
        story.tell(("session",))
        story.settle()
    return written(story, PodStatus, before) + written(story, PodGroupStatus, before)


def test_what_was_found_out_while_a_status_was_on_its_way_is_sent_after_it() -> None:
    """The watch shows the write before its answer comes, and a session between the two finds more to say."""
    story = Story()
    story.tell_all([("node", 0, 0), ("group", 0, 0), ("pod", 0, 0, 0), ("pod", 0, 1, 0), ("session",)])
    job = story.cache.picture.jobs["default/g0"]
    story.tell(("processed", 0))
    story.tell(("kubelet",))  # the pods run, as the watch shows with everything else
    story.tell(("session",))
    assert job.status_write
    assert written(story, PodGroupStatus) == 2

    story.tell(("session",))
    assert written(story, PodGroupStatus) == 2, "what is on its way is not sent again"

    story.settle()
    assert go_on(story, 3) == 0
    assert job.obj is not None
    assert (job.phase, job.obj.status.phase, job.obj.status.running) == ("Running", "Running", 2)


def test_a_phase_that_was_on_its_way_is_what_its_podgroup_says_in_the_end() -> None:
    story = Story()
    story.tell_all([("node", 0, 0), ("group", 0, 0), ("pod", 0, 0, 0), ("pod", 0, 1, 0), ("session",)])
    job = story.cache.picture.jobs["default/g0"]
    story.tell(("processed", 0))
    story.tell(("leaves", 1))
    story.tell(("session",))

    story.settle()

    assert job.obj is not None
    assert job.phase == job.obj.status.phase


def last_group_write(story: Story) -> PodGroupStatus:
    return [message for message in story.writes if isinstance(message, PodGroupStatus)][-1]


def types_of(write: PodGroupStatus) -> list[str]:
    return [condition["type"] for condition in write.status["conditions"]]


def test_a_condition_that_another_controller_adds_while_a_status_is_on_its_way_stays() -> None:
    story = Story()
    story.tell_all([("node", 0, 0), ("group", 0, 0), ("pod", 0, 0, 0), ("session",), ("shown",)])
    group = copy.deepcopy(story.of("PodGroup")[0])
    foreign = {"type": "Audited", "status": "True", "transitionID": "1", "reason": "Checked", "message": "fine"}
    group["status"] = {**group.get("status", {}), "conditions": [foreign]}
    story.happens(group)
    story.tell_all([("pod", 0, 1, 0), ("session",), ("shown",)])

    write = last_group_write(story)
    assert write.resource_version == group["metadata"]["resourceVersion"]
    assert types_of(write) == ["Audited", "Unschedulable", "Scheduled"]


def test_a_hypernode_that_is_shown_is_said_again_where_the_status_on_its_way_says_another() -> None:
    story = Story()
    story.tell_all([("node", 0, 0), ("group", 0, 0)])
    group = copy.deepcopy(story.of("PodGroup")[0])
    group["metadata"].setdefault("annotations", {})[JOB_ALLOCATED_HYPERNODE] = "s2"  # of a scheduler before this one
    story.happens(group)
    job = story.cache.picture.jobs["default/g0"]
    said = []
    for index, hypernode in enumerate(("s0", "s2")):
        job.allocated_hypernode = hypernode
        story.tell_all([("pod", 0, index, 0), ("session",), ("shown",)])
        said.append(last_group_write(story).annotations)

    assert said == [{JOB_ALLOCATED_HYPERNODE: "s0"}, {JOB_ALLOCATED_HYPERNODE: "s2"}]


def test_what_was_on_its_way_to_a_podgroup_is_not_said_of_the_next_one_of_its_name() -> None:
    story = Story()
    story.tell_all([("node", 0, 0), ("group", 0, 0), ("pod", 0, 0, 0), ("session",), ("shown",)])
    assert types_of(last_group_write(story)) == ["Unschedulable"]
    old = story.of("PodGroup")[0]
    new = copy.deepcopy(old)
    story.remove(old)
    new["metadata"]["uid"] += "+"
    new["status"] = {"phase": "Inqueue"}
    story.put(new)
    job = story.cache.picture.jobs["default/g0"]
    assert job.phase == "Inqueue"
    story.tell_all([("pod", 0, 1, 0), ("session",), ("shown",)])

    write = last_group_write(story)
    assert write.uid == new["metadata"]["uid"]
    assert types_of(write) == ["Scheduled"]

    go_on(story, 1)  # the pods are bound by now
    assert go_on(story, 3) == 0
    assert job.obj is not None
    assert (job.phase, job.obj.status.phase, job.status_write) == ("Running", "Running", 0)


def test_a_gang_too_big_for_equal_nodes_is_not_told_at_each_try_which_of_them_it_would_get(world: SessionWorld) -> None:
    """Which of the nodes a pod would get is left to chance, anew at each try."""
    world.nodes(12, cpu=1)
    world.gang("big", pods=13, cpu=1, min_resources=None)
    world.session()
    told = len(world.of_type(PodStatus))
    assert told == 13

    for number in range(6):
        world.node(f"small-{number}", cpu="100m")  # a reason to try again
        world.session()

    assert len(world.of_type(PodStatus)) == told


def test_a_job_that_is_skipped_keeps_its_reasons_though_its_best_effort_pods_are_tried() -> None:
    story = Story()
    story.tell_all([("node", 0, 0), ("queue", 1, 1), ("queue", 2, 2), ("group", 1, 1)])
    story.tell_all([("pod", 1, 0, 1), ("pod", 1, 1, 1), ("pod", 1, 3, 2), ("session",)])
    assert written(story, PodStatus) == 3

    assert go_on(story, 6) == 0


def test_a_job_that_is_not_admitted_hears_why_once_however_often_it_is_asked_about() -> None:
    story = Story()
    story.tell_all([("node", 0, 1), ("group", 0, 4), ("group", 0, 5), ("queue", 1, 0)])
    story.tell(("session",))
    said = len(story.world.events("Unschedulable"))
    assert said

    for number in range(4):
        story.settle()
        story.tell(("session",))  # skipped: nothing has changed
        story.tell(("service", number))
        story.tell(("session",))

    assert len(story.world.events("Unschedulable")) == said
