"""What is true of all rows of a join: its own conditions, and of rows that are joined with the MIN or MAX of
their unit `created_at >= first`, where `first` is `min(created_at)` of all rows of the customer."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.planner.column_origins import whole_table
from proxy.planner.facts import Facts, typed
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import (
    Cast,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    DateTrunc,
    Expression,
    Extract,
    Is,
)
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery

_ENDS = {AggregateKind.MIN: Comparator.GE, AggregateKind.MAX: Comparator.LE}
_Equal = tuple[ColumnRef, ColumnRef]


def with_joins(where: Expression | None, source: Relation, facts: Facts) -> Expression | None:
    """Add to a condition what is true of all joined rows.

    Only the public keys are narrowed by it, so it is no part of the statement that runs.
    """
    found = [typed(one, facts) for one in _following(source)]
    if not found:
        return where
    return Connective("AND", (*(() if where is None else (where,)), *found))


def _following(source: Relation) -> Iterator[Expression]:
    leaves, equal = list(_leaves(source)), [one for join in _inner(source) for one in join.equal]
    for join in _inner(source):
        yield from () if join.rest is None else (join.rest,)
    tables = [leaf for leaf in leaves if isinstance(leaf, Scan)]
    for leaf in leaves:
        if not isinstance(leaf, Subquery) or leaf.where is not None or leaf.windows:
            continue
        for table in tables:
            yield from _of_table(leaf, table, equal)


def _of_table(subquery: Subquery, table: Scan, equal: list[_Equal]) -> Iterator[Expression]:
    """Of the rows of a table that is joined with a subquery over the same table by the unit of both."""
    grouped = subquery.source
    if not isinstance(grouped, GroupByUnit) or grouped.where is not None or grouped.keys:
        return
    below = whole_table(grouped.source)
    if below is None or grouped.source is not below or below.table != table.table:
        return
    units = [name for name, one in subquery.outputs if _is(one, grouped.alias, "unit")]
    pairs = [(table.alias, grouped.unit.column, subquery.alias, name) for name in units]
    if not any(_named(one) in pairs for pair in equal for one in (pair, pair[::-1])):
        return
    for name, output in subquery.outputs:
        for number, aggregate in enumerate(grouped.aggregates, start=1):
            comparator, operand = _ENDS.get(aggregate.kind), aggregate.operand
            is_whole = aggregate.condition is None and isinstance(operand, ColumnRef)
            if comparator is None or not is_whole or not _rises(output):
                continue
            if columns(output) != {(grouped.alias, f"a{number}")}:
                continue
            assert isinstance(operand, ColumnRef)
            own = ColumnRef(operand.column, operand.type, None, table.alias)
            of_row = _with_column(output, own)
            end = ColumnRef(name, of_row.type or own.type, None, subquery.alias)
            yield Connective("OR", (Is(own, None), Comparison(comparator, of_row, end)))


def _with_column(output: Expression, column: ColumnRef) -> Expression:
    return rebuild(output, lambda one: column if isinstance(one, ColumnRef) else one)


def _rises(output: Expression) -> bool:
    """Whether it never falls where its column rises."""
    match output:
        case ColumnRef():
            return True
        case Extract(field="year") | DateTrunc() | Cast():
            (operand,) = children(output)
            is_of_time = operand.type is not None and operand.type.is_time
            has_order = output.type is not None and (output.type.is_time or output.type.is_number)
            return is_of_time and has_order and _rises(operand)
        case _:
            return False


def _is(one: Expression, relation: str, column: str) -> bool:
    return isinstance(one, ColumnRef) and (one.relation, one.column) == (relation, column)


def _named(pair: tuple[ColumnRef, ...]) -> tuple[str, ...]:
    return tuple(name for one in pair for name in (one.relation, one.column))


def _leaves(source: Relation) -> Iterator[Relation]:
    """Those of inner joins: of an outer one a row may have no partner."""
    joins = list(_inner(source))
    if not joins:
        yield source
    for side in (side for join in joins for side in (join.left, join.right)):
        if not isinstance(side, Join):
            yield side


def _inner(source: Relation) -> Iterator[Join]:
    if isinstance(source, Join) and not (source.left_outer or source.has_public_outer):
        yield source
        yield from _inner(source.left)
        yield from _inner(source.right)
