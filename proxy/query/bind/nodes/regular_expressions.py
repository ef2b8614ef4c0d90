r"""Regular expressions that are alternatives of LIKE patterns: literals, `.`, `.*`, groups, `|`, `?`, `^`, `$`.

`~`, `~*`, regexp_like() and SIMILAR TO are read as these, so that nothing behind the reader knows another
pattern than LIKE's. All others are refused.

Source: PostgreSQL 17 documentation, sections 9.7.2 and 9.7.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

_MOST_PATTERNS = 32
_MOST_CHARACTERS = 256
_MOST_DEPTH = 16
_OF_LIKE = frozenset("%_\\")
_OF_REGULAR = frozenset(".[]{}()*+?^$|\\")
_OF_SIMILAR = frozenset("_%[]{}()*+?|\\")
# What each wildcard is as a LIKE pattern, by what follows it.
_WILD = {"*": "%", "+": "_%"}


class _Unreadable(Exception):
    pass


def like_patterns(text: str, *, is_similar: bool) -> tuple[str, ...] | None:
    r"""Find the LIKE patterns of which a text meets one where it meets a regular expression.

    Args:
        text: The regular expression. It is found anywhere, that of SIMILAR TO as a whole.
        is_similar: Whether it is one of SIMILAR TO.

    Returns:
        None for what is not known to mean the same, and for what is too large.

    >>> like_patterns(r"^ab|\.c$", is_similar=False)
    ('ab%', '%.c')
    >>> like_patterns("a%_(b|c)?", is_similar=True)
    ('a%_', 'a%_b', 'a%_c')
    >>> like_patterns("[a-z]+", is_similar=False) is None
    True
    """
    if len(text) > _MOST_CHARACTERS or "\0" in text:
        return None
    reader = _Reader(text, is_similar=is_similar)
    try:
        found = reader.alternatives(0)
    except _Unreadable:
        return None
    if reader.place < len(text) or any(len(one) > _MOST_CHARACTERS for one in found):
        return None
    return tuple(dict.fromkeys(found))


@dataclass(slots=True)
class _Reader:
    text: str
    is_similar: bool
    place: int = 0

    def alternatives(self, depth: int) -> list[str]:
        """Each way to read the rest of a group, or of all."""
        found = self._branch(depth)
        while self._take("|"):
            found += self._branch(depth)
        return found

    def _branch(self, depth: int) -> list[str]:
        is_anywhere = not self.is_similar and depth == 0
        found = [""]
        starts = is_anywhere and self._take("^")
        while self.place < len(self.text) and self._next() not in "|)":
            if is_anywhere and self._next() == "$":
                break
            found = ["".join(both) for both in product(found, self._piece(depth))]
            if len(found) > _MOST_PATTERNS:
                raise _Unreadable
        ends = is_anywhere and self._take("$")
        before, after = "%" * (is_anywhere and not starts), "%" * (is_anywhere and not ends)
        return [_short(before + one + after) for one in found]

    def _piece(self, depth: int) -> list[str]:
        mark = self._next()
        self.place += 1
        if mark == ("_" if self.is_similar else "."):
            wild = _WILD.get(self._next())
            self.place += wild is not None
            return ["_" if wild is None else wild]
        if mark == "%" and self.is_similar:
            return ["%"]
        if mark == "(":
            found = self._group(depth)
        elif mark == "\\":
            found = [self._escaped()]
        elif mark in (_OF_SIMILAR if self.is_similar else _OF_REGULAR):
            raise _Unreadable
        else:
            found = [_literal(mark)]
        if self._take("?"):
            found = ["", *found]
        return found

    def _group(self, depth: int) -> list[str]:
        if depth == _MOST_DEPTH:
            raise _Unreadable
        if not self.is_similar and self.text.startswith("?:", self.place):
            self.place += 2
        found = self.alternatives(depth + 1)
        if not self._take(")"):
            raise _Unreadable
        return found

    def _escaped(self) -> str:
        """A mark after a backslash; letters and digits have meanings of their own, and so has a quote."""
        mark = self._next()
        if not mark or not mark.isascii() or mark.isalnum() or mark in '_"' or mark.isspace():
            raise _Unreadable
        self.place += 1
        return _literal(mark)

    def _next(self) -> str:
        return self.text[self.place : self.place + 1]

    def _take(self, mark: str) -> bool:
        is_there = self._next() == mark
        self.place += is_there
        return is_there


def _literal(mark: str) -> str:
    return f"\\{mark}" if mark in _OF_LIKE else mark


def _short(pattern: str) -> str:
    while "%%" in pattern and "\\%" not in pattern:
        pattern = pattern.replace("%%", "%")
    return pattern
