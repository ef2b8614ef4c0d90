"""a refusal says what to ask instead: SQL that runs for this analyst, made of the statement's own words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus

from proxy.base.errors import Code
from proxy.query.corrections import CORRECTIONS
from proxy.servers.http.instead import correcting_of
from proxy.servers.statement_reports import QueryReport
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.analyst_sessions import InnerLogins, ShadowSessions
from tests.live.hinted_statements import HINTED
from tests.live.test_refusals import REFUSED
from tests.servers.http import test_same_as_the_wire
from tests.servers.http.both_listeners import BothListeners, open_http

_ORDERS = "FROM shop.orders"
_COUNT = f"SELECT count(*) {_ORDERS}"
_BY_STATUS = f"SELECT status, count(*) {_ORDERS} GROUP BY status"
# A slip that newcomers and language models make -> the statement to ask instead, None: there is none.
INSTEAD: dict[str, str | None] = {
    f"SELECT * {_ORDERS}": _COUNT,
    f"select *\n {_ORDERS} -- all\nWHERE total > 5 ORDER BY id LIMIT 20;": f"{_COUNT} WHERE total > 5",
    f"SELECT id, status, total {_ORDERS} WHERE status = 'paid' LIMIT 9": (
        f"SELECT status, count(*), avg(total) {_ORDERS} WHERE status = 'paid' GROUP BY status"
    ),
    f"SELECT DISTINCT customer_id {_ORDERS}": _COUNT,
    "TABLE shop.orders": _COUNT,
    f"SELECT status, count(*) {_ORDERS}": _BY_STATUS,
    f"SELECT status, total, count(*) {_ORDERS} GROUP BY status": (
        f"SELECT status, avg(total), count(*) {_ORDERS} GROUP BY status"
    ),
    f"SELECT customer_id, count(*) {_ORDERS} GROUP BY customer_id": (
        f"SELECT avg(n) FROM (SELECT customer_id, count(*) AS n {_ORDERS} GROUP BY customer_id) q"
    ),
    f"SELECT customer_id, sum(total) {_ORDERS} GROUP BY customer_id": (
        f"SELECT avg(n) FROM (SELECT customer_id, sum(total) AS n {_ORDERS} GROUP BY customer_id) q"
    ),
    # A condition on one customer leaves nothing that noise does not hide.
    f"SELECT * {_ORDERS} WHERE customer_id = 42": _COUNT,
    f"SELECT * {_ORDERS} WHERE total BETWEEN 1 AND 5 AND customer_id IN (4, 2) AND status = 'paid'": (
        f"{_COUNT} WHERE total BETWEEN 1 AND 5 AND status = 'paid'"
    ),
    f"SELECT avg(totl) {_ORDERS} o WHERE 42 = o.customer_id": f"SELECT avg(total) {_ORDERS} o",
    f"SELECT total {_ORDERS} ORDER BY total DESC LIMIT 1": f"SELECT max(total) {_ORDERS}",
    f"SELECT * {_ORDERS} WHERE status = 'paid' ORDER BY total LIMIT 1": (
        f"SELECT min(total) {_ORDERS} WHERE status = 'paid'"
    ),
    f"SELECT state, count(*) {_ORDERS} GROUP BY state": (
        f"SELECT state, count(*) {_ORDERS} JOIN shop.customers ON customers.id = orders.customer_id"
        " GROUP BY state"
    ),
    f"SELECT category, sum(total) {_ORDERS} o GROUP BY 1": (
        f"SELECT category, sum(total) {_ORDERS} o JOIN shop.products ON products.id = o.product_id GROUP BY 1"
    ),
    f"SELECT sum(product_id) {_ORDERS} WHERE total > 5": f"SELECT count(product_id) {_ORDERS} WHERE total > 5",
    f"SELECT median(total) {_ORDERS}": f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) {_ORDERS}",
    f"SELECT year(created_at), count(*) {_ORDERS} GROUP BY 1": (
        f"SELECT extract(year FROM created_at), count(*) {_ORDERS} GROUP BY 1"
    ),
    f"SELECT sum(ifnull(total, 0)) {_ORDERS}": f"SELECT sum(coalesce(total, 0)) {_ORDERS}",
    f"SELECT string_agg(status, ',') {_ORDERS}": _BY_STATUS,
    f"SELECT sum(DISTINCT total) {_ORDERS}": f"SELECT sum(total) {_ORDERS}",
    f"SELECT sum(ln(quantity - 1)) {_ORDERS}": f"SELECT sum(ln(greatest(quantity - 1, 1))) {_ORDERS}",
    f"{_COUNT} o JOIN shop.customers c ON c.id = o.product_id WHERE o.total > 5": (
        f"{_COUNT} o JOIN shop.customers c ON o.customer_id = c.id WHERE o.total > 5"
    ),
    f"{_COUNT} o FULL JOIN shop.customers c ON c.id = o.customer_id": (
        f"{_COUNT} o LEFT JOIN shop.customers c ON c.id = o.customer_id"
    ),
    f"SELECT avg(totl) {_ORDERS}": f"SELECT avg(total) {_ORDERS}",
    "SELECT count(*) FROM shop.order": _COUNT,
    "SELECT * FROM shop.order": _COUNT,  # refused for two reasons
    f"CREATE TEMP TABLE t AS SELECT status, count(*) {_ORDERS} GROUP BY status": _BY_STATUS,
    f"{_COUNT} WHERE random() < 0.5": None,
    f"COMMIT; SELECT * {_ORDERS}": None,
    f"SELECT * {_ORDERS}; DROP TABLE shop.orders": None,
    "DROP TABLE shop.orders": None,
    "SELECT * FROM ledger.receipt": None,
    "SELECT 1 / 0": None,
}


@pytest.fixture(scope="module")
def wire(listeners: BothListeners) -> Iterator[str]:
    """A listener of the wire with hints that say what to ask instead: where it is."""
    proxy = listeners.proxy
    inner = InnerLogins(proxy.servers.shadow_server.dsn())

    async def start() -> tuple[WireServer, ShadowSessions]:
        addresses = {
            name: one.shadow.analyst_host_port for name, one in proxy.assembly.databases.items()
        }
        sessions = ShadowSessions(addresses, inner=inner)
        server = proxy.assembly.wire_server(
            correcting=correcting_of(proxy.assembly.engines, sessions)
        )
        await server.start("127.0.0.1", 0)
        return server, sessions

    server, sessions = proxy.do(start())
    yield proxy.servers.analyst_dsn("shop", listeners.analyst, server.address[1])
    proxy.do(server.stop(1))
    proxy.loop.call_soon_threadsafe(sessions.close)


@pytest.mark.parametrize("is_prepared", [False, True])
def test_the_hint_of_the_wire_says_it_too(
    is_prepared: bool, wire: str, listeners: BothListeners
) -> None:
    """Of refusals of ours; PostgreSQL's own errors are told in its words."""
    spent = listeners.proxy.when_settled(listeners.analyst)
    with psycopg.connect(wire, autocommit=True) as connection:
        told = 0
        for sql, instead in INSTEAD.items():
            if sql.startswith("CREATE TEMP"):  # what outlives a request is refused over HTTP alone
                continue
            text, server = sql.encode(), connection.pgconn
            result = server.exec_params(text, []) if is_prepared else server.exec_(text)
            hint = (result.error_field(DiagnosticField.MESSAGE_HINT) or b"").decode()
            sqlstate = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()
            assert result.status == ExecStatus.FATAL_ERROR
            if sqlstate in CORRECTIONS:
                assert "Try: " not in hint
                continue
            if instead is None:  # of several statements the one that is refused
                assert ("Try: " in hint) == (";" in sql and not is_prepared)
                continue
            assert hint.endswith(f" Try: {instead}"), (sql, hint)
            told += 1
        assert told > 10
        connection.execute("SET dp.epsilon = '0.5'")
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(f"SELECT * {_ORDERS}")
        assert (caught.value.diag.message_hint or "").endswith(f"Try: {_COUNT}")
    assert listeners.proxy.when_settled(listeners.analyst) == spent


