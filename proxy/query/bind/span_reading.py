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
from proxy.query.bind.aggregate_reading import read_aggregate, read_aggregates, read_truth
from proxy.query.bind.function_forms import SUBSTITUTES
from proxy.query.bind.group_keys import (
    WrittenKey,
    argument_of_grouping,
    column_at,
    key_in_other_words,
    repeated_key_at,
)
from proxy.query.bind.names_in_subqueries import is_captured, keys_in_subquery, refuse_captured
from proxy.query.bind.noisy_expression_reading import NoisyReader
from proxy.query.bind.select_context import OutputItem, SelectContext, placed
from proxy.query.ir.bound_statement import (
    AnswerArray,
    ExpressionInterval,
    GroupingValue,
    IntervalValue,
    KeyValue,
    SpanMeaning,
    SureTruth,
)
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyExpression, answers_in, parts_of
from proxy.query.ir.query import Key
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.selects import (
    ANSWERED,
    AVAILABLE,
    OTHER_AGGREGATES,
    TRUTHS,
    Span,
    is_call,
    opens_query,
)
from proxy.query.syntax.slices import HINT as _RUN_BY_ITSELF
from proxy.query.syntax.slices import parse
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed, too_complex

_MOST_FREQUENT = (
    "Ask for its most frequent value as SELECT x FROM table GROUP BY x ORDER BY count(*) DESC LIMIT 1, where x"
    " is the column."
)
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
    ones once; dependent: keys in them that GROUP BY does not write, as they depend on those that it does."""

    meanings: Mapping[Span, SpanMeaning]
    aggregates: tuple[Aggregate, ...]
    dependent: tuple[Key, ...] = ()


def read_spans(
    context: SelectContext, keys: Sequence[WrittenKey], retained: Sequence[Span] = ()
) -> FoundSpans:
    """
    Given    the SELECT's keys; retained: what stays in its text beside the clauses that come after grouping
    Refuses  columns of protected tables outside of aggregates and keys; what reading an aggregate refuses
    """
    is_joined = bool(retained or context.sources.joined[context.select.keyword].joins)
    spans = _Spans(context, keys, is_joined)
    for item in context.items:
        _refuse_star(context, item)
        spans.read_whole(item.inner)
    for span in retained:
        spans.read(span)
    clauses = context.select.clauses
    names = context.output_names()
    for name in ("on", "having", "window", "order", "limit", "offset", "fetch"):
        if name not in clauses:
            continue
        if name not in ("on", "order"):  # of which PostgreSQL reads names and numbers alike
            spans.read(clauses[name])
            continue
        for part in split_commas(context.lexed, *clauses[name]):
            if not _is_output_name(context.lexed, part, names):
                spans.read_whole(part)
    written = {one.key for one in keys}
    shown = (one.key for one in spans.found.values() if isinstance(one, KeyValue))
    dependent = tuple(dict.fromkeys(key for key in shown if key not in written))
    return FoundSpans(spans.found, tuple(spans.aggregates), dependent)


def is_interval(lexed: Lexed, index: int) -> bool:
    """Whether dp.low(, dp.high(, dp.error( or dp.clipped( begins at a lexeme."""
    lexemes = lexed.lexemes
    return (
        index + 3 < len(lexemes)
        and lexemes[index].name == "dp"
        and lexemes[index + 1].kind is TokenType.DOT
        and lexemes[index + 2].name in _INTERVALS
        and is_call(lexed, index + 2)
    )


def _refuse_star(context: SelectContext, item: OutputItem) -> None:
    node = item.node
    if isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    ):
        is_grouped = "group" in context.select.clauses
        raise Refusal(
            Code.RAW_ROWS,
            "rows of a protected table cannot be read",
            "Write the columns of the key's table by their names."
            if is_grouped
            else _RUN_BY_ITSELF,
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
    is_joined: bool  # columns of the noisy relation have names that are nowhere in the text
    found: dict[Span, SpanMeaning] = field(default_factory=dict)
    aggregates: list[Aggregate] = field(default_factory=list)

    def read_whole(self, span: Span) -> None:
        """An item of the SELECT list or of ORDER BY: a key in other words, or its parts."""
        last = span[1]
        while last > span[0] and self.context.lexed.lexemes[last - 1].word in _AFTER_A_NAME:
            last -= 1
        found = key_in_other_words(self.context, self.keys, (span[0], last))
        if found is None:
            self.read(span)
        else:
            self.found[span[0], last] = found

    def read(self, span: Span) -> None:
        """Everything from one lexeme to another; inside of a nested query only keys of this SELECT."""
        index = span[0]
        while index < span[1]:
            if not opens_query(self.context.lexed, index):
                index = self._one(index)
                continue
            key = repeated_key_at(self.context, self.keys, index)
            end = self.context.lexed.partner[index] + 1
            if key is None:
                inside = keys_in_subquery(self.context, self.keys, index, self.is_joined)
                self.found.update(inside)
            else:
                end, self.found[index, key[0]] = key
            index = end

    def _one(self, index: int) -> int:
        """What begins at a lexeme; where it ends."""
        known = (
            self._interval(index)
            or self._grouping(index)
            or self._aggregate_at(index)
            or repeated_key_at(self.context, self.keys, index)
        )
        if known is not None:
            end, meaning = known
            self.found[index, end] = meaning
            return end
        end, key = column_at(self.context, self.keys, index)
        if key is not None:
            self.found[index, end] = key
        elif not self.is_joined and is_captured(self.context, index):
            refuse_captured(self.context, index)
        return end

    def _interval(
        self, index: int
    ) -> tuple[int, IntervalValue | ExpressionInterval | AnswerArray] | None:
        """dp.low(...), dp.high(...), dp.error(...) of an aggregate, or of arithmetic over aggregates;
        dp.clipped(...) of an aggregate."""
        lexed = self.context.lexed
        lexemes = lexed.lexemes
        if not is_interval(lexed, index):
            return None
        close = lexed.partner[index + 3]
        name = lexemes[index + 2].name
        inner = _aggregate_span(lexed, index + 4)
        if inner is not None and inner[1] == close and lexemes[inner[0]].name not in TRUTHS:
            end, parts = _INTERVALS[name], _aggregates(self.context, inner)
            if isinstance(parts, Aggregate):
                return close + 1, IntervalValue(end, self._number(parts)[1])
            ends = (IntervalValue(end, self._number(part)[1]) for part in parts)
            return close + 1, AnswerArray(tuple(ends))
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

    def _grouping(self, index: int) -> tuple[int, GroupingValue] | None:
        """GROUPING(key, ...), which PostgreSQL has found to be of this SELECT's keys."""
        lexed = self.context.lexed
        if lexed.lexemes[index].word != "grouping" or not is_call(lexed, index):
            return None
        close = lexed.partner[index + 1]
        parts = split_commas(lexed, index + 2, close)
        return close + 1, GroupingValue(
            tuple(argument_of_grouping(self.context, self.keys, part) for part in parts)
        )

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

    def _aggregate_at(self, index: int) -> tuple[int, Aggregate | AnswerArray | SureTruth] | None:
        span = _aggregate_span(self.context.lexed, index)
        if span is None:
            return None
        if self.context.lexed.lexemes[index].name in TRUTHS:
            return span[1], self._truth(span)
        parts = _aggregates(self.context, span)
        if isinstance(parts, Aggregate):
            return span[1], self._number(parts)[1]
        return span[1], AnswerArray(tuple(self._number(part)[1] for part in parts))

    def _truth(self, span: Span) -> SureTruth:
        first = self.context.lexed.lexemes[span[0]]
        node = parse(self.context.lexed, span, self.context.sources.placeholders)
        try:
            found = read_truth(node, self.context.scope)
        except Refusal as refusal:
            raise placed(refusal, first) from None
        true, false = (
            self._number(replace(one, position=first.position))[1]
            for one in (found.true, found.false)
        )
        return replace(found, true=true, false=false)

    def _number(self, aggregate: Aggregate) -> tuple[int, Aggregate]:
        """From 1; and the equal one that has it."""
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        place = self.aggregates.index(aggregate)
        return place + 1, self.aggregates[place]


def _aggregate_span(lexed: Lexed, index: int) -> Span | None:
    """The lexemes of an aggregate call with its FILTER, if one starts here."""
    lexemes = lexed.lexemes
    at = lexed.name_end(index)
    name = lexemes[at].name
    if not is_call(lexed, at) or name not in ANSWERED | OTHER_AGGREGATES:
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
            f"aggregate {name} is not available on a protected table, as count(*), sum(column) and avg(column)"
            " are",
            _instead_of(name),
            lexemes[index].position,
        )
    return index, end


def _instead_of(aggregate: str) -> str:
    if aggregate == "mode":
        return _MOST_FREQUENT
    substitute = SUBSTITUTES.get(aggregate)
    return AVAILABLE if substitute is None else substitute.hint


def _aggregates(context: SelectContext, span: Span) -> Aggregate | tuple[Aggregate, ...]:
    first = context.lexed.lexemes[span[0]]
    node = parse(context.lexed, span, context.sources.placeholders)
    try:
        found = read_aggregates(node, context.scope)
    except Refusal as refusal:
        raise placed(refusal, first) from None
    if isinstance(found, Aggregate):
        return replace(found, position=first.position)
    return tuple(replace(part, position=first.position) for part in found)
