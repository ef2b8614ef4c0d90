"""Subqueries that ask the same as an earlier one of the statement: one answer serves both.

PostgreSQL gives both the same value, so two numbers with noise of their own would contradict each other, and
would be paid twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from proxy.query.bind.sources import Asked, Words
from proxy.query.ir.bound_statement import AggregateSubquery
from proxy.query.ir.query import Scalar
from proxy.query.syntax.selects import Select
from proxy.query.syntax.tokens import Lexed

_POSITION = re.compile(r"position=(?:\d+|None)")
_ALIAS = re.compile(r"'r\d+'")  # base.result_columns.relation_alias
_ANSWER = re.compile(r"ScalarAnswer\(index=(\d+)\)")


def numbered_as_before(
    lexed: Lexed, asked: Asked, scalars: Sequence[Scalar], found: AggregateSubquery
) -> AggregateSubquery:
    """The subquery with the number of an earlier one that asks the same, if there is one.

    Its words are the same, so its constants are, and it has the same block, so its names mean the same. Levels
    are named by their places: those of GROUPING SETS are left apart.

    Args:
        lexed: Of the statement.
        asked: What has been read, to which this one is added: a statement may have hundreds.
        scalars: The answers that stand in conditions.
        found: A further subquery.
    """
    if len(found.levels) > 1 or found.joined is not None:
        return found
    alike = asked.setdefault(_words(lexed, found.select), [])
    meaning = _meaning(found, scalars) if alike else ""
    for one in alike:
        if _meaning(one, scalars) == meaning:
            return replace(found, number=one.number)
    alike.append(found)
    return found


def _words(lexed: Lexed, select: Select) -> Words:
    lexemes = lexed.lexemes[select.keyword : select.end]
    return tuple((one.token.token_type, one.token.text) for one in lexemes)


def _meaning(subquery: AggregateSubquery, scalars: Sequence[Scalar]) -> str:
    """The block, its relations and the answers in it called by their places. A constant that looks like such a
    name is in both texts, and makes two blocks of different names differ."""
    text = repr(replace(subquery.block, inner_outputs=(), outer_outputs=()))
    text = _POSITION.sub("", text)
    text = _ANSWER.sub(lambda answer: f"answer of {scalars[int(answer[1])].block}", text)
    places: dict[str, int] = {}
    return _ALIAS.sub(lambda name: f"#{places.setdefault(name[0], len(places))}", text)
