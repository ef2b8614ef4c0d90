"""What all connections of one server share."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Protocol, TypeVar

from typing_extensions import ParamSpec

from proxy.engine.role_readiness import RoleReadiness
from proxy.pgwire.calls import (
    Correct,
    PlanTrial,
    QueryAnswer,
    Refuse,
    RunQuery,
    StatementReader,
    Trial,
)
from proxy.pgwire.frames import U32
from proxy.postgres.analyst_limits import WIRE_SESSIONS
from proxy.servers.admission import Admission
from proxy.servers.client_address import Networks
from proxy.servers.login_gate import LoginGate
from proxy.servers.wire.certificate_rules import CertificateRules
from proxy.turns.fair_share import Busy, FairShare

# CancelRequest: from the key that a client was given to its session.

_CANCEL_REQUEST = 80877102
FORWARDED_AT_ONCE = 16  # a flood of requests must not become a flood of forks on the shadow
_FORWARDED_EACH = 4  # of one address
_TIMEOUT_SECONDS = 5.0

# Key, packet and requester of a request that other workers may know. Gives whether one did.
Elsewhere = Callable[[bytes, bytes, str], Awaitable[bool]]


async def _nobody_else(key: bytes, packet: bytes, requester: str) -> bool:
    return False


class CancelRegistry:
    """Keys are the shadow's own (BackendKeyData is relayed), 32 random bits beside a process number."""

    def __init__(self) -> None:
        self._sessions: dict[bytes, tuple[ShadowAddress, Callable[[], None]]] = {}
        self._slots = FairShare(FORWARDED_AT_ONCE, _FORWARDED_EACH)
        self._leaving: set[asyncio.Task[None]] = set()
        self.requests = Counter(known=0, unknown=0)
        self.elsewhere: Elsewhere = _nobody_else

    def add(self, key: bytes, address: ShadowAddress, cancel: Callable[[], None]) -> None:
        self._sessions[key] = (address, cancel)

    def remove(self, key: bytes, cancel: Callable[[], None]) -> None:
        held = self._sessions.get(key)
        # The shadow may have given the same key to a later session.
        if held is not None and held[1] == cancel:
            del self._sessions[key]

    @property
    def processes(self) -> frozenset[int]:
        """Of the sessions. A key begins with it (BackendKeyData)."""
        return frozenset(U32.unpack_from(key)[0] for key in self._sessions)

    def leave_running(self, key: bytes, requester: str) -> None:
        """The client of a session is gone in the middle of a statement, which nobody needs any more."""
        held = self._sessions.get(key)
        if held is None:
            return
        packet = U32.pack(8 + len(key)) + U32.pack(_CANCEL_REQUEST) + key
        leaving = asyncio.ensure_future(self._forward(held[0], packet, requester))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        for leaving in list(self._leaving):
            leaving.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)

    async def request(self, key: bytes, packet: bytes, requester: str) -> None:
        """
        Given    requester: the address it comes from

        Never answered, whether it was known or not (PostgreSQL 17 documentation, section 55.2.8). An unknown
        key is nobody's, or another worker's: the shadow serves this process alone, and is not bothered with
        guesses.
        """
        is_known = await self.request_here(key, packet, requester)
        if not is_known:
            with contextlib.suppress(Busy):
                async with self._slots.place(requester, _TIMEOUT_SECONDS):
                    is_known = await self.elsewhere(key, packet, requester)
        self.requests["known" if is_known else "unknown"] += 1

    async def request_here(self, key: bytes, packet: bytes, requester: str) -> bool:
        """As `request`, of the sessions of this process alone. Gives whether it knows the key."""
        held = self._sessions.get(key)
        if held is None:
            return False
        address, cancel = held
        cancel()
        await self._forward(address, packet, requester)
        return True

    async def _forward(self, address: ShadowAddress, packet: bytes, requester: str) -> None:
        with contextlib.suppress(Busy):
            async with self._slots.place(requester, _TIMEOUT_SECONDS):
                await _forward(address, packet)


async def _forward(address: ShadowAddress, packet: bytes) -> None:
    try:
        await asyncio.wait_for(_deliver(address, packet), _TIMEOUT_SECONDS)
    except (OSError, asyncio.TimeoutError):
        return  # constant silence


async def _deliver(address: ShadowAddress, packet: bytes) -> None:
    if address.socket_path is not None:
        reader, writer = await asyncio.open_unix_connection(address.socket_path)
    else:
        reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        writer.write(packet)
        await writer.drain()
        # The server closes when the signal was sent; libpq waits for that, too.
        await reader.read(1)
    finally:
        writer.close()


# What the wire server needs of the layers below it, per database.

P = ParamSpec("P")
T = TypeVar("T")


