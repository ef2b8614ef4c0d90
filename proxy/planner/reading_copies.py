"""Statements that are planned on a prepared copy: its rows are units by themselves, so many of each person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proxy.base.node_parts import nodes
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, RowBound, Table, TableName
from proxy.kernel.prepared_copies import bound_of_copy
from proxy.kernel.refusals import NotPrivate
from proxy.planner.facts import PlanningContext
from proxy.policy.grid import index_name
from proxy.policy.policy_model import ColumnPolicy, IdentifierUnit, ProtectedTable, RowUnit
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query import AggregateBlock, Query
from proxy.query.ir.relations import CopyRead, GroupByUnit, Scan, relations_of, scans


def copied_tables(query: Query, known: PlanningContext) -> frozenset[TableName]:
    """The protected tables of a statement, if the policy names a copy of each; else none."""
    tables = {
        table.name: table
        for block in query.blocks
        for scan in scans(block.source)
        if isinstance(table := known.policy.tables.get(scan.table), ProtectedTable)
    }
    are_copied = all(table.prepared is not None for table in tables.values())
    return frozenset(tables) if are_copied else frozenset()


def on_copies(
    query: Query, known: PlanningContext, as_of: Mapping[TableName, str]
) -> PlanningContext | None:
    """What is known where a statement reads the copies of its protected tables.

    Args:
        query: Of one or more blocks.
        known: What is known of the tables themselves.
        as_of: The copies that can be read now, by the protected table.

    Returns:
        None: a copy is missing, is not what the kernel lets pass, lacks a column that the statement names, or
        would serve it worse: a smallest group counts people, and a person has many rows of a copy.
    """
    names = copied_tables(query, known)
    if not names or not names <= as_of.keys() or known.series is not None:
        return None
    copies, tables, catalog = {}, dict(known.policy.tables), dict(known.catalog.tables)
    for name in names:
        policy = tables[name]
        assert isinstance(policy, ProtectedTable) and policy.prepared is not None
        path = policy.unit.path if isinstance(policy.unit, IdentifierUnit) else None
        through = None if path is None else path.table
        copies[name] = copy = CopyRead(
            table=policy.prepared.table, as_of=as_of[name], through=through
        )
        try:
            bound = bound_of_copy(Scan("r1", name, copy), known.world)
        except NotPrivate:
            return None
        tables[name] = _of_rows(policy, bound)
        catalog[name] = _of_copy(policy, catalog[name], catalog[copy.table], bound)
    read = names | {one.through for one in copies.values() if one.through is not None}
    if known.policy.fewest_units(read) > 1:
        return None
    if not all(_has_columns(block, names, catalog) for block in query.blocks):
        return None
    return replace(
        known,
        policy=replace(known.policy, tables=tables),
        catalog=replace(known.catalog, tables=catalog),
        copies=copies,
        stored=known.world,
    )


def _of_rows(policy: ProtectedTable, bound: RowBound) -> ProtectedTable:
    """The policy of a table whose rows are protected by themselves, so many together. A reference that led to
    the unit is a column as others are."""
    unit, columns = policy.unit, dict[str, ColumnPolicy]()
    if isinstance(unit, IdentifierUnit) and unit.path is not None:
        columns[unit.column] = ColumnPolicy(unit.column)
    columns |= {
        name: replace(column, per_unit=None, chooses_per_unit=False)
        for name, column in policy.columns.items()
    }
    return ProtectedTable(policy.name, RowUnit(bound.rows), columns)


def _of_copy(policy: ProtectedTable, stored: Table, copy: Table, bound: RowBound) -> Table:
    """The copy under the name of the table, with those of its columns that are what the table has, indices of
    these, and the unit."""
    indices = {index_name(name) for name in policy.columns} - set(policy.columns)
    unit = {bound.column} - {column.name for column in stored.columns}  # behind a reference
    columns = [
        column
        if column.name in unit or (column.name in indices and column.type is SqlType.INT4)
        else _same(column, stored.column(column.name))
        for column in copy.columns
    ]
    found = tuple(column for column in columns if column is not None)
    return Table(
        stored.name, found, has_ctid=copy.has_ctid, row_bound=bound, comment=stored.comment
    )


def _same(column: Column, stored: Column | None) -> Column | None:
    if stored is None or (column.type, column.type_name) != (stored.type, stored.type_name):
        return None
    return replace(column, enumeration=stored.enumeration)


def _has_columns(
    block: AggregateBlock, names: frozenset[TableName], catalog: Mapping[TableName, Table]
) -> bool:
    """Whether the copies have all columns that are named, and no rows are asked for by unit."""
    if any(isinstance(one, GroupByUnit) for one in relations_of(block.source)):
        return False
    read = {scan.alias: catalog[scan.table] for scan in scans(block.source) if scan.table in names}
    return all(
        read[node.relation].column(node.column) is not None
        for node in nodes(block)
        if isinstance(node, ColumnRef) and node.relation in read
    )
