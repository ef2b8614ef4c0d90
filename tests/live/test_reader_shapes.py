"""How a statement is written around its query: COPY's older syntax, semicolons, CTEs over CTEs."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors

from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http

_ROWS = "WITH a AS (SELECT quantity AS n FROM shop.orders)"


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


def _copied(connection: psycopg.Connection, text: str) -> bytes:
    with connection.cursor().copy(text.encode()) as copy:
        return b"".join(map(bytes, copy))


@pytest.mark.every(3)
@pytest.mark.parametrize("query", ["", "WITH x AS (SELECT status FROM shop.orders) "])
@pytest.mark.parametrize(
    ("options", "beginning"),
    [
        ("WITH CSV HEADER", b"status,n\npaid,"),
        ("with csv header delimiter as ';' quote as '''' null as ''", b"status;n\npaid;"),
        ("WITH CSV FORCE QUOTE status", b'"paid",'),
        ("WITH DELIMITER ',' NULL AS ''", b"paid,"),
        ("WITH BINARY", b"PGCOPY\n\xff\r\n\0"),
        ("WITH (FORMAT csv)", b"paid,"),
        ("CSV HEADER", b"status,n\npaid,"),
        ("WITH", b"paid\t"),
    ],
)
def test_options_of_copy(
    live: LiveProxy, analyst: str, query: str, options: str, beginning: bytes
) -> None:
    source = "x" if query else "shop.orders"
    asked = (
        f"{query}SELECT status, count(*) AS n FROM {source} WHERE status = 'paid' GROUP BY status"
    )
    with live.connect(analyst=analyst) as connection:
        assert _copied(connection, f"COPY ({asked}) TO STDOUT {options}").startswith(beginning)
    assert live.when_settled(analyst)[0] == 1


@pytest.mark.parametrize(
    ("query", "times"),
    [
        ("b AS (SELECT n FROM a UNION ALL SELECT n FROM a)", 2),
        ("b AS ((SELECT n FROM a))", 1),
        ("b AS ((SELECT n FROM a) UNION ALL (SELECT n FROM a))", 2),
        ("b AS (((SELECT n FROM a)) UNION ALL SELECT n FROM a UNION ALL (SELECT n FROM a))", 3),
        ("c AS MATERIALIZED (SELECT n FROM a), b AS (SELECT n FROM c)", 1),
    ],
)
def test_ctes_over_a_cte(live: LiveProxy, analyst: str, query: str, times: int) -> None:
    """PostgreSQL would plan a CTE that is named twice, and has no right to its table."""
    with live.connect(analyst=analyst) as connection:
        row = connection.execute(f"{_ROWS}, {query} SELECT count(*) FROM b".encode()).fetchone()
    assert row is not None
    assert 55_000 * times < row[0] < 62_000 * times


def test_a_cte_that_is_named_by_an_unused_one(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        text = f"{_ROWS}, b AS (SELECT n FROM a UNION ALL SELECT n FROM a) SELECT 5"
        assert connection.execute(text.encode()).fetchone() == (5,)
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{_ROWS}, b AS (TABLE a) SELECT count(*) FROM b", "cannot be read here"),
        (f"{_ROWS} TABLE a", "cannot be read here"),
        (f"{_ROWS} UPDATE mine SET n = a.n FROM a", "cannot be read here"),
        (f"{_ROWS} DELETE FROM mine USING a", "cannot be read here"),
        (  # a part of it is not run
            f"WITH c AS ({_ROWS} SELECT count(*), (SELECT max(n) FROM (TABLE a) q) FROM a) SELECT * FROM c",
            "cannot be read here",
        ),
        (f"SELECT count(*) FROM ({_ROWS} TABLE a) q", "cannot be read here"),
        (
            f"{_ROWS}, b AS (SELECT q.n FROM (SELECT 1) y, LATERAL (SELECT n FROM a) q)"
            " SELECT count(*) FROM b",
            "LATERAL is not available",
        ),
        (
            f"{_ROWS}, b AS ((SELECT n FROM a) UNION ALL (SELECT n FROM a) LIMIT 1)"
            " SELECT count(*) FROM b",
            "only UNION ALL",
        ),
        (f"{_ROWS} SELECT count(*) FROM (SELECT n FROM a UNION ALL VALUES (1)) q", "only UNION"),
        (f"{_ROWS} SELECT count(*) FROM (SELECT n FROM a UNION ALL TABLE a) q", "only UNION"),
        (
            "WITH RECURSIVE a AS (SELECT quantity AS n FROM shop.orders UNION ALL"
            " SELECT n + 1 FROM a WHERE n < 9) SELECT count(*) FROM a",
            "a recursive query",
        ),
    ],
)
def test_a_cte_that_is_not_read(
    live: LiveProxy, listeners: BothListeners, analyst: str, text: str, message: str
) -> None:
    """Refused in our own words, where PostgreSQL would miss a right, or a part would be left out."""
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE mine (n int)")
        with pytest.raises(errors.FeatureNotSupported, match=message) as caught:
            connection.execute(text.encode())
        assert caught.value.diag.message_hint
        assert caught.value.diag.statement_position
    if "mine" not in text:
        assert message in listeners.query(text, analyst=analyst).json()["detail"]
    assert live.spent(analyst)[0] == 0


def test_semicolons_before_a_statement(
    live: LiveProxy, listeners: BothListeners, analyst: str
) -> None:
    text = "; /* ; */ ;; SELECT count(*) FROM shop.orders; ;"
    with live.connect(analyst=analyst) as connection:
        for cursor in (psycopg.ClientCursor(connection), connection.cursor(binary=True)):
            row = cursor.execute(text.encode()).fetchone()
            assert row is not None and row[0] > 50_000
        with pytest.raises(errors.UndefinedColumn) as caught:
            connection.execute("; SELECT nosuch FROM shop.orders", prepare=True)
        assert caught.value.diag.statement_position == "10"
        assert _copied(connection, f";{'COPY (SELECT count(*) FROM shop.orders) TO STDOUT'}")
        connection.execute("PREPARE q AS SELECT count(*) FROM shop.orders")
        row = connection.execute("; EXECUTE q", prepare=True).fetchone()
        assert row is not None and row[0] > 50_000
    assert listeners.query(text, analyst=analyst).json()["rows"][0][0] > 50_000
    assert live.when_settled(analyst)[0] == 5
