"""Enumerations whose labels are public, so that their columns are of them for analysts, too.

The labels of an enumeration are part of the schema, but owners put into them what they like. They are public
where each of them is said elsewhere: by the policy, under a column's `values`, or by a row of a public table.
Then the type as a whole says no more than is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from proxy.base.limits import IDENTIFIER_BYTES
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Enumeration
from proxy.policy.policy_model import Policy, PublicTable

_LABELS = 1_000  # a comparison by order becomes a list of them
_OWN_SCHEMA = "dp"


def labelled(policy: Policy, catalog: Catalog, in_rows: Mapping[str, frozenset[str]]) -> Catalog:
    """
    Given    a policy and its database's catalogue; in_rows: by Column.type_name, labels that stand in columns
             of public tables that analysts can see
    Gives    the catalogue in which columns of an enumeration whose labels are public have it; those of others
             are read as texts, whose labels nobody is told
    """
    public = {
        name: known
        for name, known in catalog.enumerations.items()
        if _can_be_made(known)
        and set(known.labels)
        <= in_rows.get(name, frozenset()).union(*_listed(policy, catalog, name))
    }
    return _described(catalog, public)


def as_labelled(before: Catalog, now: Catalog) -> Catalog:
    """
    Given    a catalogue as of `labelled`, and as it is now
    Gives    what it is now, with the same types labelled, whatever their labels have become
    """
    columns = (column for table in before.tables.values() for column in table.columns)
    names = {column.type_name for column in columns if column.enumeration is not None}
    return _described(
        now, {name: now.enumerations[name] for name in names & now.enumerations.keys()}
    )


def _described(catalog: Catalog, public: Mapping[str, Enumeration]) -> Catalog:
    def described(column: Column) -> Column:
        is_one = column.type is SqlType.ENUM
        return replace(column, enumeration=public.get(column.type_name) if is_one else None)

    tables = {
        name: replace(table, columns=tuple(map(described, table.columns)))
        for name, table in catalog.tables.items()
    }
    return replace(catalog, tables=tables)


def public_label_columns(policy: Policy, catalog: Catalog) -> Iterator[tuple[PublicTable, Column]]:
    """The columns of enumerations in public tables that analysts can see."""
    for name, exposed in policy.tables.items():
        table = catalog.tables.get(name)
        if isinstance(exposed, PublicTable) and table is not None:
            for column in table.columns:
                if column.type is SqlType.ENUM and exposed.has(column.name):
                    yield exposed, column


def _listed(policy: Policy, catalog: Catalog, type_name: str) -> Iterator[frozenset[str]]:
    for exposed in policy.protected():
        table = catalog.tables.get(exposed.name)
        for own in exposed.columns.values():
            column = None if table is None else table.column(own.name)
            if column is not None and column.type_name == type_name:
                yield frozenset(label for label in own.values or () if label is not None)


def _can_be_made(known: Enumeration) -> bool:
    """As a type of a server in UTF-8, in a schema that analysts may use."""
    names = (known.schema, known.name, *known.labels)
    is_system = known.schema.startswith("pg_") or known.schema == "information_schema"
    return (
        len(known.labels) <= _LABELS
        and all(len(name.encode()) <= IDENTIFIER_BYTES for name in names)
        and not (is_system or known.schema == _OWN_SCHEMA)
    )
