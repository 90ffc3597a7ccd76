"""Situations of spec 06 §2 and §10.1, filter by filter."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import SessionWorld
from tests.plugins.stage import Obj, Stage, affinity, node, pod, spread, term
from vcsched.framework.arguments import Arguments
from vcsched.model.status import RELEASING, UNRESOLVABLE, UNSCHEDULABLE
from vcsched.plugins.predicates import Predicates

WORKER = {"role": "worker"}


def texts(stage: Stage, key: str) -> dict[str, list[str]]:
    return {name: [text for _, text in reasons] for name, reasons in stage.reasons(key).items()}


# -------------------------------------------------------------------- nodes


def test_reasons_pile_up_until_one_that_evictions_cannot_help() -> None:
    stage = Stage()
    stage.add(
        node("full", pods=0),
        node("full-and-cordoned", pods=0, unschedulable=True, taints=[{"key": "x", "effect": "NoSchedule"}]),
        node("free"),
        pod("a"),
    )

    assert stage.reasons("ns1/a") == {
        "full": [(UNSCHEDULABLE, "node(s) pod number exceeded")],
        "full-and-cordoned": [
            (UNSCHEDULABLE, "node(s) pod number exceeded"),
            (UNRESOLVABLE, "node(s) were unschedulable"),
        ],
        "free": [],
    }


def test_pods_placed_in_this_session_count_and_evicted_ones_do_not() -> None:
    stage = Stage()
    stage.add(node("n1", pods=2), pod("running", on="n1"), pod("placed"), pod("waiting"))

    assert texts(stage, "ns1/waiting") == {"n1": []}
    stage.move("ns1/placed", "n1")
    assert texts(stage, "ns1/waiting") == {"n1": ["node(s) pod number exceeded"]}
    stage.evict("ns1/running")
    assert texts(stage, "ns1/waiting") == {"n1": []}
    stage.evict("ns1/running", undo=True)
    assert texts(stage, "ns1/waiting") == {"n1": ["node(s) pod number exceeded"]}


@pytest.mark.parametrize(
    ("switch", "spec", "made"),
    [
        ("NodeAffinityEnable", {"nodeSelector": {"zone": "b"}}, {"zone": "a"}),
        ("TaintTolerationEnable", {}, {"taints": [{"key": "gpu", "effect": "NoExecute"}]}),
        ("PodAffinityEnable", {"affinity": affinity(term("host", WORKER))}, {}),
        ("PodTopologySpreadEnable", {"topologySpreadConstraints": [spread("zone", WORKER)]}, {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_filter_that_is_switched_off_refuses_nothing(switch: str, spec: Obj, made: Any) -> None:
    for on in (True, False):
        stage = Stage(**{f"predicate.{switch}": on})
        stage.add(node("n1", **made), pod("a", **spec))
        assert bool(texts(stage, "ns1/a")["n1"]) is on


def test_a_name_that_every_term_asks_differently_fails_before_any_node() -> None:
    stage = Stage()
    both = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("n1", "n2")]
    required = {"nodeSelectorTerms": [{"matchFields": both}]}
    wish = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    stage.add(node("n1"), pod("a", affinity=wish))

    assert stage.problem("ns1/a") == "plugin NodeAffinity pre-predicates failed pod affinity terms conflict"


def test_a_changed_node_is_asked_again() -> None:
    stage = Stage()
    stage.add(node("n1", zone="a"), pod("a", nodeSelector={"zone": "b"}))
    assert texts(stage, "ns1/a") == {"n1": ["node(s) didn't match Pod's node affinity/selector"]}
    stage.add(node("n1", zone="b"))
    assert texts(stage, "ns1/a") == {"n1": []}


# -------------------------------------------------------------------- what is not built or cannot be read


def test_a_pod_that_needs_what_is_not_built_waits_with_that_reason() -> None:
    stage = Stage()
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "c"}}
    stage.add(node("n1"), pod("a", volumes=[claim]), pod("b", resourceClaims=[{"name": "gpu"}]))

    assert "volume data needs a persistent volume claim" in stage.problem("ns1/a")
    assert "resource claims (DRA) are not supported yet" in stage.problem("ns1/b")


def test_terms_that_cannot_be_read_are_told_once_for_all_nodes() -> None:
    stage = Stage()
    wrong = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["web"]}]}
    stage.add(
        node("n1"),
        pod("a", affinity=affinity({"topologyKey": "host", "labelSelector": wrong})),
        pod("b", topologySpreadConstraints=[spread("host", None, labelSelector=wrong)]),
    )

    assert stage.problem("ns1/a").startswith("plugin InterPodAffinity pre-predicates failed parsing pod: ")
    assert stage.problem("ns1/b").startswith("plugin PodTopologySpread pre-predicates failed ")
    assert "Near" in stage.problem("ns1/a")


def test_arguments_of_parts_that_are_not_built_are_known() -> None:
    arguments = Arguments({"predicate.CacheEnable": True, "volumebinding.weight": 2, "predicate.Typo": 1})
    Predicates(arguments)

    assert arguments.unasked() == ("predicate.Typo",)


# -------------------------------------------------------------------- ports


def test_a_host_port_in_use_is_free_again_when_its_pod_is_evicted() -> None:
    port = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 8080}]}]
    stage = Stage()
    stage.add(node("n1"), pod("a", on="n1", containers=port), pod("b", containers=port))

    assert texts(stage, "ns1/b") == {"n1": ["node(s) didn't have free ports for the requested pod ports"]}
    stage.evict("ns1/a")
    assert texts(stage, "ns1/b") == {"n1": []}


# -------------------------------------------------------------------- pod affinity


def test_an_anti_affine_pod_placed_a_moment_ago_keeps_others_off() -> None:
    stage = Stage()
    apart = affinity(term("zone", WORKER), anti=True)
    stage.add(node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"))
    stage.add(pod("a", labels=WORKER, affinity=apart), pod("b", labels=WORKER), pod("c", affinity=apart))

    stage.move("ns1/a", "n1")
    refused = ["node(s) didn't satisfy existing pods anti-affinity rules"]
    assert texts(stage, "ns1/b") == {"n1": refused, "n2": refused, "n3": []}
    refused = ["node(s) didn't match pod anti-affinity rules"]
    assert texts(stage, "ns1/c") == {"n1": refused, "n2": refused, "n3": []}
    stage.move("ns1/a", "")
    assert texts(stage, "ns1/b") == texts(stage, "ns1/c") == {"n1": [], "n2": [], "n3": []}


def test_the_first_pod_of_a_group_that_wants_to_be_together_may_start_where_the_key_is() -> None:
    stage = Stage()
    together = affinity(term("zone", WORKER))
    stage.add(node("n1", zone="a"), node("n2", zone="b"), node("n3"))
    stage.add(pod("a", labels=WORKER, affinity=together), pod("b", labels=WORKER, affinity=together))
    stage.add(pod("other", affinity=together))

    refused = ["node(s) didn't match pod affinity rules"]
    assert texts(stage, "ns1/a") == {"n1": [], "n2": [], "n3": refused}
    assert texts(stage, "ns1/other") == {"n1": refused, "n2": refused, "n3": refused}
    stage.move("ns1/a", "n1")
    assert texts(stage, "ns1/b") == {"n1": [], "n2": refused, "n3": refused}


def test_all_terms_of_a_pod_must_be_met_by_pods_that_meet_all_of_them() -> None:
    stage = Stage()
    both = {**WORKER, "app": "web"}
    stage.add(node("n1", zone="a", rack="x"), node("n2", zone="a", rack="y"), node("n3", zone="b", rack="x"))
    stage.add(pod("worker", on="n2", labels=WORKER), pod("both", on="n1", labels=both))
    stage.add(pod("a", affinity=affinity(term("rack", {"app": "web"}), term("zone", WORKER))))

    refused = ["node(s) didn't match pod affinity rules"]
    assert texts(stage, "ns1/a") == {"n1": [], "n2": refused, "n3": refused}
    stage.add(pod("c", affinity=affinity(term("zone", WORKER), term("rack", {"app": "web"}))))
    assert texts(stage, "ns1/c") == texts(stage, "ns1/a")


def test_namespaces_chosen_by_label_follow_the_labels() -> None:
    stage = Stage()
    team = {"namespaceSelector": {"matchLabels": {"team": "a"}}}
    stage.add(node("n1"))
    stage.add(pod("theirs", namespace="ns2", labels=WORKER, on="n1"))
    stage.add(pod("a", affinity=affinity(term("host", WORKER, **team), anti=True)))
    stage.add(pod("b", namespace="ns2", labels=WORKER))

    def namespace(labels: dict[str, str]) -> Obj:
        return {"kind": "Namespace", "metadata": {"name": "ns2", "labels": labels}}

    assert texts(stage, "ns1/a") == {"n1": []}
    stage.add(namespace({"team": "a"}))
    assert texts(stage, "ns1/a") == {"n1": ["node(s) didn't match pod anti-affinity rules"]}
    stage.world.counters.verify()

    stage.evict("ns2/theirs")
    stage.move("ns1/a", "n1")
    assert texts(stage, "ns2/b") == {"n1": ["node(s) didn't satisfy existing pods anti-affinity rules"]}
    stage.add(namespace({"team": "b"}))
    assert texts(stage, "ns2/b") == {"n1": []}
    stage.world.counters.verify()


# -------------------------------------------------------------------- spread


def test_hard_spread_keeps_the_skew_and_counts_no_terminating_pod() -> None:
    stage = Stage()
    even = {"labels": WORKER, "topologySpreadConstraints": [spread("zone", WORKER)]}
    stage.add(node("n1", zone="a"), node("n2", zone="b"), node("n3"))
    stage.add(pod("old", on="n1", labels=WORKER), pod("new", **even))

    missing = ["node(s) didn't match pod topology spread constraints (missing required label)"]
    skewed = ["node(s) didn't match pod topology spread constraints"]
    assert texts(stage, "ns1/new") == {"n1": skewed, "n2": [], "n3": missing}
    stage.pods["ns1/old"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    stage.add(stage.pods["ns1/old"])
    assert texts(stage, "ns1/new") == {"n1": [], "n2": [], "n3": missing}


def test_a_pod_that_waited_for_its_deletion_stops_counting_when_it_comes() -> None:
    stage = Stage()
    stage.add(node("n1", zone="a"), node("n2", zone="b"), pod("old", on="n1", labels=WORKER))
    stage.add(pod("new", labels=WORKER, topologySpreadConstraints=[spread("zone", WORKER)]))
    task = stage.task("ns1/old")
    stage.cache.accounting.place(task, RELEASING, task.node)
    assert texts(stage, "ns1/new")["n1"]

    stage.pods["ns1/old"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    stage.add(stage.pods["ns1/old"])

    assert not texts(stage, "ns1/new")["n1"]
    stage.world.counters.verify()


@pytest.mark.parametrize(
    ("policies", "fits"),
    [
        ({}, True),
        ({"nodeAffinityPolicy": "Ignore"}, False),
        ({"nodeAffinityPolicy": "Ignore", "minDomains": 3}, False),
        ({"minDomains": 2}, False),
    ],
    ids=["by default", "ignoring node affinity", "with too few zones", "with too few zones that count"],
)
def test_zones_that_the_pods_node_selector_excludes_are_no_measure(policies: Obj, fits: bool) -> None:
    stage = Stage()
    stage.add(node("n1", zone="a", pool="mine"), node("n2", zone="b", pool="other"))
    stage.add(pod("old", on="n1", labels=WORKER))
    constraint = spread("zone", WORKER, **policies)
    stage.add(pod("new", labels=WORKER, nodeSelector={"pool": "mine"}, topologySpreadConstraints=[constraint]))

    assert (texts(stage, "ns1/new")["n1"] == []) is fits


def test_pods_with_other_node_selectors_are_measured_by_other_zones() -> None:
    stage = Stage()
    stage.add(node("n1", zone="a", pool="mine"), node("n2", zone="b", pool="other"))
    stage.add(pod("old", on="n1", labels=WORKER))
    for name, selector in (("mine", {"pool": "mine"}), ("any", {})):
        constraint = spread("zone", WORKER)
        stage.add(pod(name, labels=WORKER, nodeSelector=selector, topologySpreadConstraints=[constraint]))

    assert texts(stage, "ns1/mine")["n1"] == []
    assert texts(stage, "ns1/any")["n1"] != []


@pytest.mark.parametrize(("policy", "fits"), [("Honor", True), ("Ignore", False)])
def test_pods_on_tainted_nodes_count_unless_the_constraint_honours_taints(policy: str, fits: bool) -> None:
    stage = Stage()
    taint = {"key": "gpu", "effect": "NoSchedule"}
    stage.add(node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="b", taints=[taint]))
    stage.add(pod("x", on="n3", labels=WORKER), pod("y", on="n3", labels=WORKER))
    constraint = spread("zone", WORKER, nodeTaintsPolicy=policy)
    stage.add(pod("new", labels=WORKER, topologySpreadConstraints=[constraint]))

    assert (texts(stage, "ns1/new")["n2"] == []) is fits


def test_a_node_that_lacks_the_key_of_another_constraint_is_no_measure() -> None:
    stage = Stage()
    stage.add(node("n1", zone="a", rack="x"), node("n2", zone="b"), pod("old", on="n1", labels=WORKER))
    zone, rack = spread("zone", WORKER), spread("rack", {"app": "none"})
    stage.add(pod("one", labels=WORKER, topologySpreadConstraints=[zone]))
    stage.add(pod("two", labels=WORKER, topologySpreadConstraints=[zone, rack]))

    assert texts(stage, "ns1/one")["n1"]
    assert not texts(stage, "ns1/two")["n1"]


def test_a_zone_short_of_the_wanted_number_counts_as_empty() -> None:
    stage = Stage()
    stage.add(node("n1", zone="a"), node("n2", zone="b"))
    stage.add(pod("x", on="n1", labels=WORKER), pod("y", on="n2", labels=WORKER))
    for name, more in (("two", {"minDomains": 2}), ("three", {"minDomains": 3})):
        stage.add(pod(name, labels=WORKER, topologySpreadConstraints=[spread("zone", WORKER, **more)]))

    assert not texts(stage, "ns1/two")["n1"]
    assert texts(stage, "ns1/three")["n1"]


def test_pods_whose_spread_label_differs_are_counted_apart() -> None:
    stage = Stage()
    constraint = spread("zone", WORKER, matchLabelKeys=["version"])
    stage.add(node("n1", zone="a"), node("n2", zone="b"))
    for name, version, on in (("old", "1", "n1"), ("a", "1", ""), ("b", "2", "")):
        labels = {**WORKER, "version": version}
        stage.add(pod(name, on=on, labels=labels, topologySpreadConstraints=[constraint]))

    assert texts(stage, "ns1/a")["n1"] == ["node(s) didn't match pod topology spread constraints"]
    assert texts(stage, "ns1/b")["n1"] == []


# -------------------------------------------------------------------- whole sessions (spec 06 §10.1)


def test_a_rolled_back_gang_leaves_no_anti_affinity_behind() -> None:
    world = SessionWorld()
    apart = affinity(term("kubernetes.io/hostname", WORKER), anti=True)
    world.node("node1", cpu=14, memory=14_000, pods=10, labels={"selector": "worker"})
    world.node("node2", cpu=3, memory=3_000, pods=10)
    world.priority_class("high", 2)
    world.priority_class("low", 1)
    world.gang("pg1", pods=0, min_member=2, priority_class="high")
    world.gang("pg2", pods=0, min_member=1, priority_class="low")
    for name, group, cpu, selector in (
        ("w1", "pg1", 3, {"selector": "worker"}),
        ("w2", "pg1", 5, {}),
        ("w3", "pg2", 4, {}),
    ):
        world.pod(name, gang=group, cpu=cpu, labels=WORKER, node_selector=selector, affinity=apart)

    world.session()

    assert world.binds() == {"default/w3": "node1"}


def test_best_effort_pods_placed_in_the_session_use_up_the_pod_number() -> None:
    world = SessionWorld()
    world.node("n1", cpu=4, memory=4_000, pods=2)
    world.priority_class("high", 2)
    world.priority_class("low", 1)
    world.gang("pg1", pods=2, min_member=0, priority_class="high")
    world.gang("pg2", pods=1, min_member=0, priority_class="low")

    world.session()

    assert world.bound("pg1") == 2
    assert world.bound("pg2") == 0
