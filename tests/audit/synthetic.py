"""Small hostile databases in a real PostgreSQL, each with its neighbours, one schema per state.

A base holds, in every table of tests.pipeline_world, the same rows: NULLs, NaN, infinities, extremes, units
with one
row and one with a thousand. Beside each base `x` stand its neighbours `x_1`, `x_2`, ...: the base without the
rows of one unit (or without k rows), and `x_order`: the same rows inserted the other way round.
"""

from __future__ import annotations

import random  # noqa: TID251  synthetic data must be the same twice
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import psycopg

from tests.audit.clock_changes import MOMENTS
from tests.audit.selected_groups import show
from tests.pipeline_world import CATALOG, DATA, FEES, MOODS, PLACES, PROTECTED, RATES
from tests.stored_types import MOOD, columns_sql, create_types

_VALUES: dict[str, tuple[str, ...]] = {
    "i2": ("NULL", "-32768", "32767", "1", "2", "1", "2", "-5", "10", "3"),
    "i4": ("NULL", "-2147483648", "2147483647", "0", "100", "42", "7"),
    "i8": ("NULL", "-9223372036854775808", "9223372036854775807", "-1000", "5000", "4", "25"),
    "n2": ("NULL", "999999.99", "-999999.99", "0", "175", "174.99", "0.01", "'NaN'"),
    "n": (
        *("NULL", "'NaN'", "'Infinity'", "'-Infinity'", "1e131071", "-1e131071", "1e-16383"),
        *("7.5", "-2.5", "0.12345678901234567890"),
    ),
    "f4": ("NULL", "'NaN'", "'Infinity'", "'-Infinity'", "3.4e38", "1e-45", "0.5", "1", "'-0'"),
    "f8": (
        *("NULL", "'NaN'", "'Infinity'", "'-Infinity'", "1.7e308", "-1.7e308", "5e-324", "'-0'"),
        *("99.995", "-100", "0.285"),
    ),
    "t": ("NULL", "'x'", "'y'", "'z'", "'x'", "'unlisted'", "''"),
    "c": ("NULL", "'a'", "'bb'", "'a '", "'zz'"),
    "s": ("NULL", "''", "'abc'", "E'SECRET\\\\'", "'ab%_'", "'\U0001f600'", "'x'"),
    "b": ("NULL", "true", "false"),
    "d": (
        *("NULL", "'infinity'", "'-infinity'", "'4713-01-01 BC'", "'5874897-12-31'"),
        *("'2000-01-01'", "'2020-01-01'", "'2010-07-08'"),
    ),
    "ts": (
        *("NULL", "'infinity'", "'-infinity'", "'4713-01-01 00:00:00 BC'"),
        *("'294276-12-31 23:59:59.999999'", "'2010-07-08 09:10:11.5'", "'2000-01-01'"),
    ),
    "tz": (
        *("NULL", "'infinity'", "'-infinity'", "'4713-01-02 00:00:00+00 BC'"),
        *("'294276-12-30 23:59:59.999999+00'", "'2010-07-08 09:10:11.5+03'", "'2019-12-31+00'"),
    ),
    "free": ("NULL", "-2147483648", "2147483647", "5"),
    "e": (
        "NULL",
        "'low'",
        "'high'",
        "'low'",
        "'x'",
        "'a'",
        "'a '",
        "'unlisted'",
        "''",
        "'S\u00fc_%'",
    ),
}
# Drawn beside the others, so that theirs stay what they are.
_COMPOUND: dict[str, tuple[str, ...]] = {
    "j": (
        *("NULL", "'null'", "'{}'", "'[]'", "'1'", "'\"x\"'", "'{\"k\": null}'"),
        *('\'{"k": "x", "n": 7}\'', '\'{"k": "y", "o": {"k": "x"}}\''),
        *('\'{"k": [1, "x", {"k": "x"}], "n": 1e300}\'', '\'["k", ["x"], 7]\''),
    ),
    "ta": (
        *("NULL", "'{}'", "'{x}'", "'{x,y}'", "'{NULL}'", "'{NULL,x}'", "'{unlisted,x,x,\"\"}'"),
        *("'{{x,y},{z,NULL}}'", "'[0:1]={x,z}'"),
    ),
    "iv": (
        *("NULL", "'1 month'", "'30 days'", "'-178000000 years'", "'2147483647 days'", "'0'"),
        *("'5 minutes 0.25 seconds'", "'-1 mons +30 days -00:00:00.000001'", "'720:00:00'"),
    ),
    "tod": (
        *("NULL", "'00:00'", "'24:00:00'", "'23:59:59.999999'", "'09:30'", "'09:30:00.25'"),
        "'12:00'",
    ),
    "ia": (
        *("NULL", "'{}'", "'{1}'", "'{1,2,NULL}'", "'{2147483647,-2147483648}'", "'{{1,7},{7,7}}'"),
        "'[-1:0]={7,1}'",
    ),
}
_TAME: dict[str, tuple[str, ...]] = {
    "i2": ("NULL", "-5", "10", "1", "2", "2"),
    "i4": ("NULL", "0", "100", "42", "7"),
    "i8": ("NULL", "-1000", "5000", "40", "250"),
    "n2": ("NULL", "0", "175", "174.99", "0.01"),
    "n": ("NULL", "7.5", "-2.5", "0.25", "-1.125"),
    "f4": ("NULL", "0", "0.5", "1", "0.25"),
    "f8": ("NULL", "99.5", "-100", "0.25", "-0.5"),
    "t": ("NULL", "'x'", "'y'", "'z'"),
    "c": ("NULL", "'a'", "'bb'"),
    "s": ("NULL", "''", "'abc'", "'x'"),
    "b": ("NULL", "true", "false"),
    "d": ("NULL", "'2000-01-01'", "'2020-01-01'", "'2010-07-08'"),
    "ts": ("NULL", "'2010-07-08 09:10:11.5'", "'2000-01-01'"),
    "tz": ("NULL", "'2010-07-08 09:10:11.5+00'", "'2019-12-31+00'"),
    "free": ("NULL", "3", "4", "5"),
    "e": ("NULL", "'low'", "'high'", "'x'"),
}
_AROUND_CHANGES = 0.4  # of the times
_OF_CLOCKS = [(place, c.name) for place, c in enumerate(DATA) if c.name in MOMENTS]
# A schema without neighbours: two rows at most of every unit, none of nobody, all values within their bounds.
MILD = "mild"
_PUBLIC = ";\n".join(
    (
        "CREATE UNLOGGED TABLE SCHEMA.regions (t text)",
        "CREATE UNLOGGED TABLE SCHEMA.places (code text, zone text)",
        f"INSERT INTO SCHEMA.places VALUES {', '.join(map(str, PLACES))}",
        "CREATE UNLOGGED TABLE SCHEMA.rates (k bigint, fee numeric(8,2))",
        "INSERT INTO SCHEMA.rates VALUES "
        + ", ".join(f"({k}, {fee})" for k, fee in zip(RATES, FEES, strict=True)),
        f"CREATE UNLOGGED TABLE SCHEMA.moods (e {MOOD})",
        f"INSERT INTO SCHEMA.moods VALUES {', '.join(f'({label!r})' for label in MOODS)}",
    )
)


