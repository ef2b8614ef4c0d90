"""How many rows of a public table have another value than those that are known."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.base.errors import Fault
from proxy.catalog.catalog_model import TableName
from proxy.compiler.backend_query import PublicList, public_list
from proxy.compiler.binds import identifier
from proxy.policy.policy_model import Policy, PublicTable


def other_values(policy: Policy, table: TableName, column: str, known: Sequence[str]) -> PublicList:
    """
    Given    known: as PostgreSQL prints them; NULL is no other value
    Gives    a list of which the number alone is wanted
    Refuses  Fault: it is no column of a public table
    """
    found = policy.tables.get(table)
    if not isinstance(found, PublicTable) or not found.has(column):
        raise Fault("other values of a table that is not public")
    source = f"{identifier(table.schema)}.{identifier(table.name)}"
    condition = f"l.{identifier(column)}::text <> ALL (%(known)s::text[])"
    sql = f"SELECT count(*)::int8, 0::int8, NULL::text FROM {source} l WHERE {condition}"
    return public_list("others", sql, (("known", list(known)),))
