"""Every formula that a placement changes gives the same bits on arrays and on plain numbers (DESIGN 1.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.plugins.headroom import Headroom
from tests.plugins.nodeorder.scoring import Row, ask_for, on_arrays, on_floats, picture_of
from vcsched.framework.arguments import Arguments
from vcsched.plugins.binpack import Binpack
from vcsched.plugins.nodeorder.balanced import Balanced
from vcsched.plugins.nodeorder.resources import LeastAllocated, MostAllocated

GPU = "nvidia.com/gpu"
FOO = "example.com/foo"
BINPACK = {"binpack.weight": 7, "binpack.cpu": 3, "binpack.resources": f"{GPU},{FOO}", f"binpack.resources.{FOO}": 0}

SCORES: dict[str, Callable[..., Any]] = {
    "least": LeastAllocated(1).score,
    "most": MostAllocated(-3).score,
    "balanced": Balanced(2).score,
    "binpack": Binpack(Arguments(BINPACK)).score,
    "spreading binpack": Binpack(Arguments({"binpack.weight": -1})).score,
    "headroom": Headroom(Arguments({"headroom.weight": 0.3})).score,
}

CPU_AMOUNT = st.one_of(st.just(0), st.integers(0, 64_000), st.sampled_from([100, 1000, 3000, 7000])).map(float)
MEMORY_AMOUNT = st.one_of(st.just(0), st.integers(0, 2**41), st.integers(0, 8).map(lambda n: n << 30)).map(float)
GPU_AMOUNT = st.integers(0, 8).map(lambda n: n * 1000.0)
AMOUNTS = st.fixed_dictionaries(
    {},
    optional={"cpu": CPU_AMOUNT, "memory": MEMORY_AMOUNT, GPU: GPU_AMOUNT, FOO: CPU_AMOUNT},
)
ROW = st.fixed_dictionaries(
    {
        "alloc": AMOUNTS, "used": AMOUNTS, "idle": AMOUNTS, "view_alloc": AMOUNTS, "view_used": AMOUNTS,
        "view_nonzero": st.fixed_dictionaries({"cpu": CPU_AMOUNT, "memory": MEMORY_AMOUNT}),
    }
)  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=80, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=6), asked=AMOUNTS, nonzero=st.tuples(CPU_AMOUNT, MEMORY_AMOUNT))
def test_a_formula_gives_the_same_on_arrays_and_on_numbers(
    name: str, rows: list[Row], asked: dict[str, float], nonzero: tuple[float, float]
) -> None:
    picture, ask = picture_of(rows), ask_for(asked, nonzero)

    assert on_arrays(picture, SCORES[name], ask).tolist() == on_floats(picture, SCORES[name], ask)
