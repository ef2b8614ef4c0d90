"""Copies of a ledger, what is checked of it, and a ledger that has gone back."""

from __future__ import annotations

import stat
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.accounting.events import mechanism
from proxy.ledger.ledger_backup import BackupError, backup, restore
from proxy.ledger.ledger_check import ledger_problems
from proxy.ledger.ledger_mark import LedgerWentBack, Mark, MarkFile, mark_of
from proxy.ledger.ledger_migrations import LedgerTooNew, migrate
from proxy.ledger.ledger_tables import ChargeOutcome, LedgerTables
from proxy.ledger.users import add_analyst, verifiers
from tests.databases.ledger_database import loss, make_ledger, rows, set_limits, with_ledger


@pytest.fixture
def used(ledger_dsn: str) -> str:
    """Three receipts of two analysts, one of them settled."""
    set_limits(ledger_dsn, own="10", total="20")
    add_analyst(ledger_dsn, "alice", "a password")

    async def use(ledger: LedgerTables) -> None:
        for name in ("alice", "alice", "bob\ttab"):
            one = loss("0.5")
            receipt = await ledger.reserve(name, one, "f", "p", (mechanism(one),))
        await ledger.settle(receipt.id, ChargeOutcome.ANSWERED)

    with_ledger(ledger_dsn, use)
    return ledger_dsn


def _everything(dsn: str) -> list[object]:
    return [
        rows(dsn, f"SELECT to_jsonb(t)::text FROM ledger.{table} t ORDER BY 1")
        for table in ("receipt", "settlement", "balance", "allowance", "source", "analyst", "seen")
    ]


def test_there_and_back(used: str, tmp_path: Path) -> None:
    file = tmp_path / "ledger.backup"
    assert backup(used, file) == 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(BackupError, match="File exists"):
        backup(used, file)
    with psycopg.connect(used, autocommit=True) as connection:
        connection.execute("CREATE DATABASE again")
    again = make_conninfo(used, dbname="again")
    try:
        assert restore(again, file) == 3
        assert _everything(again) == _everything(used)
        assert mark_of(again) == mark_of(used), "the same ledger, as far as it has come"
        assert verifiers(again) == verifiers(used)
        assert ledger_problems(again) == ()

        async def use(ledger: LedgerTables) -> int:
            return (await ledger.reserve("alice", loss("1"), "f", "p")).id

        assert with_ledger(again, use) == 4, "numbers go on"
        with pytest.raises(BackupError, match="not empty"):
            restore(again, file)
        (tmp_path / "short").write_bytes(file.read_bytes()[:-30])
        changed = file.read_bytes().replace(b"alice", b"malice")
        (tmp_path / "changed").write_bytes(changed)
        for bad in ("short", "changed"):
            with pytest.raises(BackupError, match="not a whole backup"):
                restore(again, tmp_path / bad)
        with pytest.raises(BackupError, match="No such file"):
            restore(again, tmp_path / "nothing")
    finally:
        with psycopg.connect(used, autocommit=True) as connection:
            connection.execute("DROP DATABASE again WITH (FORCE)")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        ("UPDATE ledger.balance SET epsilon = 0 WHERE analyst = 'alice'", 'analyst "alice"'),
        ("UPDATE ledger.balance SET epsilon = 0 WHERE kind = 'total'", "everybody together"),
        ("DELETE FROM ledger.balance WHERE analyst = 'alice'", "no balance"),
        ("ALTER TABLE ledger.receipt DISABLE TRIGGER append_only", "not append-only"),
        ("DROP TRIGGER append_only ON ledger.operation", "not append-only"),
        (
            "ALTER TABLE ledger.receipt DISABLE TRIGGER append_only;"
            'UPDATE ledger.receipt SET events = \'[{"v": 2, "kind": "dlaplace"}]\' WHERE id = 1;'
            "ALTER TABLE ledger.receipt ENABLE TRIGGER append_only",
            "receipt 1: an event of kind 'dlaplace' with other fields",
        ),
        (
            "ALTER TABLE ledger.receipt DISABLE TRIGGER append_only;"
            "ALTER TABLE ledger.receipt DROP CONSTRAINT events_are_known;"
            'UPDATE ledger.receipt SET events = \'[{"v": 3, "kind": "dlaplace"}]\' WHERE id = 1;'
            "ALTER TABLE ledger.receipt ENABLE TRIGGER append_only",
            "receipt 1: an event of version 3",
        ),
        ("UPDATE ledger.balance SET rho = 0 WHERE kind = 'total'", "everybody together"),
        (
            "ALTER TABLE ledger.receipt DISABLE TRIGGER append_only;"
            "UPDATE ledger.receipt SET rho = 0 WHERE id = 1;"
            "UPDATE ledger.balance b SET rho = (SELECT s.rho FROM ledger.spent_since(b.source, b.kind,"
            " b.analyst, b.window_start) s);"
            "ALTER TABLE ledger.receipt ENABLE TRIGGER append_only",
            "receipt 1: its rho is not that of its events",
        ),
    ],
)
def test_what_is_wrong_is_found(used: str, spoil: str, told: str) -> None:
    assert ledger_problems(used) == ()
    with psycopg.connect(used, autocommit=True) as connection:
        connection.execute(spoil.encode())
    assert any(told in problem for problem in ledger_problems(used))


