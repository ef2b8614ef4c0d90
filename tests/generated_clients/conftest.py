"""A served process with both HTTP listeners, in front of a real database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import httpx
import psycopg
import pytest

from proxy.accounting.amounts import Amount
from proxy.accounting.budget_lines import LineKind
from proxy.ledger.adjustments import Adjustment, WaitingRequest, adjust
from proxy.ledger.ledger_sources import known_sources
from tests.cli.commands import Serving, serving
from tests.cli.test_serving_with_a_ledger import Operator, connect
from tests.servers.http.administered import ledger_dsn_of
from tests.waiting import until

ANALYST, PASSWORD = "ann", "a long password"
SECRET = "0123456789abcdef" * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    running: Serving
    analysts: str
    administrators: str
    ledger_dsn: str

    def requested(self) -> int:
        """Ask as another person to give budget back, and give the number of the request."""
        (source,) = known_sources(self.ledger_dsn)
        nothing, one = Fraction(0), Fraction(1)
        for epsilon in (one, -one):
            by = Amount(epsilon, nothing)
            wanted = Adjustment(kind=LineKind.TOTAL, name="", by=by, reason="a test")
            done = adjust(self.ledger_dsn, source.id, wanted, "command line: ida")
        assert isinstance(done, WaitingRequest)
        return done.number

    def document(self, address: str) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{address}/openapi.json", timeout=60).json()
        return found

    def administer(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {SECRET}"}
        url = f"{self.administrators}/admin/v1{path}"
        return httpx.get(url, headers=headers, timeout=60).json()

    def databases(self) -> Any:
        told = httpx.get(f"{self.analysts}/v1/databases", auth=(ANALYST, PASSWORD), timeout=60)
        return told.json()["databases"]

    def connect(self) -> psycopg.Connection:
        return connect(self.running)


@pytest.fixture
def served(_process: Served) -> Served:
    """The process, when the analyst may query: another test may have restricted the database a second ago."""
    until(lambda: _process.databases() == ["shop"])
    return _process


@pytest.fixture(scope="session")
def _process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    operator = Operator(folder)
    operator.adopt()
    secrets = folder / "secrets"
    secrets.touch(mode=0o600)
    secrets.write_text(f"console {SECRET}\n")
    arguments = operator.arguments("--admin", "127.0.0.1:0", "--admin-secrets", secrets)
    with serving(folder, arguments, "administrators:", operator.environment) as running:
        yield Served(
            running=running,
            analysts=_address(running, "HTTP"),
            administrators=_address(running, "administrators"),
            ledger_dsn=ledger_dsn_of(operator.state),
        )
        assert running.stop() == 0


def _address(running: Serving, line: str) -> str:
    found = re.search(rf"^{line}: (?:http://)?([^/\n]+)", running.printed, re.MULTILINE)
    assert found is not None, running.printed
    return f"http://{found[1]}"
