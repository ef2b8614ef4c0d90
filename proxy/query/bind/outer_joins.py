"""Outer joins that keep rows of public tables, turned into such as do not (bind/added_rows.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from proxy.base.errors import Code, Refusal
from proxy.query.bind.join_conditions import aliases
from proxy.query.bind.sources import Sources
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.relations import Join, Relation, scans
from proxy.query.syntax.from_clause import JoinItem


def without_public_rows(sources: Sources, item: JoinItem, joined: Join) -> Join:
    """An outer join that keeps public rows, as one that does not (bind/added_rows.py)."""
    is_public = [_is_public(sources, side) for side in (joined.left, joined.right)]
    match is_public:
        case [True, False] if item.left_outer:
            turned = replace(joined, left_outer=False, has_public_outer=True)
            if item.full:
                pairs = tuple((b, a) for a, b in joined.equal)
                turned = replace(
                    turned, left=joined.right, right=joined.left, equal=pairs, left_outer=True
                )
        case [False, True] if item.full:
            turned = replace(joined, has_public_outer=True)
        case _ if item.full:
            _refuse_outer(
                sources,
                item,
                "FULL JOIN is not available between protected tables",
                "Use LEFT JOIN on the privacy unit, or aggregate their rows together: FROM (SELECT ... FROM a"
                " UNION ALL SELECT ... FROM b) q.",
            )
        case _:
            return joined
    public = joined.left if is_public[0] else joined.right
    names = set() if joined.rest is None else {alias for alias, _ in columns(joined.rest)}
    if item.using and item.full:
        _refuse_outer(
            sources,
            item,
            "FULL JOIN with USING is not available",
            "Write it with ON a.key = b.key.",
        )
    if names & aliases(public):
        _refuse_outer(
            sources,
            item,
            "ON of an outer join that keeps rows of a public table may say no more of that table",
            "Put that condition into WHERE, or into a subquery of the public table.",
        )
    return turned


def _refuse_outer(sources: Sources, item: JoinItem, message: str, hint: str) -> NoReturn:
    place = sources.lexed.lexemes[item.place].position
    raise Refusal(Code.UNSUPPORTED, message, hint, place)


def _is_public(sources: Sources, relation: Relation) -> bool:
    protected = {table.name for table in sources.tables.values() if table.protected}
    return all(scan.table not in protected for scan in scans(relation))
