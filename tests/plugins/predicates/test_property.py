"""Filters and counting scorers hold to the plain algorithm, whatever the cluster and however it came about."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plugins.stage import Obj, Stage, affinity, node, pod, spread, term

KEYS = st.sampled_from(["host", "zone", "rack"])
LABELS = st.sampled_from([{"app": "web"}, {"app": "db"}, {"app": "web", "tier": "1"}, {"tier": "1"}, {}])
TAINT = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["gpu", "old"]),
        "value": st.sampled_from(["", "yes"]),
        "effect": st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
    }
)
TOLERATION = st.fixed_dictionaries(
    {"operator": st.sampled_from(["Exists", "Equal"])},
    optional={
        "key": st.sampled_from(["gpu", "old", "node.kubernetes.io/unschedulable"]),
        "value": st.just("yes"),
        "effect": st.sampled_from(["NoSchedule", "NoExecute"]),
    },
)
EXPRESSION = st.one_of(
    st.builds(
        lambda key, operator, values: {"key": key, "operator": operator, "values": values},
        st.sampled_from(["zone", "rack", "size"]),
        st.sampled_from(["In", "NotIn"]),
        st.lists(st.sampled_from(["a", "b", "7"]), min_size=1, max_size=2),
    ),
    st.builds(
        lambda key, operator: {"key": key, "operator": operator},
        st.sampled_from(["zone", "rack"]),
        st.sampled_from(["Exists", "DoesNotExist"]),
    ),
    st.builds(
        lambda operator, bound: {"key": "size", "operator": operator, "values": [bound]},
        st.sampled_from(["Gt", "Lt"]),
        st.sampled_from(["3", "9"]),
    ),
)
NODE_TERM = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": st.lists(EXPRESSION, max_size=2),
        "matchFields": st.just([{"key": "metadata.name", "operator": "NotIn", "values": ["n0"]}]),
    },
)
POD_TERM = st.builds(
    lambda key, labels, more: term(key, labels, **more),
    KEYS,
    st.sampled_from([{"app": "web"}, {"app": "web"}, {"app": "db"}, {"tier": "1"}, {}, None]),
    st.sampled_from([{}, {}, {"namespaces": ["ns2"]}, {"namespaces": ["ns1", "ns2"]}, {"namespaceSelector": {}}]),
)
WEIGHTED = st.lists(st.tuples(st.integers(1, 2), POD_TERM), max_size=1)
CONSTRAINT = st.builds(
    lambda key, labels, skew, hard, more: spread(key, labels, skew=skew, hard=hard, **more),
    KEYS | st.just("kubernetes.io/hostname"),
    st.none() | LABELS,
    st.integers(1, 2),
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "minDomains": st.integers(1, 3),
            "nodeAffinityPolicy": st.sampled_from(["Honor", "Ignore"]),
            "nodeTaintsPolicy": st.sampled_from(["Honor", "Ignore"]),
            "matchLabelKeys": st.just(["tier"]),
        },
    ),
)


THEMES = ("pod affinity", "spread", "node")
"""What most pods of a situation are about, so that they have to do with each other."""


@st.composite
def nodes(draw: Any, number: int, theme: str) -> Obj:
    may_lack = [None] if draw(st.integers(0, 3)) == 0 else []
    labels = {
        "zone": draw(st.sampled_from(["a", "b", *may_lack])),
        "rack": draw(st.sampled_from(["a", "b", *may_lack])),
        "size": draw(st.sampled_from(["1", "7", "big", None])),
        "kubernetes.io/hostname": draw(st.sampled_from([f"n{number}", *may_lack])),
    }
    fussy = draw(st.integers(0, 1 if theme == "node" else 5)) == 0
    return node(
        f"n{number}",
        pods=draw(st.integers(0, 4)) if fussy else 9,
        unschedulable=fussy and draw(st.booleans()),
        taints=draw(st.lists(TAINT, max_size=1)) if fussy or theme == "spread" else (),
        **{key: value for key, value in labels.items() if value is not None},
    )


@st.composite
def pods(draw: Any, number: int, on: str, theme: str) -> Obj:
    namespace = draw(st.sampled_from(["ns1", "ns1", "ns2"]))
    made = pod(f"p{number}", namespace=namespace, on=on, labels=draw(LABELS))
    spec = made["spec"]
    if theme == "pod affinity":
        spec["affinity"] = {
            **affinity(*draw(st.lists(POD_TERM, max_size=2)), preferred=draw(WEIGHTED)),
            **affinity(*draw(st.lists(POD_TERM, max_size=1)), preferred=draw(WEIGHTED), anti=True),
        }
    if theme == "spread":
        spec["topologySpreadConstraints"] = draw(st.lists(CONSTRAINT, min_size=1, max_size=2))
    if theme == "node" or draw(st.integers(0, 4)) == 0:
        address = draw(st.sampled_from([None, "", "10.0.0.1", "10.0.0.2"]))
        if address is not None:
            spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80, "hostIP": address}]
        spec["tolerations"] = draw(st.lists(TOLERATION, max_size=2))
    if draw(st.integers(0, 2)) == 0 and theme != "pod affinity":
        terms = draw(st.lists(NODE_TERM, max_size=2))
        spec.setdefault("affinity", {})["nodeAffinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
        }
    if draw(st.integers(0, 3)) == 0 and theme != "pod affinity":
        spec["nodeSelector"] = {"zone": "a"}
    return made


class Play:
    """Random moves on a stage; after each, everything kept is compared with what it should be."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.stage = Stage()
        self.theme = data.draw(st.sampled_from(THEMES))
        self.node_count = data.draw(st.integers(1, 4))
        for number in range(self.node_count):
            self.stage.add(data.draw(nodes(number, self.theme)))
        names = [f"n{number}" for number in range(self.node_count)]
        for number in range(data.draw(st.integers(2, 7))):
            on = data.draw(st.sampled_from(names)) if data.draw(st.booleans()) else ""
            self.stage.add(data.draw(pods(number, on, self.theme)))
        self.evicted: list[str] = []

    def waiting(self) -> list[str]:
        return [key for key, each in self.stage.pods.items() if not each["spec"].get("nodeName")]

    def running(self) -> list[str]:
        return [key for key in self.stage.pods if key not in self.waiting()]

    def move(self) -> None:
        kind = self.data.draw(st.sampled_from(["place", "place", "evict", "terminate", "relabel", "relabel pod"]))
        stage, draw = self.stage, self.data.draw
        if kind == "place" and self.waiting():
            key = draw(st.sampled_from(self.waiting()))
            stage.move(key, "" if key in stage.where else draw(st.sampled_from(list(stage.node_objects))))
        elif kind == "evict" and self.running():
            key = draw(st.sampled_from(self.running()))
            if key in self.evicted:
                self.evicted.remove(key)
                stage.evict(key, undo=True)
            elif "deletionTimestamp" not in stage.pods[key]["metadata"]:
                self.evicted.append(key)
                stage.evict(key)
        elif kind == "terminate" and set(self.running()) - set(self.evicted):
            key = draw(st.sampled_from(sorted(set(self.running()) - set(self.evicted))))
            stage.pods[key]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            stage.add(stage.pods[key])
        elif kind == "relabel":
            stage.add(draw(nodes(draw(st.integers(0, self.node_count - 1)), self.theme)))
        elif kind == "relabel pod" and set(self.running()) - set(self.evicted):
            key = draw(st.sampled_from(sorted(set(self.running()) - set(self.evicted))))
            stage.pods[key]["metadata"]["labels"] = draw(LABELS)
            stage.add(stage.pods[key])

    def check(self) -> None:
        stage = self.stage
        for key in self.waiting():
            if key not in stage.where and not stage.problem(key):
                assert stage.reasons(key) == stage.expected_reasons(key)
                assert stage.scores(key) == stage.expected_scores(key)
        stage.world.counters.verify()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_filters_and_scores_follow_every_move_as_the_plain_algorithm_does(data: Any) -> None:
    play = Play(data)
    play.check()
    for _ in range(data.draw(st.integers(0, 5))):
        play.move()
        play.check()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_scores_of_some_candidates_are_those_of_the_plain_algorithm(data: Any) -> None:
    play = Play(data)
    names = data.draw(st.permutations(list(play.stage.node_objects)))
    some = names[: data.draw(st.integers(1, len(names)))]
    for key in play.waiting():
        if key not in play.stage.where:
            assert play.stage.scores(key, *some) == play.stage.expected_scores(key, *some)
