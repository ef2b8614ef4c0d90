"""Units that are not the people: a unit column that tells appointments apart, a row where a person has many.

Keys say it where they are declared; else the names by which `policy init` would have found the unit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.doctor.declared_people import DeclaredPeople, plain_name
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.guessed_units import Guess, How, NotGuessed, may_list_people
from proxy.policy.people import Links, Place, people
from proxy.policy.person_words import (
    is_anybody,
    is_id_of_person,
    is_known,
    names_a_person,
    person_named,
    person_of_column,
    rank_of,
    tells_people_apart,
    words_of,
)
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable, UnitPath
from proxy.query.checked_columns import checked_columns

_FIX = (
    "write unit: {{{0}: COLUMN}} with the column that names the {0}, or accept this with the reason"
)

_LAST = "user"  # of whom tables are about; those behind work for them, or are their contacts


def unit_findings(
    table: ProtectedTable, policy: Policy, catalog: Catalog, declared: DeclaredPeople
) -> Iterator[Finding]:
    """At most one, of a table whose unit is an identifier."""
    unit = table.unit
    if not isinstance(unit, IdentifierUnit):
        return
    # A column of a view is judged where it comes from.
    name, column = declared.relations.links.source_of((table.name, unit.column))
    own = replace(unit, column=column)
    base = replace(table, name=name, unit=own)
    reason = _shared_values(name, own, declared) or (
        _wrong_path(table.name, unit.column, unit.path, declared)
        if unit.path is not None
        else _wrong_key(name, own, declared) or _wrong_column(base, own, policy, catalog, declared)
    )
    if reason:
        what = f"{table.name}: the unit is {{{unit.identifier}: {unit.column}}}, and {reason}"
        yield Finding(
            name=FindingName.UNIT_LEADS_ELSEWHERE,
            where=str(table.name),
            what=what,
            fix=_FIX.format(unit.identifier),
            path=("tables", str(table.name), "unit"),
            subjects=(unit.column,),
        )


def _shared_values(name: TableName, unit: IdentifierUnit, declared: DeclaredPeople) -> str | None:
    """People by a column whose few values a CHECK lists."""
    there = declared.tables.get(name)
    is_person = (
        is_known(person_named(unit.identifier)) or person_of_column(unit.identifier) is not None
    )
    if there is None or unit.path is not None or not is_person or there.is_unique(unit.column):
        return None
    stated = checked_columns(tuple(text for _, text in there.checks)).get(unit.column)
    if stated is None or not stated.values:
        return None
    return f"a CHECK lists the values of '{unit.column}', which many share"


@dataclass(frozen=True, slots=True)
class RowUnitReason:
    """Why a person can have more rows than one. column: which says so; None: of other tables."""

    name: FindingName
    reason: str
    column: str | None = None


def row_unit_reason(name: TableName, declared: DeclaredPeople) -> RowUnitReason | None:
    """Why a person can have more rows than one, where `policy init` would name the column of their unit."""
    guess = declared.guesses.get(name)
    if isinstance(guess, NotGuessed):
        if not guess.is_about_people:
            return _by_a_name(name, declared)
        return RowUnitReason(FindingName.ROW_UNIT_REFERS_TO_PEOPLE, guess.why)
    referring = declared.referring(name)
    there = declared.tables.get(name)
    if referring is None or there is None or not isinstance(referring.unit, IdentifierUnit):
        return _by_names_of_a_view(name, declared)
    column = referring.unit.column
    targets = foreign_targets(name, column, declared.relations.links)
    if targets and all(map(declared.are_companies, targets)):
        return None
    # One row a visit is not one row a patient.
    path = referring.unit.path
    between = None if path is None else declared.tables.get(path.table)
    is_one = path is None or (between is not None and between.is_unique(path.column))
    if is_one and there.is_unique(column):
        return None
    reason = (
        f"its column '{column}' tells which {referring.unit.identifier} a row belongs to "
        f"({referring.why})"
    )
    is_key = referring.how in (How.FOREIGN_KEY, How.THROUGH_KEY)
    kind = FindingName.ROW_UNIT_REFERS_TO_PEOPLE if is_key else FindingName.ROW_UNIT_NAMES_PEOPLE
    return RowUnitReason(kind, reason, column)


def _by_a_name(name: TableName, declared: DeclaredPeople) -> RowUnitReason | None:
    """Rows that say of whom they are: patient_name, email. A bare name may be that of the row."""
    there = declared.tables.get(name)
    if there is None or declared.are_people(name):
        return None
    for column in there.columns:
        whose = person_of_column("_".join(words_of(column.name)[:-1]))
        is_name = whose is not None and names_a_person(column.name)
        is_name = column.type.is_text and (is_name or tells_people_apart(column.name))
        if is_name and not there.is_unique(column.name):
            reason = f"its column '{column.name}' names a person"
            return RowUnitReason(FindingName.ROW_UNIT_NAMES_PEOPLE, reason, column.name)
    return None


def _by_names_of_a_view(name: TableName, declared: DeclaredPeople) -> RowUnitReason | None:
    there = declared.tables.get(name)
    if there is None or name in declared.guesses:
        return None
    for column in there.columns:
        place = declared.relations.links.source_of((name, column.name))
        word = person_of_column(column.name) or _whose(place, declared)
        if word is not None and not there.is_unique(column.name):
            reason = f"its column '{column.name}' is called as one that tells which {word} it is"
            return RowUnitReason(FindingName.ROW_UNIT_NAMES_PEOPLE, reason, column.name)
    return None


def _whose(place: Place, declared: DeclaredPeople) -> str | None:
    """The person whom a column of a table tells from others, where a view shows it under another name."""
    guess = declared.guesses.get(place[0])
    unit = guess.unit if isinstance(guess, Guess) and guess.how is not How.ITSELF else None
    if isinstance(unit, IdentifierUnit) and unit.path is None and unit.column == place[1]:
        return unit.identifier
    return person_of_column(place[1])


def _wrong_path(
    name: TableName, column: str, path: UnitPath, declared: DeclaredPeople
) -> str | None:
    """A reference that the unit is found by, whose column refers to another table."""
    links = declared.relations.links
    wanted = {path.table} | _same_rows(path.table, links)
    targets = foreign_targets(name, column, links)
    if targets:
        return None if targets & wanted else _leads(column, targets, f"not to {path.table}")
    there = declared.tables.get(name)
    own = None if there is None else there.column(column)
    if there is None or own is None:
        return None
    called = declared.called.of(own, name)
    if called and not wanted & set(called):
        return f"'{column}' is called as the key of {called[0]} is, not as that of {path.table}"
    better = [
        other.name
        for other in there.columns
        if other.name != column
        and (
            foreign_targets(name, other.name, links) & wanted
            or (not called and wanted & set(declared.called.of(other, name)))
        )
    ]
    return f"'{better[0]}' refers to {path.table}, not '{column}'" if better else None


def _wrong_column(
    table: ProtectedTable,
    unit: IdentifierUnit,
    policy: Policy,
    catalog: Catalog,
    declared: DeclaredPeople,
) -> str | None:
    """Nothing, where the column is joined with that of another table with the same identifier."""
    name, links = table.name, declared.relations.links
    others = [
        other
        for other in policy.protected()
        if other.name != name
        and isinstance(other.unit, IdentifierUnit)
        and other.unit.identifier == unit.identifier
        and other.unit.path is None
    ]
    linked = people(policy, catalog, links, [table], with_keys=False).holding
    if any(
        isinstance(other.unit, IdentifierUnit) and (other.name, other.unit.column) in linked
        for other in others
    ):
        return _not_the_persons(table, unit, linked.keys(), declared)
    targets = foreign_targets(name, unit.column, links)
    if targets:
        wrong = _wrong_target(unit, targets, others, declared) or _of_one(unit, targets, declared)
        return wrong or _better(table, unit, declared)
    return _wrong_without_keys(table, unit, others, declared)


def _not_the_persons(
    table: ProtectedTable,
    unit: IdentifierUnit,
    linked: Iterable[Place],
    declared: DeclaredPeople,
) -> str | None:
    """Two tables that name the same wrong thing: visits by id, and lines by the visit."""
    lists_people = [
        name for name, _ in linked if declared.are_people(name) or declared.person(name)
    ]
    return None if lists_people else _better(table, unit, declared)


def _wrong_target(
    unit: IdentifierUnit,
    targets: frozenset[TableName],
    others: list[ProtectedTable],
    declared: DeclaredPeople,
) -> str | None:
    """Of a column with a foreign key, which does not lead to where the policy has the identifier."""
    column, word = unit.column, plain_name(unit.identifier)
    if any(
        declared.is_called(target, unit.identifier)
        or declared.person(target) == person_named(unit.identifier)
        for target in targets
    ):
        return None
    listing = [other.name for other in others if declared.person(other.name) is not None]
    both = sorted(targets.intersection(listing))
    if both:  # a table of the identifier, by another column than its unit is in
        return f"the foreign key of '{column}' leads to another column of {both[0]} than its unit"
    if any(declared.person(target) is not None for target in targets):
        return _leads(column, targets, f"not to {listing[0]}") if listing else None
    if person_of_column(column) is not None or plain_name(column) in (word, f"{word}id"):
        return None
    where = f"not to {listing[0]}" if listing else f"which is not called {unit.identifier}"
    return _leads(column, targets, where)


def _of_one(
    unit: IdentifierUnit, targets: frozenset[TableName], declared: DeclaredPeople
) -> str | None:
    """A unit that is a visit, or a line of an order: of which a person has many."""
    for target in sorted(targets):
        whose = declared.referring(target)
        if declared.are_people(target) or declared.person(target):
            continue
        words = [word for word, _, _ in people_behind(target, declared)]
        if whose is not None and (whose.how is not How.NAME or is_told(whose)):
            assert isinstance(whose.unit, IdentifierUnit)
            words = [whose.unit.identifier, *words]
        for word in words:
            if rank_of(word) <= rank_of(_LAST):
                return f"'{unit.column}' refers to {target}, whose rows belong to a {word}, who can have many"
    return None


def _wrong_key(name: TableName, unit: IdentifierUnit, declared: DeclaredPeople) -> str | None:
    """A table of people by another column than its key: by the household, or by the doctor."""
    there = declared.tables.get(name)
    word = person_named(unit.identifier)
    is_theirs = declared.person(name) == word or declared.is_called(name, unit.identifier)
    if there is None or len(there.primary_key) != 1 or not is_theirs:
        return None
    key, column = there.primary_key[0], unit.column
    is_named = person_of_column(column) == word or plain_name(column).startswith(
        plain_name(unit.identifier)
    )
    if there.is_unique(column) or is_named:
        return None
    return (
        f"{name} lists each {unit.identifier} by its key '{key}', and many can have one '{column}'"
    )


def referred(name: TableName, declared: DeclaredPeople) -> Iterator[tuple[str, TableName]]:
    """Columns that refer to another table, by a foreign key or as that table's key is called."""
    there = declared.tables.get(name)
    keys = declared.relations.links.foreign_keys.get(name, ())
    yield from ((key.columns[0], key.target) for key in keys)
    known = {column for key in keys for column in key.columns}
    for column in () if there is None else there.columns:
        if column.name not in known:
            yield from ((column.name, target) for target in declared.called.of(column, name)[:1])


