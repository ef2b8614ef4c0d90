"""Through the whole proxy: a statement is charged to the budget of each month that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest
from psycopg.errors import Diagnostic

from proxy.cli.assembly import Database
from proxy.ledger.ledger_reports import spending, spent_budgets
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

# 400 buyers with a sale in each month from January to April 2026.
_SCRIPT = """\
CREATE SCHEMA m;
CREATE TABLE m.sales (id bigint PRIMARY KEY, buyer int NOT NULL, at timestamptz, paid int NOT NULL);
INSERT INTO m.sales SELECT 10 * b + n, b, '2025-12-15 12:00+00'::timestamptz + make_interval(months => n),
    b % 100 FROM generate_series(1, 400) b, generate_series(1, 4) n;
INSERT INTO m.sales VALUES (1, 7, NULL, 3), (2, 7, '2025-12-31 23:59:59+00', 3);
CREATE TABLE m.staff (id int PRIMARY KEY, age int NOT NULL);
INSERT INTO m.staff SELECT g, g % 60 FROM generate_series(1, 300) g;
"""
_TABLES = """\
tables:
  m.sales:
    unit: {buyer: buyer, per: month, of: at}
    append_only: on
    max_rows_per_unit: 2
    columns:
      at: {bounds: [2026-01-01, 2026-06-30]}
      paid: {bounds: [0, 100]}
  m.staff:
    unit: {member: id}
    max_rows_per_unit: 1
    columns: {age: {bounds: [0, 100]}}
