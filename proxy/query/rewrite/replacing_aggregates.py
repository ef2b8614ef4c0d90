"""Aggregate subqueries replaced by their noisy relations.

Aggregates, keys and FROM give way to columns of the noisy relation; HAVING becomes WHERE; all else stays as it
is (docs/design/sql.md 5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from typing_extensions import assert_never

from proxy.base.limits import COLUMNS_PER_RESULT
from proxy.base.result_columns import (
    IntervalColumn,
    IntervalEnd,
    aggregate_column,
    error_column,
    key_column,
    noisy_relation,
    subquery_name,
)
from proxy.base.sql_types import SqlType
from proxy.query.ir.bound_statement import (
    AggregateSubquery,
    ExpressionInterval,
    IntervalValue,
    KeyValue,
    SpanMeaning,
)
from proxy.query.ir.query import AggregateBlock
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.rewrite.edits import Edit, marker, quoted
from proxy.query.rewrite.joined_text import joined_edits, summed
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Span
from proxy.query.syntax.tokens import Lexed

# As format_type spells them; gram.y, SystemTypeName.
_TYPE_WORDS = frozenset(
    {
        *("smallint", "integer", "bigint", "numeric", "real", "double", "boolean", "bit"),
        *("character", "timestamp", "time", "interval"),
    }
)


def replace_aggregates(
    lexed: Lexed,
    subqueries: Iterable[AggregateSubquery],
    parameter: int,
    with_errors: bool = False,
) -> tuple[Edit, ...]:
    """
    Given    the aggregate subqueries of a statement; the number of the jsonb parameter that holds their noisy
             relations; with_errors: the result gets further columns, those of error_columns()
    Gives    the edits that put these in their place; none where a subquery stands in another's condition, whose
             text does not stay
    """
    return tuple(
        edit
        for subquery in subqueries
        if not subquery.is_constant
        for edit in _edits(lexed, subquery, parameter, with_errors)
    )


def error_columns(subqueries: Iterable[AggregateSubquery]) -> tuple[int, ...]:
    """The places of the output columns, from 1, of which the result itself can have the error of each row; none
    where a column more would change what is returned, or be too many."""
    for subquery in subqueries:
        outputs = subquery.block.outputs
        places = tuple(n for n, one in enumerate(outputs, start=1) if one.expression is not None)
        is_changed = subquery.select.distinct or "into" in subquery.select.clauses
        if places and not is_changed and len(outputs) + len(places) <= COLUMNS_PER_RESULT:
            return places
    return ()


def _edits(
    lexed: Lexed, subquery: AggregateSubquery, parameter: int, with_errors: bool
) -> Iterator[Edit]:
    alias = noisy_relation(subquery.number)
    is_summed = subquery.joined is not None and subquery.joined.is_summed
    for (first, last), meaning in subquery.spans.items():
        start, end = lexed.lexemes[first].start, lexed.lexemes[last - 1].end
        value = f"{alias}.{_column(subquery.block, meaning)}"
        if is_summed and isinstance(meaning, Aggregate):
            value = summed(value, meaning)
        yield Edit(start, end, value)
    for item in subquery.unnamed:
        yield from _name_as_before(lexed, item, subquery.spans)
    errors = error_columns((subquery,)) if with_errors else ()
    if errors:
        end = lexed.lexemes[subquery.select.items[1] - 1].end
        yield Edit(end, end, "".join(f", {alias}.{error_column(place)}" for place in errors))
    if subquery.joined is not None:
        columns = {key: f"{alias}.{key_column(n)}" for n, key in enumerate(subquery.block.keys, 1)}
        relation = _recordset(parameter, subquery, errors)
        yield from joined_edits(
            lexed, subquery.select, subquery.joined, relation, parameter, columns
        )
        return
    clauses = subquery.select.clauses
    last = max(clauses[name][1] for name in ("from", "where", "group") if name in clauses)
    start = lexed.lexemes[clauses["from"][0] - 1].start
    relation = f"FROM {_recordset(parameter, subquery, errors)}"
    yield Edit(start, lexed.lexemes[last - 1].end, relation, marker(parameter))
    if "having" in clauses:
        keyword = lexed.lexemes[clauses["having"][0] - 1]
        yield Edit(keyword.start, keyword.end, "WHERE")


def _column(block: AggregateBlock, meaning: SpanMeaning) -> str:
    match meaning:
        case Aggregate():
            return aggregate_column(_number(block, meaning))
        case IntervalValue():
            return IntervalColumn(meaning.end, _number(block, meaning.aggregate)).name
        case ExpressionInterval():
            number = len(block.aggregates) + block.expressions.index(meaning.expression) + 1
            return IntervalColumn(meaning.end, number).name
        case KeyValue():
            column = key_column(block.keys.index(meaning.key) + 1)
            return f"{column}::pg_catalog.float8" if meaning.as_float else column
        case _:
            assert_never(meaning)


def _number(block: AggregateBlock, aggregate: Aggregate) -> int:
    return block.aggregates.index(aggregate) + 1


def _name_as_before(lexed: Lexed, item: Span, replaced: Mapping[Span, object]) -> Iterator[Edit]:
    """AS the name that PostgreSQL takes from a word which is replaced."""
    name = output_name(lexed, item)
    if name is not None and any(first <= name.decided_at < last for first, last in replaced):
        end = lexed.lexemes[item[1] - 1].end
        yield Edit(end, end, f" AS {quoted(name.name)}")


def _recordset(parameter: int, subquery: AggregateSubquery, errors: Iterable[int]) -> str:
    """The noisy relation in FROM, its columns with their types.

    `FROM ROWS FROM` would do as well; one without columns (GROUP BY () of nothing) has a dummy.
    """
    known = (*_columns(subquery.block), *((error_column(n), SqlType.FLOAT8.sql) for n in errors))
    columns = ((name, system_type(kind)) for name, kind in known)
    declared = ", ".join(f"{name} {kind}" for name, kind in columns) or "none integer"
    rows = f"{marker(parameter)}->'{subquery_name(subquery.number)}'"
    alias = noisy_relation(subquery.number)
    return f"pg_catalog.jsonb_to_recordset({rows}) AS {alias}({declared})"


def _columns(block: AggregateBlock) -> Iterator[tuple[str, str]]:
    """Names of columns and of their types."""
    for number, key in enumerate(block.keys, start=1):
        yield key_column(number), key.type_name
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
