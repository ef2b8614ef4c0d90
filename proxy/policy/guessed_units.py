"""Whom the rows of each table belong to, by what is declared: keys, foreign keys, and names without them.

A table refers to people by a foreign key to the key of a table whose rows are people, by a column that is
called as such a key is, or by one look into another table that holds whom its row belongs to. More than one
look cannot be written in a policy. Everything here is a guess, with its reason, for the owner to decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, Table, TableName
from proxy.policy.column_shapes import family
from proxy.policy.person_words import (
    are_people,
    is_anybody,
    is_of_an_organisation,
    is_served,
    person_of_column,
    person_of_table,
    personal_traits,
    rank_of,
    singular,
    tells_people_apart,
    words_of,
)
from proxy.policy.policy_model import IdentifierUnit, RowUnit, Unit, UnitPath

# Tables that list kinds of things, by what is declared of them: labels, places, short codes, rates by year.
#
# What is none of them may list people of any kind, whatever it is called.

_SHORT_CODE = 3
_LABELS = {
    *("name", "title", "label", "description", "desc", "caption", "kind", "type", "category"),
    *("bezeichnung", "beschreibung", "titel", "nom", "libelle", "titre", "nombre", "titulo"),
    *("nome", "titolo", "naam", "omschrijving", "nazwa", "namn", "navn", "art", "sparte", "genre"),
    *("lat", "latitude", "lon", "lng", "longitude", "geom", "geometry", "breite", "laenge"),
    *("brand", "model", "manufacturer", "currency", "country", "url"),
}
_DOCUMENTS = ("json", "jsonb", "xml", "hstore")
_STEPS = {
    *("year", "month", "week", "day", "hour", "quarter", "decade", "age", "jahr", "monat", "woche"),
    *("tag", "stunde", "alter", "annee", "mois", "ano", "mes", "anno", "mese", "jaar", "maand"),
    *(
        "sex",
        "gender",
        "geschlecht",
        "level",
        "grade",
        "stufe",
        "size",
        "lo",
        "low",
        "from",
        "step",
    ),
}


def may_list_people(table: Table) -> bool:
    """Whether nothing says that a table lists things: no label, place or short code, no rates by year."""
    if is_of_an_organisation(table.name.name) or is_rates(table):
        return False
    if any(set(words_of(column.name)) & _LABELS for column in table.columns):
        return False
    keys = [table.column(name) for name in table.primary_key]
    return not (len(keys) == 1 and keys[0] is not None and _is_code(keys[0]))


def is_document(column: Column) -> bool:
    """Whether a column holds documents, whose keys no catalogue has."""
    return column.type is SqlType.JSONB or column.type_name.rpartition(".")[2] in _DOCUMENTS


def is_rates(table: Table) -> bool:
    """Whether a table has numbers beside a key of dates, years, ages or short codes."""
    for key in (table.primary_key, *table.unique):
        columns = [table.column(name) for name in key]
        others = [column for column in table.columns if column.name not in key]
        is_step = bool(key) and all(one is not None and _is_step(one) for one in columns)
        if is_step and all(column.type.is_number for column in others):
            return True
    return False


def _is_step(column: Column) -> bool:
    if _is_code(column) or column.type is SqlType.DATE or column.type is SqlType.BOOL:
        return True
    words = words_of(column.name)
    return not column.type.is_text and bool(words) and words[-1] in _STEPS


def _is_code(column: Column) -> bool:
    """An enumeration, or a text of at most three letters."""
    if column.type is SqlType.ENUM:
        return True
    length = column.type_name.rpartition("(")[2].removesuffix(")")
    return column.type.is_text and length.isdigit() and int(length) <= _SHORT_CODE


# Columns that are called as the key of another table is: customer_id as the key customer_id, or the id of
# customers.

_GENERIC = ("id", "key", "no", "number", "code", "uuid", "guid", "pk")


class CalledAs:
    """Of all tables with a key of one column. An index: a database may have thousands."""

    def __init__(self, tables: Mapping[TableName, Table]) -> None:
        found: dict[tuple[str, str], list[TableName]] = defaultdict(list)
        for name, table in sorted(tables.items()):
            key = key_of(table)
            kind = None if key is None else family(key)
            if key is not None and kind is not None:
                for called in set(_called_names(name, key)):
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


def _called_names(name: TableName, key: Column) -> Iterator[str]:
    if key.name.lower() not in _GENERIC:
        yield "".join(words_of(key.name))
    words = words_of(name.name)
    if words:
        stem = "".join((*words[:-1], singular(words[-1])))
        yield f"{stem}id"
        yield f"{stem}{key.name.lower()}"
        yield f"{singular(words[-1])}id"


class How(IntEnum):
    """By what a table's people are found, the surest first."""

    ITSELF = 0
    FOREIGN_KEY = 1
    NAME = 2
    THROUGH_KEY = 3
    THROUGH_NAME = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    unit: Unit
    how: How | None
    why: str
    others: tuple[str, ...] = ()  # people whom the table refers to as well, by their columns
    is_served: bool = False  # its people are those whom a row is about, beyond doubt
    rivals: tuple[Rival, ...] = ()  # of them, those who may as well be whom the rows belong to


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Another unit that a table may have. word: for its people; unit: as a policy writes it."""

    word: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotGuessed:
    """why: in words; is_about_people: it refers to people, in a way that a policy cannot say."""

    why: str
    is_about_people: bool = False


def guessed_units(tables: Mapping[TableName, Table]) -> dict[TableName, Guess | NotGuessed]:
    """
    Given    tables that hold rows of their own
    Gives    of each the unit that it most likely has. Where none has any, their rows are units
    """
    people, called = dict(_people(tables)), CalledAs(tables)
    direct = {name: _direct(table, tables, people, called) for name, table in tables.items()}
    found: dict[TableName, Guess | NotGuessed] = {}
    for name, table in tables.items():
        guesses = direct[name] or _through(table, tables, direct, called)
        if guesses:
            best = guesses[0]
            others = tuple(
                _described(one.unit)
                for one in guesses[1:]
                if _column_of(one.unit) != _column_of(best.unit)
            )
            rivals = tuple(_rivals(table, guesses, tables, direct))
            found[name] = Guess(
                unit=best.unit,
                how=best.how,
                why=best.why,
                others=others,
                is_served=best.is_served,
                rivals=rivals,
            )
        else:
            found[name] = _single(table)
    _spread(tables, found, called)
    if not any(isinstance(one, Guess) for one in found.values()):
        return {name: _of_anybody(table) for name, table in tables.items()}
    return found


def _rivals(
    table: Table,
    guesses: Sequence[Guess],
    tables: Mapping[TableName, Table],
    direct: Mapping[TableName, Sequence[Guess]],
) -> Iterator[Rival]:
    """Other kinds of people whom a table refers to, unless the first kind goes before them beyond doubt; and
    tables whose rows may be people of a kind that no word list knows."""
    best = guesses[0]
    assert isinstance(best.unit, IdentifierUnit)
    word, column = best.unit.identifier, best.unit.column
    if best.how is How.ITSELF or table.primary_key == (column,):
        return
    seen = {word}
    for other in guesses[1:]:
        assert isinstance(other.unit, IdentifierUnit)
        rival = other.unit.identifier
        if rival not in seen and not (best.is_served and not other.is_served):
            seen.add(rival)
            yield Rival(word=rival, unit=written_unit(other.unit))
    if best.is_served:
        return
    for key in table.foreign_keys:
        target = tables.get(key.target)
        if target is None or len(key.columns) != 1 or key.columns[0] == column:
            continue
        own = table.column(key.columns[0])
        is_unknown = key.target != table.name and not direct[key.target]
        if own is not None and not own.nullable and is_unknown and may_list_people(target):
            rival = singular(words_of(key.target.name)[-1]) if words_of(key.target.name) else "row"
            yield Rival(word=rival, unit=written_unit(IdentifierUnit(rival, key.columns[0])))


def written_unit(unit: IdentifierUnit) -> str:
    """As a policy writes it."""
    path = "" if unit.path is None else f" -> {unit.path.table}.{unit.path.column}"
    return f"{{{unit.identifier}: {unit.column}{path}}}"


def _spread(
    tables: Mapping[TableName, Table],
    found: dict[TableName, Guess | NotGuessed],
    called: CalledAs,
) -> None:
    """What refers to what is about people is about them, through any number of tables."""
    targets = {name: list(_targets(table, tables, called)) for name, table in tables.items()}
    changed = True
    while changed:
        changed = False
        for name in tables:
            if _is_about(found[name]):
                continue
            target = next((one for one in targets[name] if _is_about(found[one])), None)
            if target is not None:
                why = f"its rows belong to people through {target}, by more looks than a policy can name"
                found[name] = NotGuessed(why=why, is_about_people=True)
                changed = True


def _is_about(guess: Guess | NotGuessed) -> bool:
    return isinstance(guess, Guess) or guess.is_about_people


def _people(tables: Mapping[TableName, Table]) -> Iterator[tuple[TableName, str]]:
    """Tables of people, each with the word for one of them, which is the name of the identifier."""
    for name, table in tables.items():
        key = key_of(table)
        word = person_of_table(name.name)
        columns = _names(table)
        if word is None and are_people(columns, name.name):
            words = [part for part in words_of(name.name) if part.isalpha()]
            word = singular(words[-1]) if words else "person"
            own = None if key is None else person_of_column(key.name)
            word = own or word
        if word is not None and key is not None and family(key) is not None:
            yield name, word


def _direct(
    table: Table,
    tables: Mapping[TableName, Table],
    people: Mapping[TableName, str],
    called: CalledAs,
) -> list[Guess]:
    """Units whose identifier is in a column of the table itself, the likeliest first."""
    found: list[tuple[int, bool, int, int, Guess]] = []
    place = {column.name: number for number, column in enumerate(table.columns)}
    referring = {key.columns[0]: key for key in table.foreign_keys if len(key.columns) == 1}
    for column, key in referring.items():
        word = people.get(key.target)
        target = tables.get(key.target)
        if word is None or target is None or target.primary_key != key.target_columns:
            continue
        is_same = table.primary_key == (column,)  # a row of it is a row of theirs
        if key.target != table.name and (is_same or table.name not in people):
            why = f"foreign key to {key.target}.{key.target_columns[0]}"
            served = is_served(word, _names(target))
            guess = _guess(word, column, How.FOREIGN_KEY, why, served)
            sure = -1 if is_same else How.FOREIGN_KEY
            found.append((sure, not served, rank_of(word), place[column], guess))
    if table.name in people:
        column, word = table.primary_key[0], people[table.name]
        why = "the key of a table whose rows look like people"
        found.append((How.ITSELF, False, 0, 0, _guess(word, column, How.ITSELF, why)))
    if not found:
        for each in table.columns:
            if each.name not in referring and (
                known := _by_name(each, table, tables, people, called)
            ):
                word, why, listing = known
                served = is_served(word, () if listing is None else _names(listing))
                guess = _guess(word, each.name, How.NAME, why, served)
                order = (not served, rank_of(word), place[each.name])
                found.append((How.NAME, *order, guess))
    found.sort(key=lambda one: one[:4])
    return [guess for *_, guess in found]


def _by_name(
    column: Column,
    table: Table,
    tables: Mapping[TableName, Table],
    people: Mapping[TableName, str],
    called: CalledAs,
) -> tuple[str, str, Table | None] | None:
    """The word, the reason, and the table that lists them."""
    kind = family(column)
    if kind is None:
        return None
    for name in called.of(column, table.name):
        if name in people:
            key = tables[name].primary_key[0]
            why = f"called as {name}.{key} is; no foreign key says so"
            return people[name], why, tables[name]
    word = person_of_column(column.name)
    if word is None:
        return None
    alike = [
        name
        for name in people
        if name.schema == table.name.schema
        and name != table.name
        and is_anybody(people[name])
        and _has_kind(tables[name], kind)
    ]
    if is_anybody(word) and len(alike) == 1 and people[alike[0]] != word:
        why = f"its name; most likely of {alike[0]}; no foreign key says so"
        return people[alike[0]], why, tables[alike[0]]
    return word, "its name; no foreign key says so", None


def _names(table: Table) -> tuple[str, ...]:
    """Of columns that may hold what names people: no yes and no."""
    return tuple(column.name for column in table.columns if column.type is not SqlType.BOOL)


def _has_kind(table: Table, kind: str) -> bool:
    key = key_of(table)
    return key is not None and family(key) == kind


def _through(
    table: Table,
    tables: Mapping[TableName, Table],
    direct: Mapping[TableName, Sequence[Guess]],
    called: CalledAs,
) -> list[Guess]:
    """Units that are found by one look into another table."""
    found: list[Guess] = []
    named = {key.columns[0] for key in table.foreign_keys if len(key.columns) == 1}
    for key in table.foreign_keys:
        target = tables.get(key.target)
        if len(key.columns) != 1 or target is None or target.primary_key != key.target_columns:
            continue
        found += _look(key.columns[0], target, direct, How.THROUGH_KEY, "foreign key", table)
    if not found:
        for column in table.columns:
            if column.name in named:
                continue
            for name in called.of(column, table.name):
                if name.schema == table.name.schema:
                    target = tables[name]
                    found += _look(column.name, target, direct, How.THROUGH_NAME, "name", table)
    # One that is never NULL first: rows without a unit are left out of every answer.
    return sorted(found, key=lambda one: (one.how or 0, _is_nullable(table, one)))


def _is_nullable(table: Table, guess: Guess) -> bool:
    column = table.column(_column_of(guess.unit))
    return column is None or column.nullable


def _look(
    column: str,
    target: Table,
    direct: Mapping[TableName, Sequence[Guess]],
    how: How,
    by: str,
    table: Table,
) -> Iterator[Guess]:
    own = table.column(column)
    key = key_of(target)
    if not direct[target.name] or own is None or key is None or family(own) is None:
        return
    held, served = direct[target.name][0].unit, direct[target.name][0].is_served
    if (
        target.name == table.name
        or not isinstance(held, IdentifierUnit)
        or family(own) != family(key)
    ):
        return
    unit = IdentifierUnit(held.identifier, column, UnitPath(target.name, held.column))
    why = f"{by} to {target.name}, which holds whose row it is"
    yield Guess(unit=unit, how=how, why=why, is_served=served)


def _targets(
    table: Table, tables: Mapping[TableName, Table], called: CalledAs
) -> Iterator[TableName]:
    for reference in table.foreign_keys:
        if reference.target != table.name and reference.target in tables:
            yield reference.target
    refers = {column for key in table.foreign_keys for column in key.columns}
    for each in table.columns:
        for name in () if each.name in refers else called.of(each, table.name):
            if name.schema == table.name.schema:
                yield name


def _single(table: Table) -> Guess | NotGuessed:
    columns = tuple(column.name for column in table.columns)
    traits = sorted(personal_traits(columns))
    if person_of_table(table.name.name) is not None or len(traits) > 1:
        return _rows("its rows look like people, one row each, and no column tells who")
    return NotGuessed(why="nothing here says that its rows belong to people")


def _of_anybody(table: Table) -> Guess:
    """A row, where no table of the database says who people are; an e-mail address tells them apart."""
    for column in table.columns:
        is_mark = column.type.is_text and tells_people_apart(column.name)
        if is_mark and family(column) is not None and not table.is_unique(column.name):
            why = "a column that tells people apart; no table lists them"
            return _guess("person", column.name, How.NAME, why)
    return _rows("nothing here says whom a row belongs to")


def _rows(why: str) -> Guess:
    return Guess(unit=RowUnit(), how=None, why=why)


def _guess(word: str, column: str, how: How, why: str, is_served: bool = False) -> Guess:
    return Guess(unit=IdentifierUnit(word, column), how=how, why=why, is_served=is_served)


def _column_of(unit: Unit) -> str:
    return unit.column if isinstance(unit, IdentifierUnit) else ""


def _described(unit: Unit) -> str:
    return f"{unit.identifier} by {unit.column}" if isinstance(unit, IdentifierUnit) else "row"
