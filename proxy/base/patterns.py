"""Regular expressions: a part of PostgreSQL's, which no row can make raise and which means the same everywhere.

A pattern is read here, and written again from what was read: PostgreSQL would compile the client's own text
when the first row meets it, and raise then. There are no references back, nothing looks ahead, no class depends
on a locale (\\w, [[:alpha:]]), and \\d and \\s are those of ASCII; case is ignored of letters of ASCII only.
What is repeated is counted as often as it is: so many states has the automaton that PostgreSQL makes
(regcomp.c), and each character of a text takes a step through as many at the most (rege_dfa.c).

Source: PostgreSQL 17 documentation, sections 9.7.2 and 9.7.3.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

MOST_STATES = 100
_MOST_CHARACTERS = 256
_MOST_DEPTH = 16
_BOUND = re.compile(r"\{([0-9]{1,3})(,([0-9]{1,3})?)?\}", re.ASCII)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_CLASSES = {"d": "0-9", "s": " \\t\\n\\r\\f\\v"}
_MEMBERS = {"d": frozenset(string.digits), "s": frozenset(" \t\n\r\f\v")}
_ASCII = frozenset(map(chr, range(1, 128)))
_PLAIN = frozenset(string.ascii_letters + string.digits + " _-,:;/@&%=<>'\"!#~`")


class PatternSyntax(Enum):
    """LIKE is not read here; of the others a text is found anywhere (REGULAR), or as a whole (SIMILAR)."""

    LIKE = "LIKE"
    REGULAR = "~"
    SIMILAR = "SIMILAR TO"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPattern:
    """text: as it is sent, a regular expression that is found anywhere; states: of its automaton, about;
    arcs: between them, one for each kind of character that leads on."""

    text: str
    states: int
    arcs: int


@dataclass(frozen=True, slots=True)
class _Class:
    """Characters, or all others."""

    members: frozenset[str]
    is_negated: bool = False


_ANY = _Class(frozenset(), True)


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    states: int
    classes: Mapping[_Class, int]
    is_anchored: bool = False


class _Unreadable(Exception):
    pass


def read_pattern(text: str, syntax: PatternSyntax, *, ignore_case: bool) -> TextPattern | None:
    r"""
    Gives    None for what is not known to mean here what it means in PostgreSQL, or is too large

    >>> read_pattern("^ab{1,2}|\\.c$", PatternSyntax.REGULAR, ignore_case=True).text
    '^[aA][bB]{1,2}|\\.[cC]$'
    >>> read_pattern("a%_(b|c)", PatternSyntax.SIMILAR, ignore_case=False)
    TextPattern(text='^(?:a.*.(?:b|c))$', states=9, arcs=19)
    >>> read_pattern(r"(a)\1", PatternSyntax.REGULAR, ignore_case=False) is None
    True
    """
    if len(text) > _MOST_CHARACTERS or "\0" in text or text.startswith("***"):
        return None
    reader = _Reader(text, is_similar=syntax is PatternSyntax.SIMILAR, ignore_case=ignore_case)
    try:
        found = reader.alternatives(0)
    except _Unreadable:
        return None
    if reader.place < len(text) or found.states > MOST_STATES:
        return None
    arcs = _arcs(found.classes)
    if syntax is PatternSyntax.SIMILAR:
        return TextPattern(text=f"^(?:{found.text})$", states=found.states + 2, arcs=arcs)
    return TextPattern(text=found.text, states=found.states, arcs=arcs)


def _arcs(classes: Mapping[_Class, int]) -> int:
    """PostgreSQL puts characters together that all classes of a pattern treat alike (regc_color.c), and has an
    arc for each such colour of a class. The text before a match and after it has all colours.

    >>> _arcs({_Class(frozenset("ab")): 2, _Class(frozenset("b"), True): 1})
    12
    """
    mentioned = frozenset[str]().union(*(one.members for one in classes))
    colours = {mark: tuple(mark in one.members for one in classes) for mark in mentioned}
    every = len(set(colours.values())) + 1
    found = 2 * every
    for one, times in classes.items():
        inside = len({colours[mark] for mark in one.members})
        found += times * (every - inside if one.is_negated else inside)
    return found


class _Reader:
    def __init__(self, text: str, *, is_similar: bool, ignore_case: bool) -> None:
        self.text, self.place = text, 0
        self.is_similar, self.ignore_case = is_similar, ignore_case

    def alternatives(self, depth: int) -> _Piece:
        if depth > _MOST_DEPTH:
            raise _Unreadable
        branches = [self._branch(depth)]
        while self._next() == "|":
            self.place += 1
            branches.append(self._branch(depth))
        states = sum(branch.states for branch in branches) + len(branches) - 1
        is_anchored = any(branch.is_anchored for branch in branches)
        text = "|".join(branch.text for branch in branches)
        return _Piece(text, states, _together(branches), is_anchored)

    def _next(self) -> str:
        return self.text[self.place : self.place + 1]

    def _branch(self, depth: int) -> _Piece:
        pieces: list[_Piece] = []
        states = 0
        while self._next() not in ("", "|", ")"):
            piece = self._quantified(self._atom(depth))
            pieces.append(piece)
            states += piece.states
            if states > MOST_STATES:
                raise _Unreadable
        is_anchored = any(piece.is_anchored for piece in pieces)
        text = "".join(piece.text for piece in pieces)
        return _Piece(text, states, _together(pieces), is_anchored)

    def _atom(self, depth: int) -> _Piece:
        mark = self._next()
        self.place += 1
        match mark:
            case "(":
                if self._next() == "?":
                    if self.is_similar or self.text[self.place : self.place + 2] != "?:":
                        raise _Unreadable
                    self.place += 2
                inner = self.alternatives(depth + 1)
                if self._next() != ")":
                    raise _Unreadable
                self.place += 1
                text = f"(?:{inner.text})"
                return _Piece(text, inner.states + 1, inner.classes, inner.is_anchored)
            case "[":
                return self._bracket()
            case "*" | "+" | "?" | "{":
                raise _Unreadable
            case "\\":
                return self._escape()
            case "%" if self.is_similar:
                return _Piece(".*", 1, {_ANY: 1})
            case "_" if self.is_similar:
                return _Piece(".", 1, {_ANY: 1})
            case "." if not self.is_similar:
                return _Piece(".", 1, {_ANY: 1})
            case "^" | "$" if not self.is_similar:
                return _Piece(mark, 1, {_ANY: 1}, True)
            case _:
                return self._literal(mark)

    def _escape(self) -> _Piece:
        mark = self._next()
        self.place += 1
        if mark == "" or (self.is_similar and mark.isalnum()):
            raise _Unreadable
        if mark in _CLASSES:
            return _Piece(f"[{_CLASSES[mark]}]", 1, {_Class(_MEMBERS[mark]): 1})
        return self._literal(self._meant(mark))

    def _meant(self, mark: str) -> str:
        """By a backslash and this."""
        if mark in _ESCAPED and not self.is_similar:
            return _ESCAPED[mark]
        if mark.isalnum() or mark not in _ASCII:
            raise _Unreadable
        return mark

    def _literal(self, mark: str) -> _Piece:
        if self.ignore_case and mark in _ASCII and mark.isalpha():
            both = mark.lower() + mark.upper()
            return _Piece(f"[{both}]", 1, {_Class(frozenset(both)): 1})
        if self.ignore_case and mark not in _ASCII:
            raise _Unreadable  # whose other case is a locale's
        text = mark if mark in _PLAIN or mark not in _ASCII else _escaped(mark)
        return _Piece(text, 1, {_Class(frozenset(mark)): 1})

    def _quantified(self, atom: _Piece) -> _Piece:
        """Which of several matches is found does not matter: a question mark after it is left out."""
        mark, least, most = self._next(), 0, 1
        is_endless = mark in ("*", "+")
        written = mark
        match mark:
            case "*" | "+" | "?":
                self.place += 1
            case "{":
                bound = _BOUND.match(self.text, self.place)
                if bound is None:
                    raise _Unreadable
                self.place = bound.end()
                least = int(bound[1])
                is_endless = bound[2] is not None and bound[3] is None
                most = least if bound[2] is None else int(bound[3] or max(least, 1))
                if least > most or most > MOST_STATES:
                    raise _Unreadable
                written = bound[0]
            case _:
                return atom
        if atom.is_anchored or atom.text == ".*":
            raise _Unreadable
        if self._next() == "?" and not self.is_similar:
            self.place += 1
        if self._next() and self._next() in "*+?{":
            raise _Unreadable
        times = max(most, 1)
        classes = {one: times * count for one, count in atom.classes.items()}
        return _Piece(atom.text + written, atom.states * times + is_endless, classes)

    def _bracket(self) -> _Piece:
        """A set of characters of ASCII, of which a range goes by their codes; others one by one."""
        is_negated = self._next() == "^"
        self.place += is_negated
        singles: set[str] = set()
        classes: list[str] = []
        first = self.place
        while self._next() != "]" or self.place == first:
            low = self._member(classes)
            if low is None:
                continue
            is_range = self._next() == "-" and self.text[self.place + 1 : self.place + 2] != "]"
            if not is_range:
                singles.add(low)
                continue
            self.place += 1
            high = self._member(None)
            if high is None or low not in _ASCII or high not in _ASCII or low > high:
                raise _Unreadable
            singles.update(map(chr, range(ord(low), ord(high) + 1)))
        self.place += 1
        if self.ignore_case:
            if singles - _ASCII:
                raise _Unreadable
            singles |= {each.swapcase() for each in singles if each.isalpha()}
        members = "".join([*_ranges(singles), *(_CLASSES[each] for each in classes)])
        held = frozenset(singles).union(*(_MEMBERS[each] for each in classes))
        text = f"[{'^' if is_negated else ''}{members}]"
        return _Piece(text, 1, {_Class(held, is_negated): 1})

    def _member(self, classes: list[str] | None) -> str | None:
        """None: a class, which is put with the others."""
        mark = self._next()
        self.place += 1
        if mark in ("", "[", "]") or (mark == "^" and self.is_similar):
            raise _Unreadable
        if mark == "-" and self._next() != "]" and self.text[self.place - 2] not in "[^":
            raise _Unreadable
        if mark != "\\":
            return mark
        if self.is_similar:
            raise _Unreadable  # whose versions read it differently
        mark = self._next()
        self.place += 1
        if mark in _CLASSES and classes is not None:
            classes.append(mark)
            return None
        return self._meant(mark)


def _together(pieces: Iterable[_Piece]) -> Counter[_Class]:
    found = Counter[_Class]()
    for piece in pieces:
        found.update(piece.classes)
    return found


def _ranges(marks: set[str]) -> list[str]:
    """Members of a bracket, those that follow each other as a range."""
    found: list[str] = []
    ascii_codes = sorted(ord(mark) for mark in marks if mark in _ASCII)
    while ascii_codes:
        low = high = ascii_codes.pop(0)
        while ascii_codes and ascii_codes[0] == high + 1:
            high = ascii_codes.pop(0)
        ends = [_escaped(chr(low)), _escaped(chr(high))]
        found.append(
            ends[0] if low == high else "".join(ends) if high == low + 1 else "-".join(ends)
        )
    return found + sorted(mark for mark in marks if mark not in _ASCII)


def _escaped(mark: str) -> str:
    """A character of ASCII as it stands in a pattern, inside brackets too."""
    if mark.isalnum():
        return mark
    if mark in string.punctuation:
        return "\\" + mark
    return f"\\u{ord(mark):04x}"
