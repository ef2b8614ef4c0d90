"""bool_or says false only where no such row is to be seen, not because others are there."""

from __future__ import annotations

import psycopg

from tests.live_proxy import LiveProxy

_DRAWS = 60


def test_rows_that_are_there_are_hardly_ever_denied(live: LiveProxy) -> None:
    """As many customers as the 95 % error of their number: it is above half of that in 89 of 100 draws. The
    rule of before, false where others surely are there, said false in half of them."""
    with psycopg.connect(live.servers.protected.dsn("shop")) as plain:
        rows = plain.execute(
            "SELECT count(*) FILTER (WHERE state = 'CA'), count(*) FROM shop.customers"
        )
        ((there, everybody),) = rows
    assert 0 < 2 * there < everybody
    epsilon = 2 * 3 / there  # of two counts; the error is 3 / epsilon of one
    found = []
    with live.connect("shop", analyst=live.servers.new_analyst()) as proxy:
        proxy.execute(f"SET dp.epsilon = {epsilon:.6f}".encode())
        proxy.execute("SET dp.fresh = on")
        for _ in range(_DRAWS):
            ((is_there,),) = proxy.execute("SELECT bool_or(state = 'CA') FROM shop.customers")
            found.append(is_there)
    assert found.count(False) <= 18  # 7 are to be expected; 30 by the rule of before
    assert found.count(True) >= 15  # 30 are to be expected


def test_rows_that_are_not_there_are_mostly_denied(live: LiveProxy) -> None:
    with live.connect("shop", analyst=live.servers.new_analyst()) as proxy:
        proxy.execute("SET dp.epsilon = 0.1")
        proxy.execute("SET dp.fresh = on")
        sql = "SELECT bool_or(state = 'nowhere' OR birth_date > '2200-01-01') FROM shop.customers"
        found = [proxy.execute(sql.encode()).fetchone() for _ in range(_DRAWS)]
    assert (
        found.count((True,)) <= 8 and found.count((False,)) >= 40
    )  # 1.5 and 53 are to be expected
