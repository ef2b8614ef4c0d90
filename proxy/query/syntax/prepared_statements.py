"""What an SQL-level PREPARE holds, and the names that PREPARE and DEALLOCATE are about."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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
        if lexeme.kind is TokenType.STRING and written[:1] == "'" and "\\" in written:
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


@dataclass(frozen=True, slots=True)
class PreparedNames:
    """names: of all PREPARE and DEALLOCATE of a text. deallocated: the name, where the text is one DEALLOCATE
    and nothing else."""

    names: tuple[str, ...] = ()
    deallocated: str = ""


_NO_NAMES = PreparedNames()


def prepared_names(text: str) -> PreparedNames:
    """Find the names that a text prepares or deallocates.

    What is no such statement may be found, too (a column called prepare). Without the two words no tokens are
    looked at.

    >>> prepared_names('DEALLOCATE PREPARE "Q"; ')
    PreparedNames(names=('Q',), deallocated='Q')
    >>> prepared_names("BEGIN; PREPARE q AS SELECT 1; DEALLOCATE ALL")
    PreparedNames(names=('q',), deallocated='')
    """
    folded = text.lower()
    if "prepare" not in folded and "deallocate" not in folded:
        return _NO_NAMES
    try:
        lexed = lex(text)
    except Refusal:
        return _NO_NAMES
    if lexed is None:
        return _NO_NAMES
    lexemes = [x for x in lexed.lexemes if x.kind is not TokenType.SEMICOLON]
    names: list[str] = []
    for command, name in pairwise(lexemes):
        is_whole = name.word not in ("all", "prepare")
        if command.word in ("prepare", "deallocate") and name.name and is_whole:
            names.append(name.name)
    is_one = bool(names) and lexemes[0].word == "deallocate"
    behind = 3 if is_one and lexemes[1].word == "prepare" else 2
    return PreparedNames(tuple(names), names[0] if is_one and len(lexemes) == behind else "")
