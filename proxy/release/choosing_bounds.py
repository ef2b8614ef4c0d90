"""Exact totals of units + plan + bits -> the bounds that are chosen, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, ExactTable
from proxy.mechanisms import discrete_laplace, private_bound
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.private_bound import UnitTotals
from proxy.planner.bound_choices import BoundChoice
from proxy.planner.plan import BlockPlan, NoisyStatistic


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


Totals = Mapping[int | None, UnitTotals]


def totals_of(plan: BlockPlan, table: ExactTable) -> Totals:
    """By the release that a bound is for, from what compiler.bound_scan has read."""
    units: list[dict[int, int]] = [{} for _ in plan.choices]
    sums: list[dict[int, int]] = [{} for _ in plan.choices]
    for row in table.rows:
        place, band, number, total = (value or 0 for value in row.values)
        units[place][band], sums[place][band] = number, total
    return {
        release: UnitTotals(units=units[place], sums=sums[place])
        for place, release in enumerate(plan.choices)
    }


def choose_bounds(
    plan: BlockPlan, totals: Totals, bits: RandomBits
) -> Mapping[int | None, ChosenBound]:
    return {
        release: _chosen(choice, totals[release], bits) for release, choice in plan.choices.items()
    }


def _chosen(choice: BoundChoice, totals: UnitTotals, bits: RandomBits) -> ChosenBound:
    walk = private_bound.walk(choice.walk.epsilon)
    place = private_bound.choose(totals, choice.bounds, walk, bits)
    scale = choice.report_scale
    return ChosenBound(
        bound=None if place is None else choice.bounds[place],
        units=totals.above(-1) + discrete_laplace.sample(bits, scale),
        above=totals.above(place or 0) + discrete_laplace.sample(bits, scale),
        half_width=discrete_laplace.half_width(scale),
        needed=walk.needed,
    )


def clamped_totals(plan: BlockPlan, totals: Totals) -> ExactTable:
    """What the statements of a block would return, where all follows from totals.

    Given    plan: with the bounds that were chosen
    """
    sums = []
    for number, release in enumerate(plan.releases):
        assert isinstance(release, NoisyStatistic) and release.total is not None
        bound, bounds = release.total.most, plan.choices[number].bounds
        sums.append(totals[number].clamped(bounds.index(bound), bound))
    return ExactTable(
        (ExactRow((), 0, tuple(sums)),),
        tuple(Slots(total=place) for place in range(len(sums))),
        tuple(range(len(sums))),
    )
