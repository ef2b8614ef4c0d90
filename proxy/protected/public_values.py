"""Distinct values of the columns of public tables: public GROUP BY keys."""

from __future__ import annotations

import psycopg
from psycopg import sql

from proxy.base import limits
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.policy.key_texts import has_keys
from proxy.policy.policy_model import Policy, PublicTable

_MOST = limits.GROUPS_PER_STATEMENT


def read_public_values(
    policy: Policy, catalog: Catalog
) -> dict[tuple[TableName, str], tuple[str | None, ...]]:
    """
    Given    a checked policy; its source is asked
    Gives    for each column of a public table with few enough distinct values all of them, as PostgreSQL
             prints them, sorted
    """
    found: dict[tuple[TableName, str], tuple[str | None, ...]] = {}
    public = [table for table in policy.tables.values() if isinstance(table, PublicTable)]
    if not public:
        return found
    with psycopg.connect(policy.source, autocommit=True) as connection:
        connection.execute("SET DateStyle = 'ISO, YMD'")  # as in the sessions that answer
        for table in public:
            name = table.name
            for column in catalog.tables[name].columns:
                if not (has_keys(column) and table.has(column.name)):
                    continue
                statement = sql.SQL(
                    "SELECT DISTINCT {column}::text FROM {table} ORDER BY 1 LIMIT {most}"
                ).format(
                    column=sql.Identifier(column.name),
                    table=sql.Identifier(*name),
                    most=sql.Literal(_MOST + 1),
                )
                rows = connection.execute(statement).fetchall()
                if len(rows) <= _MOST:
                    found[name, column.name] = tuple(row[0] for row in rows)
    return found
