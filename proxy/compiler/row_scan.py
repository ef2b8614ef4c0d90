"""Rows as units, or units of one row each: all partial results in one aggregation."""

from __future__ import annotations

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.compiler.aggregate_sql import (
    RowSource,
    extreme_sql,
    filter_sql,
    has_computed,
    total_sql,
    values_sql,
)
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.relation_sql import source_sql
from proxy.compiler.seeded_keys import FEW_ROWS, spread_texts_sql
from proxy.compiler.select_list import (
    Output,
    any_key_sql,
    conditions_of_all_groups,
    distinct_sql,
    finished,
    key_sql,
    listed_groups_sql,
    named_by,
    private_keys_sql,
    row_conditions,
)
from proxy.compiler.statistic_sql import centred_sql, statistic_sql
from proxy.compiler.sub_partitions import sub_partition_sql
from proxy.kernel.neighbour_kinds import RowNeighbours
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
from proxy.query.ir.query_aggregates import AggregateKind

_FEW_GROUPS = (
    1000  # so few that their states in numeric, of 700 bytes, stay in the processor's cache
)


def row_scan(
    plan: BlockPlan, releases: tuple[int, ...], unit: RowNeighbours, binds: Binds
) -> BackendQuery:
    """Over the relation itself; with cells or computed operands over (SELECT keys, cell, values ... LIMIT ALL).

    Then the number of groups is estimated by default, as few: from the cell's expression the planner would
    expect as many groups as there are units, and then neither hash them nor aggregate in parallel.
    """
    groups = plan.groups()
    many = groups is not None and groups <= _FEW_GROUPS
    rows = RowSource(binds, inner=bool(plan.sub_partitions) or has_computed(plan), many=many)
    output = Output()
    slots = tuple(_slots(plan.releases[n], output, rows) for n in releases)
    units = None if plan.selection is None else output.add("pg_catalog.count(*)")
    is_late = bool(groups is not None and plan.keys and not plan.sub_partitions)
    keys = [rows.take((any_key_sql if is_late else key_sql)(key, binds)) for key in plan.keys]
    hashed = [rows.take(sql) for sql in private_keys_sql(plan, binds)]
    if is_late and unit.rows > FEW_ROWS:  # any keys of all these rows are grouped
        hashed = list(keys)
    found = (conditions_of_all_groups if is_late else row_conditions)(plan, unit.not_null, binds)
    source = source_sql(plan.source, found, binds, *named_by(plan))
    seeds: tuple[str, ...] = ()
    if plan.sub_partitions:
        sub_partition, seeds = sub_partition_sql(unit.hashed_by, plan.sub_partitions, binds)
        keys.append(rows.take(sub_partition))
    elif is_late:
        keys = [f"{sql} AS k{i}" for i, sql in enumerate(keys, 1)]
    listed = [*keys, *output.expressions] or ["pg_catalog.count(*)"]
    places = [str(i + 1) for i in range(len(keys))]
    group = ", ".join([*places, *spread_texts_sql(hashed, binds)])
    sql = f"SELECT {', '.join(listed)} FROM {rows.over(source)}"
    sql += f" GROUP BY {group}" if group else ""
    if is_late:
        # Not row by row: to look for a key in a list of 20 costs what a sum costs.
        sql = f"SELECT * FROM ({sql} LIMIT ALL) g WHERE {listed_groups_sql(plan, binds)}"
    return finished(sql, plan, releases, binds, seeds, slots, units)


def _slots(release: Release, output: Output, rows: RowSource) -> Slots:
    match release:
        case NoisyStatistic():
            return Slots(total=output.add(statistic_sql(release, rows)))
        case DistinctCount():
            counted = rows.take(distinct_sql(release, rows.binds))
            only = filter_sql(release.condition, rows)
            return Slots(count=output.add(f"pg_catalog.count(DISTINCT {counted}){only}"))
        case RecentredMean():
            count = output.add(values_sql(release.measured, rows))
            return Slots(count=count, total=output.add(centred_sql(release.measured, rows)))
        case SampleAggregate(kind=AggregateKind.AVG):
            count = output.add(values_sql(release.measured, rows))
            total = output.add(total_sql(release.measured, rows))
            return Slots(count=count, total=total, units=count)
        case SampleAggregate():
            extreme = output.add(extreme_sql(release.kind, release.measured, rows))
            return Slots(extreme=extreme, units=output.add(values_sql(release.measured, rows)))
        case OrderStatistic() | UnitExtreme() | KeptUnits() | DeviationMean():
            raise AssertionError("these stand apart")
        case _:
            assert_never(release)
