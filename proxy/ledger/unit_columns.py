"""Columns by which a policy tells units apart. One that is dropped and added again may name others.

Which columns they were is kept as of public tables: by the table's oid and the column's number. Of a view all
columns of tables beneath it count, because the view itself has to be created again with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import psycopg

from proxy.catalog.catalog_model import Catalog, ColumnBeneath, TableName
from proxy.ledger.noted_columns import UNKNOWN, ColumnNumbers, NotedColumns, OtherColumns
from proxy.policy.findings import Problem
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable

UNIT_COLUMNS = NotedColumns("unit_column")
_Place = tuple[TableName, str]


def remade_unit_columns(
    ledger_dsn: str, source: int, policy: Policy, catalog: Catalog
) -> list[OtherColumns]:
    """Find columns of units that are others, by their numbers, than when the policy was served.

    Args:
        ledger_dsn: Connection string of the ledger.
        source: The number of the data in the ledger.
        policy: A table that the catalogue has not is passed over.
        catalog: Of the source.

    Returns:
        At most one a protected table. None of a table that was created again, whose columns are known by name.

    Raises:
        psycopg.Error: The ledger cannot be asked.
    """
    with psycopg.connect(ledger_dsn) as connection:
        noted = UNIT_COLUMNS.read(connection, source)
        row = connection.execute(
            "SELECT name FROM ledger.source WHERE id = %s", (source,)
        ).fetchone()
    remade: dict[TableName, set[str]] = defaultdict(set)
    for name, one in _relied_on(policy, catalog):
        if noted.get((one.table, one.column), UNKNOWN).is_another(_numbers(one)):
            remade[name].add(f"{one.table}.{one.column}")
    called = "NAME" if row is None else str(row[0])
    return [_remade(name, sorted(columns), called) for name, columns in remade.items()]


def _remade(name: TableName, columns: list[str], source: str) -> OtherColumns:
    problem = Problem(
        ("tables", str(name)),
        f"'{name}' tells its units by columns that were dropped and added again, or renamed, since they were"
        f" served: {', '.join(columns)}",
        "if each still names the same units, say so: dpproxy ledger adopt --policy FILE --as"
        f" {source}, with the --state or --ledger of serve. If not, name the right column",
        at_key=True,
    )
    return OtherColumns(
        table=name, are_others=True, problem=problem, what="its unit's columns are others"
    )


def note_unit_columns(
    ledger_dsn: str, source: int, policy: Policy, catalog: Catalog
) -> list[TableName]:
    """Keep by which columns units are told apart.

    Returns:
        Tables that were created again since they were noted last.

    Raises:
        psycopg.Error: The ledger cannot be asked.
    """
    columns = {(one.table, one.column): _numbers(one) for _, one in _relied_on(policy, catalog)}
    with psycopg.connect(ledger_dsn) as connection:
        return sorted(UNIT_COLUMNS.note(connection, source, columns), key=str)


def _numbers(one: ColumnBeneath) -> ColumnNumbers:
    return ColumnNumbers(relation=one.relation, number=one.number)


def _relied_on(policy: Policy, catalog: Catalog) -> Iterator[tuple[TableName, ColumnBeneath]]:
    """Each column by which units of a protected table are told apart, as the table has it that stores it."""
    protected = {table.name for table in policy.protected()}
    for table in policy.protected():
        for name, column in _places(table, catalog, protected):
            there = catalog.tables.get(name)
            if there is None:
                continue
            yield from ((table.name, one) for one in there.beneath)
            own = None if there.is_view else there.column(column)
            if own is not None:
                found = ColumnBeneath(
                    table=name, column=column, relation=there.oid, number=own.number
                )
                yield table.name, found


def _places(table: ProtectedTable, catalog: Catalog, protected: set[TableName]) -> Iterator[_Place]:
    unit = table.unit
    if isinstance(unit, IdentifierUnit):
        yield table.name, unit.column
        if unit.blocks is not None:
            yield table.name, unit.blocks.time
        if unit.path is not None:
            yield unit.path.table, unit.path.column
            between = catalog.tables.get(unit.path.table)
            for key in () if between is None else between.primary_key:
                yield unit.path.table, key
    for column in table.columns.values():
        # A reference to a public table tells no units.
        if column.references is not None and column.references[0] in protected:
            yield table.name, column.name
            yield column.references
