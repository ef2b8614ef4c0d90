"""AVG as the mean of clipped partition means: the simple sample-and-aggregate, by the policy's choice.

m partitions, fixed and public; each unit is in one of them, an empty one has a public constant. One unit
moves one of the m clipped means by at most high - low, so their sum moves by no more, whatever the data: no
smooth sensitivity, no delta, and the scale of the noise is public. Proof: PROOFS.md, "Clipped mean".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.smoothed_median import FEWEST_PARTITIONS, MOST_PARTITIONS

NOISE_SHARE = Fraction(
    1, 100
)  # of the range: what the noise should not exceed, nineteen times in twenty


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


def scale(low: int, high: int, epsilon: Fraction, changed: int = 1) -> Fraction:
    """Of the noise in the sum of the m clipped means.

    Given    low <= high, epsilon > 0, moved as in `partitions`
    Refuses  anything else with ValueError
    Source   docs/design/mechanisms.md 5.5, scale (hi - lo) moved / (m epsilon) of their mean, times m

    >>> scale(0, 100, Fraction(1, 2))
    Fraction(200, 1)
    """
    if low > high or changed < 1:
        raise ValueError("the lower bound is above the upper bound, or a unit changes nothing")
    return discrete_laplace.scale_for(changed * max(1, high - low), epsilon)


def release(
    outputs: Sequence[int],
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    changed: int = 1,
) -> int:
    """The epsilon-DP mean of partition means, in low .. high.

    Given    outputs of a fixed, public number of partitions, as grid indices; empty partitions filled with
             a public constant; neighbours differ in `moved` outputs at most, over all groups answered
    Gives    the whole step nearest to (sum of clipped outputs + noise) / m, clamped (post-processing)
    Refuses  no outputs and what `scale` refuses, with ValueError
    """
    if not outputs:
        raise ValueError("a mean needs partitions")
    total = sum(min(max(output, low), high) for output in outputs)
    noisy = total + discrete_laplace.sample(bits, scale(low, high, epsilon, changed))
    return min(max(round(Fraction(noisy, len(outputs))), low), high)


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
