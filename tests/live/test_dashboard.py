"""A dashboard of Superset over the demo's shop, by the demo's policy: refreshes cost what the first view costs,
whoever opens it, and are the same bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from proxy.cli.assembly import assemble
from proxy.policy.check import fitted
from proxy.policy_file.policy_yaml import read_policy
from proxy.shadow.shadow_database import Shadow
from tests.clients.served_shop import policy_text
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

DATABASE = "dashboard"
_CONNECTIONS, _ANALYSTS = 8, 3


def _at(day: str) -> str:
    return f"TO_TIMESTAMP('{day} 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')"


def _within(low: str, high: str) -> str:
    return f"WHERE\n  created_at >= {_at(low)}\n  AND created_at < {_at(high)}\n"


_YEAR, _BEFORE = _within("2025-01-01", "2026-01-01"), _within("2024-01-01", "2025-01-01")
_YEARS, _FOUR_YEARS = _within("2024-01-01", "2026-01-01"), _within("2022-01-01", "2026-01-01")
# As Superset 6.1 writes them (tests/clients/programs/superset_pages.py has its charts).
CHARTS = {
    "big number": ["SELECT\n  count(*) AS orders\nFROM shop.orders\nLIMIT 50000"],
    "revenue, and the year before": [
        f"SELECT\n  sum(total) AS revenue\nFROM shop.orders\n{_YEAR}LIMIT 10",
        f"SELECT\n  sum(total) AS revenue\nFROM shop.orders\n{_BEFORE}LIMIT 10",
    ],
    "line": [
        "SELECT\n  DATE_TRUNC('MONTH', created_at) AS created_at,\n  status AS status,\n  count(*) AS orders\n"
        f"FROM shop.orders\n{_YEARS}GROUP BY\n  DATE_TRUNC('MONTH', created_at),\n  status\n"
        "ORDER BY\n  orders DESC\nLIMIT 10000"
    ],
    "two largest": [
        "SELECT\n  DATE_TRUNC('YEAR', created_at) AS created_at,\n  status AS status,\n"
        "  sum(total) AS revenue\nFROM shop.orders\nJOIN (\n  SELECT\n    status AS status__,\n"
        f"    sum(total) AS mme_inner__\n  FROM shop.orders\n  {_FOUR_YEARS}  GROUP BY\n    status\n  ORDER BY"
        f"\n    mme_inner__ DESC\n  LIMIT 2\n) AS series_limit\n  ON status = status__\n{_FOUR_YEARS}"
        "GROUP BY\n  DATE_TRUNC('YEAR', created_at),\n  status\nORDER BY\n  revenue DESC\nLIMIT 10000"
    ],
    "pivot": [
        "SELECT\n  DATE_TRUNC('YEAR', created_at) AS created_at,\n  status AS status,\n  count(*) AS orders\n"
        f"FROM shop.orders\n{_FOUR_YEARS}GROUP BY\n  DATE_TRUNC('YEAR', created_at),\n  status\n"
        "ORDER BY\n  orders DESC\nLIMIT 10000"
    ],
    "table": [
        "SELECT\n  status AS status,\n  count(*) AS orders,\n  sum(total) AS revenue\nFROM shop.orders\n"
        "GROUP BY\n  status\nORDER BY\n  orders DESC\nLIMIT 1000",
        "SELECT\n  count(*) AS orders,\n  sum(total) AS revenue\nFROM shop.orders\nLIMIT 1000",
    ],
    "filter": ["SELECT\n  status AS status\nFROM shop.orders\nGROUP BY\n  status\nLIMIT 1000"],
}
_STATEMENTS = [text for texts in CHARTS.values() for text in texts]


@pytest.fixture(scope="module")
def served() -> Iterator[LiveProxy]:
    pair = servers()
    text = policy_text(exact=False).replace("database: shop", f"database: {DATABASE}")
    catalog = pair.catalogs["shop"]
    environment = {"SHOP_DSN": pair.source_dsns["shop"]}
    policy = fitted(
        read_policy(text.replace("reuse: none", "reuse: 24h"), "shop.yaml", environment), catalog
    )
    shadow = Shadow(pair.shadow_server.dsn(), DATABASE, pair.shadow_server.address)
    shadow.build(policy, catalog)
    proxy = start_proxy(pair, [assemble(policy, catalog, shadow, pair.lease(policy))])
    yield proxy
    proxy.stop()


def _viewed(connection: psycopg.Connection) -> list[list[bytes | None]]:
    """All values of all charts, as they come."""
    found = []
    for text in _STATEMENTS:
        result = connection.pgconn.exec_(text.encode())
        assert result.status == psycopg.pq.ExecStatus.TUPLES_OK, result.error_message
        rows, columns = range(result.ntuples), range(result.nfields)
        found.append([result.get_value(row, column) for row in rows for column in columns])
    return found


def _total(proxy: LiveProxy) -> float:
    lease = proxy.assembly.databases[DATABASE].lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT epsilon_spent::float8 FROM ledger.standing(%s, '', transaction_timestamp())"
            " WHERE kind = 'total'",
            (lease.source,),
        ).fetchone()
    assert row is not None
    return float(row[0])


@pytest.mark.parametrize("refreshes", [8, pytest.param(100, marks=pytest.mark.long)])
def test_refreshes_cost_what_one_view_costs(served: LiveProxy, refreshes: int) -> None:
    """Of eight connections of three analysts: the total nothing more, and each analyst one view."""
    analysts = [served.servers.new_analyst() for _ in range(_ANALYSTS)]
    with served.connect(DATABASE, analyst=analysts[0]) as connection:
        first = _viewed(connection)
    one_view = served.when_settled(analysts[0])[1]
    total = _total(served)
    assert one_view <= total
    views: list[list[list[bytes | None]]] = []
    numbers = iter(range(refreshes))
    taking = threading.Lock()

    def refresh(analyst: str) -> None:
        with served.connect(DATABASE, analyst=analyst) as connection:
            while True:
                with taking:
                    if next(numbers, None) is None:
                        return
                views.append(_viewed(connection))

    asking = [
        threading.Thread(target=refresh, args=(analysts[n % _ANALYSTS],))
        for n in range(_CONNECTIONS)
    ]
    for one in asking:
        one.start()
    for one in asking:
        one.join(300)
    assert len(views) == refreshes and all(view == first for view in views)
    assert _total(served) == pytest.approx(total)
    assert [served.when_settled(analyst)[1] for analyst in analysts] == pytest.approx(
        [one_view] * _ANALYSTS
    )
