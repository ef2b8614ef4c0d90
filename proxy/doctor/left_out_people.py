"""People who are not protected in a table, because its unit is a row or somebody else.

Words say who people are, and so does the policy: whom it protects elsewhere is somebody here, too. A table
that nobody has a word for may list people as well, unless its columns are those of a lookup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.doctor.declared_people import DeclaredPeople
from proxy.doctor.unit_diagnosis import foreign_targets, is_listed_in, people_behind, referred
from proxy.policy.category_words import tells_no_people_apart
from proxy.policy.column_shapes import family
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Finding
from proxy.policy.guessed_units import is_document, may_list_people
from proxy.policy.identifier_names import IdentifierNames
from proxy.policy.people import Links, people
from proxy.policy.person_words import (
    are_counterparts,
    is_account,
    is_known,
    is_perhaps_of_things,
    is_served,
    is_sure,
    listed_person,
    person_named,
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
        held = _HeldTable(table=table, unit=unit, policy=policy, catalog=catalog, declared=declared)
        found = (
            held.other_column()
            or held.other_kind()
            or held.protected_elsewhere()
            or held.other_party()
            or held.place_or_kind()
        )
    return found or _maybe_people(table, policy, declared)


@dataclass(frozen=True, slots=True)
class _Reference:
    """A column that leads to people whom the policy protects elsewhere. word: for them; target: a table about
    them; is_held: whether the column holds the identifier itself."""

    column: str
    target: TableName
    word: str
    is_held: bool

    @property
    def text(self) -> str:
        return f"'{self.column}' refers to {self.target}, which is about one {self.word} each"


@dataclass(frozen=True, slots=True, kw_only=True)
class _HeldTable:
    """A table whose unit is an identifier, beside the policy and the database. Each method finds one kind of
    people whom the unit leaves out."""

    table: ProtectedTable
    unit: IdentifierUnit
    policy: Policy
    catalog: Catalog
    declared: DeclaredPeople

    @property
    def links(self) -> Links:
        return self.declared.relations.links

    @property
    def name(self) -> TableName:
        return self.table.name

    @property
    def there(self) -> Table | None:
        return self.declared.tables.get(self.name)

    @property
    def own_targets(self) -> frozenset[TableName]:
        return foreign_targets(self.name, self.unit.column, self.links)

    @property
    def is_served(self) -> bool:
        return _is_served_unit(self.unit, self.own_targets, self.declared)

    @property
    def is_listed(self) -> bool:
        return is_listed_in(self.unit, self.policy, self.declared.tables, (self.name,))

    @property
    def is_itself_a_person(self) -> bool:
        return self.unit.path is None and is_a_person(self.name, self.declared)

    def is_with(self, listing: TableName) -> bool:
        """Whether the people of a table are protected with the unit: under its name, or as of a household."""
        other = self.policy.tables.get(listing)
        held = other.unit if isinstance(other, ProtectedTable) else None
        if isinstance(held, IdentifierUnit) and held.identifier == self.unit.identifier:
            return True
        keys = self.links.foreign_keys.get(listing, ())
        return any(one.target in self.own_targets for one in keys)

    def called(self, others: list[ProtectedTable]) -> list[str]:
        return _called(self.name, others, self.policy, self.catalog, self.links)

    def other_column(self) -> Finding | None:
        """Another column that holds the identifier as the rest of the policy has it, where the unit's does
        not."""
        unit = self.unit
        others = [
            other
            for other in self.policy.protected()
            if other.name != self.name
            and isinstance(other.unit, IdentifierUnit)
            and other.unit.identifier == unit.identifier
            and other.unit.path is None
        ]
        if unit.path is not None or not others or is_a_person(self.name, self.declared):
            return None
        if person_of_column(unit.column) == person_named(unit.identifier):
            return None  # it is the other table that has it elsewhere
        found = people(self.policy, self.catalog, self.links, others, with_keys=False)
        called = self.called(others)
        source = self.links.source_of((self.name, unit.column))
        if source in found.holding or unit.column in called:
            return None
        held = [one for name, one in found.holding if name == self.name and one != unit.column]
        column = next(iter([*held, *called]), None)
        if column is None or (self.name, unit.column) in found.holding:
            return None
        return self._severe(f"'{column}' is the {unit.identifier}, as {others[0].name} has it")

    def other_kind(self) -> Finding | None:
        """People of another kind, by words, to whom a column leads."""
        if self.is_itself_a_person:
            return None
        own, warned = self.own_targets, None
        for column, target in referred(self.name, self.declared):
            if target in own or target == self.name or column == self.unit.column:
                continue
            for word, why, listing in people_behind(target, self.declared):
                found = self._of_kind(word, f"'{column}' leads to {why}{target}", listing, column)
                if found is not None and found.severity is Severity.SEVERE:
                    return found
                warned = warned or found
        return warned

    def _of_kind(self, word: str, leads: str, listing: TableName, column: str) -> Finding | None:
        if word == person_named(self.unit.identifier) or self.is_with(listing):
            return None
        served = is_served(word, _columns(listing, self.declared))
        other = self.policy.tables.get(listing)
        if isinstance(other, PublicTable) or (self.is_served and not served):
            return None
        is_protected = isinstance(other, ProtectedTable)
        is_perhaps = is_perhaps_of_things(person_named(self.unit.identifier))
        wins = (served and not self.is_served) or (is_protected and is_perhaps)
        if wins and not self.is_listed:
            return self._severe(f"{leads}: one {word} can have rows of many units")
        if served or is_protected or (is_perhaps and not self.is_listed and is_sure(word)):
            return self._warning(f"{leads}: the {word} is not protected in this table", column)
        return None

    def protected_elsewhere(self) -> Finding | None:
        """People whom the policy protects by another identifier, and to whom a column leads."""
        there = self.there
        if there is None or self.is_itself_a_person:
            return None
        is_row = self.unit.path is None and there.is_unique(self.unit.column)
        for reference in self._references(with_rows=is_row):
            if self.is_with(reference.target):
                continue
            found = self._of_one_row(reference, there) if is_row else self._of_many_rows(reference)
            if reference.column == self.unit.column:
                found = self._of_unit_column(reference)
            if found is not None:
                return found
        return None

    def _references(self, *, with_rows: bool) -> Iterator[_Reference]:
        keys = self.links.foreign_keys.get(self.name, ())
        for word, others in _kinds(self.table, self.unit, self.policy, with_rows=with_rows):
            found = people(self.policy, self.catalog, self.links, others, with_keys=False)
            leading = [
                _Reference(
                    key.columns[0],
                    key.target,
                    word,
                    (key.target, key.target_columns[0]) in found.holding,
                )
                for key in keys
                if key.target in found.about and key.target != self.name
            ]
            known = {one.column for one in leading}
            yield from leading
            for column in self.called(others):
                if column not in known:
                    yield _Reference(column, others[0].name, word, True)

    def _of_unit_column(self, one: _Reference) -> Finding | None:
        if one.is_held or self.is_listed or self.declared.person(one.target) is not None:
            return None
        return self._severe(f"{one.text}, who can have many")

    def _of_one_row(self, one: _Reference, there: Table) -> Finding | None:
        if one.is_held and there.is_unique(one.column):
            return None
        return self._severe(f"{one.text}, who can have more rows than one")

    def _of_many_rows(self, one: _Reference) -> Finding | None:
        if self.is_served and is_known(one.word) and not is_served(one.word):
            return None
        if is_perhaps_of_things(person_named(self.unit.identifier)) and not self.is_listed:
            return self._severe(f"{one.text}, whom the policy protects elsewhere")
        reason = f"{one.text}, whom the policy protects elsewhere and not in this table"
        return self._warning(reason, one.column)

    def other_party(self) -> Finding | None:
        """The second of two people of one kind: a foreign key to the same table, or a name such as b_number."""
        there, unit, own = self.there, self.unit, self.own_targets
        if unit.path is not None or there is None:
            return None
        for key in self.links.foreign_keys.get(self.name, ()):
            is_same = key.target in own and unit.column not in key.columns
            if is_same and (
                self.declared.person(key.target) is not None
                or not is_lookup(key.target, self.declared)
            ):
                what = (
                    f"'{key.columns[0]}' refers to somebody of the same kind, who is not protected in this "
                    "table"
                )
                return self._warning(what, key.columns[0])
        held = there.column(unit.column)
        if held is None or there.is_unique(unit.column):
            return None
        for column in there.columns:
            is_alike = column.name != unit.column and family(column) == family(held)
            if is_alike and are_counterparts(unit.column, column.name):
                what = (
                    f"'{column.name}' may name the other party, who is not protected in this table"
                )
                return self._warning(what, column.name)
        return None

    def place_or_kind(self) -> Finding | None:
        """A unit column that is called as a place, a kind or an amount, where the identifier is a person."""
        there, unit = self.there, self.unit
        if there is None or unit.path is not None or self.own_targets:
            return None
        is_person = (
            is_known(person_named(unit.identifier)) or person_of_column(unit.identifier) is not None
        )
        is_theirs = person_of_column(unit.column) is not None or there.is_unique(unit.column)
        if not is_person or is_theirs or not tells_no_people_apart(unit.column):
            return None
        return Finding(
            name=FindingName.UNIT_MAY_LEAD_ELSEWHERE,
            where=str(self.name),
            what=f"{_described(self.table, unit)}, and '{unit.column}' is called as a place, a kind or an "
            "amount is, which many can share",
            fix=_FIX,
            path=("tables", str(self.name), "unit"),
            subjects=(unit.column,),
        )

    def _severe(self, why: str) -> Finding:
        return self._found(FindingName.UNIT_LEADS_ELSEWHERE, why, self.unit.column)

    def _warning(self, why: str, column: str) -> Finding:
        return self._found(FindingName.UNIT_LEAVES_OUT_PEOPLE, why, column)

    def _found(self, name: FindingName, why: str, column: str) -> Finding:
        return Finding(
            name=name,
            where=str(self.name),
            what=f"{_described(self.table, self.unit)}, and {why}",
            fix=_FIX,
            path=("tables", str(self.name), "unit"),
            subjects=(column,),
        )


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
    for column in there.columns if is_row else ():
        if is_document(column):
            why = f"its column '{column.name}' is a document, which can say whose row it is"
            return _asks(table, why)
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


def _is_served_unit(
    unit: IdentifierUnit, own: frozenset[TableName], declared: DeclaredPeople
) -> bool:
    listed = [(declared.person(target), _columns(target, declared)) for target in own]
    return is_served(person_named(unit.identifier)) or any(
        word is not None and is_served(word, columns) for word, columns in listed
    )


def _columns(name: TableName, declared: DeclaredPeople) -> tuple[str, ...]:
    return tuple(sorted(declared.relations.links.columns.get(name, ())))


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
