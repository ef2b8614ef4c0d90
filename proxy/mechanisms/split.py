"""How one loss is shared: over releases, over the rows of a unit, over the groups of a unit.

Exact fractions; where a real number must become one, it is rounded towards more privacy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from proxy.mechanisms.loss import Loss
from proxy.mechanisms.real_bounds import short_below

_LARGEST_EXPONENT = 700  # e^700 is the last round one that is a float


def split(loss: Loss, releases: int) -> Loss:
    """What each of k distinct noisy releases may spend: (epsilon/k, delta/k).

    Refuses  releases < 1 with ValueError
    Source   basic composition, Dwork, Roth 2014, theorem 3.16

    >>> split(Loss(Fraction(1), Fraction(1, 10**6)), 4)
    Loss(epsilon=Fraction(1, 4), delta=Fraction(1, 4000000))
    """
    if releases < 1:
        raise ValueError("a statement has at least one release")
    return Loss(loss.epsilon / releases, loss.delta / releases)


def per_unit(loss: Loss, rows: int) -> Loss:
    """What a black-box mechanism may spend per row, so that units of k rows get `loss`.

    Given    rows = k >= 1; the mechanism is (epsilon', delta')-DP when one row changes
    Gives    epsilon' = epsilon/k and delta' = delta / (k e^(epsilon (k-1)/k)), rounded down
    Refuses  k < 1; a delta' that would vanish (epsilon above 700), with ValueError
    Source   group privacy: (epsilon', delta') for one row is, for k rows,
             (k epsilon', k e^((k-1) epsilon') delta'); PROOFS.md, "Sharing a loss"

    >>> per_unit(Loss(Fraction(1), Fraction(0)), 4)
    Loss(epsilon=Fraction(1, 4), delta=Fraction(0, 1))
    """
    if rows < 1:
        raise ValueError("a unit has at least one row")
    if rows == 1 or loss.delta == 0:
        return Loss(loss.epsilon / rows, loss.delta)
    exponent = loss.epsilon * (rows - 1) / rows
    if exponent > _LARGEST_EXPONENT:
        raise ValueError("epsilon is too large to be shared by the rows of a unit")
    # x below 700 rounds by 2^-44 at most, and so does e^x, relatively.
    growth = Fraction(math.exp(float(exponent))) * (1 + Fraction(1, 2**40))
    return Loss(loss.epsilon / rows, short_below(loss.delta / (rows * growth)))


def per_group(loss: Loss, groups: int) -> Loss:
    """What each group's answer may spend when one unit is in at most `groups` groups.

    With groups = 1 a unit touches one answer, and all groups together cost `loss` (parallel
    composition under add/remove). Else the answers that a unit touches compose.

    Refuses  groups < 1 with ValueError
    Source   McSherry 2009, theorem 4; docs/design/mechanisms.md 4.1
    """
    if groups < 1:
        raise ValueError("a unit is in at least one group")
    return split(loss, groups)


def split_weighted(loss: Loss, weights: Sequence[int | Fraction]) -> list[Loss]:
    """What each of several releases may spend, in proportion to its weight.

    Given    at least one weight, all above 0, from the policy: never from the data
    Gives    one loss per weight, in order; they add up to `loss` exactly
    Refuses  no weights, or one that is not above 0, with ValueError
    Source   basic composition, Dwork, Roth 2014, theorem 3.16: it does not ask for equal shares

    >>> [str(share.epsilon) for share in split_weighted(Loss(Fraction(1), Fraction(0)), [3, 1])]
    ['3/4', '1/4']
    """
    if not weights or any(weight <= 0 for weight in weights):
        raise ValueError("a share needs a weight above 0")
    if len(weights) == 1:
        return [loss]
    whole = sum((Fraction(weight) for weight in weights), Fraction(0))
    return [Loss(loss.epsilon * weight / whole, loss.delta * weight / whole) for weight in weights]
