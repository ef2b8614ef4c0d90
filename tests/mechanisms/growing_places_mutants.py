"""Broken minima and maxima of units. See mutants.py for the idea."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import ceil, log
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


def _rank_that_empty_places_tie_with(steps: int, epsilon: Fraction, rows: int = 1) -> int:
    return max(1, ceil(2 * rows / float(epsilon) * log(max(1, steps))))


MUTANTS = [
    Mutant(
        "all empty places together weigh as much as the value that is meant",
        growing_places_layers.hardly_any_answer_is_beyond_all_values,
        ("proxy.mechanisms.order_statistic.target_rank",),
        _rank_that_empty_places_tie_with,
    ),
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
