"""Columns of public tables that were shown before. A column that comes later is not public until the policy
names it: `public` was said of the columns that were there."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.ledger.noted_columns import UNKNOWN, ColumnNumbers, NotedColumns, OtherColumns
from proxy.policy.findings import Problem
from proxy.policy.policy_model import Policy, PublicTable

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
            if noted.get((name, column.name), UNKNOWN).is_another(_numbers(table, column))
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
        (name, column.name): _numbers(table, column)
        for name, table, shown in _shown(policy, catalog)
        for column in shown
    }
    with psycopg.connect(ledger_dsn) as connection:
        return sorted(PUBLIC_COLUMNS.note(connection, source, columns), key=str)


def _numbers(table: Table, column: Column) -> ColumnNumbers:
    return ColumnNumbers(relation=table.oid, number=column.number)


def _shown(policy: Policy, catalog: Catalog) -> Iterator[tuple[TableName, Table, list[Column]]]:
    for table in policy.tables.values():
        there = catalog.tables.get(table.name)
        if isinstance(table, PublicTable) and there is not None:
            yield table.name, there, [one for one in there.columns if table.has(one.name)]
