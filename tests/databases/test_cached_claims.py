"""Who pays for a cached answer, by the ledger's own rule (ledger_schema/cached_answers.sql)."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

import psycopg
import pytest

from proxy.accounting.events import Event, dlaplace, gaussian, mechanism
from proxy.accounting.statement_record import StatementRecord
from proxy.base.errors import Code, Fault, Refusal
from proxy.drawing.answer_slots import (
    CachedQuestion,
    CacheState,
    ShownAnswer,
    Unfinished,
    cached_question,
    slot_digest,
)
from proxy.drawing.charges import Charge
from proxy.kernel.price import Price
from proxy.kernel.refusals import NotPrivate
from proxy.ledger.bearer_tokens import create_token
from proxy.ledger.bounds_account import POLICY_BOUNDS
from proxy.ledger.cached_claims import MOST_BYTES, CachedClaims, Claimed
from proxy.ledger.engine_ledger import EngineLedger
from proxy.ledger.ledger_backup import TABLES
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.users import add_analyst, allow
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.rho_of_noise import rho_of_pure
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.policy.policy_model import Reuse
from proxy.release.cached_block import Order
from tests.asked_by import run_of
from tests.chosen_slots import slot_offset
from tests.databases.ledger_database import loss, rows, set_limits
from tests.ledger_key import LEDGER_CIPHER
from tests.named_slots import named_slot, renamed
from tests.unchecked_blocks import charge_of, priced

T = TypeVar("T")
_RUN = run_of("alice")
_DAY = Reuse(86_400, slot_offset(86_400))
_ORDER = Order(keys=(), releases=())
_DRAW, _READY, _WAIT, _APART = CacheState.DRAW, CacheState.READY, CacheState.WAIT, CacheState.APART


def _question(
    name: int | None, epsilon: str = "1", question: str = "count", terms: str = "t"
) -> CachedQuestion:
    digest = None if name is None else bytes([name]) * 32
    return named_slot(priced(loss(epsilon, "0")), digest, question, terms, _ORDER)


def _reading(name: int | None, epsilon: str, *tables: str) -> CachedQuestion:
    """Of these tables."""
    return renamed(_question(name, epsilon), block=priced(loss(epsilon, "0"), tables=tables))


def _with_claims(
    dsn: str, use: Callable[[CachedClaims], Awaitable[T]], most_bytes: int = MOST_BYTES
) -> T:
    async def run() -> T:
        tables = LedgerTables(dsn, 1, LEDGER_CIPHER)
        await tables.open()
        try:
            return await use(CachedClaims(tables, _DAY, most_bytes))
        finally:
            await tables.close()

    return asyncio.run(run())


async def _claim(
    claims: CachedClaims, who: str, *parts: CachedQuestion, may_draw: bool = True
) -> Claimed | None:
    return await claims.claim(run_of(who), parts, "f", "p", may_draw=may_draw)


async def _drawn(
    claims: CachedClaims, who: str, *parts: CachedQuestion, text: str = "drawn"
) -> Claimed:
    claimed = await _claim(claims, who, *parts)
    assert claimed is not None
    for cached, state in zip(claimed.cached, claimed.states, strict=True):
        if state is _DRAW:
            assert cached is not None
            await claims.store(_RUN, cached, text)
    return claimed


def _cost(claimed: Claimed) -> Fraction:
    return Fraction(0) if claimed.receipt is None else claimed.receipt.charged.epsilon


def _paid(dsn: str) -> dict[str, Fraction]:
    found = rows(dsn, "SELECT analyst, epsilon FROM ledger.balance")
    return {name or "all": Fraction(epsilon) for name, epsilon in found}


def test_an_answer_is_shown_to_who_has_paid_for_it_and_nobody_else(ledger_dsn: str) -> None:
    """Its number in the ledger alone gives it to nobody, whether it stands already or not."""
    set_limits(ledger_dsn, own="5", total="5")

    async def use(claims: CachedClaims) -> Sequence[ShownAnswer | None]:
        claimed = await _claim(claims, "alice", _question(1))
        assert claimed is not None and claimed.cached[0] is not None
        cached = claimed.cached[0]
        with pytest.raises(Unfinished):
            await claims.shown(run_of("bob"), cached)
        early = await claims.shown(run_of("alice"), cached)
        await claims.store(_RUN, cached, "drawn")
        with pytest.raises(Unfinished):
            await claims.shown(run_of("bob"), cached)
        alone = await claims.shown(run_of("alice"), cached)
        await _claim(claims, "bob", _question(1))
        return early, alone, await claims.shown(run_of("bob"), cached)

    early, alone, other = _with_claims(ledger_dsn, use)
    assert early is None and alone is not None and other is not None
    assert (alone.analyst, alone.text, other.analyst) == ("alice", "drawn", "bob")


def test_a_claim_pays_for_what_is_to_be_drawn_alone(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="5", total="5")
    drawn, ready, apart = _question(2), _question(1), _question(None)

    async def use() -> Charge | None:
        tables = LedgerTables(ledger_dsn, 1, LEDGER_CIPHER)
        await tables.open()
        try:
            await _drawn(CachedClaims(tables, _DAY), "alice", ready)
            ledger = EngineLedger(tables, _DAY)
            return await ledger.claim(run_of("bob"), [ready, drawn, apart], "f", "p", may_draw=True)
        finally:
            await tables.close()

    charge = asyncio.run(use())
    assert charge is not None and charge.paid.epsilon == 3
    for part in (drawn, apart):
        charge.begin(part.block)
    for part in (ready, drawn, apart):
        with pytest.raises(Fault):
            charge.begin(part.block)


def test_no_analyst_is_in_the_account_of_the_owner(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="5", total="5")

    async def use() -> None:
        tables = LedgerTables(ledger_dsn, 1, LEDGER_CIPHER)
        await tables.open()
        ledger = EngineLedger(tables, _DAY)
        try:
            with pytest.raises(Fault):
                await ledger.reserve(run_of(POLICY_BOUNDS), charge_of(loss("1")), "f", "p")
        finally:
            await ledger.close()

    asyncio.run(use())
    assert _paid(ledger_dsn) == {}


def _of_price(loss_of: Loss, event: Event) -> CachedQuestion:
    """One question in equal terms, at a price, as CachedAnswers names its slot."""
    rho = Fraction(str(event["rho"]))
    is_gaussian = event["kind"] == "gaussian"
    price = Price(
        epsilon=loss_of.epsilon,
        delta=Fraction(0) if is_gaussian else loss_of.delta,
        rho=rho,
        gaussian_delta=loss_of.delta if is_gaussian else Fraction(0),
    )
    digest = slot_digest("count", "t", price, ())
    return renamed(_question(1), digest=digest, block=priced(loss_of, (event,)))


def test_a_draw_of_another_price_is_not_taken_over(ledger_dsn: str) -> None:
    """The policy, or the program, prices the same question otherwise between a failure and its repetition: what
    is drawn then is charged itself."""
    set_limits(ledger_dsn, own="5", total="5")
    pure, failing = loss("1", "0"), loss("1", "1e-6")
    sigma2 = 1 / (2 * rho_of_loss(failing.epsilon, failing.delta))
    parts = (
        _of_price(failing, gaussian(failing, Fraction(1), sigma2)),
        _of_price(pure, dlaplace(pure, 10**6, Fraction(10**6))),
        _of_price(pure, dlaplace(pure, 1, Fraction(1))),
        _of_price(failing, mechanism(failing)),
    )

    async def use(claims: CachedClaims) -> list[Fraction]:
        costs = []
        for part in (*parts, parts[0]):
            claimed = await _claim(claims, "alice", part)
            assert claimed is not None and claimed.states == (_DRAW,)
            assert claimed.cached[0] is not None
            await claims.let_go(claimed.cached[0], claimed.holder)
            costs.append(_cost(claimed))
        return costs

    assert _with_claims(ledger_dsn, use) == [1, 1, 1, 1, 0]
    assert _paid(ledger_dsn) == {"alice": 4, "all": 4}


def test_a_draw_of_another_table_is_not_taken_over(ledger_dsn: str) -> None:
    """Two questions are called alike by mistake, at one price: what is drawn is charged to its own table."""
    set_limits(ledger_dsn, own="5", total="5")
    blocks = [priced(loss("1", "0"), tables=(name,)) for name in ("w.people", "w.visits")]
    parts = [cached_question(one, "count", "t", _ORDER, None) for one in blocks]

    async def use(claims: CachedClaims) -> list[Fraction]:
        costs = []
        for part in (*parts, parts[0]):
            claimed = await _claim(claims, "alice", part)
            assert claimed is not None and claimed.states == (_DRAW,)
            assert claimed.cached[0] is not None
            await claims.let_go(claimed.cached[0], claimed.holder)
            costs.append(_cost(claimed))
        return costs

    assert _with_claims(ledger_dsn, use) == [1, 1, 0]
    found = rows(ledger_dsn, "SELECT shares FROM ledger.receipt ORDER BY id")
    of_tables = [[one["name"] for one in shares if one["kind"] == "table"] for (shares,) in found]
    assert of_tables == [["w.people"], ["w.visits"]]


def test_a_slot_has_one_name_for_tables_in_any_order() -> None:
    """How joins are written does not show in a question."""
    names = [
        ("w.people", "w.visits"),
        ("w.visits", "w.people"),
        ("w.people",),
        ('w.people", "w.visits',),
    ]
    blocks = [priced(loss("1", "0"), tables=one) for one in names]
    found = [cached_question(one, "count", "t", _ORDER, None).digest for one in blocks]
    assert found[0] == found[1] and len(set(found)) == 3


def test_slots_begin_by_the_clock_of_the_ledger(ledger_dsn: str) -> None:
    def start(at: datetime, seconds: int, offset: int) -> datetime:
        with psycopg.connect(ledger_dsn) as connection:
            row = connection.execute(
                "SELECT ledger.slot_start(%s, %s, %s)", (seconds, offset, at)
            ).fetchone()
        assert row is not None
        found: datetime = row[0]
        return found.astimezone(timezone.utc)

    noon = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
    assert start(noon, 86_400, 0) == noon - timedelta(hours=12)
    assert start(noon, 86_400, 4 * 3600) == noon - timedelta(hours=8)
    assert start(noon - timedelta(hours=9), 86_400, 4 * 3600) == noon - timedelta(hours=32)
    assert start(noon, 1800, 0) == noon


def test_beyond_its_size_nothing_new_is_cached(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="5", total="5")
    _with_claims(ledger_dsn, lambda claims: _drawn(claims, "alice", _question(1)))

    async def use(claims: CachedClaims) -> tuple[Claimed, Claimed]:
        return await _drawn(claims, "bob", _question(1)), await _drawn(claims, "bob", _question(2))

    known, new = _with_claims(ledger_dsn, use, most_bytes=0)
    assert (known.states, new.states) == ((_READY,), (_APART,))
    assert _paid(ledger_dsn) == {"alice": 1, "bob": 2, "all": 2}


def test_what_is_too_large_is_forgotten_and_paid_anew(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="5", total="5")

    async def use(claims: CachedClaims) -> Claimed | None:
        first = await _claim(claims, "alice", _question(1))
        assert first is not None and first.cached[0] is not None
        assert await claims.forget(first.cached[0], first.holder)
        with pytest.raises(Unfinished):
            await claims.shown(run_of("alice"), first.cached[0])
        assert await claims.store(_RUN, first.cached[0], "late") is None
        return await _claim(claims, "alice", _question(1))

    again = _with_claims(ledger_dsn, use)
    assert again is not None and again.states == (_DRAW,) and _cost(again) == 1


def test_every_table_is_in_a_backup(ledger_dsn: str) -> None:
    found = rows(
        ledger_dsn,
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'ledger'::regnamespace"
        " AND relkind = 'r'",
    )
    left_out = {
        "migration",
        "series_step",
    }  # noise of a series stops with a restored ledger (PROOFS.md 33)
    assert {name for (name,) in found} - left_out == {name for name, _ in TABLES}


def test_what_remains_by_rho_is_told_with_and_without_a_charge(ledger_dsn: str) -> None:
    """bob is shown what alice drew; by epsilon nothing is left, by rho there is."""
    set_limits(ledger_dsn, own="1.5", total="9", delta="0.001")
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("UPDATE ledger.allowance SET rho = 1.2 WHERE kind <> 'total'")
        connection.execute("UPDATE ledger.allowance SET rho = 9 WHERE kind = 'total'")
    one = loss("1", "0")
    first, second = (
        renamed(_question(number), block=priced(one, (mechanism(one),))) for number in (1, 2)
    )

    async def use(claims: CachedClaims) -> Sequence[Claimed | None]:
        await _drawn(claims, "alice", first)
        drawn = await _drawn(claims, "alice", second)
        return (
            drawn,
            await _claim(claims, "alice", first, second),
            await _claim(claims, "bob", first),
        )

    drawn, again, other = _with_claims(ledger_dsn, use)
    assert drawn is not None and again is not None and other is not None
    each = rho_of_pure(Fraction(1))
    found = rows(ledger_dsn, "SELECT kind, analyst, rho FROM ledger.balance ORDER BY 1, 2")
    assert found == [
        ("analyst", "alice", 2 * each),
        ("analyst", "bob", each),
        ("total", "", 2 * each),
    ]
    remaining = drawn.remaining.epsilon
    assert rho_of_pure(remaining) <= Fraction(6, 5) - 2 * each
    assert rho_of_pure(remaining * Fraction(1000, 999)) > Fraction(6, 5) - 2 * each
    assert again.receipt is None and again.remaining.epsilon == remaining
    others = other.remaining.epsilon
    assert rho_of_pure(others) <= Fraction(6, 5) - each < rho_of_pure(others * Fraction(1000, 999))
    assert ledger_problems(ledger_dsn) == ()


def _grouped(dsn: str) -> None:
    """ann and bob are in g; carol is in none."""
    for name in ("ann", "bob", "carol"):
        add_analyst(dsn, name, "x")
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.membership SELECT id, 'g' FROM ledger.analyst WHERE name <> 'carol'"
        )


def _of(dsn: str, kind: str) -> dict[str, Fraction]:
    found = rows(dsn, f"SELECT analyst, epsilon FROM ledger.balance WHERE kind = '{kind}'")
    return {name: Fraction(epsilon) for name, epsilon in found}


def test_what_a_member_brings_is_not_the_groups(ledger_dsn: str) -> None:
    """carol has seen it, and comes: bob, to whom it is new, makes the group pay."""
    set_limits(ledger_dsn, own="5", total="5")
    _grouped(ledger_dsn)
    _with_claims(ledger_dsn, lambda claims: _drawn(claims, "carol", _question(1)))
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.membership SELECT id, 'g' FROM ledger.analyst WHERE name = 'carol'"
        )
    _with_claims(ledger_dsn, lambda claims: _drawn(claims, "carol", _question(1)))
    assert _of(ledger_dsn, "group").get("g", 0) == 0
    _with_claims(ledger_dsn, lambda claims: _drawn(claims, "bob", _question(1)))
    assert _of(ledger_dsn, "group") == {"g": 1}


def test_blocks_of_time_pay_for_nothing_beside_them(ledger_dsn: str) -> None:
    """A claim that names a block is to its budget alone. Beside it a table would be drawn for no shared budget,
    by whoever takes over its slot."""
    set_limits(ledger_dsn, own="9", total="9")
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.allowance VALUES (1, 'table', 'person 2019-02', 3, 0.5, 'none')"
        )
    month, other = _reading(1, "1", "s.t", "person 2019-02"), _reading(2, "1", "s.u")

    async def use() -> None:
        tables = LedgerTables(ledger_dsn, 1, LEDGER_CIPHER)
        await tables.open()
        ledger = EngineLedger(tables, _DAY)
        try:
            with pytest.raises(NotPrivate):
                await ledger.claim(run_of("ann"), [month, other], "f", "p", may_draw=True)
            assert _paid(ledger_dsn) == {}
            for part in (month, other):
                assert (
                    await ledger.claim(run_of("ann"), [part], "f", "p", may_draw=True) is not None
                )
        finally:
            await ledger.close()

    asyncio.run(use())
    assert _paid(ledger_dsn) == {"ann": 2, "all": 1, "s.t": 1, "person 2019-02": 1, "s.u": 1}


def test_a_spent_budget_says_what_is_free(ledger_dsn: str) -> None:
    """As many as this analyst was shown and can see again, not what is drawn for others."""
    set_limits(ledger_dsn, own="2", total="9")
    seen: list[str] = []

    async def use() -> None:
        ledger = EngineLedger(LedgerTables(ledger_dsn, 1, LEDGER_CIPHER), _DAY)
        await ledger.open()
        claims = ledger._cached
        try:
            await _drawn(claims, "bob", _question(3))
            for drawn in (None, 1, 2):
                if drawn is not None:
                    await _drawn(claims, "ann", _question(drawn))
                for refused in (
                    ledger.claim(run_of("ann"), (_question(9, "3"),), "f", "d", may_draw=True),
                    ledger.look("ann", charge_of(loss("3", "0"))),
                    ledger.reserve(run_of("ann"), charge_of(loss("3", "0")), "f", "d"),
                ):
                    with pytest.raises(Refusal) as raised:
                        await refused
                    assert raised.value.code is Code.OVER_BUDGET
                    seen.append(raised.value.hint)
        finally:
            await ledger.close()

    asyncio.run(use())
    ends = rows(ledger_dsn, "SELECT max(slot) + interval '1 day' FROM ledger.cached")[0][0]
    until = f"until {ends.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC; dp.history"
    texts = (
        "You were shown none yet.",
        f"You were shown 1 answer that costs nothing {until}",
        f"You were shown 2 answers that cost nothing {until}",
    )
    assert [
        text in hint for hint, text in zip(seen, (t for t in texts for _ in "123"), strict=True)
    ] == ([True] * 9)


def test_claims_and_charges_at_once_lock_in_one_order(ledger_dsn: str) -> None:
    """Else one holds a table and waits for the total, which the other holds."""
    set_limits(ledger_dsn, own="9999", total="9999")
    _grouped(ledger_dsn)

    async def use() -> None:
        tables = LedgerTables(ledger_dsn, 1, LEDGER_CIPHER, 8)
        await tables.open()
        try:
            claims = CachedClaims(tables, _DAY)
            record = StatementRecord(tables={"s.t": loss("1", "0"), "s.u": loss("1", "0")})
            await asyncio.gather(
                *(
                    tables.reserve("ann", loss("1", "0"), "f", "p", (), record)
                    if number % 2
                    else _claim(claims, "bob", _reading(number, "1", "s.u", "s.t"))
                    for number in range(60)
                )
            )
        finally:
            await tables.close()

    asyncio.run(use())
    assert _of(ledger_dsn, "table") == {"s.t": 60, "s.u": 60}
    assert _of(ledger_dsn, "total") == {"": 60}


def test_a_token_pays_what_its_analyst_pays(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="9", total="9")
    add_analyst(ledger_dsn, "alice", None)
    token = create_token(ledger_dsn, "alice", days=1, epsilon=Decimal("1.5")).number

    async def use(claims: CachedClaims) -> Sequence[Claimed | None]:
        async def through(name: int) -> Claimed | None:
            run = run_of("alice", token)
            return await claims.claim(run, (_question(name),), "f", "p", may_draw=True)

        first = await through(1)
        assert first is not None and first.cached[0] is not None
        await claims.store(_RUN, first.cached[0], "drawn")
        again = await through(1)
        with pytest.raises(Refusal, match=r"only epsilon 0\.5 of it remains"):
            await through(2)
        return first, again

    first, again = _with_claims(ledger_dsn, use)
    assert first is not None and again is not None
    assert [_cost(first), _cost(again)] == [1, 0]
    assert rows(ledger_dsn, "SELECT spent FROM ledger.token") == [(1,)]
    assert rows(ledger_dsn, "SELECT count(*) FROM ledger.cached") == [(1,)], "all of it is undone"
    assert _paid(ledger_dsn) == {"alice": 1, "all": 1}


def test_who_may_not_query_the_data_claims_nothing_of_it(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="9", total="9")
    for name in ("alice", "bob"):
        add_analyst(ledger_dsn, name, None)

    async def use(claims: CachedClaims) -> None:
        await _drawn(claims, "alice", _question(1))
        await _drawn(claims, "bob", _question(1))
        about = [hashlib.sha256(b"x").digest()]
        keyed = LEDGER_CIPHER.keyed(about[0])
        made = LEDGER_CIPHER.sealed("1", ("cached source", keyed.hex()))
        with psycopg.connect(ledger_dsn) as connection:
            connection.execute("UPDATE ledger.cached SET (about, made) = (%s, %s)", (keyed, made))
        assert len(await claims.paid_about("bob", about)) == 1
        allow(ledger_dsn, "data", analyst="alice")
        assert await _claim(claims, "alice", _question(1)) is not None
        assert len(await claims.paid_about("alice", about)) == 1
        assert await claims.paid_about("bob", about) == [], "nothing is made of it any more"
        with pytest.raises(Refusal, match="may not query") as raised:
            await _claim(claims, "bob", _question(1))  # which bob has paid
        assert raised.value.code is Code.PROTECTED

    _with_claims(ledger_dsn, use)


def test_what_would_cost_nothing_now(ledger_dsn: str) -> None:
    """As a claim would say: shown, or paid with a draw left under its charge; of nobody else, in this slot."""
    set_limits(ledger_dsn, own="20", total="20")
    digests = [bytes([number]) * 32 for number in range(1, 6)]

    async def use(claims: CachedClaims) -> list[frozenset[bytes]]:
        await _drawn(claims, "alice", _question(1), _question(4))
        await _claim(claims, "alice", _question(2), _question(3))
        with psycopg.connect(ledger_dsn) as connection:
            connection.execute(
                "UPDATE ledger.cached SET draws = 3, lease_until = '-infinity' WHERE digest = %s",
                (LEDGER_CIPHER.keyed(digests[2]),),
            )
            connection.execute(
                "UPDATE ledger.cached SET slot = slot - interval '1 day' WHERE digest = %s",
                (LEDGER_CIPHER.keyed(digests[3]),),
            )
        return [await claims.paid_of(who, digests) for who in ("alice", "bob")]

    assert _with_claims(ledger_dsn, use) == [frozenset(digests[:2]), frozenset()]


def test_what_others_spend_is_told_in_steps_of_its_limit(ledger_dsn: str) -> None:
    """An exact amount would tell that a question was new to all."""
    set_limits(ledger_dsn, own="2", total="9")
    told: list[dict[str, object]] = []

    async def use() -> None:
        tables = LedgerTables(ledger_dsn, 1, LEDGER_CIPHER, is_cached=True)
        ledger = EngineLedger(tables, _DAY)
        await ledger.open()
        try:
            await _drawn(ledger._cached, "bob", _question(3))
            told.extend(json.loads(await tables.budget("ann")))
        finally:
            await ledger.close()

    asyncio.run(use())
    (everybody,) = [line for line in told if line["analyst"] == "(everybody together)"]
    assert everybody["epsilon_spent"] == everybody["epsilon_limit"] * 3 / 20  # type: ignore[operator]
    exact = rows(ledger_dsn, "SELECT rho FROM ledger.balance WHERE kind = 'total'")[0][0]
    assert exact > 0 and everybody["rho_limit"] is None and everybody["rho_spent"] is None
