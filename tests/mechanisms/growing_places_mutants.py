"""Broken minima and maxima of units. See mutants.py for the idea."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from typing import Any

from proxy.mechanisms.growing_places import Places, _indices, _steps
from proxy.mechanisms.order_statistic import Law
from tests.mechanisms import growing_places_layers
from tests.mechanisms.mutants import Mutant

# Kept before anything is replaced.
_law = Places.law


def _law_of_one_value(places: Places, values: Any, epsilon: Fraction, rows: int = 1) -> Law:
    return _law(places, values, epsilon)


def _next_upwards(places: Places, index: int) -> int:
    return min(places.last, bisect_right(places.indices, index))


def _from_low_alone(low: int, high: int, is_least: bool) -> tuple[int, ...]:
    return tuple(
        sorted({*_indices(low, low, is_least), high, *(low + s for s in _steps(high - low, 8))})
    )


MUTANTS = [
    Mutant(
        "values of a unit not charged in a minimum",
        growing_places_layers.extremes_of_units_are_private,
        ("proxy.mechanisms.growing_places.Places.law",),
        _law_of_one_value,
    ),
    Mutant(
        "a value counts at a place beyond it",
        growing_places_layers.values_count_at_the_next_place,
        ("proxy.mechanisms.growing_places.Places.place_of",),
        _next_upwards,
    ),
    Mutant(
        "places grow from one bound alone",
        growing_places_layers.loose_bounds_leave_the_answers_in_order,
        ("proxy.mechanisms.growing_places._indices",),
        _from_low_alone,
    ),
]
