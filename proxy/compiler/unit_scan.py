"""Units of many rows: rows are gathered per unit, bounded there, then added up."""

from __future__ import annotations

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.compiler.aggregate_sql import RowSource, count_sql, extreme_sql, total_sql, values_sql
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.identifiers import column_sql
from proxy.compiler.relation_sql import relation_sql
from proxy.compiler.select_list import Output, finished, key_sql, where_sql
from proxy.compiler.statistic_sql import RowSum, centred_row_sum, row_sum, rows_sql
from proxy.compiler.sub_partitions import seed_sql, sub_partition_sql
from proxy.planner.plan import (
    BlockPlan,
    DistinctCount,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitNeighbours,
)
from proxy.planner.statistics import Counted, Statistic
from proxy.query.ir.query_aggregates import AggregateKind

_BIGINT_SAFE = 2**62


def unit_scan(
    plan: BlockPlan, releases: tuple[int, ...], unit: UnitNeighbours, binds: Binds
) -> BackendQuery:
    """SELECT ... FROM (per unit [and key], groups cut where a unit may be in too many) GROUP BY keys, cell."""
    inner, outer = Output(), Output()
    rows = RowSource(binds, inner=False)
    spread = bool(plan.keys) and plan.groups() != 1
    slots = tuple(_slots(plan.releases[n], unit, spread, inner, outer, rows) for n in releases)
    units = None if plan.selection is None else outer.add("pg_catalog.count(*)")
    head = [f"{key_sql(key, binds)} AS k{i}" for i, key in enumerate(plan.keys, 1)]
    names = [f"k{i}" for i in range(1, len(plan.keys) + 1)]
    seeds: tuple[str, ...] = ()
    if plan.sub_partitions:
        sub_partition, seeds = sub_partition_sql((unit.column,), plan.sub_partitions, binds)
        head.append(f"{sub_partition} AS cell")
        names.append("cell")
    gathered = [f"{column_sql(unit.column)} AS unit", *head]
    gathered += [f"{sql} AS v{n}" for sql, n in inner.expressions.items()]
    # The unit first: an index on (unit, keys) then serves the grouping (docs/design/backends.md 4).
    by = ", ".join([column_sql(unit.column), *(str(i + 2) for i in range(len(plan.keys)))])
    # Unlike in row_scan, listed keys are picked row by row: with the condition the planner takes the index.
    gathered_from = f"{relation_sql(plan.source, binds)}{where_sql(plan, unit.column, binds)}"
    source = f"SELECT {', '.join(gathered)} FROM {gathered_from} GROUP BY {by}"
    if spread and unit.groups is not None:
        source, seed = _select_groups(source, plan, unit.groups, binds)
        seeds += (seed,)
    if spread and _needs_totals(plan, unit):
        source = _with_totals(source, unit, inner, binds)
    listed = [*names, *outer.expressions] or ["pg_catalog.count(*)"]
    group = ", ".join(str(i + 1) for i in range(len(names)))
    sql = f"SELECT {', '.join(listed)} FROM ({source}) u"
    sql += f" GROUP BY {group}" if group else ""
    return finished(sql, plan, releases, binds, seeds, slots, units)


def _needs_totals(plan: BlockPlan, unit: UnitNeighbours) -> bool:
    """Whether the rows of a unit must be counted across its groups."""
    counts = any(isinstance(release, NoisyStatistic | RecentredMean) for release in plan.releases)
    return counts and unit.is_summed


def _select_groups(source: str, plan: BlockPlan, groups: int, binds: Binds) -> tuple[str, str]:
    """Of each unit its first groups in keyed-hash order: what a unit keeps depends on its own rows and the
    seed only."""
    keys = ", ".join(f"k{i}" for i in range(1, len(plan.keys) + 1))
    seed, name = seed_sql("order", binds)
    order = f"pg_catalog.hash_record_extended(ROW({keys}), {seed}), {keys}"
    rank = f"pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY {order}) AS rank"
    most = binds.number(groups, "bigint")
    return f"SELECT * FROM (SELECT *, {rank} FROM ({source}) g) c WHERE rank <= {most}", name


def _with_totals(source: str, unit: UnitNeighbours, inner: Output, binds: Binds) -> str:
    """Adds for every count how many rows of the unit count in all its groups together. No order is needed, so
    that an index on (unit, keys) serves it: a third of the time that running sums in hash order took."""
    totals = [
        f"(pg_catalog.sum({_in_group(number, unit, binds)}) OVER (PARTITION BY unit))::bigint AS total{number}"
        for sql, number in inner.expressions.items()
        if sql.startswith("pg_catalog.count")
    ]
    return f"SELECT *, {', '.join(totals)} FROM ({source}) g"


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
        case OrderStatistic():
            raise AssertionError("order statistics stand apart")
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

    Of centred numbers the sum of all rows would say something else than that of those which count: such a unit
    adds its mean so many times.
    """
    total = inner.add(bounded.sql)
    value = f"v{total}"
    counted = binds.number(unit.rows, "bigint")
    if spread or bounded.centred:
        rows = inner.add(bounded.count)
        counted = _clamped_rows(rows, unit, spread, binds)
        if bounded.centred:
            scaled_sum = f"pg_catalog.round({value}::numeric * {counted} / v{rows})"
            value = f"CASE WHEN v{rows} <= {counted} THEN {value} ELSE {scaled_sum} END"
    least, most = min(0, bounded.low), max(0, bounded.high)
    kind = "bigint" if unit.rows * max(-least, most) < _BIGINT_SAFE else "numeric"
    low, high = binds.number(least, kind), binds.number(most, kind)
    clamped = f"least(greatest({value}, {counted} * {low}), {counted} * {high})"
    # NULL (no value in this unit) must stay nothing: greatest and least skip NULL.
    return outer.add(f"pg_catalog.sum(CASE WHEN v{total} IS NOT NULL THEN {clamped} END)")


def _clamped_rows(number: int, unit: UnitNeighbours, spread: bool, binds: Binds) -> str:
    """How many of a unit's rows in one group count towards its bound."""
    rows = binds.number(unit.rows, "bigint")
    if not spread:
        return f"least(v{number}, {rows})"
    there = _in_group(number, unit, binds)
    if not unit.is_summed:
        return there
    # A unit of too many rows keeps the same share of each group, rounded down: never more than so many.
    share = f"pg_catalog.div({there}::numeric * {rows}, total{number})::bigint"
    return f"CASE WHEN total{number} <= {rows} THEN {there} ELSE {share} END"


def _in_group(number: int, unit: UnitNeighbours, binds: Binds) -> str:
    """How many rows a unit may bring to one group, of those that it has there."""
    if unit.rows_per_group is None:
        return f"v{number}"
    return f"least(v{number}, {binds.number(min(unit.rows, unit.rows_per_group), 'bigint')})"
