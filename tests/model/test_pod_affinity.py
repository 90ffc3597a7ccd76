"""Pod affinity terms as values (spec 06 §2.12, §3.6)."""

from __future__ import annotations

from vcsched.kube.objects import (
    Affinity,
    LabelSelector,
    LabelSelectorRequirement,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    WeightedPodAffinityTerm,
)
from vcsched.model.pod_affinity import PodAffinityRule, pod_affinity_rule
from vcsched.model.selectors import LabelRule, Selector, compile_pairs

NAMESPACES = {"red": {"team": "a"}, "blue": {"team": "a"}, "green": {"team": "b"}}
WEB = LabelSelector(match_labels={"app": "web"})
HOST = "kubernetes.io/hostname"


def find(rule: LabelRule) -> frozenset[str]:
    return frozenset(name for name, labels in NAMESPACES.items() if rule.matches(labels))


def term(
    selector: LabelSelector | None = WEB,
    *,
    namespaces: tuple[str, ...] = (),
    of: LabelSelector | None = None,
    key: str = HOST,
) -> PodAffinityTerm:
    return PodAffinityTerm(label_selector=selector, namespaces=namespaces, namespace_selector=of, topology_key=key)


def rule(near: PodAffinity | None = None, far: PodAffinity | None = None) -> PodAffinityRule:
    spec = PodSpec(affinity=Affinity(pod_affinity=near, pod_anti_affinity=far))
    return pod_affinity_rule(spec, "red", find)


def namespaces_of(said: PodAffinityTerm) -> set[str] | None:
    found = rule(PodAffinity(required=(said,))).affinity[0].selector.namespaces
    return None if found is None else set(found)


def test_a_pod_without_affinity_has_no_terms() -> None:
    for spec in (PodSpec(), PodSpec(affinity=Affinity())):
        said = pod_affinity_rule(spec, "red", find)
        assert said.terms == ()
        assert said.error == ""


def test_without_namespaces_the_owners_is_meant() -> None:
    assert namespaces_of(term()) == {"red"}


def test_listed_and_selected_namespaces_add_up() -> None:
    team_b = LabelSelector(match_labels={"team": "b"})
    assert namespaces_of(term(namespaces=("blue", "gone"))) == {"blue", "gone"}
    assert namespaces_of(term(of=team_b)) == {"green"}
    assert namespaces_of(term(namespaces=("blue",), of=team_b)) == {"blue", "green"}


def test_an_empty_namespace_selector_means_every_namespace() -> None:
    assert namespaces_of(term(of=LabelSelector())) is None
    assert namespaces_of(term(namespaces=("blue",), of=LabelSelector())) is None


def test_terms_that_hang_on_namespace_labels_are_known() -> None:
    team_b = LabelSelector(match_labels={"team": "b"})
    said = rule(PodAffinity(required=(term(), term(of=LabelSelector()), term(of=team_b))))
    assert [one.by_namespace_labels for one in said.affinity] == [False, False, True]


def test_no_label_selector_means_no_pod_and_an_empty_one_every_pod() -> None:
    said = rule(PodAffinity(required=(term(None), term(LabelSelector()))))
    nobody, everybody = (one.selector for one in said.affinity)
    assert not nobody.selects("red", {"app": "web"})
    assert everybody.selects("red", {})


def test_equal_terms_of_different_pods_are_one_value() -> None:
    one = rule(PodAffinity(required=(term(),))).affinity[0]
    other = rule(None, PodAffinity(required=(term(namespaces=("red",)),))).anti_affinity[0]
    assert one == other
    assert one.selector == Selector(frozenset({"red"}), compile_pairs({"app": "web"}))
    assert one.topology_key == HOST


def test_preferred_terms_weigh_for_and_against() -> None:
    near = PodAffinity(preferred=(WeightedPodAffinityTerm(weight=5, pod_affinity_term=term()),))
    far = PodAffinity(preferred=(WeightedPodAffinityTerm(weight=7, pod_affinity_term=term()),))
    said = rule(near, far)
    assert [one.weight for one in said.preferred] == [5, -7]
    assert said.affinity == said.anti_affinity == ()
    assert said.terms == said.preferred


def test_only_pods_that_meet_all_required_terms_count() -> None:
    gpu = LabelSelector(match_labels={"gpu": "yes"})
    said = rule(PodAffinity(required=(term(WEB), term(gpu, namespaces=("red", "blue")))))
    assert said.together.selects("red", {"app": "web", "gpu": "yes"})
    assert not said.together.selects("red", {"app": "web"})
    assert not said.together.selects("blue", {"app": "web", "gpu": "yes"})


def test_the_first_of_its_kind_meets_its_own_terms() -> None:
    said = rule(PodAffinity(required=(term(),)))
    assert said.matches_itself("red", {"app": "web"})
    assert not said.matches_itself("blue", {"app": "web"})
    assert not said.matches_itself("red", {"app": "db"})


def test_a_term_that_cannot_be_read_is_told_with_its_place() -> None:
    broken = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Near"),))
    weighted = WeightedPodAffinityTerm(weight=1, pod_affinity_term=term(of=broken))
    assert rule(PodAffinity(required=(term(), term(broken)))).error.startswith(
        "podAffinity.required[1].labelSelector.matchExpressions[0]: operator is 'Near'"
    )
    assert rule(None, PodAffinity(preferred=(weighted,))).error.startswith(
        "podAntiAffinity.preferred[0].namespaceSelector.matchExpressions[0]: operator is 'Near'"
    )
