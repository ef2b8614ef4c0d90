"""Published releases by the ledger's own rule (published.sql): charged once, finished, never twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.accounting.amounts import charge
from proxy.accounting.events import Event, dlaplace, gaussian, mechanism
from proxy.engine.published_ports import DrawnRelease, ReleaseClaim, ReleaseState, StoredBlock
from proxy.ledger.ledger_backup import backup, restore
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_schema import bring_to_newest
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.published_releases import LEASE_SECONDS, PublishedReleases
from proxy.ledger.users import UserError, add_analyst
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.policy.publication import Publication
from tests.databases.ledger_database import loss, make_ledger, rows, set_limits
from tests.ledger_key import LEDGER_CIPHER
from tests.ledger_of_before import make_as_of_10
from tests.servers_fixture import Servers
from tests.unchecked_blocks import charge_of

T = TypeVar("T")
_DRAW, _WAIT, _DONE = ReleaseState.DRAW, ReleaseState.WAIT, ReleaseState.DONE
_UNFUNDED = ReleaseState.UNFUNDED
_NOON = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_ONE = Publication(
    name="one", sql="SELECT 1", seconds=86_400, offset=4 * 3600, loss=loss("2", "1e-6")
)


def _with(dsn: str, use: Callable[[PublishedReleases], Awaitable[T]]) -> T:
    async def run() -> T:
        tables = LedgerTables(dsn, 1, LEDGER_CIPHER)
        await tables.open()
        try:
            releases = PublishedReleases(tables)
            releases.at = _NOON
            return await use(releases)
        finally:
            await tables.close()

    return asyncio.run(run())


async def _claim(
    releases: PublishedReleases, of: Publication = _ONE, *tables: str, is_now: bool = False
) -> ReleaseClaim:
    plan = charge_of(of.loss, tables=dict.fromkeys(tables, of.loss))
    return await releases.claim(of, plan, "policy", is_now=is_now)


def _drawn(text: str, failure: str | None = None) -> DrawnRelease:
    return DrawnRelease(
        constants=("1",),
        table=None if failure else text,
        failure=failure,
        blocks=(StoredBlock(question="q", terms="t", relation=text),),
    )


async def _displayed(releases: PublishedReleases, of: Publication = _ONE) -> str | None:
    (standing,) = await releases.states((of,))
    stored = None if standing.id is None else await releases.stored(standing.id)
    return None if stored is None else stored.table


def _spent(dsn: str) -> Fraction:
    """By everybody together."""
    ((epsilon,),) = rows(
        dsn, "SELECT coalesce(sum(epsilon), 0) FROM ledger.balance WHERE kind = 'total'"
    )
    return Fraction(epsilon)


def test_a_release_is_charged_to_the_shared_budget_alone(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="5")

    async def use(releases: PublishedReleases) -> None:
        assert await _displayed(releases) is None
        claim = await _claim(releases)
        assert claim.state is _DRAW and claim.total_epsilon == 3, "own budgets do not count"
        assert claim.due == _NOON.replace(hour=4)
        assert await _displayed(releases) is None, "what is not stored is not shown"
        assert await releases.store(claim, _drawn("first"))
        assert await _displayed(releases) == "first"
        assert (await _claim(releases)).state is _DONE

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 2
    assert rows(ledger_dsn, "SELECT analyst, epsilon FROM ledger.receipt") == [("(published)", 2)]
    assert rows(ledger_dsn, "SELECT outcome FROM ledger.settlement") == [("answered",)]
    assert ledger_problems(ledger_dsn) == ()


@pytest.mark.parametrize("later", [timedelta(seconds=LEASE_SECONDS + 1), 3 * _DAY])
def test_who_was_killed_is_finished_by_another(ledger_dsn: str, later: timedelta) -> None:
    """In the same slot, or when the next is due by then: under the one charge. The first draw, should its
    process come back, is not shown."""
    set_limits(ledger_dsn, own="1", total="5")

    async def use(releases: PublishedReleases) -> None:
        lost = await _claim(releases)
        assert (await _claim(releases)).state is _WAIT
        releases.at = _NOON + later
        taken = await _claim(releases)
        assert (taken.state, taken.id, taken.receipt) == (_DRAW, lost.id, lost.receipt)
        assert taken.total_epsilon is None, "nothing is charged now"
        assert taken.due == (_NOON + later).replace(hour=4, minute=0, second=0)
        assert await releases.store(taken, _drawn("second"))
        assert not await releases.store(lost, _drawn("first"))
        assert await _displayed(releases) == "second"
        assert (await _claim(releases)).state is _DONE

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 2
    assert rows(ledger_dsn, "SELECT draws FROM ledger.published") == [(2,)]


def test_a_draw_that_lasts_is_held(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="5")

    async def use(releases: PublishedReleases) -> None:
        claim = await _claim(releases)
        for minute in range(1, 5):
            releases.at = _NOON + timedelta(seconds=50 * minute)
            assert (await _claim(releases)).state is _WAIT
            assert await releases.hold(claim)
        await releases.let_go(claim, 30)
        assert (await _claim(releases)).state is _WAIT, "a pause after a failure"
        releases.at = _NOON + timedelta(seconds=231)
        assert (await _claim(releases)).state is _DRAW
        assert not await releases.hold(claim), "another holds it"

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 2


def test_a_schedule(ledger_dsn: str) -> None:
    """Each slot once, what was missed not at all, whatever way the clock goes."""
    set_limits(ledger_dsn, own="1", total="100")

    async def use(releases: PublishedReleases) -> list[bool]:
        drawn = []
        for at in (
            _NOON,
            _NOON + 15 * _HOUR,  # 03:00
            _NOON + 16 * _HOUR,  # 04:00
            _NOON + 17 * _HOUR,
            _NOON + 15 * _HOUR,  # back
            _NOON + 10 * _DAY,  # nobody was there for nine
            _NOON + 10 * _DAY + _HOUR,
        ):
            releases.at = at
            (standing,) = await releases.states((_ONE,))
            claim = await _claim(releases)
            assert standing.is_due == (claim.state is _DRAW)
            drawn.append(claim.state is _DRAW)
            if claim.state is _DRAW:
                await releases.store(claim, _drawn(str(at)))
            assert await _displayed(releases) is not None
        return drawn

    assert _with(ledger_dsn, use) == [True, False, True, False, False, True, False]
    assert _spent(ledger_dsn) == 6
    ((kept,),) = rows(ledger_dsn, "SELECT count(*) FROM ledger.published WHERE shown IS NOT NULL")
    ((blocks,),) = rows(ledger_dsn, "SELECT count(*) FROM ledger.published_block")
    assert (kept, blocks) == (1, 1), "the latest alone is kept"


def test_now_is_one_more_and_counts_for_its_slot(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="100")

    async def use(releases: PublishedReleases) -> None:
        for text in ("first", "again"):
            claim = await _claim(releases, is_now=True)
            assert claim.state is _DRAW
            await releases.store(claim, _drawn(text))
        assert await _displayed(releases) == "again"
        assert (await _claim(releases)).state is _DONE
        lost = await _claim(releases, is_now=True)
        releases.at = _NOON + timedelta(minutes=2)
        taken = await _claim(releases, is_now=True)
        assert (taken.state, taken.receipt) == (_DRAW, lost.receipt), "finished, not charged again"

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 6


def test_what_the_total_cannot_fund_is_stale(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="3")

    async def use(releases: PublishedReleases) -> None:
        await releases.store(await _claim(releases), _drawn("first"))
        releases.at = _NOON + _DAY
        assert (await _claim(releases)).state is _UNFUNDED
        releases.at = _NOON + 2 * _DAY
        assert (await _claim(releases)).state is _UNFUNDED
        (standing,) = await releases.states((_ONE,))
        assert standing.stale_since == _NOON + _DAY and "does not cover" in (standing.stale or "")
        assert await _displayed(releases) == "first"
        set_limits(ledger_dsn, own="1", total="4")
        await releases.store(await _claim(releases), _drawn("second"))
        (standing,) = await releases.states((_ONE,))
        assert standing.stale is None and await _displayed(releases) == "second"

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 4


def _limit_table(dsn: str, name: str, epsilon: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period)"
            " VALUES (1, 'table', %s, %s, 0.5, 'none')"
            " ON CONFLICT ON CONSTRAINT allowance_pkey DO UPDATE SET epsilon = EXCLUDED.epsilon",
            (name, epsilon),
        )


def test_budgets_of_tables_pay_for_releases(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="100")
    _limit_table(ledger_dsn, "s.t", "3")

    async def use(releases: PublishedReleases) -> None:
        await releases.store(await _claim(releases, _ONE, "s.t", "s.u"), _drawn("first"))
        releases.at = _NOON + _DAY
        refused = await _claim(releases, _ONE, "s.t", "s.u")
        assert refused.state is _UNFUNDED
        assert refused.short == ("the privacy budget of the table s.t",)
        (one,) = await releases.states((_ONE,))
        assert one.stale == "the budget of the table s.t does not cover its next release"
        _limit_table(ledger_dsn, "s.t", "4")
        await releases.store(await _claim(releases, _ONE, "s.t", "s.u"), _drawn("second"))

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 4
    paid = "SELECT analyst, epsilon FROM ledger.balance WHERE kind = 'table' ORDER BY 1"
    assert rows(ledger_dsn, paid) == [("s.t", 4), ("s.u", 4)]
    assert ledger_problems(ledger_dsn) == ()


_LOSS = loss("1", "1e-6")
_RHO = rho_of_loss(_LOSS.epsilon, _LOSS.delta)
_PURE = Loss(_LOSS.epsilon, Fraction(0))
_PRICES: Mapping[str, tuple[Loss, tuple[Event, ...]]] = {
    "gaussian": (_LOSS, (gaussian(_LOSS, Fraction(1), 1 / (2 * _RHO)),)),
    "approximate": (_LOSS, (mechanism(_LOSS),)),
    "laplace of one step": (_PURE, (dlaplace(_PURE, 1, Fraction(1)),)),
    "laplace of many steps": (_PURE, (dlaplace(_PURE, 1000, Fraction(1000)),)),
    "laplace and gaussian": (
        loss("2", "1e-6"),
        (mechanism(_PURE), gaussian(_LOSS, Fraction(1), 1 / (2 * _RHO))),
    ),
    "nothing told": (_LOSS, ()),  # charged as one approximate mechanism
}
_COVERED = {
    ("approximate", "laplace of one step"),
    ("approximate", "laplace of many steps"),
    ("laplace of one step", "laplace of many steps"),
    ("nothing told", "approximate"),
    ("nothing told", "laplace of one step"),
    ("nothing told", "laplace of many steps"),
    ("laplace and gaussian", "gaussian"),
    ("laplace and gaussian", "laplace of one step"),
    ("laplace and gaussian", "laplace of many steps"),
}


async def _claim_of(releases: PublishedReleases, price: str, policy: str) -> ReleaseClaim:
    cost, events = _PRICES[price]
    plan = charge_of(cost, events, {"s.t": cost})
    return await releases.claim(_ONE, plan, policy, is_now=False)


@pytest.mark.every(6)
@pytest.mark.parametrize("before", _PRICES)
@pytest.mark.parametrize("now", _PRICES)
def test_a_charge_is_finished_only_if_it_covers_what_is_drawn_now(
    ledger_dsn: str, before: str, now: str
) -> None:
    """The policy has changed between a failure and its repetition: in each currency of a budget."""
    set_limits(ledger_dsn, own="1", total="100")

    async def use(releases: PublishedReleases) -> tuple[ReleaseClaim, ReleaseClaim]:
        lost = await _claim_of(releases, before, "policy of before")
        await releases.let_go(lost, 0)
        releases.at = _NOON + timedelta(seconds=LEASE_SECONDS + 5)
        return lost, await _claim_of(releases, now, "policy of now")

    lost, taken = _with(ledger_dsn, use)
    assert (lost.state, taken.state) == (_DRAW, _DRAW)
    is_covered = before == now or (before, now) in _COVERED
    assert (taken.receipt == lost.receipt) is is_covered
    paid = _PRICES[before][0].epsilon + (0 if is_covered else _PRICES[now][0].epsilon)
    assert _spent(ledger_dsn) == paid
    assert ledger_problems(ledger_dsn) == ()


def test_releases_of_an_older_ledger_are_charged_anew_for_other_noise(pair: Servers) -> None:
    """Charged, and not finished, before version 11."""
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE ledger_of_10")
        dsn = make_conninfo(pair.ledger_dsn, dbname="ledger_of_10")
        try:
            make_ledger(dsn)
            set_limits(dsn, own="1", total="100")
            lost = _with(dsn, lambda releases: _claim_of(releases, "gaussian", "before"))
            make_as_of_10(dsn)
            assert bring_to_newest(dsn) > 10

            async def use(releases: PublishedReleases) -> tuple[ReleaseClaim, ReleaseClaim]:
                releases.at = _NOON + _HOUR
                same = await _claim_of(releases, "gaussian", "now")
                releases.at = _NOON + 2 * _HOUR
                return same, await _claim_of(releases, "laplace of one step", "now")

            same, other = _with(dsn, use)
            assert same.state is other.state is _DRAW
            assert same.receipt == lost.receipt != other.receipt
            assert ledger_problems(dsn) == ()
        finally:
            server.execute("DROP DATABASE ledger_of_10 WITH (FORCE)")


def test_a_charge_that_a_table_has_no_share_of_is_not_finished_for_it(ledger_dsn: str) -> None:
    """The policy of a table has changed since, from public to protected: its budget has paid nothing."""
    set_limits(ledger_dsn, own="1", total="100")

    async def use(releases: PublishedReleases) -> None:
        lost = await _claim(releases, _ONE, "s.t")
        releases.at = _NOON + _HOUR
        taken = await _claim(releases, _ONE, "s.t")
        assert taken.state is _DRAW and taken.receipt == lost.receipt
        releases.at = _NOON + 2 * _HOUR
        more = await _claim(releases, _ONE, "s.t", "s.u")
        assert more.state is _DRAW and more.receipt != lost.receipt

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 4


def test_a_charge_to_a_block_of_time_is_not_finished_for_the_total(ledger_dsn: str) -> None:
    """The unit of a table has lost its blocks since: the shared budget has paid nothing."""
    set_limits(ledger_dsn, own="1", total="100")
    _limit_table(ledger_dsn, "person 2019-02", "9")

    async def use(releases: PublishedReleases) -> None:
        lost = await _claim(releases, _ONE, "s.t", "person 2019-02")
        releases.at = _NOON + _HOUR
        taken = await _claim(releases, _ONE, "s.t", "person 2019-02")
        assert taken.state is _DRAW and taken.receipt == lost.receipt
        assert _spent(ledger_dsn) == 0
        releases.at = _NOON + 2 * _HOUR
        other = await _claim(releases, _ONE, "s.t")
        assert other.state is _DRAW and other.receipt != lost.receipt

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 2


def test_another_statement_is_another_version(ledger_dsn: str) -> None:
    """Released at once, and the former stays what it was, should the policy go back to it."""
    set_limits(ledger_dsn, own="1", total="100")
    other = Publication(
        name="one", sql="SELECT 2", seconds=86_400, offset=4 * 3600, loss=loss("2", "1e-6")
    )

    async def use(releases: PublishedReleases) -> None:
        await releases.store(await _claim(releases), _drawn("first"))
        assert await _displayed(releases, other) is None
        await releases.store(await _claim(releases, other), _drawn("other"))
        assert await _displayed(releases, other) == "other"
        assert await _displayed(releases) == "first"
        assert (await _claim(releases)).state is _DONE

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 4


def test_a_draw_that_is_no_table_is_not_drawn_again(ledger_dsn: str) -> None:
    """Else one would draw until the statement does not fail, and what is shown would tell more than was
    paid."""
    set_limits(ledger_dsn, own="1", total="100")

    async def use(releases: PublishedReleases) -> None:
        await releases.store(await _claim(releases), _drawn("first"))
        releases.at = _NOON + _DAY
        await releases.store(await _claim(releases), _drawn("", failure="division by zero"))
        assert (await _claim(releases)).state is _DONE
        (standing,) = await releases.states((_ONE,))
        assert standing.failure == "division by zero" and not standing.is_due
        assert await _displayed(releases) == "first"

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 4


def test_two_processes_at_once_draw_once(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="100")

    async def use(releases: PublishedReleases) -> list[ReleaseState]:
        return [one.state for one in await asyncio.gather(*(_claim(releases) for _ in range(8)))]

    assert sorted(state.value for state in _with(ledger_dsn, use)) == ["draw", *["wait"] * 7]
    assert _spent(ledger_dsn) == 2


def test_a_backup_has_it(ledger_dsn: str, tmp_path: Path) -> None:
    set_limits(ledger_dsn, own="1", total="100")

    async def use(releases: PublishedReleases) -> None:
        await releases.store(await _claim(releases), _drawn("first"))

    _with(ledger_dsn, use)
    assert backup(ledger_dsn, tmp_path / "copy") == 1
    other = _restored(ledger_dsn, tmp_path / "copy")
    assert _with(other, _displayed) == "first"
    assert _with(other, _claim).state is _DONE


def test_what_was_drawn_at_a_backup_is_not_finished_under_its_charge(
    ledger_dsn: str, tmp_path: Path
) -> None:
    """It may have been finished, and shown, since."""
    set_limits(ledger_dsn, own="1", total="100")
    claim = _with(ledger_dsn, _claim)
    backup(ledger_dsn, tmp_path / "copy")
    assert _with(ledger_dsn, lambda releases: releases.store(claim, _drawn("first")))
    other = _restored(ledger_dsn, tmp_path / "copy")

    async def later(releases: PublishedReleases) -> ReleaseClaim:
        releases.at = _NOON + 2 * timedelta(seconds=LEASE_SECONDS)
        return await _claim(releases)

    again = _with(other, later)
    assert again.state is _DRAW and again.receipt != claim.receipt
    assert _spent(other) == 4


def _restored(ledger_dsn: str, file: Path) -> str:
    other = make_conninfo(ledger_dsn, dbname="published_copy")
    with psycopg.connect(ledger_dsn, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS published_copy")
        connection.execute("CREATE DATABASE published_copy")
    restore(other, file)
    return other


def test_what_a_release_cost_is_told_exactly(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="5")
    third = Loss(Fraction(1, 3), Fraction(0))

    async def use(releases: PublishedReleases) -> Loss | None:
        claim = await releases.claim(_ONE, charge_of(third), "policy", is_now=False)
        await releases.store(claim, _drawn("first"))
        (standing,) = await releases.states((_ONE,))
        return standing.loss

    assert _with(ledger_dsn, use) == Loss(charge(third).epsilon, Fraction(0))


def test_nobody_has_the_name_of_the_account(ledger_dsn: str) -> None:
    with pytest.raises(UserError):
        add_analyst(ledger_dsn, "(published)", "x")
