"""The ledger's schema, brought to the newest version: forward only, each step once, in one transaction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

import psycopg

_FOLDER = "ledger_migrations"
_NAME = re.compile(r"(\d{4})_[a-z_]+\.sql")


class LedgerTooNew(RuntimeError):
    """The ledger was written by a newer dpproxy, whose rules this one does not know."""


def migrate(dsn: str) -> int:
    """
    Given    the ledger's connection string
    Gives    the version of its schema, which is now the newest; safe when several processes start at once
    Refuses  LedgerTooNew
    """
    scripts = _scripts()
    newest = max(scripts)
    with psycopg.connect(dsn) as connection:
        connection.execute("SET search_path = pg_catalog; SET statement_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('ledger.migrate', 0))")
        connection.execute("CREATE SCHEMA IF NOT EXISTS ledger")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS ledger.migration (version integer PRIMARY KEY,"
            " at timestamptz NOT NULL DEFAULT transaction_timestamp())"
        )
        done = _versions(connection)
        if max(done, default=0) > newest:
            raise LedgerTooNew(
                f"the ledger is of version {max(done)}, and this dpproxy knows {newest}: use a newer dpproxy"
            )
        for version in sorted(scripts.keys() - done):
            connection.execute(scripts[version].encode())
            connection.execute("INSERT INTO ledger.migration (version) VALUES (%s)", (version,))
    return newest


def _versions(connection: psycopg.Connection) -> frozenset[int]:
    """Those that were run."""
    return frozenset(v for (v,) in connection.execute("SELECT version FROM ledger.migration"))


def _scripts() -> Mapping[int, str]:
    found = {}
    for file in files("proxy.ledger").joinpath(_FOLDER).iterdir():
        named = _NAME.fullmatch(file.name)
        if named is not None:
            assert int(named[1]) not in found, "two migrations have one number"
            found[int(named[1])] = file.read_text(encoding="utf-8")
    return found
