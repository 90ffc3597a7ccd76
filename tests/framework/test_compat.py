"""The switches of the deliberate differences (design-notes §7)."""

from __future__ import annotations

import pytest

from vcsched.framework.compat import BY_KEY, SWITCHES, Compatibility, differences, read_switch

KEYS = [
    "victimRestart",
    "victimVeto",
    "evictUnchecked",
    "reclaimNodeOrder",
    "preemptNoReprieve",
    "nodeSampling",
    "roleSkip",
    "unresolvedTopology",
    "queueFaultBlocksAll",
    "statelessQueueClosed",
    "backfillClosedQueues",
    "reserveAllReplicas",
    "gangVictimScope",
    "pdbStrict",
    "singlePodVictims",
    "unevictRunning",
    "barePods",
]


def test_every_row_with_a_switch_has_one_and_says_why() -> None:
    assert list(BY_KEY) == KEYS
    assert all(switch.why.endswith(".") for switch in SWITCHES)


def test_the_default_profile_is_what_nobody_asked_for() -> None:
    assert Compatibility() == Compatibility.of("default")
    assert differences(Compatibility()) == {}


def test_the_reference_profile_takes_the_reference_s_way_everywhere() -> None:
    reference = Compatibility.of("reference")
    assert {s.key: getattr(reference, s.field) for s in SWITCHES} == {s.key: s.reference for s in SWITCHES}
    assert differences(reference).keys() == set(KEYS) - {"unresolvedTopology"}


def test_a_single_switch_wins_over_the_profile() -> None:
    assert Compatibility.of("reference", role_skip=False).role_skip is False
    assert differences(Compatibility.of(victim_veto="tier")) == {"victimVeto": "tier"}


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.key)
def test_a_switch_takes_its_values_and_no_other(switch: object) -> None:
    assert switch.default in switch.values  # type: ignore[attr-defined]
    assert switch.reference in switch.values  # type: ignore[attr-defined]
    key = switch.key  # type: ignore[attr-defined]
    for value in switch.values:  # type: ignore[attr-defined]
        assert read_switch(key, value) == value
    for value in ("reference", "true", 1, 0, None, []):
        with pytest.raises(ValueError, match=f"^compatibility switch {key} is .*; it takes "):
            read_switch(key, value)
