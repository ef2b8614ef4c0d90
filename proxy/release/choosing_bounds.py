"""Exact totals of units + plan + bits -> the bounds that are chosen, and what is said of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.bound_choices import BoundChoice, WeightChoice
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, NoisyStatistic, OrderStatistic, Release
from proxy.kernel.statistics import Statistic
from proxy.mechanisms import discrete_laplace, octave_bound, private_bound, row_weights
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.private_bound import UnitTotals
from proxy.mechanisms.row_weights import WeightedRows
from proxy.mechanisms.unit_means import UnitMeans

_NUMBERS = 4  # of a band of compiler.bound_scan at most
_FEW = 4  # times the units that a choice needs: with fewer it is poor


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenBound:
    """bound: in rows or grid steps of a unit's total; None: too few units have one. units, above: noisy numbers
    of units that have a total, and of those above the bound; half_width: of each, at 95 %; needed: about so
    many units are needed for a choice."""

    bound: int | None
    units: int
    above: int
    half_width: int
    needed: int

    @property
    def enough(self) -> int:
        """Units for a good choice."""
        return _FEW * self.needed

    @property
    def is_poor(self) -> bool:
        return self.bound is None or max(0, self.units) < self.enough

    @property
    def share(self) -> Fraction:
        """Of units that the bound clamps, about."""
        return share_of(self.above, self.units)


# What is known of a bound that was chosen; of rows that have weights, of what these take away.
Chosen = ChosenBound | WeightedRows


def share_of(above: int, units: int) -> Fraction:
    """From noisy numbers, which may be below 0.

    >>> share_of(3, 12), share_of(-4, 100), share_of(7, -2)
    (Fraction(1, 4), Fraction(0, 1), Fraction(1, 1))
    """
    return min(Fraction(1), Fraction(max(0, above), max(1, units)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Totals:
    """What compiler.bound_scan has read. choices: by the release that a bound is for; means: of the sums that
    follow, by release."""

    choices: Mapping[int | None, UnitTotals]
    means: Mapping[int, UnitMeans]

    def __repr__(self) -> str:
        return "Totals(hidden)"


def totals_of(plan: BlockPlan, table: ExactTable) -> Totals:
    bands: dict[int, dict[int, list[int]]] = {}
    for row in table.rows:
        place, band, *found = (value or 0 for value in row.values)
        found += [0] * (_NUMBERS - len(found))  # nothing is added up, or only numbers of rows
        at = bands.setdefault(place, {})
        # Two sessions that read half of the units each have a row of a band each.
        at[band] = (
            [sum(pair) for pair in zip(at[band], found, strict=True)] if band in at else found
        )

    def column(place: int, number: int) -> dict[int, int]:
        return {band: found[number] for band, found in bands.get(place, {}).items()}

    chosen = len(plan.choices)
    return Totals(
        choices={
            release: UnitTotals(units=column(place, 0), sums=column(place, 1))
            for place, release in enumerate(plan.choices)
        },
        means={
            release: UnitMeans(
                units=column(place, 0),
                counts=column(place, 1),
                sums=column(place, 2),
                means=column(place, 3),
            )
            for place, release in enumerate(plan.sums_of_totals, chosen)
        },
    )


def choose_bounds(
    block: CheckedBlock, totals: Totals, bits: RandomBits
) -> Mapping[int | None, Chosen]:
    plan = block.block
    return {
        release: _chosen_weights(plan, choice, totals.choices[release], bits)
        if isinstance(choice, WeightChoice)
        else chosen_bound(choice, totals.choices[release], bits)
        for release, choice in plan.choices.items()
    }


def _chosen_weights(
    plan: BlockPlan, choice: WeightChoice, totals: UnitTotals, bits: RandomBits
) -> WeightedRows:
    """Release the histogram of the rows of units, and choose a bound by it."""
    octaves = row_weights.counts_by_octave(totals.units, choice.bounds)
    cells = octave_bound.noisy(octaves, choice.scale, bits)
    groups = max(1, plan.groups() or 1)
    errors = (_error_in_rank(plan.releases[number]) for number in choice.releases)
    return row_weights.weighed(cells, choice.bounds, float(choice.scale), max(errors), groups)


def _error_in_rank(release: Release) -> float:
    """By how many rows the rank of a quantile is off, about, where a unit has one row: public."""
    assert isinstance(release, OrderStatistic), "rows of quantiles have weights"
    steps, epsilon = max(2, release.measured.width), release.own_loss.epsilon
    return 2 * math.log(steps) / float(epsilon)


def chosen_bound(choice: BoundChoice, totals: UnitTotals, bits: RandomBits) -> ChosenBound:
    place: int | None = 0
    needed = 0
    if not choice.is_given:
        walk = private_bound.walk(choice.walk.epsilon)
        place, needed = private_bound.choose(totals, choice.bounds, walk, bits), walk.needed
    scale = choice.report_scale
    return ChosenBound(
        bound=None if place is None else choice.bounds[place],
        units=totals.above(-1) + discrete_laplace.sample(bits, scale),
        above=totals.above(place or 0) + discrete_laplace.sample(bits, scale),
        half_width=discrete_laplace.half_width(scale),
        needed=needed,
    )


def clamped_totals(plan: BlockPlan, totals: Totals) -> ExactTable:
    """What the statement of a block would return for all that follows from totals.

    Given    plan: with the bounds that were chosen
    """
    values: list[int] = []
    slots, numbers = [], []
    for number, release in enumerate(plan.releases):
        if number in plan.deviation_means:
            continue
        numbers.append(number)
        if number in totals.means:
            assert plan.rows_choice is not None and isinstance(plan.neighbours, UnitNeighbours)
            rows = plan.neighbours.rows
            place = plan.rows_choice.bounds.index(rows)
            count, total = totals.means[number].limited(place, rows)
            assert isinstance(release, NoisyStatistic)
            slots.append(Slots(total=len(values)))
            values.append(count if release.statistic is Statistic.ROWS else total)
            continue
        assert isinstance(release, NoisyStatistic) and release.total is not None
        bound, bounds = release.total.most, plan.choices[number].bounds
        slots.append(Slots(total=len(values)))
        values.append(totals.choices[number].clamped(bounds.index(bound), bound))
    return ExactTable((ExactRow((), 0, tuple(values)),), tuple(slots), tuple(numbers))
