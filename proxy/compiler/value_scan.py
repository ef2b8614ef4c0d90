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
from proxy.compiler.seeded_keys import FEW_ROWS, spread_sql
from proxy.compiler.select_list import (
    Output,
    distinct_sql,
    finished,
    key_sql,
    named_by,
    private_key_names,
    row_conditions,
)
from proxy.compiler.sub_partitions import row_order_sql, seed_sql
from proxy.compiler.unit_gathering import gathered_unit_sql
from proxy.compiler.value_counts import (
    LISTED,
    LISTED_ROWS,
    listed_column,
    listed_index_sql,
    sums_of_values,
    values_sql,
)
from proxy.compiler.value_ends import EndRows, end_rows
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
from proxy.query.ir.expressions import ColumnRef

_MOST_ROWS = 2**40  # of a unit, whose parts fit in a bigint; a table has less than twice as many


def value_scan(
    plan: BlockPlan, numbers: tuple[int, ...], sums: tuple[int, ...], binds: Binds
) -> BackendQuery:
    """Distinct values of one release, or all values of the order statistics that have them in common.

    Of one unit at most `rows` of them count, chosen by the keyed hash of unit and value, so that what a unit
    keeps depends on its own rows and the seed only, and all values lose the same share of their rows. Where
    rows have weights all of them count.

    One cut serves several order statistics. Each is private by itself over rows that are cut unit by unit, by a
    seed that no row decides; so they compose as if each had a cut of its own (PROOFS.md 9).

    Args:
        plan: Of the block.
        numbers: Of the releases.
        sums: Of releases that are added up along with them (`has_sums`).
        binds: Of the statement.
    """
    releases = [plan.releases[number] for number in numbers]
    release, ordered = releases[0], [one for one in releases if isinstance(one, OrderStatistic)]
    column = listed_column(plan, releases)
    if column is not None:
        return _listed_scan(plan, numbers, sums, column, binds)
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
    stored = None if isinstance(release, DistinctCount) else release.measured.index
    present = value if stored is None else column_sql(stored)
    found += [condition(f"{present} IS NOT NULL", stored or operand), *conditions(only, binds)]
    ends = end_rows(plan, numbers, binds)
    found += [] if ends is None else [ends.of_rows]
    first_unit = [] if unit is None else [f"{column_sql(unit)} AS unit"]
    gathered = ", ".join([*first_unit, *listed, f"{value} AS v"])
    source = f"SELECT {gathered} FROM {source_sql(plan.source, found, binds, *named_by(plan))}"
    seeds: tuple[str, ...] = ()
    columns = ", ".join([*names, "v"])
    spread: list[str] = []
    if (
        by_unit is not None or plan.neighbours.rows > FEW_ROWS
    ):  # else they may be grouped where they are
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
    if ordered:
        of = f"({source}) u{within_rank}"
        sql = _values(ordered, of, counted, names, grouped_by, ends, binds)
        slots = Slots(extreme=0, count=1, units=2 if len(counted) > 1 else None)
    else:
        head = ", ".join([*names, "pg_catalog.count(DISTINCT v)"])
        group = f" GROUP BY {', '.join(names)}" if names else ""
        sql = f"SELECT {head} FROM ({source}) u{within_rank}{group}"
        slots = Slots(count=0)
    found_in = (slots,) * len(numbers)
    done = finished(sql, replace(plan, sub_partitions=0), numbers, binds, seeds, found_in, None)
    return done if ends is None else replace(done, ends=ends.of)


def _listed_scan(
    plan: BlockPlan,
    numbers: tuple[int, ...],
    sums: tuple[int, ...],
    column: ColumnRef,
    binds: Binds,
) -> BackendQuery:
    """Rows are counted by what a column holds first, in the order of its index; all else is computed of that.

    Rows without a value are in the list, as none of its rows: COUNT(*) is of them, too.
    """
    ordered = [one for n in numbers if isinstance(one := plan.releases[n], OrderStatistic)]
    output = Output({"v": 0})
    slots = Slots(extreme=0, count=output.add(values_sql()))
    along = sums_of_values([plan.releases[n] for n in sums], column, binds, output)
    assert along is not None, "`has_sums` has said so"
    rows_sql = source_sql(plan.source, [], binds, *named_by(plan))
    listed = f"SELECT {column_sql(column)} AS {LISTED}, pg_catalog.count(*) AS {LISTED_ROWS}"
    value = listed_index_sql(ordered[0].measured, binds)
    source = f"(SELECT {value} AS v, * FROM ({listed} FROM {rows_sql} GROUP BY 1) d) u"
    sql = _values(ordered, source, list(output.expressions)[1:], [], "v", None, binds)
    found_in = (*(slots for _ in numbers), *along)
    return finished(sql, plan, (*numbers, *sums), binds, (), found_in, None)


