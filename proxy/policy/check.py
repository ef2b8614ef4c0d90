"""A policy against a catalogue: does everything that it names exist, and does it fit the types?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import IN_NORMAL_FORMS, Catalog, Column, Table, TableName
from proxy.policy.blocks_of_time import (
    FIRST_YEAR,
    LAST_YEAR,
    MOST_BLOCKS,
    blocks_are_named,
    blocks_within,
)
from proxy.policy.column_shapes import bounds_kind, family, misfit
from proxy.policy.findings import Problem
from proxy.policy.grid import average_grid, fits_bigint, grid_of, has_step, type_step
from proxy.policy.key_texts import TRUE_AND_FALSE, printed
from proxy.policy.missing_grants import MissingGrants
from proxy.policy.moving_bounds import moving_high
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    JoinKey,
    MovingBounds,
    Noise,
    Policy,
    ProtectedTable,
    PublicTable,
    TimeBlocks,
    UnitPath,
)
from proxy.policy.publication import PUBLISHED_SCHEMA

# The join keys of a table against the catalogue: can its rows be cut by them, and told apart for that?


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
    if not _is_shown(table, name):
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


def _is_shown(table: ProtectedTable | PublicTable, name: str) -> bool:
    if isinstance(table, PublicTable):
        return table.has(name)
    return name in (*table.columns, _unit_column(table))


def _unit_column(table: ProtectedTable) -> str | None:
    return table.unit.column if isinstance(table.unit, IdentifierUnit) else None


def _has_units_of_many_rows(table: ProtectedTable | PublicTable, there: Table) -> bool:
    unit = _unit_column(table) if isinstance(table, ProtectedTable) else None
    return unit is not None and not there.is_unique(unit)


# A unit in blocks of time against the catalogue: each block has a budget, so blocks are known beforehand.


def block_problems(table: ProtectedTable | PublicTable, there: Table) -> Iterator[Problem]:
    """
    Given    a table whose unit column the catalogue has
    """
    if not isinstance(table, ProtectedTable) or not isinstance(table.unit, IdentifierUnit):
        return
    unit, blocks = table.unit, table.unit.blocks
    if blocks is None:
        return
    path = ("tables", str(table.name))
    person = there.column(unit.column)
    if person is not None and not (person.type.is_integer or person.type is SqlType.UUID):
        yield Problem(
            (*path, "unit"),
            f"a person in blocks of time is a whole number or a uuid, not {person.type_name}",
            "name such a column, or leave per and of out",
        )
    message, hint = _of_time(blocks, table, there)
    if message:
        yield Problem((*path, "unit", "of"), message, hint)
    if table.join_keys:
        yield Problem(
            (*path, "join_keys"),
            "a table whose unit is in blocks of time has no join keys",
            "leave join_keys out: it is joined with public tables on their keys",
            at_key=True,
        )


def _of_time(blocks: TimeBlocks, table: ProtectedTable, there: Table) -> tuple[str, str]:
    """What is wrong with the column of the time, if anything is, and what to do."""
    name, per = blocks.time, blocks.per
    time, known = there.column(name), table.columns.get(name)
    if time is None:
        return f"'{table.name}' has no column '{name}'", "name the column with the time of a row"
    if not time.type.is_time:
        return f"'{name}' is {time.type_name}, and no time", "name a date or a timestamp"
    if known is None or not isinstance(known.bounds, Bounds):
        return (
            f"'{name}' needs bounds of two constants: each {per.value} within them has a budget",
            f"list it under columns, such as {name}: {{bounds: [2024-01-01, 2030-12-31]}}",
        )
    if not blocks_are_named(known.bounds):
        return (
            f"the bounds of '{name}' are beyond the years {FIRST_YEAR} to {LAST_YEAR}",
            "write those between which there are rows",
        )
    if len(blocks_within(known.bounds, per)) > MOST_BLOCKS:
        return (
            f"there are more than {MOST_BLOCKS} {per.value}s within the bounds of '{name}'",
            "write tighter bounds, or longer blocks",
        )
    return "", ""


_DAY_SECONDS = 86_400
_NO_BOUNDS = "take bounds out: numbers, dates and timestamps have some; values make a GROUP BY"
_SUCH_AS = {
    BoundsKind.NUMBER: "[0, 120]",
    BoundsKind.DATE: "[2000-01-01, 2030-12-31]",
    BoundsKind.TIMESTAMP: "[2000-01-01 00:00:00, 2030-12-31 23:59:59]",
}
_LISTED_NAMES = 10
_HINTED_PROBLEMS = 100  # comparing words is slow; after so many, hints help nobody


def check(
    policy: Policy,
    catalog: Catalog,
    grants: MissingGrants | None = None,
    day: int | None = None,
) -> list[Problem]:
    """Everything in which the policy does not fit the database, in the policy's order.

    Given    catalog: of what the role may read; grants: what else there is; day: before which bounds that end
             with the present have to begin (days since 1970-01-01); None: that is not asked
    """
    return _Check(policy, catalog, grants, day).problems


def fitted(policy: Policy, catalog: Catalog) -> Policy:
    """The policy in the terms of the column types: what every floor above works with.

    Given    a policy for which `check` finds nothing
    Gives    keys as PostgreSQL prints them, booleans with their two keys, dates beside a timestamp
             column as seconds; the same policy otherwise. fitted(fitted(p)) == fitted(p)
    Refuses  a policy that does not fit, with ValueError
    """
    checked = _Check(policy, catalog)
    if checked.problems:
        raise ValueError(f"the policy does not fit the database: {checked.problems[0]}")
    return replace(policy, tables=checked.tables)


class _Check:
    def __init__(
        self,
        policy: Policy,
        catalog: Catalog,
        grants: MissingGrants | None = None,
        day: int | None = None,
    ) -> None:
        self._grants = grants
        self._day = day
        self.problems: list[Problem] = []
        self.tables: dict[TableName, ProtectedTable | PublicTable] = {}
        self._policy = policy
        self._catalog = catalog
        self._units: dict[str, tuple[str, Column]] = {}
        if catalog.encoding == IN_NORMAL_FORMS:
            self._add(
                ("database",),
                "the database's order of texts is one of ICU that makes normal forms: one text can take hours",
                "dump it, and restore it into a database of LOCALE_PROVIDER libc, or of ICU_LOCALE 'en'",
            )
        elif catalog.encoding != "UTF8":
            # lower() and upper() may raise on other encodings, and an error is a bit (docs/design/sql.md 2.5).
            self._add(
                ("database",),
                f"the database's encoding is {catalog.encoding}, not UTF8",
                "dump it, and restore it into a database of ENCODING 'UTF8'",
            )
        if policy.privacy.noise is Noise.GAUSSIAN and policy.privacy.delta <= 0:
            self._add(
                ("privacy", "noise"), "gaussian noise needs a delta above 0", "write delta: 1e-6"
            )
        for name, table in policy.tables.items():
            if policy.publish and name.schema == PUBLISHED_SCHEMA:
                self._add(
                    ("tables", str(name)),
                    f"schema {PUBLISHED_SCHEMA} is of published tables: '{name}' cannot be in it",
                    "leave publish out, or move the table to another schema",
                    at_key=True,
                )
            self.tables[name] = self._table(table)

    def _add(
        self, path: tuple[str | int, ...], message: str, hint: str = "", at_key: bool = False
    ) -> None:
        self.problems.append(Problem(path, message, hint, at_key))

    def _nearest(self, word: str, known: Iterable[str]) -> str:
        if len(self.problems) >= _HINTED_PROBLEMS:
            return ""
        names = list(known)
        close = difflib.get_close_matches(word, names, n=1)
        if close:
            return f"did you mean '{close[0]}'?"
        more = len(names) - _LISTED_NAMES
        listed = ", ".join(names[:_LISTED_NAMES]) + (f" and {more} more" if more > 0 else "")
        return f"there are {listed}" if names else "the role of source can read nothing here"

    def _table(self, table: ProtectedTable | PublicTable) -> ProtectedTable | PublicTable:
        path = ("tables", str(table.name))
        there = self._catalog.tables.get(table.name)
        if there is None:
            self._no_table(table.name, path, at_key=True)
            return table
        self.problems += join_key_problems(table, there)
        if isinstance(table, PublicTable):
            for column in table.columns or ():
                if there.column(column) is None:
                    self._no_column(column, there, (*path, "columns", column))
            return table
        if isinstance(table.unit, IdentifierUnit):
            self._unit(table.unit, there, path)
        columns = {
            name: self._column(column, there, (*path, "columns", name))
            for name, column in table.columns.items()
        }
        return replace(table, columns=columns)

    def _unit(self, unit: IdentifierUnit, there: Table, path: tuple[str, str]) -> None:
        path_of_unit = (*path, "unit", unit.identifier)
        column = there.column(unit.column)
        if column is None:
            self._no_column(unit.column, there, path_of_unit, at_key=False)
            return
        if family(column) is None:
            self._add(
                path_of_unit,
                f"a column of type {column.type_name} cannot hold a privacy unit",
                "use a whole number, a text or a uuid: equal identifiers must print equally",
            )
            return
        if unit.path is not None:
            self._path(unit, unit.path, column, path_of_unit)
            return
        self.problems += block_problems(self._policy.tables[there.name], there)
        first_table, first = self._units.setdefault(unit.identifier, (str(there.name), column))
        if family(first) != family(column):
            self._add(
                path_of_unit,
                f"'{unit.identifier}' is {column.type_name} here "
                f"and {first.type_name} in '{first_table}'",
                "one identifier has one type; name a column that holds it here, or column -> "
                "schema.table.column; two names are for different people",
            )

    def _path(
        self, unit: IdentifierUnit, leads: UnitPath, real: Column, path: tuple[str, ...]
    ) -> None:
        """A reference must find at most one row, and that row's unit by one look (no chains)."""
        target = self._catalog.tables.get(leads.table)
        exposed = self._policy.tables.get(leads.table)
        wanted = IdentifierUnit(unit.identifier, leads.column)
        key = None
        if target is not None and len(target.primary_key) == 1:
            key = target.column(target.primary_key[0])
        if target is None:
            self._no_table(leads.table, path)
        elif not isinstance(exposed, ProtectedTable):
            self._add(
                path,
                f"table '{leads.table}' is not a protected table of this policy",
                f"add it to tables, with unit: {{{unit.identifier}: {leads.column}}}",
            )
        elif exposed.unit != wanted:
            self._add(
                path,
                f"the unit of '{leads.table}' is not {{{unit.identifier}: {leads.column}}}",
                "a reference leads to a table that holds the same identifier in that column itself",
            )
        elif key is None:
            self._add(
                path,
                f"'{leads.table}' has no primary key of one column",
                "the reference must find exactly one row by it",
            )
        elif family(key) != family(real) or key.type.meets_blank_padded(real.type):
            self._add(
                path,
                f"{real.type_name} cannot refer to {key.type_name}, "
                f"the type of the primary key of '{leads.table}'",
                "a reference has the type of what it refers to: name another column, or change its type",
            )

    def _column(self, column: ColumnPolicy, there: Table, path: tuple[str, ...]) -> ColumnPolicy:
        real = there.column(column.name)
        if real is None:
            self._no_column(column.name, there, path)
            return column
        if real.type is SqlType.OTHER:
            hint = "remove the column from the list: it is then hidden"
            self._add(path, f"the type {real.type_name} is not supported", hint, at_key=True)
            return column
        if column.bounds is not None:
            column = self._bounds(column, column.bounds, real, path)
        if column.values is not None:
            column = self._values(column, column.values, real, path)
        elif real.type is SqlType.BOOL:
            column = replace(column, values=TRUE_AND_FALSE)
        if column.references is not None:
            self._reference(column.references, real, (*path, "references"))
        return column

    def _no_table(self, name: TableName, path: tuple[str, ...], *, at_key: bool = False) -> None:
        grant = None if self._grants is None else self._grants.of_table(name)
        what, hint = f"the role of source may not read table '{name}'", grant
        if hint is None:
            what = f"table '{name}' is not in the database"
            hint = self._nearest(str(name), map(str, self._catalog.tables))
        self._add(path, what, hint, at_key=at_key)

    def _no_column(
        self, name: str, there: Table, path: tuple[str, ...], *, at_key: bool = True
    ) -> None:
        grant = None if self._grants is None else self._grants.of_column(there.name, name)
        what, hint = f"the role of source may not read column '{name}' of '{there.name}'", grant
        if hint is None:
            what = f"'{there.name}' has no column '{name}'"
            hint = self._nearest(name, (known.name for known in there.columns))
        self._add(path, what, hint, at_key=at_key)

    def _bounds(
        self,
        column: ColumnPolicy,
        bounds: Bounds | MovingBounds,
        real: Column,
        path: tuple[str, ...],
    ) -> ColumnPolicy:
        path_of_bounds = (*path, "bounds")
        kind = bounds_kind(real.type)
        if kind is None:
            self._add(
                path_of_bounds, f"a column of type {real.type_name} has no bounds", _NO_BOUNDS
            )
            return column
        if kind is BoundsKind.TIMESTAMP and bounds.kind is BoundsKind.DATE:
            bounds = _in_seconds(bounds)
            column = replace(column, bounds=bounds)
        if bounds.kind is not kind:
            self._add(
                path_of_bounds,
                f"bounds of a column of type {real.type_name} are {kind.value}, "
                f"not {bounds.kind.value}",
                f"such as {_SUCH_AS[kind]}",
            )
            return column
        if isinstance(bounds, MovingBounds):
            return self._moving(column, bounds, real, path)
        before = len(self.problems)
        for index, bound in enumerate((bounds.low, bounds.high)):
            if (wrong := misfit(bound, real)) is not None:
                self._add(
                    (*path_of_bounds, index), wrong, "a bound is a value of the column's type"
                )
        step = type_step(real)
        if column.grid is not None and step is not None:
            self._grid(column.grid, step, real, (*path, "grid"))
        if len(self.problems) > before:
            return column
        if not has_step(bounds, grid_of(real, column)):
            hint = "give a finer grid, or bounds that are multiples of it"
            self._add(path_of_bounds, "the bounds contain no whole step of the grid", hint)
        elif not fits_bigint(bounds, average_grid(real, column)):
            self._add(
                path_of_bounds,
                "bounds / grid does not fit into a bigint",
                "give a coarser grid or tighter bounds",
            )
        return column

    def _moving(
        self, column: ColumnPolicy, bounds: MovingBounds, real: Column, path: tuple[str, ...]
    ) -> ColumnPolicy:
        step = type_step(real)
        if column.grid is not None and step is not None:
            self._grid(column.grid, step, real, (*path, "grid"))
        if self._day is None:
            return column
        high = moving_high(bounds.kind, column.grid, self._day)
        if bounds.low + (column.grid or 1) > high:
            self._add(
                (*path, "bounds", 0),
                "the low bound is not before now, rounded down to the grid and to a day at least",
                "write a day that is over, or two constants",
            )
        return column

    def _grid(self, grid: Fraction, step: Fraction, real: Column, path: tuple[str, ...]) -> None:
        if (grid / step).denominator != 1:
            hint = "take grid out; " if real.type.is_number else f"write {decimal(step)}, or "
            hint += (
                "an average gets a finer grid by itself"
                if real.type.is_number
                else "leave grid out"
            )
            self._add(path, f"grid of {real.type_name} must be a multiple of {decimal(step)}", hint)

    def _values(
        self,
        column: ColumnPolicy,
        keys: tuple[str | None, ...],
        real: Column,
        path: tuple[str, ...],
    ) -> ColumnPolicy:
        path_of_values = (*path, "values")
        if not real.has_keys:
            self._add(
                path_of_values,
                f"a column of type {real.type_name} has no list of values",
                "its equal values need not print equally; numeric needs a scale: numeric(8,2)",
            )
            return column
        texts: dict[str | None, None] = {}
        for index, key in enumerate(keys):
            try:
                text = None if key is None else printed(key, real)
            except ValueError as error:
                self._add(
                    (*path_of_values, index),
                    f"a key of column '{real.name}' {error}",
                    f"write it as PostgreSQL prints a value of {real.type_name}, or take it out",
                )
                continue
            if text in texts:
                hint = "take one out: PostgreSQL prints both alike"
                self._add((*path_of_values, index), "this key occurs twice", hint)
            if text is None and not real.nullable:
                what = f"column '{real.name}' is never null"
                self._add((*path_of_values, index), what, "take null out of values")
            texts[text] = None
        return replace(column, values=tuple(texts))

    def _reference(
        self, reference: tuple[TableName, str], real: Column, path: tuple[str, ...]
    ) -> None:
        target_name, target_column = reference
        target = self._catalog.tables.get(target_name)
        exposed = self._policy.tables.get(target_name)
        if target is None:
            self._no_table(target_name, path)
            return
        there = target.column(target_column)
        if there is None:
            self._no_column(target_column, target, path, at_key=False)
        elif exposed is None:
            self._add(path, f"table '{target_name}' is not in this policy", "add it to tables")
        elif not _is_there(exposed, target_column):
            what = f"column '{target_column}' of '{target_name}' is not in this policy"
            self._add(path, what, f"add {target_column}: {{}} to its columns")
        elif not target.is_unique(target_column):
            self._add(
                path,
                f"'{target_name}.{target_column}' is not a key",
                "a reference needs a primary key or a unique constraint: it must find one row",
            )
        elif family(there) is None or family(there) != family(real):
            what = f"{real.type_name} cannot refer to {there.type_name}"
            self._add(path, what, "a reference has the type of what it refers to: take it out")


def _in_seconds(bounds: Bounds | MovingBounds) -> Bounds | MovingBounds:
    """Dates, beside a timestamp column: their midnights."""
    low, kind = bounds.low * _DAY_SECONDS, BoundsKind.TIMESTAMP
    if isinstance(bounds, MovingBounds):
        return MovingBounds(low, kind)
    return Bounds(low, bounds.high * _DAY_SECONDS, kind)


def _is_there(table: ProtectedTable | PublicTable, column: str) -> bool:
    if isinstance(table, PublicTable):
        return table.has(column)
    is_unit = isinstance(table.unit, IdentifierUnit) and table.unit.column == column
    return is_unit or column in table.columns
