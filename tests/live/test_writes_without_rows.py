"""What a statement writes does not depend on how many rows of it are asked for.

A CTE that writes is run to its end whatever stands around it (PostgreSQL 17 documentation, section 7.8.4), so
LIMIT 0 is no reason to run it on a relation without rows.
"""

from __future__ import annotations

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_COUNT = "(SELECT count(*) FROM shop.orders)"
_UPDATE = f"UPDATE kept SET n = {_COUNT} RETURNING n"
WRITING = [
    _UPDATE,
    f"WITH one AS (SELECT 1) {_UPDATE}",
    f"INSERT INTO kept VALUES ({_COUNT}) RETURNING n",
    f"MERGE INTO kept USING {_COUNT} q ON kept.n < q.count WHEN MATCHED THEN UPDATE SET n = q.count"
    " RETURNING n",
]
NO_ROWS = ["LIMIT 0", "LIMIT (1 - 1)", "FETCH FIRST 0 ROWS ONLY", "WHERE false", "LIMIT '0'"]


def _written(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT max(n) FROM kept").fetchone()
    assert row is not None
    return row[0] or 0


@pytest.mark.every(6)
@pytest.mark.parametrize("none", NO_ROWS)
@pytest.mark.parametrize("writing", WRITING)
def test_a_cte_writes_the_answer(live: LiveProxy, analyst: str, writing: str, none: str) -> None:
    with live.connect(analyst=analyst) as connection:
        if writing.startswith("MERGE") and connection.info.server_version < 170_000:
            pytest.skip("MERGE returns rows since PostgreSQL 17")
        connection.execute("CREATE TEMP TABLE kept AS SELECT 7::bigint AS n")
        text = f"WITH x AS ({writing}) SELECT n FROM x {none}"
        for number, cursor in enumerate(
            (psycopg.ClientCursor(connection), connection.cursor()), start=1
        ):
            connection.execute("UPDATE kept SET n = 7")
            assert cursor.execute(text.encode()).fetchall() == []
            assert _written(connection) > 50_000
            assert live.when_settled(analyst)[0] == number


def test_a_limit_that_is_a_parameter(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE kept AS SELECT 7::bigint AS n")
        text = f"WITH x AS ({_UPDATE}) SELECT n FROM x LIMIT %s"
        assert connection.execute(text.encode(), (0,)).fetchall() == []
        assert _written(connection) > 50_000
        copied = f"COPY (WITH x AS ({_UPDATE}) SELECT n FROM x LIMIT 0) TO STDOUT"
        connection.execute("UPDATE kept SET n = 7")
        with connection.cursor().copy(copied.encode()) as copy:
            assert b"".join(map(bytes, copy)) == b""
        assert _written(connection) > 50_000


def test_rows_that_are_deleted(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE kept AS SELECT 7::bigint AS n")
        deleted = f"DELETE FROM kept WHERE n < {_COUNT} RETURNING n"
        connection.execute(f"WITH x AS ({deleted}) SELECT n FROM x LIMIT 0".encode())
        assert _written(connection) == 0


@pytest.mark.parametrize(
    "text",
    [
        f"WITH x AS (SELECT {_COUNT} AS n) INSERT INTO kept SELECT n FROM x LIMIT 0",
        f"INSERT INTO kept SELECT {_COUNT} LIMIT 0",
        f"CREATE TEMP TABLE made AS SELECT {_COUNT} LIMIT 0",
        f"SELECT setval('pg_temp.counted', {_COUNT}) LIMIT 0",
        f"WITH x AS MATERIALIZED (SELECT setval('pg_temp.counted', {_COUNT}) AS n) SELECT n FROM x LIMIT 0",
    ],
)
def test_what_writes_nothing_costs_nothing(live: LiveProxy, analyst: str, text: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE kept AS SELECT 7::bigint AS n")
        connection.execute("CREATE TEMP SEQUENCE counted")
        connection.execute(text.encode())
        assert _written(connection) == 7
        assert connection.execute("SELECT is_called FROM counted").fetchone() == (False,)
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("query", ["SELECT n FROM counted", "TABLE counted"])
@pytest.mark.parametrize("source", ["shop.orders WHERE false", "(SELECT 1 LIMIT 0) q"])
def test_a_query_in_a_probe_that_reads_a_cte(
    live: LiveProxy, analyst: str, query: str, source: str
) -> None:
    """It names no protected table itself; its answer was that of tables without rows."""
    text = f"WITH counted AS (SELECT count(*) AS n FROM shop.orders) SELECT count(*), ({query}) FROM {source}"
    with live.connect(analyst=analyst) as connection:
        row = connection.execute(text.encode()).fetchone()
    assert row is not None and row[1] > 50_000
    assert live.when_settled(analyst)[0] >= 1
