"""AboveThreshold over a grid of bounds: its law is private, and its choices are near the largest totals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import pytest

from proxy.mechanisms import private_bound
from proxy.mechanisms.private_bound import UnitTotals, Walk, bounds_up_to, choose, walk
from tests.seeded_bits import SeededBits

_EPSILON = Fraction(1, 2)
_REACH = 100  # of the threshold's noise: what is beyond has a probability below e^-35


def _below(scale: Fraction, most: int) -> float:
    """P(discrete Laplace <= most)."""
    p = math.exp(-1 / float(scale))
    if most < 0:
        return p**-most / (1 + p)
    return float(1 - p ** (most + 1) / (1 + p))


def _law(above: tuple[int, ...], spent: Walk) -> list[float]:
    """Of where the walk ends, for counts of units above each place from -1; the last: at no place."""
    p = math.exp(-1 / float(spent.of_threshold))
    found = [0.0] * (len(above) + 1)
    for moved in range(-_REACH, _REACH + 1):
        going = (1 - p) / (1 + p) * p ** abs(moved)
        for place, number in enumerate(above):
            few = spent.needed if place == 0 else spent.stop
            stops = _below(spent.of_counts, few + moved - number)
            found[place] += going * stops
            going *= 1 - stops
        found[-1] += going
    return found


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
        for a, b in zip(_law(one, spent), _law(other, spent), strict=True):
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
    sizes = [1] * 20 + [3] * 12 + [9] * 7
    totals = _totals(sizes, bounds)
    spent = replace(walk(_EPSILON), further=0)
    above = tuple(totals.above(place) for place in range(-1, len(bounds) - 1))
    law, bits, runs = _law(above, spent), SeededBits(5), 4000
    seen = Counter(choose(totals, len(bounds), spent, bits) for _ in range(runs))
    places = [None, *range(len(bounds))]
    off = sum(
        (seen[place] - runs * law[n]) ** 2 / (runs * law[n])
        for n, place in enumerate(places)
        if runs * law[n] >= 5
    )
    assert off < 45, "chi-square of 12 cells: a false alarm in 10^5 seeds"
    wider = _law(above, replace(spent, of_counts=spent.of_counts * Fraction(13, 10)))
    wrong = sum(
        (seen[place] - runs * wider[n]) ** 2 / (runs * wider[n])
        for n, place in enumerate(places)
        if runs * wider[n] >= 5
    )
    assert wrong > 45, "noise 30 % off is seen"


def test_what_is_counted_and_clamped() -> None:
    bounds = bounds_up_to(100)
    sizes = [0, 1, 5, -5, 7, -100, 100, 250, 8]
    totals = _totals(sizes, bounds)
    assert totals.above(-1) == 8
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
    chosen = [choose(_totals([900] * 2, bounds), len(bounds), spent, bits) for _ in range(200)]
    assert chosen.count(None) > 190


def test_the_walk_ends_near_the_largest_totals() -> None:
    """2,000 units of 40, and one of a million: the bound is near 40."""
    spent, bits, bounds = walk(Fraction(28, 100)), SeededBits(4), bounds_up_to(1_000_000)
    totals = _totals([40] * 2000 + [1_000_000], bounds)
    found = [choose(totals, len(bounds), spent, bits) for _ in range(300)]
    near = [n for n in found if n is not None and 40 <= bounds[n] <= 160]
    assert len(near) > 280
    assert private_bound.walk(Fraction(1)).further == 1
