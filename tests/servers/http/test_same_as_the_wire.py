"""both listeners say the same: SQLSTATE, message, hint, position, detail; names and types of columns."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from psycopg.pq import DiagnosticField

from proxy.base.shown_numbers import shown_number
from tests.chosen_slots import far_window
from tests.servers.http.both_listeners import BothListeners

_REPORTED = {
    "sqlstate": DiagnosticField.SQLSTATE,
    "detail": DiagnosticField.MESSAGE_PRIMARY,
    "hint": DiagnosticField.MESSAGE_HINT,
}
_ORDERS, _CENSUS = "shop.orders", "census.adult"

ANSWERED = (
    f"SELECT count(*) FROM {_ORDERS}",
    f"SELECT count(*);-- {_ORDERS}",
    f"SELECT count(*) AS n, sum(total), avg(total), max(total) FROM {_ORDERS};",
    f"SELECT status, count(*) FROM {_ORDERS} GROUP BY status ORDER BY 2 DESC LIMIT 2",
    f"SELECT round(sum(total) / count(*), 2) AS mean, count(*)::text FROM {_ORDERS}",
    f"WITH x AS (SELECT status, count(*) AS n FROM {_ORDERS} GROUP BY status) SELECT sum(n) FROM x",
    "SELECT count(*) FROM orders WHERE created_at > '2021-01-01'",
    "SELECT state, count(*) FROM shop.customers GROUP BY 1 HAVING count(*) > 3",
    "SELECT max(birth_date) FROM shop.customers",
    f"SELECT corr(total, quantity), regr_slope(total, quantity) FROM {_ORDERS}",
    f"EXPLAIN SELECT count(*) FROM {_ORDERS}",
    f"EXPLAIN (FORMAT JSON) SELECT count(*) FROM {_ORDERS}",
    f"SELECT * FROM {_ORDERS} LIMIT 0",
    f"SELECT id, total FROM {_ORDERS} WHERE false",
    "SELECT 1 AS one, 'x', NULL, 1.5::numeric(6,2), now(), ARRAY[1, 2], '{}'::jsonb, true",
    "SELECT * FROM shop.products LIMIT 3",
    "SELECT * FROM dp.columns",
    "SHOW search_path",
    "SELECT relname FROM pg_class LIMIT 1",
    "SET dp.epsilon = 0.5",
    "TABLE shop.products",
    "VALUES (1, 'a')",
)
REFUSED = (
    "SELECT count(*) FROM shop.order",
    "SELECT * FROM custmers",
    "SELECT nosuchthing(1)",
    f"SELECT cuont(*) FROM {_ORDERS}",
    f"SELECT median(total) FROM {_ORDERS}",
    f"SELECT avg(created_at) FROM {_ORDERS}",
    'SELECT count(*) FROM shop.customers WHERE state = "TX"',
    "SELECT count(*) FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id WHERE o.idd IS NULL",
    "SELECT count(DISTINCT o.name) FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id",
    f"SELECT * FROM {_ORDERS}",
    f"SELECT id FROM {_ORDERS} WHERE total > 5",
    f"select\n\n   total from {_ORDERS}",
    f"SELECT 'é€𝄞', total FROM {_ORDERS}",
    f"TABLE {_ORDERS}",
    "SELECT name FROM shop.customers",
    "SELECT email, count(*) FROM shop.customers GROUP BY email",
    f"SELECT sum(id) FROM {_ORDERS}",
    f"SELECT count(*) FROM {_ORDERS} GROUP BY total::float8",
    f"SELECT count(*) FROM {_ORDERS} WHERE random() < 0.5",
    f"SELECT count(*) FROM {_ORDERS} o JOIN shop.customers c ON c.state = o.status",
    f"SELECT sum(DISTINCT total) FROM {_ORDERS}",
    f"SELECT corr(DISTINCT total, quantity) FROM {_ORDERS}",
    f"SELECT regr_r2(DISTINCT total, quantity) FROM {_ORDERS}",
    f"SELECT string_agg(status, ',') FROM {_ORDERS}",
    f"SELECT count(*) FROM {_ORDERS} TABLESAMPLE system (1)",
    f"SELECT count(*) FROM {_ORDERS} WHERE pg_sleep(0) IS NULL",
    f"SELECT count(ctid) FROM {_ORDERS}",
    f"SELECT count({_ORDERS.split('.')[1]}) FROM {_ORDERS}",
    f"SELECT count(*) OVER () FROM {_ORDERS}",
    f"SELECT array_agg(total) FROM {_ORDERS}",
    f"COPY {_ORDERS} TO STDOUT",
    f"CREATE TEMP TABLE t AS SELECT * FROM {_ORDERS}",
    f"INSERT INTO {_ORDERS} SELECT * FROM {_ORDERS}",
    f"UPDATE {_ORDERS} SET total = 0",
    f"DELETE FROM {_ORDERS}",
    f"TRUNCATE {_ORDERS}",
    f"DROP TABLE {_ORDERS}",
    f"CREATE VIEW v AS SELECT * FROM {_ORDERS}",
    "SELECT * FROM ledger.receipt",
    "SELECT dp.low(1)",
    "SELECT count(*) FROM shop.orders WHERE status = ANY (ARRAY(SELECT status FROM shop.orders))",
)
POSTGRES = (
    f"SELECT nothing FROM {_ORDERS}",
    f"SELECT count(nothing) FROM {_ORDERS}",
    f"SELECT corr(total) FROM {_ORDERS}",
    f"SELECT corr(total, status) FROM {_ORDERS}",
    "SELECT * FROM shop.nothing",
    "SELECT count(*) FROM nowhere.orders",
    f"SELECT count(* FROM {_ORDERS}",
    f"SELEC count(*) FROM {_ORDERS}",
    f"SELECT count(*) FROM {_ORDERS} WHERE total > 'x'",
    f"SELECT count(*) FROM {_ORDERS} WHERE total > status",
    f"SELECT count(*), status FROM {_ORDERS}",
    f"SELECT count(*) FROM {_ORDERS} WHERE count(*) > 1",
    f"SELECT mod(1, count(*) - count(*)) FROM {_ORDERS}",
    f"SELECT count(*)::int / 0 FROM {_ORDERS}",
    f"SELECT count(*) FROM {_ORDERS}; SELECT 1",
    "SELECT 1; SELECT 2",
    "SELECT 1 / 0",
    "SELECT 'abc'::int",
    "SELECT date '2020-13-01'",
    "SELECT nothing",
    "SELECT unknown_function(1)",
    "EXECUTE nothing(1)",
    "SELECT 'open",
    'SELECT "open',
    "SELECT repeat('x', -1)::int",
    "DECLARE c CURSOR FOR SELECT * FROM nothing",
    f"DECLARE c WRONG FOR SELECT * FROM {_ORDERS}",
    f"EXPLAIN SELECT nothing FROM {_ORDERS}",
    "SET work_mem = 'x'",
    "CREATE TABLE shop.t (a int)",
    "CREATE ROLE x",
    "SELECT pg_read_file('/etc/passwd')",
    "RESET nothing",
)
WITH_PARAMETERS: tuple[tuple[str, tuple[str | None, ...]], ...] = (
    (f"SELECT count(*) FROM {_ORDERS} WHERE total > $1", ("20",)),
    (f"SELECT count(*) FROM {_ORDERS} WHERE total > $1", ("x",)),
    (f"SELECT count(*) FROM {_ORDERS} WHERE total > $1", ("NaN",)),
    (f"SELECT count(*) FROM {_ORDERS} WHERE total > $1", (None,)),
    (f"SELECT count(*) FROM {_ORDERS} WHERE total > $1", ()),
    (f"SELECT count(*) FROM {_ORDERS} WHERE total > $1", ("1", "2")),
    (f"SELECT count(*) FROM {_ORDERS} WHERE total > $2", ("1", "2")),
    (f"SELECT count(*) + $1 FROM {_ORDERS} WHERE created_at > $2", ("1", "2021-01-01")),
    (f"SELECT count(*) + $1 FROM {_ORDERS} WHERE created_at > $2", ("1", "no date")),
    (f"SELECT total FROM {_ORDERS} WHERE total > $1", ("1",)),
    (f"SELECT count(*) FROM {_ORDERS} WHERE status = $1", ("it's; --",)),
    ("SELECT $1::int + $2", ("1", "2")),
    ("SELECT $1::int", ("x",)),
    ("SELECT $1", ()),
)
CENSUS = (
    f"SELECT sex, married, avg(age), sum(income) FROM {_CENSUS} GROUP BY sex, married",
    f"SELECT occupation, count(*) FROM {_CENSUS} GROUP BY occupation",
    f"SELECT zip FROM {_CENSUS}",
)


@pytest.mark.every(4)
@pytest.mark.parametrize("sql", (*ANSWERED, *REFUSED, *POSTGRES))
def test_statement(listeners: BothListeners, sql: str) -> None:
    there, here = listeners.over_the_wire(sql, (), "shop"), listeners.over_http(sql, (), "shop")
    assert here == there
    assert (here.error is None) == (sql in ANSWERED), here.error


_UNKNOWN = "SELECT count(*) FROM shop.orders o WHERE o.stat = 'paid'"  # its like is status
_DOORS = (
    "{}",
    "EXPLAIN {}",
    "PREPARE p AS {}",
    "PREPARE p (text) AS {} AND o.status = $1",
    "DECLARE c CURSOR WITH HOLD FOR {}",
    "COPY ({}) TO STDOUT",
    "CREATE TEMP TABLE t AS {}",
    "CREATE TEMP TABLE t AS {} WITH NO DATA",
    "CREATE TEMP VIEW v AS {}",
)


@pytest.mark.parametrize("door", _DOORS)
def test_an_unknown_column_by_every_door(listeners: BothListeners, door: str) -> None:
    """A hint names the columns of its table, and none of another spelling by PostgreSQL."""
    sql = door.format(_UNKNOWN)
    hints = [
        (one.error or {}).get("hint")
        for one in (listeners.over_http(sql, (), "shop"), listeners.over_the_wire(sql, (), "shop"))
    ]
    with listeners.proxy.connect("shop") as connection:
        for simple in (sql, f"SELECT 1; {sql}", f"SELECT count(*) FROM shop.orders; {sql}"):
            result = connection.pgconn.exec_(simple.encode())
            assert result.error_field(DiagnosticField.SQLSTATE) == b"42703"
            hints.append((result.error_field(DiagnosticField.MESSAGE_HINT) or b"").decode())
    (hint,) = set(hints)
    assert hint is not None and hint.startswith("Columns of shop.orders (o) that can be used: ")


@pytest.mark.parametrize(("sql", "params"), WITH_PARAMETERS)
def test_with_parameters(
    listeners: BothListeners, sql: str, params: tuple[str | None, ...]
) -> None:
    assert listeners.over_http(sql, params, "shop") == listeners.over_the_wire(sql, params, "shop")


@pytest.mark.parametrize("sql", CENSUS)
def test_of_the_census(listeners: BothListeners, sql: str) -> None:
    assert listeners.over_http(sql, (), "census") == listeners.over_the_wire(sql, (), "census")


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT count(*) FROM {_ORDERS} WHERE {' OR '.join(['total > 1'] * 3000)}",
        f"SELECT count(*) FROM {_ORDERS} WHERE {'(' * 60}total > 1{')' * 60}",
        f"SELECT count(*) FROM {_ORDERS} WHERE {'(' * 60}total > 1{')' * 59}",
        f"SELECT {' '.join(['NOT'] * 40)} (count(*) > 1) FROM {_ORDERS}",
    ],
    ids=["too long", "too deep", "too deep, and wrong", "too many NOTs"],
)
def test_too_complex(listeners: BothListeners, sql: str) -> None:
    here = listeners.over_http(sql, (), "shop")
    assert here == listeners.over_the_wire(sql, (), "shop")
    assert here.error is not None


@pytest.mark.parametrize("epsilon", ["5", "0", "-1", "2.0000001"])
def test_settings_out_of_range(listeners: BothListeners, epsilon: str) -> None:
    sql = f"SELECT count(*) FROM {_ORDERS}"
    with listeners.proxy.connect("shop") as connection:
        connection.execute("SELECT set_config('dp.epsilon', %s, false)", (epsilon,))
        result = connection.pgconn.exec_params(sql.encode(), [])
    problem = listeners.query(sql, epsilon=float(epsilon)).json()
    for member, field in _REPORTED.items():
        told = result.error_field(field)
        assert problem[member] == (None if told is None else told.decode())


def test_over_budget(listeners: BothListeners) -> None:
    poor = listeners.proxy.servers.new_analyst()
    listeners.proxy.set_limit("shop", poor, "1.5", "0.1", far_window())
    sql = f"SELECT count(*) FROM {_ORDERS}"
    first = listeners.query(sql, analyst=poor)
    assert first.json()["privacy"]["remaining"]["epsilon"] == 0.5
    second = listeners.query(sql, analyst=poor)
    assert second.status_code == 429
    with listeners.proxy.connect("shop", analyst=poor) as client:
        result = client.pgconn.exec_params(sql.encode(), [])
    problem = second.json()
    for member, field in _REPORTED.items():
        told = result.error_field(field)
        assert problem[member] == (None if told is None else told.decode())
    assert problem["sqlstate"] == "53400"
    assert listeners.proxy.spent(poor)[:2] == (1, 1.0)
    assert 0 < int(second.headers["Retry-After"]) <= 31 * 86_400
    assert "renews at" in problem["hint"]


@pytest.mark.parametrize(("epsilon", "period"), [("0.5", "month"), ("0.5", "none"), ("0", "day")])
def test_over_a_budget_that_waiting_does_not_help(
    listeners: BothListeners, epsilon: str, period: str
) -> None:
    """RFC 6585: 429 says that it may be sent again."""
    poor = listeners.proxy.servers.new_analyst()
    listeners.proxy.set_limit("shop", poor, epsilon, "0.1", period)
    refused = listeners.query(f"SELECT count(*) FROM {_ORDERS}", analyst=poor)
    assert refused.status_code == 403
    assert refused.json()["sqlstate"] == "53400"
    assert "Retry-After" not in refused.headers


def test_nearly_spent(listeners: BothListeners) -> None:
    """At 80 % each analyst is told once, by either listener; dp.notice need not be on."""
    poor = listeners.proxy.servers.new_analyst()
    listeners.proxy.set_limit("shop", poor, "5", "0.1", far_window())
    sql = f"SELECT count(*) FROM {_ORDERS}"
    warnings: list[list[str]] = []
    heard: list[str] = []
    for _ in range(2):
        found = listeners.query(sql, analyst=poor, epsilon=1.75)
        warnings.append([one for one in found.json()["notices"] if " % of " in one])
    with listeners.proxy.connect("shop", analyst=poor) as client:
        client.add_notice_handler(lambda told: heard.append(told.message_primary or ""))
        client.execute("SET dp.epsilon = 0.5")
        for _ in range(2):
            client.execute(sql.encode())
        lines = client.execute("SELECT analyst, epsilon_spent FROM dp.budget").fetchall()
    assert warnings == [[], []]
    (told,) = (one for one in heard if " % of " in one)
    assert told.startswith(f'differential privacy: 80 % of the privacy budget of "{poor}" is spent')
    assert "epsilon 4 of 5" in told and "renews at" in told
    assert lines[0] == (poor, Decimal("4.5")) and lines[-1][0] == "(everybody together)"


def _without_expectation(entry: dict[str, Any]) -> dict[str, Any]:
    """EXPLAIN says more of an answer than an answer does."""
    more = ("name", "written", "columns", "expected")
    return {key: value for key, value in entry.items() if key not in more}


def test_one_accuracy_is_reported_everywhere(listeners: BothListeners) -> None:
    sql = (
        "SELECT count(*), max(age), var_pop(age), corr(age, hours_per_week),"
        f" percentile_disc(0.5) WITHIN GROUP (ORDER BY age) FROM {_CENSUS}"
    )
    told = listeners.query(sql, database="census", path="/v1/explain").json()["aggregates"]
    planned = [_without_expectation(entry) for entry in told]
    assert listeners.query(sql, database="census").json()["accuracy"] == planned
    heard: list[str] = []
    with listeners.proxy.connect("census") as connection:
        row = connection.execute(f"EXPLAIN (FORMAT JSON) {sql}".encode()).fetchone()
        assert row is not None
        document = json.loads(row[0]) if isinstance(row[0], str) else row[0]
        (explained,) = document if isinstance(document, list) else (document,)
        assert explained["aggregates"] == told
        rows = connection.execute(f"EXPLAIN (VERBOSE) {sql}".encode()).fetchall()
        text = re.sub(r"\s+", " ", " ".join(line for (line,) in rows))
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        connection.execute("SET dp.notice = on")
        connection.execute(sql.encode())
    count, greatest, spread, pair, median = planned
    known = {
        "count": f"+-{shown_number(count['error_95'])}",
        "max": f"at least +-{shown_number(greatest['floor_95'])}",
        "var_pop": f"+-{shown_number(spread['error_times_rows'])} / n",
        "percentile_disc": f"+-{shown_number(median['error_in_rank'])} ranks",
    }
    for error in known.values():
        assert f", 95 % error {error}" in text
    (notice,) = heard
    first, *lines = notice.splitlines()
    assert first.endswith("; 95 % error:")
    # Now and then the percentile is above the maximum.
    lines = [
        line for line in lines if not line.endswith(": adjusted to agree with the other columns.")
    ]
    told = dict(line.strip().split(": ", 1) for line in lines if ": " in line)
    told = {
        name: text for name, text in told.items() if not name.startswith(("Values", "The error"))
    }
    assert list(told) == ["count", "max", "var_pop", "corr", "percentile_disc"]
    assert told["count"] == known["count"]
    ranks = f"{known['percentile_disc']}, no interval: it lies between about p"
    assert told["percentile_disc"].startswith(ranks)
    # The least that its error may be says nothing of how large it is.
    assert told["max"] == f"no interval: {greatest['no_interval']}"
    for name in ("var_pop", "corr"):  # of this answer
        assert re.fullmatch(r"\+-[\d,.e+]+", told[name])
    kinds = ("error_95", "floor_95", "error_times_rows", "error_in_rank", "error_times_bound")
    assert [pair[kind] for kind in kinds] == [None] * len(kinds)
    assert "shrinks with the number of rows" in pair["note"]
