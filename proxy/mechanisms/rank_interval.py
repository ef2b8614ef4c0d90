"""Where a quantile of the rows lies: between two further quantiles, each drawn so many ranks outside of it.

An end aims past the rank by more than it can miss its own aim, with the probability that is wanted. So
many public rows are taken to be at the end of the grid: where there are too few rows for a rank so far out,
the end of the interval is the end of the grid, and whether there are is not looked at. Proof: PROOFS.md 9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from proxy.mechanisms import order_statistic
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.order_statistic import Law, ValueCount

_MOST_LOST = (
    4  # times the ranks that noise takes: an end that has to aim farther is the end of the grid
)


def ranks_outside(
    steps: int,
    epsilon: Fraction,
    q: Fraction,
    missed: Fraction,
    rows_per_unit: int = 1,
    row: int = 1,
) -> int:
    """How many ranks outside of the quantile an end of its interval aims, but for rows that weights take away.

    Given    steps = (high - low) / grid, epsilon of this end alone, missed: how likely the end may be on the
             wrong side of the quantile; row: parts of a row in which ranks are; public numbers only
    Gives    ceil((2 s / epsilon) ln((steps + 1) / missed)) + row with s = rows_per_unit max(q, 1-q): by how
             much the end may be off in rank, and one rank for quantiles between two rows
    Source   McSherry, Talwar 2007, theorem 6

    >>> ranks_outside(120, Fraction(1), Fraction(1, 2), Fraction(1, 40))
    10
    """
    sensitivity = rows_per_unit * float(max(q, 1 - q))
    return row + math.ceil(2 * sensitivity / float(epsilon) * math.log((steps + 1) / missed))


def most_lost(outside: int) -> int:
    """By so many ranks more an end may aim outside, for rows that weights take away."""
    return _MOST_LOST * outside


def rows_needed(
    steps: int,
    epsilon: Fraction,
    q: Fraction,
    missed: Fraction,
    rows_per_unit: int = 1,
    row: int = 1,
) -> int:
    """How many rows beyond the rank q n an end looks at: its distances are capped farther away.

    Rows in parts (row > 1) have weights, which take away some of them.
    """
    outside = ranks_outside(steps, epsilon, q, missed, rows_per_unit, row)
    farther = outside if row == 1 else outside + most_lost(outside)
    return farther + order_statistic.quantile_half_width(steps, epsilon, q, rows_per_unit)


def upper_law(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    missed: Fraction,
    rows_per_unit: int = 1,
    row: int = 1,
    lost: int = 0,
) -> Law:
    """Of the upper end: secret.

    Given    values: as for order_statistic.quantile: all rows, or at least those within rows_needed of the
             rank, what is farther put together; of q = 0 the smallest ones will do; row: parts of a row in
             which counts are; lost: ranks by which weights move the quantile, most_lost at most
    """
    outside = ranks_outside(high - low, epsilon, q, missed, rows_per_unit, row)
    if lost > most_lost(outside):
        raise ValueError("an end beyond the rows that are looked at")
    return order_statistic.quantile_law(
        values, q, low, high, epsilon, rows_per_unit, beyond=outside + lost
    )


def lower_law(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    missed: Fraction,
    rows_per_unit: int = 1,
    row: int = 1,
    lost: int = 0,
) -> Law:
    """Of the lower end, over the reflected grid -high..-low: secret."""
    values = order_statistic.reflected(values)
    return upper_law(values, 1 - q, -high, -low, epsilon, missed, rows_per_unit, row, lost)


def upper(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    missed: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
    row: int = 1,
    lost: int = 0,
) -> int:
    """An epsilon-DP grid point that is below the q-quantile of the rows with probability `missed` at most."""
    law = upper_law(values, q, low, high, epsilon, missed, rows_per_unit, row, lost)
    return order_statistic.drawn(bits, law)


def lower(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    missed: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
    row: int = 1,
    lost: int = 0,
) -> int:
    """An epsilon-DP grid point that is above the q-quantile of the rows with probability `missed` at most."""
    law = lower_law(values, q, low, high, epsilon, missed, rows_per_unit, row, lost)
    return -order_statistic.drawn(bits, law)
