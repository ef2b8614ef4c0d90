"""Intervals: months, days and microseconds, which PostgreSQL adds to a time in this order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

_SECOND = 10**6
# No time is moved by more in all, so that none that is within the years 1 to 9999 leaves PostgreSQL's calendar.
MOST_DAYS = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpan:
    months: int = 0
    days: int = 0
    microseconds: int = 0

    def __neg__(self) -> TimeSpan:
        return TimeSpan(months=-self.months, days=-self.days, microseconds=-self.microseconds)

    @property
    def text(self) -> str:
        """
        >>> TimeSpan(days=-14).text
        'P0M-14DT0.000000S'
        """
        sign = "-" if self.microseconds < 0 else ""
        whole, rest = divmod(abs(self.microseconds), _SECOND)
        return f"P{self.months}M{self.days}DT{sign}{whole}.{rest:06}S"

    @property
    def compared(self) -> Fraction:
        """Seconds, as PostgreSQL compares intervals: a month has 30 days of 24 hours (timestamp.c,
        interval_cmp_value)."""
        return (self.months * 30 + self.days) * 86_400 + Fraction(self.microseconds, _SECOND)

    @property
    def days_at_most(self) -> int:
        """No time moves by more days."""
        return (
            abs(self.months) * 31
            + abs(self.days)
            + abs(self.microseconds) // (86_400 * _SECOND)
            + 1
        )
