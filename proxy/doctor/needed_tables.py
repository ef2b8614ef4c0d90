"""Public tables that the protected tables of a policy refer to: the lookups that analysts join.

A word list never has every word for people. A public table that nothing refers to is rarely a lookup, so its
owner says why it is public. A column that is called as a table is no reference: badges list people.
"""

from __future__ import annotations

from collections.abc import Iterator

from proxy.catalog.catalog_model import TableName
from proxy.doctor.declared_people import DeclaredPeople
from proxy.policy.policy_model import Policy, ProtectedTable, PublicTable


def needed_tables(policy: Policy, declared: DeclaredPeople) -> frozenset[TableName]:
    """The public tables to which a protected table refers: by a foreign key, by `references` or by the
    definition of a view, also through other public tables. A table with `join_keys` is joined by those."""
    public = {table.name for table in policy.tables.values() if isinstance(table, PublicTable)}
    needed = {
        table.name
        for table in policy.tables.values()
        if isinstance(table, PublicTable) and table.join_keys
    }
    waiting = [table.name for table in policy.protected()] + list(needed)
    while waiting:
        name = waiting.pop()
        more = (set(_targets(name, policy, declared)) & public) - needed
        needed |= more
        waiting += more
    return frozenset(needed)


def _targets(name: TableName, policy: Policy, declared: DeclaredPeople) -> Iterator[TableName]:
    links = declared.relations.links
    parents = {parent for parent in links.children if name in links.children_of(parent)}
    beside = {name, *links.readable_from(name), *parents}
    yield from beside - {name}
    for relation in beside:
        yield from (key.target for key in links.foreign_keys.get(relation, ()))
    table = policy.tables.get(name)
    if isinstance(table, ProtectedTable):
        for column in table.columns.values():
            if column.references is not None:
                yield column.references[0]
