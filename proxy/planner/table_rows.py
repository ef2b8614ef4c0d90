"""A table's rows: whose they are by the policy, and what is publicly known of their columns."""

from __future__ import annotations

from dataclasses import replace

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from proxy.kernel.known_values import type_characters
from proxy.planner.facts import (
    ColumnFacts,
    Facts,
    MadeFacts,
    PlanningContext,
    ProtectedRows,
    PublicRow,
    PublicRows,
    RelationWithUnit,
    UnitRows,
    Untruncated,
    Values,
)
from proxy.planner.unit_truncation import truncate_stored
from proxy.policy.grid import grid_of, grid_within, index_name, index_steps, type_least, type_step
from proxy.policy.moving_bounds import bounds_on
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable, RowUnit, UnitPath
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, Relation, Scan


def table_rows(scan: Scan, known: PlanningContext) -> RelationWithUnit:
    """The rows of a table, of each unit no more than are to be read."""
    found = _table_rows(scan, known)
    ownership = found.ownership
    if known.most_stored is None or not isinstance(ownership, UnitRows) or ownership.unique:
        return found
    table = known.policy.tables[scan.table]
    assert isinstance(table, ProtectedTable) and isinstance(table.unit, IdentifierUnit)
    if table.unit.blocks is not None:  # a person in several blocks is several units
        return found
    return truncate_stored(found, known.most_stored, known)


def _table_rows(scan: Scan, known: PlanningContext) -> RelationWithUnit:
    described = known.catalog.tables[scan.table]
    policy = known.policy.tables[scan.table]
    if scan.table in known.copies:
        scan = replace(scan, copy=known.copies[scan.table])
    if not isinstance(policy, ProtectedTable):
        listed, held = known.rows.get(scan.table, ((), ()))
        facts = {}
        for c in described.columns:
            within = known.bounds.get((scan.table, c.name))
            facts[scan.alias, c.name] = ColumnFacts(
                c.type,
                grid=None if within is None else grid_within(c, within),
                values=_labels(c, known.public.get((scan.table, c.name))),
                step=type_step(c) if c.is_enforced else None,
                least=type_least(c) if c.is_enforced else None,
                nullable=c.nullable,
                characters=type_characters(c),
                of_row=PublicRow(scan.alias, listed.index(c.name), held)
                if c.name in listed
                else None,
                held=within,
                is_long=_is_long(c),
            )
        return RelationWithUnit(scan, Facts(facts, known.labels), PublicRows())
    columns = {column.name: column for column in described.columns}
    made = known.made_facts.get(scan.table)
    if made is None or not made.are_of(policy, described, known):
        of_columns = {
            name: _column_facts(column, policy, known)
            for name, column in columns.items()
            if name in policy.columns
        }
        made = MadeFacts(
            columns=of_columns,
            policy=policy,
            described=described,
            public=known.public,
            day=known.day,
        )
        known.made_facts[scan.table] = made
    facts = {(scan.alias, name): found for name, found in made.columns.items()}

    def ref(name: str) -> ColumnRef:
        return ColumnRef(name, columns[name].type, None, scan.alias)

    unit = policy.unit
    keys = tuple(ref(name) for name in described.primary_key)
    bound = described.row_bound
    if scan.copy is not None and bound is not None:
        column = ref(bound.column)
        facts[scan.alias, bound.column] = ColumnFacts(column.type, is_unit=True, nullable=False)
        for name, own in policy.columns.items():
            stored = columns.get(name)
            if stored is not None and index_name(name) in columns and index_steps(stored, own):
                facts[scan.alias, name] = replace(
                    facts[scan.alias, name], index=ref(index_name(name))
                )
        return RelationWithUnit(
            scan, Facts(facts, known.labels), ProtectedRows(bound.rows, (column,), partitions=1)
        )
    if isinstance(unit, RowUnit):
        place = (ColumnRef("ctid", SqlType.TID, None, scan.alias),) if described.has_ctid else ()
        return RelationWithUnit(
            scan, Facts(facts, known.labels), ProtectedRows(unit.rows, keys or place)
        )
    assert isinstance(unit, IdentifierUnit) and policy.max_rows_per_unit is not None
    bounds = (policy.max_groups_per_unit, policy.max_rows_per_group_per_unit)
    joined = policy.join_rows_at_most if policy.chooses_rows else policy.max_rows_per_unit
    if unit.path is not None:
        relation, column = _through(scan, ref(unit.column), unit.path, known)
        key = (scan.alias, unit.column)
        of_unit = columns[unit.column]
        facts.setdefault(key, ColumnFacts(of_unit.type, nullable=of_unit.nullable))
        facts[key] = replace(facts[key], leads_to=unit.path.table)
        facts[column.relation, column.column] = ColumnFacts(column.type, is_unit=True)
        most = policy.max_rows_per_unit
        through = (Untruncated(scan.alias, column, joined),)
        ownership = UnitRows(
            unit.identifier,
            column,
            most,
            *bounds,
            untruncated=through,
            formed=joined,
            is_chosen=policy.chooses_rows,
            is_unbounded=policy.is_unbounded,
        )
        return RelationWithUnit(relation, Facts(facts, known.labels), ownership)
    of_unit = columns[unit.column]
    facts[scan.alias, unit.column] = ColumnFacts(
        of_unit.type, is_unit=True, nullable=of_unit.nullable
    )
    unique = unit.blocks is None and described.is_unique(unit.column)
    rows = 1 if unique else policy.max_rows_per_unit
    named = keys if policy.join_keys else ()
    column = ref(unit.column)
    joined = 1 if unique else joined
    whole = Untruncated(scan.alias, column, joined)
    ownership = UnitRows(
        unit.kind,
        column,
        rows,
        *bounds,
        named,
        untruncated=() if unique else (whole,),
        formed=joined,
        is_chosen=policy.chooses_rows and not unique,
        is_unbounded=policy.is_unbounded and not unique,
    )
    return RelationWithUnit(scan, Facts(facts, known.labels), ownership)


