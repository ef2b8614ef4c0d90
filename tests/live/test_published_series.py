"""Series of days that are published under one charge: what stands is the exact number of the day, as bounded,
with the noise that the ledger keeps for it, whoever is killed when.

The exact numbers are counted by a statement of the test's own.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.base.errors import Fault
from proxy.cli.assembly import Database, assemble
from proxy.drawing.charges import StepNumbers, StepsSoFar
from proxy.drawing.protected_reads import ProtectedSession
from proxy.engine.published_ports import ReleaseState
from proxy.engine.publishing import Publishing
from proxy.engine.session_zone import ZoneRules
from proxy.estimates import series_noise
from proxy.ledger.ledger_mark import series_forgotten
from proxy.ledger.published_releases import LedgerSteps, PublishedReleases
from proxy.mechanisms import continual
from tests.ledger_key import LEDGER_CIPHER
from tests.live.served_database import served_database
from tests.servers_fixture import servers

DATABASE = "published_series"
_FIRST, _DAYS = date(2026, 3, 1), 10
_SCRIPT = """\
CREATE SCHEMA s;
CREATE TABLE s.visits (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, person int NOT NULL,
    at timestamp NOT NULL, amount int NOT NULL);
"""
_POLICY = """\
publish:
  - name: series
    sql: |
      SELECT at::date AS day, count(*) AS visits, sum(amount) AS amount, count(DISTINCT person) AS people
      FROM s.visits WHERE at >= '2026-03-01' AND at < '2026-03-11' GROUP BY 1
    every: 24h
    from: '02:00'
    epsilon: 3
    continual: 10
    max_days_per_unit: 3
    append_only: on
tables:
  s.visits:
    unit: {person: person}
    max_rows_per_unit: 20
    max_rows_per_group_per_unit: 2
    columns:
      at: {bounds: [2026-01-01, now]}
      amount: {bounds: [0, 100]}
"""
# What is counted of a day, if it is read now: a person's first three days, and two rows of each of them.
_EXACT = """\
SELECT coalesce(sum(least(n, 2)), 0), coalesce(sum(least(a, 200)), 0), count(*) FROM (
    SELECT person, at::date AS day, count(*) AS n, sum(least(greatest(amount, 0), 100)) AS a,
           row_number() OVER (PARTITION BY person ORDER BY at::date) AS nth
    FROM s.visits WHERE at >= '2026-03-01' AND at < '2026-03-11' GROUP BY 1, 2) d
