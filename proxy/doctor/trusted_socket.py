"""Findings about servers that let in whoever is of the system user of dpproxy, which the shadow may share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg

from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding

_CONNECT_SECONDS = 10


def trusted_socket_findings(
    connection: psycopg.Connection[Any], where: str, *, is_kept_apart: bool
) -> Iterator[Finding]:
    """Find a server that asked for no password over a Unix socket (`peer`, `ident` or `trust`).

    Args:
        connection: To the server, with the connection string that `serve` uses.
        where: What the server holds.
        is_kept_apart: Whether code in the shadow cannot open sockets, or has a system user of its own.
    """
    host = connection.info.host
    if not host.startswith(("/", "@")) or connection.pgconn.used_password:
        return
    name = FindingName.TRUSTED_SOCKET if is_kept_apart else FindingName.TRUSTED_SOCKET_IN_THE_OPEN
    held = "its walls keep it out" if is_kept_apart else "nothing keeps it out"
    user = connection.info.user
    yield Finding(
        name=name,
        where=where,
        what=f"the server at {host} asks the system user of this process for no password. Code that an "
        f"analyst ran in the shadow may be this user, too: {held}",
        fix=f"in its pg_hba.conf, as the first line: local all {user} scram-sha-256; give {user} a password, "
        "and write it into the connection string",
    )


def trusted_ledger_findings(ledger_dsn: str, *, is_kept_apart: bool) -> tuple[Finding, ...]:
    """As `trusted_socket_findings`. None of a ledger that cannot be reached: the start says so."""
    try:
        with psycopg.connect(ledger_dsn, connect_timeout=_CONNECT_SECONDS) as connection:
            return tuple(
                trusted_socket_findings(connection, "--ledger", is_kept_apart=is_kept_apart)
            )
    except psycopg.Error:
        return ()
