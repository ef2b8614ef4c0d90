"""How many units have more than the policy's own bounds let count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from proxy.compiler.aggregate_sql import RowSource
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.select_list import Output, finished
from proxy.compiler.statistic_sql import statistic_sql
from proxy.compiler.unit_gathering import gathered_sql, in_group_sql, rows_of_units
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, DeviationMean, KeptUnits, NoisyStatistic, UnitExtreme


def clip_scan(plan: BlockPlan, binds: Binds) -> BackendQuery:
    """Rows as of compiler.bound_scan: band 1 of the units that keep to all bounds, band 2 of those that do not.

    What is cut below a join is not seen: those rows are gone before.
    """
    unit = plan.neighbours
    assert isinstance(unit, UnitNeighbours), "rows by themselves are not cut"
    inner, rows = Output(), rows_of_units(plan, binds)
    exceeds = " OR ".join(_exceeds(plan, unit, inner, rows))
    source = gathered_sql(plan, unit, inner, rows)
    by_unit = (
        f"SELECT CASE WHEN {exceeds} THEN 2 ELSE 1 END AS band FROM ({source}) g GROUP BY unit"
    )
    sql = f"SELECT 0, u.band, pg_catalog.count(*), 0 FROM ({by_unit}) u GROUP BY u.band"
    compiled = finished(sql, plan, (), binds, (), (), None)
    return replace(compiled, keys=0, has_sub_partition=False)


def _exceeds(
    plan: BlockPlan, unit: UnitNeighbours, inner: Output, source: RowSource
) -> Iterator[str]:
    """When a unit has more than a bound lets count, over its groups."""
    binds = source.binds
    own = [one for one in plan.releases if isinstance(one, NoisyStatistic) and one.total]
    rows = inner.add("pg_catalog.count(*)")
    of_all_rows = sum(
        isinstance(one, UnitExtreme | KeptUnits | DeviationMean) for one in plan.releases
    )
    if len(own) + of_all_rows < len(plan.releases):
        yield f"pg_catalog.sum({in_group_sql(rows, unit, binds)}) > {binds.number(unit.rows)}"
        if unit.rows_per_group is not None:
            yield f"pg_catalog.max(v{rows}) > {binds.number(unit.rows_per_group, 'bigint')}"
    else:
        yield "false"
    spread = bool(plan.keys) and plan.groups() != 1
    if spread and unit.groups is not None:
        yield f"pg_catalog.count(*) > {binds.number(unit.groups, 'bigint')}"
    for release in own:
        total = f"v{inner.add(statistic_sql(release, source))}::numeric"
        assert release.total is not None
        size, low, high = f"pg_catalog.sum({total})", release.total.low, release.total.high
        if spread:
            size, low, high = f"pg_catalog.sum(pg_catalog.abs({total}))", 0, release.total.most
        yield f"coalesce({size} NOT BETWEEN {binds.number(low)} AND {binds.number(high)}, false)"
