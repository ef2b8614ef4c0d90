"""Pieces that every shape of backend statement has: the select list, keys, WHERE, the finished query."""

from __future__ import annotations

from dataclasses import dataclass, field

from proxy.base.sql_types import SqlType
from proxy.compiler.backend_query import BackendQuery, Slots
from proxy.compiler.expression_sql import Binds, column_sql, condition_sql, value_sql
from proxy.planner.plan import BlockPlan, KeyPlan
from proxy.query.expressions import ColumnRef


@dataclass(slots=True)
class Output:
    """A select list in which equal expressions are one column."""

    expressions: dict[str, int] = field(default_factory=dict)

    def add(self, sql: str) -> int:
        return self.expressions.setdefault(sql, len(self.expressions))


def key_sql(key: KeyPlan, binds: Binds) -> str:
    return f"({value_sql(key.expression, binds)})::text"


def where_sql(plan: BlockPlan, not_null: ColumnRef | None, binds: Binds) -> str:
    parts = [f"{column_sql(not_null)} IS NOT NULL"] if not_null is not None else []
    for key in plan.keys:
        if key.values is not None:
            parts.append(_listed(key, key.values, binds))
    if plan.where is not None:
        parts.append(condition_sql(plan.where, binds))
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def _listed(key: KeyPlan, values: tuple[str | None, ...], binds: Binds) -> str:
    """Rows whose key is not listed are in no group (design/DESIGN.md 4)."""
    expression = value_sql(key.expression, binds)
    listed = [value for value in values if value is not None]
    if isinstance(key.expression, ColumnRef):
        kind = "bpchar" if key.type is SqlType.BPCHAR else key.type.sql
        among = f"{expression} = ANY({binds.add(listed, f'text[]::{kind}[]')})"
    else:
        among = f"({expression})::text = ANY({binds.add(listed, 'text[]')})"
    return f"({among} OR {expression} IS NULL)" if None in values else f"({among})"


def finished(
    sql: str,
    plan: BlockPlan,
    releases: tuple[int, ...],
    binds: Binds,
    seeds: tuple[str, ...],
    slots: tuple[Slots, ...],
    units: int | None,
) -> BackendQuery:
    return BackendQuery(
        sql=sql,
        parameters=binds.values,
        seeds=(*seeds, *binds.seeds),
        keys=len(plan.keys),
        has_cell=bool(plan.cells),
        slots=slots,
        releases=releases,
        scalars=tuple(binds.scalars.items()),
        units=units,
    )
