"""Whose rows a relation holds, and what is known of its columns, from tables up to the FROM clause.

The privacy unit is carried along in hidden columns (dp_unit, dp_key1, ...) through every subquery, so that the
aggregate on top can gather and bound rows per unit whatever the question has projected away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner import grids
from proxy.planner.bounds import condition
from proxy.planner.computed_columns import computed_column, with_origins
from proxy.planner.facts import (
    ColumnFacts,
    PlanningContext,
    ProtectedRows,
    PublicRows,
    RelationWithUnit,
    RowOwnership,
    UnitRows,
    Untruncated,
    typed,
)
from proxy.planner.joins import joined_rows
from proxy.planner.lookups import check_tables
from proxy.planner.narrowing import narrowed
from proxy.planner.numbered_rows import first_rows, with_first_rows, with_first_rows_of_sides
from proxy.planner.rows_per_unit import per_unit
from proxy.planner.table_rows import table_rows
from proxy.planner.time_blocks import rows_in_blocks
from proxy.planner.unit_truncation import UNIT, with_condition
from proxy.planner.unit_windows import windowed
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import Case, Cast, ColumnRef, Constant, Expression
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll

KEY = "dp_key"
_APART = "Combine rows of the same privacy unit only, or query each table by itself."
_ADDED = "Ask each table by itself, and add the answers up."

_Hidden = tuple[tuple[str, Expression], ...]


def track(relation: Relation, known: PlanningContext) -> RelationWithUnit:
    """
    Refuses  UNSUPPORTED: joins that are neither on the privacy unit nor on a key
    """
    match relation:
        case Scan():
            return table_rows(relation, known)
        case Join() | Subquery():
            try:
                return _placed(relation, known)
            except Refusal as refusal:
                raise (
                    refusal if refusal.position is not None else refusal.at(relation.position)
                ) from None
        case GroupByUnit():
            source = with_first_rows(relation.source, relation.where)
            return per_unit(relation, track(source, known), known)
        case UnionAll():
            return _union(relation, [track(part, known) for part in relation.parts])
        case Truncate():
            raise AssertionError("only the planner truncates rows")
        case _:
            assert_never(relation)


def _placed(relation: Join | Subquery, known: PlanningContext) -> RelationWithUnit:
    if isinstance(relation, Subquery):
        in_blocks = rows_in_blocks(relation, known)
        if in_blocks is not None:
            return in_blocks
        source = with_first_rows(relation.source, relation.where)
        return _subquery(relation, track(source, known), known)
    relation = with_first_rows_of_sides(relation)
    if relation.is_lookup:
        check_tables(relation, known)
    return joined_rows(relation, track(relation.left, known), track(relation.right, known), known)


def _subquery(
    subquery: Subquery, source: RelationWithUnit, context: PlanningContext
) -> RelationWithUnit:
    where = None
    if subquery.where is not None:
        where = condition(typed(subquery.where, source.facts), source.facts)
    facts: dict[tuple[str, str], ColumnFacts] = {}
    outputs: list[tuple[str, Expression]] = []
    own = None if subquery.where is None else typed(subquery.where, source.facts)
    public = narrowed(source.facts, own)
    for name, expression in subquery.outputs:
        planned, known = computed_column(typed(expression, source.facts), public, own)
        outputs.append((name, planned))
        is_nullable = known.nullable and not _is_constant(expression)
        facts[subquery.alias, name] = replace(known, nullable=is_nullable)
    facts.update(with_origins(subquery, public, facts))
    windows = subquery.windows
    if windows:
        passed = tuple(part for _, part in outputs)
        windows, found = windowed(subquery, passed, source, public, own, context)
        facts |= found
    taken = {name for name, _ in outputs} | {column.name for column in windows}
    counted = first_rows(source.relation, own, source.ownership)
    hidden, ownership = _carried(subquery.alias, counted, taken)
    below, where = with_condition(source.relation, where)
    relation = replace(
        subquery, source=below, where=where, outputs=(*outputs, *hidden), windows=windows
    )
    return RelationWithUnit(relation, source.facts.instead(facts), ownership)


def _is_constant(expression: Expression) -> bool:
    """Whether it is one of several constants, none of which is NULL."""
    match expression:
        case Constant():
            return expression.value is not None
        case Case():
            results = (*(result for _, result in expression.whens), expression.otherwise)
            return all(map(_is_constant, results))
        case _:
            return False


def _carried(alias: str, ownership: RowOwnership, taken: set[str]) -> tuple[_Hidden, RowOwnership]:
    """Hidden outputs that name the owner of each row, and the owner as seen from outside. taken: names that
    the question gives to outputs of its own, which may be any."""

    def free(name: str) -> str:
        return free(f"{name}_") if name in taken else name

    def named(columns: tuple[ColumnRef, ...]) -> tuple[_Hidden, tuple[ColumnRef, ...]]:
        names = [free(f"{KEY}{i}") for i in range(1, len(columns) + 1)]
        pairs = list(zip(names, columns, strict=True))
        return tuple(pairs), tuple(ColumnRef(n, c.type, None, alias) for n, c in pairs)

    match ownership:
        case PublicRows():
            return (), ownership
        case ProtectedRows():
            outputs, hashed_by = named(ownership.hashed_by)
            return outputs, replace(ownership, hashed_by=hashed_by, parts=())
        case UnitRows():
            name = free(UNIT)
            ref = ColumnRef(name, ownership.column.type, None, alias)
            keys, named_by = named(ownership.named_by)
            carried = replace(ownership, column=ref, named_by=named_by)
            if ownership.untruncated:  # whatever is below, it is cut as one from here on
                whole = (Untruncated(alias, ref, ownership.joined),)
                carried = replace(carried, untruncated=whole, formed=ownership.joined)
            return ((name, ownership.column), *keys), carried
        case _:
            assert_never(ownership)


def _union(union: UnionAll, parts: list[RelationWithUnit]) -> RelationWithUnit:
    ownerships = [part.ownership for part in parts]
    first = ownerships[0]
    relations = [_as_subquery(part.relation) for part in parts]
    merged: RowOwnership
    if all(isinstance(ownership, UnitRows) for ownership in ownerships):
        units = [ownership for ownership in ownerships if isinstance(ownership, UnitRows)]
        if len({unit.identifier for unit in units}) != 1:
            _refuse("UNION ALL of rows with different privacy units is not available", _APART)
        of_units = dict.fromkeys(unit.column.type.sql for unit in units)
        if len(of_units) != 1:
            message = (
                f"UNION ALL of rows with privacy units of {' and '.join(of_units)} is not available"
            )
            _refuse(message, _ADDED)
        column = ColumnRef(UNIT, units[0].column.type, None, union.alias)
        rows = sum(unit.rows for unit in units)
        joined = sum(unit.joined for unit in units)
        untruncated = (
            (Untruncated(union.alias, column, joined),) if any(u.untruncated for u in units) else ()
        )
        formed = joined if untruncated else sum(unit.formed for unit in units)
        merged = replace(
            units[0],
            column=column,
            rows=rows,
            named_by=(),
            untruncated=untruncated,
            formed=formed,
            is_chosen=any(unit.is_chosen for unit in units),
            is_unbounded=any(unit.is_unbounded for unit in units),
        )
        relations = _with_hidden(relations, union, 1)
    elif all(isinstance(ownership, ProtectedRows) for ownership in ownerships):
        # One row of a table may be in several parts; without a common key its cell is random.
        rows = sum(
            ownership.rows for ownership in ownerships if isinstance(ownership, ProtectedRows)
        )
        merged = ProtectedRows(rows, ())
        relations = _with_hidden(relations, union, 0)
    else:
        _refuse(f"UNION ALL of {_described(first)} with other rows is not available", _APART)
    facts: dict[tuple[str, str], ColumnFacts] = {}
    width = len(union.parts[0].outputs)
    for place in range(width):
        names = [relation.outputs[place][0] for relation in relations]
        each = [
            part.facts[relation.alias, name]
            for part, relation, name in zip(parts, relations, names, strict=True)
        ]
        facts[union.alias, names[0]] = _meet(each)
        kinds = {known.type for known in each}
        if len(kinds) > 1 and not all(kind.is_text for kind in kinds):
            relations = [_in_numeric(relation, place) for relation in relations]
    return RelationWithUnit(
        replace(union, parts=tuple(relations)), parts[0].facts.instead(facts), merged
    )


def _with_hidden(relations: list[Subquery], union: UnionAll, hidden: int) -> list[Subquery]:
    """Without the names of rows, of which every table may have another number of columns."""
    return [
        replace(relation, outputs=relation.outputs[: len(part.outputs) + hidden])
        for relation, part in zip(relations, union.parts, strict=True)
    ]


def _in_numeric(relation: Subquery, place: int) -> Subquery:
    """A column that is a float in some parts and computed in others: numeric to float raises on some values."""
    outputs = list(relation.outputs)
    name, expression = outputs[place]
    outputs[place] = (name, Cast(expression, SqlType.NUMERIC))
    return replace(relation, outputs=tuple(outputs))


def _as_subquery(relation: Relation) -> Subquery:
    assert isinstance(relation, Subquery)
    return relation


def _described(ownership: RowOwnership) -> str:
    return "public rows" if isinstance(ownership, PublicRows) else "protected rows"


def _meet(parts: list[ColumnFacts]) -> ColumnFacts:
    """What is known of a column that is one of several."""
    bounds = [part.bounds for part in parts if part.bounds is not None]
    values = [part.values for part in parts if part.values is not None]
    every = len(parts)
    span = None
    if len(bounds) == every:
        span = Bounds(min(b.low for b in bounds), max(b.high for b in bounds), bounds[0].kind)
    grid = parts[0].grid
    for part in parts[1:]:
        grid = grids.common(grid, part.grid)
    merged = tuple(dict.fromkeys(_flat(values))) if len(values) == every else None
    kinds = {part.type for part in parts}
    kind = parts[0].type
    if len(kinds) > 1:
        kind = SqlType.TEXT if all(kind.is_text for kind in kinds) else SqlType.NUMERIC
    is_unit = all(part.is_unit for part in parts)  # of one identifier: _stacked has seen to it
    lengths = [part.characters for part in parts if part.characters is not None]
    longest = max(lengths) if len(lengths) == every else None
    ranges = None
    if all(part.ranges is not None for part in parts):
        ranges = tuple(one for part in parts for one in part.ranges or ())
    is_long = any(part.is_long for part in parts)
    return ColumnFacts(
        kind,
        span,
        grid,
        merged,
        ranges,
        nullable=any(part.nullable for part in parts),
        is_unit=is_unit,
        characters=longest,
        is_long=is_long,
        open_rows=max((part.open_rows for part in parts if part.open_rows), default=None),
        kept=_hull([part.kept for part in parts]),
        unbounded=next((part.unbounded for part in parts if part.bounds is None), None),
    )


def _hull(parts: list[Bounds | None]) -> Bounds | None:
    """None: some part has none."""
    bounds = [part for part in parts if part is not None]
    if len(bounds) < len(parts):
        return None
    return Bounds(min(one.low for one in bounds), max(one.high for one in bounds))


def _flat(values: list[tuple[str | None, ...]]) -> Iterator[str | None]:
    for part in values:
        yield from part


def _refuse(message: str, advice: str) -> NoReturn:
    raise Refusal(Code.UNSUPPORTED, message, advice)
