"""One SELECT that aggregates protected rows, read: its typed form, and what stands where in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import IntervalColumn, IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.query.bind.aggregate_reading import is_aggregate, read_aggregate
from proxy.query.bind.clause_reading import read_where
from proxy.query.bind.group_keys import read_keys
from proxy.query.bind.joined_reading import read_joined
from proxy.query.bind.names_in_subqueries import named_by_keys
from proxy.query.bind.outer_joins import check_added_rows
from proxy.query.bind.output_columns import outer_columns, output_columns, scalar_column
from proxy.query.bind.retained_conditions import parted_conditions
from proxy.query.bind.row_choices import in_order, row_choices, selects_around, top_list
from proxy.query.bind.select_context import SelectContext, context_of
from proxy.query.bind.source_reading import AS_A_CONSTANT, refuse_answers, source_of, take_source
from proxy.query.bind.sources import Sources
from proxy.query.bind.span_reading import FoundSpans, read_spans
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
from proxy.query.ir.expressions import Comparison, Constant
from proxy.query.ir.function_names import Comparator
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query import AggregateBlock, Key, OutputColumn
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span, is_call
from proxy.query.syntax.slices import HINT as _RUN_BY_ITSELF
from proxy.query.syntax.slices import parse, parse_item
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
    block_keys = tuple(dict.fromkeys((*(one.key for one in keys), *found.dependent)))
    dependent = range(len(block_keys) - len(found.dependent), len(block_keys))
    levels = tuple((*level, *dependent) for level in levels)
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


# GROUP BY keys that are compared with literals behind the answers: in HAVING, or WHERE of a query around.
#
# Such a comparison is not part of the question. It is read for what is said of it alone.


_EQUAL = ("=", "<>", "!=")


def compared_keys(
    context: SelectContext, found: FoundSpans, around: tuple[Select, ...]
) -> tuple[Comparison, ...]:
    """Read the keys that are compared with literals for equality.

    Args:
        context: A SELECT with GROUP BY.
        found: What stands where in it.
        around: The queries around it that may have its groups.
    """
    lexed, sources = context.lexed, context.sources
    keys = {span: one.key for span, one in found.meanings.items() if isinstance(one, KeyValue)}
    compared: dict[Comparison, None] = {}
    having = context.select.clauses.get("having")
    for (first, last), key in keys.items():
        if having is not None and having[0] <= first < having[1]:
            compared.update(dict.fromkeys(_with_literals(sources, (first, last), key)))
    names: dict[str, Key] = {}
    for item in context.items:
        own = keys.get(item.inner)
        implied = output_name(lexed, item.inner) if item.alias is None else None
        name = item.alias or (implied.name if implied else "")
        if own is not None and name:
            names[name] = own
    for select in around:
        for clause in ("where", "having"):
            for index in range(*select.clauses.get(clause, (0, 0))):
                named = names.get(lexed.lexemes[index].name)
                if named is not None and not is_call(lexed, index):
                    found_here = _with_literals(sources, (index, index + 1), named)
                    compared.update(dict.fromkeys(found_here))
    return tuple(compared)


def _with_literals(sources: Sources, span: Span, key: Key) -> Iterator[Comparison]:
    for index in _beside(sources.lexed, span):
        try:
            node = parse(sources.lexed, (index, index + 1), sources.placeholders)
        except Refusal:
            continue
        if isinstance(node, exp.Literal):
            constant = Constant(value=str(node.this), type=SqlType.TEXT)
            yield Comparison(comparator=Comparator.EQ, left=key.expression, right=constant)


def _beside(lexed: Lexed, span: Span) -> Iterator[int]:
    """Where a literal may stand: `key = literal`, `literal = key`, `key [NOT] IN (literal, ...)`."""
    first, last = span
    lexemes = lexed.lexemes
    while first >= 2 and lexemes[first - 1].token.text == "." and lexemes[first - 2].name:
        first -= 2  # the name of a table
    if last + 1 < len(lexemes) and lexemes[last].token.text in _EQUAL:
        yield last + 1
    if first >= 2 and lexemes[first - 1].token.text in _EQUAL:
        yield first - 2
    place = last + 1 if last < len(lexemes) and lexemes[last].word == "not" else last
    if place + 1 < len(lexemes) and lexemes[place].word == "in":
        end = lexed.partner[place + 1]
        yield from range(place + 2, end, 2) if end > 0 else ()
