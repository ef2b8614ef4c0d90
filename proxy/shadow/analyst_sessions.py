"""Sessions of analysts on the shadow, logged in as themselves; idle ones are kept for a short while.

PostgreSQL checks the password (SCRAM over loopback). A kept session serves only who brings the same
password, and not for long, so that a password that was changed or taken away ends soon.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
import re
import socket
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from weakref import WeakSet

import psycopg

from proxy.base.errors import Fault
from proxy.base.limits import IDENTIFIER_BYTES
from proxy.base.role_names import inner_role, stand_in
from proxy.base.session_settings import ANSWERED_SETTINGS
from proxy.engine.role_readiness import LOGINS_AWAY, RoleReadiness
from proxy.engine.sessions import PostgresError, WrongCredentials
from proxy.ledger.analysts_role import ANALYSTS
from proxy.shadow.analyst_session import ConnectedSession
from proxy.shadow.shadow_roles import create_role
from proxy.turns.fair_share import FairShare

# How dpproxy itself logs an analyst in whom it has let in: by a token or a certificate, not by a password.
#
# The shadow knows each analyst by a role with the verifier of their password, which dpproxy does not know. So
# such a session is of a second role of theirs, with the same rights and limits, whose password is made of a
# secret of this process. Its name is refused to everybody who comes from outside (proxy.base.role_names), it is
# made when it is first needed, and it goes with the analyst's own (`shadow_roles`).
#
# Source  docs/adr/why-people.md (ADR 0071)

_CONNECT_SECONDS = 5
# The password is 256 random bits: nothing to guess, so nothing to slow down.
_ITERATIONS = 1


class InnerLogins:
    """
    Given    the superuser's way into the shadow's server
    """

    def __init__(self, superuser_dsn: str) -> None:
        self._superuser_dsn = superuser_dsn
        self._secret = os.urandom(32)

    def __repr__(self) -> str:
        return "InnerLogins()"

    def role(self, analyst: str) -> str:
        return inner_role(analyst)

    def password(self, analyst: str) -> str:
        return self._derived("password", analyst).hex()

    def verifier(self, analyst: str) -> str:
        """As PostgreSQL keeps it (RFC 5803); the same each time, so that it can be compared."""
        salt = self._derived("salt", analyst)[:16]
        password = self.password(analyst).encode()
        salted = hashlib.pbkdf2_hmac("sha256", password, salt, _ITERATIONS)
        stored = hashlib.sha256(_mac(salted, b"Client Key")).digest()
        texts = [
            base64.b64encode(one).decode() for one in (salt, stored, _mac(salted, b"Server Key"))
        ]
        return f"SCRAM-SHA-256${_ITERATIONS}:{texts[0]}${texts[1]}:{texts[2]}"

    async def ensure(self, analyst: str) -> None:
        """The role is there. Only of an analyst whom the ledger knows: of others it would go a second later.

        Refuses  psycopg.Error
        """
        await asyncio.to_thread(self._make, analyst)

    def _make(self, analyst: str) -> None:
        role = inner_role(analyst)
        with psycopg.connect(
            self._superuser_dsn, autocommit=True, connect_timeout=_CONNECT_SECONDS
        ) as connection:
            found = connection.execute(
                "SELECT FROM pg_catalog.pg_roles WHERE rolname = %s", (role,)
            )
            if found.fetchone() is None:
                with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
                    create_role(connection, role, self.verifier(analyst))

    def _derived(self, purpose: str, analyst: str) -> bytes:
        name = f"{purpose}\0{analyst}".encode("utf-8", "surrogatepass")
        return _mac(self._secret, name)


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


_LOGIN_SECONDS = 10
_CREDENTIAL_BYTES = 1024
_REMEMBERED = 4096
# In place of the environment's, and of what the analyst's role has: a request could not change that.
_OPTIONS = " ".join(f"-c {name}={value}" for name, value in ANSWERED_SETTINGS.items())
# Of PostgreSQL's messages of class 28; lc_messages of the shadow is C.
_REFUSAL = re.compile(
    r"password authentication failed|pg_hba\.conf"
    r'|role "[^"]*" (does not exist|is not permitted to log in)'
)
_Key = tuple[str, str, bytes]

# The role as PostgreSQL knows it; no row where it is no analyst's.
_ROLE = """\
SELECT r.rolname::text FROM pg_catalog.pg_roles r, pg_catalog.pg_roles g
WHERE r.rolname = session_user AND g.rolname = %s AND NOT r.rolsuper
  AND pg_catalog.pg_has_role(r.oid, g.oid, 'MEMBER')"""


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """
    at_once, each: sessions in use, in all and of one analyst; who waits longer than wait_seconds is told to
    come back. age_seconds: of a session since its login; after it, the password is asked for again.
    """

    at_once: int = 64
    each: int = 8
    wait_seconds: float = 5.0
    idle: int = 32
    idle_each: int = 8
    age_seconds: float = 60.0
    logins_at_once: int = 4


@dataclass(slots=True)
class _IdleSession:
    session: ConnectedSession
    until: float


class ShadowSessions:
    """
    Given    where the shadow of each database listens: host (or socket directory) and port
    Gives    what proxy.engine.sessions.AnalystSessions says; `close` at the end
    """

    def __init__(
        self,
        addresses: Mapping[str, tuple[str, int]],
        limits: SessionLimits | None = None,
        inner: InnerLogins | None = None,
        readiness: RoleReadiness | None = None,
    ) -> None:
        """inner: without it nobody comes in but by a password; readiness: None where the shadow's server has
        its roles as long as it runs."""
        self._readiness = readiness or RoleReadiness()
        self._inner = inner
        self._addresses = dict(addresses)
        self._limits = limits or SessionLimits()
        self._secret = os.urandom(32)  # passwords are not kept, only what tells two apart
        self._idle: dict[_Key, deque[_IdleSession]] = {}
        # Until when a password counts as right, by name and digest, whether its sessions are idle or in use.
        self._right: OrderedDict[tuple[str, bytes], float] = OrderedDict()
        self._places = FairShare(self._limits.at_once, self._limits.each)
        self._logging_in = asyncio.Semaphore(self._limits.logins_at_once)
        self._is_closed = False
        self._open: WeakSet[ConnectedSession] = WeakSet()

    @property
    def backends(self) -> frozenset[int]:
        """Processes of the shadow that serve a session, in use or idle."""
        return frozenset(one.process for one in self._open if not one.is_closed)

    @property
    def idle(self) -> int:
        return sum(map(len, self._idle.values()))

    @property
    def in_use(self) -> int:
        return self._places.used

    def close(self) -> None:
        self._is_closed = True
        for idle in [idle for line in self._idle.values() for idle in line]:
            idle.session.close()
        self._idle.clear()

    def knows(self, user: str, password: str) -> bool:
        """Whether PostgreSQL has found it right since `age_seconds`. A comparison: it counts as a guess."""
        until = self._right.get((user, self._digest(password)), float("-inf"))
        return until > asyncio.get_running_loop().time()

    def refuse_unless_ready(self) -> None:
        if self._readiness.generation is None:
            raise Fault(LOGINS_AWAY)

    async def log_in(self, user: str, password: str) -> None:
        if not (_can_be_name(user) and _can_be_credential(password)):
            raise WrongCredentials
        key = (next(iter(self._addresses)), user, self._digest(password))
        idle = await self._log_in(key[0], user, password)
        self._put_back(key, idle)

    def place(self, user: str) -> AbstractAsyncContextManager[None]:
        return self._places.place(user, self._limits.wait_seconds)

    @asynccontextmanager
    async def session(
        self, database: str, user: str, password: str, settings: Mapping[str, str]
    ) -> AsyncIterator[ConnectedSession]:
        if not (_can_be_name(user) and _can_be_credential(password)):
            raise WrongCredentials
        key = (database, user, self._digest(password))
        idle = await self._begun(key, password, settings)
        try:
            yield idle.session
        finally:
            await self._give_back(key, idle)

    @asynccontextmanager
    async def inner_session(
        self, database: str, user: str, settings: Mapping[str, str]
    ) -> AsyncIterator[ConnectedSession]:
        if self._inner is None or not _can_be_name(user):
            raise WrongCredentials
        # No password is empty: nobody brings this digest.
        key = (database, user, b"")
        idle = await self._begun(key, None, settings)
        try:
            yield idle.session
        finally:
            await self._give_back(key, idle)

    def _digest(self, password: str) -> bytes:
        encoded = password.encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, encoded, hashlib.sha256).digest()

    async def _begun(
        self, key: _Key, password: str | None, settings: Mapping[str, str]
    ) -> _IdleSession:
        while (idle := self._take(key)) is not None:
            try:
                await idle.session.begin(settings)
                return idle
            except (Fault, PostgresError):
                idle.session.close()  # ended meanwhile, e.g. with its role: ask for the password again
            except BaseException:
                idle.session.close()
                raise
        try:
            idle = await self._log_in(key[0], key[1], password)
        except WrongCredentials:
            self._right.pop(key[1:], None)  # it has been changed
            raise
        try:
            await idle.session.begin(settings)
        except BaseException:
            idle.session.close()
            raise
        return idle

    def _take(self, key: _Key) -> _IdleSession | None:
        self._drop_old()
        line = self._idle.get(key)
        if not line:
            return None
        idle = line.pop()
        if not line:
            del self._idle[key]
        return idle

    async def _give_back(self, key: _Key, idle: _IdleSession) -> None:
        try:
            if not idle.session.is_broken:
                await idle.session.reset()
                self._put_back(key, idle)
                return
        except (Fault, PostgresError):
            pass
        except BaseException:
            idle.session.close()
            raise
        idle.session.close()

    def _put_back(self, key: _Key, idle: _IdleSession) -> None:
        loop = asyncio.get_running_loop()
        if self._is_closed or idle.until <= loop.time():
            idle.session.close()
            return
        of_user = [one for one in self._idle if one[1] == key[1]]
        if sum(len(self._idle[one]) for one in of_user) >= self._limits.idle_each:
            self._close_oldest(of_user)
        elif self.idle >= self._limits.idle:
            self._close_oldest(list(self._idle))
        self._idle.setdefault(key, deque()).append(idle)
        loop.call_at(idle.until + 0.1, self._drop_old)

    def _close_oldest(self, keys: Sequence[_Key]) -> None:
        key = min(keys, key=lambda one: self._idle[one][0].until)
        self._idle[key].popleft().session.close()
        if not self._idle[key]:
            del self._idle[key]

    def _drop_old(self) -> None:
        now = asyncio.get_running_loop().time()
        for key, line in list(self._idle.items()):
            for idle in [idle for idle in line if idle.until <= now]:
                idle.session.close()
                line.remove(idle)
            if not line:
                del self._idle[key]

    async def _log_in(self, database: str, user: str, password: str | None) -> _IdleSession:
        """password None: as the analyst's inner role. Refuses  WrongCredentials, Fault"""
        self.refuse_unless_ready()
        generation = self._readiness.generation
        try:
            return await self._logged_in(database, user, password)
        except WrongCredentials:
            if self._readiness.generation != generation:  # a server without roles may have said it
                raise Fault(LOGINS_AWAY) from None
            raise

    async def _logged_in(self, database: str, user: str, password: str | None) -> _IdleSession:
        host, port = self._addresses[database]
        is_inner = password is None
        async with self._logging_in:
            role = stand_in(user) or user
            if password is None:
                assert self._inner is not None
                role, password = await self._inner_credentials(self._inner, user)
            self.refuse_unless_ready()  # also who has waited
            try:
                connection = await psycopg.AsyncConnection.connect(
                    host=host,
                    port=port,
                    user=role,
                    password=password,
                    dbname=database,
                    autocommit=True,
                    connect_timeout=_LOGIN_SECONDS,
                    client_encoding="utf8",
                    application_name="dpproxy http",
                    options=_OPTIONS,
                    gssencmode="disable",
                )
            except psycopg.OperationalError as error:
                raise _refused_login(error, user) from None
        try:
            PacedSocket(connection.fileno())
            row = await (await connection.execute(_ROLE, (ANALYSTS,))).fetchone()
            if row is None:
                raise WrongCredentials
            name = user if row[0] == role == inner_role(user) else row[0]
        except BaseException:
            connection.pgconn.finish()
            raise
        until = asyncio.get_running_loop().time() + self._limits.age_seconds
        if not is_inner:
            self._remember(user, password, until)
        session = ConnectedSession(connection, name)
        self._open.add(session)
        return _IdleSession(session, until)

    def _remember(self, user: str, password: str, until: float) -> None:
        """Remember a password that PostgreSQL has found right."""
        key = (user, self._digest(password))
        self._right[key] = until
        self._right.move_to_end(key)
        if len(self._right) > _REMEMBERED:
            self._right.popitem(last=False)

    @staticmethod
    async def _inner_credentials(inner: InnerLogins, user: str) -> tuple[str, str]:
        try:
            await inner.ensure(user)
        except psycopg.Error:
            raise Fault(LOGINS_AWAY) from None
        return inner.role(user), inner.password(user)


