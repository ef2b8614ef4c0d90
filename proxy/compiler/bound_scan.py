"""How many units have a total of about which size: what bounds on a unit are chosen by."""

from __future__ import annotations

from dataclasses import replace

from proxy.compiler.aggregate_sql import RowSource
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.select_list import Output, finished, key_sql
from proxy.compiler.statistic_sql import statistic_sql
from proxy.compiler.unit_gathering import gathered_sql, in_group_sql, select_groups
from proxy.planner.bound_choices import BoundChoice
from proxy.planner.plan import BlockPlan, NoisyStatistic, UnitNeighbours


def bound_scan(plan: BlockPlan) -> BackendQuery:
    """One row per bound that is to be chosen, and band of totals (mechanisms.private_bound.UnitTotals).

    Gives    rows of four numbers: the place of the choice in plan.choices, the band, how many units are in it,
             the sum of their totals
    """
    unit, binds = plan.neighbours, Binds()
    assert isinstance(unit, UnitNeighbours), "rows by themselves have no totals"
    rows, inner = RowSource(binds, inner=False), Output()
    head = [f"{key_sql(key, binds)} AS k{i}" for i, key in enumerate(plan.keys, 1)]
    values = []
    for number in plan.choices:
        if number is None:
            counted = inner.add("pg_catalog.count(*)")
            values.append(in_group_sql(counted, unit, binds))
            continue
        release = plan.releases[number]
        assert isinstance(release, NoisyStatistic)
        value = f"v{inner.add(statistic_sql(release, rows))}"
        values.append(f"pg_catalog.abs({value}::numeric)" if plan.keys else value)
    source = gathered_sql(plan, unit, head, inner, binds)
    seeds: tuple[str, ...] = ()
    if plan.keys and plan.groups() != 1 and unit.groups is not None:
        source, seed = select_groups(source, plan, unit.groups, binds)
        seeds = (seed,)
    totals = [f"pg_catalog.sum({value})" for value in values] if plan.keys else values
    listed = ", ".join(f"{total} AS t{place}" for place, total in enumerate(totals))
    source = f"SELECT {listed} FROM ({source}) g{' GROUP BY unit' if plan.keys else ''}"
    bands = ", ".join(
        f"({binds.number(place, 'integer')}, {_band_sql(place, choice, binds)}, t{place}::numeric)"
        for place, choice in enumerate(plan.choices.values())
    )
    sql = (
        f"SELECT c.place, c.band, pg_catalog.count(*), pg_catalog.sum(c.total) FROM ({source}) u,"
        f" LATERAL (VALUES {bands}) c(place, band, total) WHERE c.band <> 0 GROUP BY c.place, c.band"
    )
    compiled = finished(sql, plan, (), binds, seeds, (), None)
    return replace(compiled, keys=0, has_sub_partition=False)


def _band_sql(place: int, choice: BoundChoice, binds: Binds) -> str:
    """0 for a total of 0 or none, else the number of the bound that it is within, from 1; negated below 0."""
    edges = binds.add([str(edge) for edge in (1, *(b + 1 for b in choice.bounds))], "numeric[]")
    value = f"coalesce(t{place}, 0)::numeric"
    size = f"pg_catalog.width_bucket(pg_catalog.abs({value}), {edges})"
    return f"CASE WHEN {value} < 0 THEN -{size} ELSE {size} END"
