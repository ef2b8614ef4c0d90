"""A draft as text, and what it says of each column of a table: its options from types, CHECK
constraints and enumerations, or why it is left out. Never from a row."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import assert_never

from proxy.base.limits import GROUPS_PER_STATEMENT
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.policy.column_shapes import bounds_kind
from proxy.policy.guessed_units import Guess, How
from proxy.policy.person_words import (
    is_birth,
    is_identifying,
    is_number_of_something,
    person_of_column,
)
from proxy.policy.policy_model import IdentifierUnit, RowUnit
from proxy.policy_file.policy_schema import MODELINE
from proxy.query.checked_columns import CheckedColumn

# Names and texts as a policy file writes them, so that they are read as they were.

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_READ_OTHERWISE = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")  # by some reader


def flow_text(text: str) -> str:
    """A text inside of brackets, or as a key.

    >>> flow_text("paid"), flow_text("no"), flow_text("a, b"), flow_text("12")
    ('paid', '"no"', '"a, b"', '"12"')
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _READ_OTHERWISE:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def comment_text(text: str, characters: int = 160) -> str:
    """A text of the catalogue inside of a comment: one line, and not long.

    >>> comment_text("a\\nb")
    'a?b'
    """
    short = text if len(text) <= characters else text[: characters - 3] + "..."
    return "".join(mark if mark.isprintable() else "?" for mark in short)


_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)(\+00)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedColumn:
    """options: as YAML, in braces; note: said beside it; needs_bounds: no sum, avg, min or max without."""

    name: str
    options: str
    note: str
    needs_bounds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    name: str
    why: str


def drafted_column(
    column: Column,
    table: Table,
    catalog: Catalog,
    checked: Mapping[str, CheckedColumn],
    *,
    of_people: bool,
    holding: Mapping[str, TableName],
    referred: Collection[str],
    drafted: Collection[TableName],
) -> DraftedColumn | LeftOut:
    """
    Given    of_people: whether rows of the table are people; holding: columns that refer to people, with whom;
             referred: columns that other tables of the draft refer to; drafted: the tables of the draft
    """
    name = column.name
    refers = {key.columns[0]: key for key in table.foreign_keys if len(key.columns) == 1}
    if column.type is SqlType.OTHER:
        return LeftOut(name=name, why=f"of type {column.type_name}, which no query can read")
    if name in holding:
        return LeftOut(name=name, why=f"names people of {holding[name]}")
    if name not in referred and table.is_unique(name):
        return LeftOut(name=name, why="a key: it tells each row from all others")
    stated = checked.get(name, CheckedColumn())
    is_clamped = stated.low is not None and stated.high is not None
    is_age = column.type.is_time and is_birth(name) and is_clamped  # for averages
    if name not in refers and not is_age and is_identifying(name, of_people=of_people):
        return LeftOut(name=name, why="most likely names somebody")
    if name not in (*refers, *referred) and person_of_column(name) is not None:
        return LeftOut(name=name, why="most likely names somebody")
    values = _values(column, catalog, stated)
    if values is not None:
        listed, source = values
        return DraftedColumn(name=name, options=f"{{values: {listed}}}", note=source)
    if name in refers:
        key = refers[name]
        place = f"{key.target}.{key.target_columns[0]}"
        note = f"refers to {place}"
        if key.target not in drafted:
            note += f"; once that is public: {{references: {place}}}"
        return DraftedColumn(name=name, options="{}", note=note)
    if name in referred:
        return DraftedColumn(
            name=name, options="{}", note="a key, here because other tables refer to it"
        )
    return _bounded(column, stated)


def without_options(column: DraftedColumn) -> DraftedColumn:
    """Where the policy's own check refused what the constraint says."""
    return replace(column, options="{}", note="")


def _values(column: Column, catalog: Catalog, stated: CheckedColumn) -> tuple[str, str] | None:
    found, source = stated.values, "CHECK"
    if found is None and column.type is SqlType.ENUM:
        known = catalog.enumerations.get(column.type_name)
        found = None if known is None else known.labels
        source = f"labels of the type {column.type_name}"
    limit = GROUPS_PER_STATEMENT - 1
    if not found or len(found) > limit or column.type is SqlType.BOOL or not column.has_keys:
        return None
    keys = [flow_text(key) for key in found]
    if column.nullable:
        keys.append("null")
    return f"[{', '.join(keys)}]", source


