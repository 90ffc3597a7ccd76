"""pdb: evictions keep within disruption budgets (spec 05 §12, §20.7, design-notes §7 row 21)."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import tasks, world_with
from vcsched.framework.session import Session
from vcsched.model.task import Task

APP = {"app": "web"}


def world_of(*, allowed: int | None, strict: bool = False, pods: int = 3) -> SessionWorld:
    world = world_with("pdb", compatibility=f"{{pdbStrict: {str(strict).lower()}}}")
    world.nodes(1, cpu=20)
    world.running("web", on="n-0", pods=pods, cpu=1, labels=APP)
    world.gang("evictor", cpu=1)
    if allowed is not None:
        world.disruption_budget("web", APP, allowed=allowed)
    return world


def victims(world: SessionWorld, ssn: Session | None = None) -> list[Task]:
    ssn = ssn or world.open()
    return ssn.preemptable(tasks(world, "evictor")[0], tasks(world, "web"))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("allowed", "count"), [(None, 3), (0, 0), (1, 1), (2, 2), (9, 3)])
def test_as_many_pods_may_go_as_the_budget_allows_in_their_order(allowed: int | None, count: int, strict: bool) -> None:
    world = world_of(allowed=allowed, strict=strict)
    ssn = world.open()
    evictor, candidates = tasks(world, "evictor")[0], tasks(world, "web")

    assert ssn.preemptable(evictor, candidates) == candidates[:count]
    assert ssn.reclaimable(evictor, candidates) == candidates[:count]
    assert ssn.victim_tasks(candidates) == (candidates[:count] if strict else [])


def test_a_pod_that_goes_too_far_for_one_budget_still_takes_from_its_others() -> None:
    world = world_of(allowed=0, pods=1)
    world.running("other", on="n-0", pods=2, cpu=1, labels={"team": "a"})
    world.get("Pod", "web-0")["metadata"]["labels"]["team"] = "a"
    world.disruption_budget("team", {"team": "a"}, allowed=2)
    ssn = world.open()
    candidates = [*tasks(world, "web"), *tasks(world, "other")]

    assert ssn.preemptable(tasks(world, "evictor")[0], candidates) == tasks(world, "other")[:1]


def test_an_eviction_that_the_budget_knows_of_takes_nothing_from_it() -> None:
    world = world_of(allowed=1)
    world.get("PodDisruptionBudget", "web")["status"]["disruptedPods"] = {"web-0": "2027-01-01T00:00:00Z"}

    assert victims(world) == tasks(world, "web")[:2]


@pytest.mark.parametrize("selector", [{}, {"matchExpressions": [{"key": "app", "operator": "Never"}]}])
def test_a_budget_that_selects_everybody_or_cannot_be_read_is_none(selector: object) -> None:
    world = world_of(allowed=0)
    world.get("PodDisruptionBudget", "web")["spec"]["selector"] = selector

    assert victims(world) == tasks(world, "web")


def test_budgets_of_other_namespaces_do_not_matter() -> None:
    world = world_of(allowed=None)
    world.disruption_budget("web", APP, allowed=0, namespace="elsewhere")

    assert victims(world) == tasks(world, "web")


@pytest.mark.parametrize(("strict", "free"), [(False, True), (True, False)])
def test_pods_without_labels_are_free_unless_the_rule_is_strict(strict: bool, free: bool) -> None:
    world = world_with("pdb", compatibility=f"{{pdbStrict: {str(strict).lower()}}}")
    world.nodes(1, cpu=20)
    (pod,) = world.running("bare", on="n-0", cpu=1).pods
    pod["metadata"]["labels"] = {}
    ssn = world.open()

    assert bool(ssn.preemptable(tasks(world, "bare")[0], tasks(world, "bare"))) == free


# -------------------------------------------------------------------- one budget for all evictions


def test_all_evictions_of_a_session_share_a_budget_and_what_is_taken_back_is_given_back() -> None:
    world = world_of(allowed=2)
    ssn = world.open()
    first, second, third = tasks(world, "web")
    statement, other = ssn.statement(), ssn.statement()

    statement.evict(first, "test")
    assert ssn.preemptable(second, [second, third]) == [second]
    other.evict(second, "test")
    assert ssn.preemptable(third, [third]) == []
    statement.rollback()
    assert ssn.preemptable(third, [third]) == [third]


def test_a_strict_budget_is_whole_for_each_vote() -> None:
    world = world_of(allowed=1, strict=True)
    ssn = world.open()
    first, second, _ = tasks(world, "web")
    ssn.statement().evict(first, "test")

    assert ssn.preemptable(second, [second]) == [second]


def test_an_eviction_counts_until_the_budgets_status_changes() -> None:
    world = world_of(allowed=1)
    ssn = world.open()
    statement = ssn.statement()
    statement.evict(tasks(world, "web")[0], "test")
    statement.commit()
    ssn.close()
    assert [t for t in victims(world) if t.name != "web-0"] == []

    budget = world.get("PodDisruptionBudget", "web")
    budget["status"] = {"disruptionsAllowed": 2, "currentHealthy": 2}
    world.upsert([budget])

    assert len(victims(world)) == 2


def test_an_eviction_that_the_status_never_shows_is_forgotten() -> None:
    world = world_of(allowed=1)
    ssn = world.open()
    statement = ssn.statement()
    statement.evict(tasks(world, "web")[0], "test")
    statement.commit()
    ssn.close()

    world.now += 121

    assert len(victims(world)) == 1


def test_an_eviction_that_was_not_kept_does_not_outlive_its_session() -> None:
    world = world_of(allowed=1)
    ssn = world.open()
    ssn.statement().evict(tasks(world, "web")[0], "test")
    ssn.close()

    assert len(victims(world)) == 1


# -------------------------------------------------------------------- other points


def test_shuffle_moves_only_as_many_as_the_budget_allows() -> None:
    world = SessionWorld(
        """
actions: shuffle
tiers:
- plugins:
  - name: tdm
    arguments: {tdm.revocable-zone.night: "22:00-22:01"}
- plugins:
  - name: pdb
"""
    )
    world.nodes(1, cpu=20, labels={"volcano.sh/revocable-zone": "night"})
    world.running("web", on="n-0", pods=3, cpu=1, labels=APP, group_annotations={"volcano.sh/jdb-max-unavailable": "3"})
    world.disruption_budget("web", APP, allowed=2)

    world.session()

    assert len(world.evicted()) == 2


def test_critical_pods_are_not_shuffled_either() -> None:
    world = world_with("pdb", "conformance", compatibility="{pdbStrict: true}", actions="shuffle")
    world.nodes(1, cpu=20)
    world.running("web", on="n-0", cpu=1)
    world.running("critical", on="n-0", cpu=1, priority_class="system-node-critical")

    world.session()

    assert world.evicted() == ["default/web-0"]
