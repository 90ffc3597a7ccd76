"""The two scorers that count pods: preferred pod affinity and soft topology spread (spec 06 §3.6, §3.7, §10.2)."""

from __future__ import annotations

import pytest

from tests.plugins.stage import AFFINITY_WEIGHT, SPREAD_WEIGHT, Stage, affinity, node, pod, spread, term
from vcsched.kube.keys import HOSTNAME, ZONE

FOO = {"app": "foo"}


def hosts(count: int, **labels: str) -> list[dict[str, object]]:
    return [node(f"n{number}", **{HOSTNAME: f"n{number}"}, **labels) for number in range(1, count + 1)]


# -------------------------------------------------------------------- pod affinity


def test_a_pod_goes_near_the_pods_it_would_like_to_have_near() -> None:
    stage = Stage()
    stage.add(*hosts(3), pod("s1", on="n1", labels={"service": "s1"}), pod("s2", on="n3", labels={"service": "s2"}))
    stage.add(pod("a", affinity=affinity(preferred=[(1, term(HOSTNAME, {"service": "s1"}))])))

    assert stage.scores("ns1/a") == {"n1": 100.0 * AFFINITY_WEIGHT, "n2": 0.0, "n3": 0.0}


def test_wishes_of_placed_pods_count_too_and_dislikes_count_against() -> None:
    stage = Stage()
    likes = affinity(preferred=[(2, term(HOSTNAME, FOO))])
    dislikes = affinity(preferred=[(2, term(HOSTNAME, FOO))], anti=True)
    stage.add(*hosts(3), pod("x", on="n1", affinity=likes), pod("y", on="n3", affinity=dislikes))
    stage.add(pod("a", labels=FOO))

    assert stage.scores("ns1/a") == {"n1": 100.0 * AFFINITY_WEIGHT, "n2": 50.0 * AFFINITY_WEIGHT, "n3": 0.0}


def test_required_affinity_of_placed_pods_weighs_nothing() -> None:
    stage = Stage()
    stage.add(*hosts(2), pod("x", on="n1", labels=FOO, affinity=affinity(term(HOSTNAME, FOO))), pod("a", labels=FOO))

    assert stage.scores("ns1/a") == {"n1": 0.0, "n2": 0.0}


def test_scores_are_cut_to_whole_numbers_as_kubernetes_does() -> None:
    """29 of 50 is 0.58 exactly, 57.99999999999999 as Kubernetes reckons."""
    stage = Stage()
    stage.add(*hosts(3))
    for name, weight, on in (("most", 50, "n1"), ("some", 29, "n2")):
        stage.add(pod(name, on=on, affinity=affinity(preferred=[(weight, term(HOSTNAME, FOO))])))
    stage.add(pod("a", labels=FOO))

    assert stage.scores("ns1/a")["n2"] == 57.0 * AFFINITY_WEIGHT


def test_only_the_candidates_are_stretched_to_the_scale() -> None:
    stage = Stage()
    stage.add(*hosts(3))
    for name, weight, on in (("most", 50, "n1"), ("some", 10, "n2")):
        stage.add(pod(name, on=on, affinity=affinity(preferred=[(weight, term(HOSTNAME, FOO))])))
    stage.add(pod("a", labels=FOO))

    assert stage.scores("ns1/a", "n2", "n3") == {"n2": 100.0 * AFFINITY_WEIGHT, "n3": 0.0}


# -------------------------------------------------------------------- spread


def test_the_zone_with_the_fewest_pods_is_best() -> None:
    stage = Stage()
    stage.add(*(node(f"n{number}", zone=f"zone{number}") for number in (1, 2, 3)))
    for name, on in (("a", "n1"), ("b", "n1"), ("c", "n2")):
        stage.add(pod(name, on=on, labels=FOO))
    stage.add(pod("new", labels=FOO, topologySpreadConstraints=[spread("zone", FOO, hard=False)]))

    scores = stage.scores("ns1/new")
    assert max(scores, key=lambda name: scores[name]) == "n3"
    assert scores["n3"] == 100.0 * SPREAD_WEIGHT


def test_a_domain_weighs_by_the_number_of_candidate_domains() -> None:
    stage = Stage()
    stage.add(*(node(f"n{number}", zone=f"z{number}") for number in range(1, 8)))
    for number in range(9):
        stage.add(pod(f"p{number}", on="n1" if number else "n2", labels=FOO))
    stage.add(pod("new", labels=FOO, topologySpreadConstraints=[spread("zone", FOO, hard=False)]))

    # one pod weighs ln(7 + 2) = 2.197 among seven zones: 8 pods 17.6, 1 pod 2.2, none 0
    assert stage.scores("ns1/new")["n2"] == 100 * (18 + 0 - 2) // 18 * SPREAD_WEIGHT
    # and ln(3 + 2) = 1.609 among three: 12.9, 1.6, 0
    assert stage.scores("ns1/new", "n1", "n2", "n3")["n2"] == 100 * (13 + 0 - 2) // 13 * SPREAD_WEIGHT


def test_a_node_without_a_key_of_the_pods_own_constraints_scores_nothing() -> None:
    stage = Stage()
    stage.add(node("n1", zone="a"), node("n2"))
    stage.add(pod("new", topologySpreadConstraints=[spread("zone", FOO, hard=False)]))

    assert stage.scores("ns1/new") == {"n1": 100.0 * SPREAD_WEIGHT, "n2": 0.0}


@pytest.mark.parametrize("zone", [{}, {ZONE: "a"}], ids=["without zones", "with zones"])
def test_the_pods_of_a_service_are_spread_over_hosts_even_where_there_are_no_zones(zone: dict[str, str]) -> None:
    stage = Stage()
    stage.add(*hosts(2, **zone))
    service = {"kind": "Service", "metadata": {"namespace": "ns1", "name": "foo"}, "spec": {"selector": FOO}}
    stage.add(service, *(pod(f"p{number}", on="n1", labels=FOO) for number in range(4)), pod("new", labels=FOO))

    scores = stage.scores("ns1/new")
    assert scores["n2"] > scores["n1"]
