"""Copies of a ledger, what is checked of it, and a ledger that has gone back."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.accounting.events import mechanism
from proxy.ledger.ledger_backup import BackupError, backup, restore
from proxy.ledger.ledger_mark import LedgerWentBack, Mark, MarkFile, check_mark, mark_of
from proxy.ledger.ledger_reports import ledger_problems, observed_problems
from proxy.ledger.ledger_sources import known_sources
from proxy.ledger.ledger_tables import ChargeOutcome, LedgerTables
from proxy.ledger.report_facts import ledger_facts
from proxy.ledger.users import add_analyst, verifiers
from tests.databases.ledger_database import loss, make_ledger, rows, set_limits, with_ledger
from tests.servers_fixture import servers


@pytest.fixture
def used(ledger_dsn: str) -> str:
    """Three receipts of two analysts, one of them settled."""
    set_limits(ledger_dsn, own="10", total="20")
    add_analyst(ledger_dsn, "alice", "a password")

    async def use(ledger: LedgerTables) -> None:
        for name in ("alice", "alice", "bob\ttab"):
            one = loss("0.5")
            receipt = await ledger.reserve(name, one, "f", "p", (mechanism(one),))
        await ledger.settle_each({receipt.id: ChargeOutcome.ANSWERED})

    with_ledger(ledger_dsn, use)
    return ledger_dsn


def _everything(dsn: str) -> list[object]:
    return [
        rows(dsn, f"SELECT to_jsonb(t)::text FROM ledger.{table} t ORDER BY 1")
        for table in (
            *("receipt", "settlement", "balance", "allowance", "source", "analyst", "seen"),
            *("adjustment", "chain", "membership", "text_key", "policy_text"),
            "adjustment_request",
        )
    ]


def test_there_and_back(used: str, tmp_path: Path) -> None:
    file = tmp_path / "ledger.backup"
    with psycopg.connect(used) as connection:
        connection.execute("INSERT INTO ledger.membership SELECT id, 'g' FROM ledger.analyst")
        connection.execute("INSERT INTO ledger.text_key (key) VALUES ('k')")
        connection.execute("INSERT INTO ledger.policy_text VALUES ('p', E'a\\tb: 1\\n\\\\n')")
        connection.execute("SELECT ledger.adjust_at(1, 'total', '', 1, 0, 'why', 'me', now())")
        connection.execute("SELECT setval('ledger.cached_id_seq', 3)")
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
        (source,) = known_sources(again)
        (restored,) = ledger_facts(again, source, servers().policies["shop"]).restored
        assert re.fullmatch(r"on .* UTC as of \d{4}-.* UTC", restored)
        backup(again, tmp_path / "next")
        heads = [
            b'"table": "cached", "rows": 0, "last": 3',
            b'"table": "receipt", "rows": 3, "last": 3',
        ]
        for head in heads:
            assert head in (tmp_path / "next").read_bytes(), "a copy of the copy knows the numbers"

        async def use(ledger: LedgerTables) -> int:
            return (await ledger.reserve("alice", loss("1"), "f", "p")).id

        assert with_ledger(again, use) == 4, "numbers go on"
        numbers = "SELECT nextval('ledger.cached_id_seq')"
        assert rows(again, numbers) == [(4,)], "and those of rows that were gone by then"
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


@pytest.mark.every(3)
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


def test_a_new_window_counts_what_was_charged_while_its_lock_was_waited_for(used: str) -> None:
    """F16: the sum over the receipts of a new window was of a snapshot from before the lock."""
    set_limits(used, own="2", total="100")
    with psycopg.connect(used, autocommit=True) as setup:
        setup.execute("DELETE FROM ledger.balance WHERE analyst = 'carol'")
        setup.execute("SELECT ledger.reserve_at(1, 'carol', 1, 0, '[]', 'f', 'p', now())")
        with psycopg.connect(used) as first, psycopg.connect(used, autocommit=True) as second:
            first.execute("SELECT ledger.reserve_at(1, 'carol', 1, 0, '[]', 'f', 'p', now())")
            # Another period: the next charge adds the receipts up anew.
            setup.execute("UPDATE ledger.allowance SET period = 'week' WHERE kind = 'default'")
            # The second begins to wait, with a snapshot in which one receipt is there.
            second.pgconn.send_query(
                b"SELECT ledger.reserve_at(1, 'carol', 1, 0, '[]', 'f', 'p', now())"
            )
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


_OPENED = ("receipt", "settlement", "adjustment")


_CHANGES = (
    ("UPDATE ledger.receipt SET epsilon = 0.6 WHERE id = 2", "receipt 2, or what"),
    ("UPDATE ledger.receipt SET analyst = 'bob' WHERE id = 1", "receipt 1, or what"),
    ("UPDATE ledger.receipt SET fingerprint = 'g' WHERE id = 3", "receipt 3, or"),
    ("UPDATE ledger.receipt SET shares = NULL WHERE id = 2", "receipt 2, or what"),
    ("UPDATE ledger.receipt SET statement = 'x' WHERE id = 2", "receipt 2, or what"),
    ("UPDATE ledger.receipt SET digest = sha256('x') WHERE id = 2", "receipt 3, or"),
    ("DELETE FROM ledger.receipt WHERE id = 2", "missing from the chain: 1 before receipt 3"),
    ("DELETE FROM ledger.receipt WHERE id = 1", "missing from the chain: 1 before receipt 2"),
    (
        "DELETE FROM ledger.adjustment; DELETE FROM ledger.settlement;"
        " DELETE FROM ledger.receipt WHERE id = 3",
        "missing from the end of the chain: 2",
    ),
    (
        "ALTER TABLE ledger.receipt DISABLE TRIGGER join_chain;"
        " INSERT INTO ledger.receipt (source, at, analyst, epsilon, delta, events, fingerprint,"
        " policy_digest, place, digest) SELECT source, at, analyst, epsilon, delta, events, fingerprint,"
        " policy_digest, place, digest FROM ledger.receipt WHERE id = 2;"
        " ALTER TABLE ledger.receipt ENABLE TRIGGER join_chain",
        "receipt 4 was put into the chain",
    ),
    ("UPDATE ledger.adjustment SET reason = 'none'", "adjustment 1, or what"),
    ("DELETE FROM ledger.adjustment", "missing from the end of the chain: 1"),
    ("UPDATE ledger.chain SET digest = sha256('x')", "the end of the chain"),
    ("DELETE FROM ledger.chain", "the end of the chain"),
    ("DROP TRIGGER join_chain ON ledger.receipt", "receipt is not chained"),
)


def test_what_was_written_anew_is_found(used: str) -> None:
    with psycopg.connect(used) as connection:
        connection.execute("SELECT ledger.adjust_at(1, 'total', '', 1, 0, 'why', 'me', now())")
        connection.commit()
        assert tuple(observed_problems(connection)) == ()
        for change, told in _CHANGES:
            for word in ("DISABLE", "ENABLE"):
                for table in _OPENED:
                    switch = f"ALTER TABLE ledger.{table} {word} TRIGGER append_only"
                    connection.execute(switch.encode())
                if word == "DISABLE":
                    connection.execute(change.encode())
            found = tuple(observed_problems(connection))
            assert any(told in problem for problem in found), (change, found)
            connection.rollback()


def test_a_chain_that_was_made_anew_is_found_by_the_mark(used: str, tmp_path: Path) -> None:
    """Whoever writes the whole ledger makes the chain fit; the mark is beside it."""
    file = MarkFile(tmp_path)
    file.write(mark_of(used))
    check_mark(used, file)
    with psycopg.connect(used, autocommit=True) as connection:
        connection.execute("ALTER TABLE ledger.receipt DISABLE TRIGGER append_only")
        connection.execute("UPDATE ledger.receipt SET fingerprint = 'g' WHERE id = 1")
        connection.execute(_CHAINED_ANEW)
        connection.execute("ALTER TABLE ledger.receipt ENABLE TRIGGER append_only")
    assert ledger_problems(used) == ()
    with pytest.raises(LedgerWentBack, match="not what it was: receipt 3, or what stands before"):
        check_mark(used, file)


# The chain of receipts as they stand, in the order of their numbers.
_CHAINED_ANEW = """\
DO $$
DECLARE
    one ledger.receipt;
    content bytea;
    new_place bigint;
    new_digest bytea;
BEGIN
    PERFORM set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true);
    DELETE FROM ledger.chain;
    FOR one IN SELECT * FROM ledger.receipt ORDER BY id LOOP
        content := ledger.content_digest('receipt', to_jsonb(one));
        INSERT INTO ledger.chain AS c (source, place, digest)
        VALUES (one.source, 1, sha256(ledger.chain_start(one.source) || content))
        ON CONFLICT (source) DO UPDATE SET (place, digest) = (c.place + 1, sha256(c.digest || content))
        RETURNING c.place, c.digest INTO new_place, new_digest;
        UPDATE ledger.receipt r SET (place, digest) = (new_place, new_digest) WHERE r.id = one.id;
    END LOOP;
END $$"""
