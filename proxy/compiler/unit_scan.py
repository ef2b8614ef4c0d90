"""Units of many rows: rows are gathered per unit, bounded there, then added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.compiler.aggregate_sql import RowSource, count_sql, extreme_sql, total_sql, values_sql
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.seeded_keys import spread_texts_sql
from proxy.compiler.select_list import Output, finished, private_key_names
from proxy.compiler.statistic_sql import (
    RowSum,
    centred_row_sum,
    row_sum,
    rows_sql,
    statistic_sql,
)
from proxy.compiler.sub_partitions import sub_partition_sql
from proxy.compiler.unit_gathering import (
    first_groups,
    gathered_sql,
    in_group_sql,
    rows_in_all_sql,
    rows_of_units,
    select_groups,
)
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.statistics import Counted, Statistic
from proxy.query.ir.query_aggregates import AggregateKind

_BIGINT_SAFE = 2**62


def unit_scan(
    plan: BlockPlan, releases: tuple[int, ...], unit: UnitNeighbours, binds: Binds
) -> BackendQuery:
    """SELECT ... FROM (per unit [and key], groups cut where a unit may be in too many) GROUP BY keys, cell."""
    inner = Output()
    spread = bool(plan.keys) and plan.groups() != 1
    rows = rows_of_units(plan, binds)
    found = unit_sums(plan, releases, unit, inner, rows)
    outer = found.outer
    units = None if plan.selection is None else outer.add("pg_catalog.count(*)")
    names = [f"k{i}" for i in range(1, len(plan.keys) + 1)]
    sub_partition = ""
    seeds: tuple[str, ...] = ()
    if plan.sub_partitions:
        hashed_by = (rows.column(unit.column),)
        sub_partition, seeds = sub_partition_sql(hashed_by, plan.sub_partitions, binds)
        names.append("cell")
    source = gathered_sql(plan, unit, inner, rows, cell=sub_partition)
    if spread and unit.groups is not None:
        if unit.is_in_order:
            source = first_groups(source, plan, unit.groups, binds)
        else:
            source, seed = select_groups(source, plan, unit, unit.groups, binds)
            seeds += (seed,)
    if found.totals:
        totals = ", ".join(f"{sql} AS {name}" for name, sql in found.totals.items())
        source = f"SELECT *, {totals} FROM ({source}) g"
    listed = [*names, *outer.expressions] or ["pg_catalog.count(*)"]
    hashed = spread_texts_sql(private_key_names(plan), binds)
    group = ", ".join([*(str(i + 1) for i in range(len(names))), *hashed])
    sql = f"SELECT {', '.join(listed)} FROM ({source}) u"
    sql += f" GROUP BY {group}" if group else ""
    return finished(sql, plan, releases, binds, seeds, found.slots, units)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSums:
    """What is added up of what was gathered by unit. totals: name and SQL of columns over all groups of a unit;
    outer: sums of each group; slots: where they are, of each release."""

    totals: Mapping[str, str]
    outer: Output
    slots: tuple[Slots, ...]


def unit_sums(
    plan: BlockPlan,
    releases: tuple[int, ...],
    unit: UnitNeighbours,
    inner: Output,
    rows: RowSource,
) -> UnitSums:
    """Print the sums of some releases, over rows gathered by unit and group.

    Args:
        plan, releases: The block, and the numbers of the releases.
        unit: The block's neighbours.
        inner: What is gathered; what the sums need is added.
        rows: Rows of the scan.
    """
    outer, spread = Output(), bool(plan.keys) and plan.groups() != 1
    slots = tuple(_slots(plan.releases[n], unit, spread, inner, outer, rows) for n in releases)
    totals = dict(_totals(plan, releases, unit, inner, rows)) if spread else {}
    return UnitSums(totals=totals, outer=outer, slots=slots)


def _totals(
    plan: BlockPlan,
    releases: tuple[int, ...],
    unit: UnitNeighbours,
    inner: Output,
    rows: RowSource,
) -> Iterator[tuple[str, str]]:
    """For every count that is bounded how many rows of the unit count in all its groups together, and the
    sizes of what has a bound of its own. No order is needed, so that an index on (unit, keys) serves it: a
    third of the time that running sums in hash order took."""
    found = [plan.releases[number] for number in releases]
    counts, sizes = set(), {}
    for release in found:
        match release:
            case NoisyStatistic(total=UnitTotal()):
                # Of values of both signs the sum is no size, even where a given total is not below 0.
                sizes[inner.add(statistic_sql(release, rows))] = release.is_signed
            case NoisyStatistic() if unit.is_summed:
                counts.add(inner.add(rows_sql(release, rows)))
            case RecentredMean() if unit.is_summed:
                counts.add(inner.add(values_sql(release.measured, rows)))
            case _:
                pass
    for number in sorted(counts):
        there = in_group_sql(number, unit, rows.binds)
        yield f"total{number}", rows_in_all_sql(there)
    for number, is_signed in sorted(sizes.items()):
        size = f"pg_catalog.abs(v{number}::numeric)" if is_signed else f"v{number}"
        yield f"size{number}", f"pg_catalog.sum({size}) OVER (PARTITION BY unit)"


def _slots(
    release: Release,
    unit: UnitNeighbours,
    spread: bool,
    inner: Output,
    outer: Output,
    rows: RowSource,
) -> Slots:
    binds = rows.binds
    match release:
        case NoisyStatistic(total=UnitTotal() as most):
            number = inner.add(statistic_sql(release, rows))
            return Slots(total=outer.add(_clamped_total(number, most, spread, binds)))
        case NoisyStatistic(statistic=Statistic.ROWS):
            number = inner.add(rows_sql(release, rows))
            return Slots(
                total=outer.add(f"pg_catalog.sum({_clamped_rows(number, unit, spread, binds)})")
            )
        case NoisyStatistic():
            bounded = row_sum(release, rows)
            return Slots(total=_bounded_sum(bounded, unit, spread, inner, outer, binds))
        case DistinctCount():
            # Another column that holds the unit is NULL where a LEFT JOIN has found no partner.
            operand = None if release.operand == unit.column else release.operand
            counted = Counted(operand=operand, condition=release.condition, never_null=False)
            number = inner.add(count_sql(counted, rows))
            return Slots(count=outer.add(f"pg_catalog.sum(least(v{number}, 1))"))
        case RecentredMean():
            number = inner.add(values_sql(release.measured, rows))
            count = outer.add(f"pg_catalog.sum({_clamped_rows(number, unit, spread, binds)})")
            bounded = centred_row_sum(release.measured, rows)
            return Slots(
                count=count, total=_bounded_sum(bounded, unit, spread, inner, outer, binds)
            )
        case SampleAggregate(kind=AggregateKind.AVG):
            number = inner.add(values_sql(release.measured, rows))
            total = inner.add(total_sql(release.measured, rows))
            return Slots(
                count=outer.add(f"pg_catalog.sum(v{number})"),
                total=outer.add(f"pg_catalog.sum(v{total})"),
                units=outer.add(f"pg_catalog.count(v{total})"),
            )
        case SampleAggregate():
            number = inner.add(extreme_sql(release.kind, release.measured, rows))
            return Slots(
                extreme=outer.add(f"pg_catalog.{release.kind.value}(v{number})"),
                units=outer.add(f"pg_catalog.count(v{number})"),
            )
        case OrderStatistic() | UnitExtreme() | KeptUnits() | DeviationMean():
            raise AssertionError("these stand apart")
        case _:
            assert_never(release)


def _bounded_sum(
    bounded: RowSum,
    unit: UnitNeighbours,
    spread: bool,
    inner: Output,
    outer: Output,
    binds: Binds,
) -> int:
    """What a unit adds is cut to what so many rows as count could add at most.

    Of centred numbers the sum of all rows would say something else than that of those which count, and so it
    would where it is divided by how many count: such a unit adds its mean so many times.
    """
    total = inner.add(bounded.sql)
    value, all_count = f"v{total}", None
    counted = binds.number(unit.rows, "bigint")
    if spread or bounded.is_of_mean:
        rows = inner.add(bounded.count)
        counted, all_count = (
            _clamped_rows(rows, unit, spread, binds),
            _all_rows_count(rows, unit, spread, binds),
        )
        if bounded.is_of_mean:
            scaled_sum = f"pg_catalog.round({value}::numeric * {counted} / v{rows})"
            value = f"CASE WHEN v{rows} <= {counted} THEN {value} ELSE {scaled_sum} END"
    least, most = min(0, bounded.low), max(0, bounded.high)
    kind = "bigint" if unit.rows * max(-least, most) < _BIGINT_SAFE else "numeric"
    low, high = binds.number(least, kind), binds.number(most, kind)
    clamped = f"least(greatest({value}, {counted} * {low}), {counted} * {high})"
    if all_count is not None:
        # Most units: their sum is within what their rows can add up to, and mostly a bigint, as is what is cut.
        whole = f"v{total}::{kind}"
        clamped = f"CASE WHEN {all_count} THEN {whole} ELSE ({clamped})::{kind} END"
    # NULL (no value in this unit) must stay nothing: greatest and least skip NULL.
    return outer.add(f"pg_catalog.sum(CASE WHEN v{total} IS NOT NULL THEN {clamped} END)")


def _clamped_total(number: int, most: UnitTotal, spread: bool, binds: Binds) -> str:
    """The sum of what units add, with what each adds in all groups cut to its bound. A unit above it keeps the
    same share of each group's sum, towards 0 in whole parts of a step."""
    value = f"v{number}"
    if not spread:
        low, high = binds.number(most.low), binds.number(most.high)
        clamped = f"least(greatest({value}::numeric, {low}), {high})"
        # NULL (no value in this unit) must stay nothing: greatest and least skip NULL.
        return f"pg_catalog.sum(CASE WHEN {value} IS NOT NULL THEN {clamped} END)"
    # What is added is at most the bound's parts: within it the sum is below it, above it the share is.
    kind = "bigint" if most.most * most.parts < _BIGINT_SAFE else "numeric"
    parts, bound = binds.number(most.parts, kind), binds.number(most.most * most.parts)
    share = f"pg_catalog.div({value}::numeric * {bound}, size{number})::{kind}"
    within = f"size{number} <= {binds.number(most.most)}"
    added = f"CASE WHEN {within} THEN {value}::{kind} * {parts} ELSE {share} END"
    return f"pg_catalog.sum({added})"


def _all_rows_count(number: int, unit: UnitNeighbours, spread: bool, binds: Binds) -> str | None:
    """Whether `_clamped_rows` is the number itself; None where that is no shorter."""
    if spread and (unit.rows_per_group is not None or not unit.is_summed):
        return None
    name = "total" if spread else "v"
    return f"{name}{number} <= {binds.number(unit.rows, 'bigint')}"


def _clamped_rows(number: int, unit: UnitNeighbours, spread: bool, binds: Binds) -> str:
    """How many of a unit's rows in one group count towards its bound."""
    rows = binds.number(unit.rows, "bigint")
    if not spread:
        return f"least(v{number}, {rows})"
    there = in_group_sql(number, unit, binds)
    if not unit.is_summed:
        return there
    # A unit of too many rows keeps the same share of each group, rounded down: never more than so many.
    share = f"pg_catalog.div({there}::numeric * {rows}, total{number})::bigint"
    return f"CASE WHEN total{number} <= {rows} THEN {there} ELSE {share} END"
