"""Label selectors (spec 01 §4, §14.3; spec 06 §2.12)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.kube.objects import LabelSelector, LabelSelectorRequirement
from vcsched.model.names import is_qualified_name
from vcsched.model.selectors import (
    EVERYBODY,
    NOBODY,
    LabelRule,
    Requirement,
    Selector,
    compile_label_selector,
    compile_pairs,
    conjunction,
    problem,
    requirement,
)


def selector(match: dict[str, str] | None = None, *parts: tuple[str, str, tuple[str, ...]]) -> LabelSelector:
    made = tuple(LabelSelectorRequirement(key=key, operator=op, values=values) for key, op, values in parts)
    return LabelSelector(match_labels=match or {}, match_expressions=made)


def test_no_selector_means_nobody_and_an_empty_one_everybody() -> None:
    assert not compile_label_selector(None).matches({"app": "a"})
    assert compile_label_selector(selector()).matches({})


@pytest.mark.parametrize(
    ("part", "present", "other", "absent"),
    [
        (("k", "In", ("a", "b")), True, False, False),
        (("k", "NotIn", ("a", "b")), False, True, True),
        (("k", "Exists", ()), True, True, False),
        (("k", "DoesNotExist", ()), False, False, True),
    ],
)
def test_operators(part: tuple[str, str, tuple[str, ...]], present: bool, other: bool, absent: bool) -> None:
    rule = compile_label_selector(selector({}, part))
    assert (rule.matches({"k": "a"}), rule.matches({"k": "z"}), rule.matches({"x": "a"})) == (
        present,
        other,
        absent,
    )


def test_all_parts_must_hold() -> None:
    rule = compile_label_selector(selector({"app": "web"}, ("tier", "Exists", ())))
    assert rule.matches({"app": "web", "tier": ""})
    assert not rule.matches({"app": "web"})
    assert not rule.matches({"app": "db", "tier": ""})


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (
            selector({}, ("k", "Near", ("a",))),
            r"matchExpressions\[0\]: operator is 'Near'; it must be one of In, NotIn",
        ),
        (selector({}, ("k", "Gt", ("1",))), "operator is 'Gt'"),
        (selector({}, ("k", "In", ())), "In on key k has no values"),
        (selector({}, ("k", "NotIn", ())), "NotIn on key k has no values"),
        (
            selector({}, ("ok", "Exists", ()), ("k", "Exists", ("a",))),
            r"matchExpressions\[1\]: .* takes none",
        ),
        (selector({}, ("k", "DoesNotExist", ("a",))), "takes none"),
        (selector({"a b": "c"}), "matchLabels: key is 'a b'"),
        (selector({}, ("", "Exists", ())), "key is ''"),
    ],
)
def test_what_cannot_be_read_means_nobody_and_says_why(broken: LabelSelector, says: str) -> None:
    rule = compile_label_selector(broken)
    assert not rule.matches({})
    assert not rule.matches({"k": "a"})
    assert re.search(says, problem(broken))


def test_a_readable_selector_has_no_problem() -> None:
    assert problem(None) == problem(selector({"app": "web"}, ("x.io/tier", "In", ("a",)))) == ""


def test_selectors_that_say_the_same_are_equal() -> None:
    one = compile_label_selector(selector({"a": "1"}, ("b", "In", ("x", "y"))))
    other = compile_label_selector(selector({}, ("b", "In", ("y", "x", "x")), ("a", "In", ("1",)), ("a", "In", ("1",))))
    assert one == other
    assert hash(one) == hash(other)


def test_plain_maps_match_equal_labels() -> None:
    rule = compile_pairs({"app": "web"})
    assert rule.matches({"app": "web", "x": "y"})
    assert not rule.matches({"app": "db"})


def test_namespaces_bound_a_selector() -> None:
    rule = compile_pairs({"app": "web"})
    assert Selector(frozenset({"a", "b"}), rule).selects("b", {"app": "web"})
    assert not Selector(frozenset({"a", "b"}), rule).selects("c", {"app": "web"})
    assert not Selector(frozenset({"a"}), rule).selects("a", {"app": "db"})
    assert Selector(None, rule).selects("anywhere", {"app": "web"})
    assert Selector(None, rule).matches({"app": "web"})


def test_a_selector_of_nobody_is_known_as_such() -> None:
    assert Selector(None, NOBODY).is_nobody
    assert Selector(frozenset(), EVERYBODY).is_nobody
    assert not Selector(None, EVERYBODY).is_nobody


@pytest.mark.parametrize(
    ("rule", "pair"),
    [
        (compile_pairs({"app": "web", "job": "job-4711"}), ("job", "job-4711")),
        (LabelRule((requirement("k", "In", ("a",)), requirement("l", "Exists"))), ("k", "a")),
        (LabelRule((requirement("k", "In", ("a", "b")), requirement("l", "NotIn", ("c",)))), None),
        (EVERYBODY, None),
        (NOBODY, None),
    ],
)
def test_candidates_are_found_by_an_equal_label(rule: LabelRule, pair: tuple[str, str] | None) -> None:
    assert Selector(None, rule).index_key == pair


KEYS = ("a", "b", "c")
VALUES = ("1", "2", "3")
labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))
parts = st.one_of(
    st.builds(
        requirement,
        st.sampled_from(KEYS),
        st.sampled_from(("In", "NotIn")),
        st.lists(st.sampled_from(VALUES), min_size=1),
    ),
    st.builds(requirement, st.sampled_from(KEYS), st.sampled_from(("Exists", "DoesNotExist"))),
)
rules = st.one_of(st.just(NOBODY), st.lists(parts, max_size=3).map(EVERYBODY.joined))
namespaces = st.one_of(st.none(), st.frozensets(st.sampled_from(("n1", "n2", "n3"))))
selectors = st.builds(Selector, namespaces, rules)


@given(st.lists(selectors, max_size=4), st.sampled_from(("n1", "n2", "n3")), labels)
def test_a_conjunction_means_the_pods_that_all_mean(
    group: list[Selector], namespace: str, held: dict[str, str]
) -> None:
    assert conjunction(group).selects(namespace, held) is all(one.selects(namespace, held) for one in group)


@given(selectors, labels)
def test_pods_that_match_are_found_by_the_index_key(one: Selector, held: dict[str, str]) -> None:
    if one.matches(held) and one.index_key is not None:
        key, value = one.index_key
        assert held[key] == value


@given(parts, st.sampled_from((None, *VALUES)))
def test_a_requirement_and_its_opposite_never_agree(part: Requirement, value: str | None) -> None:
    opposite = {"In": "NotIn", "NotIn": "In", "Exists": "DoesNotExist", "DoesNotExist": "Exists"}
    assert part.accepts(value) is not part._replace(operator=opposite[part.operator]).accepts(value)


@pytest.mark.parametrize("name", ["a", "app.kubernetes.io/name", "A_b-c.d", "x" * 63, "d" * 63 + ".io/x"])
def test_label_keys(name: str) -> None:
    assert is_qualified_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/a",
        "a/",
        "a/b/c",
        "-a",
        "a-",
        "x" * 64,
        "Upper.io/a",
        "a b",
        "a\n",
        "-x.io/a",
        "é",
        "a" * 254 + "/x",
    ],
)
def test_no_label_keys(name: str) -> None:
    assert not is_qualified_name(name)
