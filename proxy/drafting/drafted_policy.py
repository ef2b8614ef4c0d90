"""A first policy for a database, from what is declared of it, with everything marked that its owner decides.

Given nothing but a catalogue, so that no draft depends on a row. What is not certain errs towards less: a
table whose people are not found is left out, no table is public, and the budgets are 0 until the owner writes
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proxy.catalog.catalog_model import Table, TableName
from proxy.doctor.declared_database import DeclaredDatabase
from proxy.doctor.links_diagnosis import Relations
from proxy.doctor.people_diagnosis import people_findings
from proxy.drafting.drafted_columns import (
    DraftedColumn,
    DraftedTable,
    LeftOut,
    Place,
    PolicyDraft,
    UndecidedTable,
    draft_of,
    drafted_column,
    without_options,
)
from proxy.policy.check import check
from proxy.policy.finding_names import Severity
from proxy.policy.guessed_units import Guess, How, NotGuessed, guessed_units, written_unit
from proxy.policy.person_words import person_of_table
from proxy.policy.policy_model import IdentifierUnit, Policy
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import read_policy
from proxy.query.checked_columns import checked_columns

_PASSES = 200  # each leaves out at least one table or column
_OWN_ROWS = ("r", "p")
_OTHERS = {"v": "a view", "m": "a materialized view", "f": "a foreign table"}


class NothingToDraft(Exception):
    """No table that a policy could name."""


@dataclass(slots=True)
class _AgainstDraft:
    """What the policy's own checks have said against the draft so far, by table as it is written."""

    tables: dict[str, str] = field(default_factory=dict)
    options: set[tuple[str, str]] = field(default_factory=set)
    columns: dict[tuple[str, str], str] = field(default_factory=dict)


def drafted_policy(declared: DeclaredDatabase, variable: str) -> PolicyDraft:
    """
    Given    what is declared in a database; the environment variable in which its connection string will be
    Gives    a policy that its own reader and checks have nothing against, but for what is of role and server
    Refuses  NothingToDraft
    """
    catalog, relations = declared.catalog, declared.relations
    others = {
        name: why
        for name in sorted(relations.known)
        if (why := _not_of_its_own(name, relations)) is not None
    }
    tables = {name: table for name, table in sorted(catalog.tables.items()) if name not in others}
    refused = _AgainstDraft()
    for _ in range(_PASSES):
        drafted, undecided = _drafted(tables, declared, refused)
        if not drafted:
            raise NothingToDraft
        draft = draft_of(declared.name, variable, drafted, (*undecided, *_listed(others)))
        if not _learned(draft, variable, declared, refused):
            return draft
    raise NothingToDraft


def _not_of_its_own(name: TableName, relations: Relations) -> str | None:
    kind = relations.known[name].kind
    if kind not in _OWN_ROWS:
        return _OTHERS.get(kind, "no table")
    parents = sorted(p for p, below in relations.links.children.items() if name in below)
    return f"its rows are those of {parents[0]}" if parents else None


def _listed(others: Mapping[TableName, str]) -> Iterable[UndecidedTable]:
    for name, why in others.items():
        yield UndecidedTable(name=name, why=why, is_about_people=True, is_decision=False)


def _drafted(
    tables: Mapping[TableName, Table], declared: DeclaredDatabase, refused: _AgainstDraft
) -> tuple[tuple[DraftedTable, ...], tuple[UndecidedTable, ...]]:
    guesses = guessed_units(tables)
    selected = {
        name: guess
        for name, guess in guesses.items()
        if isinstance(guess, Guess)
        and str(name) not in refused.tables
        and not _is_open(guess, guesses)
    }
    drafted = [
        _table(tables[name], guess, selected, tables, declared, refused)
        for name, guess in selected.items()
    ]
    undecided = []
    for name in tables:
        guess = guesses[name]
        if str(name) in refused.tables:
            why = refused.tables[str(name)]
            undecided.append(UndecidedTable(name=name, why=why, is_about_people=True))
        elif isinstance(guess, Guess) and guess.rivals:
            undecided.append(
                UndecidedTable(
                    name=name, why=_choice(guess), is_about_people=True, units=_units(guess)
                )
            )
        elif isinstance(guess, Guess) and _is_open(guess, guesses):
            assert isinstance(guess.unit, IdentifierUnit) and guess.unit.path is not None
            why = f"its rows belong to people through {guess.unit.path.table}, which is left out"
            undecided.append(UndecidedTable(name=name, why=why, is_about_people=True))
        elif isinstance(guess, NotGuessed):
            undecided.append(
                UndecidedTable(name=name, why=guess.why, is_about_people=guess.is_about_people)
            )
    return tuple(drafted), tuple(undecided)


