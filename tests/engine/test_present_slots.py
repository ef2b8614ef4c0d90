"""The slot of the present: as long as the windows allow, one for a statement, the same until it ends.

PostgreSQL evaluates the constants, at a time that each test chooses: `now()` in their text is a constant.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

import psycopg
import pytest

from proxy.drawing.drawer import Drawer
from proxy.engine.cached_answers import CachedAnswers
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.present_slots import ended_lines, settled_arguments
from proxy.engine.query_pipeline import Engine
from proxy.kernel.plan import PrivatePlan
from proxy.pgwire.argument_exchanges import describing
from proxy.policy.policy_model import Reuse
from proxy.query.syntax.statements import Statement
from proxy.turns.threads import Turn
from tests.asked_by import run_of
from tests.engine.test_order import _OIDS, Recorder
from tests.live.constant_statements import RELATIVE
from tests.pipeline_world import CATALOG, POLICIES
from tests.servers_fixture import servers

_NOW = re.compile(r"(?:pg_catalog\.)?now ?\( ?\)|\bcurrent_timestamp\b", re.IGNORECASE)
_WORDS = re.compile(r"\b(current_date|localtimestamp)\b", re.IGNORECASE)
_KINDS = {"current_date": "date", "localtimestamp": "timestamp"}
_DAY = "2019-06-15"
_NOON = f"{_DAY} 10:37:12.345678+00"
_HOUR, _QUARTER, _FIVE, _MINUTE = 3600, 900, 300, 60
_BY_WINDOW = Reuse(86_400)


@pytest.fixture(scope="module")
def postgres() -> Iterator[psycopg.Connection]:
    with psycopg.connect(servers().protected.dsn("postgres"), autocommit=True) as connection:
        yield connection


class Clock:
    """An engine whose statements are run at times that the test chooses."""

    def __init__(self, postgres: psycopg.Connection, reuse: Reuse, zone: str = "UTC") -> None:
        self._postgres = postgres
        self.zone = zone
        recorder = Recorder()
        policy = replace(POLICIES["world"], reuse=reuse)
        self.engine = Engine(
            Drawer(policy, CATALOG, recorder, recorder.bits),
            {oid: name for name, oid in _OIDS.items()},
            recorder,
        )

    def read(self, text: str) -> ProtectedQuery:
        found = self.engine.statements.look(text)
        assert isinstance(found, Statement)
        by_name = {name.name: oid for name, oid in _OIDS.items()}
        relations = tuple(map(by_name.get, found.relations))
        needed = self.engine.statements.constants_needed(found, relations, (), {})
        oids: tuple[int, ...] | None = None
        if needed:
            (query,) = describing(needed)
            described = self._postgres.execute(query.encode()).description or ()
            oids = tuple(column.type_code for column in described)
        question = self.engine.statements.read(found, relations, (), constant_oids=oids)
        assert question is not None
        return question

    def at(self, question: ProtectedQuery, now: str) -> tuple[str | None, ...]:
        """What the shadow would evaluate at that time."""
        instant = f"(timestamptz '{now}')"
        texts = [
            _WORDS.sub(
                lambda found: f"{instant}::{_KINDS[found[1].lower()]}", _NOW.sub(instant, each.sql)
            )
            for each in question.constants
        ]
        if not texts:
            return ()
        self._postgres.execute(f"SET TimeZone = '{self.zone}'".encode())
        row = self._postgres.execute(f"SELECT {', '.join(texts)}".encode()).fetchone()
        assert row is not None
        return tuple(row)

    def slot(self, text: str, now: str = _NOON) -> int | str | None:
        question = self.read(text)
        found = settled_arguments(question, self.at(question, now))
        return "exact" if found.is_exact else found.slot

    def plan(self, text: str, now: str) -> PrivatePlan:
        question = self.read(text)
        return self.engine.planned(question, {}, constants=self.at(question, now))

    def digest(self, text: str, now: str) -> bytes | None:
        cached = CachedAnswers(cast(Any, None), self.engine.known)
        question = self.read(text)
        checked = self.engine.checked(question, {}, constants=self.at(question, now))
        (part,) = asyncio.run(cached.parts(checked, Turn("alice")))
        return part.digest

    def ended(self, text: str, now: str) -> tuple[str, ...]:
        question = self.read(text)
        return ended_lines(question, self.at(question, now), self.engine.policy)


def _where(condition: str) -> str:
    return f"SELECT count(*) FROM people WHERE {condition}"


@pytest.mark.parametrize(
    ("condition", "slot"),
    [
        ("tz >= now() - interval '90 days'", _HOUR),
        ("tz >= now() - interval '20 hours'", _HOUR),
        ("tz >= now() - interval '19 hours'", _QUARTER),
        ("now() - interval '6 hours' < tz", _QUARTER),
        ("tz BETWEEN now() - interval '2 hours' AND now()", _FIVE),
        ("tz > now() - interval '1 hour'", _MINUTE),
        ("tz > now() - interval '20 minutes'", _MINUTE),
        ("tz > now() - interval '19 minutes'", "exact"),
        # Neither end is near the present: the window between them is what counts.
        ("tz >= now() - interval '31 days' AND tz < now() - interval '30 days'", _HOUR),
        ("tz >= now() - interval '31 days' AND tz < now() - interval '743 hours'", _MINUTE),
        # Open to one side.
        ("tz < now()", _HOUR),
        ("tz < now() - interval '5 minutes'", _HOUR),
        ("tz > now()", _HOUR),
        ("tz + interval '7 days' > now()", _HOUR),
        ("tz + interval '10 minutes' > now()", "exact"),
        ("NOT tz < now() - interval '1 hour'", _MINUTE),
        ("CASE WHEN tz < now() - interval '1 hour' THEN i4 > 5 ELSE i4 > 6 END", _MINUTE),
        # One end fixed.
        ("tz >= '2019-06-15 09:00:00+00' AND tz < now()", _MINUTE),
        # The narrowest of several windows.
        ("tz > now() - interval '90 days' OR tz > now() - interval '2 hours'", _FIVE),
        # The value does not move: nothing is rounded.
        ("tz >= date_trunc('day', now())", None),
        ("d = now()::date", None),
        # By local time and by epoch.
        ("ts >= now()::timestamp - interval '2 hours'", _FIVE),
        ("extract(epoch FROM tz) >= extract(epoch FROM now()) - 7200", _FIVE),
        # Not an end of a window: the shortest slot.
        ("t = to_char(now(), 'HH24:MI:SS')", _MINUTE),
        ("tz IN (now(), now() - interval '1 day')", _MINUTE),
        ("tz >= '2019-01-01'", None),
    ],
)
def test_the_slot_of_a_window(
    postgres: psycopg.Connection, condition: str, slot: int | str | None
) -> None:
    assert Clock(postgres, _BY_WINDOW).slot(_where(condition)) == slot


def test_conditions_of_aggregates_count(postgres: psycopg.Connection) -> None:
    text = (
        "SELECT count(*) FILTER (WHERE tz > now() - interval '2 hours'), count(*) FROM people"
        " WHERE tz > now() - interval '90 days'"
    )
    assert Clock(postgres, _BY_WINDOW).slot(text) == _FIVE


_COLUMNS = {"at": "tz", "day": "d", "shown": "ts"}


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_constants_of_every_form_have_slots(postgres: psycopg.Connection, zone: str) -> None:
    """What each is exactly stays beside its slots, and all are values that planning takes."""
    slotted = Clock(postgres, _BY_WINDOW, zone)
    exact = Clock(postgres, replace(_BY_WINDOW, is_exact=True), zone)
    named = 0
    for condition in RELATIVE:
        text = _where(re.sub(r"\b(at|day|shown)\b(?! time zone|')", _column, condition))
        question, plain = slotted.read(text), exact.read(text)
        given = slotted.at(question, _NOON)
        values = [json.loads(one) if one and one.startswith("{") else one for one in given]
        wanted = exact.at(plain, _NOON)
        assert [v["exact"] if isinstance(v, dict) else v for v in values] == list(wanted)
        assert slotted.plan(text, _NOON).blocks and exact.plan(text, _NOON).blocks
        named += sum(isinstance(value, dict) for value in values)
    assert named > len(RELATIVE) / 2


def _column(found: re.Match[str]) -> str:
    return _COLUMNS[found[1]]


def test_a_dashboard_is_one_question_in_a_slot(postgres: psycopg.Connection) -> None:
    clock = Clock(postgres, _BY_WINDOW)
    text = _where("tz >= now() - interval '30 days' AND tz < now()")
    times = (f"{_DAY} 10:00:00+00", _NOON, f"{_DAY} 10:59:59.999999+00", f"{_DAY} 11:00:00+00")
    digests = [clock.digest(text, now) for now in times]
    assert digests[0] is not None
    assert digests[0] == digests[1] == digests[2] != digests[3]


@pytest.mark.parametrize(("first", "questions"), [("10:00", 1), ("10:30", 2)])
def test_a_dashboard_that_is_refreshed_each_minute_for_an_hour(
    postgres: psycopg.Connection, first: str, questions: int
) -> None:
    """As the issue has it: so many questions are charged at most."""
    clock = Clock(postgres, _BY_WINDOW)
    begin = datetime.fromisoformat(f"{_DAY}T{first}:07+00:00")
    text = _where("tz > now() - interval '90 days'")
    times = [(begin + timedelta(minutes=minute)).isoformat(" ") for minute in range(60)]
    digests = [clock.digest(text, now) for now in times]
    assert None not in digests and len(set(digests)) == questions


def test_exact_is_another_question_each_time(postgres: psycopg.Connection) -> None:
    clock = Clock(postgres, replace(_BY_WINDOW, is_exact=True))
    text = _where("tz >= now() - interval '30 days'")
    later = clock.digest(text, f"{_DAY} 10:37:12.345679+00")
    assert clock.digest(text, _NOON) != later


def test_a_step_of_the_policy_stays(postgres: psycopg.Connection) -> None:
    clock = Clock(postgres, replace(_BY_WINDOW, step=_HOUR))
    question = clock.read(_where("tz >= now() - interval '10 minutes'"))
    assert clock.at(question, _NOON) == (f'"{_DAY}T09:50:00+00:00"',)


def test_both_ends_take_the_same_slot(postgres: psycopg.Connection) -> None:
    """A condition of ten hours beside one of a day: the day's end would be an hour's by itself."""
    clock = Clock(postgres, _BY_WINDOW)
    question = clock.read(
        _where("tz >= now() - interval '24 hours' AND tz < now() - interval '14 hours'")
    )
    found = settled_arguments(question, clock.at(question, _NOON))
    assert found.slot == _QUARTER
    assert found.arguments == ('"2019-06-14T10:30:00+00:00"', '"2019-06-14T20:30:00+00:00"')


def test_steps_begin_at_midnight_of_the_session(postgres: psycopg.Connection) -> None:
    """At a quarter past midnight in Calcutta an hour of UTC's clock would still be yesterday."""
    clock = Clock(postgres, _BY_WINDOW, "Asia/Calcutta")
    question = clock.read(_where("d = now()::date"))
    given = clock.at(question, "2019-06-15 00:15:00+05:30")
    assert settled_arguments(question, given).arguments == ('"2019-06-15"',)


