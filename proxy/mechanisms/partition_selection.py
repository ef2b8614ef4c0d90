"""Which group keys may be shown: optimal partition selection, by the number of units in a group.

A key that no unit has is never shown, a key of one unit with probability delta, and the curve of
probabilities rises as fast as (epsilon, delta) allows. Everything is exact: the curve is kept in
fixed point, rounded down, and satisfies the inequalities of privacy as the fractions that it holds.
Proof: PROOFS.md, "Partition selection".
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.real_bounds import exp_bounds, log_bounds, short_below

_FIXED = 128  # bits after the point
_ONE = 2**_FIXED
SMALLEST_DELTA = Fraction(1, 2**100)
LARGEST_EPSILON = Fraction(700)
LONGEST_CURVE = 2**18  # units at which a key is shown for certain: a curve of 15 MB at most


def per_group(loss: Loss, groups: int) -> Loss:
    """What each of the up to G groups that a unit is in may spend on being selected.

    Given    groups = G >= 1; loss.delta > 0
    Gives    epsilon/G and 1 - (1-delta)^(1/G), rounded down to 15 digits: a little more than
             delta/G
    Refuses  groups < 1, delta = 0, with ValueError
    Source   Kairouz, Oh, Viswanath 2015, theorem 3.3 at i = 0: G times (e, d) is
             (G e, 1-(1-d)^G)

    >>> float(per_group(Loss(Fraction(1), Fraction(3, 4)), 2).delta)  # (1 - 0.5)^2 = 1 - 0.75
    0.4999999999999999
    """
    if groups < 1:
        raise ValueError("a unit is in at least one group")
    _check(loss.epsilon, loss.delta)
    if groups == 1:
        return loss
    # The largest d with (1-d)^G >= 1-delta: from above the power of 1-d, so from below d.
    _, longest = exp_bounds(log_bounds(1 - loss.delta)[1] / groups)
    return Loss(loss.epsilon / groups, short_below(1 - longest))


def selector(
    bits: RandomBits, epsilon: Fraction, delta: Fraction, fewest: int = 1
) -> Callable[[int], bool]:
    """Whether a group of so many units is shown: True with probability release_probability.

    The curve is computed here, before there is any group: it takes up to a fifth of a second, and how long an
    answer takes must not say whether a group is there.

    Given    the (epsilon, delta) of one group, from per_group when a unit may be in several; fewest: of
             the policy. To be asked with units >= 0, the number of *distinct privacy units* in the group
    Refuses  what release_probability refuses, with ValueError
    Source   Desfontaines, Voss, Gipson, Mandayam 2022
    """
    curve = _curve(epsilon, delta)

    def is_selected(units: int) -> bool:
        chance = _chance(curve, units, fewest)
        # In integers, which for 100,000 groups saves a second of fractions; what is certain takes no bits.
        return chance == _ONE or (chance > 0 and bits.below(_ONE) < chance)

    return is_selected


def release_probability(
    units: int, epsilon: Fraction, delta: Fraction, fewest: int = 1
) -> Fraction:
    """pi_n, the most that (epsilon, delta) allows to show a group of n units, rounded down.

    With fewest = k it is pi_(n-k+1): a group of fewer than k units is never shown, at no more epsilon
    (PROOFS.md 32 M1).

    Given    units >= 0, 0 < epsilon <= 700, 2^-100 <= delta < 1, fewest >= 1
    Refuses  anything else, and an epsilon so small that the curve has over 2^18 steps, with
             ValueError
    Source   Desfontaines, Voss, Gipson, Mandayam 2022, the recursion:
             pi_0 = 0, pi_(n+1) = min(e^epsilon pi_n + delta, 1 - e^-epsilon (1 - pi_n - delta), 1)

    >>> float(release_probability(1, Fraction(1), Fraction(1, 10**6)))
    1e-06
    >>> [float(release_probability(n, Fraction(1), Fraction(1, 10**6), 11)) for n in (10, 11)]
    [0.0, 1e-06]
    """
    return Fraction(_chance(_curve(epsilon, delta), units, fewest), _ONE)


def _chance(curve: Sequence[int], units: int, fewest: int) -> int:
    """pi_(n-k+1) in fixed point, 0 below."""
    if units < 0 or fewest < 1:
        raise ValueError("a group has at least 0 units, and a smallest group at least 1")
    return curve[min(max(0, units - fewest + 1), len(curve) - 1)]


def units_for(chance: Fraction, epsilon: Fraction, delta: Fraction, fewest: int = 1) -> int:
    """The least number of units with which a group is shown with at least this probability.

    Given    0 < chance <= 1
    Refuses  as release_probability
    Source   docs/design/mechanisms.md 4.2

    >>> [units_for(Fraction(n, 20), Fraction(1), Fraction(1, 10**6)) for n in (10, 19)]
    [14, 16]
    >>> units_for(Fraction(1, 2), Fraction(1), Fraction(1, 10**6), fewest=11)
    24
    """
    _check(epsilon, delta)
    return bisect_left(_curve(epsilon, delta), math.ceil(chance * _ONE)) + fewest - 1


def _check(epsilon: Fraction, delta: Fraction) -> None:
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ValueError("partition selection needs 0 < epsilon <= 700")
    if not SMALLEST_DELTA <= delta < 1:
        raise ValueError("partition selection needs 2^-100 <= delta < 1")


@lru_cache(maxsize=32)
def _curve(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """pi_0, pi_1, .. 1 in fixed point. The growth factor is below e^epsilon, every step rounds down.

    So each step is within what is allowed; and none falls below the one before, which needs no
    case of its own: the exact minimum is above pi_n, a multiple of the unit, and so is its floor.
    """
    _check(epsilon, delta)
    # The curve is at a half after ln(1 + (e^epsilon - 1)/(2 delta))/epsilon units, and symmetric.
    rate = float(epsilon)
    if rate < 1 and 2 * math.log1p(math.expm1(rate) / float(2 * delta)) / rate > LONGEST_CURVE:
        raise ValueError(
            "epsilon is too small for partition selection: hardly any group is selected"
        )
    one = _ONE
    growth = math.floor(exp_bounds(epsilon)[0] * one)
    step = math.floor(delta * one)
    curve = [0]
    while curve[-1] < one:
        if len(curve) > LONGEST_CURVE:
            raise ValueError(
                "epsilon is too small for partition selection: no group would be selected"
            )
        here = curve[-1]
        grown = growth * here // one + step
        rest = one - here - step
        shrunk = one - max(0, -(-rest * one // growth))
        curve.append(min(grown, shrunk, one))
    return tuple(curve)
