"""postgresql.conf and pg_hba.conf of an embedded PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.postgres.analyst_limits import MEMORY_PER_SESSION
from proxy.postgres.process_walls import ProcessLimits

# The log never holds a statement, a parameter or an error's text: they quote values from the data.
# log_min_messages = log leaves out ERROR and below, by the manual's order (table 19.2).
_ALWAYS = {
    # A shadow has as many as its listeners hand out together (cli/proxy_servers.py).
    "max_connections": "270",
    "superuser_reserved_connections": "10",
    "shared_buffers": "128MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "password_encryption": "scram-sha-256",
    "jit": "off",
    "random_page_cost": "1.1",
    "full_page_writes": "on",
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",
    "log_autovacuum_min_duration": "-1",
    "log_timezone": "UTC",
    "timezone": "UTC",
    "datestyle": "ISO, MDY",
    "lc_messages": "C",
}

# Of each process of a shadow's server. For a processor it waits behind the proxy, the ledger and the protected
# server, which serve everybody; if memory runs out, it is ended before them.
LIMITS_FOR_ANALYSTS = ProcessLimits(memory=MEMORY_PER_SESSION, nice=5, oom_score=900)

_FOR_ANALYSTS = {
    # The table of locks is one for the server: 250,000 places, of which an analyst's share is Shares.locks.
    "max_locks_per_transaction": "1024",
    # In the data folder: /dev/shm has files of others.
    "dynamic_shared_memory_type": "mmap",
    "max_pred_locks_per_transaction": "64",
    "max_prepared_transactions": "0",
    # No parallel workers: each would be a memory of its own, and public tables are small.
    "max_worker_processes": "0",
    "max_parallel_workers": "0",
    "max_parallel_workers_per_gather": "0",
    "max_logical_replication_workers": "0",
    "max_replication_slots": "0",
    # A statement whose client is gone ends.
    "client_connection_check_interval": "10s",
    "tcp_keepalives_idle": "60",
    "track_activity_query_size": "1kB",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "temp_file_limit": "1GB",
    "maintenance_work_mem": "16MB",  # of the memory of a session
    "shared_preload_libraries": "",
    "dynamic_library_path": "$libdir",
    "log_connections": "off",
    "log_disconnections": "off",
    "log_lock_waits": "off",
    "log_temp_files": "-1",
}
_FOR_ANALYSTS_SINCE: Mapping[int, Mapping[str, str]] = {
    15: {"log_startup_progress_interval": "0"},
    # 8 MB of messages that a listening transaction keeps from being removed, not 8 GB.
    17: {"max_notify_queue_pages": "1024", "transaction_timeout": "2h"},
}


def settings_for_analysts(major: int) -> Mapping[str, str]:
    """More lines of postgresql.conf for a server that analysts reach; major: of PostgreSQL's version.

    >>> "max_notify_queue_pages" in settings_for_analysts(16), settings_for_analysts(18)["jit"]
    (False, 'off')
    """
    settings = {"jit": "off", **_FOR_ANALYSTS}
    for since, more in _FOR_ANALYSTS_SINCE.items():
        if major >= since:
            settings |= more
    return settings


def settings_file(
    port: int, listen: str, socket_directory: str, *, durable: bool, extra: Mapping[str, str]
) -> str:
    """
    >>> settings_file(1, "", "/s", durable=True, extra={"work_mem": "8MB"}).splitlines()[1]
    "port = '1'"
    """
    settings = {
        "listen_addresses": listen,
        "port": str(port),
        # A list of names: quoted, so that a comma stays part of the path.
        "unix_socket_directories": '"' + socket_directory.replace('"', '""') + '"',
        "unix_socket_permissions": "0700",
        **_ALWAYS,
        "fsync": "on" if durable else "off",
        "synchronous_commit": "on" if durable else "off",
        **extra,
    }
    return "".join(f"{name} = {_quoted(value)}\n" for name, value in settings.items())


def access_rules(superuser: str) -> str:
    """SCRAM, and the superuser through the socket only. First match counts (PostgreSQL 17 documentation,
    section 20.1)."""
    return (
        f'local all "{superuser}" scram-sha-256\n'
        f'host  all "{superuser}" 0.0.0.0/0 reject\n'
        f'host  all "{superuser}" ::/0 reject\n'
        "local all all scram-sha-256\n"
        "host  all all 127.0.0.1/32 scram-sha-256\n"
    )


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
