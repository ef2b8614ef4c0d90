"""Relations at random, wrong ones as well, over the tables of tests.pipeline_world; rows for them; units.

Columns that name a unit or a row are taken more often than others, so that a good part of what is made has
an owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random  # noqa: TID251
from typing import TypeVar

from typing_extensions import assert_never

from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable, PublicTable, RowUnit
from proxy.query.ir.expressions import Cast, ColumnRef, Comparator, Comparison, Constant, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    Frame,
    GroupByUnit,
    Join,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
    WindowFunction,
    scans,
)
from tests.pipeline_world import CATALOG, POLICIES

# The columns that are used; `leg` and `dp` beside `id` name rows.
USED = {
    "people": ("id", "i4", "i2"),
    "trips": ("id", "leg", "i4", "i2"),
    "visits": ("id", "uid", "i4", "i2"),
    "orders": ("id", "uid", "i4", "i2"),
    "members": ("id", "uid", "i4"),
    "notes": ("id", "uid", "t"),
    "calls": ("id", "uid", "i2", "i4"),
    "lines": ("id", "order_id", "i4"),
    "rates": ("k",),
    "places": ("code", "zone"),
}
TYPES = {
    table: {column.name: column.type for column in CATALOG.tables[TableName("w", table)].columns}
    for table in USED
}
_NAMING = ("uid", UNIT_COLUMN, "id", "order_id")
_OF_A_ROW = (WindowFunction.FIRST_VALUE, WindowFunction.LAST_VALUE)
COUNT = Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8)

T = TypeVar("T")


POLICY = POLICIES["world"]


def shown_by(relation: Relation) -> list[ColumnRef]:
    """The columns of a relation, with the types that they have where it is well made."""
    match relation:
        case Scan():
            of_table = TYPES[relation.table.name]
            return [
                ColumnRef(name, of_table[name], None, relation.alias)
                for name in USED[relation.table.name]
            ]
        case Join():
            return shown_by(relation.left) + shown_by(relation.right)
        case Subquery():
            outputs = [(name, one.type or SqlType.TEXT) for name, one in relation.outputs]
            windows = [(window.name, window.type) for window in relation.windows]
            return [ColumnRef(n, kind, None, relation.alias) for n, kind in outputs + windows]
        case GroupByUnit():
            columns = [(UNIT_COLUMN, relation.unit.type)]
            for number, key in enumerate(relation.keys, start=1):
                columns.append((key_column(number), key.type or SqlType.TEXT))
            for number, _ in enumerate(relation.aggregates, start=1):
                columns.append((aggregate_column(number), SqlType.INT8))
            return [ColumnRef(name, kind, None, relation.alias) for name, kind in columns]
        case UnionAll():
            first = relation.parts[0].outputs
            return [ColumnRef(n, e.type or SqlType.TEXT, None, relation.alias) for n, e in first]
        case Truncate():
            return [c for c in shown_by(relation.source) if c.column in relation.columns]
        case _:
            assert_never(relation)


@dataclass(slots=True)
class RelationMaker:
    """Relations of a source of chance; two of one state are the same."""

    random: Random
    number: int = 0

    def relation(self, depth: int) -> Relation:
        """Any relation, of at most so many nodes one in the other."""
        if depth == 0:
            return self.scan()
        if self._sometimes(25):
            return self._truncated_join(depth)
        kinds: Sequence[Callable[[int], Relation]] = (
            *[self._subquery_of] * 4,
            *[self._cut_of] * 4,
            *[self.group] * 2,
            *[self._union] * 2,
            *[self._join] * 6,
            *[lambda _: self.scan()] * 2,
        )
        return self.random.choice(kinds)(depth)

    def condition(self, relation: Relation) -> Expression | None:
        """A comparison of a whole number with a constant; None where there is none."""
        numbers = [column for column in shown_by(relation) if column.type.is_integer]
        if not numbers:
            return None
        comparator = self.random.choice((Comparator.EQ, Comparator.LE, Comparator.LT))
        constant = Constant(Fraction(self.random.randint(1, 3)), SqlType.INT8)
        return Comparison(comparator, self.random.choice(numbers), constant)

    def _sometimes(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def _some(self, these: Iterable[T], count: int | None = None) -> list[T]:
        found = list(these)
        self.random.shuffle(found)
        if not found:
            return []
        return found[: self.random.randint(1, len(found)) if count is None else count]

    def _alias(self, below: Sequence[ColumnRef] = ()) -> str:
        """Mostly a new one; sometimes one that stands below, as planners do."""
        self.number += 1
        if below and self._sometimes(10):
            return self.random.choice(below).relation
        return f"r{self.number}"

    def _naming(self, relation: Relation, percent: int) -> ColumnRef:
        """A column, so often one that may name a unit."""
        columns = shown_by(relation)
        naming = [column for column in columns if column.column in _NAMING]
        preferred = naming and self._sometimes(percent)
        return self.random.choice(naming if preferred else columns)

    def scan(self, tables: Iterable[str] = tuple(USED)) -> Scan:
        """A table."""
        return Scan(self._alias(), TableName("w", self.random.choice(list(tables))))

    def _subquery_of(self, depth: int) -> Subquery:
        return self.subquery(self.relation(depth - 1))

    def subquery(self, source: Relation) -> Subquery:
        """Some of its columns, and sometimes a condition and a window."""
        columns = shown_by(source)
        chosen = self._some(columns)
        if self._sometimes(70):
            chosen = list(dict.fromkeys([*chosen, *(c for c in columns if c.column in _NAMING)]))
        outputs: list[tuple[str, Expression]] = []
        for column in chosen:
            name = column.column if self._sometimes(85) else self.random.choice(("uid", "id", "x"))
            if name in dict(outputs) and self._sometimes(95):
                name = f"x{len(outputs)}"
            is_cast = column.type.is_integer and self._sometimes(5)
            outputs.append((name, Cast(column, SqlType.INT8) if is_cast else column))
        where = self.condition(source) if self._sometimes(40) else None
        windows = (self._window(source),) if self._sometimes(35) else ()
        return Subquery(self._alias(columns), source, where, tuple(outputs), windows=windows)

    def _window(self, source: Relation) -> WindowColumn:
        columns = shown_by(source)
        numbers = [column for column in columns if column.type.is_integer]
        function = self.random.choice(
            (
                *[WindowFunction.ROW_NUMBER] * 2,
                WindowFunction.RANK,
                WindowFunction.FIRST_VALUE,
                WindowFunction.LAST_VALUE,
                WindowFunction.AGGREGATE,
            )
        )
        if function in _OF_A_ROW and not numbers:
            function = WindowFunction.ROW_NUMBER
        is_value = function in _OF_A_ROW
        operand = self.random.choice(numbers) if is_value else None
        tells = function in (WindowFunction.ROW_NUMBER, *_OF_A_ROW) or self._sometimes(20)
        ties = columns if self._sometimes(60) else self._some(columns)
        order = self._some(columns, self.random.randint(0, 2))
        return WindowColumn(
            name="w1",
            function=function,
            type=SqlType.INT8 if operand is None else operand.type,
            partition=tuple(self._naming(source, 80) for _ in range(self.random.choice((1, 1, 2)))),
            order=tuple(OrderTerm(column, False, False) for column in order),
            frame=Frame.DEFAULT,
            operand=operand,
            aggregate=COUNT if function is WindowFunction.AGGREGATE else None,
            ties=tuple(ties) if tells else (),
            rows=100,
        )

    def _cut_of(self, depth: int) -> Truncate:
        source = self.relation(depth - 1)
        can_be_cut = isinstance(source, Scan | Subquery | UnionAll | Truncate)
        return self._cut(source if can_be_cut else self.subquery(source))  # type: ignore[arg-type]

    def _cut(self, source: Scan | Subquery | UnionAll | Truncate) -> Truncate:
        columns = shown_by(source)
        names = tuple(dict.fromkeys(column.column for column in columns))
        if self._sometimes(15):
            names = tuple(self._some(names))
        by = self._naming(source, 50) if self._sometimes(90) else None
        ids = [column for column in columns if column.column in ("id", "leg")]
        order = self.random.choice((columns, columns, ids, self._some(columns))) or columns[:1]
        present = [by] if by is not None and self._sometimes(80) else []
        if self._sometimes(30):
            present.append(self._naming(source, 60))
        return Truncate(
            source,
            by,
            self.random.choice((None, 1, 2, 2)),
            tuple(order),
            tuple(present),
            names,
            "place" if self._sometimes(95) else self.random.choice(names),
            with_null=self._sometimes(15),
            where=self.condition(source) if self._sometimes(10) else None,
        )

    def group(self, depth: int) -> GroupByUnit:
        """Rows by their unit, and by some columns."""
        source = self.relation(depth - 1)
        keys = self._some(shown_by(source), self.random.choice((0, 0, 1, 2)))
        where = self.condition(source) if self._sometimes(30) else None
        unit = self._naming(source, 90)
        return GroupByUnit(self._alias(), source, where, unit, (COUNT,), 100, tuple(keys))

    def _union(self, depth: int) -> Relation:
        first = replace(self.subquery(self.relation(depth - 1)), windows=())
        same = isinstance(first.source, Scan) and self._sometimes(40)
        source = first.source if same else self.relation(depth - 1)
        outputs: list[tuple[str, Expression]] = []
        for name, expression in first.outputs:
            fit = [column for column in shown_by(source) if column.type is expression.type]
            if not fit:
                return first
            alike = [column for column in fit if column.column == name]
            chosen = (alike or fit)[0] if self._sometimes(80) else self.random.choice(fit)
            renamed = name if self._sometimes(90) else self.random.choice(first.outputs)[0]
            outputs.append((renamed, chosen))
        second = Subquery(self._alias(), source, None, tuple(outputs))
        return UnionAll(self._alias(), (first, second))

    def _join(self, depth: int) -> Join:
        left = self.relation(depth - 1)
        right = self.relation(self.random.randint(0, depth - 1))
        pairs = []
        for _ in range(self.random.choice((1, 1, 2, 2))):
            column = self._naming(left, 50)
            fit = [one for one in shown_by(right) if _meets(column.type, one.type)]
            if fit:
                naming = [one for one in fit if one.column in _NAMING]
                preferred = naming and self._sometimes(70)
                pairs.append((column, self.random.choice(naming if preferred else fit)))
        rest = self.condition(right) if self._sometimes(15) else None
        return _join(left, right, self._sometimes(30), tuple(pairs), rest)

    def _cut_table(self) -> tuple[Scan | Truncate, ColumnRef]:
        """A table that is cut by its unit, if it has one, and mostly by a column; and that column."""
        tables = [t for t in USED if t not in ("rates", "places", "lines", "notes")]
        scan = self.scan(tables)
        columns, names = shown_by(scan), USED[scan.table.name]
        ids = tuple(column for column in columns if column.column in ("id", "leg"))
        found: Scan | Truncate = scan
        for unit in columns:
            if unit.column == "uid":
                most = self.random.choice((1, 2))
                found = Truncate(found, unit, most, ids, (unit,), names, "unit_place")
        numbers = [column for column in columns if column.type.is_integer]
        plain = [c for c in numbers if c.column in ("i2", "i4") or self._sometimes(30)]
        by = self.random.choice(plain or numbers)
        if self._sometimes(90):
            present = () if self._sometimes(40) else (by,)
            most_of_value = self.random.choice((None, 1, 2))
            keeps_null = self._sometimes(30)
            found = Truncate(
                found, by, most_of_value, ids, present, names, "place", with_null=keeps_null
            )
        return found, by

    def _truncated_join(self, depth: int) -> Join:
        (left, a), (right, b) = self._cut_table(), self._cut_table()
        join = _join(left, right, self._sometimes(40), ((a, b),))
        if depth > 2 and self._sometimes(60):
            (third, c), d = self._cut_table(), self.random.choice((a, b))
            is_outer = self._sometimes(40)
            if self._sometimes(70):
                join = _join(join, third, is_outer, ((d, c),))
            else:
                join = _join(third, join, is_outer, ((c, d),))
        return join

    def rows(self) -> str:
        """SQL that fills the tables with few rows of few units, some of nobody."""
        return "; ".join(
            (
                self._insert("people", 2, 7, lambda n: f"{n}, {self._value()}, {self._value()}"),
                self._insert(
                    "trips",
                    2,
                    7,
                    lambda n: f"{(n + 1) // 2}, '{n}', {self._value()}, {self._value()}",
                ),
                *(
                    self._insert(
                        *(table, 3, most),
                        lambda n: f"{n}, {self._person()}, {self._value()}, {self._value()}",
                    )
                    for table, most in (("visits", 12), ("orders", 8))
                ),
                self._members(),
                self._insert("notes", 2, 6, lambda n: f"{n}, '{self._of('abc')}', {self._text()}"),
                self._insert(
                    *("calls", 3, 8),
                    lambda n: (
                        f"{n}, {self._person()}, {self.random.randint(1, 5)}, {self._value()}"
                    ),
                ),
                self._insert(
                    *("lines", 3, 9), lambda n: f"{n}, {self._of('01234')}, {self._value()}"
                ).replace(", 0,", ", NULL,"),
                self._insert("rates", 3, 3, str),
                self._insert("places", 3, 3, lambda n: f"'{'xyw'[n - 1]}', '{self._of('ns')}'"),
            )
        )

    def _insert(self, table: str, least: int, most: int, row: Callable[[int], str]) -> str:
        count = self.random.randint(least, most)
        values = ", ".join(f"({row(number)})" for number in range(1, count + 1))
        return f"INSERT INTO {table} ({', '.join(USED[table])}) VALUES {values}"

    def _members(self) -> str:
        people = self._some("1234", 4)
        whose = [*people, "NULL", "NULL"]
        return self._insert("members", 6, 6, lambda n: f"{n}, {whose[n - 1]}, {self._value()}")

    def _of(self, these: Sequence[str]) -> str:
        return self.random.choice(these)

    def _person(self) -> str:
        return self._of(("NULL", "1", "2", "2", "3", "3", "4"))

    def _value(self) -> str:
        return self._of(("NULL", "1", "1", "2", "3"))

    def _text(self) -> str:
        return self._of(("NULL", "'x'"))


def _join(
    left: Relation,
    right: Relation,
    left_outer: bool,
    equal: tuple[tuple[ColumnRef, ColumnRef], ...],
    rest: Expression | None = None,
) -> Join:
    """One as the planner would say of its sides."""
    is_seeded = not any(_is_public(side) for side in (left, right))
    return Join(left, right, left_outer, equal, rest, is_seeded=is_seeded)


def _is_public(relation: Relation) -> bool:
    return all(isinstance(POLICY.tables[scan.table], PublicTable) for scan in scans(relation))


def _meets(one: SqlType, other: SqlType) -> bool:
    return one is other or (one.is_integer and other.is_integer)


@dataclass(frozen=True, slots=True)
class Deletion:
    """A unit that goes: of which kind, which one, the statement."""

    kind: str
    who: object
    sql: str


def _person(number: int) -> Deletion:
    theirs = f"SELECT id FROM w.orders WHERE uid = {number}"
    tables = ("orders", "visits", "members", "calls")
    statements = [f"DELETE FROM w.lines WHERE order_id IN ({theirs})"]
    statements += [f"DELETE FROM w.{table} WHERE uid = {number}" for table in tables]
    return Deletion("person", number, "; ".join(statements))


def _trips(first: int) -> Deletion:
    legs = ", ".join(f"'{leg}'" for leg in range(first, first + 3))
    return Deletion("trips", first, f"DELETE FROM w.trips WHERE leg IN ({legs})")


DELETIONS = (
    *map(_person, (1, 2, 3, 4)),
    *(Deletion("author", a, f"DELETE FROM w.notes WHERE uid = '{a}'") for a in "abc"),
    *(Deletion("people", n, f"DELETE FROM w.people WHERE id = {n}") for n in (1, 2, 3)),
    *map(_trips, (1, 2, 4)),
)


def units_are_what_the_policy_says() -> bool:
    """Whether deletions are of the units of the policy."""
    units = {
        name.name: table.unit
        for name, table in POLICY.tables.items()
        if isinstance(table, ProtectedTable)
    }
    persons = ("orders", "visits", "members", "calls")
    return (
        all(units[table] == IdentifierUnit("person", "uid") for table in persons)
        and units["notes"] == IdentifierUnit("author", "uid")
        and (units["people"], units["trips"]) == (RowUnit(1), RowUnit(3))
    )
