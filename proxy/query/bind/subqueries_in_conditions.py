"""Subqueries whose values are constants to the SELECT around them: scalar aggregates, lists of public tables.

Each is read on its own and known by a placeholder from then on, which stands in the expressions around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from proxy.base.errors import Code, Refusal
from proxy.base.written_names import written_name
from proxy.query.bind.aggregate_subquery import read_scalar, read_subquery
from proxy.query.bind.retained_conditions import retained_spans
from proxy.query.bind.source_reading import nature_of, read_public_column
from proxy.query.bind.sources import Asked, Nature, Sources, Words
from proxy.query.ir.bound_statement import AggregateSubquery, blocks_of
from proxy.query.ir.query import Scalar
from proxy.query.syntax.selects import (
    ANSWERED,
    Select,
    Span,
    is_call,
    is_relation,
    opens_query,
)
from proxy.query.syntax.tokens import Lexed


def bind_subquery(sources: Sources, select: Select, *, is_constant: bool = False) -> int:
    """Reads an aggregate subquery, before it those that stand in its conditions.

    Gives    the index of its first block in the statement
    Refuses  what reading it refuses
    """
    retained = tuple(retained_spans(sources, select))
    for name in ("from", "where", "items", "having", "order"):
        if name in select.clauses:
            _bind_scalars(sources, select.clauses[name], name, retained)
    sources.consumed.add(select.keyword)
    before = sources.subqueries
    read = read_subquery(sources, select, len(blocks_of(before)) + 1, is_constant)
    read = numbered_as_before(sources.lexed, sources.asked, sources.scalars, read)
    before.append(read)
    return read.number - 1


def _bind_scalars(sources: Sources, span: Span, clause: str, retained: Sequence[Span]) -> None:
    """Scalar subqueries that aggregate: in conditions and inside aggregates their answers are constants;
    outside aggregates, and in what is retained, they stay where they are, as aggregate subqueries."""
    lexed = sources.lexed
    for index in range(*span):
        if not opens_query(lexed, index) or sources.is_replaced(index):
            continue
        if any(first <= index < last for first, last in retained):
            continue
        inside = [s for s in sources.selects if index < s.keyword < lexed.partner[index]]
        if clause in ("items", "having", "order") and not _inside_call(lexed, span, index):
            continue
        if is_relation(lexed, index) and (clause == "from" or _below_rows(sources, index)):
            continue
        if any(cte.body[0] == index + 1 for cte in sources.ctes):
            continue  # which is read where its name stands
        nested = next((s for s in inside if s.depth == lexed.lexemes[index].depth + 1), None)
        if nested is not None and len(inside) == 1 and _is_public_list(sources, nested, index):
            continue
        if nested is None or nature_of(sources, nested) is not Nature.AGGREGATES:
            raise Refusal(
                Code.UNSUPPORTED,
                "this subquery inside a condition on a protected table is not available",
                "A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), "  # noqa: S608
                "or after IN a column of a public table. Values of a table of your own are a list:"
                f" column IN (1, 2), column = ANY ($1).{_joined_instead(sources, index)}",
                lexed.lexemes[index].position,
            )
        aggregate = read_scalar(sources, nested)
        sources.add_scalar(index, aggregate.type, bind_subquery(sources, nested, is_constant=True))


def _below_rows(sources: Sources, index: int) -> bool:
    """Whether a bracket stands in FROM of a subquery that is asked of each row."""
    spans = (s.clauses["from"] for s in sources.of_rows if "from" in s.clauses)
    return any(first <= index < last for first, last in spans)


def _joined_instead(sources: Sources, index: int) -> str:
    """What can be written in the place of a subquery of one table in a condition on another: a join of the
    two on the people that both are about."""
    inside = range(index, sources.lexed.partner[index])
    inner = [table for at, table in sources.tables.items() if at in inside and table.identifier]
    outer = [table for at, table in sources.tables.items() if at < index and table.identifier]
    pair = next(
        ((a, b) for a in reversed(outer) for b in inner if a.identifier == b.identifier), None
    )
    if pair is None or pair[0].unit is None or pair[1].unit is None:
        return ""
    (left, on), (right, equal) = (
        (written_name(*table.name), written_name(table.unit or "")) for table in pair
    )
    return (
        f" Where people are to have a row there, join it: SELECT count(DISTINCT a.{on})"  # noqa: S608
        f" FROM {left} a JOIN {right} b ON b.{equal} = a.{on}."
    )


def find_public_lists(sources: Sources) -> None:
    """Those below FROM, in CTEs and in what is asked of rows, before the SELECTs around them are looked at."""
    spans = [s.clauses["from"] for s in sources.selects if "from" in s.clauses]
    spans += [cte.body for cte in sources.ctes]
    spans += [(select.keyword, select.end) for select in sources.of_rows]
    for select in sources.selects:
        index = select.keyword - 1
        among_rows = any(first <= index < last for first, last in spans)
        if among_rows and opens_query(sources.lexed, index) and not sources.is_replaced(index):
            with suppress(Refusal):  # which is raised where the list is looked at
                _is_public_list(sources, select, index)


def _is_public_list(sources: Sources, select: Select, index: int) -> bool:
    """x IN (SELECT column FROM public table ...): read, and known by a placeholder from now on."""
    lexed = sources.lexed
    if index == 0 or lexed.lexemes[index - 1].word != "in":
        return False
    if (select.keyword, select.end) != (index + 1, lexed.partner[index]):
        return False  # a part of something larger: WITH, UNION
    if nature_of(sources, select) is not Nature.CLEAN:
        return False
    try:
        found = read_public_column(sources, select)
    except Refusal as refusal:
        _refuse_list_of_row(sources, select, refusal)
        raise
    if found is None:
        return False
    sources.add_public(index, found)
    return True


def _refuse_list_of_row(sources: Sources, select: Select, refusal: Refusal) -> None:
    """Where it is refused for a column of the row around it."""
    if refusal.code is not Code.COLUMN_NOT_USABLE:
        return
    lexemes = sources.lexed.lexemes
    around = [t for at, t in sources.tables.items() if not select.keyword < at < select.end]
    for index in range(select.keyword, select.end):
        name = lexemes[index].name
        if lexemes[index].position == refusal.position and any(name in t.columns for t in around):
            raise Refusal(
                Code.UNSUPPORTED,
                f'a list from a public table cannot depend on the row around it, as by "{name}"',
                "Join the public table on its key, and compare in WHERE: SELECT count(*) FROM t"
                " JOIN public_table p ON p.id = t.public_id WHERE p.column = t.column.",
                refusal.position,
            )


def _inside_call(lexed: Lexed, span: Span, index: int) -> bool:
    """Whether a bracket stands inside the brackets of an aggregate, or of its FILTER."""
    return any(
        (lexed.lexemes[at].name in ANSWERED or lexed.lexemes[at].word == "filter")
        and is_call(lexed, at)
        and at < index < lexed.partner[at + 1]
        for at in range(span[0], index)
    )


# Subqueries that ask the same as an earlier one of the statement: one answer serves both.
#
# PostgreSQL gives both the same value, so two numbers with noise of their own would contradict each other,
# and would be paid twice.


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
