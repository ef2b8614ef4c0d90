"""The text of a draft: a policy file with comments, in which DECIDE marks what its owner has to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from typing_extensions import assert_never

from proxy.catalog.catalog_model import TableName
from proxy.drafting.drafted_columns import DraftedColumn, LeftOut
from proxy.policy.guessed_units import Guess, How
from proxy.policy.policy_model import IdentifierUnit, RowUnit
from proxy.policy_file.policy_schema import MODELINE
from proxy.policy_file.yaml_text import comment_text, flow_text

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
