"""What stands where in a SELECT that aggregates protected rows: aggregates, their intervals, keys.

Nothing is changed here: what is found is what the rewritten statement reads from the noisy relation instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import TokenType, exp

from proxy.base.errors import Code, Refusal
from proxy.base.limits import NOISY_EXPRESSION_PARTS
from proxy.base.result_columns import IntervalEnd
from proxy.query.bind.aggregate_reading import read_aggregate
from proxy.query.bind.group_keys import WrittenKey
from proxy.query.bind.noisy_expression_reading import NoisyReader
from proxy.query.bind.select_context import OutputItem, SelectContext, placed
from proxy.query.ir import expressions as ir
from proxy.query.ir.bound_statement import (
    ExpressionInterval,
    IntervalValue,
    KeyValue,
    SpanMeaning,
)
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyExpression, answers_in, parts_of
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.selects import (
    AGGREGATES,
    AVAILABLE,
    INSTEAD_OF_AGGREGATES,
    OTHER_AGGREGATES,
    Span,
    is_call,
    opens_query,
)
from proxy.query.syntax.slices import HINT as _RUN_BY_ITSELF
from proxy.query.syntax.slices import parse
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed, too_complex

_ORDERED_SET = frozenset({"percentile_cont", "percentile_disc"})
_INTERVALS = {
    "low": IntervalEnd.LOW,
    "high": IntervalEnd.HIGH,
    "error": IntervalEnd.ERROR,
    "clipped": IntervalEnd.CLIPPED,
}
_AFTER_A_NAME = frozenset({"asc", "desc", "nulls", "first", "last"})


@dataclass(frozen=True, slots=True)
class FoundSpans:
    """meanings: lexemes -> what stands there, in the order of the clauses; aggregates: those in them, equal
    ones once."""

    meanings: Mapping[Span, SpanMeaning]
    aggregates: tuple[Aggregate, ...]


def read_spans(context: SelectContext, keys: Sequence[WrittenKey]) -> FoundSpans:
    """
    Given    the SELECT's keys
    Refuses  columns of protected tables outside of aggregates and keys; what reading an aggregate refuses
    """
    spans = _Spans(context, keys)
    for item in context.items:
        _refuse_star(context, item)
        spans.read(item.inner)
    clauses = context.select.clauses
    names = context.output_names()
    for name in ("having", "window", "order", "limit", "offset", "fetch"):
        if name not in clauses:
            continue
        if name != "order":
            spans.read(clauses[name])
            continue
        for part in split_commas(context.lexed, *clauses[name]):
            if not _is_output_name(context.lexed, part, names):
                spans.read(part)
    return FoundSpans(spans.found, tuple(spans.aggregates))


def is_interval(lexed: Lexed, index: int) -> bool:
    """Whether dp.low(, dp.high(, dp.error( or dp.clipped( begins at a lexeme."""
    lexemes = lexed.lexemes
    return (
        index + 3 < len(lexemes)
        and lexemes[index].name == "dp"
        and lexemes[index + 1].token.token_type is TokenType.DOT
        and lexemes[index + 2].name in _INTERVALS
        and is_call(lexed, index + 2)
    )


def _refuse_star(context: SelectContext, item: OutputItem) -> None:
    node = item.node
    if isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    ):
        raise Refusal(
            Code.RAW_ROWS,
            "rows of a protected table cannot be read",
            _RUN_BY_ITSELF,
            context.lexed.lexemes[item.span[0]].position,
        )


def _is_output_name(lexed: Lexed, part: Span, names: frozenset[str]) -> bool:
    """ORDER BY with a bare name means the output column of that name first (PostgreSQL 17 documentation,
    SELECT)."""
    lexemes = lexed.lexemes[part[0] : part[1]]
    rest = {lexeme.word for lexeme in lexemes[1:]}
    return bool(lexemes) and lexemes[0].name in names and rest <= _AFTER_A_NAME


@dataclass(frozen=True, slots=True)
class _Spans:
    context: SelectContext
    keys: Sequence[WrittenKey]
    found: dict[Span, SpanMeaning] = field(default_factory=dict)
    aggregates: list[Aggregate] = field(default_factory=list)

    def read(self, span: Span) -> None:
        """Everything from one lexeme to another that is not inside a nested query."""
        index = span[0]
        while index < span[1]:
            if opens_query(self.context.lexed, index):
                index = self.context.lexed.partner[index] + 1
                continue
            index = self._one(index)

    def _one(self, index: int) -> int:
        """What begins at a lexeme; where it ends."""
        known = (
            self._interval(index)
            or self._aggregate_at(index)
            or _key_expression_at(self.context, self.keys, index)
        )
        if known is not None:
            end, meaning = known
            self.found[index, end] = meaning
            return end
        end, key = _column_at(self.context, self.keys, index)
        if key is not None:
            self.found[index, end] = key
        return end

    def _interval(self, index: int) -> tuple[int, IntervalValue | ExpressionInterval] | None:
        """dp.low(...), dp.high(...), dp.error(...) of an aggregate, or of arithmetic over aggregates;
        dp.clipped(...) of an aggregate."""
        lexed = self.context.lexed
        lexemes = lexed.lexemes
        if not is_interval(lexed, index):
            return None
        close = lexed.partner[index + 3]
        name = lexemes[index + 2].name
        inner = _aggregate_span(lexed, index + 4)
        if inner is not None and inner[1] == close:
            aggregate = self._number(_aggregate(self.context, inner))[1]
            return close + 1, IntervalValue(_INTERVALS[name], aggregate)
        is_clipped = _INTERVALS[name] is IntervalEnd.CLIPPED
        expression = None if is_clipped else self._noisy_expression((index + 4, close))
        if expression is None or not answers_in(expression):
            raise Refusal(
                Code.UNSUPPORTED,
                f"dp.{name}() takes one aggregate over a protected table",
                f"Write dp.{name}(count(*)) or the like.",
                lexemes[index].position,
            )
        return close + 1, ExpressionInterval(_INTERVALS[name], expression)

    def _noisy_expression(self, span: Span) -> NoisyExpression:
        first = self.context.lexed.lexemes[span[0]]

        def answer(node: exp.Expr) -> AnswerOf:
            aggregate = read_aggregate(node, self.context.scope)
            number, one = self._number(replace(aggregate, position=first.position))
            return AnswerOf(number, one.type)

        node = parse(self.context.lexed, span, self.context.sources.placeholders)
        try:
            expression = NoisyReader(answer).read(node)
            if sum(1 for _ in parts_of(expression)) > NOISY_EXPRESSION_PARTS:
                raise too_complex(f"of an expression of more than {NOISY_EXPRESSION_PARTS} parts")
            return expression
        except Refusal as refusal:
            raise placed(refusal, first) from None

    def _aggregate_at(self, index: int) -> tuple[int, Aggregate] | None:
        span = _aggregate_span(self.context.lexed, index)
        return None if span is None else (span[1], self._number(_aggregate(self.context, span))[1])

    def _number(self, aggregate: Aggregate) -> tuple[int, Aggregate]:
        """From 1; and the equal one that has it."""
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        place = self.aggregates.index(aggregate)
        return place + 1, self.aggregates[place]


def _aggregate_span(lexed: Lexed, index: int) -> Span | None:
    """The lexemes of an aggregate call with its FILTER, if one starts here."""
    lexemes = lexed.lexemes
    at = index
    while at + 2 < len(lexemes) and lexemes[at + 1].token.token_type is TokenType.DOT:
        at += 2
    name = lexemes[at].name
    if not is_call(lexed, at) or name not in AGGREGATES | OTHER_AGGREGATES:
        return None
    end = lexed.partner[at + 1] + 1
    if name in _ORDERED_SET and end + 2 < len(lexemes) and lexemes[end].word == "within":
        end = lexed.partner[end + 2] + 1  # WITHIN GROUP (ORDER BY ...)
    if end + 1 < len(lexemes) and lexemes[end].word == "filter" and is_call(lexed, end):
        end = lexed.partner[end + 1] + 1
    following = lexemes[end].word if end < len(lexemes) else ""
    if following == "over":
        return (
            None  # a window function over results: what is inside its brackets is looked at in turn
        )
    if at > index:
        raise Refusal(
            Code.FUNCTION,
            f"{name} with a schema is not available on a protected table",
            f"Write {name}(...) alone.",
            lexemes[index].position,
        )
    if name in OTHER_AGGREGATES or following == "within":
        raise Refusal(
            Code.FUNCTION,
            f"aggregate {name} is not available on a protected table",
            INSTEAD_OF_AGGREGATES.get(name, AVAILABLE),
            lexemes[index].position,
        )
    return index, end


def _aggregate(context: SelectContext, span: Span) -> Aggregate:
    first = context.lexed.lexemes[span[0]]
    node = parse(context.lexed, span, context.sources.placeholders)
    try:
        return replace(read_aggregate(node, context.scope), position=first.position)
    except Refusal as refusal:
        raise placed(refusal, first) from None


def _key_expression_at(
    context: SelectContext, keys: Sequence[WrittenKey], index: int
) -> tuple[int, KeyValue] | None:
    """A key that is an expression, written again word for word."""
    lexemes = context.lexed.lexemes
    for written in keys:
        end = index + len(written.words)
        if (
            len(written.words) > 1
            and end <= len(lexemes)
            and context.words((index, end)) == written.words
        ):
            called = next((x.word for x in lexemes[index:end] if x.name), "")
            is_part = isinstance(written.key.expression, ir.Extract)
            return end, KeyValue(written.key, is_part and called == "date_part")
    return None


def _column_at(
    context: SelectContext, keys: Sequence[WrittenKey], index: int
) -> tuple[int, KeyValue | None]:
    """A column name: a key is one of the noisy relation, any other column of the table is a refusal."""
    lexed = context.lexed
    lexemes = lexed.lexemes
    if not lexemes[index].name or (index > 0 and _is_no_column(lexed, index)):
        return index + 1, None
    last = index
    while (
        last + 2 < len(lexemes)
        and lexemes[last + 1].token.token_type is TokenType.DOT
        and lexemes[last + 2].name
    ):
        last += 2
    name = lexemes[last].name
    qualifier = tuple(lexemes[i].name for i in range(index, last, 2))
    if qualifier and not any(qualifier in r.qualifiers for r in context.scope.relations):
        return last + 1, None
    after = lexemes[last + 1].token.token_type if last + 1 < len(lexemes) else None
    if after in (TokenType.L_PAREN, TokenType.STRING):
        return last + 1, None
    found = context.scope.find(qualifier, name)
    for written in keys:
        if found is not None and written.key.expression == found:
            return last + 1, KeyValue(written.key)
    whole_row = not qualifier and any((name,) in r.qualifiers for r in context.scope.relations)
    if found is not None or whole_row:
        raise Refusal(
            Code.RAW_ROWS,
            f'"{name}" of a protected table can only be read inside an aggregate or as a GROUP BY key',
            _RUN_BY_ITSELF,
            lexemes[index].position,
        )
    return last + 1, None


def _is_no_column(lexed: Lexed, index: int) -> bool:
    """A type after :: or AS, a part of a longer name, a field of extract(field FROM ...), AT TIME ZONE."""
    before = lexed.lexemes[index - 1]
    if before.token.token_type in (TokenType.DCOLON, TokenType.DOT) or before.word == "as":
        return True
    following = lexed.lexemes[index + 1].word if index + 1 < len(lexed.lexemes) else ""
    if lexed.lexemes[index].word == "at" and following == "time":
        return True
    called = lexed.lexemes[index - 2].word if index > 1 else ""
    return following == "from" and called in ("extract", "trim", "substring", "overlay")
