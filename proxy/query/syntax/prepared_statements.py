"""What an SQL-level PREPARE holds."""

from __future__ import annotations

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.query.syntax.statements import split
from proxy.query.syntax.tokens import Lexed, lex


def prepared_query(source: str, name: str) -> str | None:
    """The statement inside `PREPARE name [(types)] AS statement`, within a text that may hold others. None
    where there is none, or none that can be read: what it runs then meets the guard.

    Refuses  UNSUPPORTED: a plain string with a backslash. PostgreSQL has read it by the setting
             standard_conforming_strings of that time, which nobody knows any more

    >>> prepared_query("BEGIN; PREPARE q (int) AS SELECT $1;", "q")
    'SELECT $1'
    """
    try:
        found = _prepared_query(source, name)
    except Refusal:
        return None
    if found is None:
        return None
    lexed, start = found
    for lexeme in lexed.lexemes:
        written = lexed.text[lexeme.start : lexeme.end]
        if lexeme.token.token_type is TokenType.STRING and written[:1] == "'" and "\\" in written:
            raise Refusal(
                Code.UNSUPPORTED,
                "a prepared statement on protected tables cannot hold a backslash in a plain string",
                "Write it as an escape string: E'...' with every backslash doubled.",
            )
    return lexed.text[start:].strip()


def _prepared_query(source: str, name: str) -> tuple[Lexed, int] | None:
    for _, text in split(source):
        lexed = lex(text)
        if lexed is None or lexed.lexemes[0].word != "prepare":
            continue
        if len(lexed.lexemes) < 2 or lexed.lexemes[1].name != name:
            continue
        start = next((x for x in lexed.lexemes[2:] if x.word == "as" and x.depth == 0), None)
        return None if start is None else (lexed, start.end)
    return None
