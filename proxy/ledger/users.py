"""Analysts, as the ledger keeps them: names, SCRAM verifiers, and who may query what (ADR 0070).

Every shadow makes its roles from these. Listeners read them each second.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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


# Who may query which data, where not everybody may. It stands in the ledger, not in a policy (ADR 0070).

_LISTED = """\
SELECT s.name, r.source IS NOT NULL,
       coalesce(array_agg(a.name ORDER BY a.name)
                FILTER (WHERE a.id IS NOT NULL AND a.removed_at IS NULL), '{}'),
       coalesce(array_agg(c.grp ORDER BY c.grp) FILTER (WHERE c.grp IS NOT NULL), '{}')
FROM ledger.source s
LEFT JOIN ledger.restricted r ON r.source = s.id
LEFT JOIN ledger.access c ON c.source = s.id
LEFT JOIN ledger.analyst a ON a.id = c.analyst
GROUP BY s.name, r.source ORDER BY s.name"""
_MAY = """\
SELECT r.source, coalesce(array_agg(a.name) FILTER (WHERE ledger.may_query(r.source, a.name)), '{}')
FROM ledger.restricted r LEFT JOIN ledger.analyst a ON a.removed_at IS NULL
WHERE r.source = ANY(%s) GROUP BY r.source"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataAccess:
    """Of one source. is_restricted False: everybody, and the others are empty."""

    source: str
    is_restricted: bool
    analysts: tuple[str, ...]
    groups: tuple[str, ...]


def allow(
    ledger_dsn: str,
    source: str,
    *,
    analyst: str | None = None,
    group: str | None = None,
    by: str | None = None,
) -> None:
    """
    Given    a source's name in the ledger, and one of analyst and group
    Gives    they may query it; where everybody could before, nobody else can from now on
    Refuses  UserError: an unknown source or analyst, or they may already; a name that no group can have
    """
    if group is not None:
        check_name(group)
    with psycopg.connect(ledger_dsn) as connection:
        number = source_number(connection, source)
        person = _whom(connection, analyst, group)
        connection.execute(
            "INSERT INTO ledger.restricted (source) VALUES (%s) ON CONFLICT DO NOTHING", (number,)
        )
        added = connection.execute(
            "INSERT INTO ledger.access (source, analyst, grp) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (number, person, group),
        )
        if added.rowcount != 1:
            raise UserError(f"{_named(analyst, group)} may query {source} already")
        note(connection, by, "access allow", _detail(source, analyst, group))


def withdraw(
    ledger_dsn: str,
    source: str,
    *,
    analyst: str | None = None,
    group: str | None = None,
    by: str | None = None,
) -> None:
    """The reverse. Without anybody left, nobody may: it does not become everybody's again."""
    with psycopg.connect(ledger_dsn) as connection:
        number = source_number(connection, source)
        person = _whom(connection, analyst, group)
        removed = connection.execute(
            "DELETE FROM ledger.access WHERE source = %s"
            " AND analyst IS NOT DISTINCT FROM %s AND grp IS NOT DISTINCT FROM %s",
            (number, person, group),
        )
        if removed.rowcount != 1:
            raise UserError(f"{_named(analyst, group)} was not allowed to query {source}")
        note(connection, by, "access withdraw", _detail(source, analyst, group))


def restrict(ledger_dsn: str, source: str, *, by: str | None = None) -> None:
    """Nobody may, until somebody is allowed to."""
    with psycopg.connect(ledger_dsn) as connection:
        added = connection.execute(
            "INSERT INTO ledger.restricted (source) VALUES (%s) ON CONFLICT DO NOTHING",
            (source_number(connection, source),),
        )
        if added.rowcount != 1:
            raise UserError(f"{source} is restricted already")
        note(connection, by, "access restrict", {"source": source})


def open_to_all(ledger_dsn: str, source: str, *, by: str | None = None) -> None:
    """Everybody may again; the list of who could is gone."""
    with psycopg.connect(ledger_dsn) as connection:
        removed = connection.execute(
            "DELETE FROM ledger.restricted WHERE source = %s", (source_number(connection, source),)
        )
        if removed.rowcount != 1:
            raise UserError(f"everybody may query {source} already")
        note(connection, by, "access open", {"source": source})


def data_access(ledger_dsn: str) -> tuple[DataAccess, ...]:
    with psycopg.connect(ledger_dsn) as connection:
        found = connection.execute(_LISTED).fetchall()
    return tuple(
        DataAccess(
            source=source, is_restricted=restricted, analysts=tuple(names), groups=tuple(grouped)
        )
        for source, restricted, names, grouped in found
    )


