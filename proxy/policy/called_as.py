"""Columns that are called as the key of another table is: customer_id as the key customer_id, or the id of
customers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from proxy.catalog.catalog_model import Column, Table, TableName
from proxy.policy.person_words import singular, words_of
from proxy.policy.type_rules import family

_GENERIC = ("id", "key", "no", "number", "code", "uuid", "guid", "pk")


class CalledAs:
    """Of all tables with a key of one column. An index: a database may have thousands."""

    def __init__(self, tables: Mapping[TableName, Table]) -> None:
        found: dict[tuple[str, str], list[TableName]] = defaultdict(list)
        for name, table in sorted(tables.items()):
            key = key_of(table)
            kind = None if key is None else family(key)
            if key is not None and kind is not None:
                for called in set(_names(name, key)):
                    found[kind, called].append(name)
        self._known: Mapping[tuple[str, str], Sequence[TableName]] = found

    def of(self, column: Column, table: TableName) -> list[TableName]:
        """Tables whose key a column of another table is called as, those of its own schema first."""
        kind = family(column)
        if kind is None:
            return []
        known = self._known.get((kind, "".join(words_of(column.name))), ())
        others = [name for name in known if name != table]
        return sorted(others, key=lambda name: (name.schema != table.schema, name))


def key_of(table: Table) -> Column | None:
    """The primary key, where it is one column."""
    return table.column(table.primary_key[0]) if len(table.primary_key) == 1 else None


def _names(name: TableName, key: Column) -> Iterator[str]:
    if key.name.lower() not in _GENERIC:
        yield "".join(words_of(key.name))
    words = words_of(name.name)
    if words:
        stem = "".join((*words[:-1], singular(words[-1])))
        yield f"{stem}id"
        yield f"{stem}{key.name.lower()}"
        yield f"{singular(words[-1])}id"
