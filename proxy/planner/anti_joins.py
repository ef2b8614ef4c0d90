"""Reads `LEFT JOIN o ON o.unit = c.unit WHERE o.unit IS NULL` as NOT EXISTS.

Both ask for rows without a partner. As a join, a unit could add as many rows as it has partners; as NOT EXISTS
it adds its own rows only, so that no bound has to be chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from proxy.base.result_columns import UNIT_COLUMN, key_column
from proxy.kernel.column_types import conjuncts
from proxy.planner.facts import PlanningContext
from proxy.policy.policy_model import ProtectedTable
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef, Connective, Expression, Is
from proxy.query.ir.query import AggregateBlock
from proxy.query.ir.relations import GroupByUnit, Join, Scan, Subquery


def as_not_exists(block: AggregateBlock, known: PlanningContext) -> AggregateBlock | None:
    """Write the last join of a block as a lookup.

    Returns:
        None if the join may have another meaning: its table is used elsewhere, or the column that has to be
        NULL can be so in a partner.
    """
    join = block.source
    if not isinstance(join, Join) or not join.left_outer or join.is_lookup:
        return None
    table = join.right
    if not isinstance(table, Scan) or not _is_protected(table, known):
        return None
    parts = list(conjuncts(block.where))
    absent = [part for part in parts if _is_absent(part, join, table, known)]
    rest = [part for part in parts if part not in absent]
    if not absent or _names(table.alias, _elsewhere(block, rest)):
        return None
    if join.rest is not None and {alias for alias, _ in columns(join.rest)} != {table.alias}:
        return None
    lookup = _partners(join, table)
    unit = ColumnRef(UNIT_COLUMN, join.equal[0][1].type, None, lookup.alias)
    where = (*rest, Is(unit, None))
    return replace(
        block,
        source=replace(
            join, right=lookup, equal=_equal(join, lookup), rest=None, is_lookup=True, written=()
        ),
        where=where[0] if len(where) == 1 else Connective("AND", where),
    )


def _is_protected(table: Scan, known: PlanningContext) -> bool:
    return isinstance(known.policy.tables.get(table.table), ProtectedTable)


def _is_absent(part: Expression, join: Join, table: Scan, known: PlanningContext) -> bool:
    """Whether a condition is true exactly of rows without a partner."""
    match part:
        case Is(operand=ColumnRef(relation=table.alias) as column, truth=None):
            compared = {inner.column for _, inner in join.equal}
            return column.column in compared or not _can_be_null(column, table, known)
        case _:
            return False


def _can_be_null(column: ColumnRef, table: Scan, known: PlanningContext) -> bool:
    found = known.catalog.tables.get(table.table)
    declared = [] if found is None else [one for one in found.columns if one.name == column.column]
    return not declared or declared[0].nullable or not declared[0].is_enforced


def _elsewhere(block: AggregateBlock, rest: list[Expression]) -> Iterator[Expression]:
    """All expressions of a block beside its join."""
    yield from rest
    yield from (key.expression for key in block.keys)
    for aggregate in block.aggregates:
        yield from aggregate.operands
        if aggregate.condition is not None:
            yield aggregate.condition


def _names(alias: str, parts: Iterator[Expression]) -> bool:
    return any(alias == of for part in parts for of, _ in columns(part))


def _partners(join: Join, table: Scan) -> Subquery:
    """One row for each unit and value that is compared, as the reader makes it of EXISTS."""
    keys = tuple(dict.fromkeys(inner for _, inner in join.equal))
    grouped = GroupByUnit(f"{table.alias}g", table, join.rest, keys[0], (), keys=keys)
    kinds = {UNIT_COLUMN: keys[0].type}
    kinds |= {key_column(number): key.type for number, key in enumerate(keys, start=1)}
    outputs = tuple(
        (name, ColumnRef(name, kind, None, grouped.alias)) for name, kind in kinds.items()
    )
    return Subquery(f"{table.alias}s", grouped, None, outputs, join.position)


def _equal(join: Join, lookup: Subquery) -> tuple[tuple[ColumnRef, ColumnRef], ...]:
    keys = list(dict.fromkeys(inner for _, inner in join.equal))
    return tuple(
        (outer, ColumnRef(key_column(keys.index(inner) + 1), inner.type, None, lookup.alias))
        for outer, inner in join.equal
    )
