"""What is said about a waiting job is said once, whatever chance does and whoever is faster, watch or answer.

Design-notes §4, invariants 11 and 15.
"""

from __future__ import annotations

from tests.generators.story import Story
from tests.harness import SessionWorld
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
