"""SET of the settings dp.*, recognised on tokens (PostgreSQL 17 documentation, SET)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import TokenType

from proxy.base.errors import Refusal
from proxy.query.syntax.string_literals import escaped
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
    found = [x for x in lexed.lexemes if x.token.token_type is not TokenType.SEMICOLON]
    if not found or found[0].word != "set":
        return None
    rest = found[2:] if len(found) > 1 and found[1].word in _SCOPES else found[1:]
    if len(rest) < 5 or rest[0].name != "dp" or rest[1].token.token_type is not TokenType.DOT:
        return None
    name, sign, values = rest[2].name, rest[3], rest[4:]
    if not name or not (sign.token.token_type is TokenType.EQ or sign.word == "to"):
        return None
    if values[0].word == "default":
        return None
    written = [_value(lexed, x.token.token_type, x.start, x.end) for x in values]
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
