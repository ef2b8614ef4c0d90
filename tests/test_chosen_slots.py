"""Slots that tests choose do not end while a test runs, whatever the time of day."""

from __future__ import annotations

import time
from datetime import datetime, timezone

import pytest

from proxy.policy_file.policy_yaml import read_policy
from tests.chosen_slots import far_periods, reuse_with_far_step, slot_offset, with_chosen_slots

_MIDNIGHT = 1_795_478_400  # 2026-11-24 00:00:00 UTC
_POLICY = """\
dpproxy: 1
database: d
source: dbname=d
privacy: {epsilon: 1, delta: 1e-6}
budgets: {total: {epsilon: 1, delta: 1e-3}, default: {epsilon: 1, delta: 1e-3}}
publish:
  - {name: one, sql: SELECT count(*) AS n FROM t, every: 1h, epsilon: 1}
  - name: other
    every: 24h
    epsilon: 1
    sql: SELECT count(*) AS n FROM t
  - name: fixed
    every: 24h
    from: '04:00'
    epsilon: 1
    sql: SELECT count(*) AS n FROM t
tables: {public.t: {unit: row, columns: {}}}
"""
_TIMES = [-1, 0, 1, 3_600 * 11, 3_600 * 12, 3_600 * 18 + 59]


def _left(seconds: int, offset: int, now: float) -> float:
    return seconds - (now - offset) % seconds


@pytest.mark.parametrize("after", _TIMES)
def test_slots_end_half_a_slot_away(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = _MIDNIGHT + after
    monkeypatch.setattr(time, "time", lambda: now)
    for reuse in ("24h", "{for: 24h, lift: off}", "{for: 1h}"):
        text = with_chosen_slots(f"{_POLICY}reuse: {reuse}\n")
        policy = read_policy(text, "p.yaml", {})
        assert policy.reuse is not None
        slots = [
            (policy.reuse.seconds, policy.reuse.offset),
            *((one.seconds, one.offset) for one in policy.publish[:2]),
            (86_400, slot_offset(86_400)),
        ]
        for seconds, offset in slots:
            assert abs(_left(seconds, offset, now) - seconds / 2) <= 60
        assert policy.publish[2].offset == 4 * 3_600


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-11-30 22:59:59", ("day", "week", "month", "none")),  # a Monday
        ("2026-11-30 23:30:00", ("none", "week", "none", "none")),
        ("2026-11-29 23:30:00", ("none", "none", "month", "none")),
    ],
)
def test_windows_that_end_soon_are_none(now: str, expected: tuple[str, ...]) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=timezone.utc)
    assert far_periods(("day", "week", "month", "none"), moment) == expected


def test_a_step_of_now_is_not_about_to_end() -> None:
    reuse = read_policy(f"{_POLICY}{reuse_with_far_step()}\n", "p.yaml", {}).reuse
    assert reuse is not None and reuse.step is not None
    assert _left(reuse.step, 0, time.time()) > 3_500
