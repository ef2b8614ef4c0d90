"""Lists that are cut by LIMIT in the order of a noisy column: which column, and after how many rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import TokenType

from proxy.query.bind.select_context import SelectContext
from proxy.query.ir.query import OutputColumn, TopList
from proxy.query.syntax.selects import Span
from proxy.query.syntax.statements import split_commas

_DIRECTIONS = {"asc": False, "desc": True}


def top_list(context: SelectContext, outputs: Sequence[OutputColumn]) -> TopList | None:
    """Read ORDER BY and LIMIT of a SELECT.

    Args:
        context: The SELECT.
        outputs: Its output columns.

    Returns:
        None without a constant LIMIT, with OFFSET or HAVING, or where the first term of ORDER BY is not a noisy
        output column.
    """
    clauses = context.select.clauses
    if {"offset", "having", "fetch"} & set(clauses) or not {"order", "limit"} <= set(clauses):
        return None
    rows = _number(context, clauses["limit"])
    first, last = split_commas(context.lexed, *clauses["order"])[0]
    words = [lexeme.word for lexeme in context.lexed.lexemes[first:last]]
    if "nulls" in words:
        last = first + words.index("nulls")
    is_descending = _DIRECTIONS.get(context.lexed.lexemes[last - 1].word)
    if is_descending is not None:
        last -= 1
    output = _output(context, (first, last), outputs)
    if not rows or output is None or outputs[output - 1].expression is None:
        return None
    return TopList(output=output, is_descending=bool(is_descending), rows=rows)


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
