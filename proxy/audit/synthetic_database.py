"""Invented rows in tables of a policy's shape, and their neighbours: whole units taken out, put in, replaced.

The real data is never read: tables, types and keys come from the catalogue, everything else from the policy.
Some units have more rows than the policy lets count, at one end of the bounds, in one group or in all.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.audit.neighbour_audit import AuditedChange
from proxy.audit.synthetic_copies import (
    CopiedRows,
    copied_rows,
    create_copies,
    synthetic_copies,
)
from proxy.audit.synthetic_values import Choices, Style, distinct_value, sql_type, synthetic_value
from proxy.base.instants import DAY_SECONDS, iso_text
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.policy.blocks_of_time import blocks_of, first_day
from proxy.policy.policy_model import ColumnPolicy, IdentifierUnit, Policy, ProtectedTable, RowUnit

# The rows of a synthetic database, unit by unit.

NUMBER = "dp_row"  # a column of ours, by which rows are found again
_MOST_ROWS = 1500  # of a large unit in one table
_PUBLIC_ROWS = 12
_BACKGROUND_ROWS = 3
_BLOCKS = 2  # that each person is in, of units in blocks of time
_ENDS = (
    (Style.HIGH, 0),
    (Style.LOW, 1),
    (Style.HIGH, None),
    (Style.ANY, None),
    (Style.LOW, None),
)
_RESERVE = ((Style.HIGH, 0), (Style.ANY, None), (Style.LOW, None))


@dataclass(frozen=True, slots=True)
class Row:
    """values: in the order of the table's columns."""

    table: TableName
    number: int
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Population:
    """The units of one identifier over all its tables, or the rows (k at a time) of one table. reserve: units
    that are not in the database at first."""

    tables: frozenset[TableName]
    units: tuple[list[Row], ...]
    reserve: tuple[list[Row], ...]


@dataclass(frozen=True, slots=True)
class SyntheticRows:
    """background: rows that are nobody's."""

    populations: tuple[Population, ...]
    background: tuple[Row, ...]


def populations(
    policy: Policy, catalog: Catalog, rows: int, distance: int, choices: Choices
) -> SyntheticRows:
    return _Maker(policy, catalog, choices).made(rows, distance)


