"""postgresql.conf and pg_hba.conf of an embedded PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping

# The log never holds a statement, a parameter or an error's text: they quote values from the data.
# log_min_messages = log leaves out ERROR and below, by the manual's order (table 19.2).
_ALWAYS = {
    "max_connections": "200",
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
    """SCRAM, and the superuser through the socket only. First match counts (manual 20.1)."""
    return (
        f'local all "{superuser}" scram-sha-256\n'
        f'host  all "{superuser}" 0.0.0.0/0 reject\n'
        f'host  all "{superuser}" ::/0 reject\n'
        "local all all scram-sha-256\n"
        "host  all all 127.0.0.1/32 scram-sha-256\n"
    )


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
