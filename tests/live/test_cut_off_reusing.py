"""Connections to the protected server and to the ledger that are cut at each statement of theirs, where answers
are cached and tables published: what was charged covers all that was drawn, nothing is drawn twice for what is
shown, and nobody is shown what is not charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from proxy.base.errors import Fault
from proxy.cli.assembly import Database, assemble
from proxy.engine.published_ports import ReleaseState
from proxy.engine.publishing import Publishing
from proxy.ledger.ledger_reports import observed_problems
from proxy.ledger.published_releases import PublishedReleases
from tests.ledger_key import LEDGER_CIPHER
from tests.live.cached_tables import SCRIPT
from tests.live.cutting_hop import CuttingHop, cutting_hop
from tests.live.published_tables import ONE
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

NAME = "cut_off_reusing"
_QUESTION = "SELECT count(*) FROM k.orders WHERE region <> 'north'"
_PUBLISHED = "SELECT region, n FROM published.one ORDER BY 1"
_AS_PUBLISHED = "SELECT region, count(*) AS n FROM k.orders GROUP BY region ORDER BY 1"
_AT = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
_LEASE_SECONDS = 2  # in which an answer is drawn


@pytest.fixture(scope="module")
def made() -> Database:
    # No `reuse`: what a policy has that says nothing.
    return served_database(servers(), NAME, SCRIPT, f"{ONE}# reuse: as it comes\n", "best")


@dataclass(frozen=True, slots=True)
class CutOff:
    """A proxy behind two hops, on a source of its own. protected, ledger: the hops"""

    proxy: LiveProxy
    protected: CuttingHop
    ledger: CuttingHop

    @property
    def publishing(self) -> Publishing:
        found = self.proxy.assembly.databases[NAME].publishing
        assert found is not None
        return found

    def ask(self, analyst: str, text: str = _QUESTION) -> list[tuple[object, ...]] | None:
        """None: an error."""
        with closing(self.proxy.connect(NAME, analyst=analyst)) as connection:
            try:
                return connection.execute(text.encode()).fetchall()
            except psycopg.Error as error:
                assert error.sqlstate in ("58000", "XX000"), error
                return None

    def rows(self, text: str) -> list[tuple[object, ...]]:
        lease = self.proxy.assembly.databases[NAME].lease
        with psycopg.connect(lease.ledger_dsn) as connection:
            return connection.execute(text.encode(), (lease.source,)).fetchall()

    def receipts(self) -> list[tuple[object, ...]]:
        """Who was charged, of what was shown and of what was drawn; and the ledger agrees with itself."""
        lease = self.proxy.assembly.databases[NAME].lease
        with psycopg.connect(lease.ledger_dsn) as connection:
            assert list(observed_problems(connection)) == []
        found = self.rows(
            "SELECT analyst, trim_scale(epsilon), trim_scale(coalesce(drawn_epsilon, epsilon))"
            " FROM ledger.receipt WHERE source = %s ORDER BY id"
        )
        ((total,),) = self.rows(
            "SELECT coalesce(sum(epsilon), 0) FROM ledger.balance WHERE source = %s AND kind = 'total'"
        )
        assert total == sum(Decimal(str(drawn)) for *_, drawn in found)
        return found


@pytest.fixture
def cut_off(made: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[CutOff]:
    monkeypatch.setattr("proxy.ledger.cached_claims.LEASE_SECONDS", _LEASE_SECONDS)
    monkeypatch.setattr("proxy.drawing.kept_answers.WAIT_SECONDS", _LEASE_SECONDS + 1)
    pair, policy = servers(), made.policy
    lease = pair.lease(policy)
    where = conninfo_to_dict(lease.ledger_dsn)
    path = f"{where['host']}/.s.PGSQL.{where.get('port') or 5432}"
    with cutting_hop(pair.protected.address) as protected, cutting_hop(path) as ledger:
        policy = replace(policy, source=_through(policy.source, protected))
        direct, lease.ledger_dsn = lease.ledger_dsn, _through(lease.ledger_dsn, ledger)
        database = assemble(policy, made.catalog, made.shadow, lease, LEDGER_CIPHER)
        lease.ledger_dsn = direct
        proxy = start_proxy(pair, [database])
        yield CutOff(proxy, protected, ledger)
        proxy.stop()


def _through(dsn: str, hop: CuttingHop) -> str:
    return make_conninfo(dsn, host="127.0.0.1", port=hop.port, sslmode="disable")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("cut", "times", "answered"),
    [("after", 2, False), ("before", 1, True), ("before", 2, False), ("rows", 1, False)],
)
def test_a_draw_that_is_cut_off_is_made_again_under_its_charge(
    cut_off: CutOff, cut: str, times: int, answered: bool
) -> None:
    ann, bob = (servers().new_analyst() for _ in range(2))
    cut_off.protected.cut, cut_off.protected.times = cut, times
    first = cut_off.ask(ann)
    assert (first is not None) is answered
    again = cut_off.ask(ann)
    assert again is not None and first in (None, again)
    assert cut_off.ask(bob) == again == cut_off.ask(ann)
    assert cut_off.receipts() == [(ann, 1, 1), (bob, 1, 0)]
    assert len(cut_off.rows("SELECT id FROM ledger.cached WHERE source = %s")) == 1


# Where the ledger is cut off, and what of it is charged by then. A claim is known by the digest in it; the
# first one of who is new asks whether it is drawn already, and charges nothing.
_OF_CLAIMS = [
    pytest.param(b'"digest": "', 1, "after", 1, id="claim, after"),
    pytest.param(b'"digest": "', 1, "before", 0, id="claim, before"),
    pytest.param(b"ledger.store", 0, "before", 1, id="store, before"),
    pytest.param(b"ledger.store", 0, "run", 1, id="store, after"),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("mark", "passing", "cut", "charged"), _OF_CLAIMS)
def test_a_ledger_that_is_cut_off_in_an_answer(
    cut_off: CutOff, mark: bytes, passing: int, cut: str, charged: int
) -> None:
    """Who is not told is not shown anything; who asks again pays no second time."""
    ann, bob = (servers().new_analyst() for _ in range(2))
    cut_off.ledger.mark, cut_off.ledger.passing = mark, passing
    cut_off.ledger.cut, cut_off.ledger.times = cut, 1
    assert cut_off.ask(ann) is None
    assert cut_off.ledger.times == 0 and len(cut_off.receipts()) == charged
    again = cut_off.ask(ann)
    assert again is not None and cut_off.ask(bob) == again == cut_off.ask(ann)
    assert cut_off.receipts() == [(ann, 1, 1), (bob, 1, 0)]


def test_while_the_protected_server_is_away(cut_off: CutOff) -> None:
    """What was drawn is shown, and paid by whom it is new to; what is not is neither drawn nor charged."""
    ann, bob = (servers().new_analyst() for _ in range(2))
    first = cut_off.ask(ann)
    assert first is not None and _released(cut_off, _AT)
    published = cut_off.ask(bob, _PUBLISHED)
    cut_off.protected.stop()
    assert cut_off.ask(ann) == first == cut_off.ask(bob)
    assert cut_off.ask(bob, _AS_PUBLISHED) == published is not None
    assert cut_off.ask(ann, "SELECT count(DISTINCT region) FROM k.orders") is None
    assert cut_off.receipts() == [(ann, 1, 1), ("(published)", 1, 1), (bob, 1, 0)]


def _released(cut_off: CutOff, at: datetime) -> bool:
    """As `serve` does each second; whether it was not disturbed."""
    ledger = cut_off.publishing.ledger
    assert isinstance(ledger, PublishedReleases)
    ledger.at = at

    async def turn() -> bool:
        (one,) = cut_off.publishing.publications
        released = await cut_off.publishing.release(one, is_now=False)
        await cut_off.publishing.show()
        return released.state in (ReleaseState.DRAW, ReleaseState.DONE)

    try:
        return cut_off.proxy.do(turn())
    except Fault:
        return False


def _cut_protected(cut: str, times: int) -> Callable[[CutOff], None]:
    def begin(of: CutOff) -> None:
        of.protected.cut, of.protected.times = cut, times

    return begin


def _cut_ledger(mark: str, cut: str) -> Callable[[CutOff], None]:
    def begin(of: CutOff) -> None:
        of.ledger.mark, of.ledger.cut, of.ledger.times = mark.encode(), cut, 1

    return begin


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("begin", "charged", "stands"),
    [
        pytest.param(_cut_protected("before", 2), 1, False, id="draw, before"),
        pytest.param(_cut_protected("after", 2), 1, False, id="draw, after"),
        pytest.param(_cut_protected("rows", 1), 1, False, id="draw, rows"),
        pytest.param(_cut_ledger("ledger.publish_at", "before"), 0, False, id="charge, before"),
        pytest.param(_cut_ledger("ledger.publish_at", "run"), 1, False, id="charge, after"),
        pytest.param(_cut_ledger("store_published_at", "before"), 1, False, id="store, before"),
        pytest.param(_cut_ledger("store_published_at", "run"), 1, True, id="store, after"),
    ],
)
def test_a_release_that_is_cut_off_is_charged_once_and_finished(
    cut_off: CutOff, begin: Callable[[CutOff], None], charged: int, stands: bool
) -> None:
    begin(cut_off)
    assert not _released(cut_off, _AT)
    assert len(cut_off.receipts()) == charged
    stored = "SELECT id FROM ledger.published WHERE source = %s AND shown IS NOT NULL"
    assert len(cut_off.rows(stored)) == stands
    for minutes in (2, 3):
        assert _released(cut_off, _AT + timedelta(minutes=minutes))
    ann = servers().new_analyst()
    assert cut_off.ask(ann, _PUBLISHED) == cut_off.ask(ann, _AS_PUBLISHED) is not None
    assert cut_off.receipts() == [("(published)", 1, 1)]
    assert len(cut_off.rows(stored)) == 1
