"""Bounds that end with the present, through a served proxy, over rows that lie in the future.

The ledger's clock is the test's: it says which day it is.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import psycopg
import pytest

from proxy.accounting import events
from proxy.base.errors import Fault
from proxy.cli.assembly import Database
from tests.live.published_tables import release_and_show
from tests.live.served_alone import served_alone
from tests.live.session_answers import answers_to, total_paid
from tests.live_proxy import LiveProxy
from tests.moving_world import day_number

_NAME = "moving_bounds"
# 1,000 visits on the first of each month of 2026 and 2027, one of each person.
_SCRIPT = """\
CREATE SCHEMA v;
CREATE TABLE v.visits (id int PRIMARY KEY, at timestamptz NOT NULL, day date);
INSERT INTO v.visits
SELECT m * 1000 + n, timestamptz '2026-01-01 12:00+00' + make_interval(months => m),
       (date '2026-01-01' + make_interval(months => m))::date
FROM generate_series(0, 23) m, generate_series(1, 1000) n;
CREATE TABLE v.still AS SELECT id FROM v.visits;
"""
_TABLES = """\
reuse: 24h
publish:
  - {name: by_month, every: 7d, epsilon: 1,
     sql: "SELECT date_trunc('month', at) AS month, count(*) AS n FROM v.visits GROUP BY 1"}
tables:
  v.visits:
    unit: row
    columns:
      at: {bounds: [2026-01-01, now]}
      day: {bounds: [2026-01-01, now]}
  v.still: {unit: row}
"""
_BY_MONTH = "SELECT to_char(date_trunc('month', at), 'YYYY-MM'), count(*) FROM v.visits GROUP BY 1 ORDER BY 1"
_BY_MONTH_OF_DATE = (
    "SELECT extract(month FROM day), count(*) FROM v.visits"
    " WHERE day >= '2026-10-01' GROUP BY 1 ORDER BY 1"
)


proxy = served_alone(_NAME, _SCRIPT, _TABLES, "best", most="2")


@pytest.fixture
def served(proxy: LiveProxy) -> Database:
    return proxy.assembly.databases[_NAME]


def _set_clock(monkeypatch: pytest.MonkeyPatch, served: Database, day: str) -> None:
    async def chosen() -> int:
        return day_number(day)

    monkeypatch.setattr(served.ledger, "day", chosen)


def test_rows_in_the_future_are_in_no_group(
    proxy: LiveProxy, served: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_clock(monkeypatch, served, "2026-06-15")
    analyst = proxy.servers.new_analyst()
    months, largest, whole = answers_to(
        proxy,
        analyst,
        _BY_MONTH,
        "SELECT max(day) FROM v.visits",
        "SELECT count(*) FROM v.visits",
        published="off",
    )
    assert [month for month, _ in months] == [f"2026-0{n}" for n in range(1, 7)]
    assert all(abs(n - 1000) < 60 for _, n in months), months  # the last one, too
    assert str(largest[0][0]) <= "2026-06-15"
    assert abs(whole[0][0] - 24_000) < 60  # no group, no bound


def test_the_next_day_has_its_own_groups_and_a_day_is_one_question(
    proxy: LiveProxy, served: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyst = proxy.servers.new_analyst()
    _set_clock(monkeypatch, served, "2026-11-30")
    before = answers_to(proxy, analyst, _BY_MONTH_OF_DATE, _BY_MONTH_OF_DATE, published="off")
    assert before[0] == before[1] and [int(month) for month, _ in before[0]] == [10, 11]
    assert proxy.when_settled(analyst)[1] == pytest.approx(1)
    _set_clock(monkeypatch, served, "2026-12-01")
    (after,) = answers_to(proxy, analyst, _BY_MONTH_OF_DATE, published="off")
    assert [int(month) for month, _ in after] == [10, 11, 12]
    assert all(abs(n - 1000) < 60 for _, n in after), after
    assert proxy.when_settled(analyst)[1] == pytest.approx(2)


def test_an_open_range_is_not_the_last_group(
    proxy: LiveProxy, served: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later rows meet a condition without an end, and are in no group: neither is made of the other."""
    _set_clock(monkeypatch, served, "2026-06-15")
    analyst = proxy.servers.new_analyst()
    _, from_june, march = answers_to(
        proxy,
        analyst,
        _BY_MONTH,
        "SELECT count(*) FROM v.visits WHERE at >= '2026-06-01'",
        "SELECT count(*) FROM v.visits WHERE at >= '2026-03-01' AND at < '2026-04-01'",
        published="off",
    )
    assert abs(from_june[0][0] - 19_000) < 60 and abs(march[0][0] - 1000) < 60