"""
_FEBRUARY = "SELECT count(*), count(DISTINCT buyer) FROM m.sales WHERE at >= '2026-02-01' AND at < '2026-03-01'"
_BY_MONTH = (
    "SELECT date_trunc('month', at) AS month, count(*), count(DISTINCT buyer) FROM m.sales"
    " WHERE at >= '2026-01-01' AND at < '2026-04-01' GROUP BY 1 ORDER BY 1"
)


@pytest.fixture(scope="module")
def months() -> Iterator[LiveProxy]:
    pair = servers()
    plain = served_database(pair, "months", _SCRIPT, _TABLES, "best")
    kept = served_database(pair, "months_kept", _SCRIPT, f"{_TABLES}reuse: 24h\n", "best")
    proxy = start_proxy(pair, [plain, kept])
    yield proxy
    proxy.stop()


def _of(live: LiveProxy, name: str) -> Database:
    return live.assembly.databases[name]


def _spent(live: LiveProxy, name: str) -> dict[str, Decimal]:
    """What is spent of the total ('') and of each table and block."""
    lease = _of(live, name).lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        rows = connection.execute(
            "SELECT analyst, epsilon FROM ledger.balance WHERE source = %s AND kind IN ('table', 'total')",
            (lease.source,),
        ).fetchall()
    return {line: epsilon for line, epsilon in rows if epsilon}


def _more(live: LiveProxy, name: str, before: dict[str, Decimal]) -> dict[str, float]:
    after = _spent(live, name)
    return {
        line: float(spent - before.get(line, 0))
        for line, spent in after.items()
        if spent != before.get(line)
    }


def _asked(
    live: LiveProxy, text: str, name: str, analyst: str = ""
) -> tuple[list[tuple[object, ...]], str]:
    heard: list[str] = []

    def hear(diagnostic: Diagnostic) -> None:
        heard.append(diagnostic.message_primary or "")

    with live.connect(name, analyst=analyst or live.servers.new_analyst()) as connection:
        connection.add_notice_handler(hear)
        rows = connection.execute(text.encode()).fetchall()
    return rows, "\n".join(heard)


def test_each_month_that_is_read_pays_and_the_total_does_not(months: LiveProxy) -> None:
    before = _spent(months, "months")
    ((rows, people),), heard = _asked(months, _FEBRUARY, "months")
    assert rows == pytest.approx(400, abs=100) and people == pytest.approx(400, abs=100)
    assert _more(months, "months", before) == {"m.sales": 1, "buyer 2026-02": 1}
    assert "the block buyer 2026-02 is read: its budget pays, and not the total" in " ".join(
        heard.split()
    )
    before = _spent(months, "months")
    found, _ = _asked(months, _BY_MONTH, "months")
    assert [round(float(str(people)) / 400, 0) for _, _, people in found] == [1, 1, 1]
    paid = _more(months, "months", before)
    assert paid == {"m.sales": 1, **{f"buyer 2026-0{month}": 1 for month in (1, 2, 3)}}


def test_without_a_time_all_months_pay_and_rows_of_none_are_not_there(months: LiveProxy) -> None:
    before = _spent(months, "months")
    _asked(months, "SELECT count(*) FROM m.sales WHERE at IS NULL", "months")
    assert _more(months, "months", before) == {
        "m.sales": 1,
        **{f"buyer 2026-0{n}": 1 for n in range(1, 7)},
    }


def test_other_tables_are_charged_to_the_total(months: LiveProxy) -> None:
    before = _spent(months, "months")
    _asked(months, "SELECT count(*) FROM m.staff", "months")
    assert _more(months, "months", before) == {"": 1, "m.staff": 1}
    with pytest.raises(psycopg.Error, match="blocks of time and others"):
        _asked(
            months,
            "SELECT (SELECT count(*) FROM m.staff), (SELECT count(*) FROM m.sales)",
            "months",
        )


def test_explain_and_budgets_name_the_months(months: LiveProxy) -> None:
    analyst = months.servers.new_analyst()
    lines, _ = _asked(months, f"EXPLAIN {_BY_MONTH}", "months", analyst)
    told = " ".join(" ".join(str(line) for (line,) in lines).split())
    assert "protected: a buyer in a month with all rows" in told
    assert (
        "3 blocks of time are read, buyer 2026-01 to buyer 2026-03: the budget of each pays" in told
    )
    assert "count(DISTINCT buyer)" in told and "is null" not in told and "beyond" not in told
    _asked(months, _FEBRUARY, "months", analyst)
    rows, _ = _asked(months, "SELECT analyst, epsilon_spent FROM dp.budget", "months", analyst)
    spent = {str(name): epsilon for name, epsilon in rows}
    assert spent["(buyer 2026-02)"] == float(_spent(months, "months")["buyer 2026-02"])
    assert "(everybody together)" in spent and not any("2026-07" in name for name in spent)
    lease = _of(months, "months").lease
    names = {line[1] for line in spending(lease.ledger_dsn)}
    assert "(buyer 2026-02)" in names and "(buyer 2026-07)" not in names
    assert "table:buyer 2026-02" in spent_budgets(lease.ledger_dsn, lease.source).lines


def test_a_month_that_is_spent_ends_and_others_go_on(months: LiveProxy) -> None:
    lease = _of(months, "months").lease
    with psycopg.connect(lease.ledger_dsn, autocommit=True) as connection:
        connection.execute(
            "UPDATE ledger.allowance SET epsilon = 0.5 WHERE source = %s AND analyst = 'buyer 2026-04'",
            (lease.source,),
        )
    april = "SELECT count(*) FROM m.sales WHERE at >= '2026-{:02}-01' AND at < '2026-{:02}-01'"
    before = _spent(months, "months")
    with pytest.raises(psycopg.Error, match="the privacy budget of buyer 2026-04 does not cover"):
        _asked(months, april.format(4, 5), "months")
    with pytest.raises(psycopg.Error, match="the privacy budget of buyer 2026-04 does not cover"):
        _asked(months, april.format(1, 5), "months")
    assert _more(months, "months", before) == {}
    _asked(months, april.format(5, 6), "months")
    assert _more(months, "months", before) == {"m.sales": 1, "buyer 2026-05": 1}
    with psycopg.connect(lease.ledger_dsn, autocommit=True) as connection:
        connection.execute(
            "DELETE FROM ledger.allowance WHERE source = %s AND analyst = 'buyer 2026-06'",
            (lease.source,),
        )
    with pytest.raises(psycopg.Error, match="ledger is not available"):
        _asked(months, april.format(6, 7), "months")


def test_what_is_cached_is_charged_once_and_reads_no_more_months(months: LiveProxy) -> None:
    """A condition on one month is not drawn as a group of all of them."""
    before = _spent(months, "months_kept")
    first, _ = _asked(months, _FEBRUARY, "months_kept")
    assert _more(months, "months_kept", before) == {"m.sales": 1, "buyer 2026-02": 1}
    before = _spent(months, "months_kept")
    assert _asked(months, _FEBRUARY, "months_kept")[0] == first
    assert _more(months, "months_kept", before) == {}


@pytest.mark.parametrize(
    ("refused", "hint", "shows"),
    [
        (
            "SELECT count(DISTINCT buyer) FROM m.sales",
            "Add GROUP BY date_trunc('month', at), or a condition that leaves one month of at.",
            (
                "SELECT date_trunc('month', at), count(DISTINCT buyer) FROM m.sales"
                " GROUP BY date_trunc('month', at)",
                "SELECT count(DISTINCT buyer) FROM m.sales WHERE date_trunc('month', at) = '2026-01-01'",
            ),
        ),
        (
            "SELECT count(*) FROM m.sales WHERE buyer = 3",
            "Ask COUNT(DISTINCT buyer) of one month, or COUNT(*) of rows.",
            (_FEBRUARY, "SELECT count(*) FROM m.sales"),
        ),
    ],
)
def test_what_hints_show_runs(
    months: LiveProxy, refused: str, hint: str, shows: tuple[str, ...]
) -> None:
    with pytest.raises(psycopg.Error) as error:
        _asked(months, refused, "months_kept")
    assert error.value.diag.message_hint == hint
    for text in shows:
        _asked(months, text, "months_kept")
