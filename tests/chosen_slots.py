"""Slots, steps and budget windows that do not end while a test runs.

By default a slot of 24h ends at 00:00 UTC. A test that is under way at that moment would pay twice.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

_DAY = 86_400
_HOUR = timedelta(hours=1)
_SECONDS = {"min": 60, "h": 3600, "d": _DAY}
_SHORT_REUSE = re.compile(r"^reuse: (\d+(?:min|h|d))\b", re.MULTILINE)
_SLOT = re.compile(r"\b(?:for|every): (\d+)(min|h|d)\b(?!,?\s*from:)")


def slot_offset(seconds: int) -> int:
    """Return an offset of slots: none of this length ends within half of it (12 hours at most)."""
    away = min(seconds, _DAY) / 2
    return int((time.time() + away) % _DAY // 60) * 60


def with_chosen_slots(text: str) -> str:
    """Give each slot in the text of a policy its `from`, far from now, unless it has one.

    >>> "from: '" in with_chosen_slots("reuse: 24h")
    True
    >>> with_chosen_slots("reuse: {for: 24h, from: '04:00'}")
    "reuse: {for: 24h, from: '04:00'}"
    """

    def chosen(found: re.Match[str]) -> str:
        offset = slot_offset(int(found[1]) * _SECONDS[found[2]])
        before = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
        separator = ", " if before.strip() else f"\n{before}"
        return f"{found[0]}{separator}from: '{offset // 3600:02}:{offset // 60 % 60:02}'"

    return _SLOT.sub(chosen, _SHORT_REUSE.sub(r"reuse: {for: \1}", text))


def reuse_with_far_step() -> str:
    """Return a `reuse` that rounds `now` to days. Neither the slot nor the step ends within an hour."""
    now = datetime.now(timezone.utc).timestamp()
    days = next(days for days in range(1, 32) if days * _DAY - now % (days * _DAY) > _HOUR.seconds)
    return with_chosen_slots(f"reuse: {{for: {days}d, now: {days}d}}")


def far_period() -> str:
    """Return the `per` of a budget whose window does not end within a day."""
    tomorrow = datetime.now(timezone.utc) + timedelta(days=1)
    if tomorrow.day != 1:
        return "month"
    return "none" if tomorrow.weekday() == 0 else "week"


def far_window() -> str:
    """Return the `per` of a budget that renews, whose window does not end within an hour."""
    later = datetime.now(timezone.utc) + _HOUR
    return "month" if (later - _HOUR).month == later.month else "week"


def far_periods(periods: Sequence[str], now: datetime) -> tuple[str, ...]:
    """Put "none" for each `per` whose window ends within an hour.

    Args:
        now: by the clock of the ledger's server, in UTC
    """
    later = now + _HOUR
    ends = {
        "day": later.date() != now.date(),
        "week": later.date() != now.date() and later.weekday() == 0,
        "month": later.month != now.month,
        "none": False,
    }
    return tuple("none" if ends[period] else period for period in periods)
