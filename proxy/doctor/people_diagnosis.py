"""Public tables that publish people, and tables whose unit is too small, by what the catalogue says."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.doctor.declared_people import DeclaredPeople, declared_people
from proxy.doctor.left_out_people import left_out_findings
from proxy.doctor.links_diagnosis import Relations
from proxy.doctor.public_table_diagnosis import PROTECT, public_table_findings
from proxy.doctor.unit_diagnosis import (
    RowUnitReason,
    row_unit_reason,
    unit_findings,
    wrong_references,
)
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Finding
from proxy.policy.guessed_units import Guess, How
from proxy.policy.identifier_names import IdentifierNames
from proxy.policy.people import People, Place, people
from proxy.policy.person_words import (
    is_birth,
    is_free_text,
    is_id_of_person,
    is_identifying,
    names_a_person,
)
from proxy.policy.policy_model import (
    ColumnPolicy,
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
)
from proxy.policy.values_of_people import (
    naming_values,
    perhaps_naming_in,
    perhaps_naming_values,
)
from proxy.query.checked_columns import checked_columns


def people_findings(
    policy: Policy, catalog: Catalog, relations: Relations, declared: Catalog
) -> Iterator[Finding]:
    """declared: of all tables, also of those that the role may not read."""
    found = people(policy, catalog, relations.links, policy.protected())
    names = IdentifierNames(policy, catalog)
    guessed = declared_people(declared, relations)
    needed = needed_tables(policy, guessed)
    for table in policy.tables.values():
        if isinstance(table, PublicTable):
            by_keys = list(_public(table.name, policy, relations, found, names))
            yield from by_keys
            if not any(one.severity is Severity.SEVERE for one in by_keys):
                yield from public_table_findings(table, policy, catalog, guessed, needed)
        else:
            yield from _exposed_twice(table, policy, relations)
            of_unit = list(unit_findings(table, policy, catalog, guessed))
            if isinstance(table.unit, RowUnit):
                of_unit += _row_unit(table, policy, catalog, relations, names, guessed)
            yield from of_unit or left_out_findings(table, policy, catalog, guessed)
            yield from wrong_references(table, guessed)
            yield from named_column_findings(table, catalog, guessed)
    yield from same_people_findings(policy, catalog, relations, declared)


def _public(
    name: TableName,
    policy: Policy,
    relations: Relations,
    found: People,
    names: IdentifierNames,
) -> Iterator[Finding]:
    why = _why_about(name, relations, found)
    if why is not None:
        kind, reason, subjects = why
        what = f"{name} is public, and {reason}"
        yield _finding(kind, name, what, PROTECT.format(name), subjects=subjects)
    else:
        keys = relations.links.foreign_keys.get(name, ())
        for column, unit in names.named_like(name, keys, found.about):
            yield _finding(
                FindingName.PUBLIC_HOLDS_IDENTIFIER,
                name,
                f"{name} is public, and its column '{column}' has the name and type of {unit}",
                PROTECT.format(name),
                subjects=(column,),
            )
    displayed = sorted(relations.links.readable_from(name) & found.about.keys())
    if displayed:
        which = _named(displayed[0], policy)
        yield _finding(
            FindingName.PUBLIC_SHOWS_PEOPLE,
            name,
            f"{name} is public and shows rows of {which}",
            PROTECT.format(name),
            subjects=tuple(map(str, displayed)),
        )
    there = relations.known.get(name)
    if there is None:
        return
    if there.foreign_name in found.about and there.foreign_name != name:
        yield _finding(
            FindingName.PUBLIC_SHOWS_PEOPLE,
            name,
            f"{name} is public, and a foreign table that stands for one called {there.foreign_name}",
            PROTECT.format(name),
            subjects=(str(there.foreign_name),),
        )
    elif there.kind == "f":
        what = f"{name} is public and stands on another server: nothing here says what it holds"
        yield _finding(FindingName.PUBLIC_IS_FOREIGN, name, what)
    exposed_too = (name, *relations.links.readable_from(name))
    calling = [one for one in exposed_too if one in relations.known]
    if any(relations.known[one].calls_functions for one in calling):
        what = f"{name} is public and calls functions: what the functions read is in no catalogue"
        yield _finding(FindingName.PUBLIC_CALLS_FUNCTION, name, what)


def _why_about(
    name: TableName, relations: Relations, found: People
) -> tuple[FindingName, str, tuple[str, ...]] | None:
    """The worst reason, and all columns that give one."""
    held = [place for place in found.holding if place[0] == name]
    keys = [
        key
        for key in relations.links.foreign_keys.get(name, ())
        if key.target in found.about and key.target != name
    ]
    columns = [place[1] for place in held if found.holding[place] is not None]
    columns += [column for key in keys for column in key.columns]
    subjects = tuple(dict.fromkeys(columns))
    for place in sorted(held, key=lambda place: place not in found.listing):
        came_from = found.holding[place]
        if came_from is None:
            continue
        other = f"{came_from[0]}.{came_from[1]}"
        if place in found.listing:
            reason = f"{other} refers to its column '{place[1]}': it lists the people"
            return FindingName.PUBLIC_LISTS_PEOPLE, reason, subjects
        reason = f"its column '{place[1]}' refers to {other}, which names people"
        return FindingName.PUBLIC_REFERS_TO_PEOPLE, reason, subjects
    for key in keys:
        listed = ", ".join(key.columns)
        reason = f"its foreign key ({listed}) refers to {key.target}, which is about people"
        return FindingName.PUBLIC_REFERS_TO_PEOPLE, reason, subjects
    return None


def _named(name: TableName, policy: Policy) -> str:
    if isinstance(policy.tables.get(name), ProtectedTable):
        return f"{name}, which is protected"
    return f"{name}, which is about people"


def _exposed_twice(
    table: ProtectedTable, policy: Policy, relations: Relations
) -> Iterator[Finding]:
    children = relations.links.children_of(table.name)
    for read in sorted(relations.links.readable_from(table.name)):
        other = policy.tables.get(read)
        if isinstance(other, PublicTable) and read in children:
            yield _finding(
                FindingName.PROTECTED_ROWS_ARE_PUBLIC,
                read,
                f"{table.name} is protected and its rows in {read} are public",
                f"give {read} the unit of {table.name}, or take it out of the policy",
            )
        elif isinstance(other, ProtectedTable) and _unit(table) != _unit(other):
            yield _finding(
                FindingName.PROTECTED_IN_TWO_WAYS,
                table.name,
                f"{table.name} protects {_unit(table)} and shows rows of {read}, where it is {_unit(other)}: "
                "those rows have only the weaker protection of the two",
                f"give both the same unit, or take one of them out of the policy: {table.name} or {read}",
                "unit",
            )


def _row_unit(
    table: ProtectedTable,
    policy: Policy,
    catalog: Catalog,
    relations: Relations,
    names: IdentifierNames,
    guessed: DeclaredPeople,
) -> Iterator[Finding]:
    name, there = table.name, catalog.tables.get(table.name)
    others = [other for other in policy.protected() if other.name != name]
    found = people(policy, catalog, relations.links, others, with_keys=False)

    def is_one_each(columns: tuple[str, ...]) -> bool:
        return there is not None and len(columns) == 1 and there.is_unique(columns[0])

    reasons = [
        (
            f"its column '{column}' refers to {came_from[0]}.{came_from[1]}, which names people",
            (column,),
        )
        for (holder, column), came_from in found.holding.items()
        if holder == name and came_from is not None and not is_one_each((column,))
    ] + [
        (
            f"its foreign key ({', '.join(key.columns)}) refers to {key.target}, which is about people",
            key.columns,
        )
        for key in relations.links.foreign_keys.get(name, ())
        if key.target != name
        and key.target in found.about
        and not (is_one_each(key.columns) and _is_row_each(key.target, policy, catalog, guessed))
    ]
    displayed = relations.links.readable_from(name) & found.about.keys()
    reasons += [
        (f"it shows rows of {read}, which is about people", (str(read),))
        for read in sorted(displayed)
        if read not in policy.tables  # else it is PROTECTED_IN_TWO_WAYS
    ]
    fix = "write unit: {NAME: column}, or column -> schema.table.column, with max_rows_per_unit"
    if reasons:
        yield _finding(
            FindingName.ROW_UNIT_REFERS_TO_PEOPLE,
            name,
            f"{name} protects {_unit(table)}, and {reasons[0][0]}: a person can have more rows",
            fix,
            "unit",
            subjects=tuple(dict.fromkeys(one for _, names in reasons for one in names)),
        )
        return
    keys = relations.links.foreign_keys.get(name, ())
    named = [
        RowUnitReason(
            FindingName.ROW_UNIT_NAMES_PEOPLE,
            f"its column '{column}' has the name and type of {unit}",
            column,
        )
        for column, unit in names.named_like(name, keys, found.about)
        if not is_one_each((column,))
    ]
    if not displayed and (guess := row_unit_reason(name, guessed)) is not None:
        named.append(guess)
    subjects = tuple(dict.fromkeys(one.column for one in named if one.column is not None))
    for one in named[:1]:
        what = f"{name} protects {_unit(table)}, and {one.reason}: a person may have more rows"
        yield _finding(one.name, name, what, fix, "unit", subjects=subjects)


def _is_row_each(
    name: TableName, policy: Policy, catalog: Catalog, guessed: DeclaredPeople
) -> bool:
    """Whether a table has one row of each person, so that one row of each of its rows is one of each person."""
    if guessed.person(name) is not None or guessed.are_people(name) is not None:
        return True
    table, there = policy.tables.get(name), catalog.tables.get(name)
    if not isinstance(table, ProtectedTable) or there is None:
        return False
    unit = table.unit
    if isinstance(unit, RowUnit):
        return unit.rows == 1
    return unit.path is None and there.is_unique(unit.column)


def _unit(table: ProtectedTable) -> str:
    match table.unit:
        case RowUnit(rows=rows):
            return f"each {rows} rows" if rows > 1 else "each row"
        case IdentifierUnit(identifier=identifier):
            return f"each {identifier}"


def _finding(
    kind: FindingName,
    name: TableName,
    what: str,
    fix: str = "",
    *path: str,
    subjects: tuple[str, ...] = (),
) -> Finding:
    place = ("tables", str(name), *path)
    return Finding(name=kind, where=str(name), what=what, fix=fix, path=place, subjects=subjects)


# Public tables that the protected tables of a policy refer to: the lookups that analysts join.
#
# A word list never has every word for people. A public table that nothing refers to is rarely a lookup, so
# its owner says why it is public. A column that is called as a table is no reference: badges list people.


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


# Two identifiers of a policy that refer to the same people, who are then protected as if they were two.


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


# Columns of protected tables that name people: listed, or with values that the policy publishes.


_NO_KEYS = (SqlType.BOOL, SqlType.ENUM)


def named_column_findings(
    table: ProtectedTable, catalog: Catalog, declared: DeclaredPeople
) -> Iterator[Finding]:
    there = catalog.tables.get(table.name)
    if there is None:
        return
    guess = declared.guesses.get(table.name)
    of_people = declared.are_people(table.name) is not None or (
        isinstance(guess, Guess) and guess.how is How.ITSELF
    )
    stated = checked_columns(tuple(text for _, text in there.checks))
    for column in table.columns.values():
        real, known = there.column(column.name), stated.get(column.name)
        if real is None or real.type in _NO_KEYS:
            continue
        if column.values is not None:
            own = [value for value in column.values if value is not None]
            if not set(own) <= set((known.values if known else None) or ()):
                yield from _of_values(column, own, real, table, there, of_people=of_people)
        elif column.name not in table.join_keys and _is_naming(
            real, there, of_people=of_people, has_bounds=column.bounds is not None
        ):
            yield _found(
                FindingName.IDENTIFYING_COLUMN,
                table,
                column,
                f"{table.name}: column '{column.name}' most likely names people, and is listed",
                "take it out of columns; analysts cannot see it then",
            )


def _of_values(
    column: ColumnPolicy,
    values: list[str],
    real: Column,
    table: ProtectedTable,
    there: Table,
    *,
    of_people: bool,
) -> Iterator[Finding]:
    name = FindingName.VALUES_NAME_PEOPLE
    reason = _naming(column, values, table, there, of_people)
    if not reason:
        name = FindingName.VALUES_MAY_NAME_PEOPLE
        reason = _perhaps_naming(column, values, real, of_people)
    if reason:
        what = f"{table.name}: the values of '{column.name}' are published, and {reason}"
        fix = "take values out: groups are then those of enough people"
        yield _found(name, table, column, what, fix, "values")


def _found(
    name: FindingName, table: ProtectedTable, column: ColumnPolicy, what: str, fix: str, *path: str
) -> Finding:
    return Finding(
        name=name,
        where=str(table.name),
        what=what,
        fix=fix,
        path=("tables", str(table.name), "columns", column.name, *path),
        subjects=(column.name,),
    )


def _is_naming(real: Column, there: Table, *, of_people: bool, has_bounds: bool) -> bool:
    refers = {column for key in there.foreign_keys for column in key.columns}
    if real.name in refers:
        return False
    if real.type.is_time:
        # Bounds are clamps for averages of age, which an owner has thought of.
        return is_birth(real.name) and not has_bounds
    return is_identifying(real.name, of_people=of_people)


def _naming(
    column: ColumnPolicy, values: list[str], table: ProtectedTable, there: Table, of_people: bool
) -> str:
    name, real = column.name, there.column(column.name)
    by_text = naming_values(values) if real is not None and real.type.is_text else ""
    if by_text:
        return by_text
    unit = table.unit.column if isinstance(table.unit, IdentifierUnit) else None
    if name == unit or there.is_unique(name):
        return "the column tells each row, or person, from all others"
    refers = {one for key in there.foreign_keys for one in key.columns}
    if name not in refers and column.references is None and is_id_of_person(name):
        return "its name says that it holds numbers of people"
    if names_a_person(name) or is_identifying(name, of_people=of_people):
        return "its name says that it names people"
    if is_free_text(name):
        return "its name says that people write into it what they like"
    return ""


def _perhaps_naming(column: ColumnPolicy, values: list[str], real: Column, of_people: bool) -> str:
    if column.references is not None:
        return ""
    if real.type is SqlType.DATE and of_people:
        return "they are dates of people, who may have been born then"
    by_names = perhaps_naming_in(column.name, values) if real.type.is_text else ""
    return perhaps_naming_values(values) or by_names