def _bounded(column: Column, stated: CheckedColumn) -> DraftedColumn:
    name, kind = column.name, bounds_kind(column.type)
    if kind is None:
        return DraftedColumn(name=name, options="{}", note="")
    low, high = _bound(column, stated.low), _bound(column, stated.high)
    if low is None or high is None:
        known = f"; CHECK: from {low}" if low is not None else ""
        known = f"; CHECK: to {high}" if high is not None else known
        note = f"{column.type_name}, without bounds{known}"
        needs_bounds = not is_number_of_something(name)
        return DraftedColumn(
            name=name, options="{}", note=note if needs_bounds else "", needs_bounds=needs_bounds
        )
    if column.type.is_integer:  # what is left out at an end
        low = str(int(low) + 1) if stated.low_is_open else low
        high = str(int(high) - 1) if stated.high_is_open else high
    return DraftedColumn(name=name, options=f"{{bounds: [{low}, {high}]}}", note="CHECK")


def _bound(column: Column, written: str | None) -> str | None:
    """As a policy writes it; a bound that never occurs clamps no more than the one beside it."""
    if written is None:
        return None
    if column.type.is_number:
        fits = _NUMBER.fullmatch(written) is not None
        return written if fits and ("." not in written or not column.type.is_integer) else None
    if _DATE.fullmatch(written) is not None:
        return written
    found = None if column.type is SqlType.DATE else _TIME.fullmatch(written)
    # Without a zone it is of the database's own, which is UTC or is not: of a timestamptz only +00 is read.
    if found is None or (column.type is SqlType.TIMESTAMPTZ and found[3] is None):
        return None
    return found[1]


# The text of a draft: a policy file with comments, in which DECIDE marks what its owner has to decide.

Place = tuple[str, str | None]  # a table, and its column
_LISTED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedTable:
    """keys: unique ones with the unit's column."""

    name: TableName
    guess: Guess
    columns: tuple[DraftedColumn | LeftOut, ...]
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedTable:
    """A table that is left out. is_decision: whether the owner is asked; units: those that it may have, each
    with the word for whom it protects."""

    name: TableName
    why: str
    is_about_people: bool
    is_decision: bool = True
    units: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDraft:
    """decisions: what the owner has to decide, in the order of the text; places: of its lines, from 1."""

    text: str
    decisions: tuple[str, ...]
    places: dict[int, Place]


@dataclass(slots=True)
class _Lines:
    written: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)

    def add(self, line: str = "", place: Place | None = None) -> None:
        self.written.append(line.rstrip())
        if place is not None:
            self.places[len(self.written)] = place

    def decide(self, indent: str, what: str, why: str) -> None:
        self.decisions.append(what)
        self.add(f"{indent}# DECIDE {len(self.decisions)}: {comment_text(what)}")
        if why:
            self.add(f"{indent}#   {comment_text(why, 300)}")


def draft_of(
    database: str, variable: str, tables: Sequence[DraftedTable], left_out: Sequence[UndecidedTable]
) -> PolicyDraft:
    """
    Given    left_out: tables that stand as comments only
    Gives    the policy, with decisions numbered from 1
    """
    lines = _Lines()
    for table in tables:
        _table(table, lines)
    if left_out:
        lines.add(
            "  # --- Left out: what is not named here is not there for analysts. `public` is a promise"
        )
        lines.add("  # that nothing in a table is about people; else write its unit.")
        for other in left_out:
            _left_out(other, lines)
    lines.add()
    lines.decide(
        "", "the budgets", "0: nothing can be asked until you write what may be spent, such as"
    )
    lines.add("#   total: {epsilon: 20, delta: 1e-5}   everybody together, for good")
    lines.add("#   default: {epsilon: 4, delta: 1e-6, per: month}   each analyst")
    lines.add("budgets:")
    lines.add("  total:   {epsilon: 0, delta: 0}")
    lines.add("  default: {epsilon: 0, delta: 0, per: month}")
    head = _head(database, variable, len(lines.decisions))
    return PolicyDraft(
        text="\n".join((*head, *lines.written)) + "\n",
        decisions=tuple(lines.decisions),
        places={number + len(head): place for number, place in lines.places.items()},
    )


