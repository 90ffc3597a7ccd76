"""Node sampling: how many nodes a search wants, and which it finds first (spec 03 §8, §20)."""

from __future__ import annotations

import numpy as np
import pytest

from vcsched.framework.sampling import Sampling, SamplingFlags


@pytest.mark.parametrize(
    ("count", "percentage", "wanted"),
    [(10, 0, 10), (10, 40, 10), (1000, 0, 420), (1000, 40, 400), (6000, 0, 300), (6000, 40, 2400)],
)
def test_the_number_to_find_follows_the_size_of_the_cluster(count: int, percentage: int, wanted: int) -> None:
    assert Sampling(SamplingFlags(percentage=percentage), adaptive=True).wanted(count) == wanted


def test_without_a_percentage_every_node_is_examined() -> None:
    sampling = Sampling(SamplingFlags(), adaptive=False)

    assert not sampling.is_on
    assert sampling.wanted(6000) == 6000


def test_the_next_search_starts_behind_the_last_node_examined() -> None:
    sampling = Sampling(SamplingFlags(minimum_nodes=2, percentage=20), adaptive=False)
    rows = np.arange(10)
    fits = np.ones(10, dtype=np.bool_)
    fits[1] = False

    first, second = sampling.cut(fits, rows), sampling.cut(fits, rows)

    assert np.flatnonzero(first).tolist() == [0, 2]  # node 3 was examined too, and dropped
    assert np.flatnonzero(second).tolist() == [4, 5]


def test_a_search_that_finds_too_few_keeps_its_start() -> None:
    sampling = Sampling(SamplingFlags(minimum_nodes=2, percentage=50), adaptive=False)
    fits = np.zeros(10, dtype=np.bool_)
    fits[7] = True

    assert np.flatnonzero(sampling.cut(fits, np.arange(10))).tolist() == [7]
    assert np.flatnonzero(sampling.cut(np.ones(10, dtype=np.bool_), np.arange(10))).tolist() == [0, 1, 2, 3, 4]
