"""A copy of the whole ledger in one file, and back. It holds SCRAM verifiers: mode 0600, keep it like money.

The file is text: a line of JSON that says what it is, then for each table a line of JSON and its rows in
PostgreSQL's COPY format, at the end a line with the SHA-256 of everything before it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import BinaryIO

import psycopg
from psycopg import sql
from typing_extensions import LiteralString

from proxy.ledger.demo_ledger import is_of_demo
from proxy.ledger.ledger_mark import note_restored
from proxy.ledger.ledger_schema import bring_to_newest

_FORMAT = 1
_TIME = 'YYYY-MM-DD HH24:MI:SS "UTC"'
# In an order in which references hold. Identity columns keep their numbers; what is generated, is not copied.
TABLES = (
    ("identity", None),
    ("source", "id"),
    ("source_identity", None),
    ("analyst", "id"),
    ("membership", None),
    ("text_key", "id"),
    ("allowance", None),
    ("policy_version", None),
    ("policy_text", None),
    ("public_column", None),
    ("unit_column", None),
    ("receipt", "id"),
    ("adjustment_request", "id"),
    ("adjustment", "id"),
    ("chain", None),
    ("cached", "id"),
    ("seen", None),
    ("published", "id"),
    ("published_block", None),
    ("stale", None),
    ("settlement", None),
    ("balance", None),
    ("operation", "id"),
    ("restricted", None),
    ("access", "id"),
    ("token", "id"),
    ("token_charge", None),
    ("admin_event", "id"),
)
_LOGS = ("operation", "admin_event")

Work = Callable[[], int]


class BackupError(RuntimeError):
    """The file cannot be written, or is no whole backup, or the ledger is not empty."""


def backup(ledger_dsn: str, file: Path) -> int:
    """
    Gives    the number of receipts in the copy, which is of one moment while dpproxy goes on serving
    Refuses  BackupError where the file is there already
    """
    version = bring_to_newest(ledger_dsn)
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BackupError(f"{file}: {error.strerror}") from None
    with os.fdopen(number, "wb") as out, psycopg.connect(ledger_dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        digest = _Digesting(out)
        row = connection.execute(
            "SELECT to_char(now() AT TIME ZONE 'UTC', %s)", (_TIME,)
        ).fetchone()
        assert row is not None
        digest.line({"dpproxy_ledger": _FORMAT, "version": version, "at": row[0]})
        receipts = 0
        for table, counter in TABLES:
            row = connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("ledger", table))
            ).fetchone()
            assert row is not None
            head = {"table": table, "rows": row[0]}
            if counter is not None:
                head["last"] = _last_number(connection, table)
            digest.line(head)
            receipts = row[0] if table == "receipt" else receipts
            copy = sql.SQL("COPY {} TO STDOUT").format(sql.Identifier("ledger", table))
            with connection.cursor().copy(copy) as rows:
                for block in rows:
                    digest.write(bytes(block))
        out.write(json.dumps({"sha256": digest.hexadecimal}).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
    return receipts


def restore(ledger_dsn: str, file: Path) -> int:
    """
    Gives    the number of receipts that are in the ledger now, in one transaction, which also notes that what
             was spent after the backup is forgotten
    Refuses  BackupError where the ledger holds anything, or the file is not whole
    """
    version = bring_to_newest(ledger_dsn)
    try:
        lines = _checked(file)
    except OSError as error:
        raise BackupError(f"{file}: {error.strerror}") from None
    head = json.loads(next(lines))
    if head.get("dpproxy_ledger") != _FORMAT or head.get("version") != version:
        raise BackupError(
            f"{file}: a backup of version {head.get('version')}, and this ledger is of {version}:"
            " restore it with the dpproxy that wrote it, then update"
        )
    receipts = 0
    with contextlib.closing(lines), psycopg.connect(ledger_dsn) as connection:
        for table in ("source", "analyst", "receipt"):
            row = connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("ledger", table))
            ).fetchone()
            if row is None or row[0]:
                raise BackupError("the ledger is not empty: restore into a new state folder")
        # operation is append-only too; TRUNCATE of an empty identity row is all that is undone.
        connection.execute("DELETE FROM ledger.identity")
        for table, counter in TABLES:
            count, last = _restore_table(connection, table, lines)
            receipts = count if table == "receipt" else receipts
            if counter is not None:  # also of rows that were gone by then no number is given again
                connection.execute(
                    sql.SQL(  # as one that was given: the next backup has it, too
                        "SELECT setval(pg_get_serial_sequence(%s, 'id'), greatest(n, 1), n > 0)"
                        " FROM (SELECT greatest((SELECT max(id) FROM {}), %s) AS n) given"
                    ).format(sql.Identifier("ledger", table)),
                    (f"ledger.{table}", last),
                )
        if is_of_demo(connection):
            raise BackupError(f"{file}: a backup of a demo's ledger, which is no place for budgets")
        note_restored(connection, head.get("at") or _last_known(connection))
    return receipts


def _last_known(connection: psycopg.Connection) -> str:
    """Of a backup that does not say when it was made: the last that is in it."""
    row = connection.execute(
        "SELECT to_char(greatest((SELECT max(at) FROM ledger.receipt),"
        " (SELECT max(at) FROM ledger.operation)) AT TIME ZONE 'UTC', %s)",
        (_TIME,),
    ).fetchone()
    return "an unknown time" if row is None or row[0] is None else str(row[0])


def _last_number(connection: psycopg.Connection, table: str) -> int:
    """That was given to a row of it; 0: none was."""
    row = connection.execute(
        "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(%s, 'id')::regclass), 0)",
        (f"ledger.{table}",),
    ).fetchone()
    assert row is not None
    return int(row[0])


def _restore_table(
    connection: psycopg.Connection, table: str, lines: Iterator[bytes]
) -> tuple[int, int]:
    """
    Gives    the number of its rows, and the last number that was given to one
    """
    head = json.loads(next(lines))
    if head.get("table") != table:
        raise BackupError(f"the backup has no table {table} where it must be")
    name = sql.Identifier("ledger", table)
    is_chained = table in ("receipt", "adjustment")  # as it was: its digests come with it
    if is_chained:
        connection.execute(_switched("DISABLE", "join_chain", name))
    if table in _LOGS:  # what the empty ledger noted of itself stays out
        connection.execute(_switched("DISABLE", "append_only", name))
        connection.execute(sql.SQL("DELETE FROM {}").format(name))
        connection.execute(_switched("ENABLE", "append_only", name))
    with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(name)) as rows:
        for _ in range(head["rows"]):
            rows.write(next(lines))
    if is_chained:
        connection.execute(_switched("ENABLE", "join_chain", name))
    return int(head["rows"]), int(head.get("last", 0))


def _switched(word: LiteralString, trigger: LiteralString, table: sql.Identifier) -> sql.Composed:
    return sql.SQL("ALTER TABLE {} " + word + " TRIGGER " + trigger).format(table)


def _checked(file: Path) -> Generator[bytes, None, None]:
    """The lines of a backup, once the whole is known to be what was written."""
    digest, last = hashlib.sha256(), b""
    with file.open("rb") as read:
        for line in read:
            digest.update(last)
            last = line
    try:
        is_whole = json.loads(last)["sha256"] == digest.hexdigest()
    except (ValueError, KeyError, TypeError):
        is_whole = False
    if not is_whole:
        raise BackupError(f"{file}: not a whole backup of a ledger")
    return _lines(file)


def _lines(file: Path) -> Generator[bytes, None, None]:
    with file.open("rb") as read:
        yield from read


class _Digesting:
    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._digest = hashlib.sha256()

    @property
    def hexadecimal(self) -> str:
        return self._digest.hexdigest()

    def write(self, data: bytes) -> None:
        self._digest.update(data)
        self._out.write(data)

    def line(self, value: object) -> None:
        self.write(json.dumps(value).encode() + b"\n")
