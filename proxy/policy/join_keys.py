"""The join keys of a table against the catalogue: can its rows be cut by them, and told apart for that?"""

from __future__ import annotations

from collections.abc import Iterator

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Table
from proxy.policy.policy_model import IdentifierUnit, JoinKey, ProtectedTable, PublicTable
from proxy.policy.problem import Problem


def join_key_problems(table: ProtectedTable | PublicTable, there: Table) -> list[Problem]:
    """In the order of the policy."""
    path = ("tables", str(table.name), "join_keys")
    unit = table.unit if isinstance(table, ProtectedTable) else None
    if table.join_keys and isinstance(unit, IdentifierUnit) and unit.path is not None:
        hint = "join it on the privacy unit or along its reference"
        message = "a table whose unit is found through a reference cannot be truncated for joins"
        return [Problem(path, message, hint, at_key=True)]
    found: list[Problem] = []
    for name, key in table.join_keys.items():
        for message, hint in _wrong(name, key, table, there):
            found.append(Problem((*path, name), message, hint, at_key=True))
    return found


def _wrong(
    name: str, key: JoinKey, table: ProtectedTable | PublicTable, there: Table
) -> Iterator[tuple[str, str]]:
    column = there.column(name)
    if column is None:
        names = ", ".join(column.name for column in there.columns[:10])
        yield f"'{there.name}' has no column '{name}'", f"among its columns are {names}"
        return
    if column.type is SqlType.OTHER or column.type.is_compound or column.type.is_float:
        yield (
            f"a column of type {column.type_name} cannot be a join key",
            "equal values must be one value: a whole number, numeric, text, uuid, date, timestamp, boolean",
        )
    if not _is_there(table, name):
        yield (
            f"column '{name}' is not in this policy",
            "add it to columns, so that queries can use it",
        )
    if there.primary_key:
        return
    if key.keep is not None:
        yield (
            f"keep: {key.keep} needs a primary key, and '{there.name}' has none",
            "which rows are kept must not depend on their order; {keep: unique} needs no key",
        )
    elif _has_units_of_many_rows(table, there):
        yield (
            f"a join key needs a primary key, and '{there.name}' has none",
            "the rows of each unit are truncated to max_rows_per_unit before a join, in an order that needs a "
            "key",
        )


def _is_there(table: ProtectedTable | PublicTable, name: str) -> bool:
    if isinstance(table, PublicTable):
        return table.has(name)
    return name in (*table.columns, _unit_column(table))


def _unit_column(table: ProtectedTable) -> str | None:
    return table.unit.column if isinstance(table.unit, IdentifierUnit) else None


def _has_units_of_many_rows(table: ProtectedTable | PublicTable, there: Table) -> bool:
    unit = _unit_column(table) if isinstance(table, ProtectedTable) else None
    return unit is not None and not there.is_unique(unit)
