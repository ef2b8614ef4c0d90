"""Public tables that look as if they were about people, where no key of the policy's own tables says so.

The rows of a public table are copied for every analyst, so the absence of a sign is no sign of absence: what
looks like people is severe until the owner accepts it with a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.doctor.declared_people import DeclaredPeople, plain_name
from proxy.doctor.left_out_people import is_lookup
from proxy.doctor.unit_diagnosis import foreign_targets, is_told
from proxy.policy.column_shapes import family
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.guessed_units import NotGuessed, is_document, is_rates
from proxy.policy.people import people
from proxy.policy.person_words import (
    is_birth,
    is_contact,
    is_frequency,
    is_given_name,
    is_identifying,
    is_number_of_something,
    is_of_an_organisation,
    is_of_kinds,
    is_published,
    is_word_for_things_too,
    names_a_person,
    person_of_column,
    personal_traits,
    singular,
    words_of,
)
from proxy.policy.policy_model import (
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
)

_MANY_ROWS = 500
_MANY_BYTES = 64 * 1024  # of a table that was never analysed
_LISTED = 4
PROTECT = (
    "give {0} a unit, or take it out of the policy; if its rows belong to no person, accept this with "
    "the reason"
)


@dataclass(frozen=True, slots=True)
class _Sign:
    """subjects: the columns, or the other tables, that the reason is about."""

    reason: str
    subjects: tuple[str, ...] = ()


def public_table_findings(
    table: PublicTable,
    policy: Policy,
    catalog: Catalog,
    declared: DeclaredPeople,
    needed: Collection[TableName],
) -> Iterator[Finding]:
    """At most one that is severe, or else one warning. needed: public tables that protected ones refer to."""
    name = table.name
    severe = [
        *_documents_shown(name, declared),
        *_naming(table, catalog, declared),
        *_showing(name, policy, declared),
        *_belonging(name, declared),
    ]
    if severe:
        subjects = tuple(dict.fromkeys(one for sign in severe for one in sign.subjects))
        sign = _Sign(severe[0].reason, subjects)
        yield _finding(FindingName.PUBLIC_LOOKS_LIKE_PEOPLE, name, sign)
        return
    fitting = _fitting_unit(name, policy, catalog, declared)
    if fitting is not None and fitting[0]:
        yield _finding(FindingName.PUBLIC_MAY_LIST_PEOPLE, name, fitting[1])
        return
    doubtful = _doubtful(table, catalog, declared) or (None if fitting is None else fitting[1])
    if doubtful is not None:
        yield _finding(FindingName.PUBLIC_MAY_NAME_PEOPLE, name, doubtful)
    elif name not in needed and not _is_plain_lookup(name, catalog, declared):
        sign = _Sign("no protected table of the policy refers to it: say why it is public")
        yield _finding(FindingName.PUBLIC_IS_NOT_NEEDED, name, sign)


def _is_plain_lookup(name: TableName, catalog: Catalog, declared: DeclaredPeople) -> bool:
    """Rates by year, or numbers by a key to which a foreign key of the same name elsewhere gives a meaning."""
    there = catalog.tables.get(name)
    if there is None:
        return False
    if is_rates(there):
        return True
    if len(there.primary_key) != 1 or not all(
        column.type.is_number for column in there.columns if column.name not in there.primary_key
    ):
        return False
    (key,) = there.primary_key
    targets = {
        one.target
        for keys in declared.relations.links.foreign_keys.values()
        for one in keys
        if one.columns == (key,)
    }
    return bool(targets) and all(is_lookup(target, declared) for target in targets)


def _naming(table: PublicTable, catalog: Catalog, declared: DeclaredPeople) -> Iterator[_Sign]:
    name, exposed = table.name.name, _exposed(table, catalog)
    naming = [column for column in exposed if names_a_person(column)]
    of_companies = declared.are_companies(table.name)
    if of_companies or is_of_an_organisation(name):  # it has a telephone
        naming = [column for column in naming if not is_contact(column)]
    naming = [column for column in naming if not _is_of_no_row(column, table, catalog)]
    if naming:
        yield _Sign(f"its columns name people: {', '.join(naming[:_LISTED])}", tuple(naming))
    reason = declared.are_people(table.name)
    is_perhaps = is_word_for_things_too(name) and not personal_traits(tuple(exposed))
    is_perhaps = is_perhaps or is_published(name) or of_companies
    if reason is not None and not (is_perhaps and not naming):
        yield _Sign(reason)


def _documents_shown(name: TableName, declared: DeclaredPeople) -> Iterator[_Sign]:
    """Keys that a view takes out of documents, which name people as columns do."""
    for other in (name, *sorted(declared.relations.links.readable_from(name))):
        relation = declared.relations.known.get(other)
        keys = () if relation is None else relation.document_keys
        naming = [key for key in keys if names_a_person(key)]
        if naming:
            listed = ", ".join(naming[:_LISTED])
            yield _Sign(f"its text takes {listed} out of documents", tuple(naming))


def _is_of_no_row(column: str, table: PublicTable, catalog: Catalog) -> bool:
    """A kind of logins, the year of birth of an author, a list of given names with how often each is given."""
    name, there = table.name.name, catalog.tables.get(table.name)
    if is_of_kinds(name) or (is_published(name) and is_birth(column)):
        return True
    return (
        there is not None
        and is_given_name(column)
        and there.primary_key == (column,)
        and all(one.name == column or _is_number_of_rows(one) for one in there.columns)
    )


def _showing(name: TableName, policy: Policy, declared: DeclaredPeople) -> Iterator[_Sign]:
    """A view, parent or heir of what looks like people."""
    links = declared.relations.links
    parents = {parent for parent in links.children if name in links.children_of(parent)}
    for other in sorted(links.readable_from(name) | parents):
        if other in policy.tables:
            continue
        reason = None if declared.are_companies(other) else declared.are_people(other)
        for sign in [_Sign(reason)] if reason else _belonging(other, declared):
            yield _Sign(f"it has rows in common with {other}: {sign.reason}", (str(other),))


def _belonging(name: TableName, declared: DeclaredPeople) -> Iterator[_Sign]:
    """What `policy init` would give a unit by a key, or by a column that is called as one."""
    guess = declared.referring(name)
    if guess is None or not isinstance(guess.unit, IdentifierUnit) or not is_told(guess):
        return
    column, word = guess.unit.column, guess.unit.identifier
    targets = foreign_targets(name, column, declared.relations.links)
    if targets and all(map(declared.are_companies, targets)):
        return
    yield _Sign(
        f"its column '{column}' tells which {word} a row belongs to ({guess.why})", (column,)
    )


def _fitting_unit(
    name: TableName, policy: Policy, catalog: Catalog, declared: DeclaredPeople
) -> tuple[bool, _Sign] | None:
    """A unit column without a foreign key, whose people nothing lists, and a key that holds the same type;
    first whether a name says so, too."""
    possible: tuple[bool, _Sign] | None = None
    there = catalog.tables.get(name)
    keys = [] if there is None else _key_columns(there)
    if there is None or not keys or _is_claimed(there, policy, declared):
        return None
    for table in policy.protected():
        unit = table.unit
        own = catalog.tables.get(table.name)
        if own is None or not isinstance(unit, IdentifierUnit) or unit.path is not None:
            continue
        column = own.column(unit.column)
        if column is None or _is_linked(table, policy, catalog, declared):
            continue
        if _is_listed(unit.identifier, policy, catalog):
            continue
        for key in keys:
            found = there.column(key)
            if found is None or family(found) != family(column):
                continue
            is_called = (
                declared.is_called(name, unit.identifier)
                or name in declared.called.of(column, table.name)
                or plain_name(key) in (plain_name(unit.column), plain_name(unit.identifier))
            )
            sign = _Sign(
                f"its key '{key}' fits {table.name}.{unit.column}, the {unit.identifier}, of which no "
                "foreign key says where they are listed",
                (key,),
            )
            if is_called:
                return True, sign
            possible = possible or (False, sign)
    return possible


def _key_columns(table: Table) -> list[str]:
    """Of a key of several columns, those that are called as the number of something."""
    found = [
        column
        for key in (table.primary_key, *table.unique)
        for column in key
        if len(key) == 1 or is_number_of_something(column)
    ]
    return list(dict.fromkeys(found))


def _is_linked(
    table: ProtectedTable, policy: Policy, catalog: Catalog, declared: DeclaredPeople
) -> bool:
    """Whether a foreign key or a view joins the unit column with that of another table than a partition."""
    links = declared.relations.links
    parents = {one for one in links.children if table.name in links.children_of(one)}
    own = {table.name, *parents, *links.children_of(table.name)}
    linked = people(policy, catalog, links, [table], with_keys=False).holding
    return any(name not in own for name, _ in linked)


def _is_listed(identifier: str, policy: Policy, catalog: Catalog) -> bool:
    """Whether a protected table has one row of each."""
    for table in policy.protected():
        unit, there = table.unit, catalog.tables.get(table.name)
        if (
            isinstance(unit, IdentifierUnit)
            and unit.identifier == identifier
            and unit.path is None
            and there is not None
            and there.is_unique(unit.column)
        ):
            return True
    return False


def _is_claimed(there: Table, policy: Policy, declared: DeclaredPeople) -> bool:
    """Whether another column than a unit's refers to the table: it lists what that column tells apart."""
    units = {
        (table.name, table.unit.column)
        for table in policy.protected()
        if isinstance(table.unit, IdentifierUnit)
    }
    for table in policy.protected():
        for column in table.columns.values():
            if column.references is not None and column.references[0] == there.name:
                return True
    for other, described in declared.tables.items():
        for key in declared.relations.links.foreign_keys.get(other, ()):
            if key.target == there.name and other != there.name:
                return True
        for each in described.columns:
            is_unit = (other, each.name) in units
            if not is_unit and there.name in declared.called.of(each, other):
                return True
    return False