def _is_open(guess: Guess, guesses: Mapping[TableName, Guess | NotGuessed]) -> bool:
    """Whether a table, or the one that its unit is found through, may as well have another unit."""
    path = guess.unit.path if isinstance(guess.unit, IdentifierUnit) else None
    between = None if path is None else guesses[path.table]
    return bool(guess.rivals) or (isinstance(between, Guess) and bool(between.rivals))


def _choice(guess: Guess) -> str:
    assert isinstance(guess.unit, IdentifierUnit)
    words = [guess.unit.identifier, *(rival.word for rival in guess.rivals)]
    return (
        f"its rows refer to people of several kinds, perhaps: {', '.join(words)}. A policy protects one of "
        "them in a table, with all their rows; the others are not protected there"
    )


def _units(guess: Guess) -> tuple[tuple[str, str], ...]:
    assert isinstance(guess.unit, IdentifierUnit)
    first = written_unit(guess.unit)
    return (
        (guess.unit.identifier, first),
        *((rival.word, rival.unit) for rival in guess.rivals),
    )


def _table(
    table: Table,
    guess: Guess,
    selected: Mapping[TableName, Guess],
    tables: Mapping[TableName, Table],
    declared: DeclaredDatabase,
    refused: _AgainstDraft,
) -> DraftedTable:
    name, unit = table.name, guess.unit
    own = unit.column if isinstance(unit, IdentifierUnit) and unit.path is None else None
    leads = unit.column if isinstance(unit, IdentifierUnit) and unit.path is not None else None
    people = {one for one, known in selected.items() if known.how is How.ITSELF}
    people |= {one for one in tables if person_of_table(one.name) is not None}
    holding = {
        key.columns[0]: key.target
        for key in table.foreign_keys
        if len(key.columns) == 1 and key.target in people and key.columns[0] not in (own, leads)
    }
    referred = {
        column
        for other in selected
        for key in tables[other].foreign_keys
        if key.target == name
        for column in key.target_columns
    } | _led_to(name, selected, table)
    checked = checked_columns(tuple(text for _, text in table.checks))
    for column in table.columns:
        stated = checked_columns(declared.of_domains.get((name, column.name), ()))
        if column.name not in checked and "VALUE" in stated:
            checked[column.name] = stated["VALUE"]
    columns: list[DraftedColumn | LeftOut] = []
    for column in table.columns:
        place = (str(name), column.name)
        if column.name == own:
            continue
        if place in refused.columns:
            columns.append(LeftOut(name=column.name, why=refused.columns[place]))
            continue
        one = drafted_column(
            column,
            table,
            declared.catalog,
            checked,
            of_people=guess.how is How.ITSELF,
            holding=holding,
            referred=referred,
            drafted=selected,
        )
        if isinstance(one, DraftedColumn) and place in refused.options:
            one = without_options(one)
        columns.append(one)
    keys = [key for key in (table.primary_key, *table.unique) if own is not None and own in key]
    return DraftedTable(name=name, guess=guess, columns=tuple(columns), keys=tuple(keys))


def _led_to(name: TableName, selected: Mapping[TableName, Guess], table: Table) -> set[str]:
    """The key by which another table finds whose row it is."""
    paths = (one.unit.path for one in selected.values() if isinstance(one.unit, IdentifierUnit))
    return set(table.primary_key) if any(path and path.table == name for path in paths) else set()


def _learned(
    draft: PolicyDraft, variable: str, declared: DeclaredDatabase, refused: _AgainstDraft
) -> bool:
    """Whether there is something against the draft; then it is noted."""
    try:
        policy = read_policy(draft.text, "", {variable: "-"})
    except PolicyErrors as errors:
        for wrong in errors.problems:
            _note(draft.places.get(wrong.line), wrong.message, refused)
        return True
    found = check(policy, declared.catalog)
    for problem in found:
        steps = [str(step) for step in problem.path]
        column = steps[3] if len(steps) > 3 and steps[2] == "columns" else None
        _note((steps[1], column) if steps[0] == "tables" else None, problem.message, refused)
    return bool(found) or _note_severe(policy, declared, refused)


def _note(place: Place | None, message: str, refused: _AgainstDraft) -> None:
    """First what a column may be used for goes, then the column; a table goes as a whole."""
    if place is None:
        raise NothingToDraft(message)
    table, column = place
    if column is None:
        refused.tables[table] = message
    elif (table, column) in refused.options:
        refused.columns[table, column] = message
    else:
        refused.options.add((table, column))


def _note_severe(policy: Policy, declared: DeclaredDatabase, refused: _AgainstDraft) -> bool:
    severe = [
        finding
        for finding in people_findings(
            policy, declared.catalog, declared.relations, declared.catalog
        )
        if finding.severity is Severity.SEVERE
    ]
    for finding in severe:
        refused.tables[str(finding.path[1])] = finding.what
    return bool(severe)
