"""How far two databases are told apart by a mean of deviations: by the exact results of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms import deviation_mean, deviation_variance
from proxy.mechanisms.deviation_mean import GroupDeviations, shares
from proxy.release.deviation_means import Bands, Place, read_places


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviationChange:
    """How far two databases are apart in what a mean of deviations takes: the sizes of all differences, over
    all groups. Each but the first three is divided by the bound that it was taken with; the largest counts."""

    units: int
    row_cells: int
    cells: int
    weights: Fraction
    sums: Fraction
    rows: Fraction
    deviations: Fraction


def cost(
    change: DeviationChange, epsilon: Fraction, *, is_declared: bool, is_single: bool
) -> Fraction:
    """Compute the most that a mean tells two databases apart: the larger log ratio of both branches."""
    found = []
    for is_few in (False, True):
        spent = shares(epsilon, is_few=is_few, is_declared=is_declared, is_single=is_single)
        found.append(
            spent.units * change.units
            + spent.row_cells * change.row_cells
            + spent.cells * change.cells
            + spent.weights * change.weights
            + spent.sums * change.sums
            + spent.rows * change.rows
            + spent.deviations * change.deviations
        )
    return max(found)


def told_apart(plan: BlockPlan, number: int, here: ExactTable, there: ExactTable) -> Fraction:
    """Compute the most that a mean or a variance tells two databases apart, for any bounds that may be chosen.

    Args:
        plan: The block.
        number: Of the mean.
        here, there: What `deviation_scan` has read for this very block.
    """
    release, place = plan.deviation_means[number], list(plan.deviation_means).index(number)
    low, high = release.measured.low, release.measured.high
    if low == high:
        return Fraction(0)
    is_single = release.centres is not None and release.centres.is_single
    mine, theirs = read_places(plan, here), read_places(plan, there)
    rows, others = mine[2 * place], theirs[2 * place]
    deviations, other_deviations = mine[2 * place + 1], theirs[2 * place + 1]
    bounds = deviation_mean.deviation_bounds(low, high, is_single=is_single)
    change = DeviationChange(
        units=abs(sum(rows.units.values()) - sum(others.units.values())),
        row_cells=_apart(rows.units, others.units),
        cells=_apart(deviations.units, other_deviations.units),
        weights=_farthest(rows, others, lambda one: sum(one.shares.values()), deviation_mean.PARTS),
        sums=_farthest(rows, others, lambda one: one.mean, (high - low) * deviation_mean.PARTS),
        rows=_bounded_apart(rows, others, deviation_mean.row_bounds(release.declared)),
        deviations=_bounded_apart(deviations, other_deviations, bounds),
    )
    spent = cost(
        change,
        release.epsilon_of_mean,
        is_declared=release.declared is not None,
        is_single=is_single,
    )
    if not release.has_squares:
        return spent
    squares, other_squares = (one[2 * len(plan.deviation_means) + place] for one in (mine, theirs))
    bounds = deviation_variance.square_bounds(low, high, is_single=is_single)
    of_squares = deviation_variance.shares(release.epsilon_of_squares)
    spent += of_squares.cells * _apart(squares.units, other_squares.units)
    return spent + of_squares.squares * _bounded_apart(squares, other_squares, bounds)


def _apart(one: Mapping[int, int], other: Mapping[int, int]) -> int:
    return sum(abs(one.get(band, 0) - other.get(band, 0)) for band in {**one, **other})


def _farthest(one: Place, other: Place, number: Callable[[Bands], int], bound: int) -> Fraction:
    """The L1 distance over all groups, in bounds."""
    none, distance = Bands(), 0
    for keys in {**one.groups, **other.groups}:
        here, there = one.groups.get(keys, none), other.groups.get(keys, none)
        distance += abs(number(here) - number(there))
    return Fraction(distance, bound)


def _bounded_apart(one: Place, other: Place, bounds: Sequence[int]) -> Fraction:
    """The largest L1 distance of sums that are bounded, each in its bound."""
    found = Fraction(0)
    for place, bound in enumerate(bounds):

        def bounded(bands: Bands, place: int = place, bound: int = bound) -> int:
            return GroupDeviations(sums=bands.totals, shares=bands.shares).bounded(place, bound)

        found = max(found, _farthest(one, other, bounded, bound * deviation_mean.PARTS))
    return found
