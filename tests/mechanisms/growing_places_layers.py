"""Layers of verification of MIN and MAX of units on public places: see layers.py for the idea."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import exp
from statistics import NormalDist

import numpy as np

from proxy.mechanisms import order_statistic
from proxy.mechanisms.growing_places import CELLS, FAR, NEAR, WHOLE, Places
from proxy.mechanisms.order_statistic import ValueCount
from tests.mechanisms.finite_law import Law, log_ratio
from tests.mechanisms.order_statistic_layers import law_of

BOUNDS = ((0, 5), (0, WHOLE), (0, 300), (-50, 400), (0, 50_000), (-(10**6), 10**6), (7, 10**9))
_ROUNDING = 1e-9


def all_places() -> Iterator[Places]:
    yield from (Places(*bounds, is_least) for bounds in BOUNDS for is_least in (True, False))


def counted(places: Places, indices: Sequence[int]) -> list[ValueCount]:
    """How many of these values count at which place."""
    found = Counter(map(places.place_of, indices))
    return [ValueCount(place, found[place]) for place in sorted(found)]


def law(places: Places, indices: Sequence[int], epsilon: Fraction, values: int = 1) -> Law:
    """The probability of each place, in their order."""
    found = law_of(places.law(counted(places, indices), epsilon, values))
    return found if places.is_least else found[::-1]


def extremes_of_units_are_private() -> None:
    """Exact auditor: one unit more, anywhere; and one with three values."""
    for places in all_places():
        low, high = places.low, places.high
        middle = (low + high) // 2
        ends = (low, middle, high)
        for few, many in product((0, 2, 40), (0, 30)):
            indices = [middle] * few + [high] * many
            for epsilon in (Fraction(1, 2), Fraction(4)):
                here = law(places, indices, epsilon)
                for one in ends:
                    worst = log_ratio(here, law(places, [*indices, one], epsilon))
                    assert worst / float(epsilon) <= 1 + _ROUNDING, (places, indices, one)
            here = law(places, indices, Fraction(2), 3)
            there = law(places, [*indices, *ends], Fraction(2), 3)
            assert log_ratio(here, there) / 2 <= 1 + _ROUNDING, (places, indices)


def values_count_at_the_next_place() -> None:
    """By brute force: the nearest place that is not nearer to the end than the value."""
    for places in all_places():
        low, high, found = places.low, places.high, places.indices
        assert (found[0], found[-1]) == (low, high) and list(found) == sorted(set(found))
        near = {index + step for index in found[:: len(found) // 9 or 1] for step in (-1, 0, 1)}
        for index in filter(lambda index: low <= index <= high, near):
            place = found[places.place_of(index)]
            if places.is_least:
                assert place == min(one for one in found if one >= index)
            else:
                assert place == max(one for one in found if one <= index)


def places_grow_from_the_ends() -> None:
    """No gap is wider than its distance from an end, or from zero, allows; nor than a part of the whole."""
    for places in all_places():
        low, high = places.low, places.high
        width = high - low
        if width <= WHOLE:
            assert places.indices == tuple(range(low, high + 1))
            continue
        near, far = (low, high) if places.is_least else (high, low)
        anchors = [(near, NEAR), (far, FAR)] + ([(0, FAR)] if low < 0 < high else [])
        for one, other in zip(places.indices, places.indices[1:], strict=False):
            allowed = [1 + width / CELLS]
            for anchor, per_octave in anchors:
                away = max(abs(one - anchor), abs(other - anchor))
                allowed.append(max(1.0, away * (1 - 2 ** (-1 / per_octave)) + 1))
            assert other - one <= min(allowed), (places, one, other)


def numbers_of_places_are_golden() -> None:
    """docs/design/mechanisms.md 6.3: how many places, the target rank, and units that a group needs."""
    half = Fraction(47, 100)
    for low, high, count, tau, needed in (
        (0, 100, 101, 43, 86), (0, 3_000, 180, 45, 90), (0, 50_000, 229, 46, 92),
        (0, 10**6, 281, 47, 94), (-50_000, 50_000, 355, 48, 96), (0, 8, 9, 32, 64),
    ):  # fmt: skip
        for is_least in (True, False):
            places = Places(low, high, is_least)
            found = places.last + 1, order_statistic.target_rank(places.last, half)
            assert (*found, places.units_needed(half)) == (count, tau, needed), (places, found)


def answers_are_near_their_rank() -> None:
    """Exact: of log-normal values, as a status of the demo's orders has them, the answer is hardly ever beyond
    three times the target rank; and seldom beyond all values, where all places have the largest distance."""
    normal = NormalDist(8.1, 0.7)
    fractions = ((number + 0.5) / 2_000 for number in range(2_000))
    indices = [min(int(exp(normal.inv_cdf(fraction))), 50_000) for fraction in fractions]
    epsilon = Fraction(47, 100)
    for is_least in (True, False):
        places = Places(0, 50_000, is_least)
        found, tau = (
            law(places, indices, epsilon),
            order_statistic.target_rank(places.last, epsilon),
        )
        ranked = sorted(indices, reverse=not is_least)
        first, third = places.place_of(ranked[0]), places.place_of(ranked[3 * tau])
        if is_least:
            beyond, deep = found[:first].sum(), found[third + 1 :].sum()
        else:
            beyond, deep = found[first + 1 :].sum(), found[:third].sum()
        assert beyond <= 0.005 and deep < 0.01, (is_least, beyond, deep)


def loose_bounds_leave_the_answers_in_order() -> None:
    """Values fill a thousandth of the bounds, or less: MIN is not above most of them, nor MAX below."""
    indices = list(range(1_000, 50_000, 16))
    for low, high in ((0, 10**8), (-(10**8), 10**8)):
        least, most = Places(low, high, True), Places(low, high, False)
        of_least, of_most = (law(places, indices, Fraction(1, 2)) for places in (least, most))
        assert of_least[np.array(least.indices) > 2_500].sum() < 0.01
        assert of_most[np.array(most.indices) < 32_000].sum() < 0.01
        # Beyond all values there are many places, which together weigh little.
        assert of_least[np.array(least.indices) < 900].sum() <= 0.005
        assert of_most[np.array(most.indices) > 50_000].sum() <= 0.005


def hardly_any_answer_is_beyond_all_values() -> None:
    """Exact, of as few units as the target rank needs, wherever they are in the bounds: 1 in 200 at most."""
    for places, epsilon in product(all_places(), (Fraction(1, 10), Fraction(47, 100), Fraction(4))):
        low, width = places.low, places.high - places.low
        units = order_statistic.target_rank(places.last, epsilon)
        for part in (0, 1, 10, 500, 990, 999, 1_000):
            first, last = (
                places.place_of(low + width * parts // 1_000)
                for parts in (part, (part + 1_000) // 2)
            )
            for values in ([first] * units, np.linspace(first, last, units).astype(int).tolist()):
                found = law(places, [places.indices[value] for value in values], epsilon)
                least, most = min(values), max(values)
                beyond = found[:least].sum() if places.is_least else found[most + 1 :].sum()
                assert beyond <= 0.005, (places, epsilon, part, beyond)


LAYERS = [
    extremes_of_units_are_private,
    values_count_at_the_next_place,
    places_grow_from_the_ends,
    numbers_of_places_are_golden,
    answers_are_near_their_rank,
    loose_bounds_leave_the_answers_in_order,
    hardly_any_answer_is_beyond_all_values,
]
