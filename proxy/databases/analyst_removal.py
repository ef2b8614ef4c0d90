"""The end of an analyst's role, whatever it has left behind in the databases of the server."""

from __future__ import annotations

import time

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

_SECONDS = 10.0


def drop_analyst(superuser_dsn: str, name: str) -> bool:
    """Ends the analyst's sessions, drops what the role owns and was granted, then the role.

    What ALTER DEFAULT PRIVILEGES and the like leave behind belongs to a database, so DROP OWNED runs in
    each; it cannot reach what others own (PostgreSQL 17 documentation, section 22.4).

    Given    the way into the server as a superuser; the name of a role that is an analyst's
    Gives    True where the role is gone; False where something keeps it: then nobody can log in as it,
             and it has no rights
    """
    role = sql.Identifier(name)
    with psycopg.connect(superuser_dsn, autocommit=True) as server:
        known = server.execute("SELECT FROM pg_authid WHERE rolname = %s", (name,)).fetchone()
        if known is None:
            return True
        server.execute(sql.SQL("ALTER ROLE {} NOLOGIN PASSWORD NULL").format(role))
        databases = [
            row[0]
            for row in server.execute(
                "SELECT datname FROM pg_database WHERE datallowconn ORDER BY 1"
            )
        ]
        deadline = time.monotonic() + _SECONDS
        while True:
            # The second argument waits for the end, so that temporary tables are gone.
            server.execute(
                "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE usename = %s",
                (name,),
            )
            try:
                for database in databases:
                    _drop_owned(make_conninfo(superuser_dsn, dbname=database), role)
                server.execute(sql.SQL("DROP ROLE {}").format(role))
                return True
            except (psycopg.errors.DependentObjectsStillExist, psycopg.errors.LockNotAvailable):
                if time.monotonic() > deadline:
                    _take_rights(server, name)
                    return False
                time.sleep(0.1)


def _drop_owned(dsn: str, role: sql.Identifier) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET lock_timeout = '2s'")
        connection.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(role))


def _take_rights(server: psycopg.Connection, name: str) -> None:
    groups = server.execute(
        "SELECT g.rolname FROM pg_auth_members m JOIN pg_authid g ON g.oid = m.roleid"
        " JOIN pg_authid r ON r.oid = m.member WHERE r.rolname = %s",
        (name,),
    ).fetchall()
    for (group,) in groups:
        server.execute(
            sql.SQL("REVOKE {} FROM {}").format(sql.Identifier(group), sql.Identifier(name))
        )
