"""Texts of times and intervals in a statement: which of them the reader of expressions reads itself."""

from __future__ import annotations

import re

from sqlglot import TokenType

from proxy.base.time_spans import TimeSpan, is_simple, span_of
from proxy.query.syntax.tokens import Lexed

_TIMES = frozenset({"date", "timestamp", "timestamptz"})
_WORDS = re.compile(r"[A-Za-z]{2}")


def plain_span(lexed: Lexed, index: int) -> TimeSpan | None:
    """The interval in a text of one number and one unit, which the reader reads as PostgreSQL does."""
    lexeme = lexed.lexemes[index]
    written = lexed.text[lexeme.start : lexeme.end]
    is_plain = written[:1] == "'" and written[-1:] == "'" and is_simple(written[1:-1])
    following = lexed.lexemes[index + 1 : index + 2]
    is_split = bool(following) and following[0].token.token_type is TokenType.STRING
    return span_of(written[1:-1]) if is_plain and not is_split else None


def has_words(lexed: Lexed, index: int, type_name: str) -> bool:
    """Whether a lexeme is the text of a time with words in it, as the name of a zone or 'today'."""
    lexeme = lexed.lexemes[index]
    is_text = lexeme.token.token_type is TokenType.STRING
    written = lexed.text[lexeme.start : lexeme.end]
    return is_text and type_name in _TIMES and bool(_WORDS.search(written[1:]))
