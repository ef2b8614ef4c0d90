"""How far the rank of an order statistic is off: of public numbers."""

from __future__ import annotations

import math
from fractions import Fraction


def error_in_rank(
    steps: int,
    epsilon: Fraction,
    rows_per_unit: int = 1,
    level: Fraction | float = 0.95,
    q: Fraction = Fraction(1),
) -> int:
    """How many rows the answer's rank is off at most, with this probability, on a grid of so many steps that
    holds the right value; MIN and MAX aim inside as well (target_rank). q: of a quantile, whose sensitivity is
    max(q, 1-q) of that.

    Source   McSherry, Talwar 2007, theorem 6

    >>> error_in_rank(120, Fraction(1))
    16
    >>> error_in_rank(120, Fraction(1), q=Fraction(1, 2))
    8
    """
    missed = math.log((steps + 1) / float(1 - level))
    return math.ceil(2 * rows_per_unit * float(max(q, 1 - q)) / float(epsilon) * missed)
