"""Days, weeks and months begin at 00:00 UTC, wherever the clock is read."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.policy.policy_model import Period
from tests.ledger_model.windows import window_end, window_start

UTC = timezone.utc


def test_the_edges_of_a_leap_month() -> None:
    before, first = datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC), datetime(2028, 3, 1, tzinfo=UTC)
    assert window_start(Period.MONTH, before) == datetime(2028, 2, 1, tzinfo=UTC)
    assert window_start(Period.MONTH, first) == first
    assert window_end(Period.MONTH, datetime(2028, 2, 1, tzinfo=UTC)) == first


def test_the_zone_of_the_clock_does_not_matter() -> None:
    tokyo = timezone(timedelta(hours=9))
    assert window_start(Period.DAY, datetime(2026, 1, 1, 8, tzinfo=tokyo)) == datetime(
        2025, 12, 31, tzinfo=UTC
    )


def test_weeks_begin_on_monday() -> None:
    assert window_start(Period.WEEK, datetime(2026, 11, 22, 23, tzinfo=UTC)) == datetime(
        2026, 11, 16, tzinfo=UTC
    )


def test_a_lifetime_has_no_window() -> None:
    assert window_start(Period.NONE, datetime(2026, 1, 1, tzinfo=UTC)) is None
    assert window_end(Period.NONE, None) is None


@pytest.mark.parametrize("period", [Period.DAY, Period.WEEK, Period.MONTH])
@given(now=st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_every_moment_is_in_one_window(period: Period, now: datetime) -> None:
    start = window_start(period, now)
    end = window_end(period, start)
    assert start is not None
    assert end is not None
    assert start <= now < end
    assert window_start(period, end) == end, "the next window begins where this one ends"
    assert window_start(period, end - timedelta(microseconds=1)) == start
