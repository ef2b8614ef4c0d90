"""The windows in which a budget renews. Days begin at 00:00 UTC, weeks on Monday."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from typing_extensions import assert_never

from proxy.policy.policy_model import Period


def window_start(period: Period, now: datetime) -> datetime | None:
    """When the window that holds `now` began; None: it never did (a lifetime).

    >>> window_start(Period.MONTH, datetime(2026, 11, 20, 13, tzinfo=timezone.utc))
    datetime.datetime(2026, 11, 1, 0, 0, tzinfo=datetime.timezone.utc)
    >>> window_start(Period.WEEK, datetime(2026, 11, 22, 23, tzinfo=timezone.utc))
    datetime.datetime(2026, 11, 16, 0, 0, tzinfo=datetime.timezone.utc)
    >>> window_start(Period.DAY, datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=9))))
    datetime.datetime(2025, 12, 31, 0, 0, tzinfo=datetime.timezone.utc)
    """
    midnight = now.astimezone(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    match period:
        case Period.DAY:
            return midnight
        case Period.WEEK:
            return midnight - timedelta(days=midnight.weekday())
        case Period.MONTH:
            return midnight.replace(day=1)
        case Period.NONE:
            return None
        case _:
            assert_never(period)


def window_end(period: Period, start: datetime | None) -> datetime | None:
    """When the window that began at `start` ends, and the budget renews; None: never.

    >>> window_end(Period.MONTH, datetime(2026, 12, 1, tzinfo=timezone.utc))
    datetime.datetime(2027, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if start is None:
        return None
    match period:
        case Period.DAY:
            return start + timedelta(days=1)
        case Period.WEEK:
            return start + timedelta(days=7)
        case Period.MONTH:
            return (start + timedelta(days=31)).replace(day=1)
        case Period.NONE:
            return None
        case _:
            assert_never(period)
