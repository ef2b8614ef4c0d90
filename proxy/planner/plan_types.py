"""Each column of a plan has the type that the generated SQL gives it, counted once more from the tables up.

What is printed of a comparison, a key or a hash depends on the types that the plan claims (compiler). A column
that is claimed to be a float and is a numeric would be brought to float by PostgreSQL, which raises on some
values: an error that tells of one row. So a plan that claims a wrong type anywhere is never run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from typing_extensions import assert_never

from proxy.base.errors import Fault
from proxy.base.node_parts import is_kind_of, parts_getter
from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.expressions import ColumnRef, Expression, InPublic
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll
from proxy.query.ir.windows import WindowColumn, WindowFunction

Types = Mapping[tuple[str, str], SqlType]
_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT)


def check_types(plan: BlockPlan, catalog: Catalog) -> None:
    """
    Refuses  Fault: a mistake of the planner
    """
    types = types_of(plan.source, catalog)
    _check((plan.where, plan.keys, plan.neighbours, plan.releases), types)


def types_of(relation: Relation, catalog: Catalog) -> Types:
    """What the columns of a relation are in the generated SQL.

    Refuses  Fault where something in it claims another type
    """
    match relation:
        case Scan():
            there = catalog.tables[relation.table].columns
            return {(relation.alias, column.name): column.type for column in there}
        case Join():
            both = {**types_of(relation.left, catalog), **types_of(relation.right, catalog)}
            _check((relation.equal, relation.rest), both)
            return both
        case Subquery():
            types = types_of(relation.source, catalog)
            _check((relation.where, relation.outputs, relation.windows), types)
            named = {(relation.alias, n): _printed(e, types) for n, e in relation.outputs}
            windows = {(relation.alias, w.name): _windowed(w, types) for w in relation.windows}
            return {**named, **windows}
        case GroupByUnit():
            types = types_of(relation.source, catalog)
            _check((relation.unit, relation.where, relation.keys, relation.aggregates), types)
            named = {(relation.alias, UNIT_COLUMN): types[_name(relation.unit)]}
            for number, key in enumerate(relation.keys, start=1):
                named[relation.alias, key_column(number)] = _printed(key, types)
            for number, aggregate in enumerate(relation.aggregates, start=1):
                named[relation.alias, aggregate_column(number)] = _aggregated(aggregate)
            return named
        case UnionAll():
            return _union(relation, [types_of(part, catalog) for part in relation.parts])
        case Truncate():
            types = types_of(relation.source, catalog)
            _check((relation.by, relation.ordered_by, relation.present, relation.where), types)
            return types
        case _:
            assert_never(relation)


def _printed(expression: Expression, types: Types) -> SqlType:
    """Numbers are computed in numeric: a float is only ever a column of a table, handed on."""
    if isinstance(expression, ColumnRef):
        return expression.type if expression.is_place else types[_name(expression)]
    kind = expression.type or SqlType.TEXT
    return SqlType.NUMERIC if kind.is_number else kind


def _windowed(column: WindowColumn, types: Types) -> SqlType:
    if column.aggregate is not None:
        return _aggregated(column.aggregate)
    if column.function is WindowFunction.ROW_NAME:
        return SqlType.UUID
    return SqlType.INT8 if column.operand is None else _printed(column.operand, types)


def _aggregated(aggregate: Aggregate) -> SqlType:
    if aggregate.kind in _COUNTS:
        return SqlType.INT8
    operand = None if aggregate.operand is None else aggregate.operand.type
    return operand if operand is not None and operand.is_time else SqlType.NUMERIC


def _union(union: UnionAll, parts: list[Types]) -> Types:
    """Columns have the names of the first part. Parts of several number types meet in numeric, of which none
    is a float (in PostgreSQL a float would make a float of all)."""
    found = {}
    for place, (name, _) in enumerate(union.parts[0].outputs):
        each = [
            types[part.alias, part.outputs[place][0]]
            for part, types in zip(union.parts, parts, strict=True)
        ]
        common = each[0]
        if len(set(each)) > 1:
            if any(kind.is_float or kind.is_number != common.is_number for kind in each):
                raise Fault
            common = SqlType.NUMERIC if common.is_number else SqlType.TEXT
        found[union.alias, name] = common
    return found


def _name(column: ColumnRef) -> tuple[str, str]:
    return column.relation, column.column


def _check(part: object, types: Types) -> None:
    for column in _columns(part):
        there = types.get(_name(column))
        if column.is_place:
            continue
        if there is None or not _holds(column.type, there):
            raise Fault


def _holds(claimed: SqlType, there: SqlType) -> bool:
    """Whether what is printed for the claimed type is right for what is there. An integer may be taken for a
    numeric; of texts only character(n) is another thing."""
    if claimed is there:
        return True
    if claimed is SqlType.NUMERIC:
        return there.is_integer
    return claimed.is_text and there.is_text and SqlType.BPCHAR not in (claimed, there)


def _columns(whole: object) -> Iterator[ColumnRef]:
    """All columns in a part of a plan, whatever it is made of."""
    waiting: list[Any] = [whole]
    while waiting:
        part = waiting.pop()
        kind = part.__class__
        if kind is ColumnRef:
            yield part
        elif kind is InPublic:
            waiting.append(part.operand)  # the rest is of no row of the question
        elif is_kind_of(kind, tuple) or is_kind_of(kind, frozenset):
            waiting += part
        elif (parts := parts_getter(kind)) is not None:
            waiting += parts(part)
