"""A text that means the same whatever `standard_conforming_strings` is.

What is made of a statement is sent in several texts, and what an analyst has written can change the setting
between two of them. A backslash in a plain constant would then be an escape, and what follows it another
statement. So such constants are written as E'' strings, in which it always is one.
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.query.syntax.parameters import pieces

_Piece = tuple[str | None, int, int]

_BLANK = " \t\n\r\f\v"


def settled(text: str) -> str:
    r"""
    Given    a text as PostgreSQL reads it with standard_conforming_strings on

    >>> print(settled(r"SELECT 'a\b', 'c', E'\n', $$\$$ -- '\'"))
    SELECT  E'a\\b', 'c', E'\n', $$\$$ -- '\'
    """
    if "\\" not in text:
        return text
    found = list(pieces(text))
    made = [text[start:end] for _, start, end in found]
    at = 0
    while at < len(found):
        parts = _parts(text, found, at)
        if any("\\" in made[part] for part in parts) and not _is_other(made, at):
            for part in parts:
                made[part] = made[part].replace("\\", "\\\\")
            made[at] = f" E{made[at]}"
            if at and made[at - 1].lower() == "n":
                made[at - 1] = "nchar"  # which N'' stands for
        at = parts[-1] + 1 if parts else at + 1
    return "".join(made)


def _parts(text: str, found: Sequence[_Piece], at: int) -> list[int]:
    """The pieces of a plain constant, which goes on after a line break; none where no such constant begins."""
    if found[at][0] != "plain":
        return []
    parts = [at]
    has_break = False
    for number in range(at + 1, len(found)):
        kind, start, end = found[number]
        piece = text[start:end]
        if kind == "plain" and has_break:
            parts.append(number)
            has_break = False
        elif kind is None and not piece.strip(_BLANK):
            has_break = has_break or "\n" in piece or "\r" in piece
        elif kind != "line":
            break
    return parts


def _is_other(made: Sequence[str], at: int) -> bool:
    """B'', X'' or U&'', in which the setting changes nothing."""
    before = [piece.lower() for piece in made[max(at - 2, 0) : at]]
    return before[-1:] in (["b"], ["x"]) or before == ["u", "&"]