def test_psql_is_told_the_constant(
    proxy: LiveProxy, served: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_clock(monkeypatch, served, "2026-06-15")
    line = '"day" ends with 2026-06-15, which is now: later rows are in no group'
    analyst = proxy.servers.new_analyst()
    notices: list[str] = []
    with proxy.connect(_NAME, analyst=analyst) as connection:
        connection.add_notice_handler(lambda one: notices.append(one.message_primary or ""))
        connection.execute(_BY_MONTH_OF_DATE.encode())
        explained = connection.execute(f"EXPLAIN {_BY_MONTH_OF_DATE}".encode()).fetchall()
        listed = connection.execute(
            "SELECT column_name, low, high FROM dp.columns WHERE high IS NOT NULL ORDER BY 1"
        ).fetchall()
    assert any(line in one for one in notices), notices
    assert any(line in row[0] for row in explained), explained
    assert listed == [("at", "2026-01-01 00:00:00", "now"), ("day", "2026-01-01", "now")]


def test_the_receipt_tells_the_constant(
    proxy: LiveProxy, served: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each mechanism, and only where bounds move. In June the first statement has no group, no receipt."""
    _set_clock(monkeypatch, served, "2026-11-17")
    analyst = proxy.servers.new_analyst()
    still = "SELECT count(*) FROM v.still"
    answers_to(proxy, analyst, _BY_MONTH_OF_DATE, still, "SELECT max(day) FROM v.visits")
    with psycopg.connect(served.lease.ledger_dsn) as connection:
        told = connection.execute(
            "SELECT DISTINCT r.id, e ->> 'now' FROM ledger.receipt r, jsonb_array_elements(r.events) e"
            " WHERE r.analyst = %s ORDER BY 1",
            [analyst],
        ).fetchall()
        assert [day for _, day in told] == ["2026-11-17", None, "2026-11-17"]
        for (composed,) in connection.execute("SELECT events FROM ledger.receipt"):
            events.check(composed)


def test_the_ledgers_own_clock_is_that_of_its_server(proxy: LiveProxy, served: Database) -> None:
    today = datetime.now(timezone.utc).timestamp() // 86_400
    assert abs(proxy.do(served.ledger.day()) - today) <= 1


def test_a_release_is_of_the_day_of_its_slot(
    proxy: LiveProxy, served: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Released late, and asked again later in the week: it has the groups of the day when it was due."""
    publishing = served.publishing
    assert publishing is not None
    late = datetime(2026, 7, 9, 12, tzinfo=timezone.utc)
    monkeypatch.setattr(served.releases, "at", late)
    _set_clock(monkeypatch, served, late.date().isoformat())
    before = total_paid(proxy, _NAME)
    release_and_show(proxy, _NAME)
    assert total_paid(proxy, _NAME) == pytest.approx(before + 1)
    due = proxy.do(publishing.states())[0].due
    assert due is not None and timedelta(hours=12) < late - due < timedelta(days=7)
    analyst = proxy.servers.new_analyst()
    (rows,) = answers_to(proxy, analyst, "SELECT month, n FROM published.by_month ORDER BY 1")
    assert str(rows[-1][0])[:7] == "2026-07" and len(rows) == 7
    (source,) = served.engine.published.sources
    last = f"{due.date() - timedelta(days=1)} 23:59:59.999999+00"
    assert last in str(source.block.where)
    # The same question on the day of the slot is answered from it.
    _set_clock(monkeypatch, served, due.date().isoformat())
    answers_to(
        proxy,
        analyst,
        "SELECT date_trunc('month', at) AS month, count(*) AS n FROM v.visits GROUP BY 1",
    )
    assert proxy.spent(analyst)[1] == 0


def test_a_day_that_passes_between_plan_and_claim_is_planned_anew(
    proxy: LiveProxy, served: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing = served.publishing
    assert publishing is not None
    (of,) = publishing.publications
    at = datetime(2026, 9, 1, 0, 0, 1, tzinfo=timezone.utc)
    monkeypatch.setattr(served.releases, "at", at)
    due_day = served.releases.due_day

    async def of_yesterday(wanted: object, *, is_now: bool) -> int:
        return await due_day(of, is_now=is_now) - 1

    monkeypatch.setattr(served.releases, "due_day", of_yesterday)
    before = total_paid(proxy, _NAME)
    with pytest.raises(Fault):
        proxy.do(publishing.release(of, is_now=True))
    paid = total_paid(proxy, _NAME)
    assert paid == pytest.approx(before + 1)
    monkeypatch.setattr(served.releases, "due_day", due_day)
    monkeypatch.setattr(served.releases, "at", datetime(2026, 9, 1, 0, 5, tzinfo=timezone.utc))
    released = proxy.do(publishing.release(of, is_now=True))
    assert released.total_epsilon is None and total_paid(proxy, _NAME) == paid  # under that charge
    proxy.do(publishing.show())
    (source,) = served.engine.published.sources
    (key,) = source.block.keys
    assert key.values is not None and key.values[-1] == "2026-08-01 00:00:00+00"