def people_behind(
    target: TableName, declared: DeclaredPeople
) -> Iterator[tuple[str, str, TableName]]:
    """The people of a table: those whom it lists, or those whom it refers to itself or by one look; the words
    before its name, and the table that lists them."""
    word = declared.person(target)
    if word is not None:
        yield word, "", target
        return
    for _, listing in referred(target, declared):
        word = declared.person(listing)
        if word is not None:
            yield word, f"the {word} of ", listing
            continue
        whose = declared.referring(listing)
        if whose is not None and whose.how is How.FOREIGN_KEY:
            assert isinstance(whose.unit, IdentifierUnit)
            yield whose.unit.identifier, f"the {whose.unit.identifier} of ", listing


def is_listed_in(
    unit: IdentifierUnit,
    policy: Policy,
    tables: Mapping[TableName, Table],
    besides: Collection[TableName] = (),
) -> bool:
    """Whether a protected table of the policy has one row of each unit."""
    for table in policy.protected():
        held, there = table.unit, tables.get(table.name)
        if (
            table.name not in besides
            and isinstance(held, IdentifierUnit)
            and held.identifier == unit.identifier
            and held.path is None
            and there is not None
            and there.is_unique(held.column)
        ):
            return True
    return False


def is_told(guess: Guess) -> bool:
    """Whether a guess by names is by more than a word that people and things have: account, subject."""
    unit = guess.unit
    assert isinstance(unit, IdentifierUnit)
    return guess.how is not How.NAME or is_id_of_person(unit.column) or "called as" in guess.why


