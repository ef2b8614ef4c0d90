"""A dashboard of Superset over the demo's shop, by the demo's policy: refreshes cost what the first view costs,
whoever opens it, and are the same bytes. Where the policy publishes its charts they cost analysts nothing."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Iterator, Sequence

import psycopg
import pytest

from proxy.cli.assembly import Database, assemble
from proxy.policy.check import fitted
from proxy.policy_file.policy_yaml import read_policy
from proxy.shadow.shadow_database import Shadow
from tests.chosen_slots import with_chosen_slots
from tests.clients.served_shop import policy_text
from tests.ledger_key import LEDGER_CIPHER
from tests.live.published_tables import release_and_show
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers
from tests.unjudged_rows import unjudged

DATABASE, PUBLISHED = "dashboard", "published_dashboard"
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


# Where groups are listed and nothing is aggregated, nothing is read: it costs nothing anyway.
_OF_LISTED = CHARTS["filter"]


def _publish() -> str:
    """As a data owner would take them over from Superset (View query): each of a chart, on a schedule."""
    charts = [text for text in _STATEMENTS if text not in _OF_LISTED]
    return "publish:\n" + "".join(
        f"  - name: chart_{number}\n    every: 24h\n    epsilon: 1\n    sql: |\n"
        f"{textwrap.indent(text, ' ' * 6)}\n"
        for number, text in enumerate(charts)
    )


def _database(name: str, more: str) -> Database:
    pair = servers()
    text = policy_text(exact=False).replace("database: shop", f"database: {name}")
    text = with_chosen_slots(text.replace("reuse: none", "reuse: 24h") + more)
    catalog = pair.catalogs["shop"]
    environment = {"SHOP_DSN": pair.source_dsns["shop"]}
    policy = fitted(read_policy(text, "shop.yaml", environment), catalog)
    shadow = Shadow(pair.shadow_server.dsn(), name, pair.shadow_server.address)
    shadow.build(policy, catalog, unjudged(policy))
    return assemble(policy, catalog, shadow, pair.lease(policy), LEDGER_CIPHER)


@pytest.fixture(scope="module")
def served() -> Iterator[LiveProxy]:
    proxy = start_proxy(servers(), [_database(DATABASE, ""), _database(PUBLISHED, _publish())])
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


def _total(proxy: LiveProxy, database: str = DATABASE) -> float:
    lease = proxy.assembly.databases[database].lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT epsilon_spent::float8 FROM ledger.lines_at(%s, '', '{}', transaction_timestamp())"
            " WHERE kind = 'total'",
            (lease.source,),
        ).fetchone()
    assert row is not None
    return float(row[0])


def _refreshed(
    proxy: LiveProxy, database: str, analysts: Sequence[str], refreshes: int
) -> list[list[list[bytes | None]]]:
    """So many views, by eight connections at once."""
    views: list[list[list[bytes | None]]] = []
    numbers = iter(range(refreshes))
    taking = threading.Lock()

    def refresh(analyst: str) -> None:
        with proxy.connect(database, analyst=analyst) as connection:
            while True:
                with taking:
                    if next(numbers, None) is None:
                        return
                views.append(_viewed(connection))

    asking = [
        threading.Thread(target=refresh, args=(analysts[n % len(analysts)],))
        for n in range(_CONNECTIONS)
    ]
    for one in asking:
        one.start()
    for one in asking:
        one.join(300)
    assert len(views) == refreshes
    return views


@pytest.mark.long
@pytest.mark.parametrize("refreshes", [8, pytest.param(100, marks=pytest.mark.long)])
def test_refreshes_cost_what_one_view_costs(served: LiveProxy, refreshes: int) -> None:
    """Of eight connections of three analysts: the total nothing more, and each analyst one view."""
    analysts = [served.servers.new_analyst() for _ in range(_ANALYSTS)]
    with served.connect(DATABASE, analyst=analysts[0]) as connection:
        first = _viewed(connection)
    one_view = served.when_settled(analysts[0])[1]
    total = _total(served)
    assert one_view <= total
    views = _refreshed(served, DATABASE, analysts, refreshes)
    assert all(view == first for view in views)
    assert _total(served) == pytest.approx(total)
    assert [served.when_settled(analyst)[1] for analyst in analysts] == pytest.approx(
        [one_view] * _ANALYSTS
    )


@pytest.mark.long
@pytest.mark.parametrize("refreshes", [8, pytest.param(100, marks=pytest.mark.long)])
def test_published_it_costs_analysts_nothing(served: LiveProxy, refreshes: int) -> None:
    """Each chart is answered from what was released for it, which the total has paid once, and so is each block
    of a chart that has two."""
    release_and_show(served, PUBLISHED)
    released = _total(served, PUBLISHED)
    charts = len(_STATEMENTS) - len(_OF_LISTED)
    assert released in (charts, 2 * charts)  # of two days at midnight
    analysts = [served.servers.new_analyst() for _ in range(_ANALYSTS)]
    with served.connect(PUBLISHED, analyst=analysts[0]) as connection:
        first = _viewed(connection)
        for number, text in enumerate(_STATEMENTS):
            explained = str(connection.execute(f"EXPLAIN (VERBOSE) {text}".encode()).fetchall())
            explained = explained.partition("Mechanisms and SQL")[
                2
            ]  # of which the lines before are the sum
            free = explained.count(f"Not read, at no cost: published.chart_{number} of 20")
            assert free == explained.count("Backend SQL: "), explained
            assert (free == 0) == (text in _OF_LISTED)
        table = connection.execute(
            "SELECT * FROM published.chart_6 ORDER BY orders DESC"
        ).fetchall()
    views = _refreshed(served, PUBLISHED, analysts, refreshes)
    assert all(view == first for view in views)
    rows = [tuple(str(value).encode() for value in row[:3]) for row in table]
    assert first[_STATEMENTS.index(CHARTS["table"][0])] == [value for row in rows for value in row]
    assert [served.spent(analyst) for analyst in analysts] == [(0, 0.0, 0)] * _ANALYSTS
    assert _total(served, PUBLISHED) == released
