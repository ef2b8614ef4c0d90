"""A SELECT that groups by the privacy unit, read: one row per unit."""

from __future__ import annotations

from dataclasses import replace

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import UNIT_COLUMN
from proxy.query.bind.aggregate_reading import Inner, readers_within
from proxy.query.bind.clause_reading import condition_of, key_column, outputs_of
from proxy.query.bind.scope import ColumnType, Scope
from proxy.query.bind.sources import Sources
from proxy.query.ir.exposed import unit_columns
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import GroupByUnit, Relation, Subquery
from proxy.query.syntax.grouping_sets import grouping_sets
from proxy.query.syntax.selects import Select


def read_per_unit(
    sources: Sources, select: Select, relation: Relation, where: Expression | None, scope: Scope
) -> tuple[Subquery, dict[str, ColumnType]]:
    """GROUP BY the unit: its aggregates become columns of one row per unit."""
    units = unit_columns(relation, sources.tables.values())
    levels = grouping_sets(sources.lexed, select.clauses["group"])
    if len(levels) > 1:
        raise Refusal(
            Code.UNSUPPORTED,
            "a subquery that groups by the privacy unit has no ROLLUP, CUBE or GROUPING SETS",
            "GROUP BY the unit alone there: "
            "SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table GROUP BY unit) q.",
            sources.lexed.lexemes[select.clauses["group"][0]].position,
        )
    keys = [key_column(sources, select, span, scope) for span in levels[0]]
    unit = keys[0]
    others = any(k is None or (k.relation, k.column) not in units for k in keys)
    if unit is None or others:
        sources.refuse(
            select.clauses["group"][0], "GROUP BY here can only be on the privacy unit itself"
        )
    inner = Inner(sources.alias(), [])
    reading = replace(scope, readers=readers_within(inner))

    def one_row(part: Expression) -> Expression:
        if isinstance(part, ColumnRef) and part.relation != inner.alias:
            if (part.relation, part.column) not in units:
                raise Refusal(
                    Code.UNSUPPORTED,
                    f'"{part.column}" is neither the privacy unit nor inside an aggregate',
                    "Aggregate it per unit, e.g. max(column).",
                    part.position,
                )
            return ColumnRef(UNIT_COLUMN, part.type, part.position, inner.alias)
        return part

    outputs = [
        (name, rebuild(expression, one_row), kind)
        for name, expression, kind in outputs_of(sources, select, reading)
    ]
    having = None
    if "having" in select.clauses:
        having = rebuild(condition_of(sources, select.clauses["having"], reading), one_row)
    grouped = GroupByUnit(inner.alias, relation, where, unit, tuple(inner.aggregates))
    place = sources.lexed.lexemes[select.clauses["group"][0]].position
    named = tuple((name, expression) for name, expression, _ in outputs)
    subquery = Subquery(sources.alias(), grouped, having, named, place)
    return subquery, {name: kind for name, _, kind in outputs}
