"""Databases with marked secrets in every kind of column, and how the marks look in bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, Table
from proxy.policy.policy_model import Mechanism, Privacy
from tests.live import attacks
from tests.pipeline_world import CATALOG, MOODS, PLACES, POLICIES, PUBLIC, RATES, SCHEMA
from tests.stored_types import MOOD, columns_sql, create_types

TEXT, NUMBER, DAY = "SECRET-4242-marker", 987654321, "2387-06-05"

# What each column of the marked row holds. All is outside the policy's bounds or keys, or not in the policy.
_MARKED = {
    SqlType.INT2: "31337",
    SqlType.INT4: str(NUMBER),
    SqlType.INT8: f"{NUMBER}9876",
    SqlType.FLOAT4: "9.876543e30",
    SqlType.FLOAT8: "9.87654321e300",
    SqlType.TEXT: f"'{TEXT}'",
    SqlType.VARCHAR: f"'{TEXT}'",
    SqlType.BPCHAR: "'Zq'",
    SqlType.ENUM: f"'{TEXT}'",
    SqlType.BOOL: "true",
    SqlType.DATE: f"'{DAY}'",
    SqlType.TIMESTAMP: f"'{DAY} 04:03:02'",
    SqlType.TIMESTAMPTZ: f"'{DAY} 04:03:02+00'",
    SqlType.JSONB: f"""'{{"{TEXT}": ["{TEXT}", {NUMBER}]}}'""",
    SqlType.TEXT_ARRAY: f"ARRAY['{TEXT}', NULL]",
    SqlType.INT4_ARRAY: f"ARRAY[{NUMBER}]",
    SqlType.DURATION: f"interval '{NUMBER} seconds'",
    SqlType.TIME_OF_DAY: "'13:37:42.987654'",
}
_NUMERICS = {None: f"{NUMBER}{NUMBER}.{NUMBER}", 2: "987654.32"}
_USUAL = {
    SqlType.INT2: "g % 10", SqlType.INT4: "g", SqlType.INT8: "g", SqlType.NUMERIC: "g % 7",
    SqlType.FLOAT4: "0.5", SqlType.FLOAT8: "g % 90", SqlType.TEXT: "'x'", SqlType.VARCHAR: "'abc'",
    SqlType.BPCHAR: "'a'", SqlType.ENUM: f"'low'::{MOOD}", SqlType.BOOL: "g % 2 = 0",
    SqlType.DATE: "date '2010-01-01' + g", SqlType.TIMESTAMP: "timestamp '2010-01-01'",
    SqlType.TIMESTAMPTZ: "timestamptz '2010-01-01+00'",
    SqlType.JSONB: """jsonb_build_object('k', 'x', 'n', g % 3)""", SqlType.TEXT_ARRAY: "ARRAY['x', 'y']",
    SqlType.INT4_ARRAY: "ARRAY[g % 5]", SqlType.DURATION: "interval '1 hour'",
    SqlType.TIME_OF_DAY: "time '10:00'",
}  # fmt: skip

BYTES: tuple[bytes, ...] = (
    b"4242-marker",
    b"987654321",
    b"987654.32",
    b"876543e+30",
    DAY.encode(),
    b"06/05/2387",
    b"274348:25:21",  # the interval
    b"37:42.987654",
    b"49062.98765",
    # Short ones as a value in a row, after its length: else they may occur in a nonce or a process id.
    b"\0\0\0\x0531337",
    b"\0\0\0\x02Zq",
    b"\0\0\0\x03NaN",
    b'"NaN"',
    b" NaN",
    struct.pack("!i", NUMBER),
    struct.pack("!i", (date.fromisoformat(DAY) - date(2000, 1, 1)).days),
    struct.pack("!d", 9.87654321e300),
    struct.pack("!f", 9.876543e30),
    struct.pack("!q", NUMBER * 10**4 + 9876),
)


def found(said: bytes) -> list[bytes]:
    """The marks that occur."""
    return [mark for mark in BYTES if mark in said]


def _marked(column: Column) -> str:
    if column.type is SqlType.NUMERIC:
        return _NUMERICS[column.scale]
    return _MARKED[column.type]


def _table(table: Table) -> Iterator[str]:
    columns = [columns_sql(table)]
    if table.name not in PUBLIC:
        columns.append(f"hidden text DEFAULT '{TEXT}'")  # no policy lists it
    keys = [f"PRIMARY KEY ({', '.join(table.primary_key)})"] if table.primary_key else []
    keys += [f"UNIQUE ({', '.join(unique)})" for unique in table.unique]
    yield f"CREATE TABLE {table.name} ({', '.join([*columns, *keys])});"
    if table.name not in PUBLIC:
        yield from _rows(table)


def _rows(table: Table) -> Iterator[str]:
    names = ", ".join(column.name for column in table.columns)
    usual = ", ".join(_USUAL[column.type] for column in table.columns)
    yield f"INSERT INTO {table.name} ({names}) SELECT {usual} FROM generate_series(1, 300) g;"
    marked = ", ".join(_marked(column) for column in table.columns)
    yield f"INSERT INTO {table.name} ({names}) VALUES ({marked});"
    # Each text is on one unit only: keys of two may be told with some probability.
    nan = {"n": "'NaN'", "f8": "'NaN'", "id": "-5", "leg": "'x'", "order_id": "1"}
    values = ", ".join(nan.get(column.name, "NULL") for column in table.columns)
    yield f"INSERT INTO {table.name} ({names}) VALUES ({values});"


_KNOWN = [
    f"INSERT INTO {SCHEMA}.regions VALUES ('x'), ('y');",
    *(f"INSERT INTO {SCHEMA}.places VALUES ('{code}', '{zone}');" for code, zone in PLACES),
    *(f"INSERT INTO {SCHEMA}.rates VALUES ({rate});" for rate in RATES),
    *(f"INSERT INTO {SCHEMA}.moods VALUES ('{label}');" for label in MOODS),
]
WORLD = "\n".join(
    [
        f"{create_types(TEXT)};",
        f"CREATE SCHEMA {SCHEMA};",
        *(line for t in CATALOG.tables.values() for line in _table(t)),
        *_KNOWN,
    ]
)
# delta is the probability that a key of one unit is told: small, so that the test does not meet it.
_DELTA = Fraction(1, 10**12)
WORLD_POLICY = replace(
    POLICIES["world"],
    digest="marked world",
    privacy=Privacy(Fraction(8), _DELTA, Fraction(20), _DELTA, mechanism=Mechanism.SMOOTH_MEDIAN),
)


def lab() -> str:
    """The tables of the attacks, and the person they hide marked as ours."""
    lines = [attacks.script()]
    lines.append(
        f"update adult set notes = '{TEXT}', zip = '{TEXT}', income = 'NaN', born = '{DAY}', hours ="
        f" {NUMBER}.5, age = {NUMBER} where user_id = 4242;"
        f" insert into visits values ({NUMBER}, '{DAY} 04:03:02+00', 9.87654321e300, '{TEXT}');"
        f" insert into adult (user_id, notes, zip) values ({NUMBER}, '{TEXT}', '00001');"
    )
    return "\n".join(lines)