@dataclass(frozen=True)
class Row:
    id: int
    unit: int | None  # of all tables with identifiers; text of it in notes
    data: tuple[str, ...]


@dataclass(frozen=True)
class Base:
    """schemas of the base itself, of the base without one unit, without one row, without three rows (of
    trips; of one in the other tables), and of the base in another order. crowded: only for questions that
    multiply tables (True: its largest unit has dozens of rows, pairs of them by the thousand), or only for the
    others (False: a thousand rows, of which a million pairs would take minutes); None: for all."""

    name: str
    crowded: bool | None
    without_unit: tuple[str, ...]
    without_row: tuple[str, ...]
    without_three: tuple[str, ...]
    reordered: str
    background: str  # without the rows that have no unit

    def small(self) -> Base:
        """With a few of its neighbours."""
        return replace(
            self,
            without_unit=self.without_unit[:3],
            without_row=self.without_row[:3],
            without_three=self.without_three[:2],
        )


def _rows(
    generator: random.Random, sizes: dict[int | None, int], pool: dict[str, tuple[str, ...]]
) -> list[Row]:
    rows: list[Row] = []
    beside, clocks, pool = random.Random(9), random.Random(10), {**pool, **_COMPOUND}
    for unit, size in sizes.items():
        for _ in range(size):
            data = [
                (beside if column.name in _COMPOUND else generator).choice(pool[column.name])
                for column in DATA
            ]
            for place, name in _OF_CLOCKS:
                if clocks.random() < _AROUND_CHANGES:
                    data[place] = clocks.choice(MOMENTS[name])
            rows.append(Row(len(rows) + 1, unit, tuple(data)))
    generator.shuffle(rows)
    return rows


