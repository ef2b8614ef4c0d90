"""The output columns of a statement as expressions over its noisy answers, for their errors."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import TokenType, exp

from proxy.base.errors import Refusal
from proxy.query.bind.aggregate_reading import is_aggregate, read_aggregate
from proxy.query.bind.answer_windows import AnswerWindows, has_rank
from proxy.query.bind.noisy_expression_reading import NoisyReader
from proxy.query.bind.scope import column_name, unknown
from proxy.query.bind.select_context import OutputItem, SelectContext
from proxy.query.bind.span_reading import FoundSpans
from proxy.query.ir.bound_statement import AnswerArray, ExpressionInterval, IntervalValue, SureTruth
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyExpression, parts_of
from proxy.query.ir.query import COMPUTED_AROUND, OF_A_RANK, Key, OutputColumn
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.output_names import NO_NAME, output_name
from proxy.query.syntax.selects import Select, Span, joins_selects, opens_query
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import Statement, split_commas
from proxy.query.syntax.tokens import Lexed

_PARTS = 50  # of an expression whose error nobody has asked for
_WRITTEN = 60  # characters of an aggregate that a NOTICE repeats
_SUBQUERY = "it is made of the answer of a subquery, whose error is not carried on"
_SUMMED = "it adds up noisy groups, each with an error of its own"
_INTERVAL = "it is made of the ends of an interval"
_ARRAY = "several answers, each with an error of its own in sorted rows"
_TRUTH = "it is true or false where such rows are surely more than their noise, else NULL"
_LONG = "it is long: dp.error() of it gives its error"
_UNKNOWN = "the error of this form of expression is not known"


def result_select(statement: Statement, found: tuple[Select, ...]) -> Select | None:
    """The one SELECT whose rows are those of the statement's query, as they are. None: there are several, or it
    is in brackets."""
    lexed = statement.lexed
    depth = lexed.lexemes[statement.first].depth
    outermost = [select for select in found if select.depth == depth]
    if len(outermost) != 1 or any(
        lexed.lexemes[index].depth == depth and joins_selects(lexed, index)
        for index in range(outermost[0].keyword, statement.last)
    ):
        return None
    return outermost[0]


def output_columns(
    context: SelectContext, found: FoundSpans, is_summed: bool, keys: Sequence[Key] | None
) -> tuple[OutputColumn, ...]:
    """
    Given    found: what stands where in this SELECT; is_summed: as of the AggregateBlock; keys: of its groups,
             None where they are of several levels
    Gives    one for each item of its list
    """
    spans = sorted(found.meanings)
    return tuple(
        _column(context, item, found, _within(spans, item.inner), is_summed, keys)
        for item in context.items
    )


def scalar_column(
    context: SelectContext, listed: tuple[OutputColumn, ...], around: Iterable[Select]
) -> tuple[OutputColumn, ...]:
    """The one column of a SELECT that is a column of the SELECT around it, as it is: under the name that it has
    there, as in `SELECT (SELECT count(*) FROM t) AS orders`. Any other SELECT keeps its columns.

    Args:
        listed: The columns of this one.
        around: The SELECTs that it stands in.
    """
    lexemes, partner = context.lexed.lexemes, context.lexed.partner
    opening = context.select.keyword - 1
    is_item = any(one.items[0] <= opening < one.items[1] for one in around)
    if len(listed) != 1 or not is_item or partner[opening] < 0:
        return listed
    before, at = lexemes[opening - 1], partner[opening] + 1
    if before.word != "select" and before.kind is not TokenType.COMMA:
        return listed
    if at < len(lexemes) and lexemes[at].word == "as":
        at += 1
    if at >= len(lexemes) or not lexemes[at].name or lexemes[at].word in ("from", "where"):
        return listed
    is_last = at + 1 == len(lexemes) or lexemes[at + 1].word == "from"
    if not (is_last or lexemes[at + 1].kind in (TokenType.COMMA, TokenType.SEMICOLON)):
        return listed
    return (replace(listed[0], name=lexemes[at].name),)


def outer_columns(
    context: SelectContext,
    found: FoundSpans,
    is_summed: bool,
    keys: Sequence[Key] | None,
    listed: tuple[OutputColumn, ...],
) -> tuple[OutputColumn, ...]:
    """The columns of a plain SELECT around this one, as of `columns_around`.

    Args:
        listed: The columns of this one.
    """
    if is_summed:
        return ()
    return columns_around(
        context, listed, lambda node: noisy_expression(context, node, found, keys)
    )


def _within(spans: list[Span], item: Span) -> list[Span]:
    """Those that begin in an item."""
    first, last = (bisect_left(spans, (end, 0)) for end in item)
    return spans[first:last]


def _column(
    context: SelectContext,
    item: OutputItem,
    found: FoundSpans,
    spans: list[Span],
    is_summed: bool,
    keys: Sequence[Key] | None,
) -> OutputColumn:
    implied = output_name(context.lexed, item.inner)
    name = item.alias or (NO_NAME if implied is None else implied.name)
    first, last = item.inner
    within = [found.meanings[span] for span in spans]
    has_subquery = any(
        opens_query(context.lexed, index)
        and not any(one <= index < other for one, other in spans)  # read with the aggregate or key
        for index in range(first, last)
    )
    if any(isinstance(meaning, ExpressionInterval | IntervalValue) for meaning in within):
        is_single = len(within) == 1 and (first, last) in found.meanings
        return OutputColumn(name, None, "" if is_single else _INTERVAL)
    if has_subquery:
        return OutputColumn(name, None, _SUBQUERY)
    arrays = [meaning for meaning in within if isinstance(meaning, AnswerArray)]
    if any(isinstance(part, IntervalValue) for one in arrays for part in one.parts):
        return OutputColumn(name, None, "" if (first, last) in found.meanings else _INTERVAL)
    if arrays:
        return OutputColumn(name, None, _SUMMED if is_summed else _ARRAY)
    if any(isinstance(meaning, SureTruth) for meaning in within):
        return OutputColumn(name, None, _TRUTH)
    if not any(isinstance(meaning, Aggregate) for meaning in within):
        joined = context.sources.joined[context.select.keyword].joins
        of_answers = joined and any(
            context.scope.find(*column_name(part)) is None
            for part in item.node.find_all(exp.Column)
        )
        # Keys and constants are public.
        return OutputColumn(name, None, _SUBQUERY if of_answers else "")
    if is_summed:
        return OutputColumn(name, None, _SUMMED)
    expression = _expression(context, item.node, found, keys)
    if expression is not None:
        is_long = _is_long(expression)
        reason = _LONG if is_long else ""
        return OutputColumn(name, None if is_long else expression, reason, _written(context, item))
    return OutputColumn(name, None, OF_A_RANK if has_rank(item.node) else _UNKNOWN)


def _written(context: SelectContext, item: OutputItem) -> str:
    """SQL of a short aggregate that is a column."""
    first, last = (context.lexed.lexemes[index] for index in (item.inner[0], item.inner[1] - 1))
    text = context.lexed.text[first.start : last.end]
    return text if is_aggregate(item.node) and len(text) <= _WRITTEN and "\n" not in text else ""


def noisy_expression(
    context: SelectContext, node: exp.Expr, found: FoundSpans, keys: Sequence[Key] | None
) -> NoisyExpression | None:
    """An expression over the aggregates of a SELECT. None: its error is not known, or it is long."""
    found_expression = _expression(context, node, found, keys)
    return None if found_expression is None or _is_long(found_expression) else found_expression


def _is_long(expression: NoisyExpression) -> bool:
    return sum(1 for _ in parts_of(expression)) > _PARTS


def _expression(
    context: SelectContext, node: exp.Expr, found: FoundSpans, keys: Sequence[Key] | None
) -> NoisyExpression | None:

    def answer(part: exp.Expr) -> AnswerOf:
        aggregate = read_aggregate(part, context.scope)
        if aggregate not in found.aggregates:
            raise unknown(part)
        return AnswerOf(found.aggregates.index(aggregate) + 1, aggregate.type)

    try:
        if is_aggregate(node):
            return answer(node)  # of dates too
        windows = None if keys is None else AnswerWindows(context, keys).read
        return NoisyReader(answer, windows).read(node)
    except Refusal:
        return None


# --- Columns of a SELECT around one aggregate subquery, as columns of the subquery, for their errors.
#
# `SELECT day, n, n - lag(n) OVER (ORDER BY day) FROM (SELECT d AS day, count(*) AS n ... GROUP BY d) q`
# gives the rows of the subquery as they are. So an expression over its columns has the error that it would
# have inside.


_OTHER_ROWS = frozenset({"group", "having", "window"})
_CUT = frozenset({"having", "limit", "offset", "fetch"})
# Of an expression over the aggregates of the subquery.
Read = Callable[[exp.Expr], NoisyExpression | None]


def columns_around(
    context: SelectContext, listed: tuple[OutputColumn, ...], read: Read
) -> tuple[OutputColumn, ...]:
    """The columns of the statement's result, in their order.

    Args:
        context: The subquery.
        listed: Its own columns.
        read: Reads an expression in it.

    Returns:
        None at all, if the result has other rows than the subquery, or if its columns are not known.
    """
    around = plain_query_around(context)
    if around is None:
        return ()
    inner = items_by_name(context, listed)
    try:
        found = tuple(_columns(context, around, listed, inner, read))
    except Refusal:
        return ()
    return found


def items_by_name(
    context: SelectContext, listed: tuple[OutputColumn, ...]
) -> dict[str, tuple[OutputItem, OutputColumn]]:
    """The items of a subquery that its names tell apart, with the columns that they are."""
    names = [one.name for one in listed]
    return {
        name: (item, column)
        for name, item, column in zip(names, context.items, listed, strict=True)
        if names.count(name) == 1
    }


def plain_query_around(context: SelectContext) -> Select | None:
    """The SELECT that gives the result's rows, if it reads this one and nothing else."""
    sources, lexed = context.sources, context.lexed
    result = next((one for one in sources.selects if one.keyword == sources.result), None)
    if result is None or result.distinct or _OTHER_ROWS & set(result.clauses):
        return None
    first, last = result.clauses.get("from", (0, 0))
    lexemes, keyword = lexed.lexemes, context.select.keyword
    if first >= last or context.select.distinct:
        return None
    if lexemes[first].kind is TokenType.L_PAREN:
        is_this = keyword == first + 1 and _is_alias(lexed, (lexed.partner[first] + 1, last))
        return result if is_this else None
    bodies = [cte.body for cte in sources.ctes if cte.name == lexemes[first].name]
    is_this = len(bodies) == 1 and bodies[0][0] == keyword and _is_alias(lexed, (first + 1, last))
    return result if is_this and not any(cte.columns for cte in sources.ctes) else None


