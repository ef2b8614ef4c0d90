"""An analyst who locks what dpproxy itself needs, through the running program."""

from __future__ import annotations

import contextlib
import functools
import time
from pathlib import Path

import psycopg
import psycopg.errors
import pytest

from tests.cli.commands import serving
from tests.cli.test_serving_with_a_ledger import Operator, connect, count, refused, within
from tests.machine_speed import allowed_wait

pytestmark = [pytest.mark.long, pytest.mark.timed]
_SOON = allowed_wait(4)  # from a command's end: a second of match_roles, and what a lock is let


def _open(connection: psycopg.Connection, *statements: str) -> None:
    for statement in (
        "SET idle_in_transaction_session_timeout = 0",
        "SET statement_timeout = 0",
        "BEGIN",
        *statements,
    ):
        connection.execute(statement.encode())


def _has_ended(session: psycopg.Connection) -> bool:
    """Until the session ends, its user is known to be gone: nothing is answered."""
    try:
        session.execute("SELECT count(*) FROM shop.customers")
    except psycopg.errors.InsufficientPrivilege:
        return False
    except psycopg.OperationalError:
        return True
    raise AssertionError("who is removed was answered")


def test_locks_keep_nobody_else_out(tmp_path: Path) -> None:
    """N1, N4: no login any more, then the end of the process; a user that could not be removed."""
    operator = Operator(tmp_path)
    operator.adopt()
    assert operator.run("user", "add", "eve", "--password-stdin", typed="eve's first one").code == 0
    with (
        serving(tmp_path, operator.arguments(), "HTTP:", operator.environment) as running,
        contextlib.ExitStack() as closing,
    ):
        holds, asks, locks, other = (
            closing.enter_context(contextlib.closing(connect(running, "eve", "eve's first one")))
            for _ in range(4)
        )
        _open(holds, "SELECT count(*) FROM pg_roles")
        asks.execute("CREATE TEMP TABLE part (a oid) PARTITION BY RANGE (a)")
        asks.pgconn.send_query(
            b"ALTER TABLE part ATTACH PARTITION pg_catalog.pg_authid FOR VALUES FROM (1) TO (2)"
        )
        time.sleep(0.3)
        begun = time.monotonic()
        with connect(running) as ann:
            count(ann)
        assert time.monotonic() - begun < _SOON
        asks.close()

        holds.close()

        _open(locks, "DO $$ BEGIN EXECUTE 'ALTER ' || 'ROLE eve PASSWORD ''1'''; END $$")
        assert operator.run("user", "remove", "eve").code == 0
        assert (
            operator.run("user", "add", "bob", "--password-stdin", typed="bob's first one").code
            == 0
        )
        assert within(_SOON.now(), lambda: not refused(running, "bob", "bob's first one"))
        assert within(_SOON.now(), lambda: refused(running, "eve", "eve's first one"))
        for session in (locks, other):
            assert within(_SOON.now(), functools.partial(_has_ended, session))
        assert running.stop() == 0
