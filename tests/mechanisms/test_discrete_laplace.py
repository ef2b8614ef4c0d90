"""Discrete Laplace: interval, refusals, exactness of the sampler. Its law is in test_layers.py."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.mechanisms import discrete_laplace
from tests.mechanisms.laplace_law import LaplaceLaw
from tests.seeded_bits import SeededBits


@given(
    scale=st.fractions(Fraction(1, 5), 10_000, max_denominator=97),
    level=st.sampled_from([0.5, 0.9, 0.95, 0.99, Fraction(19, 20)]),
)
def test_half_width_is_the_least_that_covers(scale: Fraction, level: Fraction | float) -> None:
    law = LaplaceLaw(0, float(scale))
    t = discrete_laplace.half_width(scale, level)
    miss = float(1 - level)
    assert law.tail(t) <= miss * (1 + 1e-9)
    assert t == 0 or law.tail(t - 1) >= miss * (1 - 1e-9)


def test_scale_is_exact() -> None:
    assert discrete_laplace.scale_for(3, Fraction(1, 10)) == 30
    assert discrete_laplace.scale_for(Fraction(1, 3), Fraction(1, 7)) == Fraction(7, 3)


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1)])
def test_no_noise_is_refused(scale: Fraction) -> None:
    with pytest.raises(ValueError, match="scale"):
        discrete_laplace.sample(SeededBits(0), scale)
    with pytest.raises(ValueError, match="scale"):
        discrete_laplace.half_width(scale)


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(0, 1), (-1, 1), (1, 0), (1, -1)])
def test_a_scale_needs_sensitivity_and_epsilon(sensitivity: int, epsilon: int) -> None:
    with pytest.raises(ValueError, match="sensitivity"):
        discrete_laplace.scale_for(sensitivity, Fraction(epsilon))


@pytest.mark.parametrize("level", [0.0, 1.0, math.nan])
def test_an_interval_needs_a_level(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        discrete_laplace.half_width(Fraction(1), level)


class _BoundedBits(SeededBits):
    """Bits that see every request: the sampler must ask for integers only, never for a float."""

    def below(self, n: int) -> int:
        assert type(n) is int
        return super().below(n)


def test_a_huge_rational_scale_needs_no_float() -> None:
    scale = Fraction(10**40 + 1, 10**9 + 7)
    draws = [discrete_laplace.sample(_BoundedBits(seed), scale) for seed in range(300)]
    assert all(type(draw) is int for draw in draws)
    mean = Fraction(sum(abs(draw) for draw in draws), len(draws))
    assert scale * 3 / 4 < mean < scale * 5 / 4  # the mean of 300 has a deviation of 6 %
    assert len({draw % 1024 for draw in draws}) > 150  # low bits are random too, as no float's are
