"""Clauses that leave out groups, and whether noise has a part in that: HAVING, WHERE of a query around."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import TokenType, exp

from proxy.base.errors import Refusal
from proxy.base.result_columns import IntervalEnd
from proxy.query.bind.output_columns import (
    items_by_name,
    noisy_expression,
    plain_query_around,
    within_subquery,
)
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
from proxy.query.ir.noisy_expressions import (
    NoisyExpression,
    NoisyWindow,
    PublicNumber,
    answers_in,
    parts_of,
)
from proxy.query.ir.query import Key, NoisyComparison, OutputColumn, RowChoice, TopList
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span, conjuncts, is_call
from proxy.query.syntax.slices import parse
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

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


# --- Lists that LIMIT cuts in a noisy order: by which column, and after how many rows.


_DIRECTIONS = {"asc": False, "desc": True}


def top_list(
    context: SelectContext,
    outputs: Sequence[OutputColumn],
    found: FoundSpans,
    *,
    around: Sequence[OutputColumn] = (),
    is_of_levels: bool = False,
) -> TopList | None:
    """Read ORDER BY and LIMIT of a SELECT, and of a query around it.

    Args:
        context: The SELECT.
        outputs: Its output columns if it gives the result's rows.
        found: What stands where in it.
        around: The columns of a query around with the same rows.
        is_of_levels: It has GROUPING SETS.

    Returns:
        None if no list is cut, or if the first term of ORDER BY is not noisy.
    """
    if not _is_cut(context.lexed, context.select):
        return None if outputs else _around(context, around, is_of_levels)
    term = _first_term(context.lexed, context.select)
    span = term.span
    output = _output(context, span, outputs)
    if output is None:
        is_noisy = any(span[0] <= first < span[1] for first, _ in _aggregates(found))
        is_noisy = is_noisy or (not outputs and _names_noise(context, span, found))
        return TopList(is_descending=term.is_descending) if is_noisy else None
    rows = None if is_of_levels else _shown_rows(context.lexed, context.select)
    return _of_column(outputs, output, term, rows)


def in_order(context: SelectContext, outputs: tuple[OutputColumn, ...]) -> tuple[OutputColumn, ...]:
    """Mark the column by which ORDER BY of a SELECT that gives the result's rows sorts first, if it is noisy.

    Args:
        context: The SELECT whose columns these are, or one around which a query has the same rows.
        outputs: The columns of the result.
    """
    sources, lexed = context.sources, context.lexed
    result = next((one for one in sources.selects if one.keyword == sources.result), None)
    if result is None or "order" not in result.clauses or not outputs:
        return outputs
    if _is_cut(lexed, result) or _is_cut(lexed, context.select):
        return outputs
    term = _first_term(lexed, result).span
    is_own = result.keyword == context.select.keyword
    place = _output(context, term, outputs) if is_own else _named(lexed, term, outputs)
    if place is None or outputs[place - 1].expression is None:
        return outputs
    marked = replace(outputs[place - 1], is_order=True)
    return (*outputs[: place - 1], marked, *outputs[place:])


def _of_column(
    outputs: Sequence[OutputColumn], output: int, term: _Term, rows: int | None
) -> TopList | None:
    column = outputs[output - 1]
    if column.expression is None:
        return TopList(is_descending=term.is_descending) if column.reason else None
    if not rows:
        return TopList(is_descending=term.is_descending)
    return TopList(
        output=output,
        is_descending=term.is_descending,
        rows=rows,
        has_nulls_first=term.has_nulls_first,
    )


def _shown_rows(lexed: Lexed, select: Select) -> int | None:
    """After how many rows a list is cut, if these are the first ones of all groups."""
    clauses = select.clauses
    if select.distinct or "limit" not in clauses or {"offset", "having"} & set(clauses):
        return None
    return _number(lexed, clauses["limit"])


def _is_cut(lexed: Lexed, select: Select) -> bool:
    clauses = select.clauses
    if "order" not in clauses:
        return False
    if "fetch" in clauses:
        return True
    words = [lexeme.word for lexeme in lexed.lexemes[slice(*clauses.get("limit", (0, 0)))]]
    return bool(words) and words[0] not in ("all", "null")


def _around(
    context: SelectContext, around: Sequence[OutputColumn], is_of_levels: bool
) -> TopList | None:
    """Of the SELECT that gives the result's rows, if it is another one."""
    sources, lexed = context.sources, context.lexed
    result = next((one for one in sources.selects if one.keyword == sources.result), None)
    if result is None or not _is_cut(lexed, result) or "group" not in context.select.clauses:
        return None
    term = _first_term(lexed, result)
    output = _named(lexed, term.span, around)
    if output is None:
        return TopList()
    is_filtered = is_of_levels or "where" in result.clauses or "having" in context.select.clauses
    rows = None if is_filtered else _shown_rows(lexed, result)
    return _of_column(around, output, term, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Term:
    """What ORDER BY sorts by first. has_nulls_first: as of TopList."""

    span: Span
    is_descending: bool
    has_nulls_first: bool | None


def _first_term(lexed: Lexed, select: Select) -> _Term:
    first, last = split_commas(lexed, *select.clauses["order"])[0]
    words = [lexeme.word for lexeme in lexed.lexemes[first:last]]
    has_nulls_first = None
    if "nulls" in words:
        has_nulls_first = words[-1] == "first"
        last = first + words.index("nulls")
    is_descending = _DIRECTIONS.get(lexed.lexemes[last - 1].word)
    if is_descending is not None:
        last -= 1
    return _Term(
        span=(first, last), is_descending=bool(is_descending), has_nulls_first=has_nulls_first
    )


def _aggregates(found: FoundSpans) -> Iterator[Span]:
    yield from (span for span, meaning in found.meanings.items() if isinstance(meaning, Aggregate))


def _names_noise(context: SelectContext, span: Span, found: FoundSpans) -> bool:
    """Whether a term is the name or number of an item with an aggregate in it."""
    number = _number(context.lexed, span)
    name = context.lexed.lexemes[span[0]].name if span[1] - span[0] == 1 else ""
    return any(
        (number == place or (name and item.alias == name))
        and any(item.inner[0] <= first < item.inner[1] for first, _ in _aggregates(found))
        for place, item in enumerate(context.items, start=1)
    )


def _number(lexed: Lexed, span: Span) -> int | None:
    lexemes = lexed.lexemes[span[0] : span[1]]
    if len(lexemes) != 1 or lexemes[0].kind is not TokenType.NUMBER:
        return None
    text = lexemes[0].token.text
    return int(text) if text.isdecimal() else None


def _named(lexed: Lexed, term: Span, outputs: Sequence[OutputColumn]) -> int | None:
    """The place of the column that a term of ORDER BY names by its number or its name."""
    number = _number(lexed, term)
    if number is not None:
        return number if 1 <= number <= len(outputs) else None
    name = lexed.lexemes[term[0]].name if term[1] - term[0] == 1 else ""
    places = [place for place, one in enumerate(outputs, start=1) if name and one.name == name]
    return places[0] if len(places) == 1 else None


def _output(context: SelectContext, term: Span, outputs: Sequence[OutputColumn]) -> int | None:
    """The place of the column that a term of ORDER BY names: by number, by name, or written again."""
    named = _named(context.lexed, term, outputs)
    if named is not None or not outputs or _number(context.lexed, term) is not None:
        return named
    words = context.words(term)
    places = [
        place
        for place, item in enumerate(context.items, start=1)
        if context.words(item.inner) == words
    ]
    return places[0] if places else None
