"""A state folder of version 0.1, whose shadow held users and ledgers, becomes a ledger of its own.

Each database of that shadow is a source known by its name alone; the first policy of that database binds it to
the data. The old server's files are kept beside, renamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.postgres.embedded import EmbeddedPostgres

_OLD, _RENAMED = "shadow", "shadow-0.1"
_RECEIPTS_AT_ONCE = 10_000


def is_state_of_0_1(home: Path) -> bool:
    """The shadow of later versions is copied from `pristine` at each start."""
    old = home / _OLD
    return (old / "data" / "PG_VERSION").exists() and not (old / "pristine").exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    databases: int
    analysts: int
    receipts: int

    def __str__(self) -> str:
        return (
            f"{self.databases} databases, {self.analysts} analysts, {self.receipts} receipts;"
            f" the old files are kept as {_RENAMED}"
        )


def migrate_state(home: Path, ledger_dsn: str) -> Brought | None:
    """
    Given    the state folder; the connection string of its new ledger
    Gives    users, receipts, balances and limits in the ledger, in one transaction; the old folder renamed.
             Run again after a crash, nothing is brought twice: None
    """
    brought = None
    old = EmbeddedPostgres(home, _OLD)
    old.start()
    try:
        with psycopg.connect(old.dsn()) as server, psycopg.connect(ledger_dsn) as ledger:
            row = server.execute(
                "SELECT system_identifier::text FROM pg_control_system()"
            ).fetchone()
            assert row is not None
            done = ledger.execute(
                "SELECT 1 FROM ledger.operation WHERE what = 'migrate 0.1' AND detail->>'from' = %s",
                (row[0],),
            ).fetchone()
            if done is None:
                brought = _bring_all(server, ledger, old.dsn())
                ledger.execute(
                    "INSERT INTO ledger.operation (what, detail)"
                    " VALUES ('migrate 0.1', jsonb_build_object('from', %s::text))",
                    (row[0],),
                )
    finally:
        old.stop()
    old.home.rename(home / _RENAMED)
    return brought


def _bring_all(server: psycopg.Connection, ledger: psycopg.Connection, old_dsn: str) -> Brought:
    analysts = server.execute(
        "SELECT r.rolname, r.rolpassword FROM pg_auth_members m JOIN pg_authid r ON r.oid = m.member"
        " JOIN pg_authid g ON g.oid = m.roleid WHERE g.rolname = 'dp_analyst' AND r.rolcanlogin"
        " AND r.rolpassword LIKE 'SCRAM-SHA-256$%' ORDER BY 1"
    ).fetchall()
    for name, verifier in analysts:
        ledger.execute(
            "INSERT INTO ledger.analyst (name, verifier) VALUES (%s, %s)"
            " ON CONFLICT (name) WHERE removed_at IS NULL DO NOTHING",
            (name, verifier),
        )
    databases = receipts = 0
    for (database,) in server.execute(
        "SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate AND datname <> 'postgres'"
    ).fetchall():
        with psycopg.connect(make_conninfo(old_dsn, dbname=database)) as shadow:
            there = shadow.execute("SELECT to_regclass('dp.receipt') IS NOT NULL").fetchone()
            if there is not None and there[0]:
                databases += 1
                receipts += _bring_ledger(shadow, ledger, database)
    return Brought(databases=databases, analysts=len(analysts), receipts=receipts)


def _bring_ledger(shadow: psycopg.Connection, ledger: psycopg.Connection, database: str) -> int:
    row = ledger.execute(
        "INSERT INTO ledger.source (name, is_bound) VALUES (%s, false) RETURNING id", (database,)
    ).fetchone()
    assert row is not None
    source = row[0]
    for line in shadow.execute("SELECT kind, analyst, epsilon, delta, period FROM dp.allowance"):
        ledger.execute(
            "INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            (source, *line),
        )
    count = 0
    for receipt in _receipts(shadow):
        *fields, outcome, settled_at = receipt
        new = ledger.execute(
            "INSERT INTO ledger.receipt (source, at, analyst, epsilon, delta, events, fingerprint,"
            " policy_digest) VALUES (%s, %s, %s, %s, %s, jsonb_build_array(jsonb_build_object('v', 1,"
            " 'kind', CASE WHEN %s > 0 THEN 'approx' ELSE 'pure' END, 'epsilon', %s::text,"
            " 'delta', %s::text)), %s, %s) RETURNING id",
            (source, *fields[:4], fields[3], str(fields[2]), str(fields[3]), *fields[4:]),
        ).fetchone()
        assert new is not None
        if outcome is not None:
            ledger.execute(
                "INSERT INTO ledger.settlement (receipt, at, outcome) VALUES (%s, %s, %s)",
                (new[0], settled_at, outcome),
            )
        count += 1
    for line in shadow.execute(
        "SELECT kind, analyst, period, window_start::text, epsilon, delta FROM dp.balance"
    ):
        ledger.execute(
            "INSERT INTO ledger.balance (source, kind, analyst, period, window_start, epsilon, delta)"
            " VALUES (%s, %s, %s, %s, %s::text::timestamptz, %s, %s)",
            (source, *line),
        )
    ledger.execute(
        "UPDATE ledger.balance b SET (rho, approx_delta, gaussian_delta) ="
        " (SELECT s.rho, s.approx_delta, s.gaussian_delta"
        "  FROM ledger.spent_since(b.source, b.kind, b.analyst, b.window_start) s) WHERE b.source = %s",
        (source,),
    )
    return count


def _receipts(shadow: psycopg.Connection) -> Iterator[tuple[Any, ...]]:
    with shadow.cursor("receipts") as cursor:
        cursor.itersize = _RECEIPTS_AT_ONCE
        cursor.execute(
            "SELECT r.at, r.analyst, r.epsilon, r.delta, r.fingerprint, r.policy_digest, s.outcome, s.at"
            " FROM dp.receipt r LEFT JOIN dp.settlement s ON s.receipt = r.id ORDER BY r.id"
        )
        yield from cursor
