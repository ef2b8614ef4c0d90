"""People who are not protected in a table, because its unit is a row or somebody else.

Words say who people are, and so does the policy: whom it protects elsewhere is somebody here, too. A table
that nobody has a word for may list people as well, unless its columns are those of a lookup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.doctor.declared_people import DeclaredPeople
from proxy.doctor.unit_diagnosis import foreign_targets, is_listed_in, people_behind, referred
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.identifier_names import IdentifierNames
from proxy.policy.lookup_tables import may_list_people
from proxy.policy.people import Links, people
from proxy.policy.person_words import (
    are_counterparts,
    is_account,
    is_known,
    is_perhaps_of_things,
    is_served,
    is_sure,
    listed_person,
    person_of_column,
    singular,
)
from proxy.policy.policy_model import (
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    Unit,
)
from proxy.policy.type_rules import family

_FIX = (
    "write the unit of whom the rows are about; if both need protection, take the table out of the policy; "
    "else accept this with the reason"
)
_LISTS = (
    *(SqlType.TEXT_ARRAY, SqlType.INT2_ARRAY, SqlType.INT4_ARRAY, SqlType.INT8_ARRAY),
    SqlType.JSONB,
)
_DEEP = 5


def left_out_findings(
    table: ProtectedTable, policy: Policy, catalog: Catalog, declared: DeclaredPeople
) -> Iterator[Finding]:
    """At most one. Of a table of which nothing worse is found."""
    shown = table
    if isinstance(table.unit, IdentifierUnit):
        # A column of a view is judged where it comes from.
        links = declared.relations.links
        name, column = links.source_of((table.name, table.unit.column))
        shown = replace(table, name=name, unit=replace(table.unit, column=column))
    finding = _first(shown, policy, catalog, declared)
    if finding is not None and shown.name != table.name:
        finding = replace(
            finding,
            where=str(table.name),
            what=f"{table.name} shows {finding.what}",
            path=("tables", str(table.name), "unit"),
        )
    if finding is not None:
        yield finding


def _first(
    table: ProtectedTable, policy: Policy, catalog: Catalog, declared: DeclaredPeople
) -> Finding | None:
    unit = table.unit
    found = None
    if isinstance(unit, IdentifierUnit):
        found = (
            _other_column(table, unit, policy, catalog, declared)
            or _other_kind(table, unit, policy, declared)
            or _protected_elsewhere(table, unit, policy, catalog, declared)
            or _other_party(table, unit, declared)
        )
    return found or _maybe_people(table, policy, declared)


def _other_column(
    table: ProtectedTable,
    unit: IdentifierUnit,
    policy: Policy,
    catalog: Catalog,
    declared: DeclaredPeople,
) -> Finding | None:
    """Another column that holds the identifier as the rest of the policy has it, where the unit's does not."""
    others = [
        other
        for other in policy.protected()
        if other.name != table.name
        and isinstance(other.unit, IdentifierUnit)
        and other.unit.identifier == unit.identifier
        and other.unit.path is None
    ]
    if unit.path is not None or not others or is_a_person(table.name, declared):
        return None
    if person_of_column(unit.column) == unit.identifier:
        return None  # it is the other table that has it elsewhere
    links = declared.relations.links
    found = people(policy, catalog, links, others, with_keys=False)
    called = _called(table.name, others, policy, catalog, links)
    if links.source_of((table.name, unit.column)) in found.holding or unit.column in called:
        return None
    held = [one for name, one in found.holding if name == table.name and one != unit.column]
    column = next(iter([*held, *called]), None)
    if column is None or (table.name, unit.column) in found.holding:
        return None
    return _severe(table, unit, f"'{column}' is the {unit.identifier}, as {others[0].name} has it")


