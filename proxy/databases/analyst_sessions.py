"""Sessions of analysts on the shadow, logged in as themselves; idle ones are kept for a short while.

PostgreSQL checks the password (SCRAM over loopback). A kept session serves only who brings the same
password, and not for long, so that a password that was changed or taken away ends soon.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg

from proxy.base.errors import Fault
from proxy.databases.analyst_session import ConnectedSession
from proxy.engine.sessions import PostgresError, WrongCredentials

_LOGIN_SECONDS = 10
_CREDENTIAL_BYTES = 1024
_Key = tuple[str, str, bytes]


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """age_seconds: of a session since its login; after it, the password is asked for again."""

    at_once: int = 64
    idle: int = 32
    idle_each: int = 8
    age_seconds: float = 60.0
    logins_at_once: int = 4


@dataclass(slots=True)
class _Kept:
    session: ConnectedSession
    until: float


class ShadowSessions:
    """
    Given    where the shadow of each database listens: host (or socket directory) and port
    Gives    `session`: see proxy.engine.sessions.AnalystSessions; `close` at the end
    """

    def __init__(
        self, addresses: Mapping[str, tuple[str, int]], limits: SessionLimits | None = None
    ) -> None:
        self._addresses = dict(addresses)
        self._limits = limits or SessionLimits()
        self._secret = os.urandom(32)  # passwords are not kept, only what tells two apart
        self._idle: dict[_Key, deque[_Kept]] = {}
        self._at_once = asyncio.Semaphore(self._limits.at_once)
        self._logging_in = asyncio.Semaphore(self._limits.logins_at_once)
        self._is_closed = False

    @property
    def idle(self) -> int:
        return sum(map(len, self._idle.values()))

    def close(self) -> None:
        self._is_closed = True
        for kept in [kept for line in self._idle.values() for kept in line]:
            kept.session.close()
        self._idle.clear()

    @asynccontextmanager
    async def session(
        self, database: str, user: str, password: str, settings: Mapping[str, str]
    ) -> AsyncIterator[ConnectedSession]:
        if not (_can_be_credential(user) and _can_be_credential(password)):
            raise WrongCredentials
        digest = hmac.new(self._secret, password.encode(), hashlib.sha256).digest()
        key = (database, user, digest)
        async with self._at_once:
            kept = await self._begun(key, password, settings)
            try:
                yield kept.session
            finally:
                await self._give_back(key, kept)

    async def _begun(self, key: _Key, password: str, settings: Mapping[str, str]) -> _Kept:
        while (kept := self._take(key)) is not None:
            try:
                await kept.session.begin(settings)
                return kept
            except (Fault, PostgresError):
                kept.session.close()  # ended meanwhile, e.g. with its role: ask for the password again
            except BaseException:
                kept.session.close()
                raise
        kept = await self._log_in(key[0], key[1], password)
        try:
            await kept.session.begin(settings)
        except BaseException:
            kept.session.close()
            raise
        return kept

    def _take(self, key: _Key) -> _Kept | None:
        self._drop_old()
        line = self._idle.get(key)
        if not line:
            return None
        kept = line.pop()
        if not line:
            del self._idle[key]
        return kept

    async def _give_back(self, key: _Key, kept: _Kept) -> None:
        try:
            if not kept.session.is_broken:
                await kept.session.reset()
                self._keep(key, kept)
                return
        except (Fault, PostgresError):
            pass
        except BaseException:
            kept.session.close()
            raise
        kept.session.close()

    def _keep(self, key: _Key, kept: _Kept) -> None:
        loop = asyncio.get_running_loop()
        line = self._idle.get(key, ())
        full = self.idle >= self._limits.idle or len(line) >= self._limits.idle_each
        if full or self._is_closed or kept.until <= loop.time():
            kept.session.close()
            return
        self._idle.setdefault(key, deque()).append(kept)
        loop.call_at(kept.until + 0.1, self._drop_old)

    def _drop_old(self) -> None:
        now = asyncio.get_running_loop().time()
        for key, line in list(self._idle.items()):
            for kept in [kept for kept in line if kept.until <= now]:
                kept.session.close()
                line.remove(kept)
            if not line:
                del self._idle[key]

    async def _log_in(self, database: str, user: str, password: str) -> _Kept:
        host, port = self._addresses[database]
        async with self._logging_in:
            try:
                connection = await psycopg.AsyncConnection.connect(
                    host=host,
                    port=port,
                    user=user,
                    password=password,
                    dbname=database,
                    autocommit=True,
                    connect_timeout=_LOGIN_SECONDS,
                    client_encoding="utf8",
                    application_name="dpproxy http",
                    options="",  # else the environment's
                    gssencmode="disable",
                )
            except psycopg.OperationalError as error:
                raise _refused_login(error) from None
        try:
            # The role as PostgreSQL knows it: it cuts long names off, and budgets go by name.
            row = await (await connection.execute("SELECT session_user::text")).fetchone()
        except BaseException:
            connection.pgconn.finish()
            raise
        assert row is not None
        until = asyncio.get_running_loop().time() + self._limits.age_seconds
        return _Kept(ConnectedSession(connection, row[0]), until)


def _can_be_credential(text: str) -> bool:
    """Without a password libpq would look for one elsewhere."""
    return 0 < len(text) <= _CREDENTIAL_BYTES and "\0" not in text


def _refused_login(error: psycopg.OperationalError) -> Exception:
    """libpq tells no SQLSTATE of a failed login. The server asked for a password, or its rules refused to."""
    said = str(error)
    if "too many" in said or "remaining connection slots" in said:  # 53300
        return Fault("sorry, too many clients already")
    asked = error.pgconn is not None and error.pgconn.used_password
    if asked or "pg_hba.conf" in said:
        return WrongCredentials()
    return Fault("the database system is not available")