_FRACTIONS = [
    # As Grafana and other tools write a range.
    ("tz BETWEEN '2019-06-15T04:37:12.345Z' AND '2019-06-15T10:37:12.345Z'", True),
    ("tz >= '2019-06-15T04:37:12.345Z' AND t = 'x' AND tz <= '2019-06-15T10:37:12.345Z'", True),
    ("ts >= '2019-06-15 04:37:12.345' AND ts < '2019-06-15 10:37:12.345'", True),
    # Not a window, or ends that a person chose.
    ("tz >= '2019-06-15T04:37:12.345Z'", False),
    ("tz >= '2019-06-15T04:37:12.345Z' OR tz <= '2019-06-15T10:37:12.345Z'", False),
    ("tz >= '2019-06-15T04:37:12.345Z' AND tz <= '2019-06-15T10:37:12.5Z'", False),
    ("tz >= '2019-06-15T04:37:12.345Z' AND ts <= '2019-06-15T10:37:12.345Z'", False),
]


@pytest.mark.parametrize(("condition", "is_one"), _FRACTIONS)
def test_a_window_of_constants_loses_its_fraction(
    postgres: psycopg.Connection, condition: str, is_one: bool
) -> None:
    clock = Clock(postgres, _BY_WINDOW)
    later = condition.replace(".345", ".346")
    digests = {clock.digest(_where(text), _NOON) for text in (condition, later)}
    assert None not in digests and (len(digests) == 1) is is_one