def who_may(
    connection: psycopg.Connection[Any], sources: list[int]
) -> Mapping[int, frozenset[str]]:
    """Restricted sources among these -> names of those who may. What is not in it, everybody may."""
    return {
        source: frozenset(names)
        for source, names in connection.execute(_MAY, (sources,)).fetchall()
    }


def source_number(connection: psycopg.Connection[Any], name: str) -> int:
    """Refuses  UserError"""
    row = connection.execute("SELECT id FROM ledger.source WHERE name = %s", (name,)).fetchone()
    if row is None:
        known = [one for (one,) in connection.execute("SELECT name FROM ledger.source ORDER BY 1")]
        raise UserError(
            f'the ledger knows no database "{name}": it knows {", ".join(known) or "none yet"}'
        )
    return int(row[0])


def _whom(
    connection: psycopg.Connection[Any], analyst: str | None, group: str | None
) -> int | None:
    if (analyst is None) == (group is None):
        raise UserError("name either a user or a group")
    if analyst is not None:
        return analyst_number(connection, analyst)
    return None


def check_members(ledger_dsn: str, group: str) -> None:
    """
    Refuses  UserError, with the groups that there are, where nobody is in it. `allow` takes such a group: a
             program may let it in before it has members. A person who typed it has most likely mistyped it.
    """
    known = groups(ledger_dsn)
    if group not in known:
        raise UserError(
            f'there is no group "{group}": there {"are" if len(known) > 1 else "is"}'
            f" {', '.join(known) or 'none yet'}. A group is there while an analyst is in it:"
            " add the first one to it before it is let in"
        )


def _named(analyst: str | None, group: str | None) -> str:
    return f'"{analyst}"' if group is None else f'the group "{group}"'


def _detail(source: str, analyst: str | None, group: str | None) -> dict[str, str]:
    whom = {"name": analyst, "group": group}
    return {"source": source, **{key: one for key, one in whom.items() if one is not None}}


# What the listeners have to know of people, read each second on one connection that is kept.

_ANALYSTS = """\
SELECT name, id, sha256(convert_to(verifier, 'UTF8')) FROM ledger.analyst WHERE removed_at IS NULL"""
_GROUPS = """\
SELECT m.grp, array_agg(a.name) FROM ledger.membership m
JOIN ledger.analyst a ON a.id = m.analyst AND a.removed_at IS NULL GROUP BY m.grp"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerPeople:
    """
    analysts: name -> number, which a name that is given again has not
    passwords: number -> digest of the verifier of the password
    groups: name of a group -> names of those in it
    allowed: number of a source that not everybody may query -> names of those who may
    """

    analysts: Mapping[str, int] = field(default_factory=dict)
    passwords: Mapping[int, bytes] = field(default_factory=dict)
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    allowed: Mapping[int, frozenset[str]] = field(default_factory=dict)


class PeopleReader:
    """
    Given    the ledger's connection string, the sources that are served
    Gives    `read`, from one thread at a time; `close` from any
    """

    def __init__(self, ledger_dsn: str, sources: Sequence[int]) -> None:
        self._ledger_dsn = ledger_dsn
        self._sources = list(sources)
        self._connection: psycopg.Connection[Any] | None = None
        self._in_use = threading.Lock()

    def __repr__(self) -> str:  # the DSN may hold a password
        return "PeopleReader()"

    def read(self) -> LedgerPeople:
        """Of one moment. Refuses  psycopg.Error; the next call connects again"""
        with self._in_use:
            try:
                return self._read()
            except BaseException:
                self._drop()
                raise

    def close(self) -> None:
        if self._in_use.acquire(timeout=1):
            try:
                self._drop()
            finally:
                self._in_use.release()

    def _read(self) -> LedgerPeople:
        if self._connection is None:
            self._connection = psycopg.connect(
                self._ledger_dsn,
                connect_timeout=10,
                options="-c statement_timeout=10s -c search_path=pg_catalog",
            )
            # A ledger's server may end idle sessions; this one would be opened anew every second.
            self._connection.execute("SET idle_session_timeout = 0")
            self._connection.commit()
            self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection = self._connection
        with connection.transaction():  # one snapshot for all three
            analysts = connection.execute(_ANALYSTS).fetchall()
            return LedgerPeople(
                analysts={name: number for name, number, _ in analysts},
                passwords={number: bytes(digest) for _, number, digest in analysts},
                groups={
                    group: frozenset(names)
                    for group, names in connection.execute(_GROUPS).fetchall()
                },
                allowed=who_may(connection, self._sources),
            )

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None
