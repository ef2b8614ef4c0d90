"""A SELECT in which rows meet answers, rewritten: the noisy relation stands for the rows, the rest of FROM and
the conditions on answers stay as they are (ADR 0049)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proxy.base.sql_types import SqlType
from proxy.query.ir.bound_statement import JoinedText
from proxy.query.ir.query import Key
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.rewrite.edits import Edit, marker, quoted
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.tokens import Lexed

_BIGINT = (-(2**63), 2**63 - 1)


def joined_edits(
    lexed: Lexed,
    select: Select,
    joined: JoinedText,
    relation: str,
    parameter: int,
    columns: Mapping[Key, str],
) -> Iterator[Edit]:
    """
    Given    relation: the noisy relation as it stands in FROM; columns: what each key is in it
    """
    yield _edit(lexed, joined.rows, relation, marker(parameter))
    for span in joined.settled:
        yield _edit(lexed, span, "true")
    for using in joined.using:
        equal = (
            f"{columns[key]} = {quoted(using.relation)}.{quoted(name)}" for key, name in using.pairs
        )
        yield _edit(lexed, using.span, f"ON {' AND '.join(equal)}")
    if not joined.is_summed:
        yield from _without_groups(lexed, select, joined.of_answers)


def _without_groups(lexed: Lexed, select: Select, of_answers: tuple[Span, ...]) -> Iterator[Edit]:
    """Each row is a group: GROUP BY goes, and HAVING is one condition more. What GROUP BY says of answers makes
    no more groups, and stays where PostgreSQL refuses a name that is none of theirs."""
    clauses = select.clauses
    where, having = clauses.get("where"), clauses.get("having")
    is_more = having is not None or bool(of_answers)
    for span in (where, having) if is_more else ():
        if span is not None:
            start, end = lexed.lexemes[span[0]].start, lexed.lexemes[span[1] - 1].end
            yield Edit(start, start, "(")
            yield Edit(end, end, ")")
    word = "WHERE" if where is None else "AND"
    if "group" in clauses:
        first, last = clauses["group"]
        texts = (
            lexed.text[lexed.lexemes[a].start : lexed.lexemes[b - 1].end] for a, b in of_answers
        )
        names = " AND ".join(f"(true OR ({text}) IS NULL)" for text in texts)
        yield _edit(lexed, (first - 1, last), f"{word} {names}" if names else "")
        word = "AND" if names else word
    if having is not None:
        yield _edit(lexed, (having[0] - 1, having[0]), word)


def summed(value: str, aggregate: Aggregate) -> str:
    """
    Given    value: the column of the noisy relation
    Gives    what it is of several of its rows: an answer that is NULL makes the sum NULL; a count of none is 0
    """
    total, rows = f"pg_catalog.sum({value})", "pg_catalog.count(*)"
    if aggregate.kind is AggregateKind.SUM:
        rows = f"NULLIF({rows}, 0)"  # a sum of none is NULL, of which GREATEST would make the least of all
    else:
        total = f"COALESCE({total}, 0)"
    if aggregate.type is SqlType.INT8:
        low, high = _BIGINT
        total = f"LEAST(GREATEST({total}, {low}), {high})::bigint"
    return f"CASE WHEN {rows} = pg_catalog.count({value}) THEN {total} END"


def _edit(lexed: Lexed, span: Span, text: str, relation: str = "") -> Edit:
    start, end = lexed.lexemes[span[0]].start, lexed.lexemes[span[1] - 1].end
    return Edit(start, end, text, relation)
