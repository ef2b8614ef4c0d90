"""Groups that are there and no others: keys as PostgreSQL itself gives them on the data, through the wire."""

from __future__ import annotations

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_STATEMENTS = (
    "SELECT code, label, count(*) FROM kinds.things JOIN kinds.codes ON txt = code GROUP BY code, label",
    "SELECT label, txt, count(*) FROM kinds.things JOIN kinds.codes ON txt = code WHERE code <> 'a'"
    " GROUP BY 1, 2",
    "SELECT date_trunc('month', day) AS m, count(*) FROM kinds.things"
    " WHERE day >= '2020-03-01' AND day < '2020-06-01' GROUP BY 1",
    "SELECT extract(month FROM at) AS m, flag, count(*) FROM kinds.things"
    " WHERE at >= '2020-10-01' AND at < '2020-11-15' AND at IS NOT NULL GROUP BY 1, 2",
    "SELECT floor(double / 1000) AS f, count(*) FROM kinds.things WHERE double < 2000 GROUP BY 1",
    "SELECT CASE WHEN flag THEN 'yes' WHEN NOT flag THEN 'no' END AS c, count(*) FROM kinds.things GROUP BY 1",
    "SELECT vc, txt, count(*) FROM kinds.things WHERE txt IN ('a', 'c') GROUP BY 1, 2",
    # Functions of what is listed: nothing is evaluated of a row.
    "SELECT upper(txt) AS u, count(*) FROM kinds.things GROUP BY 1",
    "SELECT coalesce(nullif(txt, 'b'), 'unknown') AS u, count(*) FROM kinds.things GROUP BY 1",
    "SELECT left(mood::text, 2) AS u, count(*) FROM kinds.things GROUP BY 1",
    "SELECT length(upper(mood::text)) AS u, count(*) FROM kinds.things GROUP BY 1",
    "SELECT int / 100 AS u, count(*) FROM kinds.things WHERE int < 1000 GROUP BY 1",
    "SELECT int % 7 AS u, count(*) FROM kinds.things GROUP BY 1",
    "SELECT round(single::numeric, 0) AS u, count(*) FROM kinds.things WHERE single <= 49 GROUP BY 1",
    "SELECT round(num2 / 100, 1) AS u, count(*) FROM kinds.things WHERE num2 BETWEEN 0 AND 99 GROUP BY 1",
    # Of whole numbers, which are fewer than what is between their bounds.
    "SELECT round(small, 1) AS u, count(*) FROM kinds.things WHERE small < 100 GROUP BY 1",
    "SELECT round(small / 4.0, 2)::numeric(6, 2) AS u, count(*) FROM kinds.things WHERE small < 8 GROUP BY 1",
    "SELECT extract(month FROM day) AS m, extract(dow FROM day) AS w, count(*) FROM kinds.things"
    " WHERE day BETWEEN '2020-01-01' AND '2020-03-09' GROUP BY 1, 2",
    # Private keys: each has 80 units or more, of which 54 are too few once in 10^9 times.
    "SELECT num2, count(*) FROM kinds.things GROUP BY num2",
    "SELECT single, count(*) FROM kinds.things GROUP BY single",
    "SELECT num2 * 2.50 AS r, count(*) FROM kinds.things GROUP BY 1",
    "SELECT CASE WHEN flag THEN at ELSE '2020-05-05 12:30:00.25' END AS t, count(*) FROM kinds.things"
    " WHERE NOT flag GROUP BY 1",
)  # fmt: skip


@pytest.mark.every(3)
@pytest.mark.parametrize("sql", _STATEMENTS)
def test_as_on_the_data(live: LiveProxy, sql: str) -> None:
    with psycopg.connect(live.servers.protected.dsn("kinds")) as direct:
        exact = [row[:-1] for row in direct.execute(sql.encode())]
    with live.connect("kinds", analyst=live.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 2")
        answered = [row[:-1] for row in connection.execute(sql.encode())]
    assert len(set(answered)) == len(answered)
    assert set(answered) == set(exact)


def test_too_many_seconds_are_no_public_groups(live: LiveProxy, analyst: str) -> None:
    """Of years of a column: groups of few people are left out, and nothing takes long."""
    with live.connect("shop", analyst=analyst) as proxy:
        text = "SELECT date_trunc('second', created_at) AS k, count(*) FROM shop.orders GROUP BY 1"
        assert len(proxy.execute(text.encode()).fetchall()) < 1000
