"""String constants as PostgreSQL reads them, as far as the parser does not (PostgreSQL 17 documentation,
section 4.1.2.1, 4.1.2.2): constants
that go on after a line break, and E'' strings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import Token, TokenType

_ESCAPE = re.compile(
    r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))|''|\\",
    re.DOTALL,
)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_BYTES_FROM = (
    0x80  # \x and octal escapes are bytes: those of a longer character are not put together here
)


def plain_strings(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The same tokens, E'' strings as plain ones and each continued constant as one.

    What it is not sure of stays as it is, which the reader of expressions refuses.

    Given    text: what the tokens' places refer to
    """
    made: list[Token] = []
    for token in tokens:
        if made and _goes_on(text, made[-1], token):
            last = made.pop()
            made.append(_string(last.text + token.text, last, token.end))
            continue
        kind = token.token_type
        value = escaped(text[token.start : token.end + 1]) if kind is _E_STRING else None
        made.append(token if value is None else _string(value, token, token.end))
    return made


_E_STRING = TokenType.BYTE_STRING  # what the parser takes it for


def _string(value: str, first: Token, end: int) -> Token:
    return Token(TokenType.STRING, value, first.line, first.col, first.start, end)


def _goes_on(text: str, last: Token, token: Token) -> bool:
    """Only white space with a line break stands between two plain constants, comments being white space.
    The parts after an E'' string would be read as E'' too."""
    if not (last.token_type is token.token_type is TokenType.STRING):
        return False
    between = text[last.end + 1 : token.start]
    return bool({"\n", "\r"} & set(between)) and text[last.start : last.start + 1] == "'"


def escaped(literal: str) -> str | None:
    """The value of an E'' string; None where this does not know it.

    >>> escaped(r"E'a\\' or 1=1 --'")
    "a' or 1=1 --"
    >>> escaped(r"E'\\xc3\\xa9'") is None
    True
    """
    if literal[:2].lower() != "e'" or literal[-1:] != "'":
        return None
    parts: list[str] = []
    end = 2
    for found in _ESCAPE.finditer(literal, 2, len(literal) - 1):
        value = _escape(found)
        if value is None:
            return None
        parts += [literal[end : found.start()], value]
        end = found.end()
    return "".join([*parts, literal[end:-1]])


def _escape(found: re.Match[str]) -> str | None:
    four, eight, hexadecimal, octal, letter = found.groups()
    if letter is not None:
        return None if letter in "uU" else _LETTERS.get(letter, letter)
    if found.group() == "''":
        return "'"
    if hexadecimal or octal:
        code = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
        return chr(code) if 0 < code < _BYTES_FROM else None
    if not (four or eight):
        return None
    code = int(four or eight, 16)
    is_surrogate = 0xD800 <= code < 0xE000
    return None if code == 0 or code > 0x10FFFF or is_surrogate else chr(code)
