"""Columns of the source that the ledger has noted: by name, and by the table's oid and the column's number.

A column that is dropped and added again under its name has another number in the same table. A table that was
created again (a restore, a load that replaces it) has another oid: its columns are compared by names alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import TableName
from proxy.policy.findings import Problem

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
