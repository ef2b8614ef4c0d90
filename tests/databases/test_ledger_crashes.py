"""What was charged stays charged, whatever is killed; a ledger that could lose it is not opened."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from proxy.accounting.statement_record import StatementRecord
from proxy.base.errors import Fault
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_tables import LedgerNotDurable, LedgerTables
from proxy.ledger.users import add_analyst
from proxy.postgres.embedded import EmbeddedPostgres
from tests.databases.ledger_database import loss, make_ledger, rows, set_limits, with_ledger
from tests.ledger_key import LEDGER_CIPHER
from tests.servers_fixture import Servers

ROOT = Path(__file__).parents[2]


def test_kill_9_between_reserve_and_settle_keeps_the_charge(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="10", total="10")
    program = (
        "import asyncio, sys\n"
        "from fractions import Fraction\n"
        "from proxy.ledger.ledger_tables import LedgerTables\n"
        "from proxy.mechanisms.loss import Loss\n"
        "from tests.ledger_key import LEDGER_CIPHER\n"
        "async def main():\n"
        "    ledger = LedgerTables(sys.stdin.readline().strip(), 1, LEDGER_CIPHER)\n"
        "    await ledger.open()\n"
        "    receipt = await ledger.reserve('alice', Loss(Fraction(4), Fraction(0)), 'f', 'p')\n"
        "    print(receipt.id, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as proxy:
        assert proxy.stdin is not None
        assert proxy.stdout is not None
        proxy.stdin.write(ledger_dsn + "\n")
        proxy.stdin.flush()
        receipt = int(proxy.stdout.readline())
        proxy.send_signal(signal.SIGKILL)
    assert rows(
        ledger_dsn,
        "SELECT r.id, r.epsilon::integer, s.outcome FROM ledger.receipt r"
        " LEFT JOIN ledger.settlement s ON s.receipt = r.id",
    ) == [(receipt, 4, None)]

    async def use(ledger: LedgerTables) -> Fraction:
        return (await ledger.lines("alice"))[0].left.epsilon

    assert with_ledger(ledger_dsn, use) == 6


def test_kill_9_of_the_server_loses_no_receipt(tmp_path: Path) -> None:
    """Reserve in a loop, kill the postmaster and every backend, start again: all that returned is there."""
    server = EmbeddedPostgres(tmp_path, "ledger")
    server.start()
    try:
        make_ledger(server.dsn())
        set_limits(server.dsn(), own="1000000", total="1000000")
        add_analyst(server.dsn(), "a", "x")
        with psycopg.connect(server.dsn()) as connection:
            connection.execute("INSERT INTO ledger.membership SELECT id, 'g' FROM ledger.analyst")
        read = StatementRecord(tables={"s.t": loss("1")})
        postmaster = server.process_id
        assert postmaster is not None

        async def use() -> list[int]:
            ledger = LedgerTables(server.dsn(), 1, LEDGER_CIPHER)
            await ledger.open()
            receipts: list[int] = []
            try:
                while True:
                    receipts.append((await ledger.reserve("a", loss("1"), "f", "p", (), read)).id)
                    if len(receipts) == 100:
                        os.kill(postmaster, signal.SIGKILL)
                        for process in Path("/proc").glob("[0-9]*"):
                            try:
                                if (process / "cwd").readlink() == server.home / "data":
                                    os.kill(int(process.name), signal.SIGKILL)
                            except OSError:
                                continue
            except Fault:
                return receipts
            finally:
                await ledger.close()

        returned = asyncio.run(use())
        assert len(returned) >= 100
        server.stop()
        server.start()
        kept = {row[0] for row in rows(server.dsn(), "SELECT id FROM ledger.receipt")}
        assert kept >= set(returned)
        assert len(kept) <= len(returned) + 1, "one may have been committed without an answer"
        spent = rows(
            server.dsn(), "SELECT kind, epsilon::integer FROM ledger.balance ORDER BY kind"
        )
        assert spent == [(kind, len(kept)) for kind in ("analyst", "group", "table", "total")]
        assert ledger_problems(server.dsn()) == ()
    finally:
        server.stop()


def test_a_ledger_that_could_lose_a_commit_is_not_opened(pair: Servers) -> None:
    async def open_it(dsn: str) -> None:
        ledger = LedgerTables(dsn, 1, LEDGER_CIPHER)
        with pytest.raises(LedgerNotDurable, match="fsync = on"):
            await ledger.open()

    asyncio.run(open_it(pair.protected.dsn()))  # made without fsync
