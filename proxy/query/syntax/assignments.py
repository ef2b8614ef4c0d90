"""SET of the settings dp.*, recognised on tokens (PostgreSQL 17 documentation, SET)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.base.limits import LOOKED_AT_BYTES
from proxy.query.syntax.parameters import after_comment, escaped
from proxy.query.syntax.tokens import Lexed, lex

_LONGEST = 1_000  # characters; a longer SET is checked when a question is asked
_SCOPES = ("session", "local")


@dataclass(frozen=True, slots=True)
class Assignment:
    """SET name = value; the value as the setting will show it."""

    name: str
    value: str


def may_assign(text: str) -> bool:
    """Whether a text can hold a SET of such a setting: a first look, without tokens."""
    folded = text.lower()
    return "set" in folded and "dp" in folded


def assignment(text: str) -> Assignment | None:
    """The SET of a setting dp.*; None for everything else, DEFAULT and what cannot be read among it.

    >>> assignment("SET LOCAL dp.epsilon = 5")
    Assignment(name='dp.epsilon', value='5')
    >>> assignment("SET dp.epsilon TO DEFAULT") is None
    True
    """
    if len(text) > _LONGEST or not may_assign(text):
        return None
    try:
        lexed = lex(text)
    except Refusal:
        return None
    return None if lexed is None else _read(lexed)


def _read(lexed: Lexed) -> Assignment | None:
    found = [x for x in lexed.lexemes if x.kind is not TokenType.SEMICOLON]
    if not found or found[0].word != "set":
        return None
    rest = found[2:] if len(found) > 1 and found[1].word in _SCOPES else found[1:]
    if len(rest) < 5 or rest[0].name != "dp" or rest[1].kind is not TokenType.DOT:
        return None
    name, sign, values = rest[2].name, rest[3], rest[4:]
    if not name or not (sign.kind is TokenType.EQ or sign.word == "to"):
        return None
    if values[0].word == "default":
        return None
    written = [_value(lexed, x.kind, x.start, x.end) for x in values]
    if any(value is None for value in written):
        return None
    return Assignment(f"dp.{name}", "".join(value for value in written if value is not None))


def _value(lexed: Lexed, kind: TokenType, start: int, end: int) -> str | None:
    """A number, a word or a string; None for a string of a form that is not read here."""
    written = lexed.text[start:end]
    if kind is TokenType.STRING and written[:1] == "'":
        return None if "\\" in written else written[1:-1].replace("''", "'")
    if kind is TokenType.BYTE_STRING:
        return escaped(written)
    if kind in (TokenType.NUMBER, TokenType.DASH, TokenType.PLUS, TokenType.COMMA):
        return written
    return written if written.isidentifier() else None


# ALTER ROLE and its like, recognised on tokens (PostgreSQL 17 documentation, ALTER ROLE).


_ALTERED = ("role", "user", "group")
_ROUTINES = ("function", "procedure")
# Each text has one reading in it, and each step goes on: a pattern over several words and the comments between
# them would try all ways to divide a row of comments, twice as many for each further one.
_PART = re.compile(r"/\*|--[^\n\r]*|\w+|[^\s\w]")


def may_alter_role(text: str) -> bool:
    """Whether a text can hold such a statement: a first look, without tokens."""
    if len(text) > LOOKED_AT_BYTES:
        return False
    folded = text.lower()
    return "alter" in folded and any(word in folded for word in _ALTERED)


def check_role_statement(text: str) -> None:
    """Refuse ALTER ROLE, ALTER USER and ALTER GROUP, and these in the body of DO, a function or a procedure.

    A body that puts the words together from parts still passes: `shadow_roles` makes that harm nobody else.

    The ledger has the passwords. One that is changed on the shadow alone lets nobody in, and keeps the
    analyst's other logins out until the ledger's is put back, a second later.

    Raises:
        Refusal: With SQLSTATE 42501.
    """
    if not may_alter_role(text):
        return
    try:
        lexed = lex(text)
    except Refusal:
        return
    words = [] if lexed is None else [one.word for one in lexed.lexemes[:6] if one.word]
    if not _alters_role(words) and not (_has_body(words) and _has_role_altered(text)):
        return
    raise Refusal(
        Code.ROLE,
        "permission denied to alter a role",
        "Ask the operator, who sets a password with `dpproxy user passwd NAME`.",
    )


def _alters_role(words: list[str]) -> bool:
    is_of_role = words[:1] == ["alter"] and words[1:2] != [] and words[1] in _ALTERED
    return is_of_role and words[1:3] != ["user", "mapping"]


def _has_body(words: list[str]) -> bool:
    """`DO`, `CREATE FUNCTION`, `CREATE OR REPLACE PROCEDURE`."""
    if words[:1] == ["do"]:
        return True
    return words[:1] == ["create"] and any(word in _ROUTINES for word in words[1:4])


def _has_role_altered(text: str) -> bool:
    """Whether the words stand in a text, whatever it quotes.

    >>> _has_role_altered("do $$ begin alter /* a /* b */ */ user bob password null; end $$")
    True
    >>> _has_role_altered("do $$ begin alter user mapping for bob server s; end $$")
    False
    """
    before: tuple[str, str] = ("", "")
    for word in (*_written(text), ""):
        if (
            before[0] == "alter"
            and before[1] in _ALTERED
            and (before[1], word) != ("user", "mapping")
        ):
            return True
        before = before[1], word
    return False


def _written(text: str) -> Iterator[str]:
    """The words and marks of a text without its comments, in lower case."""
    at = 0
    while (part := _PART.search(text, at)) is not None:
        at = part.end()
        if part[0] == "/*":
            at = after_comment(text, at)
        elif not part[0].startswith("--"):
            yield part[0].lower()
