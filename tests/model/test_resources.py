"""Resource names, units, and resource lists as amounts (spec 01 §1.3, §1.6, §14.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.model.quantity import MAX_INT, UNLIMITED, QuantityError
from vcsched.model.resources import Kind, amounts, column, human, in_order, quantities, scale, spell


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cpu", Kind.CPU),
        ("memory", Kind.MEMORY),
        ("pods", Kind.PODS),
        ("ephemeral-storage", Kind.BYTES),
        ("hugepages-2Mi", Kind.BYTES),
        ("nvidia.com/gpu", Kind.SCALAR),
        ("kubernetes.io/batch-cpu", Kind.SCALAR),
        ("deviceclass.resource.kubernetes.io/x", Kind.SCALAR),
        ("attachable-volumes-csi-ebs", Kind.SCALAR),
        ("deviceclass/gpu.x", Kind.SCALAR),
        ("cores.deviceclass/gpu.x", Kind.SCALAR),
        ("a/" + "n" * 63, Kind.SCALAR),
    ],
)
def test_these_resources_count(name: str, kind: Kind) -> None:
    assert column(name) is kind


@pytest.mark.parametrize(
    "name",
    [
        "storage",
        "requests.cpu",
        "limits.memory",
        "requests.nvidia.com/gpu",
        "count/pods",
        "count/x.kubernetes.io/y",
        "gpu",
        "Nvidia.com/gpu",
        "nvidia.com/gpu/big",
        "nvidia.com/-gpu",
        "nvidia.com/",
        "/gpu",
        "nvidia..com/gpu",
        "a/" + "n" * 64,
        "a" * 245 + "/gpu",
        "",
    ],
)
def test_these_names_are_dropped(name: str) -> None:
    assert column(name) is None


def test_a_resource_list_is_read_in_the_unit_of_each_resource() -> None:
    read = amounts(
        {
            "scalar.io/s1": 1,
            "cpu": "4m",
            "hugepages-2Mi": 2,
            "memory": 2000,
            "ephemeral-storage": "3",
            "pods": "5",
        }
    )

    assert read == {
        "cpu": 4,
        "memory": 2000,
        "ephemeral-storage": 3,
        "hugepages-2Mi": 2,
        "pods": 5,
        "scalar.io/s1": 1000,
    }
    assert list(read) == in_order(read)
    assert {name: read[name] * scale(name) for name in ("ephemeral-storage", "hugepages-2Mi", "scalar.io/s1")} == {
        "ephemeral-storage": 3000,
        "hugepages-2Mi": 2000,
        "scalar.io/s1": 1000,
    }


def test_a_zero_is_there_and_an_unknown_name_is_not() -> None:
    assert amounts({"nvidia.com/gpu": "0", "storage": "1Gi"}) == {"nvidia.com/gpu": 0}
    assert amounts({}) == {}


def test_negative_amounts_are_kept() -> None:
    assert amounts({"cpu": "-1500m"}) == {"cpu": -1500}


def test_an_unreadable_amount_names_the_resource_and_the_value() -> None:
    with pytest.raises(QuantityError, match=r"^memory: '4 GB' is not a quantity"):
        amounts({"cpu": "1", "memory": "4 GB"})


def test_resources_stand_in_a_fixed_order() -> None:
    assert in_order(["pods", "b/x", "memory", "a/x", "cpu"]) == ["cpu", "memory", "a/x", "b/x", "pods"]


def test_amounts_are_written_as_a_resource_list() -> None:
    held = {
        "nvidia.com/gpu": 2500.0,
        "pods": 3.0,
        "cpu": 1500.7,
        "memory": 2.0 * 1024**3,
        "ephemeral-storage": 1024.0,
    }

    assert quantities(held) == {
        "cpu": "1500m",
        "memory": "2Gi",
        "ephemeral-storage": "1024",
        "nvidia.com/gpu": "2500m",
        "pods": "3",
    }
    assert quantities({}) == {"cpu": "0", "memory": "0"}


@given(
    st.dictionaries(
        st.sampled_from(["cpu", "memory", "pods", "ephemeral-storage", "hugepages-1Gi", "nvidia.com/gpu"]),
        st.integers(-(2**50), 2**50).map(float),
    )
)
def test_a_written_list_reads_back_as_the_same_amounts(held: dict[str, float]) -> None:
    assert amounts(quantities(held)) == {"cpu": 0, "memory": 0, **held}


def test_people_read_kubectl_units() -> None:
    assert human("cpu", 4000) == "4"
    assert human("cpu", 500) == "500m"
    assert human("nvidia.com/gpu", 8000) == "8"
    assert human("memory", 2 * 1024**3) == "2Gi"
    assert human("ephemeral-storage", 2 * 1024**4) == "2Ti"
    assert human("pods", 110) == "110"


def test_messages_spell_amounts_with_two_decimals_and_name_the_limits() -> None:
    assert spell({"memory": 4096, "cpu": 2000}) == "cpu 2000.00, memory 4096.00"
    assert (
        spell({"cpu": UNLIMITED, "memory": UNLIMITED, "nvidia.com/gpu": float(MAX_INT)})
        == "cpu maxFloat, memory maxFloat, nvidia.com/gpu maxInt"
    )
    assert spell({"ephemeral-storage": 3}) == "cpu 0.00, memory 0.00, ephemeral-storage 3000.00"