def test_a_ledger_that_has_gone_back_is_noticed(used: str, tmp_path: Path) -> None:
    file = MarkFile(tmp_path)
    now = mark_of(used)
    file.check(now)  # no mark yet
    file.write(now)
    file.check(now)
    assert file.read() == now
    assert stat.S_IMODE((tmp_path / "ledger.mark").stat().st_mode) == 0o600
    with pytest.raises(LedgerWentBack, match="gone back: its last receipt is 2, and receipt 3"):
        file.check(Mark(ledger=now.ledger, receipt=2))
    with pytest.raises(LedgerWentBack, match="another one"):
        file.check(Mark(ledger="another", receipt=9))
    (tmp_path / "ledger.mark").write_text("{")
    with pytest.raises(LedgerWentBack, match="cannot be read"):
        file.check(now)


def test_migrations_run_once_and_never_back(used: str) -> None:
    version = migrate(used)
    before = _everything(used)
    assert migrate(used) == version
    assert _everything(used) == before
    with psycopg.connect(used) as connection:
        connection.execute("INSERT INTO ledger.migration (version) VALUES (%s)", (version + 1,))
    with pytest.raises(LedgerTooNew, match="newer dpproxy"):
        migrate(used)


def test_a_new_window_counts_what_was_charged_while_its_lock_was_waited_for(used: str) -> None:
    """F16: the sum over the receipts of a new window was of a snapshot from before the lock."""
    set_limits(used, own="2", total="100")
    with psycopg.connect(used, autocommit=True) as setup:
        setup.execute("DELETE FROM ledger.balance WHERE analyst = 'carol'")
        setup.execute("SELECT ledger.reserve(1, 'carol', 1, 0, '[]', 'f', 'p')")
        with psycopg.connect(used) as first, psycopg.connect(used, autocommit=True) as second:
            first.execute("SELECT ledger.reserve(1, 'carol', 1, 0, '[]', 'f', 'p')")
            # Another period: the next charge adds the receipts up anew.
            setup.execute("UPDATE ledger.allowance SET period = 'week' WHERE kind = 'default'")
            # The second begins to wait, with a snapshot in which one receipt is there.
            second.pgconn.send_query(b"SELECT ledger.reserve(1, 'carol', 1, 0, '[]', 'f', 'p')")
            _wait_for_a_lock(setup)
            first.commit()
            while (result := second.pgconn.get_result()) is not None:
                assert result.error_message == b""
        granted = setup.execute(
            "SELECT sum(epsilon)::integer FROM ledger.receipt WHERE analyst = 'carol'"
        ).fetchone()
    assert granted == (2,), "the limit"


def _wait_for_a_lock(connection: psycopg.Connection) -> None:
    for _ in range(500):
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database()"
        ).fetchone()
        if row == (1,):
            return
        connection.execute("SELECT pg_sleep(0.01)")
    raise AssertionError("nobody waits")


def test_an_empty_ledger_has_no_problems(ledger_dsn: str) -> None:
    assert ledger_problems(ledger_dsn) == ()
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("DROP SCHEMA ledger CASCADE")
    make_ledger(ledger_dsn)
    assert mark_of(ledger_dsn).receipt == 0
