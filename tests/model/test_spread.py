"""Topology spread constraints and formulas (spec 06 §2.16, §3.7)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.kube.keys import HOSTNAME, ZONE
from vcsched.kube.objects import LabelSelector, LabelSelectorRequirement, PodSpec, TopologySpreadConstraint
from vcsched.model.selectors import EVERYBODY, NOBODY, LabelRule, compile_pairs
from vcsched.model.spread import (
    Constraint,
    Spread,
    default_rule,
    final_scores,
    fits_skew,
    least_count,
    serves,
    spread_of,
    topology_weight,
    weighed,
    whole,
)

WEB = LabelSelector(match_labels={"app": "web"})


def constraint(
    selector: LabelSelector | None = WEB, *, soft: bool = False, keys: tuple[str, ...] = (), **more: str | int
) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(
        max_skew=1,
        topology_key=ZONE,
        when_unsatisfiable="ScheduleAnyway" if soft else "DoNotSchedule",
        label_selector=selector,
        match_label_keys=keys,
        **more,  # type: ignore[arg-type]
    )


def spread(
    *declared: TopologySpreadConstraint, labels: dict[str, str] | None = None, default: LabelRule = NOBODY
) -> Spread:
    return spread_of(PodSpec(topology_spread_constraints=declared), "ns", labels or {}, default)


def only(said: TopologySpreadConstraint, labels: dict[str, str] | None = None) -> Constraint:
    (made,) = spread(said, labels=labels).hard
    return made


def test_hard_and_soft_constraints_are_told_apart() -> None:
    said = spread(constraint(), constraint(soft=True))
    assert [one.topology_key for one in said.hard] == [one.topology_key for one in said.soft] == [ZONE]
    assert said.needs_all_keys
    assert said.error == ""


def test_defaults_of_a_constraint() -> None:
    made = only(constraint())
    assert (made.max_skew, made.min_domains, made.honors_affinity, made.honors_taints) == (1, 1, True, False)


def test_what_a_constraint_says_beats_the_defaults() -> None:
    made = only(constraint(min_domains=3, node_affinity_policy="Ignore", node_taints_policy="Honor"))
    assert (made.min_domains, made.honors_affinity, made.honors_taints) == (3, False, True)


def test_pods_of_the_namespace_that_match_are_counted() -> None:
    made = only(constraint())
    assert made.selector.selects("ns", {"app": "web"})
    assert not made.selector.selects("other", {"app": "web"})
    assert not made.selector.selects("ns", {"app": "db"})
    assert made.counts_itself({"app": "web"})
    assert not made.counts_itself({"app": "db"})


def test_no_selector_counts_nobody_and_an_empty_one_only_the_pod_itself() -> None:
    nobody, empty = only(constraint(None)), only(constraint(LabelSelector()))
    assert nobody.selector.is_nobody
    assert not nobody.counts_itself({"app": "web"})
    assert empty.selector.is_nobody
    assert empty.counts_itself({})


def test_match_label_keys_take_the_pods_own_values_and_pass_over_absent_ones() -> None:
    made = only(constraint(keys=("hash", "gone")), {"app": "web", "hash": "x1"})
    assert made.selector.selects("ns", {"app": "web", "hash": "x1"})
    assert not made.selector.selects("ns", {"app": "web", "hash": "x2"})
    alone = only(constraint(LabelSelector(), keys=("hash",)), {"hash": "x1"})
    assert alone.selector.selects("ns", {"hash": "x1"})
    assert only(constraint(None, keys=("hash",)), {"hash": "x1"}).selector.is_nobody


def test_a_selector_that_cannot_be_read_is_told_with_its_place() -> None:
    broken = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Near"),))
    said = spread(constraint(), constraint(broken, soft=True))
    assert said.error.startswith("topologySpreadConstraints[1].labelSelector.matchExpressions[0]: operator is")


def test_a_pod_without_constraints_is_spread_softly_over_hosts_and_zones() -> None:
    said = spread(default=compile_pairs({"app": "web"}))
    assert said.hard == ()
    assert [(one.topology_key, one.max_skew) for one in said.soft] == [(HOSTNAME, 3), (ZONE, 5)]
    assert all(one.selector.selects("ns", {"app": "web"}) for one in said.soft)
    assert not said.needs_all_keys


@pytest.mark.parametrize("default", [EVERYBODY, NOBODY])
def test_nothing_to_spread_against_is_no_spreading(default: LabelRule) -> None:
    assert spread(default=default).soft == ()


def test_own_constraints_replace_the_defaults() -> None:
    assert spread(constraint(), default=compile_pairs({"app": "web"})).soft == ()


def test_the_default_selector_is_that_of_services_and_owner_together() -> None:
    owner = LabelSelector(match_labels={"hash": "x1"})
    merged = default_rule([{"app": "web"}, {"tier": "front"}], owner)
    assert merged == compile_pairs({"app": "web", "tier": "front", "hash": "x1"})
    assert default_rule([], {"rc": "a"}) == compile_pairs({"rc": "a"})
    assert default_rule([{"app": "web"}], None) == compile_pairs({"app": "web"})
    assert default_rule([], None) == default_rule([], LabelSelector()) == EVERYBODY


def test_an_owner_selector_that_cannot_be_read_adds_nothing() -> None:
    broken = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Near"),))
    assert default_rule([{"app": "web"}], broken) == compile_pairs({"app": "web"})


def test_a_service_selects_by_equal_labels_and_one_without_selector_nobody() -> None:
    assert serves({"app": "web"}, {"app": "web", "x": "y"})
    assert not serves({"app": "web"}, {"app": "db"})
    assert not serves({}, {"app": "web"})


@pytest.mark.parametrize(
    ("counts", "min_domains", "least"),
    [([3, 1, 2], 1, 1), ([3, 1], 3, 0), ([3, 1], 2, 1), ([], 1, 0), ([], 0, 2**31 - 1)],
)
def test_too_few_domains_leave_room_for_an_empty_one(counts: list[int], min_domains: int, least: int) -> None:
    assert least_count(counts, min_domains) == least


def test_a_domain_may_be_ahead_by_the_skew() -> None:
    count = np.array([0, 1, 2, 3])
    assert fits_skew(count, True, 1, 1).tolist() == [True, True, False, False]
    assert fits_skew(count, False, 1, 1).tolist() == [True, True, True, False]
    assert fits_skew(count, False, 2**31 - 1, 1).all()


def test_raw_scores_weigh_counts_and_round_halves_up() -> None:
    total = weighed(np.array([0, 1, 5]), 0.5, 1) + weighed(np.array([1, 0, 3]), 1.0, 3)
    assert total.tolist() == [3.0, 2.5, 7.5]
    assert whole(total).tolist() == [3, 3, 8]
    assert whole(np.array([0.5, 1.49])).tolist() == [1, 1]


def test_more_domains_weigh_more() -> None:
    assert topology_weight(1) == pytest.approx(math.log(3))


def test_the_emptiest_zone_wins() -> None:
    raw = whole(weighed(np.array([2, 1, 0]), topology_weight(3), 1))
    final = final_scores(raw, np.zeros(3, dtype=bool))
    assert final.argmax() == 2
    assert final.tolist() == [0, 33, 100]


def test_ignored_candidates_score_nothing_and_do_not_count() -> None:
    raw = np.array([9.0, 2.0, 4.0])
    assert final_scores(raw, np.array([True, False, False])).tolist() == [0, 100, 50]
    assert final_scores(raw, np.ones(3, dtype=bool)).tolist() == [0, 0, 0]
    assert final_scores(np.zeros(2), np.array([False, True])).tolist() == [100, 0]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6))
def test_final_scores_are_the_formula_on_exact_numbers(raw: list[int]) -> None:
    least, most = min(raw), max(raw)
    expected = [int(Fraction(100 * (most + least - r), most)) if most else 100 for r in raw]
    assert final_scores(np.array(raw), np.zeros(len(raw), dtype=bool)).tolist() == expected
