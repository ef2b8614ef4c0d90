"""Of a block: what all rows are, without one of its conditions, and what is left out by it.

count(*) where a = 1 is count(*) less count(*) where a <> 1, if a is never NULL: every row is in one of the two.
Not where rows of a unit are cut: they would be cut in each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from typing_extensions import assert_never

from proxy.catalog.catalog_model import Column, Table
from proxy.kernel.column_types import conjuncts
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.planner.facts import PlanningContext
from proxy.query.ir.expressions import (
    ColumnRef,
    Comparison,
    Connective,
    Constant,
    Expression,
    In,
    Not,
)
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
)
from proxy.reuse.combination import Rest

_MOST = 4  # conditions, of each of which two questions are named


def rests_of(
    block: BlockPlan,
    is_never_null: Callable[[ColumnRef], bool],
    about_of: Callable[[BlockPlan], bytes],
) -> tuple[Rest, ...]:
    """
    Given    about_of: the name of what rows a block is
    """
    parts = tuple(conjuncts(block.where))
    if not isinstance(block.neighbours, RowNeighbours) or len(parts) > _MOST:
        return ()
    if not are_all_rows(block.source):
        return ()
    found = []
    for number, part in enumerate(parts):
        if not _is_two_valued(part, is_never_null):
            continue
        others = (*parts[:number], *parts[number + 1 :])
        whole = replace(block, where=_all_of(others))
        less = replace(block, where=_all_of((*others, Not(part))))
        found.append(Rest(whole=about_of(whole), less=about_of(less)))
    return tuple(found)


def are_all_rows(relation: Relation) -> bool:
    """Whether no rows are left out below, which each statement chooses for itself."""
    match relation:
        case Scan():
            return True
        case Join():
            return are_all_rows(relation.left) and are_all_rows(relation.right)
        case Subquery() | GroupByUnit():
            return are_all_rows(relation.source)
        case UnionAll():
            return all(map(are_all_rows, relation.parts))
        case Truncate():
            return False
        case _:
            assert_never(relation)


def is_never_null(column: ColumnRef, block: BlockPlan, known: PlanningContext) -> bool:
    """Whether the server lets no row have NULL there."""
    found = stored_column(column, block, known)
    return found is not None and not found[1].nullable


def stored_column(
    column: ColumnRef, block: BlockPlan, known: PlanningContext
) -> tuple[Table, Column] | None:
    """What it is in a table, of which the server keeps to what is declared."""
    name = _tables(block.source).get(column.relation)
    table = None if name is None else known.catalog.tables.get(name.table)
    stored = None if table is None else table.column(column.column)
    return (table, stored) if table and stored and stored.is_enforced else None


def _all_of(parts: tuple[Expression, ...]) -> Expression | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return Connective("AND", parts)


def _is_two_valued(part: Expression, is_never_null: Callable[[ColumnRef], bool]) -> bool:
    """Whether a condition is true or false of each row: comparisons of columns that always have a value with
    constants, and what is made of such."""

    def has_value(operand: Expression) -> bool:
        match operand:
            case ColumnRef():
                return is_never_null(operand)
            case Constant():
                return operand.value is not None
            case _:
                return False

    match part:
        case Comparison():
            return has_value(part.left) and has_value(part.right)
        case In():
            return has_value(part.operand) and all(map(has_value, part.items))
        case Not():
            return _is_two_valued(part.operand, is_never_null)
        case Connective():
            return all(_is_two_valued(one, is_never_null) for one in part.operands)
        case ColumnRef():
            return is_never_null(part)
        case _:
            return False


def _tables(relation: Relation) -> Mapping[str, Scan]:
    """By their alias, those of which every row has its values: not beyond an outer join."""
    match relation:
        case Scan():
            return {relation.alias: relation}
        case Join():
            right = {} if relation.left_outer else _tables(relation.right)
            return {**_tables(relation.left), **right}
        case _:
            return {}
