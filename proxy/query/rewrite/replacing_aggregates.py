"""Aggregate subqueries replaced by their noisy relations.

Aggregates, keys and FROM give way to columns of the noisy relation; HAVING becomes WHERE; all else stays as it
is (docs/design/sql.md 5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from typing_extensions import assert_never

from proxy.base.limits import COLUMNS_PER_RESULT
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
from proxy.base.written_names import quoted
from proxy.query.ir.bound_statement import (
    AggregateSubquery,
    AnswerArray,
    ExpressionInterval,
    GroupingValue,
    IntervalValue,
    JoinedText,
    KeyValue,
    Level,
    OneValue,
    SureTruth,
)
from proxy.query.ir.query import AggregateBlock, Key
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.rewrite.edits import Edit, marker
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.tokens import Lexed


def replace_aggregates(
    lexed: Lexed, subqueries: Iterable[AggregateSubquery], parameter: int, with_errors: bool = False
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
        select = subquery.select
        is_compared = select.distinct and not select.is_distinct_on
        is_changed = is_compared or "into" in select.clauses
        if places and not is_changed and len(outputs) + len(places) <= COLUMNS_PER_RESULT:
            return places
    return ()


def _edits(
    lexed: Lexed, subquery: AggregateSubquery, parameter: int, with_errors: bool
) -> Iterator[Edit]:
    alias = noisy_relation(subquery.number)
    # of a column, with what it begins with
    before = f"{alias}.{'' if subquery.joined is None else subquery.joined.prefix}"
    is_summed = subquery.joined is not None and subquery.joined.is_summed
    for (first, last), meaning in subquery.spans.items():
        start, end = lexed.lexemes[first].start, lexed.lexemes[last - 1].end
        if isinstance(meaning, SureTruth):
            yield Edit(start, end, _truth(subquery.block, before, meaning))
            continue
        value = _value(subquery, before, meaning)
        if is_summed and isinstance(meaning, Aggregate):
            value = summed(value, meaning)
        yield Edit(start, end, value)
    for item in subquery.unnamed:
        yield from _name_as_before(lexed, item, subquery.spans)
    errors = error_columns((subquery,)) if with_errors else ()
    if errors:
        end = lexed.lexemes[subquery.select.items[1] - 1].end
        yield Edit(end, end, "".join(f", {before}{error_column(place)}" for place in errors))
    if subquery.joined is not None:
        columns = {key: f"{before}{key_column(n)}" for n, key in enumerate(subquery.block.keys, 1)}
        relation = noisy_rows(parameter, subquery, errors)
        yield from joined_edits(
            lexed, subquery.select, subquery.joined, relation, parameter, columns
        )
        return
    clauses = subquery.select.clauses
    last = max(clauses[name][1] for name in ("from", "where", "group") if name in clauses)
    start = lexed.lexemes[clauses["from"][0] - 1].start
    relation = f"FROM {noisy_rows(parameter, subquery, errors)}"
    yield Edit(start, lexed.lexemes[last - 1].end, relation, marker(parameter))
    if "having" in clauses:
        keyword = lexed.lexemes[clauses["having"][0] - 1]
        yield Edit(keyword.start, keyword.end, "WHERE")


def _value(subquery: AggregateSubquery, before: str, meaning: OneValue | AnswerArray) -> str:
    if isinstance(meaning, AnswerArray):
        elements = (f"{before}{_column(subquery, part)}" for part in meaning.parts)
        return f"(ARRAY[{', '.join(elements)}])"
    return f"{before}{_column(subquery, meaning)}"


def _truth(block: AggregateBlock, before: str, meaning: SureTruth) -> str:
    """One of the two decides, if there surely is such a row. The other does if there surely is one of its kind,
    and none of the first is to be seen: their noisy number is at most half of its error. NULL: neither."""

    def end(of: IntervalEnd, rows: Aggregate) -> str:
        return f"{before}{IntervalColumn(of, _number(block, rows)).name}"

    is_there, there_are_others = (
        f"{end(IntervalEnd.LOW, rows)} OPERATOR(pg_catalog.>) 0"
        for rows in (meaning.asked, meaning.others)
    )
    number = f"{before}{aggregate_column(_number(block, meaning.asked))}"
    error = end(IntervalEnd.ERROR, meaning.asked)
    is_unseen = f"{number} OPERATOR(pg_catalog.*) 2 OPERATOR(pg_catalog.<=) {error}"
    word, other = ("true", "false") if meaning.is_or else ("false", "true")
    return f"(CASE WHEN {is_there} THEN {word} WHEN {is_unseen} AND {there_are_others} THEN {other} END)"


def _column(subquery: AggregateSubquery, meaning: OneValue) -> str:
    block = subquery.block
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
            return f"{column}::{system_type(meaning.cast_to)}" if meaning.cast_to else column
        case GroupingValue():
            return grouping_column(groupings(subquery).index(meaning) + 1)
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


# A SELECT in which rows meet answers, rewritten: the noisy relation stands for the rows, the rest of FROM and
# the conditions on answers stay as they are (ADR 0049).


_BIGINT = (-(2**63), 2**63 - 1)


def joined_edits(
    lexed: Lexed,
    select: Select,
    joined: JoinedText,
    relation: str,
    parameter: int,
    columns: Mapping[Key, str],
) -> Iterator[Edit]:
    """
    Given    relation: the noisy relation as it stands in FROM; columns: what each key is in it
    """
    yield _edit(lexed, joined.rows, relation, marker(parameter))
    for span in joined.settled:
        yield _edit(lexed, span, "true")
    for using in joined.using:
        equal = (
            f"{columns[key]} = {quoted(using.relation)}.{quoted(name)}" for key, name in using.pairs
        )
        yield _edit(lexed, using.span, f"ON {' AND '.join(equal)}")
    if not joined.is_summed:
        yield from _without_groups(lexed, select, joined.of_answers)


def _without_groups(lexed: Lexed, select: Select, of_answers: tuple[Span, ...]) -> Iterator[Edit]:
    """Each row is a group: GROUP BY goes, and HAVING is one condition more. What GROUP BY says of answers makes
    no more groups, and stays where PostgreSQL refuses a name that is none of theirs."""
    clauses = select.clauses
    where, having = clauses.get("where"), clauses.get("having")
    is_more = having is not None or bool(of_answers)
    for span in (where, having) if is_more else ():
        if span is not None:
            start, end = lexed.lexemes[span[0]].start, lexed.lexemes[span[1] - 1].end
            yield Edit(start, start, "(")
            yield Edit(end, end, ")")
    word = "WHERE" if where is None else "AND"
    if "group" in clauses:
        first, last = clauses["group"]
        texts = (
            lexed.text[lexed.lexemes[a].start : lexed.lexemes[b - 1].end] for a, b in of_answers
        )
        names = " AND ".join(f"(true OR ({text}) IS NULL)" for text in texts)
        yield _edit(lexed, (first - 1, last), f"{word} {names}" if names else "")
        word = "AND" if names else word
    if having is not None:
        yield _edit(lexed, (having[0] - 1, having[0]), word)


def summed(value: str, aggregate: Aggregate) -> str:
    """
    Given    value: the column of the noisy relation
    Gives    what it is of several of its rows: an answer that is NULL makes the sum NULL; a count of none is 0
    """
    total, rows = f"pg_catalog.sum({value})", "pg_catalog.count(*)"
    if aggregate.kind is AggregateKind.SUM:
        rows = f"NULLIF({rows}, 0)"  # a sum of none is NULL, of which GREATEST would make the least of all
    else:
        total = f"COALESCE({total}, 0)"
    if aggregate.type is SqlType.INT8:
        low, high = _BIGINT
        total = f"LEAST(GREATEST({total}, {low}), {high})::bigint"
    return f"CASE WHEN {rows} = pg_catalog.count({value}) THEN {total} END"


def _edit(lexed: Lexed, span: Span, text: str, relation: str = "") -> Edit:
    start, end = lexed.lexemes[span[0]].start, lexed.lexemes[span[1] - 1].end
    return Edit(start, end, text, relation)


# --- The FROM clause of a rewritten aggregate subquery: its noisy relation, out of the relation parameter.
#
# Of GROUPING SETS it is the levels one after the other, each a relation of its own: the keys that a level
# does not group by are NULL in it, in their types, and what GROUPING() gives is written into it.


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
    subquery: AggregateSubquery, level: Level, found: Iterable[GroupingValue], errors: Iterable[int]
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
