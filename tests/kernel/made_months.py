"""Blocks at random over tables whose units are a person in a block of time; rows in several of these blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random  # noqa: TID251

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.units_in_time import InTime, in_time
from proxy.policy.policy_model import BlockLength
from proxy.query.ir.expressions import Cast, Clamped, ColumnRef, DateTrunc, Expression
from proxy.query.ir.relations import Scan, Subquery
from tests.kernel.examples import TIMED
from tests.kernel.made_values import ValueMaker, _Source
from tests.pipeline_world import CATALOG

# By table: the column of its time.
TIMES = {"visits": "ts", "calls": "d", "orders": "tz"}
_DAYS = (
    *("2001-01-01", "2001-01-09", "2001-01-31", "2001-02-01", "2001-02-14", "2001-02-28") * 4,
    *("2001-03-01", "2001-03-31", "2001-04-01"),
    *("1999-12-31", "2000-01-01", "2020-02-01", "infinity"),
)
_OTHERS = ("i2", "i4", "t", "b", "n")
_STORED = {
    "i2": ("1", "1", "2"),
    "i4": ("0", "1", "2", "100"),
    "t": ("'x'", "'y'"),
    "b": ("true", "false"),
    "n": ("1", "1.0", "2.5"),
}
_FIRST_DAYS = ("2001-01-01", "2001-02-01", "2001-03-01", "2001-04-01", "2000-01-01")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneUnit:
    """line: the budget that pays for the unit; sql: takes it away."""

    line: str
    sql: str


def units() -> Iterator[GoneUnit]:
    """Persons in blocks: visits and calls are of one unit, orders of another."""
    for person in (1, 2, 3):
        for month in ("2001-01", "2001-02", "2001-03", "2000-01"):
            of = f"uid = {person} AND to_char({{}}, 'YYYY-MM') = '{month}'"
            tables = [
                f"DELETE FROM w.{one} WHERE {of.format(TIMES[one])}" for one in ("visits", "calls")
            ]
            yield GoneUnit(line=f"person {month}", sql="; ".join(tables))
        for quarter in ("2001-Q1", "2001-Q2"):
            there = f"uid = {person} AND to_char(tz, 'YYYY-\"Q\"Q') = '{quarter}'"
            yield GoneUnit(line=f"person {quarter}", sql=f"DELETE FROM w.orders WHERE {there}")


class MonthMaker(ValueMaker):
    """Given    random: two of one state make the same."""

    def __init__(self, random: Random) -> None:
        super().__init__(random, TIMED)

    def rows(self) -> str:
        inserts = []
        for table, time in TIMES.items():
            rows = []
            for number in range(1, self._random.randint(12, 40)):
                own = [str(number), self._random.choice(("NULL", "1", "1", "2", "2", "3"))]
                at = self._random.choice(("NULL", *(f"'{day}'" for day in _DAYS)))
                if time != "d" and self._sometimes(40) and at != "NULL" and "inf" not in at:
                    at = f"{at[:-1]} 23:59:59.999999'"
                others = [self._random.choice(("NULL", *_STORED[one])) for one in _OTHERS]
                rows.append(f"({', '.join([*own, at, *others])})")
            names = ", ".join(("id", "uid", time, *_OTHERS))
            inserts.append(f"INSERT INTO w.{table} ({names}) VALUES {', '.join(rows)}")
        inserts.append("INSERT INTO w.rates VALUES (1, 3.5), (2, NULL)")
        return "; ".join(inserts)

    def source(self, depth: int) -> _Source:
        if depth > 0:
            return super().source(depth)
        if self._sometimes(8):
            return self._plain(self._random.choice(("rates", "visits", "people")))
        return self._timed(self._random.choice(tuple(TIMES)))

    def _plain(self, table: str) -> _Source:
        alias = self._alias()
        columns = [
            ColumnRef(column.name, column.type, None, alias)
            for column in CATALOG.tables[TableName("w", table)].columns
            if column.name in ("id", "uid", "k", *_OTHERS)
        ]
        return _Source(relation=Scan(alias, TableName("w", table)), columns=columns)

    def _timed(self, table: str) -> _Source:
        below = self._plain(table)
        assert isinstance(below.relation, Scan)
        known = in_time(below.relation, TIMED)
        assert known is not None
        alias, time = self._alias(), known.time
        outputs: list[tuple[str, Expression]] = [("uid", self._unit(known))]
        outputs += [("who" if one.column == "uid" else one.column, one) for one in below.columns]
        outputs.append((time.column, time))
        relation = Subquery(
            alias, below.relation, known.within(self._blocks(known)), tuple(outputs)
        )
        kinds = {"uid": SqlType.TEXT, "who": known.person.type}
        columns = [
            ColumnRef(name, kinds.get(name) or part.type or SqlType.TEXT, None, alias)
            for name, part in outputs
        ]
        return _Source(relation=relation, columns=columns)

    def _unit(self, known: InTime) -> Expression:
        """Mostly what holds the unit."""
        return Cast(known.person, SqlType.TEXT) if self._sometimes(5) else known.name

    def _blocks(self, known: InTime) -> range:
        """Few of them, or all."""
        if self._sometimes(20):
            return known.every
        length = 3 if known.blocks.per is BlockLength.QUARTER else 1
        january = 2001 * 12 // length
        first = january + self._random.choice((0, 0, 1, 2)) // length
        return range(first, first + self._random.choice((1, 1, 2)))

    def _typed_keys(self, columns: list[ColumnRef]) -> tuple[KeyPlan, ...]:  # type: ignore[override]
        found = list(
            super()._typed_keys([one for one in columns if one.column in ("i2", "b", "t", "n")])
        )
        times = [one for one in columns if one.type.is_time]
        if times and self._sometimes(80):
            found[self._random.choice((0, 0, 1)) :] = [self._of_time(self._random.choice(times))]
        return tuple(found)

    def _of_time(self, column: ColumnRef) -> KeyPlan:
        unit = self._random.choice(("day", "week", "week", "month", "quarter", "year"))
        day = 1 if column.type is SqlType.DATE else 86_400
        ends = sorted(self._random.sample((10_957, 11_323, 11_340, 11_354, 11_382, 18_262), 2))
        low, high = ends if self._sometimes(40) else (10_957, 18_262)
        operand: Expression = Clamped(
            column, Fraction(low * day), Fraction(high * day), column.type
        )
        if column.type is not SqlType.TIMESTAMP and self._sometimes(50):
            operand = Cast(operand, SqlType.TIMESTAMP)
        elif self._sometimes(30):
            operand = Cast(operand, SqlType.DATE)
        below = operand.type
        kind = SqlType.TIMESTAMP if below is SqlType.TIMESTAMP else SqlType.TIMESTAMPTZ
        zone = "" if kind is SqlType.TIMESTAMP else "+00"
        listed = tuple(f"{one} 00:00:00{zone}" for one in _FIRST_DAYS)
        return KeyPlan(
            expression=DateTrunc(unit, operand, kind),
            type=kind,
            type_name=kind.sql,
            values=None if self._sometimes(50) else listed[: self._random.randint(1, 5)],
            is_long=False,
        )