def _doubtful(table: PublicTable, catalog: Catalog, declared: DeclaredPeople) -> _Sign | None:
    name, exposed = table.name, _exposed(table, catalog)
    naming = [column for column in exposed if is_identifying(column, of_people=False)]
    there = catalog.tables.get(name)
    keys = declared.relations.links.foreign_keys.get(name, ())
    refers = {column for key in keys for column in key.columns}
    naming += [one for one in exposed if person_of_column(one) and one not in refers]
    if naming:
        listed = tuple(dict.fromkeys(naming))
        return _Sign(f"its columns may name people: {', '.join(listed[:_LISTED])}", listed)
    if (reason := declared.are_people(name)) is not None:
        return _Sign(f"{reason}, or things of that name")
    columns = () if there is None else there.columns
    documents = tuple(one.name for one in columns if is_document(one) and table.has(one.name))
    if documents:
        return _Sign(f"nobody can tell what its documents hold: {', '.join(documents)}", documents)
    guess = declared.guesses.get(name)
    if isinstance(guess, NotGuessed) and guess.is_about_people:
        return _Sign(guess.why)
    is_of_groups = there is not None and is_rates(there)
    if len(personal_traits(tuple(exposed))) > 1 and not is_of_groups:
        return _Sign("its columns are traits of people, of whom each row may be one")
    reason = None if there is None else _many(there, declared)
    return None if reason is None else _Sign(reason)


