"""What all connections of one server share."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.servers.wire.brain import Served
from proxy.servers.wire.cancelling import CancelRegistry


@dataclass(frozen=True, slots=True)
class Limits:
    authentication_seconds: float = 10.0
    unauthenticated_connections: int = 256
    connections: int = 2_000
    closing_seconds: float = 10.0  # for a client that does not read its last bytes
    waiting_bytes: int = 1024 * 1024  # of a client, behind a question that is being answered


@dataclass(slots=True)
class Hub:
    databases: Mapping[str, Served]
    tls: ssl.SSLContext | None
    limits: Limits
    cancels: CancelRegistry = field(default_factory=CancelRegistry)
    unauthenticated: int = 0
    connected: int = 0
    is_stopping: bool = False
