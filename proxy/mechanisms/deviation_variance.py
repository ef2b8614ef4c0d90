"""VARIANCE and STDDEV of units with several rows: squares of the rows' distances from noisy centres.

The centres, the number of rows and the deviations are those of a mean (mechanisms.deviation_mean). One more sum
is added to them: the squared distances of a unit's rows from the centres of their groups. A bound on that is
chosen from a noisy histogram of octaves, as for deviations. With Q squares, D deviations and N rows the
variance is Q/N - (D/N)^2, whatever the centre.

Squares are in squared fine steps, or in PARTS of one where hardly any unit has two rows.
Proof: PROOFS.md, "Means of deviations".
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.mechanisms import deviation_mean, discrete_laplace, octave_bound
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.deviation_mean import (
    PARTS,
    GroupDeviations,
    NoisyCentres,
    NoisyDeviations,
    fineness,
)
from proxy.mechanisms.octave_bound import OctaveBound, OctaveRule, octaves_of, quarter_bounds

# Fitted on sixteen data sets and judged on others (docs/reference/accuracy.md).
_SHARE = Fraction(2, 5)  # of a variance's epsilon: what is not for the parts of a mean
_CELLS = Fraction(2, 5)  # of that
_LEAST = 2**14  # the lowest bound is this part of the squared range
_OCTAVES, _SINGLE_OCTAVES = 36, 15
_RULE = OctaveRule(least=2.5, gap=0.8)
_SINGLE_RULE = OctaveRule(least=2.0, gap=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareShares:
    """How epsilon is divided: histogram and sums."""

    cells: Fraction
    squares: Fraction


def shares(epsilon: Fraction) -> SquareShares:
    """Divide epsilon.

    Args:
        epsilon: Of the squares, without the parts of the mean.

    >>> found = shares(Fraction(1))
    >>> found.cells + found.squares
    Fraction(1, 1)
    """
    cells = epsilon * _CELLS
    return SquareShares(cells=cells, squares=epsilon - cells)


def share_of_squares(mean: Fraction, spread: Fraction) -> Fraction:
    """Give the part of a release for squares, so that a mean which shares it is no less exact than alone.

    Args:
        mean: The weight of the mean; 0 if there is none.
        spread: The weight of variances and deviations.

    >>> share_of_squares(Fraction(0), Fraction(1)), share_of_squares(Fraction(3), Fraction(1))
    (Fraction(2, 5), Fraction(1, 4))
    """
    return min(_SHARE, spread / (mean + spread))


def square_bounds(low: int, high: int, *, is_single: bool) -> tuple[int, ...]:
    """Give the bounds by which squares of units are counted, in squared fine steps.

    Args:
        low, high: Grid indices of all values, low < high.
        is_single: Whether hardly any unit has two rows. Bounds are in PARTS of a step then.
    """
    lowest = Fraction((2 * (high - low) * fineness(low, high)) ** 2, _LEAST)
    if is_single:
        return quarter_bounds(lowest * PARTS, _SINGLE_OCTAVES)
    return quarter_bounds(lowest, _OCTAVES)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisySquares:
    """What a variance of one group is made of: private already.

    Attributes:
        mean: Rows and deviations of the same group.
        total: Sum of squares, in PARTS of their step.
        bound: On the squares of a unit; None: none could be chosen, and there is no total.
        lost: Estimated mass of squares above the bound that is in this group.
    """

    mean: NoisyDeviations
    total: int
    bound: int | None
    lost: int

    @property
    def may_be_cut(self) -> bool:
        """Whether the bound may cut more squares than `lost`, which is then above 0: an estimate.

        Nothing is cut where no unit can be above the bound: where hardly any has two rows, and one row cannot
        be as far from its centre. What is cut would only make the variance larger.
        """
        return self.lost > 0


def noisy(
    means: Sequence[NoisyDeviations],
    squares: Sequence[GroupDeviations],
    units: Mapping[int, int],
    centres: NoisyCentres,
    low: int,
    high: int,
    epsilons: tuple[Fraction, Fraction],
    declared: int | None,
    bits: RandomBits,
) -> tuple[NoisySquares, ...]:
    """Release the sums of squares of all groups.

    Privacy: epsilons[1], for any centres. A unit is in one cell, and the sizes of its squares add up to at most
    the bound over all groups. The bound follows from what was released before.

    Args:
        means: As released for the same groups, in the order of `centres`.
        squares: Of all groups, in that order.
        units: Number of units by band of their squares in all groups (`square_bounds`).
        centres: As released, from which distances were taken.
        low, high: Grid indices of all values, low < high.
        epsilons: Of the parts of the mean, and of the squares.
        declared: As of the mean.
        bits: Random bits.
    """
    of_mean, of_squares = epsilons
    spent = shares(of_squares)
    parts = deviation_mean.group_parts(centres, of_mean, declared)
    bound = _chosen_bound(units, centres, parts, low, high, spent, bits)
    if bound is None or any(one.bound is None for one in means):
        return tuple(NoisySquares(mean=one, total=0, bound=None, lost=0) for one in means)
    scale = discrete_laplace.scale_for(bound.bound * PARTS, spent.squares)
    return tuple(
        NoisySquares(
            mean=one,
            total=group.bounded(bound.place, bound.bound) + discrete_laplace.sample(bits, scale),
            bound=bound.bound,
            lost=math.ceil(deviation_mean.share_of_cut(part, len(means)) * bound.above),
        )
        for one, group, part in zip(means, squares, parts, strict=True)
    )


def _chosen_bound(
    units: Mapping[int, int],
    centres: NoisyCentres,
    parts: Sequence[float],
    low: int,
    high: int,
    spent: SquareShares,
    bits: RandomBits,
) -> OctaveBound | None:
    is_single = centres.is_single
    octaves, rule = (_SINGLE_OCTAVES, _SINGLE_RULE) if is_single else (_OCTAVES, _RULE)
    bounds = square_bounds(low, high, is_single=is_single)
    of_cells = discrete_laplace.scale_for(1, spent.cells)
    cells = octave_bound.noisy(octaves_of(units, octaves), of_cells, bits)
    scale, noise = float(1 / spent.cells), float(1 / spent.squares)
    concentration = sum(part**2 for part in parts)
    found = octave_bound.chosen(cells, bounds, scale, noise, concentration, rule)
    if not is_single:
        return found
    farthest = deviation_mean.farthest(centres, low, high) ** 2 * PARTS
    if found is None or found.bound >= farthest / 2:
        # No unit is above that: all are in the bands up to its own.
        return OctaveBound(place=bisect_left(bounds, farthest), bound=farthest, cut=0.0, unseen=0.0)
    most = (2 * farthest - found.bound) * scale
    return replace(found, unseen=min(found.unseen, most))
