"""Two identifiers of a policy that refer to the same people, who are then protected as if they were two."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from proxy.catalog.catalog_model import Catalog
from proxy.doctor.links_diagnosis import Relations
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.people import Place, people
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable


def same_people_findings(
    policy: Policy, catalog: Catalog, relations: Relations, declared: Catalog
) -> Iterator[Finding]:
    """By foreign keys to one column, or to two columns of one table that tell its rows apart: id and e-mail."""
    first_of: dict[str, ProtectedTable] = {}
    for table in policy.protected():
        if isinstance(table.unit, IdentifierUnit) and table.unit.path is None:
            first_of.setdefault(table.unit.identifier, table)
    visited: set[str] = set()
    for identifier, table in first_of.items():
        visited.add(identifier)
        held = people(policy, catalog, relations.links, [table], with_keys=False).holding
        twins = list(_twins(identifier, held, relations, declared))
        also = people(policy, catalog, relations.links, twins, with_keys=False).holding
        for other, other_table in first_of.items():
            assert isinstance(other_table.unit, IdentifierUnit)
            place = (other_table.name, other_table.unit.column)
            if other in visited or (place not in held and place not in also):
                continue
            fix = f"write unit: {{{identifier}: {other_table.unit.column}}}"
            if place not in held:
                fix = (
                    f"protect a view of {other_table.name} that shows the {identifier} as {table.name} has it, "
                    "or take one of the two out of the policy"
                )
            yield Finding(
                name=FindingName.SAME_PEOPLE_TWO_NAMES,
                where=str(other_table.name),
                what=f"'{other}' of {other_table.name} and '{identifier}' of {table.name} are the same people, "
                "by their foreign keys",
                fix=fix,
                path=("tables", str(other_table.name), "unit"),
            )


def _twins(
    identifier: str, held: Collection[Place], relations: Relations, declared: Catalog
) -> Iterator[ProtectedTable]:
    """Further columns that tell the same people apart, as if they were units: foreign keys refer to them in a
    table that has the identifier in a unique column."""
    referred = {
        (key.target, key.target_columns[0])
        for keys in relations.links.foreign_keys.values()
        for key in keys
        if len(key.target_columns) == 1
    }
    listing = {
        name
        for name, column in held
        if (there := declared.tables.get(name)) is not None and there.is_unique(column)
    }
    for name, column in sorted(referred - set(held)):
        if name in listing:
            yield ProtectedTable(name=name, unit=IdentifierUnit(identifier, column), columns={})
