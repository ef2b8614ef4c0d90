"""The query log: a line for each statement on protected tables, over both listeners, and for each charge."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from proxy.cli.assembly import assemble
from proxy.engine.answer_origin import AnswerSource
from proxy.policy.policy_model import Reuse
from proxy.servers.statement_reports import QueryLog, QueryReport
from tests.ledger_key import LEDGER_CIPHER
from tests.live_proxy import LiveProxy, sample_databases, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers
from tests.waiting import until

_COUNT = "SELECT count(*) FROM shop.orders"
_FIELDS = {
    *("event", "log_level", "at", "database", "listener", "analyst", "outcome", "source", "code"),
    *("kinds", "tables", "seconds", "fingerprint", "receipt", "epsilon", "delta", "rho"),
}


@dataclass(slots=True)
class Recorder:
    """Takes reports beside the log, so that a test knows when its statement has ended."""

    reports: list[QueryReport] = field(default_factory=list)

    def ended(self, report: QueryReport) -> None:
        self.reports.append(report)


@dataclass(slots=True)
class Watched:
    listeners: BothListeners
    log: QueryLog
    recorder: Recorder

    @property
    def proxy(self) -> LiveProxy:
        return self.listeners.proxy

    def ask(self, listener: str, sql: str, analyst: str) -> str | None:
        """Gives the SQLSTATE of its error."""
        if listener == "http":
            answer = self.listeners.query(sql, analyst=analyst)
            return None if answer.status_code == 200 else answer.json()["sqlstate"]
        with self.proxy.connect(analyst=analyst) as connection:
            try:
                connection.execute(sql.encode())
            except psycopg.Error as error:
                return error.sqlstate
        return None

    @contextmanager
    def lines(self) -> Iterator[list[dict[str, Any]]]:
        """Of the log, written while it is inside."""
        self.recorder.reports.clear()
        self.proxy.do(self.log.flush())
        found: list[dict[str, Any]] = []
        with capture_logs() as logs:
            yield found
            self.proxy.do(self.log.flush())
        found += [dict(line) for line in logs if line["event"] == "query"]

    def receipts(self, analyst: str) -> dict[int, str]:
        """Of the ledger, with the charged epsilon."""
        with psycopg.connect(self.proxy.servers.ledger_dsn) as ledger:
            of_analyst = (
                "SELECT id, trim_scale(epsilon)::text FROM ledger.receipt WHERE analyst = %s"
            )
            return dict(ledger.execute(of_analyst, (analyst,)).fetchall())


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    pair, log, recorder = servers(), QueryLog(), Recorder()
    proxy = start_proxy(pair, sample_databases(pair), observers=(log, recorder))
    listeners = open_http(proxy, observers=(log, recorder))
    yield Watched(listeners, log, recorder)
    listeners.close()
    proxy.stop()


@pytest.fixture
def analyst() -> str:
    return servers().new_analyst()


@contextmanager
def _locked(table: str) -> Iterator[None]:
    with psycopg.connect(servers().protected.dsn(), dbname="shop") as owner:
        owner.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
        yield


def _is_waiting_for_a_lock() -> bool:
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as owner:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return owner.execute(waiting).fetchone() != (0,)


@pytest.mark.parametrize("listener", ["wire", "http"])
def test_an_answer_has_a_line_with_what_the_ledger_knows(
    watched: Watched, listener: str, analyst: str
) -> None:
    joined = (
        "SELECT p.category, count(*), sum(o.total) FROM shop.orders o"
        " JOIN shop.products p ON p.id = o.product_id WHERE o.status = 'paid' GROUP BY p.category"
    )
    with watched.lines() as lines:
        assert watched.ask(listener, joined, analyst) is None
    (line,), receipts = lines, watched.receipts(analyst)
    assert set(line) == _FIELDS | ({"request_id"} if listener == "http" else set())
    assert (line["database"], line["listener"], line["analyst"]) == ("shop", listener, analyst)
    assert (line["outcome"], line["source"], line["code"]) == ("answered", "fresh", None)
    assert {line["receipt"]: line["epsilon"]} == receipts
    assert float(line["rho"]) > 0 and float(line["delta"]) >= 0
    assert line["kinds"] == ["count(*)", "sum"]
    assert line["tables"] == ["shop.orders", "shop.products"]
    assert line["seconds"] * 20 == pytest.approx(round(line["seconds"] * 20))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["at"])
    assert re.fullmatch(r"[0-9a-f]{12}", line["fingerprint"])


@pytest.mark.parametrize("listener", ["wire", "http"])
def test_a_refusal_has_its_code_and_no_receipt(
    watched: Watched, listener: str, analyst: str
) -> None:
    refused = "SELECT total FROM shop.orders WHERE total > 4711"
    with watched.lines() as lines:
        assert watched.ask(listener, refused, analyst) == "42501"
    told = {(one["outcome"], one["code"], one["analyst"], one["receipt"]) for one in lines}
    assert told == {("refused", "RAW_ROWS", analyst, None)}
    assert lines[0]["tables"] == ["shop.orders"] and "4711" not in json.dumps(lines)


@pytest.mark.parametrize("listener", ["wire", "http"])
def test_a_budget_that_is_spent(watched: Watched, listener: str, analyst: str) -> None:
    watched.proxy.set_limit("shop", analyst, "0.5", "0.1")
    with watched.lines() as lines:
        assert watched.ask(listener, _COUNT, analyst) == "53400"
    (line,) = lines
    assert (line["outcome"], line["code"]) == ("over_budget", "OVER_BUDGET")
    assert (line["receipt"], line["epsilon"], line["source"]) == (None, "0", None)


@pytest.mark.parametrize("listener", ["wire", "http"])
def test_what_fails_after_its_charge_has_the_receipt(
    watched: Watched, listener: str, analyst: str
) -> None:
    told: list[str | None] = []
    with (
        watched.lines() as lines,
        _locked("shop.orders"),
        _thread(lambda: told.append(watched.ask(listener, _COUNT, analyst))),
    ):
        until(_is_waiting_for_a_lock)
        with psycopg.connect(servers().protected.dsn(), autocommit=True) as owner:
            waiting = "pg_stat_activity WHERE wait_event_type = 'Lock'"
            owner.execute(f"SELECT pg_terminate_backend(pid) FROM {waiting}".encode())
        until(lambda: bool(told))
    (line,) = lines
    assert told == ["58000"]
    assert (line["outcome"], line["code"]) == ("failed", "UNAVAILABLE")
    assert {line["receipt"]: line["epsilon"]} == watched.receipts(analyst)


def test_a_client_that_cancels_or_leaves_has_a_line_with_the_receipt(
    watched: Watched, analyst: str
) -> None:
    with watched.lines() as lines:
        connection = watched.proxy.connect(analyst=analyst)
        with _locked("shop.orders"), _thread(lambda: _ended(connection)):
            until(_is_waiting_for_a_lock)
            connection.cancel_safe(timeout=60)
            until(lambda: len(watched.recorder.reports) == 1)
        connection.close()
        leaving = watched.proxy.connect(analyst=analyst)
        with _locked("shop.orders"):
            leaving.pgconn.send_query(_COUNT.encode())
            until(_is_waiting_for_a_lock)
            leaving.close()
            until(lambda: len(watched.recorder.reports) == 2)
    assert [one["outcome"] for one in lines] == ["cancelled", "cancelled"]
    assert {one["receipt"]: one["epsilon"] for one in lines} == watched.receipts(analyst)
    assert len(lines) == 2


def test_a_charge_that_was_on_its_way_when_the_client_left_has_a_line(
    watched: Watched, analyst: str
) -> None:
    """The balance is locked meanwhile, so that the ledger does not answer."""
    assert watched.ask("wire", _COUNT, analyst) is None  # the line of the balance is there
    with watched.lines() as lines:
        leaving = watched.proxy.connect(analyst=analyst)
        with psycopg.connect(watched.proxy.servers.ledger_dsn) as ledger:
            ledger.execute("SELECT FROM ledger.balance WHERE analyst = %s FOR UPDATE", (analyst,))
            leaving.pgconn.send_query(_COUNT.encode())
            until(lambda: _waits_in_the_ledger(watched))
            leaving.close()
            threading.Event().wait(0.3)
            assert watched.recorder.reports == [], "nobody knows yet whether it is charged"
        until(lambda: len(watched.recorder.reports) == 1)
    (line,) = lines
    assert line["outcome"] == "cancelled"
    assert line["receipt"] == max(watched.receipts(analyst))


def _waits_in_the_ledger(watched: Watched) -> bool:
    with psycopg.connect(watched.proxy.servers.ledger_dsn, autocommit=True) as ledger:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return ledger.execute(waiting).fetchone() != (0,)


def test_every_receipt_has_one_line_and_every_line_a_receipt_or_none(
    watched: Watched, analyst: str
) -> None:
    with watched.lines() as lines:
        for number in range(20):
            listener = ("wire", "http")[number % 2]
            watched.ask(listener, f"{_COUNT} WHERE quantity = {number % 5 + 1}", analyst)
    receipts = [one["receipt"] for one in lines]
    assert sorted(receipts) == sorted(watched.receipts(analyst)) and len(set(receipts)) == 20


def test_no_text_literal_label_or_number_of_an_answer_is_in_a_line(
    watched: Watched, analyst: str
) -> None:
    asked = (
        "SELECT state, count(*) FROM shop.customers"
        " WHERE state <> 'XY' AND birth_date < '1987-11-13' GROUP BY state"
    )
    with watched.lines() as lines, watched.proxy.connect(analyst=analyst) as connection:
        rows = connection.execute(asked).fetchall()
        for text in (
            "SELECT nothing_there FROM shop.orders",
            "SELECT sum('zebra') FROM shop.orders",
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(text.encode())
    written = [
        {k: v for k, v in one.items() if k not in ("at", "fingerprint", "receipt")} for one in lines
    ]
    text = json.dumps(written)
    assert len(rows) > 3 and written
    for secret in ("XY", "1987", "zebra", "nothing_there", "SELECT", "state", "birth_date"):
        assert secret not in text
    for _, count in rows:
        assert not re.search(rf"\b{count}\b", text)


def test_equal_statements_have_equal_fingerprints_that_no_one_can_guess(
    watched: Watched, analyst: str
) -> None:
    import hashlib

    with watched.lines() as lines:
        for text in (_COUNT, _COUNT, f"{_COUNT} WHERE quantity = 2"):
            assert watched.ask("wire", text, analyst) is None
    first, again, other = (one["fingerprint"] for one in lines)
    assert first == again != other
    assert first not in hashlib.sha256(_COUNT.encode()).hexdigest()


def test_what_reads_no_protected_table_has_no_line(watched: Watched, analyst: str) -> None:
    free = (
        *("SELECT 1", "SELECT count(*) FROM shop.products", "SELECT * FROM dp.budget"),
        *(f"EXPLAIN {_COUNT}", "SELECT * FROM shop.orders LIMIT 0"),
    )
    with watched.lines() as lines, watched.proxy.connect(analyst=analyst) as connection:
        for text in free:
            connection.execute(text.encode())
    assert lines == []


def test_numbers_in_the_place_of_names() -> None:
    numbered, named = QueryLog({"ann": 7}.get), QueryLog()
    report = _a_report("ann")
    for log, told in ((numbered, 7), (named, "ann")):
        log.ended(report)
        with capture_logs() as logs:
            asyncio.run(log.flush())
        assert [one["analyst"] for one in logs] == [told]


def test_a_disk_that_is_stuck_costs_lines_and_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.servers.statement_reports._MOST_WAITING", 3)
    log = QueryLog()
    for _ in range(5):
        log.ended(_a_report("ann"))
    with capture_logs() as logs:
        asyncio.run(log.flush())
    assert [one["event"] for one in logs] == ["query"] * 3 + ["query_lines_lost"]
    assert logs[-1]["number"] == 2


def _a_report(analyst: str) -> QueryReport:
    from proxy.servers.statement_reports import AskedStatement, Listener, Outcome

    asked = AskedStatement(kinds=("sum",), tables=("a.b",), fingerprint="0" * 12)
    return QueryReport(
        database="shop",
        listener=Listener.WIRE,
        analyst=analyst,
        outcome=Outcome.ANSWERED,
        source=None,
        code=None,
        charges=(),
        asked=asked,
        seconds=0.0,
    )


def _ended(connection: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error):
        connection.execute(_COUNT.encode())


@contextmanager
def _thread(act: Callable[[], object]) -> Iterator[None]:
    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join(60)


def test_a_repeated_answer_comes_from_the_cache_and_has_no_receipt() -> None:
    """Another analyst pays for it, and has its receipt."""
    pair, recorder = servers(), Recorder()
    policy = replace(pair.policies["shop"], reuse=Reuse(86_400))
    lease = pair.lease(policy)
    shop = assemble(policy, pair.catalogs["shop"], pair.shadows["shop"], lease, LEDGER_CIPHER)
    proxy = start_proxy(pair, [shop], observers=(recorder,))
    try:
        for analyst in (first := pair.new_analyst(), first, pair.new_analyst()):
            with proxy.connect(analyst=analyst) as connection:
                connection.execute(f"{_COUNT} WHERE quantity = 3".encode())
    finally:
        proxy.stop()
    drawn, again, other = recorder.reports
    assert (drawn.source, len(drawn.charges)) == (AnswerSource.FRESH, 1)
    assert (again.source, len(again.charges)) == (AnswerSource.CACHED, 0)
    assert len(other.charges) == 1 and other.charges[0].receipt > drawn.charges[0].receipt
    assert drawn.charges[0].rho == other.charges[0].rho is not None
