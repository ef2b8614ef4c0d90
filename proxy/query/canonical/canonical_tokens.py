"""The tokens of canonical text, as PostgreSQL's ruleutils.c writes them.

Keywords of the grammar are in capitals there, and names in small letters or in quotes. The few keywords in
small letters are words of types, `true` and `false`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from proxy.base.errors import Code, Refusal


class TokenKind(Enum):
    TEXT = "text"
    QUOTED = "quoted"
    NUMBER = "number"
    PARAMETER = "parameter"
    NAME = "name"
    SYMBOL = "symbol"
    END = "end"


@dataclass(frozen=True, slots=True)
class CanonicalToken:
    """word: Without the quotes of a name; of a text as it is written. start: Characters before it."""

    kind: TokenKind
    word: str
    start: int


_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>(?:[BX]|E)?'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<parameter>\$\d+)
  | (?P<name>[^\W\d][\w$]*)
  | (?P<symbol>::|[(),.;\[\]]|:=|=>|[-+*/<>=~!@\#%^&|`?]+|:)
    )""",
    re.VERBOSE,
)


def tokens_of(text: str) -> tuple[CanonicalToken, ...]:
    """
    Raises:
        Refusal: UNSUPPORTED: a character that begins no token.

    >>> [token.word for token in tokens_of('SELECT "a b".c::text')][:6]
    ['SELECT', 'a b', '.', 'c', '::', 'text']
    """
    found: list[CanonicalToken] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise unread("a character that is read nowhere")
        kind, word = TokenKind(match.lastgroup), match[match.lastgroup]
        if kind is TokenKind.QUOTED:
            word = word[1:-1].replace('""', '"')
        found.append(CanonicalToken(kind, word, match.start(match.lastgroup)))
        at = match.end()
    return (*found, CanonicalToken(TokenKind.END, "", at))


def unread(what: str) -> Refusal:
    """A form of canonical text that is not read: fail closed."""
    return Refusal(
        Code.UNSUPPORTED,
        f"{what} is not available in a query on a protected table",
        "Write the question in another way.",
    )
