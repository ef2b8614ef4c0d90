"""Releases that need the values themselves: counts of distinct values, and order statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.base.sql_types import SqlType
from proxy.compiler.aggregate_sql import RowSource, index_sql
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.full_joins import condition, conditions
from proxy.compiler.relation_sql import source_sql
from proxy.compiler.seeded_keys import spread_sql
from proxy.compiler.select_list import (
    distinct_sql,
    finished,
    key_sql,
    named_by,
    private_key_names,
    row_conditions,
)
from proxy.compiler.sub_partitions import row_order_sql, seed_sql
from proxy.compiler.unit_gathering import gathered_unit_sql
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    SampleAggregate,
    UnitExtreme,
)
from proxy.query.ir.query_aggregates import AggregateKind

_MOST_ROWS = 2**40  # of a unit, whose parts fit in a bigint; a table has less than twice as many


def value_scan(plan: BlockPlan, number: int, binds: Binds) -> BackendQuery:
    """Distinct values or all values of one release; of one unit at most `rows` of them count, chosen by the
    keyed hash of unit and value, so that what a unit keeps depends on its own rows and the seed only, and all
    values lose the same share of their rows. Where rows have weights all of them count."""
    release = plan.releases[number]
    names = [f"k{i}" for i in range(1, len(plan.keys) + 1)]
    listed = [
        f"{key_sql(key, binds)} AS {name}" for key, name in zip(plan.keys, names, strict=True)
    ]
    match release:
        case DistinctCount():
            operand = release.operand
            value, kind = f"({distinct_sql(release, binds)})", operand.type
            only, rows, distinct = release.condition, plan.neighbours.rows, True
        case OrderStatistic():
            value = f"({index_sql(release.measured, RowSource(binds, inner=False))})"
            operand, kind = release.measured.operand, SqlType.NUMERIC
            only, rows, distinct = release.measured.condition, release.measured.rows, False
        case (
            NoisyStatistic()
            | RecentredMean()
            | DeviationMean()
            | SampleAggregate()
            | UnitExtreme()
            | KeptUnits()
        ):
            raise AssertionError("only these stand apart")
        case _:
            assert_never(release)
    by_unit = plan.neighbours if isinstance(plan.neighbours, UnitNeighbours) else None
    unit = None if by_unit is None else by_unit.column
    not_null = plan.neighbours.not_null if isinstance(plan.neighbours, RowNeighbours) else unit
    found = row_conditions(plan, not_null, binds)
    found += [condition(f"{value} IS NOT NULL", operand), *conditions(only, binds)]
    first_unit = [] if unit is None else [f"{column_sql(unit)} AS unit"]
    gathered = ", ".join([*first_unit, *listed, f"{value} AS v"])
    source = f"SELECT {gathered} FROM {source_sql(plan.source, found, binds, *named_by(plan))}"
    seeds: tuple[str, ...] = ()
    columns = ", ".join([*names, "v"])
    spread: list[str] = []
    if (
        by_unit is not None
    ):  # else a unit has a row or two, and what is grouped may be where the rows are
        private = [(name, SqlType.TEXT) for name in private_key_names(plan)]
        spread = spread_sql([*private, ("v", kind)], binds)
    grouped_by = ", ".join([columns, *spread])
    within_rank, counted = "", ["pg_catalog.count(*)"]
    if isinstance(release, OrderStatistic) and release.weights is not None:
        in_all = "pg_catalog.count(*) OVER (PARTITION BY unit) AS of_unit"
        source = f"SELECT {columns}, {in_all} FROM ({source}) d"
        counted = [f"pg_catalog.sum({sql})" for sql in _weights(release, binds)]
    elif by_unit is not None:
        seed, name = seed_sql("order", binds)
        seeds = (name,)
        hashed = row_order_sql([gathered_unit_sql(by_unit, "d", seed), *names, "v"], seed)
        order = f"{hashed}, {columns}"
        ranked = f"pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY {order}) AS rank"
        if distinct:
            source = f"SELECT unit, {columns} FROM ({source}) s GROUP BY unit, {grouped_by}"
        source = f"SELECT {columns}, {ranked} FROM ({source}) d"
        within_rank = f" WHERE rank <= {binds.number(rows, 'bigint')}"
    if isinstance(release, OrderStatistic):
        of = f"({source}) u{within_rank}"
        sql = _values(release, of, counted, names, grouped_by, binds)
        slots = Slots(extreme=0, count=1, units=2 if len(counted) > 1 else None)
    else:
        head = ", ".join([*names, "pg_catalog.count(DISTINCT v)"])
        group = f" GROUP BY {', '.join(names)}" if names else ""
        sql = f"SELECT {head} FROM ({source}) u{within_rank}{group}"
        slots = Slots(count=0)
    return finished(sql, replace(plan, sub_partitions=0), (number,), binds, seeds, (slots,), None)


def _weights(release: OrderStatistic, binds: Binds) -> tuple[str, str]:
    """Of a row, and of its unit divided over its rows. In parts of one, towards 0: all rows of a unit together
    weigh as many rows as count, at most, or one unit."""
    rows = binds.number(min(release.measured.rows, _MOST_ROWS), "bigint")
    one = binds.number(release.parts, "bigint")
    together = binds.number(release.parts * min(release.measured.rows, _MOST_ROWS), "bigint")
    weight = f"(CASE WHEN of_unit <= {rows} THEN {one} ELSE {together} / of_unit END)"
    return weight, f"{one} / of_unit"


def _values(
    release: OrderStatistic,
    source: str,
    counted: Sequence[str],
    names: list[str],
    grouped_by: str,
    binds: Binds,
) -> str:
    """Each distinct value with its number of rows: of MIN and MAX only as many as can matter, of quantiles
    only those near the rank; so what comes back does not grow with the table."""
    columns = ", ".join([*names, "v"])
    numbers = ["n", "units"][: len(counted)]
    listed = ", ".join(f"{sql} AS {name}" for sql, name in zip(counted, numbers, strict=True))
    values = f"SELECT {columns}, {listed} FROM {source} GROUP BY {grouped_by}"
    if release.needed is None:
        return values
    if release.aggregate.fraction is not None:
        fraction = release.aggregate.fraction
        return _near_rank(fraction, release.needed, values, numbers, names, binds)
    word = "DESC" if release.aggregate.kind is AggregateKind.MAX else "ASC"
    most = binds.number(release.needed, "bigint")
    if not names:
        return f"{values} ORDER BY v {word} LIMIT {most}"
    place = (
        f"pg_catalog.row_number() OVER (PARTITION BY {', '.join(names)} ORDER BY v {word}) AS place"
    )
    return f"SELECT {columns}, n FROM (SELECT *, {place} FROM ({values}) c) p WHERE place <= {most}"


def _near_rank(
    fraction: Fraction,
    needed: int,
    counted: str,
    numbers: Sequence[str],
    names: list[str],
    binds: Binds,
) -> str:
    """Values whose rank is off by `needed` rows or more are put together: those below the rank at the
    largest of them, those above at the least. The mechanism's distances are capped there, so they and all
    grid beyond have the same distance as before, and so has everything between: the law is the same.
    """
    over = f"PARTITION BY {', '.join(names)}" if names else ""
    upto = f"pg_catalog.sum(n) OVER ({over} ORDER BY v) AS upto"
    whole = f"pg_catalog.sum(n) OVER ({over}) AS whole"
    above, below = (binds.number(part) for part in (fraction.numerator, fraction.denominator))
    target = f"whole * {above}"
    distance = binds.number(needed * fraction.denominator)
    side = (
        f"CASE WHEN {target} - upto * {below} >= {distance} THEN -1"
        f" WHEN (upto - n) * {below} - {target} >= {distance} THEN 1 ELSE 0 END"
    )
    sided = f"SELECT *, {side} AS side FROM (SELECT *, {upto}, {whole} FROM ({counted}) c) p"
    value = "CASE WHEN side < 0 THEN pg_catalog.max(v) ELSE pg_catalog.min(v) END"
    listed = ", ".join([*names, value, *(f"pg_catalog.sum({number})" for number in numbers)])
    group = ", ".join([*names, "side", "CASE WHEN side = 0 THEN v END"])
    return f"SELECT {listed} FROM ({sided}) s GROUP BY {group}"
