"""The operating system's bits: uniform, fresh, without a seed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from proxy.engine.os_random import OsRandom
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.discrete_laplace import sample


@pytest.mark.parametrize(
    ("n", "most"),
    [(1, 0.1), (2, 36), (3, 42), (4, 46), (6, 50), (8, 56)],  # chi-square of n-1 degrees: P < 2e-9
)
def test_below_is_uniform(n: int, most: float) -> None:
    bits: RandomBits = OsRandom()
    draws = 60_000
    counted = Counter(bits.below(n) for _ in range(draws))
    assert set(counted) == set(range(n))
    statistic = sum((count - draws / n) ** 2 / (draws / n) for count in counted.values())
    assert statistic < most


def test_large_ranges_have_no_short_cycle_and_no_gap() -> None:
    bits = OsRandom()
    n = 3 * 2**200
    draws = [bits.below(n) for _ in range(1000)]
    assert len(set(draws)) == 1000
    assert all(0 <= draw < n for draw in draws)
    assert 200 < sum(draw < n // 3 for draw in draws) < 470  # 333 expected, deviation 15


def test_two_sources_differ() -> None:
    scale = Fraction(10**6)
    first, second = OsRandom(), OsRandom()
    assert [sample(first, scale) for _ in range(20)] != [sample(second, scale) for _ in range(20)]


@pytest.mark.parametrize("n", [0, -1])
def test_an_empty_range_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="n >= 1"):
        OsRandom().below(n)


def test_there_is_no_seed() -> None:
    with pytest.raises(TypeError):
        OsRandom(1)  # type: ignore[call-arg]
