"""Tables of rows that make careless SQL raise: every column at its extremes, in random company."""

from __future__ import annotations

import random  # noqa: TID251  the same rows in every run

import psycopg

from proxy.catalog.catalog_model import TableName
from tests.audit import synthetic
from tests.audit.selected_groups import show, shown
from tests.pipeline_world import CATALOG, DATA, PUBLIC, SCHEMA
from tests.stored_types import READING, columns_sql, create_types

ROWS = 200
TABLES = {"people": 0, "orders": 40}  # and how many units they have; 0: rows are units
_HUGE = 200_000  # characters
# Beside what the planted databases of the audit hold.
_MORE: dict[str, tuple[str, ...]] = {
    "n": (
        *("9.999999e131071", "-1e-16383", "123456789012345678901234567890.5"),
        # Of which rounding carries into a digit that no number has.
        "(repeat('9', 131072) || '.' || repeat('9', 60))::numeric",
        "(repeat('-', 1) || repeat('9', 131072) || '.' || repeat('9', 60))::numeric",
    ),
    "f4": ("-3.4e38", "1.17e-38"),
    "f8": ("2.2e-308", "1e19", "9007199254740993", "0.1"),
    "t": (
        *(f"repeat('e', {_HUGE})", f"repeat('%e', {_HUGE})"),
        *(f"repeat('\U0001f600', {_HUGE})", f"repeat('x', {_HUGE})", "E'\\\\'", "E'\\u0001'"),
        *("'\u0130'", "'\u00df\ufb03'", "'SECRET-4242'", "'e\u0301'", "'%_'"),
    ),
    "c": ("''", "'\U0001f600'"),
    "s": ("E'a\\\\'", "'SECRET-4242'", "'\u01c5'", "repeat('\U0001f600', 20)", "'ab%'", "'abc'"),
    "d": ("'0001-01-01'", "'9999-12-31'", "'4714-11-24 BC'"),
    "ts": ("'4714-11-24 00:00:00 BC'", "'9999-12-31 23:59:59.999999'"),
    "j": (
        f"jsonb_build_object('k', repeat('e', {_HUGE}))",
        # Of which the text has gigabytes.
        "('{\"n\": 1e131071, \"k\": [' || repeat('1e131071,', 12000) || '0]}')::jsonb",
        f"jsonb_build_object('k', jsonb_build_array(repeat(E'\\u0001', {_HUGE})))",
        "(repeat('[', 4000) || repeat(']', 4000))::jsonb",
        "(repeat('{\"k\":', 3000) || '1' || repeat('}', 3000))::jsonb",
        '\'{"": {"": "SECRET-4242"}, "k": "😀", "-1": true}\'',
        "(SELECT jsonb_object_agg(n, n) FROM generate_series(1, 2000) n)",
    ),
    "ta": (
        f"ARRAY[repeat('e', {_HUGE}), 'x']",
        "array_fill('x'::text, ARRAY[20000])",
        "array_fill(NULL::text, ARRAY[200000])",
        "array_fill('x'::text, ARRAY[1, 1, 1, 1, 1, 3], ARRAY[2147483646, 1, 1, 1, -2147483648, 0])",
        "ARRAY['SECRET-4242', E'\\\\', '😀']",
    ),
    "ia": (
        "array_fill(7, ARRAY[20000])",
        "array_fill(NULL::integer, ARRAY[200000])",
        "'[2147483645:2147483646]={1,2}'",
    ),
    "tz": ("'4714-11-24 00:00:00+00 BC'", "'294276-12-31 23:59:59.999999+00'"),
}


def make_hostile_tables(connection: psycopg.Connection) -> None:
    """w.people, whose rows are units, w.orders, with several rows per unit, and the public tables, in the
    database of the connection. What it finds by itself are they as analysts see them, as on the shadow."""
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(create_types().encode())
    connection.execute(f"CREATE SCHEMA {SCHEMA}")
    connection.execute(f"SET search_path = {SCHEMA}")
    values = {**synthetic._VALUES, **synthetic._COMPOUND}
    pools = {c.name: (*values[c.name], *_MORE.get(c.name, ())) for c in DATA}
    for name, units in TABLES.items():
        draw = random.Random(name)
        lines = []
        for number in range(1, ROWS + 1):
            before = [str(number), *([str(number % units)] if units else [])]
            lines.append([*before, *(_value(pools[c.name], number, draw) for c in DATA)])
        _make(connection, name, lines)
    connection.execute(synthetic._PUBLIC.replace("SCHEMA", SCHEMA).encode())
    connection.execute("INSERT INTO regions SELECT unnest('{x,y,w}'::text[])")
    show(connection, SCHEMA, (*TABLES, *(name.name for name in PUBLIC)))
    connection.execute("ANALYZE")
    connection.execute(f"SET search_path = {shown(SCHEMA)}".encode())
    connection.execute(f"SET {READING}".encode())


def _make(connection: psycopg.Connection, name: str, lines: list[list[str]]) -> None:
    table = CATALOG.tables[TableName(SCHEMA, name)]
    connection.execute(f"CREATE UNLOGGED TABLE {name} ({columns_sql(table)})".encode())
    values = ", ".join(f"({', '.join(line)})" for line in lines)
    connection.execute(f"INSERT INTO {name} VALUES {values}".encode())


def _value(pool: tuple[str, ...], number: int, draw: random.Random) -> str:
    """Each value at least once, then whatever is drawn; the huge ones no more often."""
    if number <= len(pool):
        return pool[number - 1]
    value = draw.choice(pool)
    return "NULL" if "(" in value else value
