"""Lists that LIMIT cuts in a noisy order: by which column, and after how many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import TokenType

from proxy.query.bind.select_context import SelectContext
from proxy.query.bind.span_reading import FoundSpans
from proxy.query.ir.query import OutputColumn, TopList
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

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
        span=(first, last),
        is_descending=bool(is_descending),
        has_nulls_first=has_nulls_first,
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
    if len(lexemes) != 1 or lexemes[0].token.token_type is not TokenType.NUMBER:
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
