"""AVG as the mean of clipped partition means: the simple sample-and-aggregate, by the policy's choice.

m partitions, fixed and public; each unit is in one of them, an empty one has a public constant. One unit
moves one of the m clipped means by at most high - low, so their sum moves by no more, whatever the data: no
smooth sensitivity, no delta, and the scale of the noise is public. Proof: PROOFS.md, "Clipped mean".
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits

NOISE_SHARE = Fraction(
    1, 100
)  # of the range: what the noise should not exceed, nineteen times in twenty


def scale(low: int, high: int, epsilon: Fraction, changed: int = 1) -> Fraction:
    """Of the noise in the sum of the m clipped means.

    Given    low <= high, epsilon > 0; changed: so many outputs one unit changes, over all groups
    Refuses  anything else with ValueError
    Source   docs/design/mechanisms.md 5.5, scale (hi - lo) changed / (m epsilon) of their mean, times m

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
             a public constant; neighbours differ in `changed` outputs at most, over all groups answered
    Gives    the whole step nearest to (sum of clipped outputs + noise) / m, clamped (post-processing)
    Refuses  no outputs and what `scale` refuses, with ValueError
    """
    if not outputs:
        raise ValueError("a mean needs partitions")
    total = sum(min(max(output, low), high) for output in outputs)
    noisy = total + discrete_laplace.sample(bits, scale(low, high, epsilon, changed))
    return min(max(round(Fraction(noisy, len(outputs))), low), high)
