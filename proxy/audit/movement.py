"""How far the exact results of one plan move between two databases, and how far they may.

The exact results are those of the compiled SQL; grouping and merging of partitions are release's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, ExactTable, added_up, by_keys, places
from proxy.kernel.key_plans import Selection
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.kernel.sensitivities import of_gate, of_size, sensitivity_of
from proxy.kernel.shape import shape_of
from proxy.kernel.statistics import Statistic
from proxy.mechanisms import (
    deviation_mean,
    deviation_variance,
    order_statistic,
    recentred_mean,
    zcdp,
)
from proxy.mechanisms.deviation_mean import GroupDeviations, shares
from proxy.release.adding_noise import partition_outputs
from proxy.release.choosing_bounds import clamped_totals, totals_of
from proxy.release.deviation_means import Bands, Place, read_places
from proxy.release.drawn_values import ordered_groups
from proxy.release.ordering import kept_units, order_law, size_of

# How far two databases are told apart by a mean of deviations: by the exact results of both.


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


Keys = tuple[str | None, ...]
_Groups = dict[Keys, list[ExactRow]]


class Measure(Enum):
    """What is compared, over all groups together unless it says otherwise."""

    ROWS = "rows, L1"
    STEPS = "grid steps, L1"
    SQUARED = "squared L2"  # grows with the square of the distance
    LOSS = "epsilon of its noisy sums"
    RANK = "ranks, in rows, all groups"
    OUTPUTS = "partition outputs"
    OUTPUTS_IN_GROUP = "partition outputs of one group"
    UNITS = "units in private groups, L1"
    GATE = "units, or rows, that a median needs, L1"
    TOTALS = "units by the size of their totals, L1"


@dataclass(frozen=True, slots=True)
class Movement:
    """release: number in the block, None for the selection of private groups."""

    release: int | None
    measure: Measure
    planned: Fraction  # for one unit
    observed: Fraction


def allowed(measure: Measure, planned: Fraction, distance: int) -> Fraction:
    """What so many units may move, when `planned` is for one.

    >>> allowed(Measure.SQUARED, Fraction(4), 3)
    Fraction(36, 1)
    """
    return planned * distance ** (2 if measure is Measure.SQUARED else 1)


def movements(
    plan: BlockPlan, here: Sequence[ExactTable], there: Sequence[ExactTable]
) -> Iterator[Movement]:
    """
    Given    here, there: what the compiled statements of the plan, run with the same seeds, returned on two
             databases; where bounds are chosen the first is what they are chosen by, and the plan has bounds
    Gives    per release, and for the selection, what is planned for one unit and what was seen; nothing for
             medians whose partitions are drawn per row, or are by where it is stored: two runs, or two
             databases, have them not in common
    """
    if plan.choices:
        yield from _totals(plan, here[0], there[0])
        here, there = bounded_tables(plan, here), bounded_tables(plan, there)
    here, there = _answered(plan, here), _answered(plan, there)
    mine, theirs = [by_keys(table) for table in here], [by_keys(table) for table in there]
    for number, table, slots in places(here):
        release = plan.releases[number]
        if isinstance(release, DeviationMean):
            spent = told_apart(plan, number, here[table], there[table])
            yield Movement(number, Measure.LOSS, release.loss.epsilon, spent)
            continue
        pairs = _PairSums(mine[table], theirs[table], slots)
        for measure, planned, observed in _changes(plan, release, pairs):
            yield Movement(number, measure, Fraction(planned), Fraction(observed))
    if plan.selection is not None:
        yield _selected(plan.selection, mine[0], theirs[0])


def bounded_tables(plan: BlockPlan, tables: Sequence[ExactTable]) -> Sequence[ExactTable]:
    """What is released of, without what bounds are chosen by."""
    if not plan.choices:
        return tables
    if plan.is_of_totals:
        return [clamped_totals(plan, totals_of(plan, tables[0])), *tables[1:]]
    return tables[1:]


def _answered(plan: BlockPlan, tables: Sequence[ExactTable]) -> Sequence[ExactTable]:
    """Without groups that release looks at in no case: SQL leaves out keys, and no combinations of them."""
    found = (row.keys for table in tables for row in table.rows)
    groups = frozenset(ordered_groups(plan, found))
    return [
        replace(table, rows=tuple(row for row in table.rows if row.keys in groups))
        for table in tables
    ]


def _totals(plan: BlockPlan, here: ExactTable, there: ExactTable) -> Iterator[Movement]:
    """One unit more is in one band of each choice; by how many units are above a bound, which falls with the
    bound, the choice is made (PROOFS.md, "Private bounds")."""
    mine, theirs = totals_of(plan, here), totals_of(plan, there)
    for release in plan.choices:
        one, other = mine.choices[release].units, theirs.choices[release].units
        apart = sum(abs(one.get(c, 0) - other.get(c, 0)) for c in {**one, **other})
        yield Movement(release, Measure.TOTALS, Fraction(1), Fraction(apart))


@dataclass(frozen=True, slots=True)
class _PairSums:
    """Two states, and which partial results of their rows are meant."""

    mine: _Groups
    theirs: _Groups
    slots: Slots

    def rows(self) -> Iterator[tuple[list[ExactRow], list[ExactRow]]]:
        for keys in {**self.mine, **self.theirs}:
            yield self.mine.get(keys, []), self.theirs.get(keys, [])

    def apart(self, slot: int | None) -> Iterator[int]:
        """Per group, how far the sums of one partial result are apart."""
        for one, other in self.rows():
            yield added_up(one, slot) - added_up(other, slot)

    def l1(self, slot: int | None) -> int:
        return sum(map(abs, self.apart(slot)))

    def squared(self, slot: int | None) -> int:
        return sum(changed**2 for changed in self.apart(slot))

    def of_series(
        self, slot: int | None, steps: Sequence[str | None], factor: Sequence[int]
    ) -> int:
        """The squared length of R d, d being how far each step is apart (PROOFS.md 33)."""
        apart = [
            added_up(self.mine.get((step,), []), slot)
            - added_up(self.theirs.get((step,), []), slot)
            for step in steps
        ]
        rows = (
            sum(factor[at - step] * apart[step] for step in range(at + 1))
            for at in range(len(steps))
        )
        return sum(row**2 for row in rows)


_Found = tuple[Measure, Fraction | int, Fraction | int]


def _changes(plan: BlockPlan, release: Release, pairs: _PairSums) -> Iterator[_Found]:
    slots = pairs.slots
    match release:
        case DistinctCount():
            yield _additive(plan, release, Measure.ROWS, slots.count, pairs)
        case NoisyStatistic():
            of_rows = release.statistic is Statistic.ROWS
            measure = Measure.ROWS if of_rows else Measure.STEPS
            yield _additive(plan, release, measure, slots.total, pairs)
        case RecentredMean():
            low, high, rows = release.measured.low, release.measured.high, release.measured.rows
            if low < high:  # else the answer is that constant
                spent = sum(
                    (
                        recentred_mean.cost(total, count, low, high, release.loss.epsilon, rows)
                        for total, count in zip(
                            pairs.apart(slots.total), pairs.apart(slots.count), strict=True
                        )
                    ),
                    Fraction(0),
                )
                yield Measure.LOSS, release.loss.epsilon, spent
        case KeptUnits():
            yield _kept(plan, release, pairs)
        case DeviationMean():
            raise AssertionError("compared for all groups together")
        case OrderStatistic():
            yield _size(release, pairs)
            yield Measure.RANK, release.measured.rows, _rank_distance(release, pairs)
        case UnitExtreme():
            yield Measure.RANK, release.measured.rows, _rank_distance(release, pairs)
        case SampleAggregate():
            hidden = release.gate.noise.scale * release.gate.loss.epsilon
            allowed = min(Fraction(of_gate(shape_of(plan)).l1), hidden)
            yield Measure.GATE, allowed, pairs.l1(slots.units)
            yield from _outputs(plan, release, pairs)
        case _:
            assert_never(release)


def _outputs_paid(release: SampleAggregate) -> Fraction:
    """How many partitions' outputs the release pays for."""
    match release.mechanism:
        case SmoothedMedian(each=each):
            return (release.loss.epsilon - release.gate.loss.epsilon) / each.epsilon
        case ClippedMean(changed=changed):
            return Fraction(changed)
        case _:
            assert_never(release.mechanism)