def _weights(release: OrderStatistic, binds: Binds) -> tuple[str, str]:
    """Of a row, and of its unit divided over its rows. In parts of one, towards 0: all rows of a unit together
    weigh as many rows as count, at most, or one unit."""
    rows = binds.number(min(release.measured.rows, _MOST_ROWS), "bigint")
    one = binds.number(release.parts, "bigint")
    together = binds.number(release.parts * min(release.measured.rows, _MOST_ROWS), "bigint")
    weight = f"(CASE WHEN of_unit <= {rows} THEN {one} ELSE {together} / of_unit END)"
    return weight, f"{one} / of_unit"


def _values(
    releases: Sequence[OrderStatistic],
    source: str,
    counted: Sequence[str],
    names: list[str],
    grouped_by: str,
    ends: EndRows | None,
    binds: Binds,
) -> str:
    """Each distinct value with its number of rows.

    Values beside each other that are off from the rank of each release by its `needed` or more are put together
    at the least of them, so that what comes back does not grow with the table. Distances are capped there: the
    law of each release is that of all rows (PROOFS.md 9).
    """
    columns = ", ".join([*names, "v"])
    numbers = ["n", *(f"sum{number}" for number in range(1, len(counted)))]
    listed = ", ".join(f"{sql} AS {name}" for sql, name in zip(counted, numbers, strict=True))
    values = f"SELECT {columns}, {listed} FROM {source} GROUP BY {grouped_by}"
    ranks = {(one.aggregate.rank, one.needed): None for one in releases}
    sides = [_side(rank, needed, binds) for rank, needed in ranks if needed is not None]
    if len(sides) < len(ranks):
        return values
    over = f"PARTITION BY {', '.join(names)}" if names else ""
    upto = f"pg_catalog.sum(n) OVER ({over} ORDER BY v) AS upto"
    whole = f"pg_catalog.sum(n) OVER ({over}) AS whole"
    named = [f"side{number}" for number in range(1, len(sides) + 1)]
    sided = ", ".join(f"{sql} AS {name}" for sql, name in zip(sides, named, strict=True))
    summed = ", ".join([upto, whole, *([] if ends is None else ends.counted)])
    of = f"SELECT *, {sided} FROM (SELECT *, {summed} FROM ({values}) c) p"
    of += "" if ends is None else f" WHERE {ends.enough}"
    head = ", ".join([*names, "pg_catalog.min(v)", *(f"pg_catalog.sum({one})" for one in numbers)])
    near = f"CASE WHEN 0 IN ({', '.join(named)}) THEN v END"
    return f"SELECT {head} FROM ({of}) s GROUP BY {', '.join([*names, *named, near])}"


def _side(rank: Fraction, needed: int, binds: Binds) -> str:
    """On which side of a rank a value is that need not be known, as it is so far away: -1, 1; else 0. MIN and
    MAX are the ranks 0 and 1, and have one such side."""

    def times(value: str, number: int) -> str:
        return value if number == 1 else f"{value} * {binds.number(number)}"

    parts, distance = rank.denominator, binds.number(needed * rank.denominator)
    target, least = times("whole", rank.numerator), times("(upto - n)", parts)
    sides = [f"WHEN {target} - {times('upto', parts)} >= {distance} THEN -1"] if rank > 0 else []
    if rank < 1:
        sides.append(f"WHEN {least}{f' - {target}' if rank > 0 else ''} >= {distance} THEN 1")
    return f"CASE {' '.join(sides)} ELSE 0 END"
