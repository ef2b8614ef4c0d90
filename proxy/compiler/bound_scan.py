"""How many units have a total of about which size: what bounds on a unit are chosen by."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proxy.compiler.aggregate_sql import RowSource
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.select_list import Output, finished, key_sql
from proxy.compiler.statistic_sql import centred_row_sum, statistic_sql
from proxy.compiler.unit_gathering import gathered_sql, in_group_sql, select_groups
from proxy.mechanisms.unit_means import PARTS
from proxy.planner.bound_choices import BoundChoice
from proxy.planner.neighbour_kinds import UnitNeighbours
from proxy.planner.plan import BlockPlan, NoisyStatistic, RecentredMean


def bound_scan(plan: BlockPlan) -> BackendQuery:
    """One row per bound that is to be chosen, and band of totals (mechanisms.private_bound.UnitTotals).

    Gives    rows of four numbers: the place of the choice in plan.choices, the band, how many units are in it,
             the sum of their totals. With means that follow (mechanisms.unit_means.UnitMeans) of six, and their
             places after those of the choices: the total is how many values they have, then come the sum of
             these and that of the units' means
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
    means = [_mean(plan, number, inner, rows) for number in plan.means_of_totals]
    source = gathered_sql(plan, unit, head, inner, binds)
    seeds: tuple[str, ...] = ()
    if plan.keys and plan.groups() != 1 and unit.groups is not None:
        source, seed = select_groups(source, plan, unit.groups, binds)
        seeds = (seed,)
    totals = [f"pg_catalog.sum({value})" for value in values] if plan.keys else values
    named = [f"{total} AS t{place}" for place, total in enumerate(totals)]
    for place, mean in enumerate(means, len(totals)):
        named += [
            f"{mean.count} AS t{place}",
            f"{mean.sum} AS s{place}",
            f"{mean.mean} AS m{place}",
        ]
    listed = ", ".join(named)
    source = f"SELECT {listed} FROM ({source}) g{' GROUP BY unit' if plan.keys else ''}"
    bands = [
        f"{binds.number(place, 'integer')}, {_band_sql(place, choice, binds)}, t{place}::numeric"
        for place, choice in enumerate(plan.choices.values())
    ]
    columns, added = "place, band, total", ""
    if means:
        assert plan.rows_choice is not None
        # A mean is bounded by how many values a unit has, which may be fewer than its rows.
        bands = [f"{band}, 0::numeric, 0::numeric" for band in bands]
        for place in range(len(totals), len(totals) + len(means)):
            head_sql = (
                f"{binds.number(place, 'integer')}, {_band_sql(place, plan.rows_choice, binds)}"
            )
            bands.append(f"{head_sql}, t{place}::numeric, s{place}::numeric, m{place}::numeric")
        columns, added = (
            f"{columns}, added, mean",
            ", pg_catalog.sum(c.added), pg_catalog.sum(c.mean)",
        )
    listed_bands = ", ".join(f"({band})" for band in bands)
    sql = (
        f"SELECT c.place, c.band, pg_catalog.count(*), pg_catalog.sum(c.total){added} FROM ({source}) u,"
        f" LATERAL (VALUES {listed_bands}) c({columns}) WHERE c.band <> 0 GROUP BY c.place, c.band"
    )
    compiled = finished(sql, plan, (), binds, seeds, (), None)
    return replace(compiled, keys=0, has_sub_partition=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _MeanSql:
    """Of one unit: how many values it has, their sum, and their mean in parts of a step."""

    count: str
    sum: str
    mean: str


def _mean(plan: BlockPlan, number: int, inner: Output, rows: RowSource) -> _MeanSql:
    release = plan.releases[number]
    assert isinstance(release, RecentredMean)
    centred, binds = centred_row_sum(release.measured, rows), rows.binds
    count, total = f"v{inner.add(centred.count)}", f"v{inner.add(centred.sql)}"
    low, high = binds.number(centred.low), binds.number(centred.high)
    within = f"least(greatest({total}::numeric, {count} * {low}), {count} * {high})"
    # A sum is NULL, and its mean, where there is no value: that unit is in no band.
    share = f"pg_catalog.div({within} * {binds.number(PARTS)}, nullif({count}, 0)::numeric)"
    return _MeanSql(count=count, sum=within, mean=share)


def _band_sql(place: int, choice: BoundChoice, binds: Binds) -> str:
    """0 for a total of 0 or none, else the number of the bound that it is within, from 1; negated below 0."""
    edges = binds.add([str(edge) for edge in (1, *(b + 1 for b in choice.bounds))], "numeric[]")
    value = f"coalesce(t{place}, 0)::numeric"
    size = f"pg_catalog.width_bucket(pg_catalog.abs({value}), {edges})"
    return f"CASE WHEN {value} < 0 THEN -{size} ELSE {size} END"