def _extreme(unit: int, column_values: dict[str, str], count: int, start: int) -> list[Row]:
    data = tuple(column_values.get(column.name, "NULL") for column in DATA)
    return [Row(start + i, unit, data) for i in range(count)]


def _unit_of(table: str, unit: int | None) -> str | None:
    if unit is None:
        return "NULL"
    if table == "notes":
        return f"'author {unit}'"
    # Whole multiples of 2^32 + 1: equal halves, which hashint8extended alone would not tell apart.
    return str(unit * (2**32 + 1)) if table == "visits" else str(unit)


def _orders(rows: list[Row]) -> dict[int, int]:
    """Line -> order: the lines of a unit are in its first orders, two in each."""
    places: dict[int | None, int] = {}
    first: dict[int | None, list[int]] = {}
    found: dict[int, int] = {}
    for row in rows:
        first.setdefault(row.unit, []).append(row.id)
        place = places[row.unit] = places.get(row.unit, -1) + 1
        found[row.id] = first[row.unit][place // 2]
    return found


def _values(table: str, rows: list[Row]) -> str:
    """Each row after its place among all rows."""
    lines: list[str] = []
    seen: set[int] = set()
    orders = _orders(rows)
    for place, row in enumerate(rows):
        before = [str(place)]
        if table not in ("events", "trips"):
            before.append(str(row.id))
        if table == "lines":  # of nobody's rows one leads to an order of nobody, one nowhere
            nowhere = row.unit is None and row.id % 2
            before.append("-1" if nowhere else str(orders[row.id]))
        if table == "trips":
            before += [str(row.id // 2), f"'leg {row.id % 2}'"]
        if table in ("visits", "orders", "notes", "members", "calls"):
            if table == "members" and row.unit is not None:
                if row.unit in seen:
                    continue
                seen.add(row.unit)
            before.append(str(_unit_of(table, row.unit)))
        lines.append(f"({', '.join((*before, *row.data))})")
    return ",\n".join(lines)


_Connection = psycopg.Connection[tuple[object, ...]]


def _plant_all(connection: _Connection, schema: str, rows: list[Row]) -> None:
    """What all states are taken from."""
    statements = [f"CREATE SCHEMA {schema}"]
    for name in PROTECTED:
        columns = columns_sql(CATALOG.tables[name])
        full = f"{schema}.{name.name}"
        statements.append(f"CREATE UNLOGGED TABLE {full} (place integer, {columns})")
        statements.append(f"INSERT INTO {full} VALUES {_values(name.name, rows)}")
    connection.execute(";\n".join(statements).encode())


def _plant(
    connection: _Connection,
    schema: str,
    origin: str,
    gone: Iterable[int] = (),
    trips_gone: Iterable[int] | None = None,
    backwards: bool = False,
) -> None:
    """gone: the places of the rows that are not there; trips_gone: of that table, where they are others.

    Keys are left out: the rows keep to them, and five hundred tables are made sooner without.
    """
    statements = [f"CREATE SCHEMA {schema}"]
    without = {name.name: gone for name in PROTECTED}
    if trips_gone is not None:
        without["trips"] = trips_gone
    for name in PROTECTED:
        columns = ", ".join(column.name for column in CATALOG.tables[name].columns)
        left = f"place <> ALL ('{{{','.join(map(str, without[name.name]))}}}'::integer[])"
        order = f"ORDER BY place {'DESC' if backwards else 'ASC'}"
        taken = f"SELECT {columns} FROM {origin}.{name.name} WHERE {left} {order}"
        statements.append(f"CREATE UNLOGGED TABLE {schema}.{name.name} AS {taken}")
    statements.append(_PUBLIC.replace("SCHEMA", schema))
    connection.execute(";\n".join(statements).encode())


def plant_rows(connection: _Connection, name: str, rows: list[Row]) -> str:
    """All rows in the schema of that name. Gives the schema from which states without some are taken."""
    origin = f"{name}_all"
    _plant_all(connection, origin, rows)
    _plant(connection, name, origin)
    return origin


def _neighbours(
    connection: _Connection, name: str, crowded: bool | None, rows: list[Row], most: int
) -> Base:
    generator = random.Random(name)
    units = list(dict.fromkeys(row.unit for row in rows if row.unit is not None))
    made: dict[str, list[str]] = {"unit": [], "row": [], "three": []}

    def of(unit: int | None) -> list[int]:
        return [place for place, row in enumerate(rows) if row.unit == unit]

    def add(kind: str, gone: Iterable[int], trips_gone: Iterable[int] | None = None) -> None:
        schema = f"{name}_{kind}_{len(made[kind]) + 1}"
        _plant(connection, schema, origin, gone, trips_gone)
        made[kind].append(schema)

    origin = plant_rows(connection, name, rows)
    for unit in units:
        add("unit", of(unit))
    chosen = list(
        dict.fromkeys([0, len(rows) - 1, *generator.sample(range(len(rows)), min(most, len(rows)))])
    )
    for place in chosen[: most + 2]:
        add("row", [place])
    for _ in range(most if len(rows) >= 3 else 0):
        gone = generator.sample(range(len(rows)), 3)
        add("three", [min(gone)], gone)
    _plant(connection, f"{name}_order", origin, backwards=True)
    _plant(connection, f"{name}_nobody", origin, of(None))
    return Base(
        name,
        crowded,
        *(tuple(made["unit"]), tuple(made["row"]), tuple(made["three"])),
        *(f"{name}_order", f"{name}_nobody"),
    )


def _bases() -> Iterator[tuple[str, bool | None, list[Row], int]]:
    generator = random.Random(7)
    sizes: dict[int | None, int] = {1: 1000, 2: 9, 3: 5, 4: 1, 5: 12, 6: 1, None: 4}
    yield "hostile", False, _rows(generator, sizes, _VALUES), 4
    # One unit at every upper end and one at every lower end, in all groups, far above every bound of rows.
    high = {"i2": "2", "i4": "100", "i8": "5000", "n2": "175", "n": "7.5", "f4": "1", "f8": "100"}
    high |= {"b": "true", "t": "'x'", "c": "'a'", "d": "'2020-01-01'", "ts": "'2020-01-01'"}
    high |= {"tz": "'2020-01-01+00'", "s": "'abc'", "e": "'high'"}
    low = {"i2": "1", "i4": "-5", "i8": "-1000", "n2": "-1", "n": "-2.5", "f4": "0", "f8": "-100"}
    low |= {"b": "false", "t": "'y'", "c": "'bb'", "d": "'2000-01-01'", "ts": "'2000-01-01'"}
    low |= {"e": "'low'", "tz": "'2010-11-07 05:30+00'"}
    rows = _extreme(11, high, 40, 1)
    for number, t in enumerate(("'x'", "'y'", "'z'", "NULL")):
        rows += _extreme(11, {**high, "t": t, "b": "false"}, 3, 100 + 10 * number)
        rows += _extreme(12, {**low, "t": t, "c": "'a'"}, 9, 200 + 10 * number)
    rows += _extreme(13, low, 40, 300) + _extreme(14, {}, 2, 400) + _extreme(15, high, 1, 500)
    yield "ends", None, rows, 3
    yield "tame", None, _rows(generator, {1: 3, 2: 2, 3: 1, 4: 6, 5: 2, None: 1}, _TAME), 2
    yield "alone", None, _extreme(1, high, 7, 1), 1
    sizes = {1: 45, 2: 9, 3: 5, 4: 1, 5: 12, 6: 1, None: 4}
    yield "crowd", True, _rows(generator, sizes, _VALUES), 2


def plant(dsn: str) -> tuple[Base, ...]:
    """All bases and their neighbours, in the database of the dsn."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(create_types().encode())
        sizes: dict[int | None, int] = {unit: unit % 2 + 1 for unit in range(1, 9)}
        plant_rows(connection, MILD, _rows(random.Random(8), sizes, _TAME))
        connection.execute(f"UPDATE {MILD}.rates SET fee = least(greatest(fee, 0), 50)".encode())
        bases = tuple(_neighbours(connection, *base) for base in _bases())
        for schema in (MILD, "tame"):
            show(connection, schema)
        return bases