def _additive(
    plan: BlockPlan,
    release: NoisyStatistic | DistinctCount,
    measure: Measure,
    slot: int | None,
    pairs: _PairSums,
) -> _Found:
    """The plan's number, or what its noise hides at its epsilon where that is less."""
    loss = release.noise_loss if isinstance(release, NoisyStatistic) else release.loss
    match release.noise:
        case LaplaceNoise():
            hidden = release.noise.scale * loss.epsilon
            moved = sensitivity_of(release, shape_of(plan)).l1
            return measure, min(Fraction(moved), hidden), pairs.l1(slot)
        case GaussianNoise():
            rho = zcdp.rho_of_loss(loss.epsilon, loss.delta)
            return Measure.SQUARED, 2 * rho * release.noise.sigma2, pairs.squared(slot)
        case ContinualNoise():
            rho = zcdp.rho_of_loss(loss.epsilon, loss.delta)
            moved = pairs.of_series(slot, plan.keys[0].values or (), release.noise.factor)
            return Measure.SQUARED, 2 * rho * release.noise.sigma2, moved
        case _:
            assert_never(release.noise)


def _kept(plan: BlockPlan, release: KeptUnits, pairs: _PairSums) -> _Found:
    """The plan's number of units, or what its noise hides at its epsilon where that is less."""
    moved = sum(
        abs(kept_units(pairs.slots, one) - kept_units(pairs.slots, other))
        for one, other in pairs.rows()
    )
    hidden = release.noise.scale * release.loss.epsilon
    planned = sensitivity_of(release, shape_of(plan)).l1
    return Measure.ROWS, min(Fraction(planned), hidden), moved


