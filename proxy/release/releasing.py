"""Exact table + plan + bits -> noised table. The only place where exact numbers become public ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, ExactTable, added_up, by_keys, places
from proxy.mechanisms import (
    clipped_mean,
    discrete_gaussian,
    discrete_laplace,
    partition_selection,
    polyplace,
    recentred_mean,
    smoothed_median,
    variance,
)
from proxy.mechanisms.bits import RandomBits
from proxy.planner.plan import (
    BlockPlan,
    ClippedMean,
    FromMoments,
    GaussianNoise,
    LaplaceNoise,
    Moment,
    Noise,
    NoisyCount,
    NoisyDistinct,
    NoisyMean,
    NoisyMoment,
    NoisySum,
    NoisyVariance,
    OrderStatistic,
    Release,
    Same,
    Selection,
    SmoothedMedian,
)
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.deriving import derived, on_grid, spread_value
from proxy.release.noised import NoisyRow, NoisyTable, NoisyValue
from proxy.release.ordering import order_statistic_of

_ONE = Fraction(1)


def release_block(plan: BlockPlan, tables: Sequence[ExactTable], bits: RandomBits) -> NoisyTable:
    """The noised relation of one block.

    Given    tables: what the compiled statements of this very plan returned
    Gives    one row per combination of public key values, in the policy's order, also for empty groups;
             with private keys one row per group that the selection keeps, in the order of their texts;
             exactly one row without GROUP BY
    """
    grouped = [by_keys(table) for table in tables]
    drawing = places(tables)
    rows = []
    is_selected = any(table.selected for table in tables[:1])
    for keys in _groups(plan, grouped, bits, is_selected):
        drawn: dict[int, NoisyValue] = {}
        for number, table, slots in drawing:
            group = grouped[table].get(keys, [])
            drawn[number] = _release(plan.releases[number], slots, group, plan.cells, bits)
        answers = plan.releases[: plan.answers()]
        rows.append(NoisyRow(keys, tuple(_answers(answers, plan, drawn))))
    return NoisyTable(tuple(rows))


Keys = tuple[str | None, ...]


def _answers(
    answers: Sequence[Release], plan: BlockPlan, drawn: Mapping[int, NoisyValue]
) -> Iterator[NoisyValue]:
    for number, release in enumerate(answers):
        if isinstance(release, FromMoments | Same):
            yield derived(release, plan, drawn)
        else:
            yield drawn[number]


def keeper(plan: BlockPlan, bits: RandomBits) -> Callable[[int], bool] | None:
    """Whether a private group of so many units is shown, to be asked once for each row of the block's first
    table; None where keys are public, or a group has several rows and must be put together first."""
    if plan.selection is None or plan.cells:
        return None
    return _keeper(plan.selection, bits)


def _keeper(selection: Selection, bits: RandomBits) -> Callable[[int], bool]:
    each = selection.each
    return lambda units: partition_selection.keep(bits, units, each.epsilon, each.delta)


def _groups(
    plan: BlockPlan,
    grouped: list[dict[Keys, list[ExactRow]]],
    bits: RandomBits,
    selected: bool = False,
) -> Iterable[Keys]:
    if plan.selection is None:
        return product(*(key.values or () for key in plan.keys))
    kept: Iterable[Keys] = grouped[0]
    if not selected:
        keep = _keeper(plan.selection, bits)
        kept = [keys for keys, rows in grouped[0].items() if keep(sum(row.units for row in rows))]
    # Sorted by text: the order of the data must not show. NULL comes last, as in PostgreSQL.
    return sorted(kept, key=lambda keys: tuple((text is None, text or "") for text in keys))


def _release(
    release: Release, slots: Slots, group: list[ExactRow], cells: int, bits: RandomBits
) -> NoisyValue:
    kind = release.aggregate.type
    match release:
        case NoisyCount() | NoisyDistinct():
            exact = added_up(group, slots.count)
            return NoisyValue(exact + _draw(release.noise, bits), _ONE, kind, _reach(release.noise))
        case NoisySum():
            exact = added_up(group, slots.total)
            grid = release.measured.grid
            return NoisyValue(exact + _draw(release.noise, bits), grid, kind, _reach(release.noise))
        case NoisyMoment():
            noisy = _moment(release, slots, group) + _draw(release.noise, bits)
            return NoisyValue(noisy, _ONE, kind, None)
        case NoisyMean():
            return _mean(release, slots, group, bits)
        case NoisyVariance():
            return _variance(release, slots, group, bits)
        case OrderStatistic():
            return order_statistic_of(release, slots, group, bits)
        case SmoothedMedian():
            outputs = partition_outputs(release, slots, group, cells)
            return NoisyValue(_median(release, outputs, bits), release.output_grid, kind, None)
        case ClippedMean():
            return _clipped_mean(release, partition_outputs(release, slots, group, cells), bits)
        case FromMoments() | Same():
            raise AssertionError("made of other releases")
        case _:
            assert_never(release)


def _draw(noise: Noise, bits: RandomBits) -> int:
    match noise:
        case LaplaceNoise():
            return discrete_laplace.sample(bits, noise.scale)
        case GaussianNoise():
            return discrete_gaussian.sample(bits, noise.sigma2)
        case _:
            assert_never(noise)


def _reach(noise: Noise) -> int:
    """Half width of the 95 % interval."""
    match noise:
        case LaplaceNoise():
            return discrete_laplace.half_width(noise.scale)
        case GaussianNoise():
            return discrete_gaussian.half_width(noise.sigma2)
        case _:
            assert_never(noise)


def _median(release: SmoothedMedian, outputs: list[int], bits: RandomBits) -> int:
    loss = release.mechanism_loss
    if release.polyplace:
        shape = polyplace.DEFAULT_SHAPE
        return polyplace.release(outputs, release.low, release.high, loss.epsilon, shape, bits)
    return smoothed_median.release(
        outputs, release.low, release.high, loss.epsilon, loss.delta, bits
    )


def _mean(release: NoisyMean, slots: Slots, group: list[ExactRow], bits: RandomBits) -> NoisyValue:
    """Steps of the operand's grid to the finer ones of the answer."""
    measured, kind = release.measured, release.aggregate.type
    low, high = measured.low, measured.high
    if low == high:
        return on_grid(Fraction(low), measured.grid, release.output_grid, kind, None)
    total, count = added_up(group, slots.total), added_up(group, slots.count)
    found = recentred_mean.release(
        total, count, low, high, release.loss.epsilon, bits, measured.rows
    )
    reach = max(found.value - found.least, found.most - found.value)
    return on_grid(found.value, measured.grid, release.output_grid, kind, reach)