def _can_be_credential(text: str) -> bool:
    """Without a password libpq would look for one elsewhere."""
    return 0 < len(text) <= _CREDENTIAL_BYTES and "\0" not in text


def _can_be_name(text: str) -> bool:
    """PostgreSQL would cut a longer name, and one analyst would have the shares of many."""
    return (
        _can_be_credential(text) and len(text.encode("utf-8", "surrogatepass")) <= IDENTIFIER_BYTES
    )


def _refused_login(error: psycopg.OperationalError, user: str) -> Exception:
    """libpq tells no SQLSTATE of a failed login. Only what the server says of role and password is a refusal:
    a connection that is lost meanwhile is none."""
    message = str(error).replace(user, "")  # a name may read like a message
    if "too many" in message or "remaining connection slots" in message:  # 53300
        return Fault("sorry, too many clients already")
    if _REFUSAL.search(message):
        return WrongCredentials()
    return Fault(LOGINS_AWAY)


# What libpq reads, at our pace.
#
# Where a message is longer than what has come of it, libpq makes room for all of it and reads as long as
# the server goes on to write, in one call: an error of 250 MB is in memory before anybody is asked. So
# between the two stands a pair of sockets that the event loop fills. While libpq reads, nobody writes: it
# gets what the pair holds, some hundred kilobytes, and what FIONREAD said before is what it has read.


