"""A fault leaves one line in the log, whichever listener it came through.

It names what failed, and holds nothing of the statement, of the data or of the analyst's password."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
import structlog

from proxy.engine import query_pipeline
from proxy.ledger import ledger_tables
from proxy.ledger.ledger_home import embedded_ledger
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.protected_database import DatabaseSession, ProtectedDatabase
from proxy.turns.threads import Turn
from tests.audit.planner_mutants import sensitivity_halved
from tests.live_proxy import sample_databases, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD, servers

_LITERAL = "4711"
_COUNT = f"SELECT count(*) FROM shop.orders WHERE total > {_LITERAL}"
_AWAY = "the privacy budget ledger is not available"
_NEUTRAL = "the statement could not be run"
_HINT = "If it was charged, the charge stays. Try again later."

Lines = list[Mapping[str, Any]]
Told = tuple[str | None, str | None, str | None]  # SQLSTATE, message, hint


@dataclass(slots=True)
class Faulty:
    """Both listeners of one proxy, with a ledger's server of their own."""

    listeners: BothListeners
    ledger_server: EmbeddedPostgres

    def over_the_wire(self, sql: str = _COUNT) -> Told:
        with self.listeners.proxy.connect() as connection, pytest.raises(psycopg.Error) as caught:
            connection.execute(sql.encode())
        diag = caught.value.diag
        return diag.sqlstate, diag.message_primary, diag.message_hint

    def over_http(self, status: int, sql: str = _COUNT) -> Told:
        response = self.listeners.query(sql)
        assert response.status_code == status
        body = response.json()
        return body["sqlstate"], body["detail"], body["hint"]

    def last_receipt(self) -> int:
        history = self.listeners.get("/v1/history", database="shop").json()["history"]
        return int(history[0]["receipt"])

    def once(self, run: Callable[[], Told]) -> tuple[Told, Mapping[str, Any]]:
        """What the client was told, and the one line about it."""
        with structlog.testing.capture_logs() as lines:
            told = run()
            assert (
                self.listeners.get("/healthz").status_code == 200
            )  # what was logged is here by now
        text = repr(lines)
        for secret in (_LITERAL, "count(", "orders", PASSWORD, "secret"):
            assert secret not in text
        (line,) = (line for line in lines if line["log_level"] in ("error", "warning"))
        return told, line


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    home: Path = tmp_path_factory.mktemp("faults")
    ledger_server = EmbeddedPostgres(home, "ledger", tcp=False)
    ledger_server.start()
    pair = servers().beside_ledger(embedded_ledger(ledger_server))
    # So soon is told of a ledger that is away.
    with mock.patch.object(ledger_tables, "_WAIT_SECONDS", 1.0):
        proxy = start_proxy(pair, sample_databases(pair))
    listeners = open_http(proxy)
    yield Faulty(listeners, ledger_server)
    listeners.close()
    proxy.stop()
    ledger_server.stop()


def test_an_unforeseen_error(faulty: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"secret of {_COUNT}")

    monkeypatch.setattr(query_pipeline, "planned", broken)
    for run in (faulty.over_the_wire, lambda: faulty.over_http(500)):
        told, line = faulty.once(run)
        assert told == ("58000", _NEUTRAL, _HINT)
        assert line["event"] == "unexpected_error"
        assert (line["step"], line["kind"]) == ("run", "RuntimeError")
        assert line["raised_in"].startswith("broken:")


@pytest.mark.parametrize("form", ["EXPLAIN ", "EXPLAIN (VERBOSE) ", "EXPLAIN (FORMAT JSON) "])
def test_an_error_of_explain_speaks_of_no_charge(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"secret of {_COUNT}")

    def planned_over_http() -> Told:
        body = faulty.listeners.query(_COUNT, path="/v1/explain").json()
        return body["sqlstate"], body["detail"], body["hint"]

    monkeypatch.setattr(query_pipeline, "planned", broken)
    text = f"{form}{_COUNT}"
    runs = (
        functools.partial(faulty.over_the_wire, text),
        functools.partial(faulty.over_http, 500, text),
    )
    for run in (*runs, planned_over_http):
        told, line = faulty.once(run)
        assert told == ("58000", _NEUTRAL, "Nothing was charged. Try again later.")
        assert (line["event"], line["step"]) == ("unexpected_error", "explain")


def test_an_unforeseen_error_while_reading(faulty: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"secret of {_COUNT}")

    for database in faulty.listeners.proxy.assembly.databases.values():
        monkeypatch.setattr(database.engine.statements, "read", broken)
    for run in (faulty.over_the_wire, lambda: faulty.over_http(500)):
        told, line = faulty.once(run)
        assert told == ("58000", _NEUTRAL, _HINT)
        assert (line["event"], line["step"]) == ("unexpected_error", "read")


