"""Exact table + plan + bits -> noisy table. The only place where exact numbers become public ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from typing_extensions import assert_never

from proxy.base.limits import NOISY_PARTS_PER_BLOCK
from proxy.base.slots import Slots
from proxy.base.sql_types import SqlType
from proxy.exact.table import ExactRow, ExactTable, added_up, by_keys, places
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
from proxy.mechanisms.estimate import Estimate
from proxy.planner.key_plans import Selection
from proxy.planner.plan import (
    Answer,
    BlockPlan,
    ClippedMean,
    DistinctCount,
    Gate,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
)
from proxy.policy.policy_model import MedianNoise
from proxy.query.ir.noisy_expressions import NoisyExpression, parts_of
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.deriving import answered, on_grid
from proxy.release.expression_intervals import interval_of
from proxy.release.noisy_interval import NoInterval, NoisyInterval
from proxy.release.noisy_relation import NoisyRow, NoisyTable, NoisyValue, missing
from proxy.release.ordering import order_statistic_of
from proxy.release.rounding import rounded

_ONE = Fraction(1)


def release_block(plan: BlockPlan, tables: Sequence[ExactTable], bits: RandomBits) -> NoisyTable:
    """The noisy relation of one block.

    Given    tables: what the compiled statements of this very plan returned
    Gives    one row per combination of public key values, in the policy's order, also for empty groups;
             with private keys one row per group that the selection keeps, in the order of their texts;
             exactly one row without GROUP BY
    """
    grouped = [by_keys(table) for table in tables]
    drawing = places(tables)
    rows, clipped = [], dict(plan.clipped)
    is_selected = any(table.selected for table in tables[:1])
    groups = list(_groups(plan, grouped, bits, is_selected))
    interval: Callable[[NoisyExpression, Sequence[NoisyValue]], NoisyInterval | NoInterval]
    interval = interval_of if _are_few(plan, len(groups)) else _too_many
    for keys in groups:
        drawn: dict[int, NoisyValue] = {}
        for number, table, slots in drawing:
            group = grouped[table].get(keys, [])
            release = plan.releases[number]
            if number in plan.withheld:
                drawn[number] = missing(_ONE, release.aggregate.type)
                continue
            drawn[number] = _release(release, slots, group, plan.sub_partitions, bits)
        values = tuple(answered(answer, plan, drawn) for answer in plan.answers)
        if plan.is_rounded:
            values = tuple(map(rounded, values))
        if plan.unstated:
            values = tuple(
                value if plan.unstated.isdisjoint(answer.releases) else _unstated(value)
                for value, answer in zip(values, plan.answers, strict=True)
            )
        if clipped:
            values = tuple(
                replace(value, clipped=_clipped(answer, clipped))
                for value, answer in zip(values, plan.answers, strict=True)
            )
        intervals = tuple(interval(one, values) for one in plan.expressions)
        errors = tuple(
            None if one.expression is None else interval(one.expression, values)
            for one in plan.outputs
        )
        rows.append(NoisyRow(keys=keys, values=values, intervals=intervals, errors=errors))
    return NoisyTable(tuple(rows))


def _unstated(value: NoisyValue) -> NoisyValue:
    """Without its error, which would be that of the noise alone."""
    return replace(value, half_width=None, at=None)


def _clipped(answer: Answer, of_releases: Mapping[int, Fraction]) -> Fraction | None:
    """The largest share of units that what an answer is made of has clamped."""
    return max((of_releases[n] for n in answer.releases if n in of_releases), default=None)


def _are_few(plan: BlockPlan, groups: int) -> bool:
    """Whether the intervals of all groups take seconds at most: what a statement lists is bounded by its text
    alone, and 1,400 columns of 10,000 groups would take minutes. By public numbers."""
    outputs = (one.expression for one in plan.outputs if one.expression is not None)
    parts = sum(1 for one in (*plan.expressions, *outputs) for _ in parts_of(one))
    return groups * parts <= NOISY_PARTS_PER_BLOCK


def _too_many(expression: NoisyExpression, values: Sequence[NoisyValue]) -> NoInterval:
    return NoInterval.TOO_MANY


Keys = tuple[str | None, ...]


def group_selector(plan: BlockPlan, bits: RandomBits) -> Callable[[int], bool] | None:
    """Whether a private group of so many units is shown, to be asked once for each row of the block's first
    table; None where keys are public, or a group has several rows and must be put together first."""
    if plan.selection is None or plan.sub_partitions:
        return None
    return _group_selector(plan.selection, bits)


def _group_selector(selection: Selection, bits: RandomBits) -> Callable[[int], bool]:
    each = selection.each
    return lambda units: partition_selection.is_selected(bits, units, each.epsilon, each.delta)


def _groups(
    plan: BlockPlan,
    grouped: list[dict[Keys, list[ExactRow]]],
    bits: RandomBits,
    selected: bool = False,
) -> Iterable[Keys]:
    if plan.combinations is not None:
        return plan.combinations
    if plan.selection is None:
        return product(*(key.values or () for key in plan.keys))
    selected_keys: Iterable[Keys] = grouped[0]
    if not selected:
        is_selected = _group_selector(plan.selection, bits)
        selected_keys = [
            keys for keys, rows in grouped[0].items() if is_selected(sum(row.units for row in rows))
        ]
    # Sorted by text: the order of the data must not show. NULL comes last, as in PostgreSQL.
    return sorted(
        selected_keys, key=lambda keys: tuple((text is None, text or "") for text in keys)
    )


def _release(
    release: Release, slots: Slots, group: list[ExactRow], sub_partitions: int, bits: RandomBits
) -> NoisyValue:
    kind = release.aggregate.type
    match release:
        case NoisyStatistic():
            exact = added_up(group, slots.total)
            return _in_steps(
                _additive(exact, release.noise, release.grid, kind, bits), release.parts
            )
        case DistinctCount():
            return _additive(added_up(group, slots.count), release.noise, _ONE, kind, bits)
        case RecentredMean():
            return _mean(release, slots, group, bits)
        case OrderStatistic():
            return order_statistic_of(release, slots, group, bits)
        case SampleAggregate():
            # No interval: the scale is private, and the sampling error of the partitions would be left out.
            if not _opens(release.gate, added_up(group, slots.units), bits):
                return missing(release.output_grid, kind)
            outputs = partition_outputs(release, slots, group, sub_partitions)
            found = _aggregated(release, outputs, bits)
            return NoisyValue(index=found, grid=release.output_grid, type=kind, half_width=None)
        case _:
            assert_never(release)


def _additive(
    exact: int, noise: Noise, grid: Fraction, kind: SqlType, bits: RandomBits
) -> NoisyValue:
    noisy = exact + _draw(noise, bits)
    return NoisyValue(
        index=noisy,
        grid=grid,
        type=kind,
        half_width=_half_width(noise),
        at=lambda level: _half_width(noise, level),
    )


def _in_steps(fine: NoisyValue, parts: int) -> NoisyValue:
    """Of a number in parts of a grid step: rounded to whole ones, its interval half a step wider."""
    at, half_width = fine.at, fine.half_width
    if parts == 1:
        return fine
    assert at is not None and half_width is not None
    return replace(
        fine,
        index=round_half_up(fine.index, parts),
        half_width=_widened(half_width, parts),
        at=lambda level: _widened(at(level), parts),
    )


def _widened(half_width: int, parts: int) -> int:
    """In whole steps, rounded up, with half a step more."""
    return -(-(2 * half_width + parts) // (2 * parts))


def _draw(noise: Noise, bits: RandomBits) -> int:
    match noise:
        case LaplaceNoise():
            return discrete_laplace.sample(bits, noise.scale)
        case GaussianNoise():
            return discrete_gaussian.sample(bits, noise.sigma2)
        case _:
            assert_never(noise)


def _half_width(noise: Noise, level: Fraction | float = 0.95) -> int:
    """Half width of the interval, of 95 % where nothing else is wanted."""
    match noise:
        case LaplaceNoise():
            return discrete_laplace.half_width(noise.scale, level)
        case GaussianNoise():
            return discrete_gaussian.half_width(noise.sigma2, level)
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


def _mean(
    release: RecentredMean, slots: Slots, group: list[ExactRow], bits: RandomBits
) -> NoisyValue:
    """Steps of the operand's grid to the finer ones of the answer."""
    measured, kind = release.measured, release.aggregate.type
    low, high, grid = measured.low, measured.high, measured.grid
    if low == high:
        public = low * grid
        return on_grid(_known(public), release.output_grid, kind)
    total, count = added_up(group, slots.total), added_up(group, slots.count)
    found = recentred_mean.release(
        total, count, low, high, release.loss.epsilon, bits, measured.rows
    )
    return on_grid(found.times(grid), release.output_grid, kind)


