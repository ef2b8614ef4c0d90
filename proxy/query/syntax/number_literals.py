"""Numbers that the tokenizer takes for several tokens or for bits: 0x1F, 0o17, 0b11, 1_000."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import Token, TokenType

_DIGITS = r"[0-9](?:_?[0-9])*"
# PostgreSQL 17 documentation, section 4.1.2.6.
_NUMBER = re.compile(
    rf"0[xX](?:_?[0-9A-Fa-f])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+"
    rf"|(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?"
)
_WHOLE = {"x": 16, "o": 8, "b": 2}
_MOST_CHARACTERS = 100  # of a number in another base than ten
_STARTS = frozenset({TokenType.NUMBER, TokenType.HEX_STRING, TokenType.BIT_STRING})


def plain_numbers(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The same tokens, with each number as one in plain digits.

    Args:
        text: What the tokens' places refer to.
    """
    if not any(token.token_type in _STARTS for token in tokens):
        return list(tokens)
    made: list[Token] = []
    after = -1  # of the number that ate the tokens before it
    for at, token in enumerate(tokens):
        if token.start < after:
            continue
        found = _NUMBER.match(text, token.start) if token.token_type in _STARTS else None
        value = None if found is None else _plain(found[0])
        is_same = token.token_type is TokenType.NUMBER and value == token.text
        if found is None or value is None or is_same or not _is_whole(tokens, at, found.end()):
            made.append(token)
            continue
        after = found.end()
        place = (token.line, token.col, token.start, after - 1)
        made.append(Token(TokenType.NUMBER, value, *place))
    return made


def _is_whole(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Whether a token ends where the number does, and nothing goes on with it."""
    for number in range(at, len(tokens)):
        if tokens[number].end + 1 >= end:
            follows = tokens[number + 1].start if number + 1 < len(tokens) else end + 1
            goes_on = follows == end and tokens[number + 1].token_type in (
                *_STARTS,
                TokenType.VAR,
            )
            return tokens[number].end + 1 == end and not goes_on
    return False


def _plain(written: str) -> str | None:
    """In plain digits; None: it is too long.

    >>> _plain("0x1F"), _plain("1_000.5"), _plain("0b1_1"), _plain("1e5")
    ('31', '1000.5', '3', '1e5')
    """
    bare = written.replace("_", "")
    base = _WHOLE.get(bare[1:2].lower())
    if base is None:
        return bare
    return str(int(bare[2:], base)) if len(bare) <= _MOST_CHARACTERS else None
