"""What the listeners have to know of people, read each second on one connection that is kept."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg

from proxy.ledger.data_access import who_may

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