def test_whole_seconds_stay(postgres: psycopg.Connection) -> None:
    clock = Clock(postgres, _BY_WINDOW)
    texts = (_FRACTIONS[0][0], _FRACTIONS[0][0].replace(":12.", ":13."))
    assert len({clock.digest(_where(text), _NOON) for text in texts}) == 2
    clock = Clock(postgres, replace(_BY_WINDOW, is_exact=True))
    texts = (_FRACTIONS[0][0], _FRACTIONS[0][0].replace(".345", ".346"))
    assert len({clock.digest(_where(text), _NOON) for text in texts}) == 2


def test_a_coarser_window_takes_a_key(postgres: psycopg.Connection) -> None:
    clock = Clock(postgres, replace(_BY_WINDOW, window_step=_FIVE))
    moved = "tz BETWEEN '2019-06-15T04:{0}Z' AND '2019-06-15T10:{0}Z'"
    texts = [_where(moved.format(at)) for at in ("37:12.345", "35:01", "39:59", "40:01")]
    digests = [clock.digest(text, _NOON) for text in texts]
    assert digests[0] == digests[1] == digests[2] != digests[3]
    # A day is a window of whole steps, or its end was written by hand.
    whole = _where("tz >= '2019-06-01' AND tz <= '2019-06-30 23:59:59'")
    exact = Clock(postgres, replace(_BY_WINDOW, is_exact=True))
    assert clock.digest(whole, _NOON) == exact.digest(whole, _NOON)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("tz >= now() - interval '90 days'", "now() is rounded down to 1 h"),
        ("tz > now() - interval '1 hour'", "now() is rounded down to 1 min"),
        ("tz > now() - interval '5 minutes'", "now() is exact"),
        (_FRACTIONS[0][0], "both ends of a time window are rounded down to 1 s"),
        ("tz >= date_trunc('day', now())", None),
    ],
)
def test_it_is_said(postgres: psycopg.Connection, condition: str, said: str | None) -> None:
    clock = Clock(postgres, _BY_WINDOW)
    question = clock.read(_where(condition))
    given = clock.at(question, _NOON)
    answer = asyncio.run(clock.engine.run(question, given, {}, run_of("alice")))
    assert [line.startswith(said or "") for line in answer.times] == [True] * (said is not None)
    explained = clock.read(f"EXPLAIN {_where(condition)}")
    plan = asyncio.run(clock.engine.run(explained, given, {}, run_of("alice"))).relation
    assert (f"Times: {said}" in plan) is (said is not None)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM people WHERE tz >= now() - interval '30 days'",
        "SELECT count(*) FILTER (WHERE now() - interval '1 year' < tz) FROM people",
        "SELECT t, count(*) FROM people WHERE tz BETWEEN now() - interval '90 days' AND now() GROUP BY t",
        "SELECT count(*) FROM (SELECT tz FROM people WHERE tz > date_trunc('month', now())) q",
    ],
)
def test_a_window_beyond_the_bounds_is_told(postgres: psycopg.Connection, text: str) -> None:
    clock = Clock(postgres, _BY_WINDOW)
    assert clock.ended(text, "2020-02-10 10:00:00+00") == (
        "tz ends with 2020-01-01 in the policy, and now() is 2020-02-10: a window up to now() has no days after"
        " that end",
    )
    assert clock.ended(text, "2020-01-01 23:00:00+00") == ()


def test_other_times_are_not_beyond_the_bounds(postgres: psycopg.Connection) -> None:
    clock = Clock(postgres, _BY_WINDOW)
    for condition in ("tz < now() - interval '1 year'", "tz >= '2019-01-01'", "i4 > 3"):
        assert clock.ended(_where(condition), "2020-02-10 10:00:00+00") == ()