def _variance(
    release: NoisyVariance, slots: Slots, group: list[ExactRow], bits: RandomBits
) -> NoisyValue:
    measured, kind = release.measured, release.aggregate.type
    low, high = measured.low, measured.high
    squared = measured.grid * measured.grid
    if low == high:
        return on_grid(Fraction(0), squared, release.output_grid, kind, None)
    noise = variance.scales(low, high, release.loss.epsilon, measured.rows)
    moments = variance.NoisyMoments(
        squares=added_up(group, slots.squares) + discrete_laplace.sample(bits, noise.squares),
        total=added_up(group, slots.total) + discrete_laplace.sample(bits, noise.total),
        count=added_up(group, slots.count) + discrete_laplace.sample(bits, noise.count),
    )
    return spread_value(moments, noise, release)


def _moment(release: NoisyMoment, slots: Slots, group: list[ExactRow]) -> int:
    match release.moment:
        case Moment.ROWS:
            return added_up(group, slots.count)
        case Moment.STEPS | Moment.CENTRED:
            return added_up(group, slots.total)
        case Moment.SQUARES:
            return added_up(group, slots.squares)
        case _:
            assert_never(release.moment)


def _clipped_mean(release: ClippedMean, outputs: list[int], bits: RandomBits) -> NoisyValue:
    low, high, epsilon, moved = release.low, release.high, release.loss.epsilon, release.moved
    found = clipped_mean.release(outputs, low, high, epsilon, bits, moved)
    # No interval: that of the noise alone would leave out the sampling error of the partitions.
    return NoisyValue(found, release.output_grid, release.aggregate.type, None)


def partition_outputs(
    release: SmoothedMedian | ClippedMean, slots: Slots, group: Iterable[ExactRow], cells: int
) -> list[int]:
    """The result of the aggregate in each partition, on the output grid; the public fill where it is empty.

    Cells are merged into partitions by a fixed public rule, so a unit is in exactly one partition.
    """
    outputs = [release.fill] * release.partitions
    for partition, output in _merged(release, slots, group, cells):
        outputs[partition] = min(max(output, release.low), release.high)
    return outputs


def _merged(
    release: SmoothedMedian | ClippedMean, slots: Slots, group: Iterable[ExactRow], cells: int
) -> Iterator[tuple[int, int]]:
    match release.kind:
        case AggregateKind.MIN | AggregateKind.MAX:
            assert slots.extreme is not None
            farther = min if release.kind is AggregateKind.MIN else max
            found: dict[int, int] = {}
            for row in group:
                value = row.values[slots.extreme]
                if value is not None:
                    partition = row.cell * release.partitions // cells
                    found[partition] = farther(found.get(partition, value), value)
            yield from found.items()
        case _:
            assert slots.count is not None and slots.total is not None
            ratio = release.measured.grid / release.output_grid
            sums: dict[int, tuple[int, int]] = {}
            for row in group:
                count, total = row.values[slots.count], row.values[slots.total]
                if count and total is not None:
                    partition = row.cell * release.partitions // cells
                    before = sums.get(partition, (0, 0))
                    sums[partition] = before[0] + total, before[1] + count
            for partition, (total, count) in sums.items():
                yield (
                    partition,
                    round_half_up(total * ratio.numerator, count * ratio.denominator),
                )


def round_half_up(numerator: int, denominator: int) -> int:
    """
    >>> round_half_up(5, 2), round_half_up(-5, 2)
    (3, -2)
    """
    return (2 * numerator + denominator) // (2 * denominator)
