"""Analysts: login roles of the shadow's server, members of the group `dp_analyst`, nothing more."""

from __future__ import annotations

import time

import psycopg
from psycopg import sql

from proxy.base.limits import IDENTIFIER_BYTES
from proxy.databases.shadow_statements import ANALYSTS

_CONNECTIONS_PER_ANALYST = 64
_REMOVE_SECONDS = 10.0


class UserError(RuntimeError):
    """The user cannot be added or removed; the text says why, and never holds a password."""


def ensure_group(connection: psycopg.Connection) -> None:
    """The group role that all rights are given to. Safe to run twice, and by two at once."""
    connection.execute(
        sql.SQL(
            "DO $$ BEGIN CREATE ROLE {group} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;"
            " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        ).format(group=sql.Identifier(ANALYSTS))
    )


def add_analyst(superuser_dsn: str, name: str, password: str) -> None:
    """
    Given    the shadow superuser's DSN, the analyst's name, a password
    Gives    a login role; only the password's SCRAM verifier leaves this process
    Refuses  an empty password, a name that PostgreSQL reserves or cannot hold, a role that is there
    """
    _check_name(name)
    with psycopg.connect(superuser_dsn) as connection:
        ensure_group(connection)
        try:
            connection.execute(
                sql.SQL(
                    "CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION"
                    " NOBYPASSRLS CONNECTION LIMIT {limit} PASSWORD {verifier} IN ROLE {group}"
                ).format(
                    name=sql.Identifier(name),
                    limit=sql.Literal(_CONNECTIONS_PER_ANALYST),
                    verifier=sql.Literal(_verifier(connection, name, password)),
                    group=sql.Identifier(ANALYSTS),
                )
            )
        except psycopg.errors.DuplicateObject:
            raise UserError(f'there is already a role "{name}"') from None


def set_password(superuser_dsn: str, name: str, password: str) -> None:
    with psycopg.connect(superuser_dsn) as connection:
        _check_is_analyst(connection, name)
        connection.execute(
            sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                sql.Identifier(name), sql.Literal(_verifier(connection, name, password))
            )
        )


def list_analysts(superuser_dsn: str) -> tuple[str, ...]:
    with psycopg.connect(superuser_dsn) as connection:
        ensure_group(connection)
        return _analysts(connection)


def remove_analyst(superuser_dsn: str, name: str) -> None:
    """Ends the analyst's sessions first. What they have spent stays in the ledger."""
    with psycopg.connect(superuser_dsn, autocommit=True) as connection:
        _check_is_analyst(connection, name)
        connection.execute(sql.SQL("ALTER ROLE {} NOLOGIN").format(sql.Identifier(name)))
        deadline = time.monotonic() + _REMOVE_SECONDS
        while True:
            # The second argument waits for the end (manual 9.28.2), so that temporary tables are gone.
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = %s",
                (name,),
            )
            try:
                connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))
                return
            except psycopg.errors.DependentObjectsStillExist as error:
                if time.monotonic() > deadline:
                    raise UserError(f'the role "{name}" still owns something') from error
                time.sleep(0.1)


def _analysts(connection: psycopg.Connection) -> tuple[str, ...]:
    return tuple(
        row[0]
        for row in connection.execute(
            "SELECT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member"
            " JOIN pg_roles g ON g.oid = m.roleid WHERE g.rolname = %s AND r.rolcanlogin ORDER BY 1",
            (ANALYSTS,),
        )
    )


def _check_is_analyst(connection: psycopg.Connection, name: str) -> None:
    if name not in _analysts(connection):
        raise UserError(f'there is no analyst "{name}"')


def _check_name(name: str) -> None:
    """Manual 22.1 and RoleSpec in gram.y: what no role may be called."""
    if not name or "\0" in name or len(name.encode()) > IDENTIFIER_BYTES:
        raise UserError(f"a name has 1 to {IDENTIFIER_BYTES} bytes")
    if name.startswith("pg_") or name in ("public", "none"):
        raise UserError(f'PostgreSQL reserves the name "{name}"')


def _verifier(connection: psycopg.Connection, name: str, password: str) -> str:
    """The SCRAM verifier (RFC 5803), made on this side: libpq's PQencryptPasswordConn."""
    if not password:
        raise UserError("the password is empty")
    return connection.pgconn.encrypt_password(
        password.encode(), name.encode(), b"scram-sha-256"
    ).decode()
