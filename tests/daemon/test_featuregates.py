"""Feature gates follow the connected server (spec 02 §1.4)."""

import pytest

from vcsched.daemon.featuregates import OWN, FeatureGates, server_minor, unknown


@pytest.mark.parametrize(
    ("name", "minor", "on"),
    [
        ("DynamicResourceAllocation", 33, False),
        ("DynamicResourceAllocation", 34, True),
        ("DRAConsumableCapacity", 35, False),
        ("DRAConsumableCapacity", 36, True),
        ("DRADeviceTaintRules", 36, False),
        ("InPlacePodVerticalScaling", 33, True),
        ("PodLevelResources", 33, False),
        ("PodSchedulingReadiness", 27, True),
        ("StorageCapacityScoring", 36, False),
        ("MatchLabelKeysInPodTopologySpread", 26, False),
    ],
)
def test_a_kubernetes_gate_is_on_from_some_version_on(name: str, minor: int, on: bool) -> None:
    assert FeatureGates({}, minor).is_on(name) is on


def test_an_explicit_flag_wins_over_the_server() -> None:
    gates = FeatureGates({"DynamicResourceAllocation": False, "StorageCapacityScoring": True}, 36)
    assert not gates.is_on("DynamicResourceAllocation")
    assert gates.is_on("StorageCapacityScoring")


def test_our_own_gates_do_not_depend_on_the_server() -> None:
    gates = FeatureGates({"PriorityClass": False}, 20)
    assert {name for name in OWN if not gates.is_on(name)} == {
        "PriorityClass",
        "SchedulingGatesQueueAdmission",
        "CSIStorage",
    }
    assert gates.all()["WorkLoadSupport"] is True


def test_a_gate_that_nobody_declares_is_an_error() -> None:
    assert unknown({"WorkLoadSupport": True, "DRAAdminAccess": True, "AllAlpha": False}) == ""
    text = "unknown feature gate DynamicResourceAlocation (did you mean DynamicResourceAllocation?)"
    assert unknown({"DynamicResourceAlocation": True}) == text
    with pytest.raises(KeyError):
        FeatureGates({}, 36).is_on("NoSuchGate")


def test_the_minor_version_is_read_from_the_server_s_answer() -> None:
    assert server_minor({"major": "1", "minor": "34"}) == 34
    assert server_minor({"minor": "33+"}) == 33
    with pytest.raises(ValueError, match="no minor version"):
        server_minor({"gitVersion": "v1"})
