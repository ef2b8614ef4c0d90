"""A process of the ledger's server is killed: the others end, the server goes on, and what was not on disk is
gone, though `pg_postmaster_start_time()` says the same as before."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import psycopg
import pytest

from proxy.drawing.answer_slots import CacheState
from proxy.ledger.cached_claims import CachedClaims
from proxy.ledger.ledger_tables import LedgerTables
from proxy.policy.policy_model import Reuse
from proxy.postgres.embedded import EmbeddedPostgres
from tests.asked_by import run_of
from tests.chosen_slots import slot_offset
from tests.databases.ledger_database import make_ledger, set_limits
from tests.databases.test_cached_claims import _question
from tests.ledger_key import LEDGER_CIPHER
from tests.waiting import until


async def _drawn(dsn: str) -> int:
    """A draw that is stored, and so may be shown."""
    tables = LedgerTables(dsn, 1, LEDGER_CIPHER)
    await tables.open()
    try:
        claims = CachedClaims(tables, Reuse(86_400, slot_offset(86_400)))
        claimed = await claims.claim(run_of("alice"), (_question(1),), "f", "p", may_draw=True)
        assert claimed is not None and claimed.states == (CacheState.DRAW,)
        (cached,) = claimed.cached
        assert cached is not None
        await claims.store(run_of("alice"), cached, "drawn")
        # At once: by itself it comes to the disk soon after.
        with psycopg.connect(dsn) as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)
        return cached
    finally:
        await tables.close()


@pytest.mark.long
def test_what_was_shown_is_not_drawn_again_under_its_charge(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, "ledger", tcp=False)
    server.start()
    try:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE DATABASE ledger")
        dsn = server.dsn("ledger")
        make_ledger(dsn)
        set_limits(dsn, own="5", total="5")
        cached = asyncio.run(_drawn(dsn))

        def relation() -> str | None:
            with psycopg.connect(dsn) as connection:
                row = connection.execute(
                    "SELECT relation FROM ledger.cached WHERE id = %s", (cached,)
                ).fetchone()
            assert row is not None
            return LEDGER_CIPHER.opened(row[0], ("cached relation", str(cached)))

        def is_back() -> bool:
            try:
                relation()
            except psycopg.OperationalError:
                return False
            return True

        until(is_back)
        assert relation() == "drawn"
    finally:
        server.stop()
