"""Keeps the roles of a shadow's server the ledger's analysts, on one connection to each of the two."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg

from proxy.ledger.lasting_connection import connect_lasting
from proxy.ledger.users import read_verifiers
from proxy.shadow.ending_sessions import EndingSessions
from proxy.shadow.shadow_roles import InnerVerifier, match_roles_on


class RoleMatcher:
    """
    Given    the ledger's connection string, the superuser's way into the shadow's server, the databases there
    Gives    `match`, to be called every second or so, from one thread at a time; `close` from any
    """

    def __init__(
        self,
        ledger_dsn: str,
        superuser_dsn: str,
        databases: Sequence[str],
        inner: InnerVerifier | None = None,
        ending: EndingSessions | None = None,
    ) -> None:
        self._ledger_dsn = ledger_dsn
        self._superuser_dsn = superuser_dsn
        self._databases = tuple(databases)
        self._inner = inner
        self._ending = ending
        self._settled: dict[str, str] = {}  # verifiers that were set
        self._ledger: psycopg.Connection[Any] | None = None
        self._shadow: psycopg.Connection[Any] | None = None
        self._in_use = threading.Lock()
        self._is_closed = False

    def __repr__(self) -> str:  # the DSNs hold passwords
        return "RoleKeeper()"

    def match(self) -> tuple[str, ...]:
        """
        Gives    the names of those whose role was made, changed or removed
        Refuses  psycopg.Error where a server cannot be asked; the next call connects again
        """
        try:
            with self._in_use:
                return () if self._is_closed else self._matched()
        finally:
            if self._is_closed:  # meanwhile: nobody else closes what was just opened
                self.close()

    def close(self) -> None:
        """Waits for nothing: a `match` under way closes at its end."""
        self._is_closed = True
        if self._in_use.acquire(blocking=False):
            try:
                self._drop()
            finally:
                self._in_use.release()

    def _matched(self) -> tuple[str, ...]:
        try:
            wanted = self._wanted()
            if self._shadow is None:
                self._shadow = connect_lasting(self._superuser_dsn)
            return match_roles_on(
                self._shadow,
                self._superuser_dsn,
                self._databases,
                wanted,
                self._inner,
                self._settled,
                self._ending,
            )
        except BaseException:
            self._drop()
            raise

    def _wanted(self) -> Mapping[str, str]:
        if self._ledger is None:
            self._ledger = connect_lasting(self._ledger_dsn)
            # A ledger's server may end idle sessions; this one would be opened anew every second.
            self._ledger.execute("SET idle_session_timeout = 0")
        return read_verifiers(self._ledger)

    def _drop(self) -> None:
        for connection in (self._ledger, self._shadow):
            if connection is not None:
                with suppress(psycopg.Error):
                    connection.close()
        self._ledger = self._shadow = None
