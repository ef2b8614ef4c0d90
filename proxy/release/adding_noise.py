"""Exact table + plan + bits -> what is drawn. The only place where exact numbers become public ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from typing_extensions import assert_never

from proxy.base.errors import Fault
from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, ExactTable, added_up, by_keys, places
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.key_plans import Selection
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    Gate,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.mechanisms import (
    clipped_mean,
    discrete_gaussian,
    discrete_laplace,
    partition_selection,
    polyplace,
    recentred_mean,
    smoothed_median,
)
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.continual import step_noises
from proxy.policy.policy_model import MedianNoise
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.deviation_means import drawn_means
from proxy.release.drawn_values import (
    NOTHING,
    Drawn,
    DrawnBlock,
    DrawnGroup,
    DrawnNumber,
    Keys,
    ordered_groups,
    round_half_up,
)
from proxy.release.ordering import kept_units, order_statistic_of, unit_extreme_of

# Of a series: the noise of each of its steps so far, by the release.
StepNoises = Mapping[int, Sequence[int]]


def drawn_series(
    block: CheckedBlock, tables: Sequence[ExactTable], noises: StepNoises, begin: int
) -> list[list[int]]:
    """What is shown of some steps of a series: the exact numbers, with the noise that was drawn for them.

    Given    tables: as for `drawn_block`; begin: the first step that is wanted, which no one has read yet
    Gives    the numbers of the releases, for each step from `begin` on that has noise
    """
    plan, read = block.block, {number: (table, slots) for number, table, slots in places(tables)}
    grouped = [by_keys(table) for table in tables]
    steps = min(map(len, noises.values()), default=0)
    found = []
    for step, keys in list(enumerate(plan.listed_groups))[begin:steps]:
        row = []
        for number, release in enumerate(plan.releases):
            table, slots = read[number]
            slot = slots.count if isinstance(release, DistinctCount) else slots.total
            exact = added_up(grouped[table].get(keys, []), slot)
            row.append(exact + noises[number][step])
        found.append(row)
    return found


def _drawn_at_once(
    block: CheckedBlock, tables: Sequence[ExactTable], bits: RandomBits
) -> DrawnBlock:
    """All groups of a block whose noise cancels in sums of groups in a row.

    Privacy: z of each release is drawn once, for all groups together (PROOFS.md 33 C6).
    """
    noises = {
        number: step_noises(
            noise.factor, [discrete_gaussian.sample(bits, noise.sigma2) for _ in noise.factor]
        )
        for number, noise in block.block.continual.items()
    }
    rows = drawn_series(block, tables, noises, 0)
    groups = zip(block.block.listed_groups, rows, strict=True)
    return DrawnBlock(tuple(DrawnGroup(keys, tuple(map(DrawnNumber, row))) for keys, row in groups))


def drawn_block(block: CheckedBlock, tables: Sequence[ExactTable], bits: RandomBits) -> DrawnBlock:
    """All that is drawn for one block, which is no series.

    Given    tables: what the compiled statements of this very block returned
    Gives    one group per combination of public key values, in the policy's order, also for empty groups;
             with private keys one per group that the selection keeps, in the order of their texts;
             exactly one without GROUP BY
    """
    if block.block.continual and not block.block.is_stepwise:
        return _drawn_at_once(block, tables, bits)
    plan, grouped = block.block, [by_keys(table) for table in tables]
    read = {number: (table, slots) for number, table, slots in places(tables)}
    is_selected = any(table.selected for table in tables[:1])
    means: dict[int, Mapping[Keys, Drawn]] = {}
    for number, (table, _) in read.items():
        if isinstance(plan.releases[number], DeviationMean) and number not in means:
            means.update(drawn_means(plan, tables[table], bits))
    groups = []
    for keys in list(_groups(plan, grouped, bits, is_selected)):
        values: list[Drawn] = []
        for number, release in enumerate(plan.releases):
            if number in plan.withheld:
                values.append(NOTHING)
                continue
            if number in means:
                values.append(means[number][keys])
                continue
            table, slots = read[number]
            group = grouped[table].get(keys, [])
            values.append(_drawn(release, slots, group, plan.sub_partitions, bits))
        groups.append(DrawnGroup(keys, tuple(values)))
    return DrawnBlock(tuple(groups))


def group_selector(block: CheckedBlock, bits: RandomBits) -> Callable[[int], bool] | None:
    """Whether a private group of so many units is shown, to be asked once for each row of the block's first
    table; None where keys are public, or a group has several rows and must be put together first."""
    plan = block.block
    if plan.selection is None or plan.sub_partitions:
        return None
    return _group_selector(plan.selection, bits)


def _group_selector(selection: Selection, bits: RandomBits) -> Callable[[int], bool]:
    each = selection.each
    return partition_selection.selector(bits, each.epsilon, each.delta, selection.fewest)


def _groups(
    plan: BlockPlan,
    grouped: list[dict[Keys, list[ExactRow]]],
    bits: RandomBits,
    selected: bool = False,
) -> Iterable[Keys]:
    if plan.combinations is not None or plan.selection is None:
        return ordered_groups(plan, ())
    selected_keys: Iterable[Keys] = grouped[0]
    if not selected:
        is_selected = _group_selector(plan.selection, bits)
        selected_keys = [
            keys for keys, rows in grouped[0].items() if is_selected(sum(row.units for row in rows))
        ]
    return ordered_groups(plan, selected_keys)


def _drawn(
    release: Release, slots: Slots, group: list[ExactRow], sub_partitions: int, bits: RandomBits
) -> Drawn:
    match release:
        case NoisyStatistic():
            return DrawnNumber(added_up(group, slots.total) + _draw(release.noise, bits))
        case DistinctCount():
            return DrawnNumber(added_up(group, slots.count) + _draw(release.noise, bits))
        case RecentredMean():
            return _mean(release, slots, group, bits)
        case DeviationMean():
            raise AssertionError("drawn for all groups together")
        case OrderStatistic():
            return order_statistic_of(release, slots, group, bits)
        case UnitExtreme():
            return unit_extreme_of(release, slots, group, bits)
        case KeptUnits():
            return DrawnNumber(kept_units(slots, group) + _draw(release.noise, bits))
        case SampleAggregate():
            if not _opens(release.gate, added_up(group, slots.units), bits):
                return NOTHING
            outputs = partition_outputs(release, slots, group, sub_partitions)
            return DrawnNumber(_aggregated(release, outputs, bits))
        case _:
            assert_never(release)


def _draw(noise: Noise, bits: RandomBits) -> int:
    match noise:
        case LaplaceNoise():
            return discrete_laplace.sample(bits, noise.scale)
        case GaussianNoise():
            return discrete_gaussian.sample(bits, noise.sigma2)
        case ContinualNoise():
            raise Fault("a series that is drawn at once")
        case _:
            assert_never(noise)


def _opens(gate: Gate, units: int, bits: RandomBits) -> bool:
    return units + _draw(gate.noise, bits) >= gate.least


def _aggregated(release: SampleAggregate, outputs: list[int], bits: RandomBits) -> int:
    """One answer of those of all partitions."""
    low, high = release.low, release.high
    match release.mechanism:
        case SmoothedMedian(noise=MedianNoise.POLYPLACE, each=each):
            shape = polyplace.DEFAULT_SHAPE
            return polyplace.release(outputs, low, high, each.epsilon, shape, bits)
        case SmoothedMedian(each=each):
            return smoothed_median.release(outputs, low, high, each.epsilon, each.delta, bits)
        case ClippedMean(changed=changed, loss=loss):
            return clipped_mean.release(outputs, low, high, loss.epsilon, bits, changed)
        case _:
            assert_never(release.mechanism)


def _mean(release: RecentredMean, slots: Slots, group: list[ExactRow], bits: RandomBits) -> Drawn:
    measured = release.measured
    low, high = measured.low, measured.high
    if low == high:  # public
        return DrawnNumber(low)
    total, count = added_up(group, slots.total), added_up(group, slots.count)
    return recentred_mean.noisy(total, count, low, high, release.loss.epsilon, bits, measured.rows)


def partition_outputs(
    release: SampleAggregate, slots: Slots, group: Iterable[ExactRow], sub_partitions: int
) -> list[int]:
    """The result of the aggregate in each partition, on the output grid; the public fill where it is empty.

    Cells are merged into partitions by a fixed public rule, so a unit is in exactly one partition.
    """
    low, high = release.low, release.high
    outputs = [release.fill] * release.partitions
    for partition, output in _merged(release, slots, group, sub_partitions):
        outputs[partition] = low if output < low else high if output > high else output
    return outputs


def _merged(
    release: SampleAggregate, slots: Slots, group: Iterable[ExactRow], sub_partitions: int
) -> Iterator[tuple[int, int]]:
    partitions = release.partitions
    match release.kind:
        case AggregateKind.MIN | AggregateKind.MAX:
            assert slots.extreme is not None
            farther = min if release.kind is AggregateKind.MIN else max
            found: dict[int, int] = {}
            for row in group:
                value = row.values[slots.extreme]
                if value is not None:
                    partition = row.cell * partitions // sub_partitions
                    found[partition] = farther(found.get(partition, value), value)
            yield from found.items()
        case _:
            assert slots.count is not None and slots.total is not None
            ratio = release.measured.grid / release.output_grid
            upper, lower = ratio.numerator, ratio.denominator  # functions of a Fraction: once
            totals, counts = [0] * partitions, [0] * partitions
            for row in group:
                count, total = row.values[slots.count], row.values[slots.total]
                if count and total is not None:
                    partition = row.cell * partitions // sub_partitions
                    totals[partition] += total
                    counts[partition] += count
            for partition, count in enumerate(counts):
                if count:
                    yield partition, round_half_up(totals[partition] * upper, count * lower)
