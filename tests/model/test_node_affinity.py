"""Node selector and node affinity (spec 06 §2.9, §3.5)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.kube.objects import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodSpec,
    PreferredSchedulingTerm,
)
from vcsched.model.node_affinity import NodeRule, evaluate, evaluate_score, node_rule

Part = tuple[str, str, tuple[str, ...]]


def term(*parts: Part, name: Part | tuple[()] = ()) -> NodeSelectorTerm:
    made = tuple(NodeSelectorRequirement(key=key, operator=op, values=values) for key, op, values in parts)
    fields = (NodeSelectorRequirement(key=name[0], operator=name[1], values=name[2]),) if name else ()
    return NodeSelectorTerm(match_expressions=made, match_fields=fields)


def on(node: str, operator: str = "In") -> NodeSelectorTerm:
    return term(name=("metadata.name", operator, (node,)))


def rule(
    *required: NodeSelectorTerm,
    selector: dict[str, str] | None = None,
    preferred: tuple[tuple[int, NodeSelectorTerm], ...] = (),
) -> NodeRule:
    return node_rule(
        PodSpec(
            node_selector=selector or {},
            affinity=Affinity(
                node_affinity=NodeAffinity(
                    required=NodeSelector(node_selector_terms=required) if required else None,
                    preferred=tuple(PreferredSchedulingTerm(weight=w, preference=t) for w, t in preferred),
                )
            ),
        )
    )


def test_a_pod_that_says_nothing_runs_anywhere() -> None:
    for said in (node_rule(PodSpec()), node_rule(PodSpec(affinity=Affinity())), rule()):
        assert said.matches({}, "n1")
        assert not said.restricts
        assert said.pinned is None
        assert said.keys == ()


def test_every_pair_of_the_node_selector_must_be_there() -> None:
    said = rule(selector={"zone": "a", "disk": "ssd"})
    assert said.restricts
    assert said.matches({"zone": "a", "disk": "ssd", "x": "y"}, "n1")
    assert not said.matches({"zone": "a"}, "n1")


@pytest.mark.parametrize(
    ("part", "holds", "fails"),
    [
        (("k", "In", ("a", "b")), [{"k": "b"}], [{"k": "c"}, {}]),
        (("k", "NotIn", ("a",)), [{"k": "b"}, {}], [{"k": "a"}]),
        (("k", "Exists", ()), [{"k": ""}], [{}]),
        (("k", "DoesNotExist", ()), [{}], [{"k": ""}]),
        (
            ("k", "Gt", ("5",)),
            [{"k": "6"}, {"k": "+10"}],
            [{"k": "5"}, {"k": "x"}, {"k": "6.5"}, {}, {"k": str(2**63)}],
        ),
        (("k", "Lt", ("-5",)), [{"k": "-6"}], [{"k": "-5"}, {"k": ""}, {}]),
    ],
)
def test_operators(part: Part, holds: list[dict[str, str]], fails: list[dict[str, str]]) -> None:
    said = rule(term(part))
    assert all(said.matches(labels, "n1") for labels in holds)
    assert not any(said.matches(labels, "n1") for labels in fails)


def test_one_term_is_enough_but_all_its_parts_must_hold() -> None:
    said = rule(term(("a", "Exists", ()), ("b", "Exists", ())), term(("c", "Exists", ())))
    assert said.matches({"a": "", "b": ""}, "n1")
    assert said.matches({"c": ""}, "n1")
    assert not said.matches({"a": ""}, "n1")


def test_selector_and_affinity_must_both_hold() -> None:
    said = rule(term(("a", "Exists", ())), selector={"b": "1"})
    assert said.matches({"a": "", "b": "1"}, "n1")
    assert not said.matches({"a": ""}, "n1")
    assert not said.matches({"b": "1"}, "n1")


def test_required_affinity_without_terms_matches_no_node() -> None:
    empty = NodeAffinity(required=NodeSelector())
    said = node_rule(PodSpec(affinity=Affinity(node_affinity=empty)))
    assert said.restricts
    assert not said.matches({"a": "b"}, "n1")
    assert not said.is_contradictory
    assert not rule(term()).matches({}, "n1")


BROKEN = [
    term(("k", "Near", ("a",))),
    term(("k", "In", ())),
    term(("k", "Exists", ("a",))),
    term(("k", "Gt", ("1", "2"))),
    term(("k", "Gt", ("one",))),
    term(("a b", "Exists", ())),
    term(name=("metadata.uid", "In", ("n1",))),
    term(name=("metadata.name", "Exists", ())),
    term(name=("metadata.name", "In", ("n1", "n2"))),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_term_that_cannot_be_read_never_matches_and_the_others_still_count(
    broken: NodeSelectorTerm,
) -> None:
    assert not rule(broken).matches({"k": "a"}, "n1")
    assert rule(broken, term(("k", "Exists", ()))).matches({"k": "a"}, "n1")


@pytest.mark.parametrize("broken", BROKEN)
def test_a_preferred_term_that_cannot_be_read_is_an_error(broken: NodeSelectorTerm) -> None:
    assert "preferred node affinity term 1: match" in rule(preferred=((1, on("n1")), (1, broken))).preferred_error
    assert rule(preferred=((0, broken),)).preferred_error == ""


def test_nodes_can_be_named() -> None:
    assert rule(on("n1")).matches({}, "n1")
    assert not rule(on("n1")).matches({}, "n2")
    assert rule(on("n1", "NotIn")).matches({}, "n2")
    assert not rule(on("n1", "NotIn")).matches({}, "n1")


def test_pins_are_known_when_every_term_names_nodes() -> None:
    assert rule(on("n1"), on("n2")).pinned == frozenset({"n1", "n2"})
    assert rule(on("n1"), term(("a", "Exists", ()))).pinned is None
    assert rule(on("n1", "NotIn")).pinned is None
    contradiction = NodeSelectorTerm(match_fields=on("n1").match_fields + on("n2").match_fields)
    assert rule(contradiction).is_contradictory
    assert rule(contradiction, on("n3")).pinned == frozenset({"n3"})


def test_preferred_terms_add_their_weights() -> None:
    said = rule(preferred=((5, term(("a", "Exists", ()))), (7, on("n1")), (0, on("n1")), (9, term())))
    assert not said.restricts
    assert said.score({"a": ""}, "n1") == 12
    assert said.score({}, "n1") == 7
    assert said.score({}, "n2") == 0


def test_the_keys_it_reads_are_known() -> None:
    said = rule(term(("b", "Exists", ())), selector={"a": "1"}, preferred=((1, term(("c", "Exists", ()))),))
    assert said.keys == ("a", "b", "c")


parts = st.one_of(
    st.tuples(st.sampled_from("abc"), st.sampled_from(("In", "NotIn", "Gt")), st.tuples(st.sampled_from("123"))),
    st.tuples(st.sampled_from("abc"), st.sampled_from(("Exists", "DoesNotExist")), st.just(())),
    st.just(("a", "Near", ("1",))),
)
terms = st.builds(
    lambda parts, name: term(*parts, name=name),
    st.lists(parts, max_size=2),
    st.one_of(
        st.just(()),
        st.tuples(
            st.just("metadata.name"),
            st.sampled_from(("In", "NotIn")),
            st.tuples(st.sampled_from(("n0", "n1"))),
        ),
    ),
)
rules = st.builds(
    lambda required, selector, preferred: rule(*required, selector=selector, preferred=tuple(preferred)),
    st.lists(terms, max_size=3),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from("123"), max_size=1),
    st.lists(st.tuples(st.integers(1, 100), terms), max_size=2),
)
clusters = st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from("123")), min_size=1, max_size=5)


@given(rules, clusters)
def test_columns_and_single_nodes_answer_alike(said: NodeRule, cluster: list[dict[str, str]]) -> None:
    names = [f"n{i}" for i in range(len(cluster))]
    each = list(zip(cluster, names, strict=True))

    many = {
        "label": lambda part: np.array([part.accepts(labels.get(part.key)) for labels in cluster]),
        "name": lambda part: np.array([part.accepts(name) for name in names]),
    }
    everything = np.ones(len(cluster), dtype=bool)
    assert evaluate(said, everything, **many).tolist() == [said.matches(*node) for node in each]
    assert evaluate_score(said, everything, **many).tolist() == [said.score(*node) for node in each]

    for labels, name in each:
        one = {
            "label": lambda part, labels=labels: part.accepts(labels.get(part.key)),
            "name": lambda part, name=name: part.accepts(name),
        }
        assert evaluate(said, True, **one) is said.matches(labels, name)
        assert evaluate_score(said, True, **one) == said.score(labels, name)


@given(
    rules,
    st.dictionaries(st.sampled_from("abc"), st.sampled_from("123")),
    st.sampled_from(("n0", "n1", "n2")),
)
def test_a_node_that_is_not_pinned_never_matches(said: NodeRule, labels: dict[str, str], name: str) -> None:
    if said.pinned is not None and name not in said.pinned:
        assert not said.matches(labels, name)
