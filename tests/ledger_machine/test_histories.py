"""The ledger beside the simple model, over any history; and the faults that this finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test
from psycopg.conninfo import make_conninfo

from proxy.base.errors import Fault
from proxy.postgres.embedded import EmbeddedPostgres
from tests.ledger_machine.faults import FAULTS, planted
from tests.ledger_machine.machine import LedgerMachine
from tests.ledger_machine.on_a_server import LedgerOnServer
from tests.ledger_machine.one_transaction import LedgerInOneTransaction
from tests.servers_fixture import servers

# Histories, in which a fault is found. Flaky: numbers of rows are not given twice, so the replay of a history
# that was found to differ may differ, too.
_WITHIN = 1000


@pytest.fixture
def empty_dsn() -> Iterator[str]:
    pair = servers()
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE machine")
        yield make_conninfo(pair.ledger_dsn, dbname="machine")
        server.execute("DROP DATABASE machine WITH (FORCE)")


def _run(ledger: LedgerInOneTransaction | LedgerOnServer, histories: int) -> None:
    """Without shrinking, which takes minutes: `Phase.shrink` here for who looks for a cause."""
    machine = type("Machine", (LedgerMachine,), {"ledger": ledger})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=histories,
            stateful_step_count=25,
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


def _in_process(dsn: str, folder: Path, histories: int) -> None:
    ledger = LedgerInOneTransaction(dsn, folder)
    try:
        _run(ledger, histories)
    finally:
        ledger.close()


def test_some_histories(empty_dsn: str, tmp_path: Path) -> None:
    _in_process(empty_dsn, tmp_path, 6)


@pytest.mark.long
@pytest.mark.parametrize("thousand", range(1, 21))
def test_twenty_thousand_histories(empty_dsn: str, tmp_path: Path, thousand: int) -> None:
    """A thousand each time: Hypothesis keeps all that it has tried in memory."""
    del thousand
    _in_process(empty_dsn, tmp_path, 1000)


@pytest.mark.long
def test_three_hundred_histories_on_a_server(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, "ledger")
    server.start()
    try:
        _run(LedgerOnServer(server, tmp_path), 300)
    finally:
        server.stop()


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(empty_dsn: str, tmp_path: Path, fault: str) -> None:
    with planted(fault), pytest.raises((AssertionError, psycopg.Error, Fault, Flaky)):
        _in_process(empty_dsn, tmp_path, _WITHIN)
