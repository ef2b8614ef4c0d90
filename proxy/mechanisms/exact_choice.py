"""One of several outcomes with weights size * e^(-rate * distance), drawn exactly.

A uniform real number is compared with the partial sums of the weights. Both are known to as many
bits as the comparison needs: the weights as rational bounds in fixed point, the uniform number by
its leading bits. So the law is exact, and no float is trusted. Proof: PROOFS.md, "Exact choice".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.real_bounds import exp_bounds

_FIRST_BITS = 128


@dataclass(frozen=True, slots=True)
class Weight:
    """size * e^(-rate * distance), size >= 1."""

    size: int
    distance: int


def choose(bits: RandomBits, weights: Sequence[Weight], rate: Fraction) -> int:
    """An index, with probability proportional to its weight.

    Given    at least one weight, rate > 0; only differences of distances matter
    Refuses  no weights, a size below 1, rate <= 0, with ValueError
    """
    if not weights or rate <= 0 or any(weight.size < 1 for weight in weights):
        raise ValueError("a choice needs outcomes of positive weight")
    if len(weights) == 1:
        return 0
    known = _FIRST_BITS + sum(weight.size for weight in weights).bit_length()
    leading = bits.below(2**known)
    while True:
        found = _located(leading, known, _partial_sums(weights, rate, known))
        if found is not None:
            return found
        leading = leading * 2**known + bits.below(2**known)
        known *= 2


def _partial_sums(
    weights: Sequence[Weight], rate: Fraction, precision: int
) -> list[tuple[int, int]]:
    """Bounds of the sums of the first 0, 1, .. weights, times 2^precision."""
    least = min(weight.distance for weight in weights)
    far = -(-precision * rate.denominator // rate.numerator)
    powers = _powers(rate, far, precision)
    low = high = 0
    sums = [(0, 0)]
    for weight in weights:
        distance = weight.distance - least
        # Beyond `far` a factor is below e^-precision, and so below 2^-precision.
        factor = _product(powers, distance, precision) if distance < far else (0, 1)
        low += weight.size * factor[0]
        high += weight.size * factor[1]
        sums.append((low, high))
    return sums


def _powers(rate: Fraction, far: int, precision: int) -> list[tuple[int, int]]:
    """Integers around 2^precision e^(-rate 2^j), for all bits j of distances below `far`.

    None is above 2^precision: a bound above 1 of a rate below 2^-precision would double its length at each
    step, and only somebody's row would be waited for. Where no distance but 0 is below `far` there are none: no
    exponential of a large rate is computed, which has no bounds beyond a million.
    """
    if far == 1:
        return []
    one = 1 << precision
    # 2^-precision has precision * 0.302 digits after the point.
    low, high = exp_bounds(-rate, digits=precision * 302 // 1000 + 3)
    below = (low.numerator << precision) // low.denominator
    above = -(-(high.numerator << precision) // high.denominator)
    above = min(above, one)
    powers = [(below, above)]
    for _ in range(far.bit_length() - 1):
        below, above = below * below >> precision, min(-(-above * above >> precision), one)
        powers.append((below, above))
    return powers


def _product(powers: Sequence[tuple[int, int]], distance: int, precision: int) -> tuple[int, int]:
    """Integers around 2^precision e^(-rate distance), rounded outwards at each factor."""
    low = high = 1 << precision
    for j in range(distance.bit_length()):
        if distance >> j & 1:
            below, above = powers[j]
            low, high = low * below >> precision, -(-high * above >> precision)
    return low, high


def _located(leading: int, known: int, sums: Sequence[tuple[int, int]]) -> int | None:
    """The outcome whose share holds all u of leading .. leading+1 over 2^known; None if unsure."""
    total_low, total_high = sums[-1]
    least, most = leading * total_low, (leading + 1) * total_high  # of u * total, times 2^known
    first, last = 0, len(sums) - 2
    while first < last:  # the first outcome whose share may end above the least
        middle = (first + last) // 2
        if sums[middle + 1][1] << known > least:
            last = middle
        else:
            first = middle + 1
    begins, ends = sums[first][1] << known, sums[first + 1][0] << known
    is_last = first == len(sums) - 2
    return first if begins <= least and (most <= ends or is_last) else None
