"""The high-water mark: how far the ledger has come, kept beside it.

A ledger that is put back from an old copy forgets what was spent since. Who finds fewer receipts in it than
the mark says refuses to serve until an operator accepts that (`dpproxy ledger accept`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg
from psycopg.types.json import Jsonb

MARK_FILE = "ledger.mark"


class LedgerWentBack(RuntimeError):
    """The ledger is older than its mark, or another one than the mark is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """ledger: its identity; receipt: the highest number of a receipt that was seen in it; sealed: a receipt and
    its digest in the chain, which is of all before it: so what is written anew inside the ledger is found."""

    ledger: str
    receipt: int
    sealed: tuple[int, str] | None = None


def mark_of(ledger_dsn: str) -> Mark:
    """How far the ledger is now."""
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(
            "SELECT i.id::text, coalesce(r.id, 0), encode(r.digest, 'hex') FROM ledger.identity i"
            " LEFT JOIN (SELECT id, digest FROM ledger.receipt ORDER BY id DESC LIMIT 1) r ON true"
        ).fetchone()
    assert row is not None
    sealed = None if row[2] is None else (int(row[1]), str(row[2]))
    return Mark(ledger=row[0], receipt=int(row[1]), sealed=sealed)


def check_mark(ledger_dsn: str, file: MarkFile, last_receipt: int = 0) -> None:
    """That the ledger is as far as its mark, and what it was up to there.

    Given    last_receipt: the highest number that was seen in it since the mark was written
    Refuses  LedgerWentBack
    """
    now = mark_of(ledger_dsn)
    file.check(now)
    if now.receipt < last_receipt:
        raise LedgerWentBack(_went_back(now.receipt, last_receipt))
    known = file.read()
    if known is None or known.sealed is None:
        return
    number, digest = known.sealed
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(
            "SELECT encode(digest, 'hex') FROM ledger.receipt WHERE id = %s", (number,)
        ).fetchone()
    if row is None or row[0] != digest:
        raise LedgerWentBack(
            f"the ledger is not what it was: receipt {number}, or what stands before it, is another one than"
            " was in it before"
        )


def _went_back(receipt: int, before: int) -> str:
    return (
        f"the ledger has gone back: its last receipt is {receipt}, and receipt {before} was in it before."
        " What was spent between is forgotten"
    )


class MarkFile:
    """The mark in a state folder."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self._path = state / MARK_FILE

    def read(self) -> Mark | None:
        """Refuses  LedgerWentBack where there is a mark that cannot be read"""
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        try:
            found = json.loads(text)
            sealed = found.get("sealed")
            return Mark(
                ledger=str(found["ledger"]),
                receipt=int(found["receipt"]),
                sealed=None if sealed is None else (int(sealed[0]), str(sealed[1])),
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            raise LedgerWentBack(f"the mark {self._path} cannot be read") from None

    def write(self, mark: Mark) -> None:
        """Whole or not at all; readable by us alone."""
        part = self._path.with_suffix(".part")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.touch(mode=0o600)
        part.write_text(json.dumps(asdict(mark)), encoding="utf-8")
        part.replace(self._path)

    def follow(self, now: Mark) -> None:
        """Writes it, never back. Refuses  LedgerWentBack: the mark stays, and the next start tells of it"""
        self.check(now)
        self.write(now)

    def check(self, now: Mark) -> None:
        """Refuses  LedgerWentBack"""
        known = self.read()
        if known is None:
            return
        if known.ledger != now.ledger:
            raise LedgerWentBack(
                f"the ledger is another one ({now.ledger}) than the one served from this folder"
                f" before ({known.ledger})"
            )
        if now.receipt < known.receipt:
            raise LedgerWentBack(_went_back(now.receipt, known.receipt))


# That a ledger was filled from a backup, noted in the ledger itself until an operator accepts it.
#
# What was spent after the backup is forgotten. The note stands in the ledger and not beside it: whichever
# process serves it, from whichever folder, finds it.

_UNACCEPTED = """
SELECT o.detail ->> 'as_of' FROM ledger.operation o
WHERE o.what = 'restore' AND o.detail ? 'as_of'
  AND NOT EXISTS (SELECT FROM ledger.operation a WHERE a.what = 'accept' AND a.id > o.id)
ORDER BY o.id DESC LIMIT 1
"""


def note_restored(connection: psycopg.Connection, as_of: str) -> None:
    """What was being drawn then, for an analyst or to be published, may have been displayed since: it is not
    finished under its charge. A token may have been revoked since, and what was spent through it is forgotten:
    none is valid any more."""
    connection.execute("DELETE FROM ledger.cached WHERE relation IS NULL")
    connection.execute("DELETE FROM ledger.published WHERE released_at IS NULL")
    forget_series(connection)
    connection.execute(
        "UPDATE ledger.token SET revoked_at = transaction_timestamp() WHERE revoked_at IS NULL"
    )
    connection.execute(
        "INSERT INTO ledger.operation (what, detail) VALUES ('restore', %s)",
        (Jsonb({"as_of": as_of}),),
    )


def restored_as_of(ledger_dsn: str) -> str | None:
    """The time of the backup that the ledger was filled from, until that is accepted."""
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(_UNACCEPTED).fetchone()
    return None if row is None else str(row[0])


def accept_restored(ledger_dsn: str) -> None:
    with psycopg.connect(ledger_dsn) as connection:
        forget_series(connection)
        connection.execute("INSERT INTO ledger.operation (what) VALUES ('accept')")


def series_forgotten(ledger_dsn: str) -> None:
    """As forget_series, of a ledger that went back in another way than by `restore`."""
    with psycopg.connect(ledger_dsn) as connection:
        forget_series(connection)


def forget_series(connection: psycopg.Connection) -> None:
    """Steps that were drawn since are forgotten, and their noise: another draw of them would be one too many.
    So series that were begun go on no more (`dpproxy publish --now` charges a new one)."""
    connection.execute("UPDATE ledger.published SET series = '' WHERE series IS NOT NULL")


def restored_text(as_of: str) -> str:
    return f"the ledger was restored as of {as_of}: what was spent later is forgotten"
