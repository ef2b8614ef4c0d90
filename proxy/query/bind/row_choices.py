"""Clauses that leave out groups, and whether noise has a part in that: HAVING, WHERE of a query around."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.base.result_columns import IntervalEnd
from proxy.query.bind.columns_around import (
    items_by_name,
    plain_query_around,
    within_subquery,
)
from proxy.query.bind.output_columns import noisy_expression
from proxy.query.bind.select_context import SelectContext
from proxy.query.bind.source_reading import nature_of
from proxy.query.bind.sources import Nature, Sources
from proxy.query.bind.span_reading import FoundSpans
from proxy.query.ir.bound_statement import (
    ExpressionInterval,
    GroupingValue,
    IntervalValue,
    KeyValue,
)
from proxy.query.ir.noisy_expressions import NoisyExpression, NoisyWindow, PublicNumber
from proxy.query.ir.noisy_parts import answers_in, parts_of
from proxy.query.ir.query import Key, NoisyComparison, OutputColumn, RowChoice, TopList
from proxy.query.syntax.conjuncts import conjuncts
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span, is_call
from proxy.query.syntax.slices import parse
from proxy.query.syntax.statements import split_commas

DISTINCT_ON = "DISTINCT ON"
TOP = "ORDER BY with LIMIT"
_CUTS = ("limit", "offset", "fetch")
# What says nothing of noise. The ends of an interval move with it.
_PUBLIC = (KeyValue, GroupingValue)
_ENDS = {"low": IntervalEnd.LOW, "high": IntervalEnd.HIGH, "error": IntervalEnd.ERROR}
_COMPARATORS: dict[type[exp.Expr], str] = {
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.EQ: "=",
    exp.NEQ: "<>",
}
_INTERVALS = (ExpressionInterval, IntervalValue)
# What has a value where an answer in it is NULL.
_ANSWERS_OF_NULL = (exp.Coalesce, exp.Greatest, exp.Least)
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_Read = Callable[[exp.Expr], NoisyExpression | None]


def row_choices(
    context: SelectContext,
    found: FoundSpans,
    listed: tuple[OutputColumn, ...],
    keys: Sequence[Key] | None,
    top: TopList | None,
    *,
    is_read: bool,
) -> tuple[RowChoice, ...]:
    """Read what leaves out groups of a SELECT: its own clauses, and those of queries around it.

    Args:
        context: The SELECT.
        found: What stands where in it.
        listed: Its output columns.
        keys: As of `noisy_expression`.
        top: The list that is cut in a noisy order, which is none of these.
        is_read: Its conditions are read, as its groups are those of one block.
    """

    def read(node: exp.Expr) -> NoisyExpression | None:
        return noisy_expression(context, node, found, keys) if is_read else None

    own = _own_choices(context, found, read, top)
    return (*own, *_choices_around(context, found, listed, read, top))


def _own_choices(
    context: SelectContext, found: FoundSpans, read: _Read, top: TopList | None
) -> Iterator[RowChoice]:
    select, sources = context.select, context.sources
    having = select.clauses.get("having")
    if having is not None:
        is_noisy = any(
            having[0] <= first < having[1] and not isinstance(meaning, _PUBLIC)
            for (first, _), meaning in found.meanings.items()
        )
        comparisons = _comparisons(sources, having, read) if is_noisy else None
        yield RowChoice(clause="HAVING", is_noisy=is_noisy, comparisons=comparisons)
    if select.is_distinct_on:
        yield RowChoice(clause=DISTINCT_ON, is_noisy=_is_noise_in_order(context, found))
    if top is None and any(name in select.clauses for name in _CUTS):
        yield RowChoice(clause="LIMIT", is_noisy=False)


def _is_noise_in_order(context: SelectContext, found: FoundSpans) -> bool:
    """Whether noise has a part in which row of several DISTINCT ON keeps, or in what tells them apart."""
    lexed, clauses = context.lexed, context.select.clauses
    noisy = [first for (first, _), one in found.meanings.items() if not isinstance(one, _PUBLIC)]
    items = {
        place: any(item.inner[0] <= first < item.inner[1] for first in noisy)
        for place, item in enumerate(context.items, start=1)
    }
    names = {item.alias: items[place] for place, item in enumerate(context.items, start=1)}
    for item, is_noisy in zip(context.items, items.values(), strict=True):
        implied = output_name(lexed, item.inner) if item.alias is None else None
        if implied is not None:
            names[implied.name] = is_noisy
    for clause in ("on", "order"):
        for first, last in split_commas(lexed, *clauses[clause]) if clause in clauses else ():
            text = lexed.lexemes[first].token.text
            place = int(text) if text.isascii() and text.isdecimal() else 0
            if items.get(place) or names.get(lexed.lexemes[first].name):
                return True
            if any(first <= one < last for one in noisy):
                return True
    return False


def _choices_around(
    context: SelectContext,
    found: FoundSpans,
    listed: tuple[OutputColumn, ...],
    read: _Read,
    top: TopList | None,
) -> Iterator[RowChoice]:
    sources, plain = context.sources, plain_query_around(context)
    inner = items_by_name(context, listed)

    def within(node: exp.Expr) -> exp.Expr | None:
        names = [part.name for part in node.find_all(exp.Column)]
        return within_subquery(node, inner) if {*names} <= {*inner} else None

    around = tuple(selects_around(context))
    names = _NoisyNames(
        sources, context.select, _noisy_names(sources, around, context, found, listed)
    )
    for select in around:
        clauses = select.clauses
        is_result = select.keyword == sources.result
        for name in ("where", "having"):
            if name not in clauses:
                continue
            is_noisy = names.are_in(clauses[name])
            comparisons = None
            if is_noisy and select is plain:
                comparisons = _comparisons(sources, clauses[name], read, within)
            yield RowChoice(clause=name.upper(), is_noisy=is_noisy, comparisons=comparisons)
        is_ordered = "order" in clauses and names.order(select)
        if select.is_distinct_on:
            yield RowChoice(clause=DISTINCT_ON, is_noisy=is_ordered)
        elif any(name in clauses for name in _CUTS) and not (is_result and top is not None):
            yield RowChoice(clause=TOP, is_noisy=is_ordered)


def selects_around(context: SelectContext) -> Iterator[Select]:
    """Those over answers which may have the groups of this SELECT, inner ones first."""
    sources, keyword = context.sources, context.select.keyword
    is_named = any(cte.body[0] <= keyword < cte.body[1] for cte in sources.ctes)
    for select in sorted(sources.selects, key=lambda one: (-one.depth, one.keyword)):
        is_around = select.keyword < keyword < select.end
        if select.keyword == keyword or not (is_around or (is_named and keyword < select.keyword)):
            continue
        if select.keyword not in sources.consumed and nature_of(sources, select) is Nature.CLEAN:
            yield select


def _noisy_names(
    sources: Sources,
    around: Sequence[Select],
    context: SelectContext,
    found: FoundSpans,
    listed: Sequence[OutputColumn],
) -> frozenset[str]:
    """The names of what is noisy, in the SELECT and in those around it."""
    places = [place for place, one in enumerate(listed) if one.expression or one.reason]
    spans = [item.inner for item in context.items]
    places += [
        place
        for place, span in enumerate(spans)
        if isinstance(found.meanings.get(span), _INTERVALS)
    ]
    names = {listed[place].name for place in places}
    for cte in sources.ctes:
        if cte.body[0] == context.select.keyword:
            names.update(cte.columns[place] for place in places if place < len(cte.columns))
    for select in around:
        seen = _NoisyNames(sources, context.select, frozenset(names))
        for first, last in split_commas(sources.lexed, *select.items):
            implied = output_name(sources.lexed, (first, last))
            name = sources.lexed.lexemes[last - 1].name or (implied.name if implied else "")
            if name and seen.are_in((first, last)):
                names.add(name)
    return frozenset(names)


@dataclass(frozen=True, slots=True)
class _NoisyNames:
    """inner: The SELECT that the noise comes from. names: Of columns with noise in them."""

    sources: Sources
    inner: Select
    names: frozenset[str]

    def are_in(self, span: Span) -> bool:
        lexed = self.sources.lexed
        return any(
            index == self.inner.keyword
            or (lexed.lexemes[index].name in self.names and not is_call(lexed, index))
            for index in range(*span)
        )

    def order(self, select: Select) -> bool:
        """Whether noise has a part in the order of a SELECT."""
        lexed = self.sources.lexed
        items = split_commas(lexed, *select.items)
        for first, last in split_commas(lexed, *select.clauses["order"]):
            text = lexed.lexemes[first].token.text
            place = int(text) if text.isascii() and text.isdecimal() else 0
            span = items[place - 1] if 1 <= place <= len(items) else (first, last)
            if self.are_in(span):
                return True
        return False


def _comparisons(
    sources: Sources,
    span: Span,
    read: _Read,
    within: Callable[[exp.Expr], exp.Expr | None] = lambda node: node,
) -> tuple[NoisyComparison, ...] | None:
    """A condition as comparisons of which all hold, None where it is none of that form.

    Args:
        within: Gives a part of it over what the subquery computes; None: it is not over that alone.
    """
    found: list[NoisyComparison] = []
    for part in conjuncts(sources.lexed, span):
        try:
            node = within(parse(sources.lexed, part, sources.placeholders))
        except Refusal:
            return None
        if node is None or node.find(*_ANSWERS_OF_NULL):
            return None
        for left, comparator, right in _parts(node):
            (left, end), (right, other_end) = _without_end(left), _without_end(right)
            number, other = read(right), read(left)
            if isinstance(other, PublicNumber):
                number, other, comparator, end = other, number, _TURNED[comparator], other_end
            if other is None or not isinstance(number, PublicNumber) or not _is_plain(other):
                return None
            compared = NoisyComparison(
                left=other, comparator=comparator, number=number.value, end=end
            )
            found.append(compared)
        if not isinstance(node, (exp.Between, *_COMPARATORS)):
            return None
    return tuple(found)


def _without_end(node: exp.Expr) -> tuple[exp.Expr, IntervalEnd | None]:
    """What dp.low(), dp.high() or dp.error() is asked of, and which of them."""
    call = node.expression if isinstance(node, exp.Dot) and node.this.name == "dp" else None
    if not isinstance(call, exp.Anonymous) or len(call.expressions) != 1:
        return node, None
    end = _ENDS.get(call.name.lower())
    return (node, None) if end is None else (call.expressions[0], end)


def _parts(node: exp.Expr) -> Iterator[tuple[exp.Expr, str, exp.Expr]]:
    comparator = _COMPARATORS.get(type(node))
    if comparator is not None:
        yield node.this, comparator, node.expression
    elif isinstance(node, exp.Between) and not node.args.get("symmetric"):
        yield node.this, ">=", node.args["low"]
        yield node.this, "<=", node.args["high"]


def _is_plain(expression: NoisyExpression) -> bool:
    """Whether it is made of the answers of one group."""
    has_window = any(isinstance(part, NoisyWindow) for part in parts_of(expression))
    return bool(answers_in(expression)) and not has_window