def _size(release: OrderStatistic, pairs: _PairSums) -> _Found:
    """The plan's number of rows or units, or what the noise hides at its epsilon where that is less."""
    moved = sum(
        abs(size_of(release, pairs.slots, one) - size_of(release, pairs.slots, other))
        for one, other in pairs.rows()
    )
    hidden = release.size.noise.scale * release.size.loss.epsilon
    planned = of_size(release.measured.rows, is_weighted=release.weights is not None).l1
    return Measure.ROWS, min(Fraction(planned), hidden), Fraction(moved)


def _rank_distance(release: OrderStatistic | UnitExtreme, pairs: _PairSums) -> Fraction:
    """How many rows' worth the laws are apart, over all groups together."""
    each = (
        order_statistic.apart(*(order_law(release, pairs.slots, rows) for rows in pair))
        for pair in pairs.rows()
    )
    return sum(each, Fraction(0)) * release.measured.rows / release.own_loss.epsilon


def _outputs(plan: BlockPlan, release: SampleAggregate, pairs: _PairSums) -> Iterator[_Found]:
    """A unit is in one partition of each group it is in; rows are in as many as the plan says."""
    neighbours = plan.neighbours
    if isinstance(neighbours, RowNeighbours) and neighbours.is_random:
        return
    changed = []
    for mine, theirs in pairs.rows():
        both = [
            partition_outputs(release, pairs.slots, rows, plan.sub_partitions)
            for rows in (mine, theirs)
        ]
        changed.append(sum(a != b for a, b in zip(*both, strict=True)))
    yield Measure.OUTPUTS, _outputs_paid(release), sum(changed)
    per_group = 1
    if isinstance(neighbours, RowNeighbours):
        per_group = neighbours.partitions_of_a_group
    yield Measure.OUTPUTS_IN_GROUP, per_group, max(changed, default=0)


def _selected(selection: Selection, mine: _Groups, theirs: _Groups) -> Movement:
    def units(rows: list[ExactRow]) -> int:
        return sum(row.units for row in rows)

    keys = {**mine, **theirs}
    observed = sum(abs(units(mine.get(key, [])) - units(theirs.get(key, []))) for key in keys)
    planned = selection.loss.epsilon / selection.each.epsilon
    return Movement(None, Measure.UNITS, planned, Fraction(observed))
