"""The clock of this machine, for what owners run. Statements take the day of the ledger's clock."""

from __future__ import annotations

import time

from proxy.base.instants import DAY_SECONDS


def day_of_machine() -> int:
    """Give the day, in days since 1970-01-01, UTC."""
    return int(time.time()) // DAY_SECONDS