WHERE nth <= 3 AND day = %s"""
_ADD = """\
INSERT INTO s.visits (person, at, amount)
SELECT p, %s::date + make_interval(hours => h), 7 * p %% 150
FROM generate_series(1, 40) p, generate_series(1, 3) h WHERE (p + %s) %% 3 = 0"""


class Killed(BaseException):
    """Nothing is caught, nothing is let go."""


class Turns:
    """One series, of whose days rows are added and released: a table without rows, and budgets of its own."""

    def __init__(self, made: Database) -> None:
        self._made = made
        self.lease = servers().lease(made.policy)
        self._owner = make_conninfo(servers().protected.dsn(), dbname=DATABASE)
        with psycopg.connect(self._owner, autocommit=True) as connection:
            connection.execute("DELETE FROM s.visits")
        self.exact: dict[date, tuple[int, ...]] = {}
        self.told: list[Fraction] = []  # what each release said that it costs

    def add(self, day: date) -> None:
        with psycopg.connect(self._owner, autocommit=True) as connection:
            connection.execute(_ADD, (day, day.day))

    def counted(self, day: date) -> tuple[int, ...]:
        with psycopg.connect(self._owner) as connection:
            row = connection.execute(_EXACT, (day,)).fetchone()
        assert row is not None
        return tuple(map(int, row))

    def release(self, day: date, *, is_now: bool = False) -> ReleaseState:
        """What is due at the end of a day."""

        async def work(publishing: Publishing) -> ReleaseState:
            released = await publishing.release(publishing.publications[0], is_now=is_now)
            self.told.append(released.loss.epsilon)
            await publishing.show()
            return released.state

        return self.do(day, work)

    def do(self, day: date, work: Callable[[Publishing], Awaitable[ReleaseState]]) -> ReleaseState:
        """A process of its own."""
        at = datetime(day.year, day.month, day.day, 3, tzinfo=timezone.utc) + timedelta(days=1)

        async def run() -> ReleaseState:
            one = self._process()
            await one.open()
            try:
                assert one.publishing is not None
                one.publishing.ledger.at = at  # type: ignore[attr-defined]
                return await work(one.publishing)
            finally:
                await one.protected.close()
                await one.ledger.close()

        return asyncio.run(run())

    def _process(self) -> Database:
        of = self._made
        return assemble(of.policy, of.catalog, of.shadow, self.lease, LEDGER_CIPHER)

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.lease.ledger_dsn) as connection:
            return connection.execute(statement.encode(), {"s": self.lease.source}).fetchall()

    @property
    def displayed(self) -> dict[date, tuple[int, ...]]:
        """What analysts read."""
        with psycopg.connect(self._made.shadow.superuser_dsn) as connection:
            rows = connection.execute(
                "SELECT day, visits, amount, people FROM published.series"
            ).fetchall()
        return {row[0]: tuple(map(int, row[1:])) for row in rows}

    @property
    def shown(self) -> dict[date, tuple[int, ...]]:
        rows = self.rows(
            "SELECT id, shown FROM ledger.published WHERE source = %(s)s AND shown IS NOT NULL"
            " ORDER BY due DESC LIMIT 1"
        )
        ((number, sealed),) = rows
        text = LEDGER_CIPHER.opened(str(sealed), ("published table", str(number)))
        assert text is not None
        table = json.loads(text)
        assert [name for name, _ in table["columns"]] == [
            *("day", "visits", "amount", "people"),
            *("visits_error", "amount_error", "people_error"),
        ]
        return {
            date.fromisoformat(row[0]): tuple(int(Fraction(one)) for one in row[1:4])
            for row in table["rows"]
        }

    @property
    def noise(self) -> list[list[int]]:
        """z of each step, by the last charge."""
        rows = self.rows(
            "SELECT receipt, number, noise FROM ledger.series_step WHERE receipt = (SELECT max(p.paid_by)"
            " FROM ledger.published p WHERE p.source = %(s)s) ORDER BY number"
        )
        found = []
        for receipt, number, sealed in rows:
            text = LEDGER_CIPHER.opened(str(sealed), ("noise of a step", str(receipt), str(number)))
            assert text is not None
            found.append([int(one) for one in json.loads(text)])
        return found

    @property
    def charges(self) -> list[Fraction]:
        """What receipts of the series were charged, in their order."""
        rows = self.rows(
            "SELECT r.epsilon FROM ledger.receipt r WHERE r.source = %(s)s ORDER BY r.id"
        )
        return [Fraction(str(epsilon)) for (epsilon,) in rows]


def _day(number: int) -> date:
    return _FIRST + timedelta(days=number)


@pytest.fixture(scope="module")
def made() -> Iterator[Database]:
    database = served_database(servers(), DATABASE, _SCRIPT, _POLICY, "best")
    yield database
    database.lease.close()


@pytest.fixture
def turns(made: Database) -> Iterator[Turns]:
    found = Turns(made)
    yield found
    found.lease.close()


def _expected(turns: Turns) -> dict[date, tuple[int, ...]]:
    """Of each day, the exact numbers when it was read, and the noise of the ledger."""
    noise = turns.noise
    factor = series_noise.best_factor(_DAYS, 3)
    steps = [continual.step_noises(factor, [row[place] for row in noise]) for place in range(3)]
    return {
        day: tuple(exact + steps[place][number] for place, exact in enumerate(turns.exact[day]))
        for number, day in enumerate(sorted(turns.exact))
    }


def _pass_days(turns: Turns, begin: int, end: int) -> None:
    for number in range(begin, end):
        day = _day(number)
        turns.add(day)
        turns.exact[day] = turns.counted(day)
        assert turns.release(day) is ReleaseState.DRAW


def test_days_are_charged_once_and_stand_as_they_were_read(turns: Turns) -> None:
    """Rows that come late count in no day that was read, though they take from later ones."""
    _pass_days(turns, 0, 3)
    assert turns.displayed == turns.shown == _expected(turns) and len(turns.shown) == 3
    turns.add(_day(0))
    turns.add(_day(1))
    assert turns.counted(_day(1)) != turns.exact[_day(1)], "the late rows would count"
    _pass_days(turns, 3, 5)
    assert turns.shown == _expected(turns)
    assert turns.charges == turns.told == [3, 0, 0, 0, 0]
    assert turns.release(_day(4)) is ReleaseState.DONE
    for number in range(5, 8):  # days that nobody released at their time
        turns.add(_day(number))
    for number in range(5, 8):
        turns.exact[_day(number)] = turns.counted(_day(number))
    assert turns.release(_day(7)) is ReleaseState.DRAW
    assert turns.shown == _expected(turns) and len(turns.shown) == 8


def test_after_the_last_day_no_noise_is_left(turns: Turns) -> None:
    for number in range(_DAYS):
        turns.add(_day(number))
    assert turns.release(_day(_DAYS - 2)) is ReleaseState.DRAW
    before = turns.shown
    assert turns.release(_day(_DAYS - 1)) is ReleaseState.DRAW
    assert len(turns.shown) == _DAYS and before.items() <= turns.shown.items()
    ((noise, drawn),) = turns.rows(
        "SELECT count(s.noise), count(s.drawn) FROM ledger.series_step s JOIN ledger.published p"
        " ON p.paid_by = s.receipt AND p.receipt = s.receipt WHERE p.source = %(s)s"
    )
    assert (noise, drawn) == (0, _DAYS)
    shown = turns.shown
    assert turns.release(_day(_DAYS)) is ReleaseState.DRAW
    assert turns.shown == shown and turns.charges == [3, 0, 0]


@pytest.mark.every(4)
@pytest.mark.parametrize("step", ["begin", "begun", "store", "stored"])
def test_a_kill_changes_no_number(turns: Turns, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Before and after the noise is kept, and the drawn numbers are."""
    _pass_days(turns, 0, 1)
    day = _day(1)
    turns.add(day)
    turns.exact[day] = turns.counted(day)
    is_after = step in ("begun", "stored")
    name = "begin" if step.startswith("beg") else "store"
    real = getattr(LedgerSteps, name)

    async def killing(steps: LedgerSteps, *given: object) -> object:
        if is_after:
            await real(steps, *given)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(LedgerSteps, name, killing)
        with pytest.raises(Killed):
            turns.release(day)
    noise = turns.noise
    turns.add(day)  # what comes between would tell, if the number was read by then
    if step != "stored":
        turns.exact[day] = turns.counted(day)
    with psycopg.connect(turns.lease.ledger_dsn, autocommit=True) as connection:
        connection.execute(
            "UPDATE ledger.published SET lease_until = due WHERE released_at IS NULL"
        )
    assert turns.release(day) is ReleaseState.DRAW
    assert turns.noise[: len(noise)] == noise, "no noise is drawn twice"
    assert turns.shown == _expected(turns) and turns.charges == [3, 0]


