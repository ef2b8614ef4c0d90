"""File descriptors of a serving process: as many as all limits on sockets together can take, or it says so.
Without, whoever opens many connections keeps the proxy from reaching its own databases."""

from __future__ import annotations

import resource

from proxy.ledger.bearer_tokens import CONNECTIONS as TOKEN_CONNECTIONS
from proxy.ledger.ledger_tables import CONNECTIONS
from proxy.postgres.analyst_limits import WIRE_SESSIONS
from proxy.protected.protected_database import SESSIONS_AT_ONCE
from proxy.servers.http.connections import ADMIN_LIMITS, ConnectionLimits
from proxy.servers.login_gate import GateLimits
from proxy.servers.wire.shared_server_state import FORWARDED_AT_ONCE, Limits
from proxy.shadow.analyst_sessions import SessionLimits

# A lease, the guard, the catalogue, public tables at both ends, a question whether the source answers;
# and connections that are being closed while others take their place.
_BESIDE_OF_DATABASE = 6 + SESSIONS_AT_ONCE
# The monitor, RoleMatcher's two, the reader of people, and a look whether inner roles are there.
_BESIDE = 4 + SessionLimits().logins_at_once + GateLimits().backends
_MARGIN = 100  # listeners, event loop, logs, libraries, what is accepted to be closed


def needed_files(databases: int, sessions: int = WIRE_SESSIONS) -> int:
    """The sum of all limits on what is open at once. sessions: of the wire."""
    wire, http, shadow = Limits(), ConnectionLimits(), SessionLimits()
    return (
        wire.unauthenticated_connections
        + 2 * sessions  # the client's and the shadow's
        + FORWARDED_AT_ONCE
        + http.at_once
        + 2 * ADMIN_LIMITS.at_once  # administrators, and readers of metrics
        + 3 * (shadow.at_once + shadow.idle)  # the shadow's, and the pair of a PacedSocket
        + GateLimits().backends
        + databases * (SESSIONS_AT_ONCE + CONNECTIONS + _BESIDE_OF_DATABASE)
        + TOKEN_CONNECTIONS
        + _BESIDE
        + _MARGIN
    )


def raise_open_files(databases: int, sessions: int = WIRE_SESSIONS) -> str | None:
    """
    Given    how many databases are to be served, and for how many sessions of the wire
    Gives    this process may open as many files as the system lets it; where those are too few, what to say
    """
    needed = needed_files(databases, sessions)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems do not take "no limit" for a soft limit.
    most = max(soft, needed) if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError):
            most = soft
    if soft == resource.RLIM_INFINITY or most >= needed:
        return None
    return (
        f"dpproxy can need {needed} open files, one for each connection that its limits allow, and the"
        f" system allows it {most}: raise the hard limit (ulimit -Hn {needed}; in a systemd unit"
        f" LimitNOFILE={needed}; with docker --ulimit nofile={needed})"
    )