class EnginePort(StatementReader, Protocol):
    """`split`, `look`, `prepared` and `read`, and what takes time. Nothing of it raises."""

    def of(self, analyst: str) -> EnginePort:
        """The same for the session of an analyst."""
        ...

    async def in_turn(
        self, analyst: str, function: Callable[P, T], *given: P.args, **named: P.kwargs
    ) -> T:
        """Read in a thread, one statement of an analyst at a time."""
        ...

    async def trial(self, analyst: str, query: PlanTrial) -> Trial | Refuse | None:
        """Reads and charges nothing. May be cancelled at any time."""
        ...

    async def correct(self, analyst: str, wanted: Correct) -> str | None:
        """Reads and charges nothing. May be cancelled at any time."""
        ...

    async def run(self, analyst: str, query: RunQuery) -> QueryAnswer | Refuse:
        """Charges. May be cancelled at any time: the client went away, or asked to cancel."""
        ...


@dataclass(frozen=True, slots=True)
class ShadowAddress:
    """host: a name or address, or the directory of a Unix socket, as libpq takes it."""

    host: str
    port: int

    @property
    def socket_path(self) -> str | None:
        return f"{self.host}/.s.PGSQL.{self.port}" if self.host.startswith("/") else None


@dataclass(frozen=True, slots=True)
class ServedDatabase:
    """A database that clients may connect to."""

    shadow: ShadowAddress
    engine: EnginePort


# A session of the wire, as an administrator sees it and as the ledger's people are compared with it.


@dataclass(frozen=True, slots=True, kw_only=True)
class WireSession:
    """number: of this process; person: the analyst's number in the ledger, which a name that is given again has
    not; address: the client's network."""

    number: int
    analyst: str
    person: int | None
    database: str
    address: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Limits:
    """
    silence_seconds: of a client that holds what others wait for
    unauthenticated_connections: sockets, which cost memory only; few of them have a backend (GateLimits)
    connections: with unauthenticated backends and HTTP's sessions below the shadow's max_connections
    """

    authentication_seconds: float = 10.0
    silence_seconds: float = 1.0
    unauthenticated_connections: int = 500
    unauthenticated_per_address: int = 100
    connections: int = WIRE_SESSIONS
    connections_per_analyst: int = 24
    closing_seconds: float = 10.0  # for a client that does not read its last bytes
    waiting_bytes: int = 1024 * 1024  # of a client, behind a query that is being run


class InnerRoles(Protocol):
    """How dpproxy itself logs in an analyst whom it has let in (proxy.shadow.analyst_sessions)."""

    def role(self, analyst: str) -> str: ...
    def password(self, analyst: str) -> str: ...
    async def ensure(self, analyst: str) -> None:
        """The role is there. Raises where the shadow cannot be asked."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LetIn:
    """Who is let in beside a right password, and where to. rules None: a certificate changes nothing."""

    admission: Admission
    inner: InnerRoles | None = None
    rules: CertificateRules | None = None


@dataclass(slots=True)
class SharedServerState:
    """
    requires_tls: sessions in plain text are refused
    let_in: None where every analyst may query every database, by a password
    readiness: whether the shadow's server can check a password
    analysts: sessions by name; connected: sessions in all
    elsewhere: sessions of an analyst at other workers; share: tells them how many are here
    first_number, number_step: of sessions, so that no two workers give the same
    balancers: say whose connection it is by a header of the PROXY protocol, and nobody else may
    """

    databases: Mapping[str, ServedDatabase]
    tls: ssl.SSLContext | None
    limits: Limits
    gate: LoginGate
    requires_tls: bool = False
    let_in: LetIn | None = None
    readiness: RoleReadiness = field(default_factory=RoleReadiness)
    cancels: CancelRegistry = field(default_factory=CancelRegistry)
    analysts: Counter[str] = field(default_factory=Counter)
    connected: int = 0
    is_stopping: bool = False
    begun_sessions: int = 0
    balancers: Networks = ()
    elsewhere: Callable[[str], int] = lambda analyst: 0
    share: Callable[[str, int], None] = lambda analyst, sessions: None
    first_number: int = 1
    number_step: int = 1

    def connect(self, analyst: str) -> None:
        """One more session of an analyst."""
        self.connected += 1
        self.analysts[analyst] += 1
        self.share(analyst, self.analysts[analyst])

    def disconnect(self, analyst: str) -> None:
        self.connected -= 1
        self.analysts[analyst] -= 1
        self.share(analyst, self.analysts[analyst])
        if not self.analysts[analyst]:
            del self.analysts[analyst]

    def sessions_of(self, analyst: str) -> int:
        """At all workers."""
        return self.analysts.get(analyst, 0) + self.elsewhere(analyst)

    def begun(self, analyst: str, database: str, address: str, person: int | None) -> WireSession:
        self.begun_sessions += 1
        return WireSession(
            number=self.first_number + (self.begun_sessions - 1) * self.number_step,
            analyst=analyst,
            person=person,
            database=database,
            address=address,
            since=datetime.now(timezone.utc),
        )