def _better(table: ProtectedTable, unit: IdentifierUnit, declared: DeclaredPeople) -> str | None:
    """A column that names the identifier by its own name, or people where the unit's column names none."""
    guess = declared.referring(table.name)
    there = declared.tables.get(table.name)
    if there is None or declared.person(table.name) == person_named(unit.identifier):
        return None
    own, wanted = person_of_column(unit.column), person_named(unit.identifier)
    if guess is not None and isinstance(guess.unit, IdentifierUnit):
        other, word = guess.unit.column, guess.unit.identifier
        targets = foreign_targets(table.name, unit.column, declared.relations.links)
        works_here = bool(targets) and (
            rank_of(word) > rank_of(_LAST)
            or (not guess.is_served and all(_may_be_people(one, declared) for one in targets))
        )
        is_nobody_s = own is None and is_told(guess) and not works_here
        is_same = is_nobody_s or (person_named(word) == wanted and own != word)
        if other != unit.column and is_same and not _is_anybody_s(own, word):
            return f"'{other}' tells which {word} a row belongs to ({guess.why})"
        return None
    for column in there.columns:
        called = person_of_column(column.name)
        if column.name != unit.column and called == wanted and own not in (None, called):
            return f"'{column.name}' is called as the {called}, '{unit.column}' as the {own}"
    return None


