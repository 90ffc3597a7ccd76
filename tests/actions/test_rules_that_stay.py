"""A job that could run after evictions but for a rule evicts nobody, whether it preempts or reclaims.

Each situation is the same: a node where lower pods would make room, beside one pod that may not go, and a second
node full of such pods. Without a rule one pod goes; under one that no eviction mends, none does.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.actions.playing import LiveWorld
from tests.actions.situations import CAPACITY, HOST, SHIPPED, TOPOLOGY_AWARE

WITH_QUOTA = SHIPPED.replace("- name: conformance\n", "- name: conformance\n  - name: resourcequota\n")
WAYS = ["preempt", "topology-aware", "reclaim"]


def hosts(app: str) -> list[dict[str, Any]]:
    return [{"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": app}}}]


def required(kind: str, app: str) -> dict[str, Any]:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": hosts(app)}}}


RULES: dict[str, dict[str, Any]] = {
    "port": {"ports": [8080]},
    "affinity": required("podAffinity", "nobody"),
    "anti-affinity": required("podAntiAffinity", "keeps"),
    "spread": {
        "labels": {"app": "keeps"},
        "spread": [{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **hosts("keeps")[0]}],
    },
    "selector": {"node_selector": {"no": "where"}},
}


def cluster(way: str, conf: str = "") -> LiveWorld:
    """`urgent` jobs of the queue `ours` take from `low` ones: of their own queue, or, to reclaim, of another."""
    world = LiveWorld(conf or (TOPOLOGY_AWARE if way == "topology-aware" else SHIPPED))
    for name, value in (("low", 10), ("high", 100)):
        world.priority_class(name, value)
    world.nodes(2, cpu=4)
    world.queue("ours")
    theirs = "ours"
    if way == "reclaim":
        theirs = "theirs"
        world.queue(theirs)
    world.running("keeps", on="n-0", cpu=1, queue="ours", priority_class="high", labels={"app": "keeps"}, ports=[8080])
    world.running("low", on="n-0", pods=3, cpu=1, min_member=1, queue=theirs, priority_class="low")
    kept = {"volcano.sh/preemptable": "false"}
    full = "theirs" if way == "reclaim" else "default"
    world.running("full", on="n-1", cpu=4, queue=full, priority_class="high", annotations=kept)
    return world


@pytest.mark.parametrize("way", WAYS)
def test_without_a_rule_one_pod_goes(way: str) -> None:
    world = cluster(way)
    world.gang("urgent", cpu=1, queue="ours", priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 1
    assert world.placed("urgent") == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rule", RULES)
def test_who_could_run_but_for_a_rule_evicts_nobody(way: str, rule: str) -> None:
    world = cluster(way)
    world.gang("urgent", cpu=1, queue="ours", priority_class="high", min_resources=None, **RULES[rule])

    world.play(5)

    assert world.victims() == []
    assert world.nominated("urgent-0") == ""


@pytest.mark.parametrize("way", ["preempt", "reclaim"])
@pytest.mark.parametrize(("limit", "expected"), [(1, 1), (0, 0)])
def test_who_is_beyond_a_quota_of_its_namespace_evicts_nobody(way: str, limit: int, expected: int) -> None:
    world = cluster(way, WITH_QUOTA.replace("  - name: overcommit\n", ""))
    quota = world.quota("q", {"cpu": limit})
    quota["status"] = {"hard": {"cpu": str(limit)}, "used": {"cpu": "0"}}
    world.gang("urgent", cpu=1, queue="ours", priority_class="high")

    world.play(5)

    assert len(world.victims()) == expected
    assert ("quota q of namespace default full" in world.why("urgent")) == (not expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("limit", "expected"), [(4, 1), (1, 0)])
def test_who_is_beyond_the_capability_of_its_queue_evicts_nobody(way: str, limit: int, expected: int) -> None:
    conf = CAPACITY + TOPOLOGY_AWARE.partition(SHIPPED)[2] if way == "topology-aware" else CAPACITY
    world = cluster(way, conf)
    world.queue("small", capability={"cpu": limit}, deserved={"cpu": 4})
    if way == "reclaim":
        world.get("Queue", "theirs")["spec"]["deserved"] = {"cpu": "1"}
    for job in ("keeps",) if way == "reclaim" else ("keeps", "low"):
        world.get("PodGroup", job)["spec"]["queue"] = "small"
    world.gang("urgent", cpu=1, queue="small", priority_class="high", min_resources=None)

    world.play(5)

    assert len(world.victims()) == expected


@pytest.mark.parametrize("way", WAYS)
def test_who_is_never_to_preempt_evicts_nobody(way: str) -> None:
    world = cluster(way)
    urgent = world.gang("urgent", cpu=1, queue="ours", priority_class="high", min_resources=None)
    urgent.pods[0]["spec"]["preemptionPolicy"] = "Never"  # from its class, by the API server

    world.play(5)

    assert world.victims() == []
