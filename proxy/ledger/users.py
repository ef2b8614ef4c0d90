"""Analysts, as the ledger keeps them: names and SCRAM verifiers. Every shadow makes its roles from these."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import psycopg

from proxy.base.role_names import objection_to_name
from proxy.ledger.admin_log import note

LEAST_CHARACTERS = 8  # of a password: whoever guesses one may spend its analyst's budget


class UserError(RuntimeError):
    """The user cannot be added or removed; the text says why, and never holds a password."""


def add_analyst(ledger_dsn: str, name: str, password: str | None, *, by: str | None = None) -> None:
    """
    Given    the ledger's connection string, the analyst's name, a password, or None for who comes in by a token
             or a certificate only; by: who does it, for the log; None for who runs this process
    Gives    an analyst; only the password's SCRAM verifier leaves this process
    Refuses  an empty password, a name that PostgreSQL reserves or cannot hold, one that is there
    """
    check_name(name)
    with psycopg.connect(ledger_dsn) as connection:
        # What nobody knows, and nobody can guess.
        verifier = _verifier(
            connection, name, os.urandom(32).hex() if password is None else password
        )
        try:
            connection.execute(
                "INSERT INTO ledger.analyst (name, verifier) VALUES (%s, %s)", (name, verifier)
            )
        except psycopg.errors.UniqueViolation:
            raise UserError(f'there is already an analyst "{name}"') from None
        note(connection, by, "user add", {"name": name, "password": password is not None})


def check_name(name: str) -> None:
    """Of who is added: an analyst or a group. Refuses  UserError"""
    objection = objection_to_name(name)
    if objection is not None:
        raise UserError(objection)


def set_password(ledger_dsn: str, name: str, password: str, *, by: str | None = None) -> None:
    with psycopg.connect(ledger_dsn) as connection:
        changed = connection.execute(
            "UPDATE ledger.analyst SET verifier = %s WHERE name = %s AND removed_at IS NULL",
            (_verifier(connection, name, password), name),
        )
        if changed.rowcount != 1:
            raise UserError(f'there is no analyst "{name}"')
        note(connection, by, "user password", {"name": name})


def list_analysts(ledger_dsn: str) -> tuple[str, ...]:
    return tuple(sorted(verifiers(ledger_dsn)))


def verifiers(ledger_dsn: str) -> Mapping[str, str]:
    """Name -> verifier of all who may log in."""
    with psycopg.connect(ledger_dsn) as connection:
        return read_verifiers(connection)


def read_verifiers(ledger: psycopg.Connection[Any]) -> Mapping[str, str]:
    """As `verifiers`, on a connection to the ledger that is there."""
    rows = ledger.execute(
        "SELECT name, verifier FROM ledger.analyst WHERE removed_at IS NULL"
    ).fetchall()
    return dict(rows)


def remove_analyst(ledger_dsn: str, name: str, *, by: str | None = None) -> None:
    """Every shadow ends the analyst's sessions within seconds. What they have spent stays in the ledger, by
    name: who gets the name again has spent it, too."""
    with psycopg.connect(ledger_dsn) as connection:
        changed = connection.execute(
            "UPDATE ledger.analyst SET removed_at = transaction_timestamp()"
            " WHERE name = %s AND removed_at IS NULL",
            (name,),
        )
        if changed.rowcount != 1:
            raise UserError(f'there is no analyst "{name}"')
        note(connection, by, "user remove", {"name": name})


def _verifier(connection: psycopg.Connection, name: str, password: str) -> str:
    """The SCRAM verifier (RFC 5803), made on this side: libpq's PQencryptPasswordConn."""
    if not password:
        raise UserError("the password is empty")
    return connection.pgconn.encrypt_password(
        password.encode(), name.encode(), b"scram-sha-256"
    ).decode()


# Groups of analysts: names that people are in, and that rights and budgets can be given to.


def add_to_group(ledger_dsn: str, group: str, name: str, *, by: str | None = None) -> None:
    """
    Given    by: who does it, for the log; None for who runs this process
    Refuses  UserError: no such analyst, in the group already, a name that no group has
    """
    check_name(group)
    with psycopg.connect(ledger_dsn) as connection:
        added = connection.execute(
            "INSERT INTO ledger.membership (analyst, grp) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (analyst_number(connection, name), group),
        )
        if added.rowcount != 1:
            raise UserError(f'"{name}" is in the group "{group}" already')
        note(connection, by, "group add", {"group": group, "name": name})


def remove_from_group(ledger_dsn: str, group: str, name: str, *, by: str | None = None) -> None:
    """
    Refuses  UserError: no such analyst, or not in the group
    """
    with psycopg.connect(ledger_dsn) as connection:
        removed = connection.execute(
            "DELETE FROM ledger.membership WHERE analyst = %s AND grp = %s",
            (analyst_number(connection, name), group),
        )
        if removed.rowcount != 1:
            raise UserError(f'"{name}" is not in the group "{group}"')
        note(connection, by, "group remove", {"group": group, "name": name})


def groups(ledger_dsn: str) -> Mapping[str, tuple[str, ...]]:
    """Group -> names of those in it who were not removed; groups of nobody are none."""
    with psycopg.connect(ledger_dsn) as connection:
        found = connection.execute(
            "SELECT m.grp, array_agg(a.name ORDER BY a.name) FROM ledger.membership m"
            " JOIN ledger.analyst a ON a.id = m.analyst AND a.removed_at IS NULL"
            " GROUP BY m.grp ORDER BY m.grp"
        ).fetchall()
    return {group: tuple(names) for group, names in found}


def analyst_number(connection: psycopg.Connection[Any], name: str) -> int:
    """Of the one who has the name now. Locked, so that what is given is given to somebody who is there.

    Refuses  UserError
    """
    row = connection.execute(
        "SELECT id FROM ledger.analyst WHERE name = %s AND removed_at IS NULL FOR SHARE", (name,)
    ).fetchone()
    if row is None:
        raise UserError(f'there is no analyst "{name}"')
    return int(row[0])
