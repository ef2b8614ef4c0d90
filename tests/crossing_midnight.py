"""A pytest plugin: a midnight (UTC) of PostgreSQL's clock falls into each test (tests/README.md says how).

The servers that the tests start run under libfaketime. Slots of kept answers, windows of budgets and now()
follow their clock. Each test has a day of its own, later than that of the test before.
"""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import mkdtemp

import pytest

from proxy.postgres import postgres_binaries

_LIBRARY = os.environ["CROSSING_LIBRARY"]
_SECONDS_BEFORE = float(os.environ.get("CROSSING_SECONDS_BEFORE", "0.3"))
_IS_END_OF_MONTH = "CROSSING_END_OF_MONTH" in os.environ
_FOLDER = Path(mkdtemp(prefix="crossing-"))
_CLOCK = _FOLDER / "offset"
_FAKED = {
    "LD_PRELOAD": _LIBRARY,
    "FAKETIME_TIMESTAMP_FILE": str(_CLOCK),
    "FAKETIME_NO_CACHE": "1",
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
}

_FOLDER.chmod(0o755)  # servers may run as another user
_CLOCK.write_text("+0")
_environment = postgres_binaries.environment
# Before other modules import it by its name.
postgres_binaries.environment = lambda: _environment() | _FAKED


def _next_midnight(now: datetime) -> datetime:
    """One that is a minute away at least, so that the clock never goes back."""
    day = (now + timedelta(minutes=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    day += timedelta(days=1)
    while _IS_END_OF_MONTH and day.day != 1:
        day += timedelta(days=1)
    return day


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """After the fixtures of a test, before the test."""
    offset, now = float(_CLOCK.read_text()), time.time()
    midnight = _next_midnight(datetime.fromtimestamp(now + offset, timezone.utc)).timestamp()
    written = _FOLDER / "next"
    written.write_text(f"{midnight - _SECONDS_BEFORE - now:+.3f}")
    written.replace(_CLOCK)
