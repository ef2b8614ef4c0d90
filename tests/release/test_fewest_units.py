"""The chance with which a group that lacks one unit is shown: of both noises, added up exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from proxy.kernel.fewest_units import counted_of
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import GaussianNoise, LaplaceNoise
from proxy.release.small_groups import MISSED, reach_of


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(10), Fraction(250)])
def test_laplace_noise_is_rarely_beyond(scale: Fraction) -> None:
    reach, p = reach_of(LaplaceNoise(scale=scale)), math.exp(-1 / scale)
    beyond = p ** (reach + 1) / (1 + p)  # P(noise > reach)
    assert beyond <= MISSED
    assert p ** (reach - 1) / (1 + p) > MISSED, "no more than two wider than it has to be"


@pytest.mark.parametrize("sigma2", [Fraction(1), Fraction(30), Fraction(10_000)])
def test_gaussian_noise_is_rarely_beyond(sigma2: Fraction) -> None:
    reach = reach_of(GaussianNoise(sigma2=sigma2))
    last = math.isqrt(int(1500 * sigma2)) + 2
    weights = [math.exp(-k * k / (2 * float(sigma2))) for k in range(last)]
    total = weights[0] + 2 * math.fsum(weights[1:])
    assert math.fsum(weights[reach + 1 :]) / total <= MISSED
    assert math.fsum(weights[reach - 1 :]) / total > MISSED


@pytest.mark.parametrize("units", [1, 2, 11])
@pytest.mark.parametrize("rows", [1, 3])
def test_fewer_units_have_fewer_rows(units: int, rows: int) -> None:
    """The most rows of one unit less are one row too few."""
    neighbours = RowNeighbours(rows=rows, hashed_by=(), not_null=None)
    assert counted_of(units, neighbours) == (units - 1) * rows + 1
