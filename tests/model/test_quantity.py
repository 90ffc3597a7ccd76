"""Quantities against worked examples and exact fractions (spec 01 §1.2, §1.6)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.kube.objects import Quantity
from vcsched.model.quantity import (
    MAX_INT,
    MIN_INT,
    UNLIMITED,
    QuantityError,
    Unit,
    exact,
    human,
    milli,
    render,
    whole,
)

SUFFIX = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    **{name: Fraction(1000**step) for step, name in enumerate("kMGTPE", 1)},
    **{name: Fraction(1024**step) for step, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
    "e3": Fraction(1000),
    "E+2": Fraction(100),
    "e-4": Fraction(1, 10**4),
}


def away_from_zero(value: Fraction) -> int:
    size = -(-abs(value) // 1)
    return max(MIN_INT, min(MAX_INT, int(size if value >= 0 else -size)))


@pytest.mark.parametrize(
    ("quantity", "thousandths"),
    [
        ("2", 2000),
        ("500m", 500),
        ("100u", 1),
        ("1n", 1),
        ("0", 0),
        ("0.1", 100),
        (0.1, 100),
        (3, 3000),
        ("-1.5", -1500),
    ],
)
def test_thousandths_round_away_from_zero(quantity: Quantity, thousandths: int) -> None:
    assert milli(quantity) == thousandths


@pytest.mark.parametrize(
    ("quantity", "number"),
    [
        ("100m", 1),
        ("1.5", 2),
        ("-1.5", -2),
        ("1.", 1),
        (".5", 1),
        ("1.G", 10**9),
        ("2Gi", 2 * 1024**3),
        ("1E", 10**18),
        ("1E3", 1000),
        ("+7", 7),
        (1e16, 10**16),
        ("0.5Ki", 512),
    ],
)
def test_whole_numbers_round_away_from_zero(quantity: Quantity, number: int) -> None:
    assert whole(quantity) == number


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        ("100m", Fraction(1, 10)),
        ("-1.5Ki", Fraction(-1536)),
        ("1n", Fraction(1, 10**9)),
        ("1e30", Fraction(10**30)),
        (0.5, Fraction(1, 2)),
    ],
)
def test_an_exact_quantity_is_neither_rounded_nor_bounded(quantity: Quantity, value: Fraction) -> None:
    assert exact(quantity) == value


@pytest.mark.parametrize("quantity", ["8Ei", "16Ei", "10E", "9223372036854775808", "1e999999999"])
def test_numbers_beyond_64_bits_saturate(quantity: str) -> None:
    assert whole(quantity) == milli(quantity) == MAX_INT
    assert whole("-" + quantity) == milli("-" + quantity) == MIN_INT


def test_a_tiny_power_is_still_more_than_nothing() -> None:
    assert whole("1e-999999999") == 1
    assert whole("0e-999999999") == 0


@pytest.mark.parametrize(
    "quantity",
    [
        "",
        " ",
        ".",
        "abc",
        "1 Gi",
        "1gi",
        "1ki",
        "1Kii",
        "--1",
        "1e",
        "1e1.5",
        "0x10",
        "١",
        "1\n",
        float("nan"),
        float("inf"),
    ],
)
def test_what_is_no_quantity_is_refused_by_name(quantity: Quantity) -> None:
    with pytest.raises(QuantityError, match="is not a quantity"):
        milli(quantity)


def test_an_endless_text_is_refused_and_shown_shortened() -> None:
    with pytest.raises(QuantityError) as caught:
        whole("9" * 100_000)
    assert len(str(caught.value)) < 200


@given(
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 10**22),
    st.one_of(st.none(), st.text("0123456789", max_size=12)),
    st.sampled_from(sorted(SUFFIX)),
)
def test_reading_agrees_with_exact_fractions(sign: str, before: int, after: str | None, suffix: str) -> None:
    digits = f"{before}" if after is None else f"{before}.{after}"
    exact = Fraction(f"{before}.{after or 0}") * SUFFIX[suffix] * (-1 if sign == "-" else 1)

    assert whole(f"{sign}{digits}{suffix}") == away_from_zero(exact)
    assert milli(f"{sign}{digits}{suffix}") == away_from_zero(exact * 1000)


@pytest.mark.parametrize(
    ("amount", "unit", "text"),
    [
        (1500, Unit.MILLI, "1500m"),
        (4000, Unit.MILLI, "4"),
        (4_000_000, Unit.MILLI, "4k"),
        (10_000_000, Unit.MILLI, "10k"),
        (-250, Unit.MILLI, "-250m"),
        (0, Unit.MILLI, "0"),
        (1999.9, Unit.MILLI, "1999m"),
        (2 * 1024**3, Unit.BYTES, "2Gi"),
        (1536, Unit.BYTES, "1536"),
        (1000, Unit.BYTES, "1k"),
        (-2048, Unit.BYTES, "-2Ki"),
        (1024**3, Unit.COUNT, "1073741824"),
        (110, Unit.COUNT, "110"),
        (5000, Unit.COUNT, "5k"),
        (UNLIMITED, Unit.COUNT, "9223372036854775807"),
        (float("inf"), Unit.COUNT, "9223372036854775807"),
    ],
)
def test_amounts_are_written_as_canonical_quantities(amount: float, unit: Unit, text: str) -> None:
    assert render(amount, unit) == text


@given(st.integers(MIN_INT, MAX_INT), st.sampled_from(list(Unit)))
def test_what_is_written_reads_back_as_the_same_amount(amount: int, unit: Unit) -> None:
    read = milli if unit is Unit.MILLI else whole
    assert read(render(amount, unit)) == amount


@pytest.mark.parametrize(
    ("amount", "unit", "text"),
    [
        (4000, Unit.MILLI, "4"),
        (500, Unit.MILLI, "500m"),
        (1333.333, Unit.MILLI, "1333m"),
        (1_534_667, Unit.MILLI, "1534.7"),
        (2 * 1024**3, Unit.BYTES, "2Gi"),
        (1.5 * 1024**3, Unit.BYTES, "1.5Gi"),
        (10_000_000_000, Unit.BYTES, "9.3Gi"),
        (-2048, Unit.BYTES, "-2Ki"),
        (0, Unit.BYTES, "0"),
        (5000, Unit.COUNT, "5000"),
        (UNLIMITED, Unit.MILLI, "unlimited"),
        (float("inf"), Unit.BYTES, "unlimited"),
    ],
)
def test_people_read_short_amounts(amount: float, unit: Unit, text: str) -> None:
    assert human(amount, unit) == text
