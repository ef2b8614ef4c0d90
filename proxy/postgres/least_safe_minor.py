"""The oldest minor release of each PostgreSQL major version without a published hole that an analyst can use.

Review this table at each release of PostgreSQL (RELEASING.md). A hole counts if a role without any right but
CONNECT and TEMPORARY can run code in the server, or read other memory of it.

Source: CVE records of PostgreSQL, https://www.postgresql.org/support/security/. The current lines come from
CVE-2026-6460 (ALTER ... SET DATA TYPE) and CVE-2026-120141 (json_populate_recordset and others), 2026-11-12.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LEAST_SAFE_MINOR: Mapping[int, int] = MappingProxyType({14: 25, 15: 20, 16: 16, 17: 12, 18: 7})


def safe_minor(major: int, minor: int) -> int | None:
    """Return the least safe minor of `major` if `minor` is below it, else None.

    A major version that is newer than the table has no line yet; it counts as safe.

    >>> safe_minor(18, 6), safe_minor(18, 7), safe_minor(19, 0)
    (7, None, None)
    """
    least = LEAST_SAFE_MINOR.get(major)
    return None if least is None or minor >= least else least
