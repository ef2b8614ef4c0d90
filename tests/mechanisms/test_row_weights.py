"""Weights of rows: the bound that a noisy histogram gives, what it takes away, and quantiles by it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from proxy.mechanisms import row_weights
from proxy.mechanisms.row_weights import PARTS, counts_by_octave, octaves, weighed
from tests.mechanisms.quantile_accuracy import (
    BOUNDS,
    QuantileSet,
    after,
    before,
    made_set,
    rank_errors,
    rmse,
    weighted_rows,
)
from tests.seeded_bits import SeededBits

_ONE, _QUARTER = Fraction(1), Fraction(1, 4)


@pytest.mark.parametrize("bounds", [(1,), (1, 2), (1, 2, 3, 4), (1, 2, 3, 4, 5, 6, 7), BOUNDS])
def test_one_unit_is_in_one_octave(bounds: tuple[int, ...]) -> None:
    """However many rows it has. A unit with as many rows as a power of two ends an octave."""
    seen = Counter[int]()
    for band in range(1, len(bounds) + 2):
        counts = counts_by_octave({band: 1}, bounds)
        assert sum(counts) == 1 and len(counts) == octaves(bounds)
        octave = counts.index(1)
        seen[octave] += 1
        if band <= len(bounds):
            assert 2**octave >= bounds[band - 1] > 2**octave // 2
    assert list(seen) == sorted(seen)


def _taken_away(data: QuantileSet, bound: int) -> int:
    return int(np.maximum(0, data.rows_of_units - bound).sum())


@pytest.mark.parametrize("sizes", ["one", "ten", "Poisson", "log-normal"])
def test_the_estimate_holds_what_weights_take_away(sizes: str) -> None:
    """In nine of ten draws. Not of Zipf's sizes, where few units that no histogram shows hold much."""
    data, bits, held = made_set(sizes, 5_000, 1), SeededBits(5), 0
    for epsilon in (_ONE, _QUARTER):
        for _ in range(50):
            found = weighted_rows(data, epsilon, bits)
            assert not found.is_poor and found.bound in BOUNDS
            held += found.lost >= _taken_away(data, found.bound)
            assert abs(found.units - 5_000) < 500 / epsilon
            assert 1 <= found.rows_of_unit <= found.bound
    assert held >= 90, held


def test_of_few_units_nothing_is_known() -> None:
    data, bits = made_set("ten", 20, 1), SeededBits(6)
    found = weighted_rows(data, _QUARTER, bits)
    assert found.is_poor and found.bound == found.rows_of_unit == 1


def test_more_noise_and_more_groups_take_smaller_bounds() -> None:
    data = made_set("log-normal", 5_000, 1)
    bands = 1 + np.searchsorted(np.array(BOUNDS), data.rows_of_units, side="left")
    counts = counts_by_octave(Counter(map(int, bands)), BOUNDS)
    bounds = [
        weighed(counts, BOUNDS, 10.0, noise, groups).bound
        for noise, groups in ((0.1, 1), (20.0, 1), (20.0, 4), (80.0, 12), (1e9, 12))
    ]
    assert bounds == sorted(bounds, reverse=True) and bounds[-1] == 1 < bounds[0]


def test_all_rows_of_a_unit_weigh_no_more_than_the_bound() -> None:
    """As SQL divides, toward 0."""
    for bound in (1, 2, 3, 45, 10_000):
        for rows in (1, 2, 3, 7, 44, 45, 46, 999, 10**6 + 3):
            weight = PARTS if rows <= bound else PARTS * bound // rows
            assert rows * weight <= PARTS * bound
            assert rows * (PARTS // rows) <= PARTS


@pytest.mark.every(2)
@pytest.mark.parametrize(("epsilon", "times"), [(_ONE, 1.8), (_QUARTER, 2.5)])
def test_medians_by_groups_are_nearer_than_before(epsilon: Fraction, times: float) -> None:
    """In rank among all rows: 4 groups of 3,000 units with a log-normal number of rows. The median of draws, as
    in one of some fifty a bound is far off, whatever chose it, and their root mean square is that one's."""
    data, bits, half = made_set("log-normal", 3_000, 4, steps=1_000), SeededBits(7), Fraction(1, 2)
    old, new = list[float](), list[float]()
    for seed in range(16):
        drawn = before(data, half, epsilon, bits, seed)
        assert drawn is not None
        old.append(rmse(rank_errors(data, half, drawn)))
        new.append(rmse(rank_errors(data, half, after(data, half, epsilon, bits)[1])))
    assert np.median(new) * times < np.median(old), (old, new)


def test_an_estimate_without_its_cut_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard of `test_the_estimate_holds_what_weights_take_away`."""
    monkeypatch.setattr(row_weights, "_excess", lambda octave, bound: 1.0 if bound == 0 else 0.0)
    with pytest.raises(AssertionError):
        test_the_estimate_holds_what_weights_take_away("log-normal")