def test_a_fault_that_was_logged_below(faulty: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    """The protected database logs the kind and the reason, which the listeners do not know."""

    async def broken(*_: object) -> None:
        raise psycopg.OperationalError(f"secret of {_COUNT}")

    monkeypatch.setattr(DatabaseSession, "_tried", broken)
    for run in (faulty.over_the_wire, lambda: faulty.over_http(503)):
        told, line = faulty.once(run)
        assert told[:2] == ("58000", _NEUTRAL)
        charged = re.fullmatch(r"What it cost stays charged: receipt (\d+)\. .*", told[2] or "")
        assert charged is not None and int(charged[1]) == faulty.last_receipt()
        assert (line["event"], line["kind"]) == ("protected_statement_failed", "OperationalError")


def test_a_plan_that_is_not_private(faulty: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of the planner ends at the kernel. The client is told what it is told of every fault, the log
    has the rule and the digest of the plan; nothing is charged, and the protected database is asked for
    nothing."""
    opened = []
    real = ProtectedDatabase.session

    def counted(database: ProtectedDatabase, turn: Turn) -> object:
        opened.append(turn)
        return real(database, turn)

    monkeypatch.setattr(ProtectedDatabase, "session", counted)
    sql = f"SELECT count(*) FROM shop.orders WHERE total < {_LITERAL}"
    with faulty.listeners.proxy.connect() as connection:
        connection.execute(sql.encode())  # as the real planner has it
    before = faulty.listeners.proxy.spent()
    assert opened and before[0] > 0
    opened.clear()
    sensitivity_halved(monkeypatch)
    digests = set()
    runs: tuple[Callable[[str], Told], ...] = (
        faulty.over_the_wire,
        functools.partial(faulty.over_http, 503),
    )
    for place, run in enumerate(runs):
        told, line = faulty.once(functools.partial(run, f"{sql} AND total > {place}"))
        assert told == ("58000", _NEUTRAL, _HINT)
        assert (line["event"], line["step"], line["kind"]) == ("fault", "run", "NotPrivate")
        assert line["rule"] == "noise"
        assert line["condition"] == "a scale below what the results move by"
        assert re.fullmatch("[0-9a-f]{64}", line["plan"])
        digests.add(line["plan"])
    assert len(digests) == 2  # they were of two statements
    engine = faulty.listeners.proxy.assembly.databases["shop"].engine
    other = replace(engine.known, naming_key=b"another")
    monkeypatch.setattr(engine, "_known", other)
    _, line = faulty.once(functools.partial(runs[0], f"{sql} AND total > 0"))
    assert line["plan"] not in digests, "a name hangs on the ledger's key"
    assert faulty.listeners.proxy.spent() == before
    assert opened == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT 1, pg_terminate_backend(pg_backend_pid())",
    ],
)
def test_a_session_that_ends_itself_is_no_fault(faulty: Faulty, sql: str) -> None:
    """An analyst may do that as often as they like: no line of an operator's concern."""
    with faulty.listeners.proxy.connect() as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute(sql.encode())
    wire = caught.value.diag
    with structlog.testing.capture_logs() as lines:
        body = faulty.listeners.query(sql).json()
        assert faulty.listeners.query("SELECT 1").status_code == 200
    assert wire.sqlstate == body["sqlstate"] == "57P01"
    assert wire.message_primary == body["detail"]
    assert [line for line in lines if line["log_level"] not in ("info", "debug")] == []
    assert "session_ended_by_server" in {line["event"] for line in lines}


def test_a_ledger_that_is_away(faulty: Faulty) -> None:
    """The last of this file: the ledger does not come back."""
    faulty.ledger_server.stop()
    for run in (faulty.over_the_wire, lambda: faulty.over_http(503)):
        told, line = faulty.once(run)
        assert told == ("58000", _AWAY, _HINT)
        assert (line["event"], line["step"], line["failed"]) == ("fault", "run", _AWAY)
    response = faulty.listeners.get("/v1/budget", database="shop")
    assert (response.status_code, response.json()["detail"]) == (503, _AWAY)
    _, line = faulty.once(lambda: _budget(faulty))
    assert (line["event"], line["step"], line["failed"]) == ("fault", "request", _AWAY)


def _budget(faulty: Faulty) -> Told:
    body = faulty.listeners.get("/v1/budget", database="shop").json()
    return body["sqlstate"], body["detail"], body["hint"]
