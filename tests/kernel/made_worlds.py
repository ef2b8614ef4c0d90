"""Worlds at random: in each tables have other units, keys, references and copies; and rows for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random  # noqa: TID251

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, RowBound, Table, TableName
from proxy.kernel.world import World
from proxy.policy.policy_model import (
    IdentifierUnit,
    PreparedCopy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    UnitPath,
)
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import CopyRead, Scan, Subquery, Truncate
from tests.kernel.made_relations import Deletion, RelationMaker, shown_by
from tests.pipeline_world import POLICIES, SCHEMA

_UNITS = {
    SqlType.INT4: ("1", "2", "3", "4"),
    SqlType.INT8: ("1", "2", "3", "4"),
    SqlType.NUMERIC: ("1", "1.5", "2", "3"),
    SqlType.TEXT: ("'a'", "'b'", "'c'", "'d'"),
    SqlType.VARCHAR: ("'a'", "'a '", "'b'", "'c'"),
    SqlType.BPCHAR: ("'aa'", "'bb'", "'cc'", "'dd'"),
}
_TYPE_NAMES = {SqlType.NUMERIC: "numeric(8,2)", SqlType.BPCHAR: "character(2)"}
_COPY = "copied"
_OF_ROWS, _PUBLIC, _REFERRING = ("plain", "pairs"), ("codes", "places"), ("lines", "parts")
Keys = tuple[tuple[str, ...], ...]


def _column(name: str, kind: SqlType, nullable: bool = True) -> Column:
    precision, scale = (8, 2) if kind is SqlType.NUMERIC else (None, None)
    return Column(name, kind, _TYPE_NAMES.get(kind, kind.sql), nullable, precision, scale)


def _name(table: str) -> TableName:
    return TableName(SCHEMA, table)


@dataclass(slots=True)
class MadeWorld:
    """random: what it was made with; kept: the most rows of a unit in the prepared copy."""

    random: Random
    tables: dict[str, Table]
    policies: dict[TableName, ProtectedTable | PublicTable]
    person: SqlType
    author: SqlType
    kept: int

    @property
    def world(self) -> World:
        policy = replace(POLICIES["world"], tables=self.policies)
        return World(policy, Catalog({one.name: one for one in self.tables.values()}))

    @property
    def used(self) -> dict[str, tuple[str, ...]]:
        """The columns of all tables but the copy, which is read in place of another."""
        return {
            name: tuple(column.name for column in table.columns)
            for name, table in self.tables.items()
            if name != _COPY
        }

    @property
    def types(self) -> dict[str, dict[str, SqlType]]:
        return {
            name: {column.name: column.type for column in table.columns}
            for name, table in self.tables.items()
        }

    def creation(self) -> str:
        """SQL that puts its tables in place of all others."""
        statements = [f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE", f"CREATE SCHEMA {SCHEMA}"]
        for table in self.tables.values():
            parts = [
                f"{column.name} {column.type_name}{'' if column.nullable else ' NOT NULL'}"
                for column in table.columns
            ]
            if table.primary_key:
                parts.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
            parts += [f"UNIQUE ({', '.join(key)})" for key in table.unique]
            statements.append(f"CREATE TABLE {table.name} ({', '.join(parts)})")
        return "; ".join(statements)

    def rows(self) -> str:
        """SQL that fills the tables with few rows, some of nobody; the copy from what it is of."""
        statements = [f"TRUNCATE {', '.join(str(table.name) for table in self.tables.values())}"]
        for name, table in self.tables.items():
            columns = ", ".join(column.name for column in table.columns)
            if name == _COPY:
                statements.append(
                    f"INSERT INTO {table.name} SELECT {columns} FROM (SELECT *, row_number() OVER"
                    f" (PARTITION BY uid ORDER BY md5(ctid::text)) AS slot FROM {_name('visits')}"
                    f" WHERE uid IS NOT NULL) x WHERE slot <= {self.kept}"
                )
                continue
            for _ in range(self.random.randint(2, 11)):
                values = ", ".join(map(self._value, table.columns))
                insert = f"INSERT INTO {table.name} ({columns}) VALUES ({values})"
                statements.append(f"{insert} ON CONFLICT DO NOTHING")
        return "; ".join(statements)

    def _value(self, column: Column) -> str:
        these: Sequence[str] = ("1", "1", "2", "3")
        if column.name == "uid":
            these = _UNITS[column.type]
        elif column.name in ("id", "order_id"):
            quote = "'" if column.type.is_text else ""
            these = [f"{quote}{number}{quote}" for number in range(1, 6)]
        elif column.name == "leg":
            these = ("'x'", "'y'", "'z'")
        elif column.type is SqlType.NUMERIC:
            these = ("1", "1", "2", "1.5")
        return self.random.choice([*these, "NULL"] if column.nullable else these)

    def deletions(self) -> tuple[Deletion, ...]:
        """One for each unit."""
        return tuple(self._deletions())

    def _deletions(self) -> Iterator[Deletion]:
        orders = _name("orders")
        for unit in _UNITS[self.person]:
            theirs = f"SELECT id FROM {orders} WHERE uid = {unit}"
            statements = [
                f"DELETE FROM {_name(table)} WHERE order_id IN ({theirs})" for table in _REFERRING
            ]
            statements += [
                f"DELETE FROM {_name(table)} WHERE uid = {unit}"
                for table in ("orders", "visits", "members", _COPY)
            ]
            yield Deletion("person", _stored(self.person, unit), "; ".join(statements))
        for unit in _UNITS[self.author]:
            delete = f"DELETE FROM {_name('notes')} WHERE uid = {unit}"
            yield Deletion("author", _stored(self.author, unit), delete)
        for table in _OF_ROWS:
            policy = self.policies[_name(table)]
            assert isinstance(policy, ProtectedTable) and isinstance(policy.unit, RowUnit)
            for number in range(3):
                rows = f"SELECT ctid FROM {_name(table)} ORDER BY md5(ctid::text || '{number}')"
                delete = (
                    f"DELETE FROM {_name(table)} WHERE ctid IN ({rows} LIMIT {policy.unit.rows})"
                )
                yield Deletion(table, number, delete)


def _stored(kind: SqlType, unit: str) -> object:
    """A unit as psycopg gives it."""
    if kind is SqlType.NUMERIC:
        return Decimal(unit).quantize(Decimal("0.01"))
    return int(unit) if kind.is_integer else unit.strip("'")


def made_world(random: Random) -> MadeWorld:
    """Orders, lines and parts that refer to them, visits with a copy, members, notes; plain and public rows."""
    person, author = random.choice([*_UNITS]), random.choice([*_UNITS])
    order = random.choice((SqlType.INT4, SqlType.INT4, SqlType.INT8, SqlType.TEXT))
    made = MadeWorld(random, {}, {}, person, author, random.choice((1, 2, 3)))

    def numbers() -> tuple[Column, ...]:
        return (
            _column("a", random.choice((SqlType.INT4, SqlType.INT8))),
            _column("b", random.choice((SqlType.INT4, SqlType.INT8, SqlType.NUMERIC))),
        )

    def add(
        table: str,
        columns: tuple[Column, ...],
        keys: Keys,
        unique: Keys,
        policy: ProtectedTable | PublicTable,
    ) -> None:
        key = random.choice(keys)
        kept = tuple(
            replace(column, nullable=False) if column.name in key else column
            for column in (*columns, *numbers())
        )
        others = tuple(one for one in unique if random.random() < 0.25 and set(one) != set(key))
        made.tables[table] = Table(_name(table), kept, key, others)
        made.policies[_name(table)] = policy

    def unit(kind: SqlType) -> Column:
        return _column("uid", kind, random.random() < 0.7)

    of_person, of_author = IdentifierUnit("person", "uid"), IdentifierUnit("author", "uid")
    number = _column("id", SqlType.INT4, False)
    leg = _column("leg", SqlType.TEXT, False)
    alike: Keys = (("a",), ("a", "b"))
    add(
        "orders",
        (_column("id", order, False), unit(person)),
        (("id",),),
        (*alike, ("uid", "a")),
        ProtectedTable(_name("orders"), of_person, {}),
    )
    for table in _REFERRING:
        path = UnitPath(_name("orders"), "uid")
        add(
            table,
            (number, _column("order_id", order, random.random() < 0.6), leg),
            (("id",), ("id", "leg"), ("order_id", "leg"), ()),
            (*alike, ("order_id",), ("order_id", "a")),
            ProtectedTable(_name(table), IdentifierUnit("person", "order_id", path), {}),
        )
    add(
        "visits",
        (number, unit(person)),
        (("id",), ("uid", "id"), ()),
        (*alike, ("uid", "b")),
        ProtectedTable(
            _name("visits"), of_person, {}, prepared=PreparedCopy(table=_name(_COPY), max_age=60)
        ),
    )
    add(
        "members",
        (number, unit(person)),
        (("uid",),),
        alike,
        ProtectedTable(_name("members"), of_person, {}),
    )
    add(
        "notes",
        (number, unit(author)),
        (("id",), ("uid", "id"), ()),
        (*alike, ("uid", "b")),
        ProtectedTable(_name("notes"), of_author, {}),
    )
    for table in _OF_ROWS:
        policy = ProtectedTable(_name(table), RowUnit(random.choice((1, 1, 2, 3))), {})
        add(table, (number, leg), (("id",), ("id", "leg"), ()), (*alike, ("leg", "a")), policy)
    for table in _PUBLIC:
        columns = (number, _column("uid", person))
        add(table, columns, (("id",), ()), (*alike, ("uid",)), PublicTable(_name(table)))
    visits = made.tables["visits"]
    filled = tuple(
        replace(column, nullable=column.nullable and column.name != "uid")
        for column in visits.columns
    )
    bound = RowBound(column="uid", rows=made.kept)
    made.tables[_COPY] = replace(visits, name=_name(_COPY), columns=filled, row_bound=bound)
    return made


@dataclass(slots=True)
class WorldMaker(RelationMaker):
    """Relations over the tables of a world, which made_relations has to know (`used`, `types`)."""

    made: MadeWorld | None = None

    def scan(self, tables: Sequence[str] = ()) -> Scan:  # type: ignore[override]
        """A table, sometimes its prepared copy."""
        assert self.made is not None
        found = Scan(self._alias(), _name(self.random.choice(list(tables or self.made.used))))
        if found.table.name == "visits" and self._sometimes(35):
            return replace(found, copy=CopyRead(table=_name(_COPY), as_of="x"))
        return found

    def _cut_table(self) -> tuple[Scan | Truncate | Subquery, ColumnRef]:  # type: ignore[override]
        """A table of people that is cut by its unit, by a column, in the order of a key mostly."""
        assert self.made is not None
        scan = self.scan([name for name in self.made.used if name not in _PUBLIC])
        columns, names = shown_by(scan), self.made.used[scan.table.name]
        table = self.made.tables[scan.table.name if scan.copy is None else _COPY]
        keys = [key for key in (table.primary_key, *table.unique) if key]

        def order() -> tuple[ColumnRef, ...]:
            by = self.random.choice(keys) if keys and self._sometimes(70) else names
            return tuple(column for column in columns if column.column in by)

        found: Scan | Truncate | Subquery = scan
        for unit in columns:
            if unit.column == "uid" and scan.copy is None and self._sometimes(85):
                ordered = order()
                present = (unit, *(one for one in ordered if self._sometimes(70)))
                most = self.random.choice((None, 1, 2))
                found = Truncate(
                    *(found, unit, most, ordered),
                    tuple(dict.fromkeys(present)),
                    names,
                    "unit_place",
                )
        by = self.random.choice([c for c in columns if c.column in "ab" or self._sometimes(40)])
        if self._sometimes(90):
            ordered = order()
            present = () if self._sometimes(40) else (by,)
            present = (*present, *(one for one in ordered if self._sometimes(60)))
            most, keeps_null = self.random.choice((None, 1, 2)), self._sometimes(30)
            found = Truncate(
                *(found, by, most, ordered),
                tuple(dict.fromkeys(present)),
                *(names, "place"),
                with_null=keeps_null,
            )
        if not self._sometimes(20):
            return found, by
        where = self.condition(found) if self._sometimes(60) else None
        outputs = tuple((column.column, column) for column in shown_by(found))
        shown = Subquery(self._alias(), found, where, outputs)
        return shown, next(one for one in shown_by(shown) if one.column == by.column)
