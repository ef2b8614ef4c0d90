"""Columns of protected tables that name people: listed, or with values that the policy publishes."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table
from proxy.doctor.declared_people import DeclaredPeople
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.guessed_units import Guess, How
from proxy.policy.person_words import (
    is_birth,
    is_free_text,
    is_id_of_person,
    is_identifying,
    names_a_person,
)
from proxy.policy.policy_model import ColumnPolicy, IdentifierUnit, ProtectedTable
from proxy.policy.values_of_people import (
    naming_values,
    perhaps_naming_in,
    perhaps_naming_values,
)
from proxy.query.checked_columns import checked_columns

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