def test_a_ledger_that_went_back_draws_no_step_again(turns: Turns) -> None:
    _pass_days(turns, 0, 2)
    series_forgotten(turns.lease.ledger_dsn)
    turns.add(_day(2))
    assert turns.release(_day(2)) is ReleaseState.CHANGED
    assert len(turns.shown) == 2 and turns.charges == [3, 0]
    turns.exact = {_day(number): turns.counted(_day(number)) for number in range(3)}
    assert turns.release(_day(2), is_now=True) is ReleaseState.DRAW
    assert turns.shown == _expected(turns) and turns.charges == [3, 0, 3]


def _add_late(turns: Turns) -> None:
    """Everybody was there on days 2 and 3, and counts on fewer days after them."""
    for number in (2, 3):
        with psycopg.connect(turns._owner, autocommit=True) as connection:
            connection.execute(_ADD.replace("(p + %s) %% 3 = 0", "%s > 0"), (_day(number), 1))


def _release_after_late_rows(turns: Turns) -> None:
    """With all days from day 3 on."""
    assert turns.release(_day(5)) is ReleaseState.DRAW
    turns.exact.update((_day(number), turns.counted(_day(number))) for number in (3, 4, 5))


@pytest.mark.long
def test_steps_that_two_read_at_once_are_of_one_of_them(
    turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read days from the same one on, the later of them before rows that come late. Days of both
    together would be of two snapshots, and a person on more days than are paid."""
    _pass_days(turns, 0, 3)
    turns.add(_day(3))
    turns.add(_day(4))
    has_read, has_stored = threading.Event(), threading.Event()
    begin, store = LedgerSteps.begin, LedgerSteps.store
    others: list[Future[ReleaseState]] = []

    async def beginning(steps: LedgerSteps, first: int, noise: StepNumbers) -> StepsSoFar:
        begun = await begin(steps, first, noise)
        if steps.due == 4:
            with psycopg.connect(turns.lease.ledger_dsn, autocommit=True) as connection:
                connection.execute(
                    "UPDATE ledger.published SET lease_until = due WHERE released_at IS NULL"
                )
            others.append(pool.submit(turns.release, _day(4)))
            assert await asyncio.to_thread(has_read.wait, 60)
            _add_late(turns)
        return begun

    async def storing(steps: LedgerSteps, first: int, drawn: StepNumbers) -> StepsSoFar:
        if steps.due == 5:
            has_read.set()
            assert await asyncio.to_thread(has_stored.wait, 60)
        try:
            return await store(steps, first, drawn)
        finally:
            has_stored.set()

    with ThreadPoolExecutor() as pool, monkeypatch.context() as patched:
        patched.setattr(LedgerSteps, "begin", beginning)
        patched.setattr(LedgerSteps, "store", storing)
        assert turns.release(_day(3)) is ReleaseState.DRAW
        with pytest.raises(Fault):
            others[0].result(60)
    _release_after_late_rows(turns)
    assert turns.shown == _expected(turns)


def test_a_step_is_read_after_the_steps_before_it(
    turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that has asked for the rules of a zone has its snapshot before another process draws a day."""
    _pass_days(turns, 0, 3)
    turns.add(_day(3))
    turns.add(_day(4))
    claim = PublishedReleases.claim
    is_first = True

    async def asking(_: ZoneRules, session: ProtectedSession, __: object) -> None:
        await session.zone_offsets("Europe/Berlin", [0])

    async def claiming(*given: Any, **named: Any) -> object:
        nonlocal is_first
        if is_first:
            is_first = False
            _add_late(turns)
            await asyncio.to_thread(turns.release, _day(3))
        return await claim(*given, **named)

    monkeypatch.setattr(ZoneRules, "check", asking)
    monkeypatch.setattr(PublishedReleases, "claim", claiming)
    _release_after_late_rows(turns)
    assert turns.shown == _expected(turns)
