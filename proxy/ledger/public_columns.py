"""Columns of public tables that were shown before. A column that comes later is not public until the policy
names it: `public` was said of the columns that were there.

A column is known by its name, its table and its number. The number is another one where a column was dropped
and added again. A table that was created again (a restore, a load that replaces it) is compared by names alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import psycopg

from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.policy.policy_model import Policy, PublicTable
from proxy.policy.problem import Problem

_KNOWN = """\
SELECT schema_name, table_name, column_name, relation, number FROM ledger.public_column WHERE source = %s"""
_NOTE = """\
INSERT INTO ledger.public_column (source, schema_name, table_name, column_name, relation, number)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (source, schema_name, table_name, column_name) DO UPDATE
SET relation = excluded.relation, number = excluded.number
WHERE (public_column.relation, public_column.number) IS DISTINCT FROM (excluded.relation, excluded.number)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownColumn:
    """Which column analysts were shown. None: not known."""

    relation: int | None
    number: int | None

    def is_another(self, table: Table, column: Column) -> bool:
        """Whether a column of its name was dropped and added again, or renamed, in the same table."""
        return self.relation == table.oid and self.number not in (None, column.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterColumns:
    """Columns of a public table that came after analysts were shown it.

    Attributes:
        table: Its name.
        are_others: Whether one stands in the place of a column that was shown.
        problem: For the owner, at its place in the policy.
        what: The same in short, for the log.
    """

    table: TableName
    are_others: bool
    problem: Problem
    what: str = "it has columns that came later"


_Memory = Mapping[TableName, Mapping[str, _ShownColumn]]


def later_columns(
    ledger_dsn: str, source: int, policy: Policy, catalog: Catalog
) -> list[LaterColumns]:
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
        memory = _read_memory(connection, source)
    found = []
    for name, table, columns in _shown(policy, catalog):
        listed = policy.tables[name]
        is_bare = isinstance(listed, PublicTable) and listed.columns is None
        known = memory.get(name)
        if not is_bare or not known:
            continue
        new = [column.name for column in columns if column.name not in known]
        again = [
            column.name
            for column in columns
            if column.name in known and known[column.name].is_another(table, column)
        ]
        if new or again:
            old = [column.name for column in columns if column.name not in (*new, *again)]
            problem = _problem(name, new, again, old)
            found.append(LaterColumns(table=name, are_others=bool(again), problem=problem))
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
    shown = list(_shown(policy, catalog))
    rows = [
        (source, name.schema, name.name, column.name, table.oid, column.number)
        for name, table, columns in shown
        for column in columns
    ]
    with psycopg.connect(ledger_dsn) as connection:
        memory = _read_memory(connection, source)
        connection.cursor().executemany(_NOTE, rows)
    return [
        name
        for name, table, _ in shown
        if any(one.relation not in (None, table.oid) for one in memory.get(name, {}).values())
    ]


def forget_column_numbers(connection: psycopg.Connection, source: int) -> None:
    """Compare by names alone until the columns are noted again: the data stands in another place now, where
    tables have other numbers. In the transaction of the caller. Raises: psycopg.Error."""
    connection.execute(
        "UPDATE ledger.public_column SET relation = NULL, number = NULL WHERE source = %s",
        (source,),
    )


def _read_memory(connection: psycopg.Connection, source: int) -> _Memory:
    memory: dict[TableName, dict[str, _ShownColumn]] = defaultdict(dict)
    for schema, table, column, relation, number in connection.execute(_KNOWN, (source,)).fetchall():
        memory[TableName(schema, table)][column] = _ShownColumn(relation=relation, number=number)
    return memory


def _shown(policy: Policy, catalog: Catalog) -> Iterator[tuple[TableName, Table, list[Column]]]:
    for table in policy.tables.values():
        there = catalog.tables.get(table.name)
        if isinstance(table, PublicTable) and there is not None:
            yield table.name, there, [one for one in there.columns if table.has(one.name)]
