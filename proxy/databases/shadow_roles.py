"""The roles of a shadow's server are the ledger's analysts, made anew at the start and kept alike after."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.databases.analyst_shares import SESSIONS_PER_ANALYST
from proxy.databases.shadow_statements import ANALYSTS

_REMOVE_SECONDS = 10.0


def ensure_group(connection: psycopg.Connection) -> None:
    """The group role that all rights are given to. Safe to run twice, and by two at once."""
    connection.execute(
        sql.SQL(
            "DO $$ BEGIN CREATE ROLE {group} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;"
            " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        ).format(group=sql.Identifier(ANALYSTS))
    )


def match_roles(
    superuser_dsn: str, databases: Sequence[str], verifiers: Mapping[str, str]
) -> tuple[str, ...]:
    """
    Given    the shadow superuser's DSN, the databases there, the ledger's analysts with their verifiers
    Gives    the names of those whose role was made, changed or removed; the sessions of who was removed,
             or got another password, are ended
    """
    with psycopg.connect(superuser_dsn, autocommit=True) as connection:
        return match_roles_on(connection, superuser_dsn, databases, verifiers)


def match_roles_on(
    connection: psycopg.Connection[Any],
    superuser_dsn: str,
    databases: Sequence[str],
    verifiers: Mapping[str, str],
) -> tuple[str, ...]:
    """As `match_roles`, on a superuser's connection in autocommit that is there."""
    ensure_group(connection)
    there = _roles(connection)
    changed = []
    for name, verifier in verifiers.items():
        if name not in there:
            _create(connection, name, verifier)
        elif there[name] != verifier:
            _set_verifier(connection, name, verifier)
        else:
            continue
        changed.append(name)
    for name in sorted(there.keys() - verifiers.keys()):
        _remove(connection, superuser_dsn, databases, name)
        changed.append(name)
    return tuple(changed)


def _roles(connection: psycopg.Connection) -> dict[str, str]:
    return dict(
        connection.execute(
            "SELECT r.rolname, coalesce(r.rolpassword, '') FROM pg_catalog.pg_auth_members m"
            " JOIN pg_catalog.pg_authid r ON r.oid = m.member"
            " JOIN pg_catalog.pg_authid g ON g.oid = m.roleid WHERE g.rolname = %s",
            (ANALYSTS,),
        ).fetchall()
    )


def _create(connection: psycopg.Connection, name: str, verifier: str) -> None:
    # CREATE ROLE takes a verifier as it is (get_password_type, src/backend/libpq/crypt.c).
    connection.execute(
        sql.SQL(
            "CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION"
            " NOBYPASSRLS CONNECTION LIMIT {limit} PASSWORD {verifier} IN ROLE {group}"
        ).format(
            name=sql.Identifier(name),
            limit=sql.Literal(SESSIONS_PER_ANALYST),
            verifier=sql.Literal(verifier),
            group=sql.Identifier(ANALYSTS),
        )
    )


def _set_verifier(connection: psycopg.Connection, name: str, verifier: str) -> None:
    connection.execute(
        sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(
            sql.Identifier(name), sql.Literal(verifier)
        )
    )
    _end_sessions(connection, name)


def _end_sessions(connection: psycopg.Connection, name: str) -> None:
    # The second argument waits for the end (PostgreSQL 17 documentation, section 9.28.2).
    connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = %s", (name,)
    )


def _remove(
    connection: psycopg.Connection, superuser_dsn: str, databases: Sequence[str], name: str
) -> None:
    """A role that cannot be dropped may not log in, and goes with the shadow at the next start."""
    role = sql.Identifier(name)
    connection.execute(sql.SQL("ALTER ROLE {} NOLOGIN").format(role))
    deadline = time.monotonic() + _REMOVE_SECONDS
    while time.monotonic() < deadline:
        _end_sessions(connection, name)
        with contextlib.suppress(psycopg.errors.DependentObjectsStillExist):
            # What the role owns or was granted, default privileges among it, database by database.
            for database in databases:
                with psycopg.connect(make_conninfo(superuser_dsn, dbname=database)) as inside:
                    inside.execute(sql.SQL("DROP OWNED BY {}").format(role))
            connection.execute(sql.SQL("DROP ROLE {}").format(role))
            return
        time.sleep(0.1)
    connection.execute(sql.SQL("REVOKE {} FROM {}").format(sql.Identifier(ANALYSTS), role))