def _other_kind(
    table: ProtectedTable, unit: IdentifierUnit, policy: Policy, declared: DeclaredPeople
) -> Finding | None:
    """People of another kind, by words, to whom a column leads."""
    name, links = table.name, declared.relations.links
    if unit.path is None and is_a_person(name, declared):
        return None
    own = foreign_targets(name, unit.column, links)
    is_own_served = _is_served_unit(unit, own, declared)
    is_listed = is_listed_in(unit, policy, declared.tables, (table.name,))
    is_perhaps = is_perhaps_of_things(unit.identifier)
    warned: Finding | None = None
    for column, target in referred(name, declared):
        if target in own or target == name or column == unit.column:
            continue
        for word, why, listing in people_behind(target, declared):
            if word == unit.identifier or _is_with(unit, own, listing, policy, links):
                continue
            served = is_served(word, _columns(listing, declared))
            other = policy.tables.get(listing)
            if isinstance(other, PublicTable) or (is_own_served and not served):
                continue
            is_protected = isinstance(other, ProtectedTable)
            leads = f"'{column}' leads to {why}{target}"
            wins = (served and not is_own_served) or (is_protected and is_perhaps)
            if wins and not is_listed:
                return _severe(table, unit, f"{leads}: one {word} can have rows of many units")
            if served or is_protected or (is_perhaps and not is_listed and is_sure(word)):
                warned = warned or _warning(
                    table, unit, f"{leads}: the {word} is not protected in this table", column
                )
    return warned


def _protected_elsewhere(
    table: ProtectedTable,
    unit: IdentifierUnit,
    policy: Policy,
    catalog: Catalog,
    declared: DeclaredPeople,
) -> Finding | None:
    """People whom the policy protects by another identifier, and to whom a column leads."""
    there, links = declared.tables.get(table.name), declared.relations.links
    if there is None or (unit.path is None and is_a_person(table.name, declared)):
        return None
    is_row = unit.path is None and there.is_unique(unit.column)
    own = foreign_targets(table.name, unit.column, links)
    is_own_served = _is_served_unit(unit, own, declared)
    is_listed = is_listed_in(unit, policy, declared.tables, (table.name,))
    keys = links.foreign_keys.get(table.name, ())
    for word, others in _kinds(table, unit, policy, with_rows=is_row):
        found = people(policy, catalog, links, others, with_keys=False)
        leading = [
            (key.columns[0], key.target, (key.target, key.target_columns[0]) in found.holding)
            for key in keys
            if key.target in found.about and key.target != table.name
        ]
        called = _called(table.name, others, policy, catalog, links)
        known = {column for column, _, _ in leading}
        leading += [(one, others[0].name, True) for one in called if one not in known]
        for column, target, is_held in leading:
            if _is_with(unit, own, target, policy, links):
                continue
            leads = f"'{column}' refers to {target}, which is about one {word} each"
            if column == unit.column:
                if is_held or is_listed or declared.person(target) is not None:
                    continue
                return _severe(table, unit, f"{leads}, who can have many")
            if is_row:
                if is_held and there.is_unique(column):
                    continue
                return _severe(table, unit, f"{leads}, who can have more rows than one")
            if is_own_served and is_known(word) and not is_served(word):
                continue
            if is_perhaps_of_things(unit.identifier) and not is_listed:
                return _severe(table, unit, f"{leads}, whom the policy protects elsewhere")
            return _warning(
                table,
                unit,
                f"{leads}, whom the policy protects elsewhere and not in this table",
                column,
            )
    return None