def _many(there: Table, declared: DeclaredPeople) -> str | None:
    """A lookup has few rows."""
    name = there.name
    relation = declared.relations.known.get(name)
    if relation is None:
        return None
    parts = [relation, *(declared.relations.known[one] for one in _children(name, declared))]
    is_many = sum(max(0, part.rows) for part in parts) >= _MANY_ROWS or any(
        part.rows < 0 and part.size >= _MANY_BYTES for part in parts
    )
    if not is_many:
        return None
    if there.primary_key or there.unique:
        key = ", ".join(there.primary_key or there.unique[0])
        return f"its key ({key}) tells many rows apart, and nothing says what they are"
    return "it has many rows without a key, and nothing says what they are"


def _children(name: TableName, declared: DeclaredPeople) -> list[TableName]:
    links = declared.relations.links
    return [one for one in links.children_of(name) if one in declared.relations.known]


def _exposed(table: PublicTable, catalog: Catalog) -> list[str]:
    there = catalog.tables.get(table.name)
    if there is None:
        return []
    return [c.name for c in there.columns if table.has(c.name) and not _is_no_name(c)]


def _is_no_name(column: Column) -> bool:
    """A yes or no; a number of births or of users, which is called in the plural."""
    words = words_of(column.name)
    if column.type is SqlType.BOOL:
        return True
    return (
        column.type.is_integer and bool(words) and singular(words[-1]) not in (words[-1], "person")
    )


def _is_number_of_rows(column: Column) -> bool:
    """How often something is there: haeufigkeit."""
    return column.type.is_integer and is_frequency(column.name)


def _finding(name: FindingName, table: TableName, sign: _Sign) -> Finding:
    return Finding(
        name=name,
        where=str(table),
        what=f"{table} is public, and {sign.reason}",
        fix=PROTECT.format(table),
        path=("tables", str(table)),
        subjects=sign.subjects,
    )
