"""What all connections of one server share."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.servers.login_gate import LoginGate
from proxy.servers.wire.cancelling import CancelRegistry
from proxy.servers.wire.served_database import ServedDatabase


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
    connections: int = 150
    connections_per_analyst: int = 24
    closing_seconds: float = 10.0  # for a client that does not read its last bytes
    waiting_bytes: int = 1024 * 1024  # of a client, behind a query that is being run


@dataclass(slots=True)
class SharedServerState:
    """
    requires_tls: sessions in plain text are refused
    analysts: sessions by name; connected: sessions in all
    """

    databases: Mapping[str, ServedDatabase]
    tls: ssl.SSLContext | None
    limits: Limits
    gate: LoginGate
    requires_tls: bool = False
    cancels: CancelRegistry = field(default_factory=CancelRegistry)
    analysts: Counter[str] = field(default_factory=Counter)
    connected: int = 0
    is_stopping: bool = False