def _other_party(
    table: ProtectedTable, unit: IdentifierUnit, declared: DeclaredPeople
) -> Finding | None:
    """The second of two people of one kind: a foreign key to the same table, or a name such as b_number."""
    links, there = declared.relations.links, declared.tables.get(table.name)
    own = foreign_targets(table.name, unit.column, links)
    if unit.path is not None or there is None:
        return None
    for key in links.foreign_keys.get(table.name, ()):
        is_same = key.target in own and unit.column not in key.columns
        if is_same and (
            declared.person(key.target) is not None or not is_lookup(key.target, declared)
        ):
            what = f"'{key.columns[0]}' refers to somebody of the same kind, who is not protected in this table"
            return _warning(table, unit, what, key.columns[0])
    held = there.column(unit.column)
    if held is None or there.is_unique(unit.column):
        return None
    for column in there.columns:
        is_alike = column.name != unit.column and family(column) == family(held)
        if is_alike and are_counterparts(unit.column, column.name):
            what = f"'{column.name}' may name the other party, who is not protected in this table"
            return _warning(table, unit, what, column.name)
    return None


def _maybe_people(
    table: ProtectedTable, policy: Policy, declared: DeclaredPeople
) -> Finding | None:
    """Lists of people in one column; a table that may list people, where the unit is a row or nobody known."""
    name, unit, there = table.name, table.unit, declared.tables.get(table.name)
    links = declared.relations.links
    base = there if there is None or there.foreign_keys else _read_as(there, links, declared)
    if there is None or base is None:
        return None
    for column in there.columns:
        if (word := _listed_word(column, policy)) is not None:
            return _asks(table, f"its column '{column.name}' may list people ({word})")
    if isinstance(unit, IdentifierUnit):
        targets = foreign_targets(name, unit.column, links)
        if _is_served_unit(unit, targets, declared) or is_listed_in(
            unit, policy, declared.tables, (name,)
        ):
            return None
        is_row = unit.path is None and there.is_unique(unit.column)
    else:
        is_row = True
    if is_row and is_a_person(name, declared):
        return None
    for column_name, target in _unknown(base, unit, policy, declared):
        return _asks(
            table, f"each row refers by '{column_name}' to one of {target}: are these people?"
        )
    return None


def _unknown(
    there: Table, unit: Unit, policy: Policy, declared: DeclaredPeople, deep: int = 0
) -> Iterator[tuple[str, TableName]]:
    """Foreign keys to tables of which neither words nor columns say that they are no people."""
    own = unit.column if isinstance(unit, IdentifierUnit) else None
    for key in declared.relations.links.foreign_keys.get(there.name, ()):
        target, column = declared.tables.get(key.target), there.column(key.columns[0])
        if target is None or column is None or key.target == there.name or deep > _DEEP:
            continue
        if key.columns == (own,) or (len(key.columns) == 1 and there.is_unique(key.columns[0])):
            # One row each, or one unit each: whose rows those are.
            yield from _unknown(target, RowUnit(), policy, declared, deep + 1)
            continue
        is_public = isinstance(policy.tables.get(key.target), PublicTable)
        if (is_public or not column.nullable) and not is_lookup(key.target, declared):
            yield key.columns[0], key.target


def _read_as(there: Table, links: Links, declared: DeclaredPeople) -> Table | None:
    """The table that a view shows, row by row, where it shows one."""
    bases = {links.source_of((there.name, column.name))[0] for column in there.columns}
    return declared.tables.get(next(iter(bases))) if len(bases) == 1 else there


def _listed_word(column: Column, policy: Policy) -> str | None:
    is_list = column.type in _LISTS or column.type_name.endswith("[]") or column.type_name == "json"
    if not is_list:
        return None
    known = {
        table.unit.identifier
        for table in policy.protected()
        if isinstance(table.unit, IdentifierUnit)
    }
    known |= {
        singular(table.name.name.lower())
        for table in policy.protected()
        if not isinstance(table.unit, RowUnit)
    }
    return listed_person(column.name, known)


def is_lookup(name: TableName, declared: DeclaredPeople) -> bool:
    """Whether a table lists things, and none that a word says are people."""
    there = declared.tables.get(name)
    return there is not None and declared.person(name) is None and not may_list_people(there)


def is_a_person(name: TableName, declared: DeclaredPeople) -> bool:
    """Whether a row of a table is one person, as far as its word says nothing else."""
    word = declared.person(name)
    return word is not None and not is_account(word)