_PIECE_BYTES = 64 * 1024


class PacedSocket:
    """
    Given    the descriptor of a connection on which nobody waits now; it becomes one end of a pair
    Gives    everything goes on as before, in both directions, until one side ends; then all is closed
    """

    def __init__(self, descriptor: int) -> None:
        loop = asyncio.get_running_loop()
        self._server = socket.socket(fileno=os.dup(descriptor))
        self._ours, theirs = socket.socketpair()
        for one in (self._server, self._ours, theirs):
            one.setblocking(False)
        with theirs:
            os.dup2(theirs.fileno(), descriptor, inheritable=False)
        self._pumps = {
            loop.create_task(_pump(self._server, self._ours)),
            loop.create_task(_pump(self._ours, self._server)),
        }
        for pump in self._pumps:
            pump.add_done_callback(self._ended)

    def _ended(self, pump: asyncio.Task[None]) -> None:
        self._pumps.discard(pump)
        if not pump.cancelled():
            pump.exception()
        for other in self._pumps:
            other.cancel()
        if not self._pumps:  # not before: the loop still watches what the other one waits for
            self._ours.close()
            self._server.close()


async def _pump(source: socket.socket, sink: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while piece := await loop.sock_recv(source, _PIECE_BYTES):
            await loop.sock_sendall(sink, piece)
