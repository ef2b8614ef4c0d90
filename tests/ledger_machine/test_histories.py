"""The ledger beside the simple model, over any history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from psycopg.conninfo import make_conninfo

from tests.ledger_machine.machine import LedgerMachine
from tests.ledger_machine.one_transaction import LedgerInOneTransaction
from tests.servers_fixture import servers


@pytest.fixture
def empty_dsn() -> Iterator[str]:
    pair = servers()
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE machine")
        yield make_conninfo(pair.ledger_dsn, dbname="machine")
        server.execute("DROP DATABASE machine WITH (FORCE)")


def _run(ledger: LedgerInOneTransaction, histories: int, steps: int = 25, phases: tuple[Phase, ...] = (Phase.generate,)) -> None:
    machine = type("Machine", (LedgerMachine,), {"ledger": ledger})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=histories,
            stateful_step_count=steps,
            deadline=None,
            phases=phases,
            report_multiple_bugs=False,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_ledger_is_as_the_model(empty_dsn: str, tmp_path: Path) -> None:
    ledger = LedgerInOneTransaction(empty_dsn, tmp_path)
    try:
        _run(ledger, 100)
    finally:
        ledger.close()
