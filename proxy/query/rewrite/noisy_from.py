"""The FROM clause of a rewritten aggregate subquery: its noisy relation, out of the relation parameter.

Of GROUPING SETS it is the levels one after the other, each a relation of its own: the keys that a level does
not group by are NULL in it, in their types, and what GROUPING() gives is written into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from proxy.base.result_columns import (
    IntervalColumn,
    IntervalEnd,
    aggregate_column,
    error_column,
    grouping_column,
    key_column,
    noisy_relation,
    subquery_name,
)
from proxy.base.sql_types import SqlType
from proxy.query.ir.bound_statement import AggregateSubquery, GroupingValue, Level
from proxy.query.ir.query import AggregateBlock
from proxy.query.rewrite.edits import marker

# As format_type spells them; gram.y, SystemTypeName.
_TYPE_WORDS = frozenset(
    {
        *("smallint", "integer", "bigint", "numeric", "real", "double", "boolean", "bit"),
        *("character", "timestamp", "time", "interval"),
    }
)


def noisy_rows(parameter: int, subquery: AggregateSubquery, errors: Iterable[int]) -> str:
    """
    Given    parameter: the number of the jsonb parameter; errors: places of output columns whose errors are
             columns of it, too
    Gives    the relation, under the alias of the subquery's first block
    """
    alias, errors = noisy_relation(subquery.number), tuple(errors)
    joined = subquery.joined
    if joined is not None and joined.prefix:
        rows = noisy_rows(parameter, replace(subquery, joined=None), errors)
        names = (name for name, _ in _columns(subquery.block, errors))
        items = ", ".join(f"{name} AS {joined.prefix}{name}" for name in names) or "none"
        return f"(SELECT {items} FROM {rows}) AS {alias}"  # noqa: S608
    found = groupings(subquery)
    if len(subquery.levels) == 1 and not found:
        rows = f"{marker(parameter)}->'{subquery_name(subquery.number)}'"
        return _recordset(rows, alias, subquery.block, errors)
    numbers = {
        level: number
        for number, level in enumerate(subquery.distinct_levels, start=subquery.number)
    }
    blocks = dict(zip(subquery.distinct_levels, subquery.blocks, strict=True))
    levels = []
    for level in subquery.levels:
        rows = f"dp_r.d->'{subquery_name(numbers[level])}'"
        relation = _recordset(rows, noisy_relation(numbers[level]), blocks[level], errors)
        items = ", ".join(_level_items(subquery, level, found, errors)) or "none"
        levels.append(f"SELECT {items} FROM {relation}")  # noqa: S608
    together = " UNION ALL ".join(levels)
    # The parameter once: where it becomes a literal, that is put into one place (RewrittenStatement.inlined).
    return (
        f"(SELECT dp_l.* FROM (SELECT {marker(parameter)} AS d) AS dp_r, "  # noqa: S608
        f"LATERAL ({together}) AS dp_l) AS {alias}"
    )


def groupings(subquery: AggregateSubquery) -> tuple[GroupingValue, ...]:
    """The different GROUPING() of a subquery, each a column of its relation."""
    found = (meaning for meaning in subquery.spans.values() if isinstance(meaning, GroupingValue))
    return tuple(dict.fromkeys(found))


def _level_items(
    subquery: AggregateSubquery,
    level: Level,
    found: Iterable[GroupingValue],
    errors: Iterable[int],
) -> Iterator[str]:
    """The columns of one level as those of the relation as a whole."""
    keys = subquery.block.keys
    for place, key in enumerate(keys):
        there = f"NULL::{system_type(key.type_name)}"
        if place in level:
            there = key_column(level.index(place) + 1)
        yield f"{there} AS {key_column(place + 1)}"
    yield from (name for name, _ in _answer_columns(subquery.block))
    yield from map(error_column, errors)
    grouped = [keys[place] for place in level]
    for number, meaning in enumerate(found, start=1):
        bits = "".join("0" if key in grouped else "1" for key in meaning.keys)
        yield f"{int(bits, 2)}::integer AS {grouping_column(number)}"


def _recordset(rows: str, alias: str, block: AggregateBlock, errors: Iterable[int]) -> str:
    """The rows of one block, its columns with their types.

    `ROWS FROM` would do as well; one without columns (GROUP BY () of nothing) has a dummy.
    """
    columns = ((name, system_type(kind)) for name, kind in _columns(block, errors))
    declared = ", ".join(f"{name} {kind}" for name, kind in columns) or "none integer"
    return f"pg_catalog.jsonb_to_recordset({rows}) AS {alias}({declared})"


def _columns(block: AggregateBlock, errors: Iterable[int]) -> Iterator[tuple[str, str]]:
    """Names of columns, and of their types."""
    yield from ((key_column(n), key.type_name) for n, key in enumerate(block.keys, start=1))
    yield from _answer_columns(block)
    yield from ((error_column(n), SqlType.FLOAT8.sql) for n in errors)


def _answer_columns(block: AggregateBlock) -> Iterator[tuple[str, str]]:
    """Names of columns that are not keys, and of their types."""
    for number, aggregate in enumerate(block.aggregates, start=1):
        yield aggregate_column(number), aggregate.type.sql
        yield from _interval_columns(block, number, aggregate.type)
    for number, expression in enumerate(block.expressions, start=len(block.aggregates) + 1):
        yield from _interval_columns(block, number, expression.type)


def _interval_columns(
    block: AggregateBlock, number: int, kind: SqlType
) -> Iterator[tuple[str, str]]:
    for column in (IntervalColumn(end, number) for end in IntervalEnd):
        if column in block.intervals:
            is_number = column.end in (IntervalEnd.ERROR, IntervalEnd.CLIPPED)
            yield column.name, (SqlType.FLOAT8 if is_number else kind).sql


def system_type(name: str) -> str:
    """
    Given    a type of PostgreSQL's own as format_type prints it, on an empty search_path
    Gives    what means that type on every search_path: an analyst may have a type of that name in pg_temp,
             which is looked at first. Words of the grammar mean PostgreSQL's own type wherever they stand

    >>> system_type("text"), system_type("timestamp(3) with time zone"), system_type("character varying(20)")
    ('pg_catalog.text', 'timestamp(3) with time zone', 'character varying(20)')
    """
    word = name.partition(" ")[0].partition("(")[0]
    return name if word in _TYPE_WORDS or "." in name else f"pg_catalog.{name}"
