"""Columns of the source that the ledger has noted: by name, and by the table's oid and the column's number.

A column that is dropped and added again under its name has another number in the same table. A table that was
created again (a restore, a load that replaces it) has another oid: its columns are compared by names alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import Catalog, Column, ColumnBeneath, Table, TableName
from proxy.policy.findings import Problem
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable, PublicTable

_READ = "SELECT schema_name, table_name, column_name, relation, number FROM {} WHERE source = %s"
_WRITE = """\
INSERT INTO {} AS noted (source, schema_name, table_name, column_name, relation, number)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (source, schema_name, table_name, column_name) DO UPDATE
SET relation = excluded.relation, number = excluded.number
WHERE (noted.relation, noted.number) IS DISTINCT FROM (excluded.relation, excluded.number)"""
_FORGET = "UPDATE {} SET relation = NULL, number = NULL WHERE source = %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNumbers:
    """Which column it is. None: not known."""

    relation: int | None
    number: int | None

    def is_another(self, now: ColumnNumbers) -> bool:
        """Whether the column of this name was dropped and added again, or renamed, in the same table.

        >>> ColumnNumbers(relation=16400, number=2).is_another(ColumnNumbers(relation=16400, number=5))
        True
        """
        return self.relation == now.relation and self.number not in (None, now.number)

    def is_of_another_table(self, relation: int | None) -> bool:
        """Whether the table of this name was created again."""
        return self.relation not in (None, relation)


UNKNOWN = ColumnNumbers(relation=None, number=None)
Columns = Mapping[tuple[TableName, str], ColumnNumbers]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherColumns:
    """Columns of one table that are not the ones that were noted.

    Attributes:
        table: Its name.
        are_others: Whether one stands in the place of a column that was noted. Else all of them came later.
        problem: For the owner, at its place in the policy.
        what: The same in short, for the log.
    """

    table: TableName
    are_others: bool
    problem: Problem
    what: str


class NotedColumns:
    """
    Args:
        table: Of the ledger, which has a row for each noted column.
    """

    def __init__(self, table: str) -> None:
        self._table = sql.Identifier("ledger", table)

    def read(self, connection: psycopg.Connection, source: int) -> Columns:
        """Give the noted columns of a source. Raises: psycopg.Error."""
        rows = connection.execute(sql.SQL(_READ).format(self._table), (source,))
        return {
            (TableName(schema, table), column): ColumnNumbers(relation=relation, number=number)
            for schema, table, column, relation, number in rows
        }

    def note(self, connection: psycopg.Connection, source: int, columns: Columns) -> set[TableName]:
        """Note columns of a source, those of before with the numbers of now.

        Returns:
            Tables that were created again since they were noted last.

        Raises:
            psycopg.Error: The ledger cannot be asked.
        """
        known = self.read(connection, source)
        rows = sorted(_rows(source, columns), key=str)
        connection.cursor().executemany(sql.SQL(_WRITE).format(self._table), rows)
        return {
            place[0]
            for place, now in columns.items()
            if known.get(place, UNKNOWN).is_of_another_table(now.relation)
        }

    def forget_numbers(self, connection: psycopg.Connection, source: int) -> None:
        """Compare by names alone until the columns are noted again. In the transaction of the caller.

        Raises:
            psycopg.Error: The ledger cannot be asked.
        """
        connection.execute(sql.SQL(_FORGET).format(self._table), (source,))


def _rows(source: int, columns: Columns) -> Iterable[tuple[object, ...]]:
    for (table, column), now in columns.items():
        yield source, table.schema, table.name, column, now.relation, now.number


# Columns by which a policy tells units apart. One that is dropped and added again may name others.
#
# Which columns they were is kept as of public tables: by the table's oid and the column's number. Of a view all
# columns of tables beneath it count, because the view itself has to be created again with them.

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


# Columns of public tables that were shown before. A column that comes later is not public until the policy
# names it: `public` was said of the columns that were there.

PUBLIC_COLUMNS = NotedColumns("public_column")


def later_columns(
    ledger_dsn: str, source: int, policy: Policy, catalog: Catalog
) -> list[OtherColumns]:
    """Find columns that a public table without `columns` did not have when it was shown before.

    Args:
        ledger_dsn: Connection string of the ledger.
        source: The number of the data in the ledger.
        policy: A public table that the catalogue has not is passed over.
        catalog: Of the source.

    Returns:
        At most one a table. None of a table that was never shown.

    Raises:
        psycopg.Error: The ledger cannot be asked.
    """
    with psycopg.connect(ledger_dsn) as connection:
        noted = PUBLIC_COLUMNS.read(connection, source)
    shown_before = {table for table, _ in noted}
    found = []
    for name, table, columns in _shown(policy, catalog):
        listed = policy.tables[name]
        is_bare = isinstance(listed, PublicTable) and listed.columns is None
        if not is_bare or name not in shown_before:
            continue
        new = [column.name for column in columns if (name, column.name) not in noted]
        again = [
            column.name
            for column in columns
            if noted.get((name, column.name), UNKNOWN).is_another(_public_numbers(table, column))
        ]
        if new or again:
            old = [column.name for column in columns if column.name not in (*new, *again)]
            found.append(
                OtherColumns(
                    table=name,
                    are_others=bool(again),
                    problem=_problem(name, new, again, old),
                    what="it has columns that came later",
                )
            )
    return found


def _problem(name: TableName, new: list[str], again: list[str], old: list[str]) -> Problem:
    reasons = []
    if new:
        reasons.append(
            f"has columns that it did not have when analysts were shown it: {', '.join(new)}"
        )
    if again:
        reasons.append(
            "has columns that were dropped and added again, or renamed, since analysts were shown it: "
            f"{', '.join(again)}"
        )
    # A line to paste publishes nothing new.
    listed = ", ".join(f"{column}: {{}}" for column in old)
    return Problem(
        ("tables", str(name)),
        f"public table '{name}' {' and '.join(reasons)}",
        "list the columns that are public, new ones only if they are, too:"
        f" {{unit: public, columns: {{{listed}}}}}",
        at_key=True,
    )


def note_public_columns(
    ledger_dsn: str, source: int, policy: Policy, catalog: Catalog
) -> list[TableName]:
    """Keep which columns of public tables analysts are shown.

    Returns:
        Tables that were created again since they were noted last.

    Raises:
        psycopg.Error: The ledger cannot be asked.
    """
    columns = {
        (name, column.name): _public_numbers(table, column)
        for name, table, shown in _shown(policy, catalog)
        for column in shown
    }
    with psycopg.connect(ledger_dsn) as connection:
        return sorted(PUBLIC_COLUMNS.note(connection, source, columns), key=str)


def _public_numbers(table: Table, column: Column) -> ColumnNumbers:
    return ColumnNumbers(relation=table.oid, number=column.number)


def _shown(policy: Policy, catalog: Catalog) -> Iterator[tuple[TableName, Table, list[Column]]]:
    for table in policy.tables.values():
        there = catalog.tables.get(table.name)
        if isinstance(table, PublicTable) and there is not None:
            yield table.name, there, [one for one in there.columns if table.has(one.name)]
