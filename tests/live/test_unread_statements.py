"""EXPLAIN and CREATE TABLE AS around statements, what is too long, and writing: a refusal says why."""

from __future__ import annotations

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_COUNT = "SELECT count(*) FROM shop.orders"
_OPTIONS = ("", "(VERBOSE) ", "VERBOSE ", "(FORMAT JSON) ", "(COSTS off, VERBOSE true) ")


@pytest.mark.parametrize("options", _OPTIONS)
@pytest.mark.parametrize(
    "inner",
    [
        f"DECLARE c CURSOR FOR {_COUNT}",
        f"DECLARE c NO SCROLL CURSOR WITH HOLD FOR {_COUNT}",
        f"CREATE TABLE x AS {_COUNT}",
        f"CREATE TEMP TABLE IF NOT EXISTS x AS {_COUNT} WITH NO DATA",
        f"CREATE TEMP TABLE x AS ({_COUNT}) WITH DATA",
        f"CREATE MATERIALIZED VIEW x AS WITH q AS ({_COUNT}) SELECT * FROM q",
    ],
)
def test_explain_of_what_has_a_query_is_that_of_the_query(
    live: LiveProxy, analyst: str, options: str, inner: str
) -> None:
    query = inner[min(inner.find(x) for x in ("SELECT", "(SELECT", "WITH q") if x in inner) :]
    query = query.removesuffix(" WITH NO DATA").removesuffix(" WITH DATA")
    with live.connect(analyst=analyst) as connection:
        told = connection.execute(f"EXPLAIN {options}{inner}".encode()).fetchall()
        assert told == connection.execute(f"EXPLAIN {options}{query}".encode()).fetchall()
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("options", _OPTIONS)
@pytest.mark.parametrize("arguments", ["", "(5)"])
def test_explain_of_execute_says_what_to_write(
    live: LiveProxy, analyst: str, options: str, arguments: str
) -> None:
    of, where = ("", "") if not arguments else ("(int)", " WHERE quantity > $1")
    with live.connect(analyst=analyst) as connection:
        connection.execute(f"PREPARE q{of} AS {_COUNT}{where}".encode())
        connection.execute("PREPARE mine AS SELECT 1")
        for statement, around in (
            (f"EXPLAIN {options}EXECUTE q{arguments}", "EXPLAIN"),
            (f"EXPLAIN {options}CREATE TEMP TABLE x AS EXECUTE q{arguments}", "EXPLAIN"),
            (f"CREATE TEMP TABLE x AS EXECUTE q{arguments}", "CREATE TABLE AS"),
            (f"CREATE TEMP TABLE x AS EXECUTE q{arguments} WITH NO DATA", "CREATE TABLE AS"),
        ):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match=around) as caught:
                connection.execute(statement.encode())
            assert f"{around} SELECT ..." in (caught.value.diag.message_hint or "")
        assert connection.execute(f"EXPLAIN {options}EXECUTE mine".encode()).fetchall()
        connection.execute("CREATE TEMP TABLE y AS EXECUTE mine")
        assert connection.execute("SELECT * FROM y").fetchall() == [(1,)]
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("length", [200_000, 263_000, 600_000])
@pytest.mark.parametrize("binary", [False, True])
def test_a_statement_that_is_too_long_says_so(
    live: LiveProxy, analyst: str, length: int, binary: bool
) -> None:
    with (
        live.connect(analyst=analyst) as connection,
        pytest.raises(psycopg.errors.StatementTooComplex, match="too long") as caught,
    ):
        text = f"SELECT /*{'x' * length}*/ count(*) FROM shop.orders WHERE quantity IN (1, 2)"
        connection.execute(text.encode(), binary=binary, prepare=binary)
    assert caught.value.diag.message_hint
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("filler", ["", f"/*{'x' * 300_000}*/"])
def test_writing_to_a_public_table_is_refused_without_a_word_about_protected_ones(
    live: LiveProxy, analyst: str, filler: str
) -> None:
    for statement in (
        "INSERT INTO shop.products DEFAULT VALUES",
        "UPDATE shop.products SET id = id",
        "DELETE FROM shop.products",
        "TRUNCATE shop.products",
    ):
        with (
            live.connect(analyst=analyst) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
        ):
            connection.execute(f"{statement}{filler}".encode())
        hint = caught.value.diag.message_hint or ""
        assert "protected" not in hint and "CREATE TEMPORARY TABLE" in hint
