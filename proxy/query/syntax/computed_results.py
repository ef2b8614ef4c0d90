"""Whether a statement computes with its answers, so that PostgreSQL can raise an error while it runs.

Decided on tokens: what is not known to be plain counts as computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import TokenType

from proxy.query.syntax.statements import Statement, StatementKind
from proxy.query.syntax.tokens import Lexeme

_WRITES = frozenset({"insert", "update", "delete", "merge"})
# Names, literals and comparisons raise no error.
_PLAIN = frozenset(
    {
        *(TokenType.COMMA, TokenType.DOT, TokenType.SEMICOLON, TokenType.NUMBER),
        *(TokenType.STRING, TokenType.PARAMETER),
        *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE),
    }
)
_COMPUTING = frozenset(
    {
        *(
            "all",
            "any",
            "array",
            "at",
            "between",
            "case",
            "cast",
            "collate",
            "cross",
            "end",
            "escape",
        ),
        *("except", "exists", "filter", "for", "from", "full", "ilike", "in", "inner", "intersect"),
        *("interval", "into", "is", "join", "lateral", "left", "like", "natural", "on", "over"),
        *("right", "row", "similar", "some", "table", "union", "using", "values", "window", "with"),
    }
)


def computes(statement: Statement, replaced: Iterable[tuple[int, int]]) -> bool:
    """
    Given    replaced: where the rewritten statement has something else than the client wrote, as 0-based
             characters; columns and rows of answers stand there
    Gives    False for a SELECT of plain columns of answers and literals, compared and ordered
    """
    lexemes = statement.lexed.lexemes
    if lexemes[0].word in _WRITES:
        return True
    left = list(_without(lexemes[statement.first : statement.last], sorted(replaced)))
    selects = sum(lexeme.word == "select" for lexeme in left)
    return selects != 1 or not all(map(_is_plain, left))


def writes_rows(statement: Statement) -> bool:
    """Whether the statement as a whole is an INSERT, UPDATE, DELETE or MERGE. WITH may stand before it."""
    lexemes = statement.lexed.lexemes
    if lexemes[0].word in _WRITES:
        return True
    inner = lexemes[statement.first : statement.last]
    depth = inner[0].depth
    is_query = statement.kind is StatementKind.QUERY
    return is_query and any(one.word in _WRITES and one.depth == depth for one in inner)


def _without(lexemes: Sequence[Lexeme], spans: Sequence[tuple[int, int]]) -> Iterator[Lexeme]:
    """Those outside of all spans, which are in order."""
    number = 0
    for lexeme in lexemes:
        while number < len(spans) and spans[number][1] <= lexeme.start:
            number += 1
        if number == len(spans) or lexeme.start < spans[number][0]:
            yield lexeme


def _is_plain(lexeme: Lexeme) -> bool:
    if lexeme.name:
        return lexeme.word not in _COMPUTING
    return lexeme.token.token_type in _PLAIN and lexeme.token.text.isascii()
