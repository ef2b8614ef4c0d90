"""Tables as questions may see them, and where their privacy unit stands in a relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import assert_never

from proxy.base.result_columns import UNIT_COLUMN
from proxy.catalog.catalog_model import Column, TableName
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowFunction,
)


@dataclass(frozen=True, slots=True)
class Exposed:
    """A table as questions may see it: the listed columns and, for conditions and joins, the unit column.
    unit: that column; None where rows are the unit, and for public tables; identifier: whose it is;
    key: its primary key, if all of that is listed."""

    name: TableName
    columns: Mapping[str, Column]
    protected: bool = True
    unit: str | None = None
    identifier: str | None = None
    key: tuple[str, ...] = ()


def unit_columns(relation: Relation, tables: object) -> frozenset[tuple[str, str]]:
    """(alias, column) of every column that holds the privacy unit as it is."""
    units = {t.name: t.unit for t in tables if isinstance(t, Exposed)}  # type: ignore[attr-defined]

    def of(part: Relation) -> frozenset[tuple[str, str]]:
        match part:
            case Scan():
                unit = units.get(part.table)
                return frozenset() if unit is None else frozenset({(part.alias, unit)})
            case Join():
                # After a LEFT JOIN the far side's is NULL for every unit without a partner: one group of many.
                return of(part.left) | (frozenset() if part.left_outer else of(part.right))
            case Subquery():
                below = of(part.source)
                return frozenset(
                    (part.alias, name)
                    for name, e in part.outputs
                    if isinstance(e, ColumnRef) and (e.relation, e.column) in below
                )
            case Truncate():
                return of(part.source)
            case GroupByUnit():
                return frozenset({(part.alias, UNIT_COLUMN)})
            case UnionAll():
                names = [{name for _, name in of(branch)} for branch in part.parts]
                return frozenset((part.alias, name) for name in set.intersection(*names))
            case _:
                assert_never(part)

    return of(relation)


def row_names(relation: Relation) -> frozenset[tuple[str, str]]:
    """(alias, column) of every column that has another value in each row of a protected table."""
    match relation:
        case Join():
            right = frozenset() if relation.left_outer else row_names(relation.right)
            return row_names(relation.left) | right
        case Subquery():
            below = row_names(relation.source)
            passed = {
                name
                for name, part in relation.outputs
                if isinstance(part, ColumnRef) and (part.relation, part.column) in below
            }
            made = {w.name for w in relation.windows if w.function is WindowFunction.ROW_NAME}
            return frozenset((relation.alias, name) for name in passed | made)
        case _:
            return frozenset()
