"""What a plugin, a queue or the API server does wrong stays with it: sessions end clean, gangs whole."""

from __future__ import annotations

from tests.harness import SessionWorld
from vcsched.framework.arguments import Arguments
from vcsched.framework.conf_loader import BUILT_IN
from vcsched.framework.plugin import Plugin
from vcsched.framework.points import Invalid, Opening
from vcsched.framework.session import Session
from vcsched.kube.link import Bind, Wrote
from vcsched.model.job import Job
from vcsched.model.status import ALLOCATED, PIPELINED
from vcsched.model.task import Task


class Moody(Plugin):
    """Fails where a test wants it to."""

    name = "moody"
    fails_at = ""

    def open(self, ssn: Session) -> None:
        ssn.job_valid.add(self, self.judge)
        ssn.binding.add(self, self.annotate)

    def judge(self, job: Job) -> Invalid | None:
        if self.fails_at == f"judge {job.name}":
            raise RuntimeError("cannot judge")
        return None

    def annotate(self, task: Task) -> dict[str, str]:
        if self.fails_at == f"bind {task.name}":
            raise SystemExit(3)
        return {"moody": "content"}


def with_moody(world: SessionWorld) -> Moody:
    plugin = Moody(Arguments())
    world.scheduler.plugins.append((Opening("moody", 9, lambda switch: True), plugin))
    return plugin


def test_a_plugin_that_cannot_judge_one_job_leaves_nothing_tentative_behind(world: SessionWorld) -> None:
    world.nodes(1, cpu=1)
    world.gang("bad", pods=1, cpu=9, min_resources=None)
    world.gang("good", pods=1, cpu=1)
    moody = with_moody(world)
    moody.fails_at = "judge bad"

    world.session(2)

    assert not any(t.status in (ALLOCATED, PIPELINED) for t in world.cache.picture.tasks.values())
    moody.fails_at = ""
    world.session()
    assert world.bound("good") == 1


def test_a_gang_is_bound_whole_though_a_plugin_cannot_add_to_one_of_its_binds(world: SessionWorld) -> None:
    world.nodes(1, cpu=3)
    world.gang("g", pods=3, cpu=1)
    with_moody(world).fails_at = "bind g-1"

    world.session()

    assert world.bound("g") == 3
    annotated = {m.name for m in world.of_type(Bind) if m.annotations}
    assert annotated == {"g-0", "g-2"}


def test_refused_binds_are_tried_again_at_once_and_then_with_pauses(world: SessionWorld) -> None:
    world.nodes(1, cpu=1)
    world.gang("g", pods=1, cpu=1)
    tries = []
    for second in range(8):
        before = len(world.of_type(Bind))
        world.session()
        for message in world.of_type(Bind)[before:]:
            tries.append(second)
            world.cache.link.put(Wrote(message.no, False, 403, "forbidden"))
        world.cache.drain()
        world.now += 1

    assert tries == [0, 1, 3, 7]
    assert "could not be bound to node n-0: forbidden" in world.why("g")


def test_a_queue_made_and_deleted_between_two_sessions_leaves_the_limits_of_others_in_force() -> None:
    conf = BUILT_IN.replace("- name: proportion", "- name: capacity\n    enableHierarchy: true")
    world = SessionWorld(conf)
    world.queue("root")
    world.queue("small", capability={"cpu": 1})
    world.nodes(2, cpu=4)
    world.session()
    short_lived = world.queue("short-lived")
    world.sync()
    world.delete(short_lived)
    for number in range(4):
        world.gang(f"g{number}", pods=1, cpu=1, queue="small", min_resources=None)

    world.session(3)

    assert len(world.binds()) == 1


def test_a_gang_held_by_the_gates_of_some_of_its_pods_says_how_many(world: SessionWorld) -> None:
    world.nodes(1, cpu=3)
    gang = world.gang("g", pods=3, cpu=1)
    gang.pods[0]["spec"]["schedulingGates"] = [{"name": "wait"}]

    world.session(2)

    assert world.bound("g") == 0
    assert "1 of 3 pods carry scheduling gates" in world.why("g")


def test_pods_hear_of_a_missing_podgroup_also_when_their_queue_was_missing_before(world: SessionWorld) -> None:
    world.nodes(1, cpu=1)
    gang = world.gang("g", pods=1, cpu=1, queue="nowhere")
    world.session()
    assert "queue nowhere does not exist" in world.marks()["default/g-0"].conditions[0].message
    world.delete(gang.group)

    world.session()

    assert "PodGroup default/g does not exist" in world.marks()["default/g-0"].conditions[0].message
