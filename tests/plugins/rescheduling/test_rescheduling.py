"""rescheduling: pods leave busy nodes (spec 05 §16)."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import world_with
from vcsched.model.load import NodeLoad
from vcsched.plugins.rescheduling.params import Params, Percent, read

STRATEGY = (
    "strategies: [{name: lowNodeUtilization, params: "
    "{thresholds: {cpu: 30, memory: 100}, targetThresholds: {cpu: 60, memory: 100}%s}}]"
)


def world_of(more: str = "", *, plugins: tuple[str, ...] = ()) -> SessionWorld:
    """A node `busy` at 90 % cpu with five pods of one cpu, one `idle` at 10 %, and one `middle` at 50 %."""
    arguments = f"{{interval: 1m, {STRATEGY % (', ' + more if more else '')}}}"
    world = world_with(f"rescheduling {arguments}", "predicates", *plugins, actions="shuffle")
    for name in ("busy", "idle", "middle"):
        world.node(name, cpu=10, memory="10Gi")
    world.running("runs", on="busy", pods=5, cpu=1, memory="1Gi")
    return world


def shuffled(world: SessionWorld, **percent: float) -> list[str]:
    """Who leaves in the first round, with these cpu loads of nodes instead of the usual."""
    world.session()
    world.now += 60
    for name, cpu in ({"busy": 90.0, "idle": 10.0, "middle": 50.0} | percent).items():
        world.cache.picture.loads[name] = NodeLoad(cpu, 20.0, world.now)
    world.session()
    return [key.partition("/")[2] for key in world.evicted()]


def test_pods_leave_a_busy_node_until_it_is_below_its_target() -> None:
    assert len(shuffled(world_of())) == 4  # 90, 80, 70, 60: below 60 only after the fourth


def test_only_as_many_leave_as_idle_nodes_have_room_for() -> None:
    assert len(shuffled(world_of(), idle=29.0, busy=99.0)) == 4  # 31 % of 10 cpus


@pytest.mark.parametrize(
    "loads",
    [{"busy": 60.0}, {"idle": 30.0}, {"busy": 10.0, "middle": 10.0}],
    ids=["nobody is too busy", "nobody is idle", "all are idle"],
)
def test_nobody_leaves_where_there_is_nothing_to_balance(loads: dict[str, float]) -> None:
    assert shuffled(world_of(), **loads) == []


def test_a_node_without_a_fresh_measurement_is_neither_busy_nor_idle() -> None:
    world = world_of()
    world.session()
    world.now += 400
    world.cache.picture.loads["busy"] = NodeLoad(90.0, 20.0, world.now)
    world.cache.picture.loads["idle"] = NodeLoad(0.0, 0.0, world.now - 301)
    world.session()
    assert world.evicted() == []


def test_a_cordoned_node_is_not_idle() -> None:
    world = world_of()
    world.get("Node", "idle")["spec"]["unschedulable"] = True

    assert shuffled(world) == []


def test_the_first_round_comes_an_interval_after_the_start_and_the_next_an_interval_later() -> None:
    world = world_of()
    rounds = []
    for _ in range(5):
        for name, cpu in (("busy", 65.0), ("idle", 10.0)):
            world.cache.picture.loads[name] = NodeLoad(cpu, 20.0, world.now)
        world.session()
        rounds.append(len(world.evicted()))
        world.now += 30

    assert rounds == [0, 0, 1, 1, 2]


def test_the_least_important_pods_go_first() -> None:
    world = world_of()
    world.running("high", on="busy", cpu=1, memory="1Gi", priority=1000)
    world.running("low", on="busy", cpu=1, memory="1Gi", priority=10)
    world.running("nothing", on="busy")

    gone = shuffled(world, idle=29.0)

    assert gone[0] == "nothing-0"
    assert "high-0" not in gone


def test_pods_that_must_stay_do() -> None:
    world = world_of("thresholdPriorityClassName: important")
    world.priority_class("important", 500)
    for pod in world.of("Pod"):
        pod["metadata"]["annotations"]["volcano.sh/preemptable"] = "false"
    world.running("high", on="busy", cpu=1, memory="1Gi", priority=500)
    world.running("low", on="busy", cpu=1, memory="1Gi", priority=499)

    assert shuffled(world) == ["low-0"]


@pytest.mark.parametrize(("more", "count"), [("", 0), ("nodeFit: false", 4)])
def test_a_pod_that_no_idle_node_would_take_stays(more: str, count: int) -> None:
    world = world_of(more)
    world.get("Node", "idle")["spec"]["taints"] = [{"key": "gpu", "effect": "NoSchedule"}]

    assert len(shuffled(world)) == count


def test_there_must_be_more_idle_nodes_than_asked_for() -> None:
    assert shuffled(world_of("numberOfNodes: 1")) == []


def test_plugins_that_protect_pods_have_the_last_word() -> None:
    world = world_of(plugins=("pdb",))
    world.disruption_budget("all", {"volcano.sh/job-name": "runs"}, allowed=1)

    assert len(shuffled(world)) == 1


# -------------------------------------------------------------------- parameters


def parameters(given: Any) -> tuple[Params | None, list[str]]:
    warned: list[str] = []
    found = read(given, lambda key, value, wanted, default: warned.append(key))
    return found, warned


@pytest.mark.parametrize("given", [None, []])
def test_without_strategies_the_only_one_runs_with_its_defaults(given: object) -> None:
    assert parameters(given) == (Params(Percent(100, 100), Percent(100, 100)), [])


def test_percentages_that_are_not_given_or_not_whole_keep_their_default() -> None:
    strategy = {"name": "lowNodeUtilization", "params": {"thresholds": {"cpu": 20, "memory": 1.5}}}

    assert parameters([strategy]) == (Params(thresholds=Percent(20, 100)), ["memory"])


def test_unknown_strategies_are_named_and_passed_over() -> None:
    assert parameters([{"name": "offlineOnly"}, 7]) == (None, ["strategies", "strategies"])
    assert parameters("lowNodeUtilization") == (Params(), ["strategies"])


def test_a_wrong_interval_is_named_and_the_default_used(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        world_with("rescheduling {interval: often}").open()

    assert "argument interval is 'often', not a duration such as 5m" in caplog.text
