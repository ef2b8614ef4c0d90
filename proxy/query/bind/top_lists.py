"""Lists that LIMIT cuts in a noisy order: by which column, and after how many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    is_of_levels: bool = False,
) -> TopList | None:
    """Read ORDER BY and LIMIT of a SELECT, and of a query around it.

    Args:
        context: The SELECT.
        outputs: Its output columns if it gives the result's rows.
        found: What stands where in it.
        is_of_levels: It has GROUPING SETS.

    Returns:
        None if no list is cut, or if the first term of ORDER BY is not noisy.
    """
    if not _is_cut(context.lexed, context.select):
        return None if outputs else _around(context)
    span, is_descending = _first_term(context)
    output = _output(context, span, outputs)
    if output is None:
        is_noisy = any(span[0] <= first < span[1] for first, _ in _aggregates(found))
        is_noisy = is_noisy or (not outputs and _names_noise(context, span, found))
        return TopList(is_descending=is_descending) if is_noisy else None
    if outputs[output - 1].expression is None:
        return None
    clauses = context.select.clauses
    rows = _number(context, clauses["limit"]) if "limit" in clauses else None
    if not rows or is_of_levels or {"offset", "having"} & set(clauses):
        return TopList(is_descending=is_descending)
    return TopList(output=output, is_descending=is_descending, rows=rows)


def _is_cut(lexed: Lexed, select: Select) -> bool:
    clauses = select.clauses
    if "order" not in clauses:
        return False
    if "fetch" in clauses:
        return True
    words = [lexeme.word for lexeme in lexed.lexemes[slice(*clauses.get("limit", (0, 0)))]]
    return bool(words) and words[0] not in ("all", "null")


def _around(context: SelectContext) -> TopList | None:
    """Of the SELECT that gives the result's rows, if it is another one. What its order means is not known."""
    sources = context.sources
    result = next((one for one in sources.selects if one.keyword == sources.result), None)
    is_cut = result is not None and _is_cut(context.lexed, result)
    return TopList() if is_cut and "group" in context.select.clauses else None


def _first_term(context: SelectContext) -> tuple[Span, bool]:
    """What ORDER BY sorts by first, and whether downwards."""
    first, last = split_commas(context.lexed, *context.select.clauses["order"])[0]
    words = [lexeme.word for lexeme in context.lexed.lexemes[first:last]]
    if "nulls" in words:
        last = first + words.index("nulls")
    is_descending = _DIRECTIONS.get(context.lexed.lexemes[last - 1].word)
    if is_descending is not None:
        last -= 1
    return (first, last), bool(is_descending)


def _aggregates(found: FoundSpans) -> Iterator[Span]:
    yield from (span for span, meaning in found.meanings.items() if isinstance(meaning, Aggregate))


def _names_noise(context: SelectContext, span: Span, found: FoundSpans) -> bool:
    """Whether a term is the name or number of an item with an aggregate in it."""
    number = _number(context, span)
    name = context.lexed.lexemes[span[0]].name if span[1] - span[0] == 1 else ""
    return any(
        (number == place or (name and item.alias == name))
        and any(item.inner[0] <= first < item.inner[1] for first, _ in _aggregates(found))
        for place, item in enumerate(context.items, start=1)
    )


def _number(context: SelectContext, span: Span) -> int | None:
    lexemes = context.lexed.lexemes[span[0] : span[1]]
    if len(lexemes) != 1 or lexemes[0].token.token_type is not TokenType.NUMBER:
        return None
    text = lexemes[0].token.text
    return int(text) if text.isdecimal() else None


def _output(context: SelectContext, term: Span, outputs: Sequence[OutputColumn]) -> int | None:
    """The place of the column that a term of ORDER BY names: by number, by name, or written again."""
    if term[1] <= term[0]:
        return None
    number = _number(context, term)
    if number is not None:
        return number if 1 <= number <= len(outputs) else None
    if term[1] - term[0] == 1:
        name = context.lexed.lexemes[term[0]].name
        places = [place for place, one in enumerate(outputs, start=1) if one.name == name]
        if name and places:
            return places[0] if len(places) == 1 else None
    words = context.words(term)
    places = [
        place
        for place, item in enumerate(context.items, start=1)
        if context.words(item.inner) == words
    ]
    return places[0] if places else None
