"""Where the ledger stands: in a server of its own in the state folder, or in a database that several share."""

from __future__ import annotations

import psycopg
from psycopg import sql

from proxy.ledger.ledger_schema import bring_to_newest
from proxy.postgres.embedded import EmbeddedPostgres

DATABASE = "dpproxy_ledger"
_CONNECT_SECONDS = 10


class LedgerNotOurs(RuntimeError):
    """The given database is not one that a ledger may be put into, or not there."""


def embedded_ledger(server: EmbeddedPostgres) -> str:
    """The connection string of the ledger in a running server of ours; its schema is the newest."""
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtextextended('ledger.database', 0))")
        there = connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)
        ).fetchone()
        if there is None:
            name = sql.Identifier(DATABASE)
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(name)
            )
            connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
    dsn = server.dsn(DATABASE)
    bring_to_newest(dsn)
    return dsn


def given_ledger(dsn: str, *, may_make: bool = True) -> str:
    """
    Given    the connection string of a database that is there; may_make: whether a ledger may begin in it
    Gives    the same; its ledger is the newest. Nothing in it is ever dropped or changed but schema `ledger`
    Refuses  LedgerNotOurs where a schema `ledger` is somebody else's, there is none and none may begin, or the
             server cannot be reached
    """
    try:
        with psycopg.connect(dsn, connect_timeout=_CONNECT_SECONDS) as connection:
            row = connection.execute(
                "SELECT to_regnamespace('ledger') IS NOT NULL,"
                " to_regclass('ledger.migration') IS NOT NULL"
            ).fetchone()
        assert row is not None
        if row[0] and not row[1]:
            raise LedgerNotOurs(
                "the database has a schema named ledger that is not dpproxy's: give the ledger a"
                " database of its own"
            )
        if not row[1] and not may_make:
            raise LedgerNotOurs(
                "there is no ledger in that database: wrong --ledger? To make a new one (nobody has asked about"
                " these people before): dpproxy ledger adopt --policy FILE --ledger DSN --new"
            )
        bring_to_newest(dsn)
    except psycopg.OperationalError as error:  # libpq's text: host, port, database and role
        raise LedgerNotOurs(f"the ledger cannot be reached: {str(error).strip()}") from None
    except psycopg.Error as error:
        raise LedgerNotOurs(f"the ledger cannot be used ({type(error).__name__})") from None
    return dsn
