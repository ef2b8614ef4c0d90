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


def ranks_outside(
    steps: int, epsilon: Fraction, q: Fraction, missed: Fraction, rows_per_unit: int = 1
) -> int:
    """How many ranks outside of the quantile an end of its interval aims.

    Given    steps = (high - low) / grid, epsilon of this end alone, missed: how likely the end may be on the
             wrong side of the quantile; public numbers only
    Gives    ceil((2 s / epsilon) ln((steps + 1) / missed)) + 1 with s = rows_per_unit max(q, 1-q): by how much
             the end may be off in rank, and one rank for quantiles between two rows
    Source   McSherry, Talwar 2007, theorem 6

    >>> ranks_outside(120, Fraction(1), Fraction(1, 2), Fraction(1, 40))
    10
    """
    sensitivity = rows_per_unit * float(max(q, 1 - q))
    return 1 + math.ceil(2 * sensitivity / float(epsilon) * math.log((steps + 1) / missed))


def rows_needed(
    steps: int, epsilon: Fraction, q: Fraction, missed: Fraction, rows_per_unit: int = 1
) -> int:
    """How many rows beyond the rank q n an end looks at: its distances are capped farther away."""
    outside = ranks_outside(steps, epsilon, q, missed, rows_per_unit)
    return outside + order_statistic.quantile_half_width(steps, epsilon, q, rows_per_unit)


def upper_law(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    missed: Fraction,
    rows_per_unit: int = 1,
) -> Law:
    """Of the upper end: secret.

    Given    values: as for order_statistic.quantile: all rows, or at least those within rows_needed of the
             rank, what is farther put together; of q = 0 the smallest ones will do
    """
    outside = ranks_outside(high - low, epsilon, q, missed, rows_per_unit)
    return order_statistic.quantile_law(
        values, q, low, high, epsilon, rows_per_unit, beyond=outside
    )


def lower_law(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    missed: Fraction,
    rows_per_unit: int = 1,
) -> Law:
    """Of the lower end, over the reflected grid -high..-low: secret."""
    values = order_statistic.reflected(values)
    return upper_law(values, 1 - q, -high, -low, epsilon, missed, rows_per_unit)


def upper(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    missed: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
) -> int:
    """An epsilon-DP grid point that is below the q-quantile of the rows with probability `missed` at most."""
    law = upper_law(values, q, low, high, epsilon, missed, rows_per_unit)
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
) -> int:
    """An epsilon-DP grid point that is above the q-quantile of the rows with probability `missed` at most."""
    law = lower_law(values, q, low, high, epsilon, missed, rows_per_unit)
    return -order_statistic.drawn(bits, law)