def _kinds(
    table: ProtectedTable, unit: IdentifierUnit, policy: Policy, *, with_rows: bool
) -> Iterator[tuple[str, list[ProtectedTable]]]:
    """The other people of a policy: tables by their identifier, or, with_rows, one whose rows are units."""
    kinds: dict[str, list[ProtectedTable]] = {}
    for other in policy.protected():
        if isinstance(other.unit, IdentifierUnit):
            if other.unit.identifier != unit.identifier:
                kinds.setdefault(other.unit.identifier, []).append(other)
        elif with_rows and other.name != table.name:
            kinds.setdefault(f"row of {other.name}", []).append(other)
    yield from kinds.items()


def _called(
    name: TableName,
    others: list[ProtectedTable],
    policy: Policy,
    catalog: Catalog,
    links: Links,
) -> list[str]:
    """Columns that are called as the key of a table that lists the people of others."""
    listing = {
        other.name: other
        for other in others
        if isinstance(other.unit, IdentifierUnit)
        and other.unit.path is None
        and (there := catalog.tables.get(other.name)) is not None
        and there.is_unique(other.unit.column)
    }
    if not listing:
        return []
    names = IdentifierNames(replace(policy, tables=listing), catalog)
    keys = links.foreign_keys.get(name, ())
    return [column for column, _ in names.named_like(name, keys, listing)]


def _is_with(
    unit: IdentifierUnit,
    own: frozenset[TableName],
    listing: TableName,
    policy: Policy,
    links: Links,
) -> bool:
    """Whether the people of a table are protected with the unit: under its name, or as those of a household."""
    other = policy.tables.get(listing)
    held = other.unit if isinstance(other, ProtectedTable) else None
    if isinstance(held, IdentifierUnit) and held.identifier == unit.identifier:
        return True
    return any(one.target in own for one in links.foreign_keys.get(listing, ()))


def _is_served_unit(
    unit: IdentifierUnit, own: frozenset[TableName], declared: DeclaredPeople
) -> bool:
    listed = [(declared.person(target), _columns(target, declared)) for target in own]
    return is_served(unit.identifier) or any(
        word is not None and is_served(word, columns) for word, columns in listed
    )


def _columns(name: TableName, declared: DeclaredPeople) -> tuple[str, ...]:
    return tuple(sorted(declared.relations.links.columns.get(name, ())))


def _severe(table: ProtectedTable, unit: IdentifierUnit, why: str) -> Finding:
    return Finding(
        name=FindingName.UNIT_LEADS_ELSEWHERE,
        where=str(table.name),
        what=f"{_described(table, unit)}, and {why}",
        fix=_FIX,
        path=("tables", str(table.name), "unit"),
        subjects=(unit.column,),
    )


def _warning(table: ProtectedTable, unit: IdentifierUnit, why: str, column: str) -> Finding:
    return Finding(
        name=FindingName.UNIT_LEAVES_OUT_PEOPLE,
        where=str(table.name),
        what=f"{_described(table, unit)}, and {why}",
        fix=_FIX,
        path=("tables", str(table.name), "unit"),
        subjects=(column,),
    )


def _asks(table: ProtectedTable, why: str) -> Finding:
    unit = table.unit
    what = (
        _described(table, unit)
        if isinstance(unit, IdentifierUnit)
        else f"{table.name}: the unit is a row"
    )
    return Finding(
        name=FindingName.ROW_UNIT_MAY_REFER_TO_PEOPLE,
        where=str(table.name),
        what=f"{what}, and {why}",
        fix="write the unit of those people; or, if they are none, accept this with the reason",
        path=("tables", str(table.name), "unit"),
    )


def _described(table: ProtectedTable, unit: IdentifierUnit) -> str:
    return f"{table.name}: the unit is {{{unit.identifier}: {unit.column}}}"
