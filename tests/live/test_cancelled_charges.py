"""Whatever ends a statement and when, each charge has an outcome in the end: none stays reserved."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.pq import DiagnosticField

from proxy.base.errors import Refusal
from proxy.engine.policy_statements import ProtectedQuery
from proxy.query.syntax.statements import Statement
from tests.asked_by import run_by
from tests.cancelled_at import CancelledAt
from tests.fetching import fetched
from tests.live_proxy import LiveProxy, sample_databases, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers
from tests.waiting import until

_COUNT = "SELECT count(*) FROM shop.orders"


@pytest.fixture(scope="module")
def listeners() -> Iterator[BothListeners]:
    pair = servers()
    proxy = start_proxy(pair, sample_databases(pair))
    both = open_http(proxy)
    yield both
    both.close()
    proxy.stop()


def _question(proxy: LiveProxy) -> ProtectedQuery:
    statements = proxy.assembly.databases["shop"].engine.statements
    statement = statements.look(_COUNT)
    assert isinstance(statement, Statement)
    with proxy.connect() as connection:
        row = connection.execute("SELECT 'shop.orders'::regclass::oid::int").fetchone()
    assert row is not None
    question = statements.read(statement, (row[0],), ())
    assert question is not None
    return question


@pytest.mark.parametrize("is_late", [False, True])
def test_a_statement_that_is_cancelled_at_each_of_its_waits(
    listeners: BothListeners, is_late: bool
) -> None:
    proxy = listeners.proxy
    engine, question = proxy.assembly.databases["shop"].engine, _question(proxy)
    analyst = proxy.servers.new_analyst()

    async def at_each() -> int:
        number = 0
        while True:
            work = CancelledAt(run_by(engine, question, (), {}, analyst), number, is_late=is_late)

            async def run(work: CancelledAt = work) -> None:
                await work

            with contextlib.suppress(asyncio.CancelledError, Refusal):
                await asyncio.create_task(run())
            if not work.has_cancelled:
                return number
            number += 1

    waits = proxy.do(at_each())
    entries, _, unsettled = proxy.when_settled(analyst)
    assert unsettled == 0
    assert 1 < entries <= waits, "some are cancelled before the charge, some after"


@contextmanager
def _ledger_held(proxy: LiveProxy) -> Iterator[psycopg.Connection]:
    """Every charge waits meanwhile. Gives a connection that sees who does."""
    dsn = proxy.assembly.databases["shop"].lease.ledger_dsn
    with (
        psycopg.connect(dsn, autocommit=True) as watcher,
        psycopg.connect(dsn) as holder,
    ):
        holder.execute("SELECT FROM ledger.balance FOR UPDATE")
        yield watcher


def _is_charging(watcher: psycopg.Connection) -> bool:
    row = watcher.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND query LIKE '%ledger.reserve%' AND pid <> pg_backend_pid()"
    ).fetchone()
    return row == (1,)


@pytest.mark.parametrize("how", ["cancel", "leave", "leave http"])
def test_who_goes_while_the_ledger_charges(listeners: BothListeners, how: str) -> None:
    proxy = listeners.proxy
    analyst = proxy.servers.new_analyst()
    with proxy.connect(analyst=analyst) as connection:
        connection.execute(_COUNT)
        with _ledger_held(proxy) as watcher:
            if how == "leave http":
                with listeners.leaving("/v1/query", {"database": "shop", "sql": _COUNT}, analyst):
                    until(lambda: _is_charging(watcher))
            else:
                connection.pgconn.send_query(_COUNT.encode())
                connection.pgconn.flush()
                until(lambda: _is_charging(watcher))
                if how == "leave":
                    connection.close()
                else:
                    connection.cancel_safe(timeout=60)
                    result = fetched(connection)
                    assert result is not None
                    assert result.error_field(DiagnosticField.SQLSTATE) == b"57014"
                    assert fetched(connection) is None
            assert _is_charging(watcher), "a charge is not cancelled in the middle"
    until(lambda: proxy.spent(analyst)[0] == 2)
    assert proxy.when_settled(analyst)[2] == 0
