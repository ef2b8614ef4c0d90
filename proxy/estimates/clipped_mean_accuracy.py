"""How exact a clipped mean is, and how many partitions are best: of public numbers."""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.clipped_mean import NOISE_SHARE, scale
from proxy.mechanisms.smoothed_median import FEWEST_PARTITIONS, MOST_PARTITIONS


def partitions(epsilon: Fraction, changed: int = 1) -> int:
    """The number of partitions, from public numbers only, with which the noise is 1 % of the range.

    Given    epsilon > 0; one unit changes at most `moved` partition means, over all groups
    Gives    the least odd m >= moved ln(20) / (epsilon / 100), within 17 .. 65537
    Refuses  anything else with ValueError
    Source   half width of Laplace noise, docs/design/mechanisms.md 9.1; GUPT (Mohan et al. 2012) has m from
             the number of rows, which is not public here

    >>> partitions(Fraction(1))
    301
    """
    if epsilon <= 0 or changed < 1:
        raise ValueError("partitions need epsilon > 0 and a unit that changes one at least")
    wanted = math.ceil(changed * math.log(20) / float(epsilon * NOISE_SHARE))
    return min(max(wanted | 1, FEWEST_PARTITIONS), MOST_PARTITIONS)


def half_width(
    m: int,
    low: int,
    high: int,
    epsilon: Fraction,
    changed: int = 1,
    level: Fraction | float = Fraction(95, 100),
) -> int:
    """How far the noise of the answer reaches, in grid steps: public. The sampling error of the
    partitions, and the constant of the empty ones, come on top."""
    of_noise = discrete_laplace.half_width(scale(low, high, epsilon, changed), level)
    return math.ceil(Fraction(of_noise, m) + Fraction(1, 2))