@pytest.mark.every(3)
@pytest.mark.parametrize("sql", INSTEAD)
def test_what_to_ask_instead(sql: str, listeners: BothListeners) -> None:
    for path in ("/v1/query", "/v1/explain"):
        problem = listeners.query(sql, path=path)
        assert problem.status_code >= 400
        assert problem.json().get("instead") == INSTEAD[sql]


def test_parameters_stay(listeners: BothListeners) -> None:
    problem = listeners.query(f"SELECT * {_ORDERS} WHERE total > $1", 5).json()
    assert problem["instead"] == f"{_COUNT} WHERE total > $1"
    # Without the statement's own parameters a candidate is not what was asked with them.
    problem = listeners.query(f"SELECT total + $1::int {_ORDERS}", 5).json()
    assert "instead" not in problem


@pytest.mark.long
def test_each_runs_and_nothing_is_charged_for_it(listeners: BothListeners) -> None:
    analyst = listeners.proxy.servers.new_analyst()
    refused = [one.text for one in REFUSED] + list(test_same_as_the_wire.REFUSED)
    refused += [one.refused for one in HINTED.values() if "kinds." not in one.refused]
    found: list[str] = []
    codes: dict[str, set[bool]] = {}
    for sql in refused:
        response = listeners.query(sql, analyst=analyst)
        if response.status_code == 200:
            continue
        problem = response.json()
        codes.setdefault(problem["sqlstate"], set()).add("instead" in problem)
        if "instead" in problem:
            found.append(problem["instead"])
    assert listeners.proxy.when_settled(analyst)[0] == 0
    assert len(found) > 40 and {"42501", "0A000", "42703"} <= {
        code for code, has in codes.items() if True in has
    }
    for sql in dict.fromkeys(found):
        answered = listeners.query(sql, analyst=analyst)
        assert answered.status_code == 200, (sql, answered.text)
        assert answered.json()["privacy"]["epsilon"] > 0


