"""Which labels of enumerations stand in rows of public tables."""

from __future__ import annotations

from collections import defaultdict

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import Catalog
from proxy.policy.policy_model import Policy
from proxy.policy.public_labels import labelled, public_label_columns


def with_public_labels(policy: Policy, catalog: Catalog) -> Catalog:
    """
    Given    a checked policy; its source is asked where public tables have columns of enumerations
    Gives    as proxy.policy.public_labels; where they cannot be read, no label of theirs is public by them
    """
    return labelled(policy, catalog, _in_rows(policy, catalog))


def _in_rows(policy: Policy, catalog: Catalog) -> dict[str, frozenset[str]]:
    columns = list(public_label_columns(policy, catalog))
    found: dict[str, set[str]] = defaultdict(set)
    if not columns:
        return {}
    try:
        with psycopg.connect(policy.source, autocommit=True) as connection:
            connection.read_only = True
            for table, column in columns:
                name = sql.Identifier(column.name)
                statement = sql.SQL("SELECT DISTINCT {}::text FROM {} WHERE {} IS NOT NULL").format(
                    name, sql.Identifier(*table.name), name
                )
                found[column.type_name].update(row[0] for row in connection.execute(statement))
    except psycopg.Error:
        return {}
    return {name: frozenset(labels) for name, labels in found.items()}
