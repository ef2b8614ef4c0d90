"""Where the parameters $1, $2, ... and the comments stand in a text, by PostgreSQL's own rules (scan.l).

sqlglot takes what is between two dollar signs for the tag of a dollar-quoted string, digits and commas
too: `IN ($1,$2)` would be a string that never ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LETTER = r"A-Za-z_\x80-\U0010ffff"
_PARAMETER = re.compile(r"\$[0-9]")
_PIECE = re.compile(
    rf"""(?P<parameter>\$[0-9]+)
    |(?P<dollar>\$(?:[{_LETTER}][{_LETTER}0-9]*)?\$)
    |(?P<comment>/\*)
    |(?P<line>--[^\r\n]*)
    |[eE]'(?:[^'\\]|\\.|'')*'
    |(?P<plain>'(?:[^']|'')*')
    |"(?:[^"]|"")*"
    |[{_LETTER}][{_LETTER}0-9$]*
    |[^$/\-'"{_LETTER}]+
    |.""",
    re.DOTALL | re.VERBOSE,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


def parameters(text: str) -> Iterator[tuple[int, int]]:
    """
    Gives    where each parameter starts and ends, 0-based characters, in order

    >>> text = "$1,$2 '$3' a$4 $x$ $5 $x$ /* /* */ $6 */ <$7"
    >>> [text[start:end] for start, end in parameters(text)]
    ['$1', '$2', '$7']
    """
    if _PARAMETER.search(text) is not None:
        yield from ((start, end) for kind, start, end in pieces(text) if kind == "parameter")


def without_comments(text: str) -> str:
    """With blanks for its comments in /* */, which nest: the parser ends some of them too early.

    >>> without_comments("a/*/**/*/b '/*' --/*")
    "a        b '/*' --/*"
    """
    if "/*" not in text:
        return text
    parts: list[str] = []
    for kind, start, end in pieces(text):
        is_closed = kind == "comment" and text.endswith("*/", start, end)
        parts.append(" " * (end - start) if is_closed else text[start:end])
    return "".join(parts)


def pieces(text: str) -> Iterator[tuple[str | None, int, int]]:
    """What a text is made of, each with its start and end.

    Gives    kind: parameter, dollar, comment, line (a comment), plain (a constant in plain quotes), or None
    """
    at = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        assert piece is not None  # any character is a piece
        start, at = piece.span()
        if piece["dollar"]:
            end = text.find(piece["dollar"], at)
            at = len(text) if end < 0 else end + len(piece["dollar"])
        elif piece["comment"]:
            at = after_comment(text, at)
        yield piece.lastgroup, start, at


def after_comment(text: str, at: int) -> int:
    """Where a comment ends that begins before `at`. They nest (PostgreSQL 17 documentation, section 4.1.5)."""
    depth = 1
    for mark in _COMMENT_MARK.finditer(text, at):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)
