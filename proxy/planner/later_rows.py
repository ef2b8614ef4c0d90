"""Rows later than the present, where bounds end with it: they are in no group (ADR 0095).

A key is computed of the value within the bounds, so that without this all of them would be in the last
group. The condition stands in the plan like one of the statement: kernel, compiled SQL and digest have the same
constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.planner.facts import PlanningContext
from proxy.policy.moving_bounds import bounds_on, is_moving
from proxy.policy.policy_model import MovingBounds, ProtectedTable
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef, Comparison, Connective, Constant, Expression, Is
from proxy.query.ir.function_names import Comparator
from proxy.query.ir.query import AggregateBlock, Query
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.rebuilding import conjunction
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    scans,
)

_Names = frozenset[tuple[str, str]]


def reads_moving(query: Query, known: PlanningContext) -> bool:
    """Tell whether the plan needs the day of the present."""
    tables = known.policy.tables
    return any(
        is_moving(tables.get(scan.table)) for block in query.blocks for scan in scans(block.source)
    )


def present_of(block: AggregateBlock, known: PlanningContext) -> str | None:
    """Write the day that bounds of a block end with, as its receipt tells it. None: no bounds move."""
    tables = known.policy.tables
    if not any(is_moving(tables.get(scan.table)) for scan in scans(block.source)):
        return None
    assert known.day is not None, "the present was read"
    return iso_text(Fraction(known.day), SqlType.DATE)


def without_later_rows(query: Query, known: PlanningContext) -> Query:
    """Add to each grouped query the condition that no key is of a value later than the present.

    Raises:
        Fault: The day is not known.
    """
    if not reads_moving(query, known):
        return query
    return replace(query, blocks=tuple(_block(block, known) for block in query.blocks))


def present_lines(query: Query, known: PlanningContext) -> tuple[str, ...]:
    """Say with which constant the bounds of the named columns end, a line each."""
    if not reads_moving(query, known):
        return ()
    lines = {}
    for block in query.blocks:
        in_keys = dict(_ends(block.source, _columns(key.expression for key in block.keys), known))
        measured = _columns(part for one in block.aggregates for part in one.operands)
        for column, high in _ends(block.source, measured, known):
            lines[column] = f'"{column}" ends with {high}, which is now: later values count as it'
        for column, high in in_keys.items():
            lines[column] = f'"{column}" ends with {high}, which is now: later rows are in no group'
    return tuple(lines.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Followed:
    """A relation without later rows, and the conditions that are left to the query around it."""

    relation: Relation
    conditions: tuple[Expression, ...] = ()


def _block(block: AggregateBlock, known: PlanningContext) -> AggregateBlock:
    named = _columns(key.expression for key in block.keys)
    found = _followed(block.source, named, known)
    return replace(block, source=found.relation, where=_both(block.where, found.conditions))


def _followed(relation: Relation, named: _Names, known: PlanningContext) -> _Followed:
    """
    Args:
        relation: Of a FROM clause.
        named: Columns that keys are computed of, by alias; others are looked past.
        known: With the day.
    """
    match relation:
        case Scan():
            return _Followed(relation=relation, conditions=tuple(_of_scan(relation, named, known)))
        case Join():
            left, right = (
                _followed(side, named, known) for side in (relation.left, relation.right)
            )
            joined = replace(relation, left=left.relation, right=right.relation)
            return _Followed(relation=joined, conditions=left.conditions + right.conditions)
        case Subquery():
            return _Followed(relation=_subquery(relation, named, known))
        case GroupByUnit():
            return _Followed(relation=_of_units(relation, named, known))
        case UnionAll():
            return _Followed(relation=_union(relation, named, known))
        case Truncate():
            raise AssertionError("only the planner truncates rows")
        case _:
            assert_never(relation)


def _of_scan(scan: Scan, named: _Names, known: PlanningContext) -> Iterator[Expression]:
    for column, high in _moving(scan, named, known):
        not_later = Comparison(Comparator.LE, column, Constant(high, column.type))
        yield Connective("OR", (Is(column, None), not_later))


def _moving(scan: Scan, named: _Names, known: PlanningContext) -> Iterator[tuple[ColumnRef, str]]:
    """Named columns of a table whose bounds end with the present, and the end as a text."""
    table, there = known.policy.tables[scan.table], known.catalog.tables[scan.table]
    if not isinstance(table, ProtectedTable):
        return
    for name, column in table.columns.items():
        real = there.column(name)
        if not isinstance(column.bounds, MovingBounds) or (scan.alias, name) not in named:
            continue
        bounds = bounds_on(column, known.day)
        assert real is not None and bounds is not None, "the policy fits the catalogue"
        yield (
            ColumnRef(name, real.type, None, scan.alias),
            iso_text(Fraction(bounds.high), real.type),
        )


def _subquery(subquery: Subquery, named: _Names, known: PlanningContext) -> Subquery:
    outside = {name for alias, name in named if alias == subquery.alias}
    parts = [part for name, part in subquery.outputs if name in outside]
    parts += [part for one in subquery.windows if one.name in outside for part in one.expressions]
    found = _followed(subquery.source, _columns(parts), known)
    return replace(subquery, source=found.relation, where=_both(subquery.where, found.conditions))


def _of_units(grouped: GroupByUnit, named: _Names, known: PlanningContext) -> GroupByUnit:
    """A key of units: their later rows are left out of it, or of the aggregate that it is."""
    outside = {name for alias, name in named if alias == grouped.alias}
    keys = (key for n, key in enumerate(grouped.keys, start=1) if f"k{n}" in outside)
    found = _followed(grouped.source, _columns(keys), known)
    source, aggregates = found.relation, list[Aggregate]()
    for number, one in enumerate(grouped.aggregates, start=1):
        if f"a{number}" in outside:
            of_one = _followed(source, _columns(one.operands), known)
            source = of_one.relation
            one = replace(one, condition=_both(one.condition, of_one.conditions))
        aggregates.append(one)
    return replace(
        grouped,
        source=source,
        where=_both(grouped.where, found.conditions),
        aggregates=tuple(aggregates),
    )


def _union(union: UnionAll, named: _Names, known: PlanningContext) -> UnionAll:
    outside = {name for alias, name in named if alias == union.alias}
    places = [n for n, (name, _) in enumerate(union.parts[0].outputs) if name in outside]
    parts = (
        _subquery(part, frozenset((part.alias, part.outputs[n][0]) for n in places), known)
        for part in union.parts
    )
    return replace(union, parts=tuple(parts))


def _ends(relation: Relation, named: _Names, known: PlanningContext) -> Iterator[tuple[str, str]]:
    """The stored columns that named ones are computed of, and the constants with which their bounds end."""
    match relation:
        case Scan():
            yield from ((one.column, end) for one, end in _moving(relation, named, known))
        case Join():
            yield from _ends(relation.left, named, known)
            yield from _ends(relation.right, named, known)
        case Subquery():
            parts = [e for name, e in relation.outputs if (relation.alias, name) in named]
            parts += [e for one in relation.windows for e in one.expressions]
            yield from _ends(relation.source, _columns(parts), known)
        case GroupByUnit():
            inner = (*relation.keys, *(e for one in relation.aggregates for e in one.operands))
            yield from _ends(relation.source, _columns(inner), known)
        case UnionAll():
            for part in relation.parts:
                outputs = frozenset((part.alias, name) for name, _ in part.outputs)
                yield from _ends(part, outputs, known)
        case Truncate():
            raise AssertionError("only the planner truncates rows")
        case _:
            assert_never(relation)


def _columns(expressions: Iterable[Expression]) -> _Names:
    return frozenset[tuple[str, str]]().union(*map(columns, expressions))


def _both(before: Expression | None, more: tuple[Expression, ...]) -> Expression | None:
    return conjunction((*(() if before is None else (before,)), *more))
