"""Zones and templates of to_char() as this process knows them, beside PostgreSQL."""

from __future__ import annotations

import random  # noqa: TID251
from datetime import datetime, timedelta, timezone
from fractions import Fraction

import psycopg
import pytest

from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.base.time_templates import template
from proxy.base.zones import FIRST, LAST, Zone, zone_named
from proxy.planner.time_labels import day_of, time_text

# Not those whose rules, past or expected, have changed in the last years: servers have older ones.
ZONES = (
    *("America/New_York", "America/Sao_Paulo", "America/St_Johns", "America/Havana", "America/Chicago"),
    *("Asia/Kolkata", "Asia/Kathmandu", "Asia/Jerusalem", "Asia/Beirut", "Asia/Pyongyang"),
    *("Pacific/Kiritimati", "Pacific/Apia", "Pacific/Chatham", "Australia/Lord_Howe", "Antarctica/Troll"),
    *("Europe/Berlin", "Europe/London", "Europe/Dublin", "Africa/Lagos", "Europe/Istanbul"),
    *("UTC", "Etc/GMT+12", "<+05:30>-05:30", "<-03>+03"),
)  # fmt: skip
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute")
TEMPLATES = (
    *("YYYY-MM-DD", "YY/MM/DD HH24:MI:SS", "Mon YYYY", "MONTH|Month|month|", "FMMonth FMDD, YYYY"),
    *("Day, DD Mon", "FMDay", "DY Dy dy", "D ID", 'IYYY-"W"IW', "WW Q", "DDD FMDDD", "HH12:MI AM", "HH:MI pm"),
    *("FMHH24", "yyyy-mm-dd hh24:00", '"on" DD.MM. \'YY', "MON-YY", "YYYYMMDDHH24MISS", "FMQ. FMMM", "IYYYIW"),
)  # fmt: skip


def _instants(zone: Zone, number: int) -> list[int]:
    drawn = random.Random(zone.name)
    beside = (-86_400, -7_200, -3_601, -3_600, -1_800, -1, 0, 1, 1_799, 3_599, 3_600, 7_200, 86_400)
    changes = [
        at + near
        for at, _ in drawn.sample(zone.changes, min(20, len(zone.changes)))
        for near in beside
    ]
    drawn_at = [drawn.randrange(FIRST, LAST) for _ in range(number)]
    return [at for at in (*changes, *drawn_at) if FIRST <= at < LAST]


def _zone(name: str) -> Zone:
    zone = zone_named(name)
    assert zone is not None
    return zone


@pytest.mark.parametrize("name", ZONES)
def test_clocks(name: str, hostile: psycopg.Connection) -> None:
    """What a clock shows, and which instant is meant by it, on both sides of changes."""
    zone = _zone(name)
    instants = _instants(zone, 200)
    shown = hostile.execute(
        "SELECT extract(epoch FROM to_timestamp(s) AT TIME ZONE %s)::bigint,"
        " extract(epoch FROM (to_timestamp(s) AT TIME ZONE 'UTC') AT TIME ZONE %s)::bigint"
        " FROM unnest(%s::bigint[]) WITH ORDINALITY AS x(s, n) ORDER BY n",
        (name, name, instants),
    ).fetchall()
    found = [(zone.local(Fraction(at)), zone.instant(Fraction(at))) for at in instants]
    assert found == [(Fraction(local), Fraction(instant)) for local, instant in shown]


@pytest.mark.parametrize("year", [1, 9, 10, 99, 100, 999, 1000, 1969, 9999])
def test_times_are_written_as_they_are_read(year: int, hostile: psycopg.Connection) -> None:
    """Of a year of fewer than four digits PostgreSQL takes the last two: 1-01-01 is 2001."""
    at = datetime(year, 1, 1, 12, 30, tzinfo=timezone.utc)
    seconds = Fraction((at - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(seconds=1))
    for kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ, SqlType.DATE):
        days = seconds // 86_400
        value = Fraction(days) if kind is SqlType.DATE else seconds
        row = hostile.execute(
            f"SELECT extract(epoch FROM %s::{kind.sql})::bigint".encode(), (iso_text(value, kind),)
        ).fetchone()
        assert row == (days * 86_400 if kind is SqlType.DATE else int(seconds),), kind
    row = hostile.execute(
        "SELECT (t::date)::text, t::text FROM CAST(%s AS timestamp) t",
        (iso_text(seconds, SqlType.TIMESTAMP),),
    ).fetchone()
    assert row == (day_of(at), time_text(at, SqlType.TIMESTAMP, _zone("UTC")))


@pytest.mark.parametrize("name", ZONES)
def test_the_ends_of_what_a_clock_shows(name: str) -> None:
    zone = _zone(name)
    for at, _ in zone.changes[:3]:
        low, high = at - 10_000, at + 10_000
        seconds = sorted({low, at - 1, at, high, *range(low, high, 900)})
        clock = [zone.local(Fraction(second)) for second in seconds]
        first, last = zone.local_ends(Fraction(low), Fraction(high))
        assert first == min(clock)
        # The moment of a change is shown by neither clock, and is at most a second off.
        assert 0 <= last - max(clock) <= 1


def test_templates(hostile: psycopg.Connection) -> None:
    drawn = random.Random(9)
    first = datetime(1, 1, 1, tzinfo=timezone.utc)
    days = [first + timedelta(seconds=drawn.randrange(9998 * 365 * 86_400)) for _ in range(300)]
    days += [datetime(y, m, d, tzinfo=timezone.utc) for y in (1999, 2000, 2020, 2021) for m in (1, 12)
             for d in (1, 2, 3, 4, 28, 29, 30, 31)]  # fmt: skip
    texts = [at.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0") for at in days]
    for written in TEMPLATES:
        known = template(written)
        assert known is not None, written
        rows = hostile.execute(
            "SELECT to_char(t::timestamp, %s) FROM unnest(%s::text[]) WITH ORDINALITY AS x(t, n) ORDER BY n",
            (written, texts),
        ).fetchall()
        assert [known.text(at) for at in days] == [text for (text,) in rows], written


def test_each_template_is_the_same_within_its_unit() -> None:
    steps = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
    drawn = random.Random(4)
    for written in TEMPLATES:
        known = template(written)
        assert known is not None
        if known.unit not in steps:
            continue
        for _ in range(200):
            at = datetime(2000, 1, 1, tzinfo=timezone.utc) + timedelta(days=drawn.randrange(9000))
            later = at + timedelta(hours=drawn.randrange(24))
            assert known.text(at) == known.text(later), written


@pytest.mark.parametrize(
    "written", ["YYYY-MM TZ", "DDth", "FM", "SSSS", "MS", "J", "RM", "TMMonth", "IDDD", "Yyyy",
      'a"', "\\", "FXDD", "CC"]
)  # fmt: skip
def test_what_may_print_otherwise_is_no_template(written: str) -> None:
    assert template(written) is None
