"""What one analyst may take of the shadow's server, so that the others keep theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

SESSIONS_PER_ANALYST = 24  # CONNECTION LIMIT of each analyst's role
WIRE_SESSIONS = (
    150  # of all PostgreSQL clients at once, unless `serve --sessions` says another number
)

_MIB = 1 << 20
# Private memory of one analyst's sessions. Each session has an equal part as a limit of the kernel
# (RLIMIT_DATA), so that all of them together never take more. A session begins with 2 MiB.
MEMORY_PER_ANALYST = 1536 * _MIB
MEMORY_PER_SESSION = MEMORY_PER_ANALYST // SESSIONS_PER_ANALYST

# Defaults of each shadow database. Analysts can SET the first three; the monitor holds the shares then.
DATABASE_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "statement_timeout": "5min",
        "idle_in_transaction_session_timeout": "1h",
        "jit": "off",
        # From here on superusers alone can SET them.
        "temp_file_limit": "1GB",
        # RAISE LOG and the server's words about an analyst's statement stay out of the server's log.
        "log_min_messages": "panic",
        "log_min_error_statement": "panic",
        "log_min_duration_statement": "-1",
        "log_min_duration_sample": "-1",
        "log_transaction_sample_rate": "0",
        "log_duration": "off",
        "log_lock_waits": "off",
        "log_temp_files": "-1",
        "log_parser_stats": "off",
        "log_planner_stats": "off",
        "log_executor_stats": "off",
        "log_statement_stats": "off",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalystLimits:
    """Of one analyst, over all sessions and shadow databases. What passes them is ended.

    temporary_bytes: of temporary tables and spilled sorts; locks: of the server's one table of locks;
    statement_seconds, transaction_seconds: of each session; notification_bytes: of all analysts, a queue
    that only an open transaction keeps from being emptied; catalogue_bytes: of all analysts, growth of
    catalogues and log; cpu_seconds: of late, then an analyst's sessions go behind the others'. Memory is the
    kernel's to limit (MEMORY_PER_SESSION).
    """

    temporary_bytes: int = 1 << 30
    locks: int = 20_000
    statement_seconds: float = 600.0
    transaction_seconds: float = 7200.0
    notification_bytes: int = 64 * _MIB
    catalogue_bytes: int = 256 * _MIB
    cpu_seconds: float = 10.0
    transaction_ids: int = 500_000_000
    log_bytes: int = 10 * _MIB
