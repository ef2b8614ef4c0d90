"""Parts of a statement that are made of constants alone, and that PostgreSQL evaluates only when it is run.

They can be evaluated by themselves: nothing in them can be a column, a query or a function of an analyst's own.
What they raise does not depend on an answer. Calls of immutable functions are not among them: planning
evaluates those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlglot import TokenType

from proxy.query.syntax.selects import Span, is_call
from proxy.query.syntax.statements import Statement, split_commas

_WHOLE_NUMBERS = frozenset({"int", "integer", "bigint", "smallint", "int2", "int4", "int8"})
_OPERATORS = frozenset(
    {
        *(TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD),
        *(TokenType.L_PAREN, TokenType.R_PAREN, TokenType.DCOLON),
    }
)
_CONSTANTS = frozenset({TokenType.NUMBER, TokenType.STRING, TokenType.PARAMETER})
# After one of these a part may not come to be run.
CONDITIONAL = frozenset({"case", "coalesce", "nullif", "and", "or", "filter", "union", "limit"})

# By name and number of arguments, from the arguments' texts. Window functions are run whenever there is a row,
# conditions or not.
_Call = Callable[[list[str]], str]
_WINDOW: Mapping[tuple[str, int], _Call] = {
    ("ntile", 1): lambda given: f"pg_catalog.ntile({given[0]}) OVER ()",
    ("nth_value", 2): lambda given: (
        f"pg_catalog.nth_value(NULL::pg_catalog.int4, {given[1]}) OVER ()"
    ),
}
_PLAIN: Mapping[tuple[str, int], _Call] = {
    ("generate_series", 3): lambda given: f"pg_catalog.generate_series({', '.join(given)}) LIMIT 1",
    ("to_date", 2): lambda given: f"pg_catalog.to_date({', '.join(given)})",
    ("to_timestamp", 2): lambda given: f"pg_catalog.to_timestamp({', '.join(given)})",
    ("to_number", 2): lambda given: f"pg_catalog.to_number({', '.join(given)})",
}
_FIRST_FRAME = "pg_catalog.count(*) OVER (ROWS BETWEEN {} PRECEDING AND UNBOUNDED FOLLOWING)"
_LAST_FRAME = "pg_catalog.count(*) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND {} FOLLOWING)"


def constant_text(statement: Statement, span: Span) -> str | None:
    """The text of a span, if nothing in it can be a function, a column or a query of more than constants."""
    lexemes = statement.lexed.lexemes
    first, last = span
    if first >= last:
        return None
    for index in range(first, last):
        lexeme = lexemes[index]
        opened = lexemes[index - 1].token.token_type is TokenType.L_PAREN and index > first
        is_scalar = lexeme.word == "select" and opened  # (SELECT -1)
        known = lexeme.token.token_type in _OPERATORS | _CONSTANTS or lexeme.word in _WHOLE_NUMBERS
        if not known and not is_scalar:
            return None
    return statement.text[lexemes[first].start : lexemes[last - 1].end]


def evaluated_parts(statement: Statement) -> Iterator[str]:
    """Each as a subquery of one value."""
    lexemes = statement.lexed.lexemes
    words = {lexeme.word for lexeme in lexemes[statement.first : statement.last]}
    for index in range(statement.first, statement.last):
        if lexemes[index].word in ("preceding", "following"):
            yield from _frame(statement, index)
        elif is_call(statement.lexed, index):
            yield from _call(statement, index, is_certain=not words & CONDITIONAL)


def _call(statement: Statement, index: int, *, is_certain: bool) -> Iterator[str]:
    lexed = statement.lexed
    close = lexed.partner[index + 1]
    after = lexed.lexemes[close + 1].word if close + 1 < len(lexed.lexemes) else ""
    given = split_commas(lexed, index + 2, close)
    name = (lexed.lexemes[index].name, len(given))
    call = _WINDOW.get(name) if after == "over" else _PLAIN.get(name) if is_certain else None
    if call is None:
        return
    texts = [constant_text(statement, span) for span in given]
    if name == ("nth_value", 2):
        texts[0] = ""  # of which nothing is read
    if all(text is not None for text in texts):
        yield f"(SELECT {call([f'({text})' for text in texts])})"


def _frame(statement: Statement, end: int) -> Iterator[str]:
    """ROWS or GROUPS n PRECEDING; what RANGE takes depends on the type of a column."""
    lexemes = statement.lexed.lexemes
    start = end
    while start > statement.first and constant_text(statement, (start - 1, end)) is not None:
        start -= 1
    before = [lexeme.word for lexeme in lexemes[max(start - 2, 0) : start]]
    text = constant_text(statement, (start, end))
    if text is None or not before:
        return
    if before[-1] in ("rows", "groups") or before in (["rows", "between"], ["groups", "between"]):
        yield f"(SELECT {_FIRST_FRAME.format(f'({text})')})"
    elif before[-1] == "and" and _counts_rows(statement, start):
        yield f"(SELECT {_LAST_FRAME.format(f'({text})')})"


def _counts_rows(statement: Statement, index: int) -> bool:
    """Whether the frame that ends here is one of rows or of groups."""
    lexemes = statement.lexed.lexemes
    kinds = ("rows", "groups", "range")
    found = (x.word for x in reversed(lexemes[statement.first : index]) if x.word in kinds)
    return next(found, "range") != "range"
