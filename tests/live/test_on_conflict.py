"""INSERT ... ON CONFLICT: of answers into a table of one's own it is answered, into a protected one refused."""

from __future__ import annotations

import re

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_COUNT = "SELECT count(*) FROM shop.orders"


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "clause",
    [
        "ON CONFLICT DO NOTHING",
        "ON CONFLICT (n) DO NOTHING",
        "ON CONFLICT ON CONSTRAINT own_pkey DO NOTHING",
        "ON CONFLICT (n) WHERE n > 0 DO UPDATE SET n = excluded.n WHERE own.n > 0",
        "ON CONFLICT (n) DO UPDATE SET (n) = ROW (7) RETURNING n",
        "/* conflict */ on conflict do nothing",
    ],
)
@pytest.mark.parametrize(
    "query",
    [
        _COUNT,
        f"{_COUNT} o JOIN shop.customers c ON c.id = o.customer_id",
        f"{_COUNT} WHERE total > 5",
    ],
)
def test_into_a_table_of_ones_own(live: LiveProxy, analyst: str, query: str, clause: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE own (n bigint PRIMARY KEY)")
        connection.execute(f"INSERT INTO own {query} {clause}".encode())
        found = connection.execute("SELECT n FROM own").fetchall()
    assert len(found) == 1 and found[0][0] > 10_000
    assert live.when_settled(analyst)[0] == 1


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO shop.orders (id) VALUES (1) ON CONFLICT DO NOTHING",
        "INSERT INTO shop.orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET total = 1",
        f"INSERT INTO shop.orders (id) {_COUNT} ON CONFLICT DO NOTHING",
        f"INSERT INTO shop.orders (id) {_COUNT} ON CONFLICT (id) DO UPDATE SET total = 1 RETURNING id",
        f"WITH x AS ({_COUNT}) INSERT INTO shop.orders (id) SELECT * FROM x ON CONFLICT DO NOTHING",
    ],
)
def test_into_a_protected_table(live: LiveProxy, analyst: str, statement: str) -> None:
    with live.connect(analyst=analyst) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            connection.execute(statement.encode())
        hint = caught.value.diag.message_hint or ""
        assert "none can be written" in hint
        assert live.spent(analyst)[0] == 0
        example = re.search(r"e\.g\. (SELECT [^;]+);", hint)
        assert example is not None
        assert connection.execute(example[1].encode()).fetchone()


@pytest.mark.parametrize(
    "clause",
    [
        f"ON CONFLICT (n) DO UPDATE SET n = ({_COUNT})",
        f"ON CONFLICT (n) DO UPDATE SET n = 1 WHERE own.n > ({_COUNT})",
        "ON CONFLICT (n) DO UPDATE SET n = (SELECT max(id) FROM shop.orders)",
    ],
)
def test_what_is_asked_inside_the_clause_is_refused(
    live: LiveProxy, analyst: str, clause: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE own (n bigint PRIMARY KEY)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"INSERT INTO own {_COUNT} {clause}".encode())
        assert connection.execute("SELECT n FROM own").fetchall() == []
    assert live.spent(analyst)[0] == 0
