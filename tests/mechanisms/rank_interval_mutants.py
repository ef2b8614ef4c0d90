"""Broken intervals of order statistics. See mutants.py for the idea."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proxy.mechanisms import order_statistic, rank_interval
from proxy.mechanisms.order_statistic import Law
from tests.mechanisms import rank_interval_layers
from tests.mechanisms.mutants import Mutant

OUTSIDE = "proxy.mechanisms.rank_interval.ranks_outside"
UPPER_LAW = "proxy.mechanisms.rank_interval.upper_law"

# Kept before anything is replaced.
_outside = rank_interval.ranks_outside
_upper_law = rank_interval.upper_law


def _without_rows_at_the_end(*arguments: Any, **named: Any) -> Law:
    """The rank is aimed at, but not always there."""
    with_rows = order_statistic._with_rows_at
    order_statistic._with_rows_at = lambda values, high, rows: values
    try:
        return _upper_law(*arguments, **named)
    finally:
        order_statistic._with_rows_at = with_rows


def _faster(*arguments: Any, **named: Any) -> Law:
    law = _upper_law(*arguments, **named)
    return replace(law, rate=law.rate * Fraction(13, 10))


MUTANTS = [
    Mutant(
        "ends of an interval 30 % too near",
        rank_interval_layers.ends_hold_the_quantile,
        (OUTSIDE,),
        lambda *arguments: math.ceil(Fraction(7, 10) * _outside(*arguments)),
    ),
    Mutant(
        "ends of an interval one rank too near",
        rank_interval_layers.ends_hold_the_quantile,
        (OUTSIDE,),
        lambda *arguments: _outside(*arguments) - 1,
    ),
    Mutant(
        "no rows at the end of the grid",
        rank_interval_layers.ends_hold_the_quantile,
        (UPPER_LAW,),
        _without_rows_at_the_end,
    ),
    Mutant(
        "an end's exponent 30 % too large",
        rank_interval_layers.ends_are_private,
        (UPPER_LAW,),
        _faster,
    ),
    Mutant(
        "rows of a unit not charged in an end",
        rank_interval_layers.ends_are_private,
        (UPPER_LAW,),
        lambda values, q, low, high, epsilon, missed, rows=1, row=1, lost=0: _upper_law(
            values, q, low, high, epsilon, missed
        ),
    ),
    Mutant(
        "the lower end is the upper one",
        rank_interval_layers.ends_are_drawn_by_their_laws,
        ("proxy.mechanisms.rank_interval.lower",),
        rank_interval.upper,
    ),
]
