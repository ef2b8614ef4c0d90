"""Several answers about one column from the same few noisy sums: their number N, the sum T of y = 2i - (low +
high), the sum Q of 2 y^2 - D^2.

A mean is made of N and T, a variance of N, T and Q, a sum of N and T as well; COUNT is N itself. What is
made of noisy sums costs nothing more. Proof: PROOFS.md, "Shared sums".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

Contribution = TypeVar("Contribution", bound=Hashable)


def pooled(
    needs: Sequence[Mapping[Contribution, Fraction]], weight: Fraction
) -> dict[Contribution, Fraction] | None:
    """The weights of the parts that several answers share, or None where an answer would lose by sharing.

    Given    needs: of each answer, the least weight that each of its parts must have for the answer to be
             no worse than alone; weight: of all these answers together, unshared
    Gives    weights that meet every need and add up to `weight` at most. What is left over raises the
             lowest parts, but none above the highest need: the rest is everybody's
    Refuses  no answers, with ValueError
    Source   PROOFS.md, "Shared sums"

    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> found = pooled([{"N": one}, {"N": half, "T": half}], Fraction(2))  # a count and a mean
    >>> {part: str(share) for part, share in found.items()}
    {'N': '1', 'T': '1'}
    >>> pooled([{"N": one, "T": one}, {"Q": one}], Fraction(2)) is None
    True
    """
    if not needs:
        raise ValueError("a shared statistic needs at least one user")
    found: dict[Contribution, Fraction] = {}
    for need in needs:
        for part, least in need.items():
            found[part] = max(found.get(part, Fraction(0)), least)
    left = weight - sum(found.values(), Fraction(0))
    if left < 0:
        return None
    highest = max(found.values())
    while left > 0 and (lowest := min(found.values())) < highest:
        low = [part for part, share in found.items() if share == lowest]
        above = min(share for share in found.values() if share > lowest)
        step = min(above - lowest, left / len(low))
        for part in low:
            found[part] += step
        left -= step * len(low)
    return found


def total_of(total: int, count: int, low: int, high: int) -> int:
    """The sum of the grid indices i, from the noisy sum of y and the noisy count: sum i = (T + (low+high) N)/2.

    >>> total_of(-4, 2, 0, 9)  # of 3 and 4
    7
    """
    return round(Fraction(total + (low + high) * count, 2))


def total_half_width(
    of_total: Fraction, of_count: Fraction, low: int, high: int, level: Fraction | float = 0.95
) -> int:
    """How far the noise of `total_of` reaches, from the scales of T and N. A float: it is shown,
    not relied upon.

    Source   the tail of the sum of two Laplace variables of scales a > b, by partial fractions:
             P(|X| > t) = (a^2 e^(-t/a) - b^2 e^(-t/b)) / (a^2 - b^2); one step up for the rounding
    """
    if not 0 < level < 1:
        raise ValueError("an interval needs 0 < level < 1")
    b, a = sorted((float(of_total) / 2, float(of_count) * abs(low + high) / 2))
    miss = float(1 - Fraction(level))
    near, far = 0.0, a * (2 + math.log(1 / miss)) * 2 + 1
    for _ in range(100):
        middle = (near + far) / 2
        if _tail(middle, a, b) > miss:
            near = middle
        else:
            far = middle
    return math.ceil(far) + 1


def _tail(t: float, a: float, b: float) -> float:
    """P(|X| > t), a >= b >= 0."""
    if b < 1e-6 * a:
        return math.exp(-t / a)
    if a - b < 1e-6 * a:
        return math.exp(-t / a) * (1 + t / (2 * a))
    return (a * a * math.exp(-t / a) - b * b * math.exp(-t / b)) / (a * a - b * b)
