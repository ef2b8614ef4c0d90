"""The ledger's schema: made as it is now, or brought to it from an earlier version, in one transaction.

A new ledger gets `tables.sql`, the functions and `triggers.sql`. An earlier one gets the steps that it has not
had, and all functions anew: so what a function does stands in one place.
"""

from __future__ import annotations

import re
from importlib.resources import files

import psycopg

_FOLDER = "ledger_schema"
# Replaced with each new version. In this order: functions in SQL name those that they call.
FUNCTIONS = ("prices", "lines", "charges", "cached_answers", "chain", "published")
_STEP = re.compile(r"^-- step (\d+)$", re.MULTILINE)
# What is earlier is brought there by the dpproxy of that commit, of November 2026.
OLDEST, OLDEST_COMMIT = 10, "3398627f"


class LedgerTooNew(RuntimeError):
    """The ledger was written by a newer dpproxy, whose rules this one does not know."""


class LedgerTooOld(RuntimeError):
    """The ledger was written by a dpproxy of before `OLDEST`."""


def bring_to_newest(dsn: str) -> int:
    """Make the ledger's schema, or bring it to the newest version; safe when several processes start at once.

    Args:
        dsn: The ledger's connection string.

    Returns:
        The version of the schema.

    Raises:
        LedgerTooNew: A newer dpproxy has changed it.
        LedgerTooOld: It is of a version that this dpproxy has no steps from.
    """
    steps = schema_steps()
    newest = max(steps)
    with psycopg.connect(dsn) as connection:
        connection.execute("SET search_path = pg_catalog; SET statement_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('ledger.migrate', 0))")
        connection.execute("CREATE SCHEMA IF NOT EXISTS ledger")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS ledger.migration (version integer PRIMARY KEY,"
            " at timestamptz NOT NULL DEFAULT transaction_timestamp())"
        )
        row = connection.execute("SELECT max(version) FROM ledger.migration").fetchone()
        version = row[0] if row is not None else None
        if version is None:
            _run(connection, "tables", *FUNCTIONS, "triggers")
        elif version > newest:
            raise LedgerTooNew(
                f"the ledger is of version {version}, and this dpproxy knows {newest}: use a newer dpproxy"
            )
        elif version < OLDEST:
            raise LedgerTooOld(
                f"the ledger is of version {version}, and this dpproxy reads {OLDEST} and later: serve it"
                f" once with the version of commit {OLDEST_COMMIT}, which brings it to {OLDEST} with all that"
                " was spent, then with this one"
            )
        elif version < newest:
            for number in range(version + 1, newest + 1):
                connection.execute(steps.get(number, "").encode())
            _run(connection, *FUNCTIONS)
        # All numbers: an earlier dpproxy runs those that are not here.
        connection.execute(
            "INSERT INTO ledger.migration (version) SELECT generate_series(1, %s)"
            " ON CONFLICT DO NOTHING",
            (newest,),
        )
    return newest


def schema_text(name: str) -> str:
    """The SQL of one file."""
    return (files("proxy.ledger") / _FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def schema_steps() -> dict[int, str]:
    """What changes tables from one version to the next. A number that is not there changes functions alone."""
    _, *parts = _STEP.split(schema_text("steps"))
    return {int(number): text for number, text in zip(parts[::2], parts[1::2], strict=True)}


def _run(connection: psycopg.Connection, *names: str) -> None:
    for name in names:
        connection.execute(schema_text(name).encode())
