"""What of the recorded statements of Superset (../shared/clients) and of its relative time ranges a published
table answers, as docs/how-to/publish.md 3 says."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest

from tests.live.published_tables import release_and_show
from tests.live.served_database import served_database
from tests.live.test_recorded_aggregates import SCRIPT, TABLES, recorded
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_CHARTS = [text for name, text in recorded() if name == "superset.sql"]
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not _CHARTS, reason="the corpus ../shared/clients is not here"),
]
NAME = "charts_published"
_OF_ROWS = "GROUP BY\n  id,"  # a table of rows: its groups are one row each
_SERIES = next((text for text in _CHARTS if "series_limit" in text), "")
_DAY = "date_trunc('day', now())"
_STATEMENTS = {
    "by_status": (
        "SELECT status, count(*) AS n, sum(amount) AS amount FROM public.orders GROUP BY 1",
        2,
    ),
    "top_statuses": (_SERIES.replace("AS at,", "AS again,"), 1),
    "by_day": (
        "SELECT date_trunc('day', at) AS day, status, count(*) AS n FROM public.orders"
        f" WHERE at >= {_DAY} - interval '30 days' AND at < {_DAY} GROUP BY 1, 2",
        1,
    ),
    "by_month": (
        "SELECT date_trunc('month', at) AS month, status, count(*) AS n FROM public.orders GROUP BY 1, 2",
        1,
    ),
    "of_two_weeks": (
        "SELECT count(*) AS n FROM public.orders WHERE at >= current_date - 14 AND at < current_date",
        1,
    ),
    "of_week": (
        f"SELECT count(*) AS n FROM public.orders WHERE at >= {_DAY} - interval '7 days' AND at < {_DAY}",
        1,
    ),
}


def _publish() -> str:
    return "publish:\n" + "".join(
        f"  - name: {name}\n    every: 24h\n    epsilon: {epsilon}\n    sql: |\n"
        f"{textwrap.indent(text, ' ' * 6)}\n"
        for name, (text, epsilon) in _STATEMENTS.items()
    )


@pytest.fixture(scope="module")
def proxy() -> Iterator[LiveProxy]:
    tables = f"reuse: 24h\n{_publish()}{TABLES}"
    served = start_proxy(servers(), [served_database(servers(), NAME, SCRIPT, tables, "best")])
    release_and_show(served, NAME)
    yield served
    served.stop()


def _spent(proxy: LiveProxy, text: str) -> float:
    analyst = proxy.servers.new_analyst()
    with proxy.connect(NAME, analyst=analyst) as connection:
        connection.execute(text.encode())
        connection.execute(text.encode())
    return proxy.when_settled(analyst)[1]


def test_recorded_charts_cost_nothing(proxy: LiveProxy) -> None:
    asked = [text for text in _CHARTS if _OF_ROWS not in text]
    assert len(asked) == 4
    assert [_spent(proxy, text.replace("recorded", NAME)) for text in asked] == [0, 0, 0, 0]


def _within(days: int) -> str:
    """As Superset writes `Last n days`: until this morning."""
    today = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    low, high = today - timedelta(days=days), today
    written = (
        f"TO_TIMESTAMP('{one:%Y-%m-%d %H:%M:%S.%f}', 'YYYY-MM-DD HH24:MI:SS.US')"
        for one in (low, high)
    )
    return "WHERE\n  at >= {}\n  AND at < {}\n".format(*written)


# By what is published they are answered, or why they are not.
_BY_DAY = (
    "SELECT DATE_TRUNC('day', at) AS at, status AS status, COUNT(*) AS count FROM public.orders "
)
_GROUP = "GROUP BY DATE_TRUNC('day', at), status ORDER BY count DESC LIMIT 10000"


def test_relative_ranges_of_the_day_cost_nothing(proxy: LiveProxy) -> None:
    assert _spent(proxy, f"{_BY_DAY}{_within(30)}{_GROUP}") == 0
    assert (
        _spent(proxy, f"SELECT COUNT(*) AS count FROM public.orders {_within(7)}LIMIT 50000") == 0
    )
    one_status = _GROUP.replace(", status", "")
    text = f"{_BY_DAY}{_within(30)} AND status = 'new' {one_status}"
    assert _spent(proxy, text.replace("status AS status, ", "")) == 0


def test_a_range_of_what_is_published_without_one_costs_nothing(proxy: LiveProxy) -> None:
    by_month = _BY_DAY.replace("'day'", "'month'")
    within = "WHERE at >= '2025-03-01' AND at < '2025-06-01' "
    assert _spent(proxy, by_month + within + _GROUP.replace("'day'", "'month'")) == 0


def test_what_is_not_published_is_paid(proxy: LiveProxy) -> None:
    """A range within another, a range that ends now, and what is less exact as a sum."""
    assert _spent(proxy, f"{_BY_DAY}{_within(10)}{_GROUP}") == pytest.approx(1)
    until_now = "SELECT count(*) FROM public.orders WHERE at >= now() - interval '7 days'"
    assert _spent(proxy, until_now) >= 1
    two_weeks = f"SELECT COUNT(*) AS count FROM public.orders {_within(14)}LIMIT 50000"
    assert _spent(proxy, two_weeks) == pytest.approx(1)  # by days, not by times
    summed = _BY_DAY.replace("DATE_TRUNC('day', at) AS at, ", "")
    assert _spent(proxy, f"{summed}{_within(30)}GROUP BY status") == pytest.approx(1)
