"""The right to copy public rows without a verdict, for tests of what comes after it."""

from __future__ import annotations

from proxy.protected.judged_rows import JudgedRows, catalogue_state


def unjudged(source: str) -> JudgedRows:
    """source: connection string of the protected database."""
    return JudgedRows.of_all(source, catalogue_state(source), ())