def _known(value: Fraction) -> Estimate:
    return Estimate(value=value, least=value, most=value, at=lambda _: _known(value))


def partition_outputs(
    release: SampleAggregate, slots: Slots, group: Iterable[ExactRow], sub_partitions: int
) -> list[int]:
    """The result of the aggregate in each partition, on the output grid; the public fill where it is empty.

    Cells are merged into partitions by a fixed public rule, so a unit is in exactly one partition.
    """
    outputs = [release.fill] * release.partitions
    for partition, output in _merged(release, slots, group, sub_partitions):
        outputs[partition] = min(max(output, release.low), release.high)
    return outputs


def _merged(
    release: SampleAggregate, slots: Slots, group: Iterable[ExactRow], sub_partitions: int
) -> Iterator[tuple[int, int]]:
    match release.kind:
        case AggregateKind.MIN | AggregateKind.MAX:
            assert slots.extreme is not None
            farther = min if release.kind is AggregateKind.MIN else max
            found: dict[int, int] = {}
            for row in group:
                value = row.values[slots.extreme]
                if value is not None:
                    partition = row.cell * release.partitions // sub_partitions
                    found[partition] = farther(found.get(partition, value), value)
            yield from found.items()
        case _:
            assert slots.count is not None and slots.total is not None
            ratio = release.measured.grid / release.output_grid
            sums: dict[int, tuple[int, int]] = {}
            for row in group:
                count, total = row.values[slots.count], row.values[slots.total]
                if count and total is not None:
                    partition = row.cell * release.partitions // sub_partitions
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
