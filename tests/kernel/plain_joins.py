"""Joins as they would be printed if nobody told anything by the time that they take."""

from __future__ import annotations

from collections.abc import Collection

from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import condition_sql
from proxy.compiler.full_joins import Condition, NamedColumns
from proxy.query.ir.expressions import Comparator, Comparison
from proxy.query.ir.relations import Join


def plain_join_sql(
    join: Join,
    sides: tuple[str, str],
    rest: Collection[Condition],
    above: Collection[Condition],
    _: NamedColumns,
    binds: Binds,
) -> str:
    """In the place of compiler.full_joins.full_join_sql."""
    equal = [condition_sql(Comparison(Comparator.EQ, x, y), binds) for x, y in join.equal]
    on = " AND ".join([*equal, *(one.sql for one in rest)])
    word = "LEFT JOIN" if join.left_outer else "JOIN"
    joined = f"({sides[0]} {word} {sides[1]} ON {on})"
    if not above:
        return joined
    return f"({joined} JOIN (SELECT) AS {binds.alias('f')} ON {' AND '.join(o.sql for o in above)})"
