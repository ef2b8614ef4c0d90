"""A process that is killed between any two steps of a release: it is charged once, finished, and all show
the same.

What the tests promise is what `outcome` finds; the same outcome finds faults that are planted on purpose.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import psycopg
import pytest

from proxy.cli.assembly import Database, assemble
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.published_ports import DrawnRelease, PublishedState, PublishedTable, ReleaseClaim
from proxy.engine.publishing import Publishing, Released
from proxy.engine.releasing import Releasing
from proxy.ledger.published_releases import PublishedReleases
from proxy.policy.publication import Publication
from proxy.shadow.published_statements import PublishedStatements
from proxy.shadow.shadow_database import as_analysts
from proxy.shadow.shadow_tables import ShadowBusy
from tests.ledger_key import LEDGER_CIPHER
from tests.live.published_tables import DAYS, ONE, SCRIPT
from tests.live.served_database import served_database
from tests.servers_fixture import servers

DATABASE = "published_kills"
_NUMBERS = itertools.count(1)
_START = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)


class Killed(BaseException):
    """Nothing is caught, nothing is let go."""


class _Killing:
    """A step that ends the process: before it, or after."""

    def __init__(self, steps: Sequence[str] = ()) -> None:
        self.steps = list(steps)

    def at(self, step: str) -> None:
        if self.steps and self.steps[0] == step:
            self.steps.pop(0)
            raise Killed(step)


class _Releases(PublishedReleases):
    killing = _Killing()

    async def claim(self, *given: object, **named: object) -> ReleaseClaim:
        self.killing.at("before the charge")
        claim = await super().claim(*given, **named)  # type: ignore[arg-type]
        self.killing.at("after the charge")
        return claim

    async def store(self, claim: ReleaseClaim, drawn: DrawnRelease) -> bool:
        self.killing.at("after the draw")
        stored = await super().store(claim, drawn)
        self.killing.at("after it is stored")
        return stored


class _Statements(PublishedStatements):
    killing = _Killing()

    def show(self, tables: Sequence[PublishedTable]) -> None:
        self.killing.at("before it is shown")
        super().show(tables)


_STEPS = (
    "before the charge",
    "after the charge",
    "after the draw",
    "after it is stored",
    "before it is shown",
)


@dataclass
class Process:
    """One of several on a ledger and a shadow."""

    database: Database
    publishing: Publishing
    ledger: _Releases
    publication: Publication

    async def turn(self, at: datetime) -> None:
        """What `serve` does each second; a kill ends it."""
        self.ledger.at = at
        try:
            await self.publishing.release_due()
            await self.publishing.show()
        except Killed:
            pass


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest) -> Database:
    policy = getattr(request, "param", ONE)
    name = DATABASE if policy is ONE else f"{DATABASE}_of_days"
    return served_database(servers(), name, SCRIPT, policy, "best")


def _process(
    database: Database,
    killing: _Killing,
    releases: type[_Releases] = _Releases,
    publishing: type[Publishing] = Publishing,
) -> Process:
    again = assemble(
        database.policy, database.catalog, database.shadow, database.lease, LEDGER_CIPHER
    )
    assert again.publishing is not None
    tables = again.publishing.ledger._tables  # type: ignore[attr-defined]
    ledger = releases(tables)
    statements = _Statements(
        again.policy, again.catalog, lambda: as_analysts(again.shadow), again.shadow.show
    )
    ledger.killing = statements.killing = killing
    engine = again.engine
    releasing = Releasing(engine.drawer, ledger, statements)
    made = publishing(engine, ledger, releasing, statements)
    return Process(again, made, ledger, again.policy.publish[0])


@pytest.fixture
def begin(database: Database) -> Iterator[datetime]:
    """A slot of its own for each test: the ledger is one."""
    yield _START + timedelta(days=next(_NUMBERS))


def outcome(
    database: Database,
    begin: datetime,
    kills: Sequence[str],
    releases: type[_Releases] = _Releases,
    publishing: type[Publishing] = Publishing,
) -> tuple[int, int, bool, bool]:
    """Two processes, the first of which is killed at each of some steps and started again a minute later.

    Gives    charges of this slot; releases that stand for it; whether both processes show the stored one;
    whether something was shown that did not stand by then
    """
    early: list[bool] = []
    stood = [None, _stored(database)]
    killing = _Killing(kills)

    async def run() -> list[list[tuple[object, ...]]]:
        shown = []
        at = begin
        for turn in range(len(kills) + 2):
            one = _process(
                database, killing if turn < len(kills) else _Killing(), releases, publishing
            )
            two = _process(database, _Killing())
            for process in (one, two) if turn >= len(kills) else (one,):
                await process.database.open()
                try:
                    for _ in range(2):
                        await process.turn(at)
                        stood.append(_stored(database))
                        early.append(_displayed(database) not in stood)
                    if turn >= len(kills):
                        shown.append(_displayed(database) or [])
                finally:
                    await process.database.protected.close()
                    await process.database.ledger.close()
            at += timedelta(seconds=61)
        return shown

    before, _ = _counted(database)
    shown = asyncio.run(run())
    after, standing = _counted(database)
    stored = _stored(database)
    return after - before, standing, all(one == stored for one in shown), any(early)


def _counted(database: Database) -> tuple[int, int]:
    with psycopg.connect(database.lease.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM ledger.receipt WHERE source = %(s)s),"
            " (SELECT count(*) FROM ledger.published WHERE source = %(s)s AND shown IS NOT NULL)",
            {"s": database.lease.source},
        ).fetchone()
    assert row is not None
    return row[0], row[1]


def _stored(database: Database) -> list[tuple[object, ...]] | None:
    with psycopg.connect(database.lease.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT id, shown FROM ledger.published WHERE source = %s AND shown IS NOT NULL"
            " ORDER BY due DESC LIMIT 1",
            (database.lease.source,),
        ).fetchone()
    if row is None:
        return None
    table = LEDGER_CIPHER.opened(row[1], ("published table", str(row[0])))
    assert table is not None
    return _in_order(tuple(one) for one in json.loads(table)["rows"])


def _displayed(database: Database) -> list[tuple[object, ...]] | None:
    with psycopg.connect(database.shadow.superuser_dsn) as connection:
        if connection.execute("SELECT to_regclass('published.one')").fetchone() == (None,):
            return None
        return _in_order(
            connection.execute("SELECT region::text, n::text, n_error::text FROM published.one")
        )


def _in_order(rows: Iterable[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """A table has none."""
    return sorted(rows, key=str)


_RIGHT = (1, 1, True, False)


@pytest.mark.every(10)
@pytest.mark.parametrize("step", _STEPS)
@pytest.mark.parametrize("database", [ONE, DAYS], ids=["groups", "ranges of days"], indirect=True)
def test_killed_at_a_step(database: Database, begin: datetime, step: str) -> None:
    assert outcome(database, begin, [step]) == _RIGHT


@pytest.mark.long
@pytest.mark.parametrize("steps", list(itertools.product(_STEPS[1:3], repeat=2)))
def test_killed_at_two(database: Database, begin: datetime, steps: Sequence[str]) -> None:
    assert outcome(database, begin, list(steps)) == _RIGHT


class _ChargesAgain(_Releases):
    """A crash charges twice: what is not finished is begun anew."""

    async def claim(self, *given: object, **named: object) -> ReleaseClaim:
        connection_of = self._tables
        await connection_of.first(
            "WITH gone AS (DELETE FROM ledger.published WHERE released_at IS NULL RETURNING 1)"
            " SELECT count(*) FROM gone",
            (),
        )
        return await super().claim(*given, **named)


class _OwnDraw(Publishing):
    """Whoever draws shows their own."""

    own: str | None = None

    async def release(self, of: Publication, *, is_now: bool) -> Released:
        question, _ = self._shadow.read(of)
        rows = '{"b1":[{"k1":"north","a1":1,"x2":3},{"k1":"east","a1":2,"x2":3}]}'
        self.own = self._shadow.presented(question, rows)
        return await super().release(of, is_now=is_now)

    def _text(self, of: Publication, one: PublishedState) -> str | None:
        return self.own or super()._text(of, one)


class _ShownFirst(_Releases):
    """Shown before it is stored."""

    display: Callable[[Sequence[PublishedTable]], None]

    async def store(self, claim: ReleaseClaim, drawn: DrawnRelease) -> bool:
        assert drawn.table is not None
        _ShownFirst.display([PublishedTable(name="one", text=drawn.table, comment="early")])
        self.killing.at("after it is shown")
        return await super().store(claim, drawn)


@pytest.mark.long
def test_a_crash_that_charges_twice_is_found(database: Database, begin: datetime) -> None:
    found = outcome(database, begin, ["after the charge"], _ChargesAgain)
    assert found != _RIGHT and found[0] == 2


@pytest.mark.long
def test_an_own_draw_is_found(database: Database, begin: datetime) -> None:
    found = outcome(database, begin, [], _Releases, _OwnDraw)
    assert found != _RIGHT and not found[2]


@pytest.mark.long
def test_shown_before_stored_is_found(database: Database, begin: datetime) -> None:
    _ShownFirst.display = database.shadow.show
    found = outcome(database, begin, ["after it is shown"], _ShownFirst)
    assert found != _RIGHT and found[3]


class _Failing(_Statements):
    tried = 0

    def presented(self, question: ProtectedQuery, relation: str) -> str:
        _Failing.tried += 1
        raise ShadowBusy("gone")


@pytest.mark.long
def test_a_shadow_that_goes_away_is_no_reason_to_draw_again(
    database: Database, begin: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it does may hang on the draw: what is shown would be chosen by that."""
    monkeypatch.setattr("proxy.engine.releasing._TRY_SECONDS", 0.01)

    async def run() -> list[PublishedState]:
        one = _process(database, _Killing())
        one.publishing._releasing._shadow = _Failing(
            database.policy, database.catalog, lambda: as_analysts(database.shadow), lambda _: None
        )
        await one.database.open()
        try:
            await one.turn(begin)
            await one.turn(begin + timedelta(hours=2))
            return list(await one.publishing.states())
        finally:
            await one.database.protected.close()
            await one.database.ledger.close()

    before, _ = _counted(database)
    (standing,) = asyncio.run(run())
    assert _Failing.tried == 3 and _counted(database)[0] == before + 1
    assert standing.failure == "the shadow did not answer" and not standing.is_due
