"""Findings about the PostgreSQL that runs the shadow, which every analyst sends statements to."""

from __future__ import annotations

from pathlib import Path

from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.postgres.least_safe_minor import safe_minor
from proxy.postgres.postgres_binaries import BinariesNotFound, find_binaries
from proxy.postgres.postgres_launcher import landlock_version


def installed_postgres_findings(
    pg_bin: Path | None = None, shadow_user: str | None = None
) -> tuple[Finding, ...]:
    """Compare the PostgreSQL that a shadow would run on with the least safe minor release.

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
    return (
        Finding(
            name=FindingName.OLD_POSTGRESQL
            if has_walls
            else FindingName.OLD_POSTGRESQL_IN_THE_OPEN,
            where="shadow",
            what=f"the shadow runs on PostgreSQL {binaries.version}, which has published holes: analysts can "
            f"run code as its system user. PostgreSQL {binaries.major}.{least} has none that is known",
            fix="install the current PostgreSQL of your distribution; name its folder of programs by --pg-bin",
        ),
    )
