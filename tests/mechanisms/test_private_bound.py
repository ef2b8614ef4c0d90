"""AboveThreshold over a grid of bounds: its law is private, and its choices are near the largest totals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import pytest

from proxy.mechanisms.private_bound import UnitTotals, Walk, bounds_up_to, choose, walk
from tests.mechanisms.walk_law import chosen_law, walk_law
from tests.seeded_bits import SeededBits

_EPSILON = Fraction(1, 2)


def _neighbours() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Counts that fall, and the same with one unit more, whose total is within some place."""
    for counts in product((0, 3, 9, 40), repeat=2):
        above = tuple(sorted(counts, reverse=True))
        for reach in range(1, len(above) + 1):
            yield above, tuple(n + (place < reach) for place, n in enumerate(above))
    # Long walks, in which the threshold is what all steps have in common.
    for number, length in product((0, 20, 60), (30, 100)):
        above = (number,) * length
        for reach in (length - 1, length):
            yield above, tuple(n + (place < reach) for place, n in enumerate(above))


def _loss(spent: Walk) -> float:
    worst = 0.0
    for one, other in _neighbours():
        for a, b in zip(walk_law(one, spent), walk_law(other, spent), strict=True):
            if min(a, b) > 1e-15:
                worst = max(worst, abs(math.log(a / b)))
    return worst


def test_the_walk_is_private() -> None:
    assert _loss(walk(_EPSILON)) <= float(_EPSILON) + 1e-9
    assert _loss(walk(_EPSILON)) > float(_EPSILON) / 2, "all that is paid for is used"


def test_noise_30_percent_smaller_is_seen() -> None:
    spent = walk(_EPSILON)
    for smaller in (
        replace(spent, of_counts=spent.of_counts * Fraction(7, 10)),
        replace(spent, of_threshold=spent.of_threshold * Fraction(7, 10)),
    ):
        assert _loss(smaller) > float(_EPSILON)


def test_the_scales_are_what_is_paid_for() -> None:
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(7, 3)):
        spent = walk(epsilon)
        assert 1 / spent.of_threshold + 1 / spent.of_counts == epsilon


def _totals(sizes: list[int], bounds: tuple[int, ...]) -> UnitTotals:
    units, sums = Counter[int](), Counter[int]()
    for size in sizes:
        cell = 0 if size == 0 else 1 + sum(bound < abs(size) for bound in bounds)
        cell = -cell if size < 0 else cell
        if cell:
            units[cell] += 1
            sums[cell] += size
    return UnitTotals(units=units, sums=sums)


def test_draws_follow_the_law() -> None:
    bounds = bounds_up_to(12)
    totals = _totals([1] * 60 + [3] * 22 + [9] * 12, bounds)
    spent, bits, runs = walk(_EPSILON), SeededBits(5), 4000
    seen = Counter(choose(totals, bounds, spent, bits) for _ in range(runs))

    def off(law: dict[int | None, float]) -> float:
        expected = {place: runs * part for place, part in law.items() if runs * part >= 5}
        assert len(expected) >= 7
        return sum((seen[place] - number) ** 2 / number for place, number in expected.items())

    assert off(chosen_law(totals, bounds, spent)) < 45, "a false alarm in 10^5 seeds, 12 cells"
    wider = replace(spent, of_counts=spent.of_counts * Fraction(13, 10))
    assert off(chosen_law(totals, bounds, wider)) > 45, "noise 30 % off is seen"


def test_what_is_counted_and_clamped() -> None:
    bounds = bounds_up_to(100)
    sizes = [0, 1, 5, -5, 7, -100, 100, 250, 8]
    totals = _totals(sizes, bounds)
    assert totals.above(-1) == 8
    each = [totals.above(place) for place in range(-1, len(bounds) - 1)]
    assert totals.above_each(len(bounds)) == each
    for place, bound in enumerate(bounds):
        assert totals.above(place) == sum(abs(size) > bound for size in sizes)
        assert totals.clamped(place, bound) == sum(max(-bound, min(bound, size)) for size in sizes)


def test_totals_are_not_printed() -> None:
    assert "250" not in repr(_totals([250], (1, 2)))


def test_bounds_are_four_an_octave() -> None:
    bounds = bounds_up_to(1_000_000)
    assert bounds[0] == 1 and bounds[-1] == 1_000_000 and len(bounds) < 80
    assert all(b < c <= b * 1.5 + 1 for b, c in pairwise(bounds))
    assert bounds_up_to(1) == (1,)
    with pytest.raises(ValueError, match="at least 1"):
        bounds_up_to(0)


def test_few_units_have_no_bound() -> None:
    spent, bits, bounds = walk(Fraction(1)), SeededBits(3), bounds_up_to(1000)
    chosen = [choose(_totals([900] * 2, bounds), bounds, spent, bits) for _ in range(200)]
    assert chosen.count(None) > 190


def test_the_walk_ends_near_the_largest_totals() -> None:
    """2,000 units of 40, and one of a million: the bound is near 40."""
    spent, bits, bounds = walk(Fraction(28, 100)), SeededBits(4), bounds_up_to(1_000_000)
    totals = _totals([40] * 2000 + [1_000_000], bounds)
    found = [choose(totals, bounds, spent, bits) for _ in range(300)]
    near = [n for n in found if n is not None and 40 <= bounds[n] <= 160]
    assert len(near) > 280
