"""The high-water mark of the ledger after an orderly stop."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.ledger.ledger_mark import MARK_FILE
from tests.cli.operator_at_work import Operator
from tests.servers_fixture import servers
from tests.waiting import until


def _mark(operator: Operator) -> int:
    return int(json.loads((operator.state / MARK_FILE).read_text())["receipt"])


@pytest.mark.long
def test_it_is_that_of_the_last_receipt(tmp_path: Path) -> None:
    """Else a ledger that has lost what was charged just before the end would be accepted."""
    operator = Operator(tmp_path)
    operator.adopt("ann")
    with operator.serving() as listening:
        last = max(listening.query_over_http("ann") for _ in range(3))
        listening.running.stop()
    assert _mark(operator) == last


@pytest.mark.long
def test_it_does_not_follow_a_ledger_that_goes_back_meanwhile(tmp_path: Path) -> None:
    """Somebody restores the shared ledger under a running process: the next start has to tell of it."""
    with psycopg.connect(servers().ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE goes_back")
        dsn = make_conninfo(servers().ledger_dsn, dbname="goes_back")
        operator = Operator(tmp_path, ("--ledger", dsn))
        try:
            operator.adopt("ann")
            with operator.serving() as listening:
                last = max(listening.query_over_http("ann") for _ in range(3))
                until(lambda: _mark(operator) == last)
                with psycopg.connect(dsn) as ledger:
                    ledger.execute("SET session_replication_role = replica")  # it is append-only
                    ledger.execute("DELETE FROM ledger.receipt WHERE id = %s", (last,))
                listening.running.stop()
            assert _mark(operator) == last
        finally:
            server.execute("DROP DATABASE goes_back WITH (FORCE)")
