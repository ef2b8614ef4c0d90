"""That a ledger was filled from a backup, noted in the ledger itself until an operator accepts it.

What was spent after the backup is forgotten. The note stands in the ledger and not beside it: whichever
process serves it, from whichever folder, finds it.
"""

from __future__ import annotations

import psycopg
from psycopg.types.json import Jsonb

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
