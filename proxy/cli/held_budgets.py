"""What a command needs that charges a budget: the ledger checked, its lease held, and what draws."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from proxy.catalog.catalog_model import Catalog
from proxy.cli.checked_ledger import check_ledger
from proxy.cli.cli_error import CliError
from proxy.drawing.drawer import Drawer
from proxy.engine.os_random import OsRandom
from proxy.ledger.engine_ledger import EngineLedger
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_mark import MarkFile, mark_of
from proxy.ledger.ledger_sources import SourceError
from proxy.ledger.ledger_tables import LedgerTables
from proxy.policy.policy_model import Policy
from proxy.protected.protected_database import ProtectedDatabase


@contextmanager
def held_budgets(
    policy: Policy, source: int, ledger_dsn: str, state: Path, accept: str
) -> Iterator[None]:
    """Hold the lease on the budgets of a source, in a ledger that was checked.

    Args:
        policy: Its limits.
        source: Number of the data in the ledger.
        ledger_dsn: The ledger.
        state: The folder with its mark, which follows what is charged meanwhile.
        accept: As of `check_ledger`.

    Raises:
        CliError: The ledger may not be charged, or other limits are in force.
    """
    mark = MarkFile(state)
    check_ledger(ledger_dsn, mark, accept)
    try:
        lease = BudgetLease(ledger_dsn, source, policy)
    except SourceError as error:
        raise CliError(str(error)) from None
    try:
        yield
    finally:
        lease.close()
        mark.follow(mark_of(ledger_dsn))


@dataclass(frozen=True, slots=True, kw_only=True)
class Charging:
    """What draws from the policy's own source, and the ledger that it charges."""

    drawer: Drawer
    ledger: EngineLedger


@asynccontextmanager
async def charging(
    policy: Policy, catalog: Catalog, tables: LedgerTables
) -> AsyncIterator[Charging]:
    """Open the protected database and the ledger.

    Args:
        policy: Names the source.
        catalog: Of the source.
        tables: Of the source in the ledger, whose lease is held.
    """
    data, ledger = ProtectedDatabase(policy.source), EngineLedger(tables)
    await data.open()
    try:
        await ledger.open()
        try:
            yield Charging(drawer=Drawer(policy, catalog, data, OsRandom()), ledger=ledger)
        finally:
            await ledger.close()
    finally:
        await data.close()
