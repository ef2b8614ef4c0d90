"""Keys of public tables to which columns of protected tables refer: whether such columns are public keys.

The engine decides it in the same way, when it reads the public tables. Here the rows of the shadow decide.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from proxy.base import limits
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.planner.facts import PublicValues
from proxy.policy.key_texts import has_keys
from proxy.policy.policy_model import Policy, PublicTable


def referenced_keys(
    policy: Policy, catalog: Catalog, connection: psycopg.Connection
) -> PublicValues:
    """Give one value of each key with few enough values, none of an empty table.

    Args:
        policy: Checked against the catalogue.
        catalog: Of the source.
        connection: To the shadow, whose public tables have their rows.
    """
    wanted = dict.fromkeys(
        column.references
        for table in policy.protected()
        for column in table.columns.values()
        if column.references is not None
    )
    found: dict[tuple[TableName, str], tuple[str | None, ...]] = {}
    for name, key in wanted:
        table, described = policy.tables.get(name), catalog.tables[name].column(key)
        if not isinstance(table, PublicTable) or described is None or not has_keys(described):
            continue
        statement = sql.SQL("SELECT DISTINCT {key}::text FROM {table} LIMIT {most}").format(
            key=sql.Identifier(key),
            table=sql.Identifier(*name),
            most=sql.Literal(limits.GROUPS_PER_STATEMENT + 1),
        )
        rows = connection.execute(statement).fetchall()
        if len(rows) <= limits.GROUPS_PER_STATEMENT:
            found[name, key] = tuple(text for (text,) in rows[:1])
    return found
