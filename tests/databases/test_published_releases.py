"""Published releases by the ledger's own rule (published.sql), where its machine does not ask for them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from typing import TypeVar

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.accounting.events import Event, dlaplace, gaussian
from proxy.engine.published_ports import DrawnRelease, ReleaseClaim, ReleaseState, StoredBlock
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_schema import bring_to_newest
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.published_releases import PublishedReleases
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


def _limit_table(dsn: str, name: str, epsilon: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period)"
            " VALUES (1, 'table', %s, %s, 0.5, 'none')"
            " ON CONFLICT ON CONSTRAINT allowance_pkey DO UPDATE SET epsilon = EXCLUDED.epsilon",
            (name, epsilon),
        )


_LOSS = loss("1", "1e-6")
_RHO = rho_of_loss(_LOSS.epsilon, _LOSS.delta)
_PURE = Loss(_LOSS.epsilon, Fraction(0))
_PRICES: Mapping[str, tuple[Loss, tuple[Event, ...]]] = {
    "gaussian": (_LOSS, (gaussian(_LOSS, Fraction(1), 1 / (2 * _RHO)),)),
    "laplace of one step": (_PURE, (dlaplace(_PURE, 1, Fraction(1)),)),
}


async def _claim_of(releases: PublishedReleases, price: str, policy: str) -> ReleaseClaim:
    cost, events = _PRICES[price]
    plan = charge_of(cost, events, {"s.t": cost})
    return await releases.claim(_ONE, plan, policy, is_now=False)


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


def test_a_charge_to_a_block_of_time_is_not_finished_for_the_total(ledger_dsn: str) -> None:
    """The unit of a table has lost its blocks since: the shared budget has paid nothing."""
    set_limits(ledger_dsn, own="1", total="100")
    _limit_table(ledger_dsn, "person 2019-02", "9")

    async def use(releases: PublishedReleases) -> None:
        lost = await _claim(releases, _ONE, "s.t", "person 2019-02")
        releases.at = _NOON + _HOUR
        taken = await _claim(releases, _ONE, "s.t", "person 2019-02")
        assert taken.state is _DRAW and taken.receipt == lost.receipt
        assert taken.total_epsilon is None, "nothing is charged now"
        assert _spent(ledger_dsn) == 0
        releases.at = _NOON + 2 * _HOUR
        other = await _claim(releases, _ONE, "s.t")
        assert other.state is _DRAW and other.receipt != lost.receipt

    _with(ledger_dsn, use)
    assert _spent(ledger_dsn) == 2


def test_two_processes_at_once_draw_once(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="1", total="100")

    async def use(releases: PublishedReleases) -> list[ReleaseState]:
        return [one.state for one in await asyncio.gather(*(_claim(releases) for _ in range(8)))]

    assert sorted(state.value for state in _with(ledger_dsn, use)) == ["draw", *["wait"] * 7]
    assert _spent(ledger_dsn) == 2


def test_nobody_has_the_name_of_the_account(ledger_dsn: str) -> None:
    with pytest.raises(UserError):
        add_analyst(ledger_dsn, "(published)", "x")