def _through(
    scan: Scan, reference: ColumnRef, path: UnitPath, known: PlanningContext
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
    joined = Join(scan, Scan(alias, path.table), False, equal, None)
    return joined, ColumnRef(held.name, held.type, None, alias)


def _column_facts(column: Column, policy: ProtectedTable, known: PlanningContext) -> ColumnFacts:
    own = policy.columns[column.name]
    bounds = bounds_on(own, known.day)
    own = replace(own, bounds=bounds)
    grid = None if bounds is None else grid_of(column, own)
    values = own.values
    if values is None and column.type is SqlType.BOOL:
        values = ("true", "false")
    if values is None and own.references is not None:
        values = known.public.get(own.references)  # the keys of a public table
    if values is None and column.enumeration is not None:
        values = (*column.enumeration.labels, *((None,) if column.nullable else ()))
    values = _labels(column, values)
    return ColumnFacts(
        column.type,
        bounds,
        grid,
        values,
        step=type_step(column) if column.is_enforced else None,
        least=type_least(column) if column.is_enforced else None,
        nullable=column.nullable,
        partitions=own.partitions,
        mechanism=own.mechanism,
        characters=type_characters(column),
        is_long=_is_long(column),
        is_clamped=bounds is not None,
        per_unit=own.per_unit,
        chooses_per_unit=own.chooses_per_unit,
    )


def _is_long(column: Column) -> bool:
    return column.type is SqlType.NUMERIC and not (column.is_enforced and column.precision)


def _labels(column: Column, values: Values | None) -> Values | None:
    """Those that the shadow's type has: it could read no other, and an error would come after the charge."""
    if values is None or column.enumeration is None:
        return values
    known = {None, *column.enumeration.labels}
    return tuple(value for value in values if value in known)
