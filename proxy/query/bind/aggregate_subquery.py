"""One SELECT that aggregates protected rows, read: its typed form, and what stands where in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import IntervalColumn, IntervalEnd
from proxy.query.bind.added_rows import check_added_rows
from proxy.query.bind.aggregate_reading import is_aggregate, read_aggregate
from proxy.query.bind.clause_reading import read_where
from proxy.query.bind.compared_keys import compared_keys
from proxy.query.bind.group_keys import read_keys
from proxy.query.bind.joined_reading import read_joined
from proxy.query.bind.names_in_subqueries import named_by_keys
from proxy.query.bind.output_columns import outer_columns, output_columns, scalar_column
from proxy.query.bind.retained_conditions import parted_conditions
from proxy.query.bind.row_choices import row_choices, selects_around
from proxy.query.bind.rows_without_answers import AS_A_CONSTANT, refuse_answers
from proxy.query.bind.select_context import context_of
from proxy.query.bind.source_reading import source_of, take_source
from proxy.query.bind.sources import Sources
from proxy.query.bind.span_reading import read_spans
from proxy.query.bind.top_lists import in_order, top_list
from proxy.query.ir.bound_statement import (
    AggregateSubquery,
    AnswerArray,
    ExpressionInterval,
    IntervalValue,
    KeyValue,
    Level,
    SpanMeaning,
    SureTruth,
)
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query import AggregateBlock
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.shown_columns import OutputColumn
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.slices import HINT as _RUN_BY_ITSELF
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed


def read_subquery(
    sources: Sources, select: Select, number: int, is_constant: bool
) -> AggregateSubquery:
    """
    Given    number, is_constant: as of AggregateSubquery
    Refuses  every construct that is not known to be safe, with its position
    """
    _no_empty_clause(sources.lexed, select)
    relation, scope = take_source(sources, select)
    conditions = parted_conditions(sources, select, scope)
    joined = None
    if is_constant:
        refuse_answers(sources, select, conditions.of_where, AS_A_CONSTANT)
    if conditions.retained or sources.joined[select.keyword].joins:
        context = context_of(sources, select, scope)
        joined = read_joined(context, relation, conditions)
        relation, where, keys, found = joined.relation, joined.where, joined.keys, joined.found
        levels: tuple[Level, ...] = (tuple(range(len({one.key for one in keys}))),)
    else:
        relation, where = read_where(sources, select, relation, scope)
        context = context_of(sources, select, scope)
        written = read_keys(context)
        keys, levels = written.keys, written.levels
        found = read_spans(context, keys)
    is_summed = joined is not None and joined.text.is_summed
    spans, aggregates = found.meanings, found.aggregates
    if len(aggregates) > limits.RELEASES_PER_STATEMENT:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"more than {limits.RELEASES_PER_STATEMENT} different aggregates in one statement",
            "Ask several questions.",
            context.start(),
        )
    grouped = "group" in select.clauses or select.distinct
    if not grouped and not aggregates:  # count(*) OVER () and the like
        raise Refusal(
            Code.RAW_ROWS,
            "rows of a protected table cannot be read",
            _RUN_BY_ITSELF,
            context.start(),
        )
    _consume_keys(sources, spans)
    relation = scope.with_lookups(relation)
    expressions = tuple(
        dict.fromkeys(m.expression for m in spans.values() if isinstance(m, ExpressionInterval))
    )
    block_keys = tuple(dict.fromkeys(one.key for one in keys))
    of_windows = block_keys if len(levels) == 1 else None
    listed = output_columns(context, found, is_summed, of_windows)
    outputs: tuple[OutputColumn, ...] = listed if select.keyword == sources.result else ()
    around: tuple[OutputColumn, ...] = ()
    if not outputs:
        around = outer_columns(context, found, is_summed, of_windows, listed)
    top = top_list(context, outputs, found, around=around, is_of_levels=len(levels) > 1)
    if grouped and len(levels) == 1:
        outputs, around = in_order(context, outputs), in_order(context, around)
    outside = tuple(selects_around(context))
    block = AggregateBlock(
        relation,
        where,
        block_keys,
        grouped if joined is None else bool(keys),
        aggregates,
        frozenset(_interval_columns(spans.values(), (*aggregates, *expressions))),
        expressions,
        outputs,
        is_summed,
        any(isinstance(meaning, SureTruth) for meaning in spans.values()),
        top,
        row_choices=row_choices(
            context, found, listed, of_windows, top, is_read=len(levels) == 1 and not is_summed
        ),
        compared_keys=compared_keys(context, found, outside),
        inner_outputs=() if outputs else scalar_column(context, listed, outside),
        outer_outputs=around,
    )
    check_added_rows(block)
    return AggregateSubquery(
        number=number,
        select=select,
        block=block,
        spans=spans,
        unnamed=(
            *(item.inner for item in context.items if item.alias is None),
            *named_by_keys(context, spans),
        ),
        is_constant=is_constant,
        levels=levels,
        joined=None if joined is None else joined.text,
    )


def _consume_keys(sources: Sources, spans: Mapping[Span, SpanMeaning]) -> None:
    """Subqueries of a key that is written again: they were read in GROUP BY."""
    for (first, last), meaning in spans.items():
        if isinstance(meaning, KeyValue):
            there = (select.keyword for select in sources.of_rows)
            sources.consumed |= {keyword for keyword in there if first <= keyword < last}


def _interval_columns(
    meanings: Iterable[SpanMeaning], numbered: tuple[Aggregate | NoisyExpression, ...]
) -> Iterator[IntervalColumn]:
    numbers = {part: place for place, part in enumerate(numbered, start=1)}
    for meaning in meanings:
        if isinstance(meaning, AnswerArray):
            ends = (part for part in meaning.parts if isinstance(part, IntervalValue))
            yield from _interval_columns(ends, numbered)
        elif isinstance(meaning, IntervalValue):
            yield IntervalColumn(meaning.end, numbers[meaning.aggregate])
        elif isinstance(meaning, ExpressionInterval):
            yield IntervalColumn(meaning.end, numbers[meaning.expression])
        elif isinstance(meaning, SureTruth):
            for aggregate in (meaning.true, meaning.false):
                yield IntervalColumn(IntervalEnd.LOW, numbers[aggregate])
            yield IntervalColumn(IntervalEnd.ERROR, numbers[meaning.asked])


def read_scalar(sources: Sources, select: Select) -> Aggregate:
    """The one aggregate of a scalar subquery: `SELECT avg(x) FROM t WHERE ...`.

    Refuses  UNSUPPORTED: groups, several columns, arithmetic around the aggregate
    """
    items = split_commas(sources.lexed, *select.items)
    extra = set(select.clauses) - {"items", "from", "where"}
    node = parse_item(sources.lexed, items[0], sources.placeholders)[0]
    if len(items) != 1 or extra or select.distinct or not is_aggregate(node):
        raise Refusal(
            Code.UNSUPPORTED,
            "a subquery in a condition on a protected table must be one aggregate of a table",
            "Write (SELECT avg(column) FROM table), or run it by itself and write its result as a constant.",
            sources.lexed.lexemes[select.keyword].position,
        )
    _, scope = source_of(sources, select)
    refuse_answers(sources, select, hint=AS_A_CONSTANT)
    return read_aggregate(node, scope)


def _no_empty_clause(lexed: Lexed, select: Select) -> None:
    """PostgreSQL has accepted the statement, so a clause without content means that we cut it wrongly."""
    for first, last in select.clauses.values():
        if first >= last:
            raise Refusal(
                Code.UNSUPPORTED,
                "a clause of the question cannot be read",
                _RUN_BY_ITSELF,
                lexed.lexemes[select.keyword].position,
            )
