"""`printed` against PostgreSQL itself: what it gives is what the server prints, or it refuses."""

from __future__ import annotations

import psycopg
import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from proxy.policy.key_texts import printed
from tests.policy.catalogs import column
from tests.policy.postgres import server

pytestmark = pytest.mark.postgres

COLUMNS = (
    column("a", SqlType.BOOL),
    column("a", SqlType.INT2),
    column("a", SqlType.INT4),
    column("a", SqlType.INT8),
    column("a", SqlType.NUMERIC, "numeric(8,2)", precision=8, scale=2),
    column("a", SqlType.NUMERIC, "numeric(3,0)", precision=3, scale=0),
    column("a", SqlType.NUMERIC, "numeric(2,-2)", precision=2, scale=-2),
    column("a", SqlType.NUMERIC, "numeric(2,4)", precision=2, scale=4),
    column("a", SqlType.TEXT),
    column("a", SqlType.VARCHAR, "character varying(3)"),
    column("a", SqlType.BPCHAR, "character(3)"),
    column("a", SqlType.DATE),
    column("a", SqlType.UUID),
)
KEYS = (
    *("true", "false", "yes", "t", "TRUE", "", " ", "a", "ab ", "abc", "abcd", "ä😀", "null"),
    *("0", "-0", "7", "-7", "007", "+7", "1e1", "5.0", "5", "5.005", "0.01", "-0.01", "-0.00"),
    *("0.0099", "0.01000", "999999.99", "1000000", "99", "9900", "9950", "10000", "-900", "999"),
    *("32767", "32768", "-32768", "2147483648", "9223372036854775807", "9223372036854775808"),
    *("2026-12-31", "2026-02-30", "0001-01-01", "20261231", "2026-1-1", "infinity", "NaN"),
    *("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
    *("a0eebc999c0b4ef8bb6d6bb9bd380a11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"),
)


def ours(key: str, column: Column) -> str | None:
    try:
        return printed(key, column)
    except ValueError:
        return None


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.type_name)
def test_keys_are_what_postgresql_prints(column: Column) -> None:
    assert column.has_keys
    accepted = [(key, text) for key in KEYS if (text := ours(key, column)) is not None]
    assert len(accepted) >= 2
    with psycopg.connect(server().dsn(), autocommit=True) as connection:
        for key, text in accepted:
            row = connection.execute(
                f"SELECT %(key)s::text::{column.type_name}::text",
                {"key": key},
            ).fetchone()
            assert row == (text,)


def test_types_whose_equal_values_print_differently_have_no_keys() -> None:
    """The reason for the refusal, shown by PostgreSQL."""
    with psycopg.connect(server().dsn(), autocommit=True) as connection:
        for name, one, other in (
            ("numeric", "1.0", "1.00"),
            ("double precision", "0", "-0"),
            ("real", "0", "-0"),
        ):
            row = connection.execute(
                f"SELECT a = b, a::text = b::text"
                f" FROM (SELECT %s::text::{name} AS a, %s::text::{name} AS b) t",
                (one, other),
            ).fetchone()
            assert row == (True, False)
    for sql_type in (SqlType.NUMERIC, SqlType.FLOAT8, SqlType.FLOAT4, SqlType.TIMESTAMPTZ):
        assert not column("a", sql_type).has_keys
        with pytest.raises(ValueError, match="has no list of values"):
            printed("1", column("a", sql_type))
