"""Pod counters: idle while nobody asks, exact when somebody does, and rid of what nobody asks any more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.plugins.stage import Obj, Stage, affinity, node, pod, spread, term
from vcsched.cache.labelindex import PodIndex, SelectorIndex
from vcsched.cache.podcounters import NOTHING, SWEEP_EVERY
from vcsched.model.selectors import EXISTS, IN, NOBODY, NOT_IN, LabelRule, Selector, requirement

WEB = {"app": "web"}


def service(name: str, selector: dict[str, str], namespace: str = "ns1") -> Obj:
    return {
        "kind": "Service",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"selector": selector},
    }


def replica_set(name: str, labels: dict[str, str]) -> Obj:
    return {
        "kind": "ReplicaSet",
        "metadata": {"namespace": "ns1", "name": name},
        "spec": {"selector": {"matchLabels": labels}},
    }


def owned_by(made: Obj, name: str) -> Obj:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name, "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    return made


# -------------------------------------------------------------------- who asks


def test_nothing_is_counted_while_no_pod_has_to_do_with_another() -> None:
    stage = Stage()
    on_zone = {"key": "zone", "operator": "Exists"}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [on_zone]}]}
    only_nodes = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    stage.add(node("n1", zone="a"), pod("a", on="n1", labels=WEB), pod("b", labels=WEB, affinity=only_nodes))
    stage.move("ns1/b", "n1")

    assert not stage.world.counters.active
    assert stage.world.counters.match(stage.task("ns1/b")) is NOTHING


def test_a_counter_that_is_first_asked_for_late_knows_the_pods_that_stand() -> None:
    stage = Stage()
    stage.add(node("n1"), pod("a", on="n1", labels=WEB), pod("b", affinity=affinity(term("host", WEB))))

    assert stage.reasons("ns1/b") == {"n1": []}
    assert stage.world.counters.active


def test_pods_whose_labels_matter_to_nobody_have_the_same_match() -> None:
    stage = Stage()
    stage.add(node("n1"), pod("owner", on="n1", affinity=affinity(term("host", WEB), anti=True)))
    for name, labels in (("a", {"index": "1"}), ("b", {"index": "2"}), ("c", {**WEB, "index": "3"})):
        stage.add(pod(name, labels=labels))
    shape = {key: stage.pipeline.ask(stage.task(f"ns1/{key}")).shape for key in "abc"}

    assert shape["a"] is shape["b"]
    assert shape["a"] is not shape["c"]


def test_pods_of_an_anti_affine_gang_stay_one_shape_when_the_first_is_placed() -> None:
    stage = Stage()
    stage.add(node("n1"), node("n2"))
    for name in ("a", "b"):
        stage.add(pod(name, labels=WEB, affinity=affinity(term("host", WEB), anti=True)))
    before = stage.pipeline.ask(stage.task("ns1/b")).shape
    stage.move("ns1/a", "n1")

    assert stage.pipeline.ask(stage.task("ns1/b")).shape is before
    assert stage.reasons("ns1/b")["n1"]


def test_an_answer_stays_while_only_pods_that_do_not_matter_move() -> None:
    stage = Stage()
    stage.add(node("n1"), pod("a", labels=WEB, affinity=affinity(term("host", WEB), anti=True)))
    stage.add(pod("web", labels=WEB), pod("other"))
    ask = stage.pipeline.ask(stage.task("ns1/a"))
    version = stage.predicate.filters[5].version
    assert version is not None

    before = version(ask)
    stage.move("ns1/other", "n1")
    assert version(ask) == before
    stage.move("ns1/web", "n1")
    assert version(ask) != before


# -------------------------------------------------------------------- default spreading


def test_pods_of_a_service_or_replica_set_are_spread_without_saying_so() -> None:
    stage = Stage()
    stage.add(node("n1", **{"kubernetes.io/hostname": "n1"}), node("n2", **{"kubernetes.io/hostname": "n2"}))
    stage.add(pod("old", on="n1", labels=WEB), pod("plain", labels=WEB), owned_by(pod("b", labels=WEB), "rs"))

    assert stage.scores("ns1/plain") == {"n1": 0.0, "n2": 0.0}
    stage.add(service("web", WEB))
    scores = stage.scores("ns1/plain")
    assert scores["n2"] > scores["n1"]
    stage.add(service("web", {"app": "another"}))
    assert stage.scores("ns1/plain") == {"n1": 0.0, "n2": 0.0}

    stage.add(replica_set("rs", WEB))
    scores = stage.scores("ns1/b")
    assert scores["n2"] > scores["n1"]
    assert stage.scores("ns1/plain") == {"n1": 0.0, "n2": 0.0}


def test_a_pod_with_constraints_of_its_own_is_not_spread_by_default() -> None:
    stage = Stage()
    stage.add(node("n1", zone="a"), node("n2", zone="b"), service("web", WEB), pod("old", on="n1", labels=WEB))
    stage.add(pod("a", labels=WEB, topologySpreadConstraints=[spread("zone", {"app": "none"}, hard=True)]))

    assert stage.scores("ns1/a") == {"n1": 0.0, "n2": 0.0}


# -------------------------------------------------------------------- upkeep


def test_counters_that_nobody_asked_for_lately_are_let_go() -> None:
    stage = Stage()
    counters = stage.world.counters
    stage.add(node("n1"), pod("stays", affinity=affinity(term("host", WEB), anti=True)))
    for number in range(8):
        wish = affinity(term("host", {"app": f"a{number}"}), anti=True)
        stage.add(pod(f"p{number}", affinity=wish))
        assert stage.reasons(f"ns1/p{number}") == {"n1": []}
        stage.move(f"ns1/p{number}", "n1")
        stage.move(f"ns1/p{number}", "")

    for _ in range(2 * SWEEP_EVERY):
        counters.sweep()
        assert stage.reasons("ns1/stays") == {"n1": []}
    assert len(counters._questions) == 1
    assert len(counters._terms) <= 1

    stage.add(pod("web", on="n1", labels=WEB), pod("again", labels={"app": "a3"}))
    assert stage.reasons("ns1/stays")["n1"]
    assert stage.reasons("ns1/p3") == {"n1": []}
    stage.move("ns1/again", "n1")
    assert stage.reasons("ns1/p3")["n1"]
    counters.verify()


# -------------------------------------------------------------------- finding one by the other


VALUES = st.sampled_from(["a", "b"])
LABELS = st.dictionaries(st.sampled_from(["k", "l"]), VALUES)
REQUIREMENT = st.builds(
    lambda key, operator, values: requirement(key, operator, () if operator == EXISTS else values),
    st.sampled_from(["k", "l"]),
    st.sampled_from([IN, NOT_IN, EXISTS]),
    st.lists(VALUES, min_size=1, max_size=2),
)
RULE = st.just(NOBODY) | st.builds(lambda parts: LabelRule(tuple(parts)), st.lists(REQUIREMENT, max_size=2))
SELECTOR = st.builds(Selector, st.none() | st.frozensets(st.sampled_from(["ns1", "ns2"])), RULE)


class Labelled:
    def __init__(self, number: int, namespace: str, labels: dict[str, str]) -> None:
        self.uid = str(number)
        self.namespace = namespace
        self.labels = labels


PODS = st.lists(st.tuples(st.sampled_from(["ns1", "ns2"]), LABELS), max_size=6)


@given(st.lists(SELECTOR, max_size=5), PODS, st.data())
def test_an_index_finds_what_trying_all_finds(
    selectors: list[Selector], described: list[tuple[str, dict[str, str]]], data: st.DataObject
) -> None:
    index: SelectorIndex[int] = SelectorIndex()
    pods: PodIndex[Labelled] = PodIndex()
    made = [Labelled(number, *each) for number, each in enumerate(described)]
    for number, selector in enumerate(selectors):
        index.add(selector, number)
    for number, each in enumerate(made):
        pods.add(each)
        if number == len(made) // 2 and selectors:
            list(pods.find(selectors[0]))  # from here on its label key is indexed
    gone = data.draw(st.integers(0, len(selectors)))
    for number in range(gone):
        index.remove(selectors[number], number)
    left = data.draw(st.integers(0, len(made)))
    for each in made[left:]:
        assert pods.pop(each.uid) is each
    for each in made:
        found = {n for n, s in enumerate(selectors) if n >= gone and s.selects(each.namespace, each.labels)}
        assert set(index.find(each.namespace, each.labels)) == found
    for selector in selectors:
        meant = {each.uid for each in made[:left] if selector.selects(each.namespace, each.labels)}
        assert {each.uid for each in pods.find(selector)} == meant
    assert bool(index) is any(not s.is_nobody for s in selectors[gone:])
