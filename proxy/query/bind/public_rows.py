"""Subqueries that give rows of public tables, to be joined with rows of protected ones."""

from __future__ import annotations

from proxy.base.errors import Refusal
from proxy.query.bind.sources import Sources
from proxy.query.syntax.from_clause import QueryItem, TableItem, leaves
from proxy.query.syntax.selects import Span, aggregates_rows, query_parts


def is_public_rows(sources: Sources, span: Span) -> bool:
    """
    Given    span: the lexemes of a query in brackets or of a CTE
    Gives    whether it gives rows of public tables and nothing else, in a form that is read like protected rows
    """
    known = sources.public_rows.get(span)
    if known is None:
        sources.public_rows[span] = False  # a recursive CTE ends here
        known = sources.public_rows[span] = _is_public_rows(sources, span)
    return known


def _is_public_rows(sources: Sources, span: Span) -> bool:
    parts, only_all = query_parts(sources.lexed, span, sources.selects)
    if not (parts and only_all):
        return False

    def is_public(item: TableItem | QueryItem) -> bool:
        cte = sources.cte(item) if isinstance(item, TableItem) else None
        if isinstance(item, TableItem) and cte is None:
            table = sources.tables.get(item.first)
            return table is not None and not table.protected
        query = item.query if isinstance(item, QueryItem) else cte.body if cte else (0, 0)
        return is_public_rows(sources, query)

    for part in parts:
        if not part.clauses.keys() <= {"items", "from", "where"} or "from" not in part.clauses:
            return False
        if aggregates_rows(sources.lexed, part):
            return False
        try:
            items = leaves(sources.from_item(part))
        except Refusal:
            return False
        if not all(map(is_public, items)):
            return False
    return True
