"""The exact law of which bound is chosen, from the definition of the walk: a sum over the threshold's noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from proxy.mechanisms.private_bound import UnitTotals, Walk, little_beyond

_REACH = 40  # scales of the threshold's noise: what is beyond has a probability below e^-40


def walk_law(above: Sequence[int], spent: Walk) -> NDArray[np.float64]:
    """
    Given    above: how many units are above each place, from -1
    Gives    the probability to end at each place, from -1; the last: at none
    """
    reach = math.ceil(_REACH * spent.of_threshold)
    moved = np.arange(-reach, reach + 1)
    p = math.exp(-1 / float(spent.of_threshold))
    going = (1 - p) / (1 + p) * p ** np.abs(moved)
    found = np.zeros(len(above) + 1)
    for place, number in enumerate(above):
        few = spent.needed if place == 0 else spent.stop
        most = few + moved - number
        found[place] = (going * _below(spent.of_counts, most)).sum()
        going = going * _above(spent.of_counts, most)
    found[-1] = going.sum()
    return found


def chosen_law(totals: UnitTotals, bounds: Sequence[int], spent: Walk) -> dict[int | None, float]:
    """The probability of each place to be chosen; None: that of no choice."""
    ends = walk_law([totals.above(place) for place in range(-1, len(bounds) - 1)], spent)
    found: dict[int | None, float] = {None: float(ends[0])}
    for place, probability in enumerate(ends[1:-1]):
        taken = little_beyond(place, bounds)
        found[taken] = found.get(taken, 0.0) + float(probability)
    found[len(bounds) - 1] = found.get(len(bounds) - 1, 0.0) + float(ends[-1])
    return found


def _below(scale: Fraction, most: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(discrete Laplace <= most)."""
    p = math.exp(-1 / float(scale))
    tail = p ** np.abs(most).astype(float) / (1 + p)
    return np.where(most < 0, tail, 1 - p * tail)


def _above(scale: Fraction, most: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(discrete Laplace > most), without the rounding of 1 - P(.. <= most)."""
    p = math.exp(-1 / float(scale))
    tail = p ** np.abs(most).astype(float) / (1 + p)
    return np.where(most < 0, 1 - tail, p * tail)
