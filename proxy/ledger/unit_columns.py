"""Columns by which a policy tells units apart. One that is dropped and added again may name others.

Which columns they were is kept as of public tables: by the table's oid and the column's number. Of a view all
columns of tables beneath it count, because the view itself has to be created again with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import psycopg

from proxy.catalog.catalog_model import Catalog, ColumnBeneath, TableName
from proxy.ledger.public_columns import LaterColumns
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable
from proxy.policy.problem import Problem

_KNOWN = """\
SELECT schema_name, table_name, column_name, relation, number FROM ledger.unit_column WHERE source = %s"""
_NOTE = """\
INSERT INTO ledger.unit_column (source, schema_name, table_name, column_name, relation, number)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (source, schema_name, table_name, column_name) DO UPDATE
SET relation = excluded.relation, number = excluded.number
WHERE (unit_column.relation, unit_column.number) IS DISTINCT FROM (excluded.relation, excluded.number)"""

_Place = tuple[TableName, str]
_Numbers = tuple[int | None, int | None]


def remade_unit_columns(
    ledger_dsn: str, source: int, policy: Policy, catalog: Catalog
) -> list[LaterColumns]:
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
        known = _read_known(connection, source)
        row = connection.execute(
            "SELECT name FROM ledger.source WHERE id = %s", (source,)
        ).fetchone()
    remade: dict[TableName, set[str]] = defaultdict(set)
    for name, one in _relied_on(policy, catalog):
        relation, number = known.get((one.table, one.column), (None, None))
        if relation == one.relation and number not in (None, one.number):
            remade[name].add(f"{one.table}.{one.column}")
    called = "NAME" if row is None else str(row[0])
    return [_remade(name, sorted(columns), called) for name, columns in remade.items()]


def _remade(name: TableName, columns: list[str], source: str) -> LaterColumns:
    problem = Problem(
        ("tables", str(name)),
        f"'{name}' tells its units by columns that were dropped and added again, or renamed, since they were"
        f" served: {', '.join(columns)}",
        "if each still names the same units, say so: dpproxy ledger adopt --policy FILE --as"
        f" {source}, with the --state or --ledger of serve. If not, name the right column",
        at_key=True,
    )
    return LaterColumns(
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
    relied_on = {one for _, one in _relied_on(policy, catalog)}
    rows = sorted(
        (source, one.table.schema, one.table.name, one.column, one.relation, one.number)
        for one in relied_on
    )
    with psycopg.connect(ledger_dsn) as connection:
        known = _read_known(connection, source)
        connection.cursor().executemany(_NOTE, rows)
    again = {
        one.table
        for one in relied_on
        if known.get((one.table, one.column), (None, None))[0] not in (None, one.relation)
    }
    return sorted(again, key=str)


def forget_unit_columns(connection: psycopg.Connection, source: int) -> None:
    """Take the columns as they are for those of before when they are noted next. In the transaction of the
    caller. Raises: psycopg.Error."""
    connection.execute(
        "UPDATE ledger.unit_column SET relation = NULL, number = NULL WHERE source = %s", (source,)
    )


def _read_known(connection: psycopg.Connection, source: int) -> dict[_Place, _Numbers]:
    return {
        (TableName(schema, table), column): (relation, number)
        for schema, table, column, relation, number in connection.execute(_KNOWN, (source,))
    }


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
