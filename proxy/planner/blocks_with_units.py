"""The queries of a statement, with the privacy units of their rows and their keys planned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import UNIT_COLUMN, key_column
from proxy.kernel.column_types import conjuncts
from proxy.kernel.key_plans import KeyPlan
from proxy.planner.computed_columns import narrowed_as_computed
from proxy.planner.facts import Facts, PlanningContext, PublicRows, RelationWithUnit, typed
from proxy.planner.joins import whole_table
from proxy.planner.neighbours import lacks_bound
from proxy.planner.numbered_rows import first_rows, with_first_rows
from proxy.planner.planned_keys import columns_of_keys, planned_keys
from proxy.planner.tracking import track
from proxy.policy.policy_model import ProtectedTable
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.query import AggregateBlock, Query
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockWithUnit:
    """public: the facts of its keys' columns as far as its condition leaves them. where: that condition, with
    what follows from its joins."""

    block: AggregateBlock
    with_unit: RelationWithUnit
    keys: tuple[KeyPlan, ...]
    public: Facts
    where: ir.Expression | None


def blocks_with_units(query: Query, known: PlanningContext) -> Iterator[BlockWithUnit]:
    """
    Refuses  TOO_COMPLEX: public keys of all queries together have too many values
    """
    values = 0
    for block in query.blocks:
        found = _with_unit(block, known)
        values += sum(len(key.values or ()) for key in found.keys)
        if values > limits.KEY_VALUES_TOGETHER:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"the keys of all queries of the statement together have more than"
                f" {limits.KEY_VALUES_TOGETHER} values",
                "Ask several questions, or narrow the keys in WHERE (=, IN, BETWEEN).",
            )
        yield found


def _with_unit(block: AggregateBlock, known: PlanningContext) -> BlockWithUnit:
    without_partner = as_not_exists(block, known)
    if without_partner is not None:
        try:
            return _read_with_unit(without_partner, known)
        except Refusal:
            pass  # a lookup by another column than the unit is read as the join that it is
    return _read_with_unit(block, known)


def _read_with_unit(block: AggregateBlock, known: PlanningContext) -> BlockWithUnit:
    with_unit = track(with_first_rows(block.source, block.where), known)
    if isinstance(with_unit.ownership, PublicRows):
        raise Refusal(
            Code.UNSUPPORTED,
            "the query reads no protected table",
            "Run it without dp.low(), dp.high() and dp.error().",
        )
    facts = with_unit.facts
    where = None if block.where is None else typed(block.where, facts)
    with_unit = replace(
        with_unit, ownership=first_rows(with_unit.relation, where, with_unit.ownership)
    )
    where = with_joins(where, block.source, facts)
    named = columns_of_keys([typed(key.expression, facts) for key in block.keys], facts)
    public = narrowed_as_computed(facts, where, named)
    can_be_private = not lacks_bound(with_unit.ownership)
    block, keys = planned_keys(block, facts, public, where, can_be_private=can_be_private)
    return BlockWithUnit(block=block, with_unit=with_unit, keys=keys, public=public, where=where)


# Reads `LEFT JOIN o ON o.unit = c.unit WHERE o.unit IS NULL` as NOT EXISTS.
#
# Both ask for rows without a partner. As a join, a unit could add as many rows as it has partners; as NOT
# EXISTS it adds its own rows only, so that no bound has to be chosen.


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
    unit = ir.ColumnRef(UNIT_COLUMN, join.equal[0][1].type, None, lookup.alias)
    where = (*rest, ir.Is(unit, None))
    return replace(
        block,
        source=replace(
            join, right=lookup, equal=_equal(join, lookup), rest=None, is_lookup=True, written=()
        ),
        where=where[0] if len(where) == 1 else ir.Connective("AND", where),
    )


def _is_protected(table: Scan, known: PlanningContext) -> bool:
    return isinstance(known.policy.tables.get(table.table), ProtectedTable)


def _is_absent(part: ir.Expression, join: Join, table: Scan, known: PlanningContext) -> bool:
    """Whether a condition is true exactly of rows without a partner."""
    match part:
        case ir.Is(operand=ir.ColumnRef(relation=table.alias) as column, truth=None):
            compared = {inner.column for _, inner in join.equal}
            return column.column in compared or not _can_be_null(column, table, known)
        case _:
            return False


def _can_be_null(column: ir.ColumnRef, table: Scan, known: PlanningContext) -> bool:
    found = known.catalog.tables.get(table.table)
    declared = [] if found is None else [one for one in found.columns if one.name == column.column]
    return not declared or declared[0].nullable or not declared[0].is_enforced


def _elsewhere(block: AggregateBlock, rest: list[ir.Expression]) -> Iterator[ir.Expression]:
    """All expressions of a block beside its join."""
    yield from rest
    yield from (key.expression for key in block.keys)
    for aggregate in block.aggregates:
        yield from aggregate.operands
        if aggregate.condition is not None:
            yield aggregate.condition


def _names(alias: str, parts: Iterator[ir.Expression]) -> bool:
    return any(alias == of for part in parts for of, _ in columns(part))


def _partners(join: Join, table: Scan) -> Subquery:
    """One row for each unit and value that is compared, as the reader makes it of EXISTS."""
    keys = tuple(dict.fromkeys(inner for _, inner in join.equal))
    grouped = GroupByUnit(f"{table.alias}g", table, join.rest, keys[0], (), keys=keys)
    kinds = {UNIT_COLUMN: keys[0].type}
    kinds |= {key_column(number): key.type for number, key in enumerate(keys, start=1)}
    outputs = tuple(
        (name, ir.ColumnRef(name, kind, None, grouped.alias)) for name, kind in kinds.items()
    )
    return Subquery(f"{table.alias}s", grouped, None, outputs, join.position)


def _equal(join: Join, lookup: Subquery) -> tuple[tuple[ir.ColumnRef, ir.ColumnRef], ...]:
    keys = list(dict.fromkeys(inner for _, inner in join.equal))
    return tuple(
        (outer, ir.ColumnRef(key_column(keys.index(inner) + 1), inner.type, None, lookup.alias))
        for outer, inner in join.equal
    )


# What is true of all rows of a join: its own conditions, and of rows that are joined with the MIN or MAX of
# their unit `created_at >= first`, where `first` is `min(created_at)` of all rows of the customer.


_ENDS = {AggregateKind.MIN: ir.Comparator.GE, AggregateKind.MAX: ir.Comparator.LE}
_Equal = tuple[ir.ColumnRef, ir.ColumnRef]


def with_joins(where: ir.Expression | None, source: Relation, facts: Facts) -> ir.Expression | None:
    """Add to a condition what is true of all joined rows.

    Only the public keys are narrowed by it, so it is no part of the statement that runs.
    """
    found = [typed(one, facts) for one in _following(source)]
    if not found:
        return where
    return ir.Connective("AND", (*(() if where is None else (where,)), *found))


def _following(source: Relation) -> Iterator[ir.Expression]:
    leaves, equal = list(_leaves(source)), [one for join in _inner(source) for one in join.equal]
    for join in _inner(source):
        yield from () if join.rest is None else (join.rest,)
    tables = [leaf for leaf in leaves if isinstance(leaf, Scan)]
    for leaf in leaves:
        if not isinstance(leaf, Subquery) or leaf.where is not None or leaf.windows:
            continue
        for table in tables:
            yield from _of_table(leaf, table, equal)


def _of_table(subquery: Subquery, table: Scan, equal: list[_Equal]) -> Iterator[ir.Expression]:
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
            is_whole = aggregate.condition is None and isinstance(operand, ir.ColumnRef)
            if comparator is None or not is_whole or not _rises(output):
                continue
            if columns(output) != {(grouped.alias, f"a{number}")}:
                continue
            assert isinstance(operand, ir.ColumnRef)
            own = ir.ColumnRef(operand.column, operand.type, None, table.alias)
            of_row = _with_column(output, own)
            end = ir.ColumnRef(name, of_row.type or own.type, None, subquery.alias)
            yield ir.Connective("OR", (ir.Is(own, None), ir.Comparison(comparator, of_row, end)))


def _with_column(output: ir.Expression, column: ir.ColumnRef) -> ir.Expression:
    return rebuild(output, lambda one: column if isinstance(one, ir.ColumnRef) else one)


def _rises(output: ir.Expression) -> bool:
    """Whether it never falls where its column rises."""
    match output:
        case ir.ColumnRef():
            return True
        case ir.Extract(field="year") | ir.DateTrunc() | ir.Cast():
            (operand,) = children(output)
            is_of_time = operand.type is not None and operand.type.is_time
            has_order = output.type is not None and (output.type.is_time or output.type.is_number)
            return is_of_time and has_order and _rises(operand)
        case _:
            return False


def _is(one: ir.Expression, relation: str, column: str) -> bool:
    return isinstance(one, ir.ColumnRef) and (one.relation, one.column) == (relation, column)


def _named(pair: tuple[ir.ColumnRef, ...]) -> tuple[str, ...]:
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
