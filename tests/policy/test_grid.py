"""The grid of plain columns; proxy.planner.grids says the same of an average."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.base.sql_types import SqlType
from proxy.planner import grids
from proxy.policy.grid import average_grid, fits_bigint, grid_of, has_step, indices, power_of_ten
from proxy.policy.policy_model import Bounds, ColumnPolicy
from tests.policy.catalogs import column

REAL = column("x", SqlType.INT4)
numbers = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**4)
steps = st.sampled_from([Fraction(1, 100), Fraction(1, 4), Fraction(1), Fraction(60)])


@given(numbers, numbers, steps)
def test_the_planner_gives_averages_the_grid_that_the_check_prints(
    one: Fraction, other: Fraction, step: Fraction
) -> None:
    """The planner works on bounds already cut to whole steps."""
    policy = ColumnPolicy("x", Bounds(min(one, other), max(one, other) + 1), None, step)
    assert isinstance(policy.bounds, Bounds)
    low, high = indices(policy.bounds, step)
    if low < high:
        clamped = Bounds(low * step, high * step)
        assert grids.of_average(step, clamped) == average_grid(REAL, policy)


@pytest.mark.parametrize(
    ("low", "high", "scale", "grid", "average"),
    [
        (0, 120, 0, "1", "0.01"),  # docs/design/mechanisms.md 1: age
        (0, 100_000, 0, "1", "1"),  # capital gain
        (0, 175, 2, "0.01", "0.01"),
    ],
)
def test_measured_grids(low: int, high: int, scale: int, grid: str, average: str) -> None:
    real = column("x", SqlType.NUMERIC, precision=9, scale=scale)
    policy = ColumnPolicy("x", Bounds(Fraction(low), Fraction(high)))
    assert grid_of(real, policy) == Fraction(grid)
    assert average_grid(real, policy) == Fraction(average)


@given(numbers, numbers, st.fractions(min_value=Fraction(1, 1000), max_value=1000))
def test_indices_are_exactly_the_multiples_within(
    one: Fraction, other: Fraction, grid: Fraction
) -> None:
    bounds = Bounds(min(one, other), max(one, other))
    low, high = indices(bounds, grid)
    assert bounds.low <= low * grid < bounds.low + grid
    assert bounds.high - grid < high * grid <= bounds.high
    assert has_step(bounds, grid) == (high > low)


def test_bigint_holds_every_index() -> None:
    assert fits_bigint(Bounds(Fraction(0), Fraction(9_199_999_999_999_999_999)), Fraction(1))
    assert not fits_bigint(Bounds(Fraction(-92 * 10**17), Fraction(0)), Fraction(1))
    assert 92 * 10**17 < 2**63 - 1


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**12))
def test_power_of_ten_is_the_largest_below(value: Fraction) -> None:
    power = power_of_ten(value)
    assert power <= value < 10 * power
    assert math.isclose(math.log10(power) % 1, 0, abs_tol=1e-9) or math.isclose(
        math.log10(power) % 1, 1, abs_tol=1e-9
    )


def test_no_grid_without_bounds() -> None:
    for of in (grid_of, average_grid):
        with pytest.raises(ValueError, match="needs bounds"):
            of(REAL, ColumnPolicy("x"))
