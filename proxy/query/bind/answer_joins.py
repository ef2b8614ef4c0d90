"""A FROM clause parted into rows of protected tables, and answers that are joined with them.

The rows with the public tables joined with them are one relation, as without answers. An answer is a subquery
that gives no row of a protected table: other aggregate subqueries and what is made of them. It stays in the
text, and is joined with the noisy relation of the rows on the shadow (ADR 0049).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from proxy.base.errors import Code, Refusal
from proxy.query.syntax.from_clause import (
    JOINED_SERIES,
    Item,
    JoinItem,
    QueryItem,
    TableItem,
    leaves,
)
from proxy.query.syntax.selects import Span
from proxy.query.syntax.tokens import Lexed

_LAST = (
    "Join the tables first and the other query last:"
    " FROM table JOIN table2 ON ... JOIN (SELECT ...) q ON ..."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerJoin:
    """One join of the rows with answers, its other side. preserves_rows: also those without a partner."""

    answers: Item
    preserves_rows: bool
    on: Span | None
    using: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedFrom:
    """rows: what is read as a relation; joins: what is joined with it on the shadow, none of a usual FROM."""

    rows: Item
    joins: tuple[AnswerJoin, ...]


def parted(
    lexed: Lexed, item: Item, is_answer: Callable[[TableItem | QueryItem], bool]
) -> JoinedFrom:
    """
    Given    is_answer: whether a leaf of FROM gives answers
    Refuses  UNSUPPORTED: rows on both sides of answers; rows that an outer join fills with NULLs
    """
    joins: list[AnswerJoin] = []
    while any(map(is_answer, leaves(item))):
        if not isinstance(item, JoinItem):
            raise _refusal(lexed, item.span[0], "answers have no rows of a protected table")
        sides = [_is_all(side, is_answer) for side in (item.left, item.right)]
        if sides[0] == sides[1]:
            message = "rows of protected tables cannot be joined with what is joined with answers"
            raise _refusal(lexed, item.place, message)
        if item.full or (sides[0] and item.left_outer):
            raise Refusal(
                Code.UNSUPPORTED,
                "an outer join that keeps answers without rows of a protected table is not available",
                f"{JOINED_SERIES} Or write JOIN, or begin with the protected table: FROM table"
                " LEFT JOIN (SELECT ...) q ON ...",
                lexed.lexemes[item.place].position,
            )
        rows, answers = (item.right, item.left) if sides[0] else (item.left, item.right)
        joins.append(
            AnswerJoin(
                answers=answers,
                preserves_rows=item.left_outer,
                on=item.on,
                using=item.using,
                place=item.place,
            )
        )
        item = rows
    return JoinedFrom(rows=item, joins=tuple(joins))


def _is_all(item: Item, is_answer: Callable[[TableItem | QueryItem], bool]) -> bool:
    return all(map(is_answer, leaves(item)))


def _refusal(lexed: Lexed, place: int, message: str) -> Refusal:
    return Refusal(Code.UNSUPPORTED, message, _LAST, lexed.lexemes[place].position)