def _head(database: str, variable: str, decisions: int) -> list[str]:
    return [
        MODELINE,
        "# A draft by `dpproxy policy init`, from tables, keys, types and constraints alone: no row was read.",
        "# Whom a row belongs to is guessed. Each guess and each gap is marked DECIDE, and there are"
        f" {decisions} of them.",
        "# Bounds are clamps known without the data: bounds: [low, high], of dates and times also [low, now].",
        "# A column without has no sum, avg, min or max; `dpproxy policy bounds` proposes some privately.",
        "# `dpproxy policy check` says whether the file fits; `dpproxy policy manual` explains each key.",
        "dpproxy: 1",
        f"database: {flow_text(database)}",
        f"source: ${{{variable}}}",
        "",
        "privacy:",
        "  epsilon: 1.0      # per statement",
        "  delta: 1e-8       # per statement; far below 1 / number of people",
        "  max_epsilon: 1.0  # the most that a session may ask for",
        "",
        "tables:",
    ]


def _table(table: DraftedTable, lines: _Lines) -> None:
    name = str(table.name)
    here: Place = (name, None)
    lines.add(f"  {flow_text(name) if not _is_plain(table.name) else name}:", here)
    _unit(table, lines, here)
    drafted = [column for column in table.columns if isinstance(column, DraftedColumn)]
    gone = [column for column in table.columns if isinstance(column, LeftOut)]
    lacking = [column.name for column in drafted if column.needs_bounds]
    if lacking:
        lines.decide(
            "    ",
            f"bounds of {_listed(lacking)} in {name}",
            "",
        )
    if drafted:
        lines.add("    columns:")
        width = max(len(flow_text(column.name)) for column in drafted) + 1
        for column in drafted:
            key = f"{flow_text(column.name)}:".ljust(width)
            note = f"   # {comment_text(column.note)}" if column.note else ""
            lines.add(f"      {key} {column.options}{note}", (name, column.name))
    for left in gone:
        lines.add(f"      # not listed: {comment_text(left.name)} ({comment_text(left.why)})")
    lines.add()


def _unit(table: DraftedTable, lines: _Lines, here: Place) -> None:
    guess, name = table.guess, table.name
    match guess.unit:
        case RowUnit():
            what = f"the unit of {name}: one row is one person"
            why = f"{guess.why}. If a person can have more rows, write unit: {{person: COLUMN}}"
            lines.decide("    ", what, why)
            lines.add("    unit: row", here)
            return
        case IdentifierUnit(identifier=word, column=column, path=path):
            pass
        case _:
            assert_never(guess.unit)
    lines.decide("    ", f"the unit of {name}: {_one(word)} with all their rows", f"{guess.why}")
    if guess.others:
        others = comment_text(", ".join(guess.others))
        lines.add(f"    #   rows refer to others, too, who are not protected here: {others}")
    if path is None:
        unit = flow_text(column)
    else:
        target = f"{column} -> {path.table}.{path.column}"
        unit = (
            target if _is_plain(path.table) and flow_text(column) == column else flow_text(target)
        )
    lines.add(f"    unit: {{{flow_text(word)}: {unit}}}", here)
    if (column,) in table.keys and path is None:
        lines.add(f"    # one row each: {comment_text(column)} is a key")
        return
    for key in table.keys:
        rest = ", ".join(one for one in key if one != column)
        lines.add(
            f"    # at most one row of each for the same {comment_text(rest)}: they are a key together"
        )
    lines.add(f"    max_rows_per_unit: auto   # {_HOW_MANY[guess.how is How.ITSELF]}", here)


_HOW_MANY = {
    False: "chosen privately; a small number makes COUNT more exact, SUM often less; rows above it never count",
    True: "chosen privately",
}


def _left_out(table: UndecidedTable, lines: _Lines) -> None:
    name = str(table.name)
    if not table.is_decision:
        lines.add(f"  # {comment_text(name)}: {comment_text(table.why)}")
        return
    if table.units:
        lines.decide("  ", f"{name}, which is left out: whose rows are they?", table.why)
        for word, unit in table.units:
            written = flow_text(name) if not _is_plain(table.name) else name
            lines.add(
                f"  # {comment_text(written)}: {{unit: {comment_text(unit)}}}"
                f"   # protects each {comment_text(word)}"
            )
        return
    if table.is_about_people:
        lines.decide("  ", f"{name}, which is left out", table.why)
        return
    lines.decide("  ", f"{name}, which is left out: public, or whose?", table.why)
    lines.add(f"  # {comment_text(flow_text(name) if not _is_plain(table.name) else name)}: public")


def _is_plain(name: TableName) -> bool:
    return all(flow_text(part) == part for part in name)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _one(word: str) -> str:
    return f"{'an' if word[:1] in 'aeio' else 'a'} {word}"
