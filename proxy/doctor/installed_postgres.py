"""Findings about the PostgreSQL that runs the shadow, which every analyst sends statements to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psycopg

from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.postgres.postgres_binaries import BinariesNotFound, are_of_the_wheel, find_binaries
from proxy.postgres.postgres_launcher import can_filter, landlock_version

# The oldest minor release of each PostgreSQL major version without a published hole that an analyst can use.
#
# Review this table at each release of PostgreSQL (RELEASING.md). A hole counts if a role without any right but
# CONNECT and TEMPORARY can run code in the server, or read other memory of it.
#
# Source: CVE records of PostgreSQL, https://www.postgresql.org/support/security/. The current lines come from
# CVE-2026-6460 (ALTER ... SET DATA TYPE) and CVE-2026-120141 (json_populate_recordset and others), 2026-11-12.

LEAST_SAFE_MINOR: Mapping[int, int] = MappingProxyType({14: 25, 15: 20, 16: 16, 17: 12, 18: 7})


def safe_minor(major: int, minor: int) -> int | None:
    """Return the least safe minor of `major` if `minor` is below it, else None.

    A major version that is newer than the table has no line yet; it counts as safe.

    >>> safe_minor(18, 6), safe_minor(18, 7), safe_minor(19, 0)
    (7, None, None)
    """
    least = LEAST_SAFE_MINOR.get(major)
    return None if least is None or minor >= least else least


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What a shadow would run on here.

    Attributes:
        findings: About its PostgreSQL, and about the ledger's server.
        is_kept_apart: Whether code in the shadow cannot open sockets, or has a system user of its own.
    """

    findings: tuple[Finding, ...] = ()
    is_kept_apart: bool = True


def read_installation(
    pg_bin: Path | None = None, shadow_user: str | None = None, ledger_dsn: str | None = None
) -> Installation:
    """Look at this machine.

    Args:
        pg_bin: The folder of `--pg-bin`, if there is one.
        shadow_user: The user of `--shadow-user`, if there is one.
        ledger_dsn: The connection string of `--ledger`, if there is one.
    """
    is_kept_apart = shadow_user is not None or (landlock_version() > 0 and can_filter())
    of_ledger = (
        ()
        if ledger_dsn is None
        else trusted_ledger_findings(ledger_dsn, is_kept_apart=is_kept_apart)
    )
    return Installation(
        findings=(*installed_postgres_findings(pg_bin, shadow_user), *of_ledger),
        is_kept_apart=is_kept_apart,
    )


def installed_postgres_findings(
    pg_bin: Path | None = None, shadow_user: str | None = None
) -> tuple[Finding, ...]:
    """Compare the PostgreSQL that a shadow would run on with the least safe minor release.

    An older one is severe. That of the wheel is a warning behind walls: it is the newest wheel that there is.

    Args:
        pg_bin: The folder of `--pg-bin`, if there is one.
        shadow_user: The user of `--shadow-user`, if there is one.

    Returns:
        At most one finding. None if there is no usable PostgreSQL, because the start refuses that.
    """
    try:
        binaries = find_binaries(pg_bin)
    except BinariesNotFound:
        return ()
    least = safe_minor(binaries.major, binaries.minor)
    if least is None:
        return ()
    has_walls = landlock_version() > 0 or shadow_user is not None
    if not has_walls:
        name = FindingName.OLD_POSTGRESQL_IN_THE_OPEN
    elif are_of_the_wheel(binaries):
        name = FindingName.OLD_POSTGRESQL_OF_THE_WHEEL
    else:
        name = FindingName.OLD_POSTGRESQL
    return (
        Finding(
            name=name,
            where="shadow",
            what=f"the shadow runs on PostgreSQL {binaries.version}, which has published holes: analysts can "
            f"run code as its system user. PostgreSQL {binaries.major}.{least} has none that is known",
            fix="install the current PostgreSQL of your distribution; name its folder of programs by --pg-bin",
        ),
    )


# Findings about servers that let in whoever is of the system user of dpproxy, which the shadow may share.


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
