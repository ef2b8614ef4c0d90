"""Public tables that the protected tables of a policy refer to: the lookups that analysts join.

A word list never has every word for people. A public table that nothing refers to is rarely a lookup, so its
owner says why it is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.doctor.declared_people import DeclaredPeople
from proxy.policy.person_words import is_number_of_something
from proxy.policy.policy_model import Policy, ProtectedTable, PublicTable
from proxy.policy.type_rules import family


def needed_tables(policy: Policy, declared: DeclaredPeople) -> frozenset[TableName]:
    """The public tables to which a protected table refers: by a foreign key, by `references`, by a name or by
    the definition of a view, also through other public tables. A table with `join_keys` is joined by those."""
    public = {table.name for table in policy.tables.values() if isinstance(table, PublicTable)}
    needed = {
        table.name
        for table in policy.tables.values()
        if isinstance(table, PublicTable) and table.join_keys
    }
    waiting = [table.name for table in policy.protected()] + list(needed)
    while waiting:
        name = waiting.pop()
        more = (set(_targets(name, policy, declared, public)) & public) - needed
        needed |= more
        waiting += more
    return frozenset(needed)


def _targets(
    name: TableName, policy: Policy, declared: DeclaredPeople, public: Iterable[TableName]
) -> Iterator[TableName]:
    links = declared.relations.links
    parents = {parent for parent in links.children if name in links.children_of(parent)}
    beside = {name, *links.readable_from(name), *parents}
    yield from beside - {name}
    for relation in beside:
        yield from (key.target for key in links.foreign_keys.get(relation, ()))
    table, there = policy.tables.get(name), declared.tables.get(name)
    if isinstance(table, ProtectedTable):
        for column in table.columns.values():
            if column.references is not None:
                yield column.references[0]
    for each in () if there is None else there.columns:
        yield from declared.called.of(each, name)
        for target in public:
            lookup = declared.tables.get(target)
            if lookup is None or target == name or not declared.is_called(target, each.name):
                continue
            if family(each) in _key_families(lookup):
                yield target


def _key_families(table: Table) -> set[str | None]:
    keys = [key[0] for key in (table.primary_key, *table.unique) if len(key) == 1]
    columns = [table.column(key) for key in keys]
    return {family(column) for column in columns if column is not None} - {None}


def is_plain_lookup(name: TableName, catalog: Catalog) -> bool:
    """Whether a table has a key that is no number of something, and numbers beside it alone: rates by year."""
    table = catalog.tables.get(name)
    if table is None:
        return False
    for key in (table.primary_key, *table.unique):
        others = [column for column in table.columns if column.name not in key]
        is_natural = bool(key) and not any(map(is_number_of_something, key))
        if is_natural and all(column.type.is_number for column in others):
            return True
    return False
