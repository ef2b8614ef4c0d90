"""Counts what PostgreSQL copies while it analyses a statement, without parsing the statement.

PostgreSQL writes some operators out before it plans (src/backend/parser/parse_expr.c, transformAExprBetween,
transformAExprIn):

    a BETWEEN b AND c             a >= b AND a <= c
    a BETWEEN SYMMETRIC b AND c   (a >= b AND a <= c) OR (a >= c AND a <= b)
    a IN (x, y, z)                a = x OR a = y OR a = z, of items that are no constants, and of rows

So an operand that nests such operators grows by a factor at each level: 10 levels of BETWEEN SYMMETRIC, 400
characters, are a million copies and 1 GiB of memory.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.query.syntax.parameters import pieces

_OPERATOR = re.compile(r"\b(?:between|in)\b", re.IGNORECASE)
_FEW_OPERATORS, _SHORT = 2, 500  # characters: so few words are never copied too often
_DOLLAR_BODIES = 4  # within one another; a deeper one counts as a constant
_MANY = 1 << 40  # no count goes beyond it
_OPENING, _CLOSING = {"(": ")", "[": "]"}, ")]"
# An operand ends before them. AND is apart: the first one after BETWEEN is BETWEEN's own. Comparisons are not
# among them, because IS binds weaker: in `a = b IS TRUE BETWEEN x AND y` all of `a = b IS TRUE` is the operand.
_BEFORE_AN_OPERAND = frozenset(
    (
        "select",
        "where",
        "on",
        "having",
        "when",
        "then",
        "else",
        "by",
        "from",
        "limit",
        "offset",
        "union",
    )
) | {"except", "intersect", "values", "returning", "set", "or"}
_CONSTANT_WORDS = frozenset(("null", "true", "false"))


def check_copies(text: str) -> None:
    """Refuse a text of whose operands PostgreSQL would make too many copies.

    A text of more than base.limits.LOOKED_AT_BYTES is relayed unread; the memory of a session limits it.

    Raises:
        Refusal: TOO_COMPLEX, before the shadow has seen the text.
    """
    if len(text) > limits.LOOKED_AT_BYTES:
        return
    operators = len(_OPERATOR.findall(text))
    if operators == 0 or (operators <= _FEW_OPERATORS and len(text) <= _SHORT):
        return
    if copied_words(text) > limits.COPIED_WORDS:
        raise Refusal(
            Code.TOO_COMPLEX,
            "BETWEEN or IN is nested too deeply",
            "PostgreSQL copies the operand of BETWEEN, and of IN with columns in its list, at each level. "
            "Compute the inner condition in a CTE: WITH c AS MATERIALIZED (SELECT ...).",
            is_kept_from_shadow=True,
        )


def copied_words(text: str) -> int:
    """Count the words that PostgreSQL adds to a text by copying operands; an upper bound, but for constants.

    Args:
        text: One or more statements. Bodies in dollar quotes count as statements.

    >>> copied_words("SELECT a WHERE a BETWEEN 1 AND 2 AND b IN (1, 2)")
    1
    >>> copied_words("SELECT a WHERE (a BETWEEN SYMMETRIC 1 AND 2) BETWEEN SYMMETRIC 1 AND 2")
    27
    >>> copied_words("SELECT a WHERE f(a) IN (1, 2, 3)"), copied_words("SELECT a WHERE f(a) IN (x, y, z)")
    (0, 4)
    """
    total = _Count().take(text)
    return total.words - total.written


@dataclass(slots=True)
class _Total:
    """words: copies included; written: without."""

    words: int = 0
    written: int = 0


@dataclass(slots=True)
class _BracketLevel:
    """A pair of brackets, CASE ... END, a dollar-quoted body or the whole text.

    total: of its words; operand: words, copies included, since the last operand began; factor: copies of each
    following word; left: the operand before BETWEEN or IN.
    """

    end: str
    is_list: bool = False
    total: _Total = field(default_factory=_Total)
    operand: int = 0
    factor: int = 1
    left: int = 0
    awaits_and: bool = False
    last_word: str = ""
    varying_items: int = 0
    is_varying: bool = False

    def add(self, words: int, written: int | None = None) -> None:
        self.total.written += words if written is None else written
        self._add_copies(words * self.factor)

    def copy_left(self, times: int) -> None:
        self._add_copies(self.left * times)

    def _add_copies(self, words: int) -> None:
        self.total.words = min(self.total.words + words, _MANY)
        self.operand = min(self.operand + words, _MANY)

    def begin_operand(self) -> None:
        self.operand, self.factor, self.awaits_and = 0, 1, False

    def end_item(self) -> None:
        self._settle_word()
        self.varying_items += self.is_varying
        self.is_varying = False
        self.begin_operand()

    def take_word(self, word: str) -> None:
        self._settle_word()
        before, self.last_word = self.last_word, word
        match word:
            case "between":
                self.left, self.awaits_and = self.operand, True
                self.copy_left(1)
            case "symmetric" if before == "between":
                self.copy_left(2)
                self.factor = min(self.factor * 2, _MANY)
            case "in":
                self.left = self.operand
            case "and" if self.awaits_and:
                self.awaits_and = False
            case "and":
                self.begin_operand()
            case _ if word in _BEFORE_AN_OPERAND:
                self.begin_operand()
            case _:
                self.add(1)

    def take_literal(self) -> None:
        """A word directly before it is its type: DATE '2020-01-01' is a constant."""
        self.last_word = ""
        self.add(1)

    def _settle_word(self) -> None:
        self.is_varying |= bool(self.last_word) and self.last_word not in _CONSTANT_WORDS

    def take_mark(self) -> None:
        self._settle_word()
        self.last_word = ""


class _Count:
    def __init__(self, dollar_bodies: int = 0) -> None:
        self._levels = [_BracketLevel("")]
        self._open: Counter[str] = Counter()
        self._dollar_bodies = dollar_bodies

    def take(self, text: str) -> _Total:
        for kind, start, end in pieces(text):
            piece = text[start:end]
            level = self._levels[-1]
            if kind in ("comment", "line") or piece.isspace():
                continue
            if kind == "dollar" and self._dollar_bodies < _DOLLAR_BODIES:
                level.take_literal()
                tag = piece[: piece.index("$", 1) + 1]
                body = _Count(self._dollar_bodies + 1).take(piece[len(tag) :].removesuffix(tag))
                level.add(body.words, body.written)
            elif kind in ("dollar", "plain") or piece[-1] == "'":
                level.take_literal()
            elif kind == "parameter":
                level.take_mark()
                level.add(1)
            elif piece[0].isalpha() or piece[0] in '_"' or piece[0] >= "\x80":
                self._take_word(piece.lower())
            else:
                self._take_marks(piece)
        while len(self._levels) > 1:
            self._close()
        return self._levels[0].total

    def _take_word(self, word: str) -> None:
        if word == "end" and self._levels[-1].end == "end":
            self._close()
            return
        self._levels[-1].take_word(word)
        if word == "case":
            self._begin(_BracketLevel("end"))

    def _take_marks(self, marks: str) -> None:
        has_digit = False
        for mark in marks:
            if mark.isspace():
                continue
            level = self._levels[-1]
            if mark in _OPENING:
                is_list = mark == "(" and level.last_word == "in"
                level.take_mark()
                level.is_varying |= level.is_list
                self._begin(_BracketLevel(_OPENING[mark], is_list))
            elif mark in _CLOSING:
                self._close_to(mark)
            elif mark in ",;":
                level.end_item()
                level.last_word = ""
            else:
                level.take_mark()
                has_digit |= mark.isdigit()
        self._levels[-1].add(has_digit)

    def _begin(self, level: _BracketLevel) -> None:
        self._levels.append(level)
        self._open[level.end] += 1

    def _close_to(self, end: str) -> None:
        if self._open[end]:
            while self._levels[-1].end != end:
                self._close()
            self._close()

    def _close(self) -> None:
        closed = self._levels.pop()
        self._open[closed.end] -= 1
        closed.end_item()
        level = self._levels[-1]
        level.last_word = ")"
        if closed.is_list and closed.varying_items > 1:
            level.copy_left(closed.varying_items - 1)
        level.add(closed.total.words, closed.total.written)
