"""How many rows of a public table have another value than those that are known."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.catalog.catalog_model import TableName
from proxy.compiler.backend_query import PublicList
from proxy.compiler.identifiers import identifier


def other_values(table: TableName, column: str, known: Sequence[str]) -> PublicList:
    """
    Given    known: as PostgreSQL prints them; NULL is no other value
    Gives    a list of which the number alone is wanted
    """
    source = f"{identifier(table.schema)}.{identifier(table.name)}"
    condition = f"l.{identifier(column)}::text <> ALL (%(known)s::text[])"
    sql = f"SELECT count(*)::int8, 0::int8, NULL::text FROM {source} l WHERE {condition}"
    return PublicList("others", sql, (("known", list(known)),))
