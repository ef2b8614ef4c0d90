"""A plan with a chosen bound costs no more than what was charged, in each currency: mechanisms, noise, epsilon,
delta and bounds crosswise. No database is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

import pytest

from proxy.accounting.events import check
from proxy.base.errors import Refusal
from proxy.kernel import checked_plan
from proxy.kernel.block_price import price_of_block
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.price import Price
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.ledger.pld_report import pld_epsilon
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.rho_of_noise import rho_of_pure
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import Planned, planned
from proxy.policy.policy_model import IdentifierUnit, Mechanism, Noise, Policy, ProtectedTable
from proxy.query.ir.binding import bind
from proxy.query.ir.query import Query
from tests.pipeline_world import CATALOG, KNOWN_HELD, KNOWN_PUBLIC, POLICIES, read, walk
from tests.postgres_labels import POSTGRES_LABELS

_STATEMENTS = (
    "SELECT count(*) FROM visits",
    "SELECT sum(i4) FROM visits",
    "SELECT sum(b::int) FROM visits",
    "SELECT count(*), variance(i4), sum(n2) FROM visits",
    "SELECT avg(i4) FROM visits",
    "SELECT max(i4), percentile_cont(0.5) WITHIN GROUP (ORDER BY n2) FROM visits",
    "SELECT count(DISTINCT i4), count(DISTINCT uid) FROM visits",
    "SELECT b, count(*), sum(i4), count(DISTINCT uid) FROM visits GROUP BY b",
    "SELECT t, avg(i4), count(DISTINCT s) FROM orders GROUP BY t",
    "SELECT s, count(*), sum(i4) FROM visits GROUP BY s",
    "SELECT count(*), sum(o.i4) FROM orders o JOIN visits v ON o.uid = v.uid",
    "SELECT count(*), sum(t), avg(n) FROM (SELECT uid, sum(i4) AS t, count(*) AS n FROM visits GROUP BY uid) q",
    "SELECT k, avg(t), sum(t) FROM (SELECT uid, t AS k, sum(i4) AS t FROM visits GROUP BY uid, t) q GROUP BY k",
)
_EPSILONS = ("2", "0.1", "8")
_PLACES = (0, 5, 200)


def _policy(epsilon: str, mechanism: Mechanism, noise: Noise, *, per_unit: bool) -> Policy:
    base = POLICIES["best"]

    def table(one: object) -> object:
        if not (isinstance(one, ProtectedTable) and isinstance(one.unit, IdentifierUnit)):
            return one
        if per_unit:  # totals alone have bounds that are chosen
            columns = {
                n: replace(c, chooses_per_unit=c.bounds is not None) for n, c in one.columns.items()
            }
            return replace(one, columns=columns)
        return replace(one, chooses_rows=True, max_rows_per_unit=10_000, join_rows_at_most=50)

    privacy = replace(
        base.privacy,
        epsilon=Fraction(epsilon),
        delta=Fraction(1, 10**5),
        max_epsilon=Fraction(100),
        mechanism=mechanism,
        noise=noise,
    )
    tables = {name: table(one) for name, one in base.tables.items()}
    return replace(base, privacy=privacy, tables=tables)  # type: ignore[arg-type]


def _planned(text: str, policy: Policy) -> Planned:
    found = read(text)
    assert found is not None
    query = found[1].query
    bound = Query(tuple(bind(block, {}) for block in query.blocks), query.scalars)
    known = PlanningContext(
        policy, CATALOG, KNOWN_PUBLIC, bounds=KNOWN_HELD, evaluating=POSTGRES_LABELS
    )
    return planned(bound, known, Loss(policy.privacy.epsilon, policy.privacy.delta))


def _plans(epsilon: str) -> Iterator[tuple[str, Planned]]:
    for mechanism, noise, per_unit in product(Mechanism, Noise, (False, True)):
        policy = _policy(epsilon, mechanism, noise, per_unit=per_unit)
        for statement in _STATEMENTS:
            try:
                plan = _planned(statement, policy)
            except Refusal:  # too little epsilon for a median, or groups without a bound
                continue
            if any(block.chooses for block in plan.private.blocks):
                label = f"{statement}: {mechanism.value}, {noise.value}, {epsilon}, {per_unit}"
                yield label, plan


def _bounded(plan: Planned) -> Iterator[tuple[CheckedBlock, CheckedBlock]]:
    """Each block, as it is charged and with bounds."""
    for number, charged in enumerate(plan.checked.blocks):
        for place in _PLACES:
            chosen = {
                release: choice.bounds[min(place, len(choice.bounds) - 1)]
                for release, choice in charged.block.choices.items()
                if not choice.is_given
            }
            if chosen:
                yield charged, plan.bounded(number, chosen)


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("epsilon", _EPSILONS)
def test_no_bound_costs_more_than_was_charged(epsilon: str) -> None:
    plans = mixed = tight = 0
    for label, plan in _plans(epsilon):
        plans += 1
        world = World(plan.known.policy, CATALOG)
        for block, bounded in _bounded(plan):
            charged, drawn = block.price, bounded.price
            check(charged.events)
            assert charged.covers(drawn), label
            again = price_of_block(bounded.block, world)
            assert charged == again, "no bound changes what is charged"
            mixed += drawn.gaussian_delta > 0
            tight += charged.rho - drawn.rho < charged.rho / 10**6
    assert plans > 30
    assert mixed > 30, "Gaussian noise is among them"
    assert tight > 30, "the least bound costs all that was charged"


def test_pld_reports_cover_the_noise_that_is_drawn() -> None:
    pytest.importorskip("dp_accounting")
    policy = _policy("2", Mechanism.BEST, Noise.LAPLACE, per_unit=False)
    blocks = list(_bounded(_planned("SELECT count(*) FROM visits", policy)))
    of_charge = [block.price.events for block, _ in blocks]
    of_noise = [bounded.price.events for _, bounded in blocks]
    for pair in zip(of_charge, of_noise, strict=True):
        charged, drawn = (
            pld_epsilon([(event, 30) for event in found], Fraction(1, 10**4)) for found in pair
        )
        assert charged is not None and drawn is not None
        assert charged >= drawn * (1 - 1e-6)


def test_events_of_the_largest_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was charged before: the noise of a smaller bound costs up to 1.22 times that in rho."""
    monkeypatch.setattr(checked_plan, "price_of_block", partial(price_of_block, is_bounded=True))
    policy = _policy("2", Mechanism.BEST, Noise.LAPLACE, per_unit=False)
    plan = _planned("SELECT count(*) FROM visits", policy)
    monkeypatch.undo()
    with pytest.raises(NotPrivate) as refused:
        list(_bounded(plan))
    assert refused.value.rule is Rule.PRICE


def test_a_choice_that_is_given_is_charged_by_its_noise() -> None:
    """Bounds of the policy do not move, so that less can be charged."""
    pipeline = walk("SELECT count(*) FROM visits", POLICIES["best"])
    assert pipeline is not None
    price = pipeline.checked.price
    assert [event["kind"] for event in price.events] == ["dlaplace"]
    assert price.rho < rho_of_pure(Fraction(8))


@pytest.mark.parametrize("currency", ["epsilon", "rho", "delta", "gaussian_delta"])
def test_each_currency_is_compared(currency: str) -> None:
    each = dict.fromkeys(("epsilon", "rho", "delta", "gaussian_delta"), Fraction(1))
    one = Price(**each)  # type: ignore[arg-type]
    more = replace(one, **{currency: Fraction(2)})  # type: ignore[arg-type]
    assert one.covers(one) and more.covers(one)
    assert not one.covers(more)