def _may_be_people(name: TableName, declared: DeclaredPeople) -> bool:
    """Whether a table may list people whom no word names: no lookup, and not about people of another table."""
    there = declared.tables.get(name)
    return there is not None and declared.referring(name) is None and may_list_people(there)


def _is_anybody_s(own: str | None, word: str) -> bool:
    return own is not None and (is_anybody(own) or is_anybody(word))


def _wrong_without_keys(
    table: ProtectedTable,
    unit: IdentifierUnit,
    others: list[ProtectedTable],
    declared: DeclaredPeople,
) -> str | None:
    name = table.name
    there = declared.tables.get(name)
    own = None if there is None else there.column(unit.column)
    if there is None or own is None:
        return None
    if there.is_unique(unit.column):
        if declared.are_people(name) or declared.person(name) is not None:
            return None
        reason = row_unit_reason(name, declared)
        return None if reason is None else f"it is a key of {name}, of which {reason.reason}"
    called = declared.called.of(own, name)
    word = plain_name(unit.identifier)
    if called and not any(
        declared.is_called(target, unit.identifier) or declared.person(target) is not None
        for target in called
    ):
        listing = [other.name for other in others if declared.person(other.name) is not None]
        guess = declared.referring(name)
        if listing or (guess is not None and not _is_held_in(unit.column, guess)):
            return f"'{unit.column}' is called as the key of {called[0]} is, not as the {word}"
    return _better(table, unit, declared)


def wrong_references(table: ProtectedTable, declared: DeclaredPeople) -> Iterator[Finding]:
    """Of columns, which a foreign key leads to another table."""
    links = declared.relations.links
    for column in table.columns.values():
        targets = foreign_targets(table.name, column.name, links)
        if column.references is None or not targets:
            continue
        stated = column.references[0]
        if targets & ({stated} | _same_rows(stated, links)):
            continue
        yield Finding(
            name=FindingName.REFERENCE_LEADS_ELSEWHERE,
            where=str(table.name),
            what=f"{table.name}: {_leads(column.name, targets, f'not to {stated}')}, which references says",
            fix=f"write references: {min(targets)}.COLUMN, or leave references out",
            path=("tables", str(table.name), "columns", column.name, "references"),
        )


def foreign_targets(name: TableName, column: str, links: Links) -> frozenset[TableName]:
    """Where foreign keys of a column lead to: its own, those of its parents and children, and of what a view
    reads, where the column has the same name."""
    beside = {name, *links.readable_from(name)}
    beside |= {parent for parent in links.children if name in links.children_of(parent)}
    return frozenset(
        key.target
        for relation in beside
        for key in links.foreign_keys.get(relation, ())
        if column in key.columns and key.target != name
    )


def _same_rows(name: TableName, links: Links) -> set[TableName]:
    parents = {parent for parent in links.children if name in links.children_of(parent)}
    return parents | set(links.readable_from(name))


def _is_held_in(column: str, guess: Guess) -> bool:
    unit = guess.unit
    return isinstance(unit, IdentifierUnit) and unit.column == column and unit.path is None


def _leads(column: str, targets: frozenset[TableName], where: str) -> str:
    return f"the foreign key of '{column}' leads to {min(targets)}, {where}"