def _is_alias(lexed: Lexed, span: Span) -> bool:
    """Whether nothing but a name stands there, or nothing at all."""
    words = [one for one in lexed.lexemes[slice(*span)] if one.word != "as"]
    return len(words) <= 1 and all(one.name for one in words)


def _columns(
    context: SelectContext,
    around: Select,
    listed: tuple[OutputColumn, ...],
    inner: Mapping[str, tuple[OutputItem, OutputColumn]],
    read: Read,
) -> Iterator[OutputColumn]:
    has_same_rows = "where" not in around.clauses and not _CUT & set(context.select.clauses)
    for span in split_commas(context.lexed, *around.items):
        node, alias, expression = parse_item(context.lexed, span, context.sources.placeholders)
        if isinstance(node, exp.Star) or (
            isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        ):
            yield from listed
            continue
        implied = output_name(context.lexed, expression)
        name = alias or (NO_NAME if implied is None else implied.name)
        named = [column_name(part)[1] for part in node.find_all(exp.Column)]
        of = [inner[one][1] for one in named if one in inner]
        if len(of) == len(named) and not any(one.expression or one.reason for one in of):
            yield OutputColumn(name, None)  # keys
            continue
        if isinstance(node, exp.Column) and len(of) == 1:
            yield OutputColumn(name, of[0].expression, of[0].reason)
            continue
        can_be_read = len(of) == len(named) and (has_same_rows or not node.find(exp.Window))
        found = read(within_subquery(node, inner)) if can_be_read else None
        none = OF_A_RANK if has_rank(node) else COMPUTED_AROUND
        yield OutputColumn(name, found, "" if found is not None else none)


def within_subquery(
    node: exp.Expr, inner: Mapping[str, tuple[OutputItem, OutputColumn]]
) -> exp.Expr:
    """An expression of the query around, over the columns of the subquery."""
    holder = exp.Paren(this=node.copy())
    for part in list(holder.find_all(exp.Column)):
        part.replace(inner[column_name(part)[1]][0].node.copy())
    found = holder.this
    assert isinstance(found, exp.Expr)
    return found
