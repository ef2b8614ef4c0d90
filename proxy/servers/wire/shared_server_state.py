"""What all connections of one server share."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Protocol

from proxy.engine.role_readiness import RoleReadiness
from proxy.postgres.analyst_limits import WIRE_SESSIONS
from proxy.servers.admission import Admission
from proxy.servers.client_address import Networks
from proxy.servers.login_gate import LoginGate
from proxy.servers.wire.cancelling import CancelRegistry
from proxy.servers.wire.certificate_rules import CertificateRules
from proxy.servers.wire.served_database import ServedDatabase
from proxy.servers.wire.wire_sessions import WireSession


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
    """How dpproxy itself logs in an analyst whom it has let in (proxy.shadow.inner_logins)."""

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
