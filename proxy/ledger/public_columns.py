"""Columns of public tables that were shown before. A column that comes later is not public until the policy
names it: `public` was said of the columns that were there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import psycopg

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.policy.policy_model import Policy, PublicTable
from proxy.policy.problem import Problem

_KNOWN = "SELECT schema_name, table_name, column_name FROM ledger.public_column WHERE source = %s"
_NOTE = """\
INSERT INTO ledger.public_column (source, schema_name, table_name, column_name) VALUES (%s, %s, %s, %s)
ON CONFLICT DO NOTHING"""


def new_column_problems(
    ledger_dsn: str, source: int, policy: Policy, catalog: Catalog
) -> list[Problem]:
    """Find columns that a public table without `columns` did not have when it was shown before.

    Args:
        ledger_dsn: Connection string of the ledger.
        source: The number of the data in the ledger.
        policy: Checked against the catalogue.
        catalog: Of the source.

    Returns:
        One problem a table, at its place in the policy. None of a table that was never shown.

    Raises:
        psycopg.Error: The ledger cannot be asked.
    """
    known: dict[TableName, set[str]] = defaultdict(set)
    with psycopg.connect(ledger_dsn) as connection:
        for schema, table, column in connection.execute(_KNOWN, (source,)).fetchall():
            known[TableName(schema, table)].add(column)
    problems = []
    for name, columns in _shown(policy, catalog):
        table = policy.tables[name]
        is_bare = isinstance(table, PublicTable) and table.columns is None
        new = [column for column in columns if column not in known[name]]
        if is_bare and known[name] and new:
            # A line to paste publishes nothing new.
            listed = ", ".join(f"{column}: {{}}" for column in columns if column not in new)
            problems.append(
                Problem(
                    ("tables", str(name)),
                    f"public table '{name}' has columns that it did not have when analysts were shown it: "
                    f"{', '.join(new)}",
                    "list the columns that are public, new ones only if they are, too:"
                    f" {{unit: public, columns: {{{listed}}}}}",
                    at_key=True,
                )
            )
    return problems


def note_public_columns(ledger_dsn: str, source: int, policy: Policy, catalog: Catalog) -> None:
    """Keep which columns of public tables analysts are shown. Raises: psycopg.Error."""
    rows = [
        (source, name.schema, name.name, column)
        for name, columns in _shown(policy, catalog)
        for column in columns
    ]
    with psycopg.connect(ledger_dsn) as connection:
        connection.cursor().executemany(_NOTE, rows)


def _shown(policy: Policy, catalog: Catalog) -> Iterator[tuple[TableName, list[str]]]:
    for table in policy.tables.values():
        if isinstance(table, PublicTable):
            columns = catalog.tables[table.name].columns
            yield table.name, [column.name for column in columns if table.has(column.name)]
