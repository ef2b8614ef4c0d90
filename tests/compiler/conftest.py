"""Hostile rows in a database of their own, for the tests of this folder that only read."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.never_raise.hostile_rows import make_hostile_tables
from tests.servers_fixture import servers

# Values that are equal and can be printed differently.
_EQUAL = {
    "n": ("'1.0'", "'1.00'", "'1'", "'0.0'", "'0'"),
    "f4": ("'-0'", "'0'", "'NaN'", "'-NaN'", "'0.1'"),
    "f8": ("'-0'", "'0'", "'NaN'", "'-NaN'", "'1e-310'", "'0.1'", "'0.30000000000000004'", "'0.3'"),
    "ts": ("'2010-07-08 09:10:11.50'", "'2010-07-08 09:10:11.5'"),
    "tz": ("'2010-07-08 09:10:11.5+00'", "'2010-07-08 12:10:11.5+03'"),
}

HOSTILE = "hostile_keys"


@pytest.fixture(scope="package")
def hostile() -> Iterator[psycopg.Connection]:
    admin = servers().protected.dsn("postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {HOSTILE}")
        connection.execute(f"CREATE DATABASE {HOSTILE}")
    with psycopg.connect(servers().protected.dsn(HOSTILE), autocommit=True) as connection:
        make_hostile_tables(connection)
        connection.execute("RESET world.reading")
        for column, values in _EQUAL.items():
            for number, value in enumerate(values, 1_000):
                connection.execute(
                    f"INSERT INTO w.people (id, {column}) VALUES ({number}, {value})".encode()
                )
        connection.execute("SET TimeZone = 'UTC'; SET extra_float_digits = 1; SET DateStyle = ISO")
        yield connection
