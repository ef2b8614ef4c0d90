"""Which subqueries are asked of each row: found before anything is read, and known by a placeholder then.

EXISTS and IN of rows of a protected table, and aggregates of one that name a relation of a SELECT around them;
EXISTS of a public table.
"""

from __future__ import annotations

from contextlib import suppress

from sqlglot import TokenType

from proxy.base.errors import Refusal
from proxy.query.bind.source_reading import nature_of
from proxy.query.bind.sources import Nature, Sources
from proxy.query.syntax.from_clause import TableItem, leaves
from proxy.query.syntax.selects import Select, is_relation, opens_query

_NO_EXPRESSION = frozenset(
    {"exists", "in", "as", "materialized", "array", "any", "some", "all", "lateral"}
)


def find_row_subqueries(sources: Sources) -> None:
    """The inner ones first: whoever asks what an outer one gives reads what stands in its FROM clause."""
    lexed = sources.lexed
    for select in reversed(sources.selects):
        index = select.keyword - 1
        if index < 1 or not opens_query(lexed, index) or select.end != lexed.partner[index]:
            continue
        if sources.is_replaced(index) or _is_in_from(sources, index):
            continue
        before = lexed.lexemes[index - 1].word
        with suppress(Refusal):  # which is raised where the subquery is looked at
            nature = nature_of(sources, select)
            if before == "exists" and (nature is Nature.ROWS or _is_public(sources, select)):
                sources.add_of_rows(index - 1, select)
            elif (before == "in" and nature is Nature.ROWS) or (
                nature is Nature.AGGREGATES
                and before not in _NO_EXPRESSION
                and _names_others(sources, select)
            ):
                sources.add_of_rows(index, select)


def _is_in_from(sources: Sources, index: int) -> bool:
    """Whether a bracket is a relation of the FROM clause that it stands in."""
    around = [s for s in sources.selects if s.keyword < index < s.end and "from" in s.clauses]
    within = [s.clauses["from"] for s in around if s.keyword == max(one.keyword for one in around)]
    return any(first <= index < last for first, last in within) and is_relation(
        sources.lexed, index
    )


def _is_public(sources: Sources, select: Select) -> bool:
    """Whether FROM is one public table."""
    item = sources.from_item(select) if "from" in select.clauses else None
    if not isinstance(item, TableItem) or sources.cte(item) is not None:
        return False
    table = sources.tables.get(item.first)
    return table is not None and not table.protected


def _names_others(sources: Sources, select: Select) -> bool:
    """Whether a name has a qualifier that no FROM clause in it has."""
    lexemes = sources.lexed.lexemes
    known: set[str] = set()
    for inner in sources.selects:
        if select.keyword <= inner.keyword < select.end and "from" in inner.clauses:
            for item in leaves(sources.from_item(inner)):
                if item.alias is not None:
                    known.add(item.alias)
                elif isinstance(item, TableItem):
                    known.add(item.chain[-1])
                    known.add(item.chain[0])
    clauses = [span for name, span in select.clauses.items() if name != "from"]
    for first, last in clauses:
        for index in range(first + 1, last - 1):
            is_dot = lexemes[index].token.token_type is TokenType.DOT
            starts = index < 2 or lexemes[index - 2].token.token_type is not TokenType.DOT
            if (
                is_dot
                and starts
                and lexemes[index - 1].name
                and lexemes[index - 1].name not in known
            ):
                return True
    return False
