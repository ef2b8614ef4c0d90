"""Whose rows a relation holds, and what is known of its columns, from tables up to the FROM clause.

The privacy unit is carried along in hidden columns (dp_unit, dp_key1, ...) through every subquery, so that the
aggregate on top can gather and bound rows per unit whatever the question has projected away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.model import Catalog, Column
from proxy.planner import grids
from proxy.planner.bounds import bounded, condition
from proxy.planner.facts import (
    ColumnFacts,
    Facts,
    Owner,
    ProtectedRows,
    PublicRows,
    PublicValues,
    UnitRows,
)
from proxy.planner.keys import label_values
from proxy.policy.grid import grid_of, type_step
from proxy.policy.model import (
    Bounds,
    IdentifierUnit,
    Policy,
    ProtectedTable,
    RowUnit,
    UnitPath,
)
from proxy.query.expressions import ColumnRef, Expression
from proxy.query.query_aggregates import Aggregate, AggregateKind
from proxy.query.rebuilding import rebuild
from proxy.query.relations import Derived, Joined, PerUnit, Relation, Scan, Stacked, scans

UNIT = "dp_unit"
KEY = "dp_key"


@dataclass(frozen=True, slots=True)
class Tracked:
    relation: Relation
    facts: Facts
    owner: Owner


@dataclass(frozen=True, slots=True)
class Surroundings:
    policy: Policy
    catalog: Catalog
    public: PublicValues


def track(relation: Relation, known: Surroundings) -> Tracked:
    """
    Refuses  UNSUPPORTED: joins that are not on the privacy unit or on a key of a public table
    """
    match relation:
        case Scan():
            return _scan(relation, known)
        case Joined():
            try:
                return _joined(relation, known)
            except Refusal as refusal:
                raise (
                    refusal if refusal.position is not None else refusal.at(relation.position)
                ) from None
        case Derived():
            return _derived(relation, track(relation.source, known))
        case PerUnit():
            return _per_unit(relation, track(relation.source, known))
        case Stacked():
            return _stacked(relation, [track(part, known) for part in relation.parts])
        case _:
            assert_never(relation)


def typed(expression: Expression, facts: Facts) -> Expression:
    """Columns in the types that they have in the backend."""

    def change(part: Expression) -> Expression:
        if isinstance(part, ColumnRef) and (part.relation, part.column) in facts:
            return replace(part, type=facts[part.relation, part.column].type)
        return part

    return rebuild(expression, change)


# --- tables ----------------------------------------------------------------------------------------


def _scan(scan: Scan, known: Surroundings) -> Tracked:
    described = known.catalog.tables[scan.table]
    policy = known.policy.tables[scan.table]
    if not isinstance(policy, ProtectedTable):
        facts = {
            (scan.alias, c.name): ColumnFacts(c.type, values=known.public.get((scan.table, c.name)))
            for c in described.columns
        }
        return Tracked(scan, facts, PublicRows())
    columns = {column.name: column for column in described.columns}
    facts = {
        (scan.alias, name): _column_facts(columns[name], policy, known)
        for name in columns
        if name in policy.columns
    }

    def ref(name: str) -> ColumnRef:
        return ColumnRef(name, columns[name].type, None, scan.alias)

    unit = policy.unit
    if isinstance(unit, RowUnit):
        keys = tuple(ref(name) for name in described.primary_key)
        return Tracked(scan, facts, ProtectedRows(unit.rows, keys))
    assert isinstance(unit, IdentifierUnit) and policy.max_rows_per_unit is not None
    bounds = (policy.max_groups_per_unit, policy.max_rows_per_group_per_unit)
    if unit.path is not None:
        relation, column = _through(scan, ref(unit.column), unit.path, known)
        key = (scan.alias, unit.column)
        facts.setdefault(key, ColumnFacts(columns[unit.column].type))
        facts[key] = replace(facts[key], leads_to=unit.path.table)
        facts[column.relation, column.column] = ColumnFacts(column.type, is_unit=True)
        owner = UnitRows(unit.identifier, column, policy.max_rows_per_unit, False, *bounds)
        return Tracked(relation, facts, owner)
    facts[scan.alias, unit.column] = ColumnFacts(columns[unit.column].type, is_unit=True)
    unique = described.is_unique(unit.column)
    rows = 1 if unique else policy.max_rows_per_unit
    owner = UnitRows(unit.identifier, ref(unit.column), rows, unique, *bounds)
    return Tracked(scan, facts, owner)


def _through(
    scan: Scan, reference: ColumnRef, path: UnitPath, known: Surroundings
) -> tuple[Relation, ColumnRef]:
    """The table joined with the row that its reference names, which holds the identifier. The reference
    meets at most one row (a primary key), so no row is multiplied; rows that lead nowhere have no unit."""
    target = known.catalog.tables[path.table]
    held = target.column(path.column)
    assert held is not None and len(target.primary_key) == 1
    key = target.column(target.primary_key[0])
    assert key is not None
    alias = f"{scan.alias}u"
    equal = ((reference, ColumnRef(key.name, key.type, None, alias)),)
    joined = Joined(scan, Scan(alias, path.table), False, equal, None)
    return joined, ColumnRef(held.name, held.type, None, alias)


def _column_facts(column: Column, policy: ProtectedTable, known: Surroundings) -> ColumnFacts:
    own = policy.columns[column.name]
    grid = None if own.bounds is None else grid_of(column, own)
    values = own.values
    if values is None and column.type is SqlType.BOOL:
        values = ("true", "false")
    if values is None and own.references is not None:
        values = known.public.get(own.references)  # the keys of a public table
    return ColumnFacts(
        column.type,
        own.bounds,
        grid,
        values,
        step=type_step(column),
        nullable=column.nullable,
        partitions=own.partitions,
        mechanism=own.mechanism,
    )


# --- joins -----------------------------------------------------------------------------------------


def _joined(joined: Joined, known: Surroundings) -> Tracked:
    left, right = track(joined.left, known), track(joined.right, known)
    facts = {**left.facts, **right.facts}
    if joined.left_outer:
        for key, column in right.facts.items():
            values = column.values
            if values is not None and None not in values:
                values = (*values, None)
            facts[key] = replace(column, values=values, nullable=True)
    rest = None if joined.rest is None else condition(typed(joined.rest, facts), facts)
    relation = replace(joined, left=left.relation, right=right.relation, rest=rest)
    match left.owner, right.owner:
        case PublicRows(), PublicRows():
            return Tracked(relation, facts, PublicRows())
        case _, PublicRows():
            _only_one_partner(joined, right.relation, [b for _, b in joined.equal], known)
            return Tracked(relation, facts, left.owner)
        case PublicRows(), _ if not joined.left_outer:
            _only_one_partner(joined, left.relation, [a for a, _ in joined.equal], known)
            return Tracked(relation, facts, right.owner)
        case UnitRows() as a, UnitRows() as b if a.identifier == b.identifier:
            if _on_the_unit(joined, left, right, a, b):
                return Tracked(relation, facts, _both(a, b))
            if not _along_the_reference(joined, left, right, known):
                _refuse("a join of protected tables must be on the privacy unit they share")
            return Tracked(relation, facts, replace(a, rows=max(a.rows, b.rows), unique=False))
        case _:
            _refuse("protected tables with different privacy units cannot be joined")


def _refuse(message: str) -> NoReturn:
    raise Refusal(
        Code.UNSUPPORTED,
        message,
        "Join on the privacy unit (a.unit = b.unit), or a public table on its key.",
    )


def _only_one_partner(
    joined: Joined, public: Relation, columns: list[ColumnRef], known: Surroundings
) -> None:
    """A protected row must meet at most one public row: a key of the public table, checked by the server."""
    if isinstance(public, Scan):
        table = known.catalog.tables[public.table]
        on = {c.column for c in columns if c.relation == public.alias}
        for a, b in joined.equal:
            if not _compared_exactly(a, b):
                on -= {a.column, b.column}
        keys = [table.primary_key, *table.unique]
        if any(key and set(key) <= on for key in keys):
            return
    _refuse(
        "a public table can be joined on a key that is unique in it, so that no row is multiplied"
    )


def _on_the_unit(joined: Joined, left: Tracked, right: Tracked, a: UnitRows, b: UnitRows) -> bool:
    ours, theirs = _unit_names(left, a), _unit_names(right, b)
    return any(
        (x.relation, x.column) in ours
        and (y.relation, y.column) in theirs
        and _compared_exactly(x, y)
        for x, y in joined.equal
    )


def _compared_exactly(x: ColumnRef, y: ColumnRef) -> bool:
    """Whether different values of one side never equal the same value of the other. A float meets other
    numbers in numeric, with 15 digits (compiler.expression_sql), so that floats next to each other collide."""
    return x.type.is_float == y.type.is_float


def _along_the_reference(
    joined: Joined, left: Tracked, right: Tracked, known: Surroundings
) -> bool:
    """A row meets the very row through which its unit was found, so both belong to the same unit."""
    for x, y in joined.equal:
        for here, facts, there, side in (
            (x, left.facts, y, joined.right),
            (y, right.facts, x, joined.left),
        ):
            target = facts[here.relation, here.column].leads_to
            met = next((s for s in scans(side) if s.alias == there.relation), None)
            if target is None or met is None or met.table != target:
                continue
            if known.catalog.tables[target].primary_key == (there.column,):
                return True
    return False


def _unit_names(tracked: Tracked, owner: UnitRows) -> set[tuple[str, str]]:
    names = {key for key, column in tracked.facts.items() if column.is_unit}
    return names | {(owner.column.relation, owner.column.column)}


def _both(a: UnitRows, b: UnitRows) -> UnitRows:
    """Rows of one unit meet rows of the same unit: at most the product of their numbers counts."""

    def least(x: int | None, y: int | None) -> int | None:
        return y if x is None else x if y is None else min(x, y)

    return replace(
        a,
        rows=a.rows * b.rows,
        unique=a.unique and b.unique,
        groups=least(a.groups, b.groups),
        rows_per_group=least(a.rows_per_group, b.rows_per_group),
    )


# --- subqueries ------------------------------------------------------------------------------------


def _derived(derived: Derived, source: Tracked) -> Tracked:
    where = None
    if derived.where is not None:
        where = condition(typed(derived.where, source.facts), source.facts)
    facts: dict[tuple[str, str], ColumnFacts] = {}
    outputs: list[tuple[str, Expression]] = []
    for name, expression in derived.outputs:
        planned, known = _output(typed(expression, source.facts), source.facts)
        outputs.append((name, planned))
        facts[derived.alias, name] = known
    hidden, owner = _carried(derived.alias, source.owner, {name for name, _ in outputs})
    relation = replace(derived, source=source.relation, where=where, outputs=(*outputs, *hidden))
    return Tracked(relation, facts, owner)


def _output(expression: Expression, facts: Facts) -> tuple[Expression, ColumnFacts]:
    """A computed column: clamped where it is a number, so that it can be clamped again above."""
    kind = expression.type or SqlType.TEXT
    if isinstance(expression, ColumnRef):
        return expression, facts[expression.relation, expression.column]
    if kind.is_number:
        try:
            found = bounded(expression, facts)
        except Refusal as refusal:
            if refusal.code is not Code.NO_BOUNDS:
                raise
        else:
            interval = found.interval
            grid = None
            if interval is not None:
                grid = grids.of_expression(found.expression, interval, facts)
            return found.expression, ColumnFacts(SqlType.NUMERIC, interval, grid)
    planned = condition(expression, facts)
    number = SqlType.NUMERIC if kind.is_number else kind
    return planned, ColumnFacts(number, values=label_values(expression, facts))


def _carried(
    alias: str, owner: Owner, taken: set[str]
) -> tuple[tuple[tuple[str, Expression], ...], Owner]:
    """Hidden outputs that name the owner of each row, and the owner as seen from outside. taken: names that
    the question gives to outputs of its own, which may be any."""

    def free(name: str) -> str:
        return free(f"{name}_") if name in taken else name

    match owner:
        case PublicRows():
            return (), owner
        case ProtectedRows():
            names = [free(f"{KEY}{i}") for i in range(1, len(owner.hashed_by) + 1)]
            pairs = zip(names, owner.hashed_by, strict=True)
            refs = tuple(ColumnRef(name, column.type, None, alias) for name, column in pairs)
            outputs = tuple(zip(names, owner.hashed_by, strict=True))
            return outputs, replace(owner, hashed_by=refs)
        case UnitRows():
            name = free(UNIT)
            ref = ColumnRef(name, owner.column.type, None, alias)
            return ((name, owner.column),), replace(owner, column=ref)
        case _:
            assert_never(owner)


def _per_unit(grouped: PerUnit, source: Tracked) -> Tracked:
    owner = source.owner
    if not isinstance(owner, UnitRows):
        _refuse("GROUP BY here can only be on the privacy unit of a table")
    where = None
    if grouped.where is not None:
        where = condition(typed(grouped.where, source.facts), source.facts)
    facts: dict[tuple[str, str], ColumnFacts] = {
        (grouped.alias, "unit"): ColumnFacts(owner.column.type, is_unit=True)
    }
    aggregates: list[Aggregate] = []
    for number, aggregate in enumerate(grouped.aggregates, start=1):
        planned, known = _unit_aggregate(aggregate, owner, source.facts)
        aggregates.append(planned)
        facts[grouped.alias, f"a{number}"] = known
    relation = replace(
        grouped,
        source=source.relation,
        where=where,
        unit=owner.column,
        aggregates=tuple(aggregates),
        rows=owner.rows,
    )
    unit = ColumnRef("unit", owner.column.type, None, grouped.alias)
    return Tracked(relation, facts, replace(owner, column=unit, rows=1, unique=True))


def _unit_aggregate(
    aggregate: Aggregate, owner: UnitRows, facts: Facts
) -> tuple[Aggregate, ColumnFacts]:
    """An aggregate over the rows of one unit, with its bounds; more than `rows` rows never count."""
    only = None
    if aggregate.condition is not None:
        only = condition(typed(aggregate.condition, facts), facts)
    kind = aggregate.kind
    if kind in (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT):
        operand = aggregate.operand
        if operand is not None:
            operand = condition(typed(operand, facts), facts)
        span = Bounds(Fraction(0), Fraction(owner.rows))
        values = None
        if (
            owner.rows < limits.GROUPS_PER_STATEMENT
        ):  # a join's rows may be a product of large numbers
            values = tuple(str(n) for n in range(owner.rows + 1))
        known = ColumnFacts(SqlType.INT8, span, Fraction(1), values)
        return replace(aggregate, operand=operand, condition=only), known
    if kind not in (AggregateKind.SUM, AggregateKind.AVG, AggregateKind.MIN, AggregateKind.MAX):
        _refuse(f"{kind.value} per unit is not available")
    assert aggregate.operand is not None
    found = bounded(typed(aggregate.operand, facts), facts)
    interval = found.interval or Bounds(Fraction(0), Fraction(0))
    grid = grids.of_expression(found.expression, interval, facts)
    if kind is AggregateKind.SUM:
        interval = Bounds(
            owner.rows * min(interval.low, Fraction(0)),
            owner.rows * max(interval.high, Fraction(0)),
        )
    elif kind is AggregateKind.AVG:
        grid = grids.of_average(grid, interval)
    of = aggregate.operand.type
    times = of is not None and of.is_time
    known = ColumnFacts(of if of is not None and times else SqlType.NUMERIC, interval, grid)
    return replace(aggregate, operand=found.expression, condition=only), known


def _stacked(stacked: Stacked, parts: list[Tracked]) -> Tracked:
    owners = [part.owner for part in parts]
    first = owners[0]
    relations = [_as_derived(part.relation) for part in parts]
    merged: Owner
    if all(isinstance(owner, UnitRows) for owner in owners):
        units = [owner for owner in owners if isinstance(owner, UnitRows)]
        if len({(u.identifier, u.column.type) for u in units}) != 1:
            _refuse("UNION ALL of rows with different privacy units is not available")
        column = ColumnRef(UNIT, units[0].column.type, None, stacked.alias)
        merged = replace(units[0], column=column, rows=sum(u.rows for u in units), unique=False)
    elif all(isinstance(owner, ProtectedRows) for owner in owners):
        # One row of a table may be in several parts; without a common key its cell is random.
        rows = sum(owner.rows for owner in owners if isinstance(owner, ProtectedRows))
        merged = ProtectedRows(rows, ())
        relations = [  # without the keys, of which every table may have another number
            replace(relation, outputs=relation.outputs[: len(part.outputs)])
            for relation, part in zip(relations, stacked.parts, strict=True)
        ]
    else:
        _refuse(f"UNION ALL of {_described(first)} with other rows is not available")
    facts: dict[tuple[str, str], ColumnFacts] = {}
    width = len(stacked.parts[0].outputs)
    for place in range(width):
        names = [relation.outputs[place][0] for relation in relations]
        each = [
            part.facts[relation.alias, name]
            for part, relation, name in zip(parts, relations, names, strict=True)
        ]
        facts[stacked.alias, names[0]] = _meet(each)
    return Tracked(replace(stacked, parts=tuple(relations)), facts, merged)


def _as_derived(relation: Relation) -> Derived:
    assert isinstance(relation, Derived)
    return relation


def _described(owner: Owner) -> str:
    return "public rows" if isinstance(owner, PublicRows) else "protected rows"


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
    kind = parts[0].type if len(kinds) == 1 else SqlType.NUMERIC
    return ColumnFacts(kind, span, grid, merged)


def _flat(values: list[tuple[str | None, ...]]) -> Iterator[str | None]:
    for part in values:
        yield from part
