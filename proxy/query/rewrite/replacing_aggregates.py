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
    grouping_column,
    key_column,
    noisy_relation,
)
from proxy.query.ir.bound_statement import (
    AggregateSubquery,
    AnswerArray,
    ExpressionInterval,
    GroupingValue,
    IntervalValue,
    KeyValue,
    OneValue,
    SureTruth,
)
from proxy.query.ir.query import AggregateBlock
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.rewrite.edits import Edit, marker, quoted
from proxy.query.rewrite.joined_text import joined_edits, summed
from proxy.query.rewrite.noisy_from import groupings, noisy_rows, system_type
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Span
from proxy.query.syntax.tokens import Lexed


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
