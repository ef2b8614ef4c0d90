"""The same text in both settings of standard_conforming_strings: PostgreSQL is asked."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.query.syntax.parameters import settled
from tests.servers_fixture import servers

pytestmark = pytest.mark.postgres

_WORDS = st.sampled_from(
    [
        *(
            "'",
            "''",
            "\\",
            "\\\\",
            "a",
            " ",
            "\n",
            "||",
            "E'",
            "e'\\n'",
            "'b'",
            "'\\'",
            "N'\\'",
            "n'x'",
        ),
        *(
            "$$",
            "$t$",
            "$1",
            '"',
            "--",
            "/*",
            "*/",
            "-- \\'\n",
            "U&'\\0041'",
            "B'1'",
            "x'\\'",
            "date",
            ",",
        ),
    ]
)


@pytest.fixture(scope="module")
def either() -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    dsn = servers().protected.dsn("postgres")
    with psycopg.connect(dsn, autocommit=True) as on, psycopg.connect(dsn, autocommit=True) as off:
        off.execute("SET standard_conforming_strings = off")
        off.execute("SET escape_string_warning = off")
        yield on, off


def _said(connection: psycopg.Connection, text: str) -> object:
    try:
        return connection.execute(text.encode()).fetchall()
    except psycopg.Error as error:
        return error.sqlstate


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_WORDS, max_size=12).map("".join))
def test_it_means_the_same_in_both(
    either: tuple[psycopg.Connection, psycopg.Connection], text: str
) -> None:
    on, off = either
    asked = f"SELECT {text}"
    wanted = _said(on, asked)
    if isinstance(wanted, list):
        assert _said(on, settled(asked)) == wanted
        # U&'' is refused where the setting is off.
        assert _said(off, settled(asked)) in (wanted, "0A000")


@pytest.mark.parametrize(
    "text",
    [
        r"'\'",
        "'a'\n'\\'",
        "'a' -- it's\n  '\\'",
        r"date '2020-01-01' || '\\'",
        r"N'\'",
        r"'it''s \'''",
        r"E'\\' || '\'",
        r"5 &5, '\'",
        r"U&'\0041' || '\'",
    ],
)
def test_constants(either: tuple[psycopg.Connection, psycopg.Connection], text: str) -> None:
    on, off = either
    wanted = _said(on, f"SELECT {text}")
    assert isinstance(wanted, list)
    assert _said(on, settled(f"SELECT {text}")) == wanted
    if "U&" not in text:  # which PostgreSQL refuses where the setting is off
        assert _said(off, settled(f"SELECT {text}")) == wanted


def test_what_has_none_stays_as_it_is() -> None:
    text = "SELECT 'a', E'b', $$c$$"
    assert settled(text) is text
