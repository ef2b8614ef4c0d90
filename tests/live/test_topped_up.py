"""What is asked for again, more exactly: what is missing is bought, and no more (engine/topped_up.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from proxy.cli.assembly import assemble
from proxy.ledger.cached_claims import CachedClaims
from proxy.policy.policy_model import Accounting, Noise, Policy
from tests.ledger_key import LEDGER_CIPHER
from tests.live.cached_tables import SCRIPT, without_people
from tests.live.served_database import served_database
from tests.live.session_answers import answers_to, exact_answer, total_paid
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

DATABASE = "topped_up"
_TABLES = """\
accounting: zcdp
reuse: {for: 24h, top_up: on}
tables:
  k.people:
    unit: row
    columns:
      age: {bounds: [0, 120]}
      sex: {values: [f, m]}
  k.orders:
    unit: {customer: customer}
    max_rows_per_unit: 3
    columns:
      region: {values: [north, south, east]}
      city: {}
      amount: {bounds: [0, 100]}
"""


@pytest.fixture(scope="module")
def served() -> Iterator[LiveProxy]:
    pair = servers()
    # As the privacy part of a policy says it.
    found = served_database(pair, DATABASE, SCRIPT, _TABLES, "auto, noise: gaussian", most="100")
    proxy = start_proxy(pair, [found])
    yield proxy
    proxy.stop()


def _plan(proxy: LiveProxy, analyst: str, text: str, **more: str) -> dict[str, Any]:
    (((found,),),) = answers_to(proxy, analyst, f"EXPLAIN (FORMAT JSON) {text}", **more)
    plan = found if isinstance(found, list) else json.loads(found)
    return dict(plan[0])


def _price(plan: dict[str, Any]) -> float:
    """Of the one block, as EXPLAIN says it."""
    (block,) = plan["blocks"]
    assert "free" not in block
    return float(block.get("topped_up", plan["privacy"])["epsilon"])


def _receipts(proxy: LiveProxy, analyst: str) -> list[tuple[Fraction, Fraction]]:
    """Epsilon and rho of each."""
    lease = proxy.assembly.databases[DATABASE].lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        rows = connection.execute(
            "SELECT epsilon, (SELECT sum((e ->> 'rho')::numeric) FROM jsonb_array_elements(events) e)"
            " FROM ledger.receipt WHERE source = %s AND analyst = %s ORDER BY id",
            (lease.source, analyst),
        ).fetchall()
    return [(Fraction(epsilon), Fraction(rho)) for epsilon, rho in rows]


def _paid(proxy: LiveProxy, analyst: str) -> float:
    return proxy.when_settled(analyst)[1]


_COUNT = "SELECT count(*) FROM k.people WHERE age > {}"
_BOTH = "SELECT sex, count(*), sum(age) FROM k.people WHERE age > {} GROUP BY sex ORDER BY sex"


def test_what_is_missing_is_paid(served: LiveProxy) -> None:
    """As EXPLAIN says, less than afresh in epsilon and rho; together no more rho than afresh, but for what
    rounding costs."""
    analyst, other, text = (
        served.servers.new_analyst(),
        served.servers.new_analyst(),
        _BOTH.format(21),
    )
    answers_to(served, analyst, text, epsilon="1")
    plan = _plan(served, analyst, text, epsilon="2")
    lines = str(answers_to(served, analyst, f"EXPLAIN {text}", epsilon="2"))
    assert "Topped up: an answer of 2 groups that you have been shown, and what is missing" in lines
    found = answers_to(served, analyst, text, text, epsilon="2")
    answers_to(served, other, text, epsilon="2")
    (_, first_rho), (epsilon, rho), *rest = _receipts(served, analyst)
    ((fresh_epsilon, fresh_rho),) = _receipts(served, other)
    assert rest == [], "asked again it costs nothing"
    assert float(epsilon) == pytest.approx(_price(plan)) and epsilon < fresh_epsilon == 2
    assert rho < fresh_rho <= first_rho + rho < fresh_rho * Fraction(104, 100)
    assert found[0] == found[1]
    assert answers_to(served, analyst, text, epsilon="0.5") == found[:1], (
        "the more exact one serves"
    )


def test_the_analyst_is_told_what_was_charged(served: LiveProxy) -> None:
    analyst, text = served.servers.new_analyst(), _COUNT.format(22)
    answers_to(served, analyst, text)
    price = _price(_plan(served, analyst, text, epsilon="2"))
    answers_to(served, analyst, text, epsilon="2")
    own = "SELECT epsilon_spent FROM dp.budget WHERE analyst = current_user"
    history, spent = answers_to(served, analyst, "SELECT epsilon FROM dp.history ORDER BY at", own)
    assert [float(one) for (one,) in history] == pytest.approx([1, price])
    assert float(spent[0][0]) == pytest.approx(1 + price)


# Less exactly first, then more: the same, part of it, more groups than are asked for, more than was there.
_LATER = (
    (_COUNT.format(23), _COUNT.format(23)),
    (_BOTH.format(24), _BOTH.format(24)),
    (_BOTH.format(25), "SELECT sum(age) FROM k.people WHERE age > 25 AND sex = 'f'"),
    (
        "SELECT count(*) FROM k.people WHERE age > 26",
        "SELECT count(*), sum(age) FROM k.people WHERE age > 26",
    ),
    (
        "SELECT count(*) FILTER (WHERE sex = 'm') FROM k.people WHERE age > 27",
        "SELECT count(*) FILTER (WHERE sex = 'm') FROM k.people WHERE age > 27",
    ),
    (
        "SELECT region, count(*), sum(amount) FROM k.orders WHERE amount > 9 GROUP BY 1 ORDER BY 1",
        "SELECT region, count(*), sum(amount) FROM k.orders WHERE amount > 9 GROUP BY 1 ORDER BY 1",
    ),
    (
        "SELECT region, count(DISTINCT customer) FROM k.orders GROUP BY 1 ORDER BY 1",
        "SELECT region, count(DISTINCT customer) FROM k.orders GROUP BY 1 ORDER BY 1",
    ),
)


@pytest.mark.every(2)
@pytest.mark.parametrize(("first", "later"), _LATER)
def test_it_says_what_postgresql_says(served: LiveProxy, first: str, later: str) -> None:
    """But for six standard deviations of what is stated."""
    analyst = served.servers.new_analyst()
    answers_to(served, analyst, first, epsilon="2")
    plan = _plan(served, analyst, later, epsilon="5")
    assert "topped_up" in plan["blocks"][0], plan
    (found,) = answers_to(served, analyst, later, epsilon="5")
    assert _paid(served, analyst) == pytest.approx(2 + _price(plan))
    exact = exact_answer(served, later)
    errors = [one["error_95"] for one in plan["aggregates"]]
    for noisy, row in zip(found, exact, strict=True):
        assert noisy[: len(row) - len(errors)] == row[: len(row) - len(errors)]
        numbers = zip(noisy[-len(errors) :], row[-len(errors) :], errors, strict=True)
        assert all(abs(float(a) - float(b)) <= 3.1 * error + 1 for a, b, error in numbers)


def test_the_error_is_that_of_what_was_wanted(served: LiveProxy) -> None:
    first, second = served.servers.new_analyst(), served.servers.new_analyst()
    text = "SELECT sum(age), dp.error(sum(age)) FROM k.people WHERE age > 28"
    before = answers_to(served, first, text, epsilon="1")[0][0][1]
    topped_up = answers_to(served, first, text, epsilon="3")[0][0][1]
    assert topped_up == answers_to(served, second, text, epsilon="3")[0][0][1] < before


def test_it_is_topped_up_in_its_turn(served: LiveProxy) -> None:
    """And others are made of it. All steps together cost hardly more rho than the last alone."""
    analyst, other, text = (
        served.servers.new_analyst(),
        served.servers.new_analyst(),
        _BOTH.format(29),
    )
    for epsilon in ("1", "2", "4"):
        answers_to(served, analyst, text, epsilon=epsilon)
    answers_to(served, other, text, epsilon="4")
    ((_, fresh),) = _receipts(served, other)
    stages = _receipts(served, analyst)
    assert len(stages) == 3
    assert fresh <= sum(rho for _, rho in stages) < fresh * Fraction(110, 100)
    paid = _paid(served, analyst)
    answers_to(
        served, analyst, "SELECT sum(age) FROM k.people WHERE age > 29 AND sex = 'm'", epsilon="1.5"
    )
    assert _paid(served, analyst) == paid


def test_only_who_has_been_shown_the_source(served: LiveProxy) -> None:
    """They pay what a miss would cost them, the shared budget nothing; others pay the whole."""
    first, second, third = (served.servers.new_analyst() for _ in range(3))
    text = _COUNT.format(30)
    source = answers_to(served, first, text)
    better = answers_to(served, first, text, epsilon="2")
    assert "topped_up" not in _plan(served, third, text, epsilon="2")["blocks"][0]
    assert answers_to(served, second, text) == source
    before, plan = total_paid(served), _plan(served, second, text, epsilon="2")
    assert "topped_up" in plan["blocks"][0]
    assert answers_to(served, second, text, epsilon="2") == better
    assert total_paid(served) == pytest.approx(before)
    assert _paid(served, first) == pytest.approx(_paid(served, second))
    assert _receipts(served, first)[1] == _receipts(served, second)[1]
    answers_to(served, third, text, epsilon="2")
    assert _paid(served, third) == pytest.approx(2)
    assert total_paid(served) == pytest.approx(before + 2)


def test_fresh_tops_up_nothing(served: LiveProxy) -> None:
    analyst, text = served.servers.new_analyst(), _COUNT.format(31)
    answers_to(served, analyst, text)
    answers_to(served, analyst, text, epsilon="2", fresh="on")
    assert _paid(served, analyst) == pytest.approx(3)
    assert "topped_up" in _plan(served, analyst, text, epsilon="2")["blocks"][0]


def _laplace(policy: Policy) -> Policy:
    return replace(policy, privacy=replace(policy.privacy, noise=Noise.LAPLACE))


def _not_said(policy: Policy) -> Policy:
    assert policy.reuse is not None and policy.reuse.tops_up
    return replace(policy, reuse=replace(policy.reuse, tops_up=False))


def _basic(policy: Policy) -> Policy:
    return replace(policy, accounting=Accounting.BASIC)


@pytest.mark.parametrize("other", [_basic, _laplace, _not_said])
def test_other_policies_draw_afresh(served: LiveProxy, other: Callable[[Policy], Policy]) -> None:
    analyst, text = served.servers.new_analyst(), _COUNT.format(32)
    here = served.assembly.databases[DATABASE]
    policy, lease = other(here.policy), served.servers.lease(here.policy)
    database = assemble(policy, here.catalog, here.shadow, lease, LEDGER_CIPHER)
    proxy = start_proxy(served.servers, [database])
    try:
        answers_to(proxy, analyst, text)
        assert "topped_up" not in _plan(proxy, analyst, text, epsilon="2")["blocks"][0]
        answers_to(proxy, analyst, text, epsilon="2")
        assert _paid(proxy, analyst) == pytest.approx(3)
    finally:
        proxy.stop()


# A choice among groups, medians, and what is made of sums with other noise.
_WHOLE = (
    "SELECT city, count(*) FROM k.orders GROUP BY city",
    "SELECT max(age) FROM k.people WHERE age < 50",
    "SELECT avg(age) FROM k.people WHERE age < 51",
    "SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM k.people WHERE age < 52",
)


@pytest.mark.parametrize("text", _WHOLE)
def test_what_is_drawn_afresh(served: LiveProxy, text: str) -> None:
    analyst = served.servers.new_analyst()
    answers_to(served, analyst, text)
    answers_to(served, analyst, text, epsilon="2")
    assert _paid(served, analyst) == pytest.approx(3)


def _to_the_slot_before(proxy: LiveProxy) -> None:
    """What was drawn last."""
    lease = proxy.assembly.databases[DATABASE].lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        connection.execute(
            "UPDATE ledger.cached SET slot = slot - interval '1 day' WHERE id ="
            " (SELECT max(id) FROM ledger.cached WHERE source = %s)",
            (lease.source,),
        )


def test_not_across_slots(served: LiveProxy) -> None:
    analyst, text = served.servers.new_analyst(), _COUNT.format(33)
    answers_to(served, analyst, text)
    _to_the_slot_before(served)
    assert "topped_up" not in _plan(served, analyst, text, epsilon="2")["blocks"][0]
    answers_to(served, analyst, text, epsilon="2")
    assert _paid(served, analyst) == pytest.approx(3)


def test_not_when_a_slot_ends_before_the_charge(
    served: LiveProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was charged for the top-up is spent, and the answer is of one slot nonetheless."""
    analyst, text = served.servers.new_analyst(), _COUNT.format(34)
    answers_to(served, analyst, text)
    price = _price(_plan(served, analyst, text, epsilon="2"))
    real = CachedClaims.paid_of

    async def late(self: CachedClaims, who: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        found = await real(self, who, digests)
        _to_the_slot_before(served)
        return found

    monkeypatch.setattr(CachedClaims, "paid_of", late)
    answers_to(served, analyst, text, epsilon="2")
    assert _paid(served, analyst) == pytest.approx(1 + price + 2)


def test_a_draw_that_failed_is_finished_under_its_charge(served: LiveProxy) -> None:
    """Also where a better source has been shown since."""
    analyst, text = served.servers.new_analyst(), "SELECT sum(age) FROM k.people WHERE age > 35"
    answers_to(served, analyst, text)
    plan = _plan(served, analyst, text, epsilon="4")
    price = _price(plan)
    assert "topped_up" in plan["blocks"][0]
    with without_people(served, DATABASE), pytest.raises(psycopg.Error):
        answers_to(served, analyst, text, epsilon="4")
    assert _paid(served, analyst) == pytest.approx(1 + price)
    answers_to(served, analyst, text, epsilon="2")
    paid = _paid(served, analyst)
    found = answers_to(served, analyst, text, epsilon="4")
    assert answers_to(served, analyst, text, epsilon="4") == found
    assert _paid(served, analyst) == pytest.approx(paid)


def test_what_is_paid_whole_is_not_topped_up(served: LiveProxy) -> None:
    """A fresh draw that failed, and a less exact answer since."""
    analyst, text = served.servers.new_analyst(), _COUNT.format(36)
    with without_people(served, DATABASE), pytest.raises(psycopg.Error):
        answers_to(served, analyst, text, epsilon="2")
    answers_to(served, analyst, text)
    answers_to(served, analyst, text, epsilon="2")
    assert _paid(served, analyst) == pytest.approx(3)


def test_it_is_found_behind_many_others(served: LiveProxy) -> None:
    """Only a few answers about the same rows are read: not the latest, whatever they are of."""
    analyst, where = served.servers.new_analyst(), "FROM k.people WHERE age > 37"
    answers_to(served, analyst, f"SELECT count(*) {where}")
    (found,) = answers_to(served, analyst, f"SELECT count(*) {where}", epsilon="2")
    others = [f"SELECT count(*) FILTER (WHERE age > {38 + n}) {where}" for n in range(9)]
    answers_to(served, analyst, *others)
    paid = _paid(served, analyst)
    assert answers_to(served, analyst, f"SELECT count(*) {where}", epsilon="2") == [found]
    assert _paid(served, analyst) == paid
