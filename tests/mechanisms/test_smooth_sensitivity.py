"""The fast algorithm against the formula, and its rounding against exact logarithms.

That the formula is right, and right for every rank, is layers.smooth_sensitivity_is_its_definition.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng  # noqa: TID251  data for tests, not noise
from numpy.typing import NDArray

from proxy.mechanisms.smooth_sensitivity import smooth_sensitivity
from tests.mechanisms.reference_sensitivity import naive, quadratic


def _random_outputs(seed: int, m: int, high: int) -> NDArray[np.int64]:
    """Shapes that meet every branch: spread, clustered, tied, two points, at the bounds, curved."""
    rng = default_rng(seed)
    shapes = (
        lambda: rng.integers(0, high + 1, m),
        lambda: rng.normal(high / 2, high / 50, m),
        lambda: rng.integers(0, 4, m) * (high // 4),
        lambda: np.where(rng.random(m) < rng.random(), 0, high),
        lambda: np.full(m, rng.integers(0, high + 1)),
        lambda: (
            high / 2 + np.sign(rng.random(m) - 0.5) * np.exp(rng.random(m) * math.log(high / 2))
        ),
        lambda: rng.lognormal(math.log(high) / 2, 1, m),
    )
    drawn = shapes[seed % len(shapes)]()
    outputs: NDArray[np.int64] = np.clip(np.round(drawn), 0, high).astype(np.int64)
    return outputs


def test_it_equals_the_formula_on_small_lists() -> None:
    for seed in range(2_500):
        rng = default_rng(seed)
        m, high = int(rng.integers(1, 60)), int(rng.integers(1, 10 ** rng.integers(1, 7)))
        rank, beta = int(rng.integers(1, m + 1)), float(10 ** rng.uniform(-3, 0.7))
        outputs = _random_outputs(seed, m, high).tolist()
        expected = max(1.0, naive(tuple(outputs), rank, 0, high, beta))
        found = smooth_sensitivity(outputs, rank, 0, high, beta)
        assert math.isclose(found, expected, rel_tol=1e-9), (seed, m, high, rank, beta)


def test_it_equals_the_formula_on_large_lists() -> None:
    for seed in range(120):
        rng = default_rng(seed)
        m, high = int(rng.integers(200, 3_000)), int(10 ** rng.uniform(1, 12))
        rank, beta = int(rng.integers(1, m + 1)), float(10 ** rng.uniform(-4, -1))
        outputs = _random_outputs(seed, m, high)
        expected = max(1.0, quadratic(outputs, rank, 0, high, beta))
        found = smooth_sensitivity(outputs.tolist(), rank, 0, high, beta)
        # Above the formula by at most (1 + 2^-40) e^(m 2^-40): the price of provable rounding.
        assert expected <= found * (1 + 1e-13), (seed, m, high, rank, beta)
        assert found <= expected * (1 + 1e-8), (seed, m, high, rank, beta)


@settings(max_examples=300, deadline=None)
@given(
    outputs=st.lists(st.integers(0, 10**6), min_size=1, max_size=80),
    place=st.integers(0, 79),
    other=st.integers(0, 10**6),
    beta=st.floats(1e-4, 3),
)
def test_it_is_smooth_and_covers_the_change_exactly(
    outputs: list[int], place: int, other: int, beta: float
) -> None:
    """With floats as they are, not up to a tolerance: this is what privacy rests on."""
    rank = (len(outputs) + 1) // 2
    neighbour = list(outputs)
    neighbour[place % len(outputs)] = other
    here = smooth_sensitivity(outputs, rank, 0, 10**6, beta)
    there = smooth_sensitivity(neighbour, rank, 0, 10**6, beta)
    assert abs(sorted(outputs)[rank - 1] - sorted(neighbour)[rank - 1]) <= min(here, there)
    with localcontext() as context:
        context.prec = 40
        assert abs(Decimal(here).ln() - Decimal(there).ln()) <= Decimal(beta)


def test_smoothness_is_tight_and_still_holds() -> None:
    """Lists j and j+1 of two points differ in S by a factor e^beta: the rounding has no slack."""
    for beta in (3.4e-5, 3.4e-4, 0.0034, 0.0339, 0.5):
        logs = []
        for count in range(120):
            outputs = [0] * (257 - count) + [2**40] * count
            value = smooth_sensitivity(outputs, 129, 0, 2**40, beta)
            logs.append(Decimal(value).ln())
        steps = [b - a for a, b in pairwise(logs)]
        assert max(steps) <= Decimal(beta)
        assert max(steps) >= Decimal(beta) * (1 - Decimal("1e-6"))


def test_equal_outputs_leave_the_floor() -> None:
    found = smooth_sensitivity([50] * 4001, 2001, 0, 100, 0.1)
    assert found == pytest.approx(1.0, rel=1e-11)
    assert found >= 1.0
    assert smooth_sensitivity([50] * 4001, 2001, 0, 100, 0.1, floor=3.0) >= 3.0


def test_outputs_beyond_the_bounds_count_as_the_bounds() -> None:
    assert smooth_sensitivity([-9, 5, 99], 2, 0, 10, 0.3) == smooth_sensitivity(
        [0, 5, 10], 2, 0, 10, 0.3
    )


@pytest.mark.parametrize(
    ("outputs", "rank", "low", "high", "beta", "floor"),
    [
        ([], 1, 0, 1, 0.1, 1.0),
        ([1], 0, 0, 1, 0.1, 1.0),
        ([1], 2, 0, 1, 0.1, 1.0),
        ([1], 1, 1, 1, 0.1, 1.0),
        ([1], 1, 2, 1, 0.1, 1.0),
        ([1], 1, 0, 2**52 + 1, 0.1, 1.0),
        ([1], 1, 0, 1, 0.0, 1.0),
        ([1], 1, 0, 1, -1.0, 1.0),
        ([1], 1, 0, 1, math.nan, 1.0),
        ([1], 1, 0, 1, math.inf, 1.0),
        ([1], 1, 0, 1, 0.1, 0.0),
        ([1], 1, 0, 1, 0.1, math.nan),
    ],
)
def test_it_refuses_what_the_proof_does_not_cover(
    outputs: list[int], rank: int, low: int, high: int, beta: float, floor: float
) -> None:
    with pytest.raises(ValueError, match=r"rank|bounds|beta|floor"):
        smooth_sensitivity(outputs, rank, low, high, beta, floor)


@pytest.mark.long
def test_it_equals_the_formula_at_the_size_of_a_real_release() -> None:
    for seed in range(14):
        beta = (0.0034, 0.0339)[seed % 2]
        outputs = _random_outputs(seed, 5485, 12_500)
        expected = max(1.0, quadratic(outputs, 2743, 0, 12_500, beta))
        found = smooth_sensitivity(outputs.tolist(), 2743, 0, 12_500, beta)
        assert expected <= found * (1 + 1e-13), seed
        assert found <= expected * (1 + 1e-8), seed