def test_it_respects_what_the_analyst_chose(listeners: BothListeners) -> None:
    """An epsilon that no statement may have refuses the candidates, too."""
    assert "instead" not in listeners.query(f"SELECT * {_ORDERS}", epsilon=99).json()
    assert "instead" in listeners.query(f"SELECT * {_ORDERS}", epsilon=0.5).json()


class _Recorder:
    def __init__(self) -> None:
        self.reports: list[QueryReport] = []

    def ended(self, report: QueryReport) -> None:
        self.reports.append(report)


@pytest.fixture
def recorded(listeners: BothListeners) -> Iterator[tuple[BothListeners, _Recorder]]:
    recorder = _Recorder()
    http = open_http(listeners.proxy, observers=(recorder,))
    yield http, recorder
    http.close()


def test_only_what_was_asked_is_reported(recorded: tuple[BothListeners, _Recorder]) -> None:
    http, recorder = recorded
    problem = http.query("SELECT avg(total + id) FROM shop.orders").json()
    assert problem["instead"] == _COUNT
    assert len(recorder.reports) == 1


def test_each_key_of_the_table_can_be_met() -> None:
    """A key is a code of ours, or an SQLSTATE of PostgreSQL's that none of ours has."""
    ours = {one.name for one in Code}
    for key in CORRECTIONS:
        assert key in ours or (len(key) == 5 and key[0] == "4")


def test_no_candidate_is_offered_that_says_nothing_of_protected_rows(
    listeners: BothListeners,
) -> None:
    problem: dict[str, Any] = listeners.query("SELECT cout(*) FROM shop.products").json()
    assert problem["sqlstate"] == "42883" and "instead" not in problem
