"""Published tables: released on a schedule, charged to the shared budget alone, read by everybody for
nothing."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.engine.publishing import Publishing
from tests.live.published_tables import SCRIPT, TABLES
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

DATABASE = "published_here"


@pytest.fixture(scope="module")
def publishing() -> Iterator[LiveProxy]:
    pair = servers()
    proxy = start_proxy(pair, [served_database(pair, DATABASE, SCRIPT, TABLES, "best")])
    of = _publishing(proxy)
    proxy.do(of.release_due())
    proxy.do(of.show())
    yield proxy
    proxy.stop()


def _database(proxy: LiveProxy) -> Database:
    return proxy.assembly.databases[DATABASE]


def _publishing(proxy: LiveProxy) -> Publishing:
    found = _database(proxy).publishing
    assert found is not None
    return found


def _total(proxy: LiveProxy) -> float:
    lease = _database(proxy).lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT coalesce(sum(coalesce(drawn_epsilon, epsilon)), 0)::float8 FROM ledger.receipt"
            " WHERE source = %s",
            (lease.source,),
        ).fetchone()
    assert row is not None
    return float(row[0])


def test_a_table_stands_with_errors_and_a_comment(publishing: LiveProxy) -> None:
    analyst = publishing.servers.new_analyst()
    with publishing.connect(DATABASE, analyst=analyst) as connection:
        found = connection.execute("SELECT * FROM published.by_region ORDER BY region")
        assert [column.name for column in found.description or ()] == [
            *("region", "orders", "turnover", "orders_error", "turnover_error")
        ]
        rows = found.fetchall()
        comment = connection.execute(
            "SELECT obj_description('published.by_region'::regclass)"
        ).fetchone()
    assert [row[0] for row in rows] == ["east", "north", "south"]
    assert all(700 < row[1] < 950 and 0 < row[3] < 60 for row in rows)
    assert comment is not None and "epsilon 2, delta 1e-06" in comment[0], comment
    assert _total(publishing) == pytest.approx(6)
    assert publishing.spent(analyst) == (0, 0.0, 0)