class _Maker:
    def __init__(self, policy: Policy, catalog: Catalog, choices: Choices) -> None:
        self._policy, self._catalog, self._choices = policy, catalog, choices
        self._numbers = itertools.count(1)
        self._keys: set[tuple[object, ...]] = set()
        self._blocks: dict[str, range] = {}  # that all tables of a kind of unit have
        self._by_unit: dict[tuple[TableName, int | None], list[Row]] = defaultdict(list)

    def made(self, rows: int, distance: int) -> SyntheticRows:
        tables = self._policy.tables
        background: list[Row] = []
        for name in tables:
            if not isinstance(tables[name], ProtectedTable):
                for _ in range(_PUBLIC_ROWS):
                    background += self._row(name, None, None, Style.ANY, None)
        found: list[Population] = []
        identifiers: dict[str, list[ProtectedTable]] = defaultdict(list)
        for table in self._policy.protected():
            if isinstance(table.unit, RowUnit):
                found.append(self._rows_of(table, table.unit.rows, rows, distance))
            else:
                identifiers[table.unit.kind].append(table)
        for kind, group in identifiers.items():
            every = [blocks_of(table) for table in group]
            self._blocks[kind] = range(max(b.start for b in every), min(b.stop for b in every))
            # A table whose identifier is found through another comes after that one.
            group.sort(key=lambda t: isinstance(t.unit, IdentifierUnit) and t.unit.path is not None)
            found.append(self._units_of(group, rows, distance))
            for table in group:
                for _ in range(_BACKGROUND_ROWS):
                    background += self._row(table.name, table, None, Style.ANY, None)
        return SyntheticRows(tuple(found), tuple(background))

    def _rows_of(self, table: ProtectedTable, k: int, rows: int, distance: int) -> Population:
        def chunk(style: Style, group: int | None) -> list[Row]:
            return [
                row for _ in range(k) for row in self._row(table.name, table, None, style, group)
            ]

        ends = [chunk(*_ENDS[0]) for _ in range(distance - 1)] + [chunk(*end) for end in _ENDS]
        units = ends + [chunk(Style.ANY, None) for _ in range(max(1, rows // k))]
        return Population(
            frozenset({table.name}), tuple(units), tuple(chunk(*end) for end in _RESERVE)
        )

    def _units_of(self, tables: list[ProtectedTable], rows: int, distance: int) -> Population:
        numbers = itertools.count(1)

        def unit(style: Style, group: int | None, *, is_large: bool) -> list[Row]:
            number = next(numbers)
            made: list[Row] = []
            for table in tables:
                size = 1 + self._choices.below(4)
                if is_large:
                    size = min(3 * (table.max_rows_per_unit or 1) + 2, _MOST_ROWS)
                for place in range(size):
                    key = place if group is None and style is not Style.ANY else group
                    made += self._row(table.name, table, number, style, key)
            return made

        ends = [unit(*_ENDS[0], is_large=True) for _ in range(distance - 1)]
        ends += [unit(*end, is_large=True) for end in _ENDS]
        small = [unit(Style.ANY, None, is_large=False) for _ in range(max(1, rows // 3))]
        reserve = [unit(*end, is_large=True) for end in _RESERVE]
        return Population(
            frozenset(table.name for table in tables), (*ends, *small), tuple(reserve)
        )

    def _row(
        self,
        name: TableName,
        policy: ProtectedTable | None,
        unit: int | None,
        style: Style,
        group: int | None,
    ) -> Iterator[Row]:
        """One row, or none where a key or a reference of the table leaves no room for it."""
        described = self._catalog.tables[name]
        number = next(self._numbers)
        carriers = _carriers(described, policy)
        values: list[str | None] = []
        for column in described.columns:
            if policy is not None and _is_unit_column(policy, column.name):
                value = self._unit_value(policy, column, unit)
                if value is None and (unit is not None or not column.nullable):
                    return
            elif policy is not None and _is_time_of_unit(policy, column.name) and unit is not None:
                value = self._time_of(policy, column, unit)
            elif column.name in carriers:
                value = distinct_value(column, number)
            else:
                own = None if policy is None else policy.columns.get(column.name)
                value = self._referred(described, column, own, unit)
                if value is None:
                    value = synthetic_value(column, own, style, group, self._choices)
            values.append(value)
        row = Row(name, number, tuple(values))
        by_name = {c.name: v for c, v in zip(described.columns, values, strict=True)}
        for key in filter(None, (described.primary_key, *described.unique)):
            held = (name, key, *(by_name[column] for column in key))
            if held in self._keys:
                return
            self._keys.add(held)
        self._by_unit[name, unit].append(row)
        yield row

    def _unit_value(self, policy: ProtectedTable, column: Column, unit: int | None) -> str | None:
        assert isinstance(policy.unit, IdentifierUnit)
        if unit is None:
            return None
        if policy.unit.blocks is not None:  # two units are one person, in two blocks
            unit //= _BLOCKS
        if policy.unit.path is None:
            return distinct_value(column, 1000 + 7 * unit)
        target = self._catalog.tables[policy.unit.path.table]
        return self._held(target, target.primary_key[0], unit)

    def _time_of(self, policy: ProtectedTable, column: Column, unit: int) -> str:
        """Any day of the unit's block."""
        assert isinstance(policy.unit, IdentifierUnit) and policy.unit.blocks is not None
        per = policy.unit.blocks.per
        blocks = self._blocks[policy.unit.kind] or blocks_of(policy)
        block = blocks[min(unit % _BLOCKS, len(blocks) - 1)]
        begins = first_day(block, per)
        day = begins + self._choices.below(first_day(block + 1, per) - begins)
        of_type = day if column.type is SqlType.DATE else day * DAY_SECONDS
        return iso_text(Fraction(of_type), column.type)

    def _referred(
        self, table: Table, column: Column, own: ColumnPolicy | None, unit: int | None
    ) -> str | None:
        """A value of the column that this one refers to: of the same unit, else nobody's."""
        target = None if own is None else own.references
        for key in table.foreign_keys:
            if key.columns == (column.name,):
                target = target or (key.target, key.target_columns[0])
        if target is None or target[0] not in self._policy.tables:
            return None
        described = self._catalog.tables[target[0]]
        return self._held(described, target[1], unit) or self._held(described, target[1], None)

    def _held(self, target: Table, column: str, unit: int | None) -> str | None:
        rows: Sequence[Row] = self._by_unit[target.name, unit]
        place = [c.name for c in target.columns].index(column)
        return self._choices.of(rows).values[place] if rows else None


def _is_unit_column(table: ProtectedTable, column: str) -> bool:
    return isinstance(table.unit, IdentifierUnit) and table.unit.column == column


def _is_time_of_unit(table: ProtectedTable, column: str) -> bool:
    unit = table.unit
    return (
        isinstance(unit, IdentifierUnit) and unit.blocks is not None and unit.blocks.time == column
    )


def _carriers(table: Table, policy: ProtectedTable | None) -> set[str]:
    """In each key one column that can make the key distinct: not the unit's, not a reference."""
    referring = {c for key in table.foreign_keys for c in key.columns}
    carriers: set[str] = set()
    for key in filter(None, (table.primary_key, *table.unique)):
        for column in key:
            is_unit = policy is not None and _is_unit_column(policy, column)
            if not is_unit and column not in referring:
                carriers.add(column)
                break
    return carriers


DATABASE = "audit"
_PAIRS = 4  # units that are replaced, one by one
_TRIES = 3  # random choices of several units, at each distance


class SyntheticDatabase:
    """The synthetic database.

    Given    server_dsn: a superuser's, of a server of our own; rows: of each table beside those of the
             large units; distance: so many units at most are taken out together
    """

    def __init__(
        self,
        server_dsn: str,
        policy: Policy,
        catalog: Catalog,
        *,
        rows: int = 40,
        seed: int = 1,
        distance: int = 1,
    ) -> None:
        self.dsn = make_conninfo(server_dsn, dbname=DATABASE)
        self._catalog = catalog
        self._choices = Choices(seed)
        self._distance = distance
        self._rows: list[tuple[list[Row], list[Row]]] = []  # of each change: out, in
        with psycopg.connect(server_dsn, autocommit=True) as connection:
            name = sql.Identifier(DATABASE)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(name)
            )
        made = populations(policy, catalog, rows, distance, self._choices)
        self._populations = made.populations
        self._connection = psycopg.connect(self.dsn, autocommit=True)
        self._connection.execute("SET TimeZone = 'UTC'")
        for table in policy.tables:
            self._create(table)
        self._copies = synthetic_copies(policy, catalog)
        create_copies(self._connection, self._copies)
        self._insert(made.background)
        for population in self._populations:
            for unit in population.units:
                self._insert(unit)

    def close(self) -> None:
        self._connection.close()

    def changes(self) -> Iterator[AuditedChange]:
        """Every way to a neighbour that is tried, and to databases at greater distances."""
        for population in self._populations:
            units, reserve = population.units, population.reserve
            for unit in units:
                yield self._change(population, [unit], [])
            for unit in reserve:
                yield self._change(population, [], [unit])
            for number, unit in enumerate(units[:_PAIRS]):
                yield self._change(population, [unit], [reserve[number % len(reserve)]])
            for distance in range(2, min(self._distance, len(units)) + 1):
                yield self._change(population, units[:distance], [])
                for _ in range(_TRIES):
                    left = list(units)
                    gone = [left.pop(self._choices.below(len(left))) for _ in range(distance)]
                    yield self._change(population, gone, [])

    @contextmanager
    def applied(self, change: AuditedChange) -> Iterator[None]:
        """The database with the change in it, and after that without it."""
        gone, come = self._rows[change.number]
        self._delete(gone)
        self._insert(come)
        try:
            yield
        finally:
            self._delete(come)
            self._insert(gone)

    def copied(self) -> Mapping[str, CopiedRows]:
        """By prepared copy, what each unit has in it now."""
        return {str(one.made.name): copied_rows(self._connection, one) for one in self._copies}

    def _change(
        self, population: Population, gone: Sequence[list[Row]], come: Sequence[list[Row]]
    ) -> AuditedChange:
        rows = ([row for unit in gone for row in unit], [row for unit in come for row in unit])
        self._rows.append(rows)
        return AuditedChange(len(self._rows) - 1, population.tables, len(gone), len(come))

    def _create(self, name: TableName) -> None:
        described = self._catalog.tables[name]
        columns = [
            sql.SQL("{} {}").format(sql.Identifier(c.name), sql.SQL(sql_type(c)))
            for c in described.columns
        ]
        columns.append(sql.SQL("{} bigint").format(sql.Identifier(NUMBER)))
        keys = [(described.primary_key, "PRIMARY KEY")] if described.primary_key else []
        keys += [(key, "UNIQUE") for key in described.unique]
        for key, word in keys:
            listed = sql.SQL(", ").join(map(sql.Identifier, key))
            columns.append(sql.SQL("{} ({})").format(sql.SQL(word), listed))
        self._connection.execute(
            sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(name.schema))
        )
        self._connection.execute(
            sql.SQL("CREATE UNLOGGED TABLE {} ({})").format(
                sql.Identifier(*name), sql.SQL(", ").join(columns)
            )
        )

    def _insert(self, rows: Sequence[Row]) -> None:
        for table in dict.fromkeys(row.table for row in rows):
            names = [c.name for c in self._catalog.tables[table].columns]
            copy = sql.SQL("COPY {} ({}) FROM STDIN").format(
                sql.Identifier(*table), sql.SQL(", ").join(map(sql.Identifier, [*names, NUMBER]))
            )
            with self._connection.cursor().copy(copy) as stream:
                for row in rows:
                    if row.table == table:
                        stream.write_row((*row.values, str(row.number)))

    def _delete(self, rows: Sequence[Row]) -> None:
        for table in dict.fromkeys(row.table for row in rows):
            numbers = [row.number for row in rows if row.table == table]
            self._connection.execute(
                sql.SQL("DELETE FROM {} WHERE {} = ANY(%s)").format(
                    sql.Identifier(*table), sql.Identifier(NUMBER)
                ),
                (numbers,),
            )
