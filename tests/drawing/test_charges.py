"""A charge pays for the very blocks that it is for, each once, and for no more than stands in the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.base.errors import Fault
from proxy.compiler.backend_query import BackendQuery, PublicList
from proxy.compiler.compiling import CompiledQuery, compile_block
from proxy.compiler.other_values import other_values
from proxy.drawing import drawer
from proxy.drawing.charges import Charge, PaidBlock, PaidQuery, begin_free
from proxy.drawing.compiled_blocks import CompiledBlock, compiled_block, compiled_bounded
from proxy.drawing.drawer import Drawer
from proxy.engine import charged_queries, noisy_answers
from proxy.engine.charged_queries import ChargedQueries, PlannedQuery
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan, check_bounded, together
from proxy.kernel.price import NOTHING_PAID, Price
from proxy.kernel.proposal_check import CheckedProposals
from proxy.mechanisms.loss import NOTHING
from proxy.planner.bound_proposals import proposal_plan
from proxy.planner.facts import PlanningContext
from tests.asked_by import run_of
from tests.charged_plans import charged
from tests.engine.test_order import Recorder, ask, asked
from tests.pipeline_world import CATALOG, POLICIES, walk
from tests.unchecked_blocks import louder, unchecked

_COUNT = "SELECT count(*) FROM people WHERE i4 > 3"
_TWO = "SELECT count(*), (SELECT sum(i4) FROM orders) FROM people"
_CURRENCIES = ("epsilon", "delta", "rho", "gaussian_delta")


def _checked(text: str = _COUNT, policy: str = "world") -> CheckedPlan:
    pipeline = walk(text, POLICIES[policy])
    assert pipeline is not None
    return pipeline.checked


def _written(query: BackendQuery) -> Mapping[str, Any]:
    return {name: getattr(query, name) for name in BackendQuery.__dataclass_fields__}


def test_a_charge_pays_for_the_very_block() -> None:
    plan, other = _checked(), _checked()
    (block,) = plan.blocks
    charged(plan).begin(block)
    charged(together([*other.blocks, block])).begin(block)
    for charge in (charged(other), charged(together([]))):
        with pytest.raises(Fault):
            charge.begin(block)


@pytest.mark.parametrize("times", [1, 2])
def test_a_block_is_begun_once(times: int) -> None:
    """Also where the ledger has more than it takes."""
    plan = _checked(_TWO)
    charge = charged(plan, price=sum([plan.price] * times, NOTHING_PAID))
    for block in plan.blocks:
        charge.begin(block)
    for block in plan.blocks:
        with pytest.raises(Fault):
            charge.begin(block)


def test_so_are_proposals() -> None:
    policy = POLICIES["best"]
    (table,) = [one.name for one in policy.protected() if one.name.name == "orders"]
    known = PlanningContext(policy, CATALOG, {})
    plan, other = (proposal_plan(known, Fraction(1), table, ["i8"]) for _ in range(2))
    charge = charged(plan)
    with pytest.raises(Fault):
        charge.begin(other)
    charge.begin(plan)
    with pytest.raises(Fault):
        charge.begin(plan)


def _dear() -> Price:
    """In all currencies."""
    return _with(NOTHING_PAID, *_CURRENCIES, amount=Fraction(1, 8))


def _with(price: Price, *currencies: str, amount: Fraction) -> Price:
    changes: Any = dict.fromkeys(currencies, amount)
    return replace(price, **changes)


@pytest.mark.parametrize("currency", _CURRENCIES)
def test_no_currency_may_be_less_than_the_price(currency: str) -> None:
    block = unchecked(_checked().blocks[0].block, _dear())
    plan = together([block])
    charged(plan, price=_dear()).begin(block)
    less = _with(_dear(), currency, amount=Fraction(1, 8) - Fraction(1, 10**12))
    with pytest.raises(Fault):
        charged(plan, price=less).begin(block)


@pytest.mark.parametrize("currency", _CURRENCIES)
def test_blocks_of_one_charge_add_up(currency: str) -> None:
    blocks = [unchecked(_checked().blocks[0].block, _dear()) for _ in range(2)]
    plan = together(blocks)
    less = _with(plan.price, currency, amount=Fraction(1, 4) - Fraction(1, 10**12))
    charge = charged(plan, price=less)
    charge.begin(blocks[0])
    with pytest.raises(Fault):
        charge.begin(blocks[1])


def test_what_costs_nothing_needs_no_charge() -> None:
    plan = _checked("SELECT t FROM people GROUP BY t")
    assert plan.price == NOTHING_PAID
    begin_free(plan.blocks[0])
    with pytest.raises(Fault):
        begin_free(_checked().blocks[0])


def _chosen() -> CheckedPlan:
    plan = _checked("SELECT sum(i4) FROM visits GROUP BY t", "chosen")
    assert plan.blocks[0].block.chooses
    return plan


def _bounded(of: CheckedBlock) -> CheckedBlock:
    """By the largest bound."""
    return check_bounded(of.block, of)


def test_the_charge_of_a_block_pays_for_its_bounds() -> None:
    plan = _chosen()
    bounded = _bounded(plan.blocks[0])
    paid = charged(plan).begin(plan.blocks[0])
    query, *_ = compile_block(bounded)
    assert paid.query(query, bounded).query is query
    other = _bounded(_chosen().blocks[0])
    with pytest.raises(Fault, match="not charged"):
        paid.query(compile_block(other)[0], other)


def test_a_statement_of_another_block_is_not_run() -> None:
    """Nor one of the block before its bounds are chosen, about which noise is drawn."""
    plan = _chosen()
    (of,) = plan.blocks
    bounded = _bounded(of)
    paid = charged(plan).begin(of)
    for query in (*compile_block(of), *compile_block(_checked().blocks[0])):
        with pytest.raises(Fault):
            paid.query(query, bounded)
        if query.of is not of:
            with pytest.raises(Fault):
                paid.query(query, of)


def _made_by_hand() -> Iterator[Callable[[], object]]:
    plan = _checked()
    (block,), charge = plan.blocks, charged(plan)
    (query,) = compile_block(block)
    written, compiled = BackendQuery(**_written(query)), compiled_block(block)
    yield lambda: charge.begin(block).query(written, block)
    yield lambda: CompiledQuery(**_written(query), of=block, made=object())
    yield lambda: replace(query, sql="TABLE people")  # type: ignore[call-arg]
    yield lambda: PublicList("l1", "TABLE people", (), object())
    yield lambda: PaidQuery(query=query, made=object())
    yield lambda: PaidBlock(of=block, made=object())
    yield lambda: replace(compiled, queries=())  # type: ignore[call-arg]
    yield lambda: CompiledBlock(
        block=block, choosing=None, centring=None, queries=(), made=object()
    )
    yield lambda: compiled_bounded(block)
    yield lambda: replace(charge, price=NOTHING_PAID)  # type: ignore[call-arg]
    yield lambda: Charge(
        receipt="1",
        plan=plan,
        price=plan.price,
        paid=NOTHING,
        remaining=None,
        warnings=(),
        owner=None,
        claimed=None,
        shown_at=None,
        made=object(),
    )


@pytest.mark.parametrize("number", range(11))
def test_nobody_else_makes_one(number: int) -> None:
    make = list(_made_by_hand())[number]
    with pytest.raises((Fault, TypeError, ValueError)):
        make()


def test_a_charge_is_not_copied() -> None:
    """A copy would begin each block once more."""
    plan = _checked()
    charge = charged(plan)
    charge.begin(plan.blocks[0])
    with pytest.raises(Fault):
        copy(charge).begin(plan.blocks[0])


def test_other_values_are_of_public_tables_alone() -> None:
    policy = POLICIES["world"]
    by_name = {name.name: name for name in policy.tables}
    other_values(policy, by_name["places"], "zone", ["north"])
    with pytest.raises(Fault):
        other_values(policy, by_name["people"], "t", ["x"])


# --- through the engine -------------------------------------------------------------------------------


def _run_with_another(patch: pytest.MonkeyPatch) -> Recorder:
    """Another block is handed in than was charged."""
    other = unchecked(louder(_checked().blocks[0].block))
    real: Any = noisy_answers.noisy_relation

    def with_another(*given: Any) -> object:
        *others, drawing, advice = given
        return real(*others, replace(drawing, instead={0: other}), advice)

    patch.setattr(charged_queries, "noisy_relation", with_another)
    return Recorder()


def _without_the_look(patch: pytest.MonkeyPatch) -> None:
    begin = Charge.begin
    patch.setattr(Charge, "begin", lambda _, block: begin(charged(together([block])), block))


def test_a_changed_block_is_not_run_under_the_charge_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder = _run_with_another(monkeypatch)
    with pytest.raises(Fault):
        ask(recorder, _COUNT)
    assert "reserve" in recorder.calls and "run" not in recorder.calls
    assert recorder.calls[-1] == "settle failed"


def test_without_the_look_at_the_charge_it_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = _run_with_another(monkeypatch)
    _without_the_look(monkeypatch)
    ask(recorder, _COUNT)
    assert "run" in recorder.calls


def test_nothing_is_run_that_was_not_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ChargedQueries._drawn

    def forgotten(
        self: ChargedQueries, query: PlannedQuery, paid: object, *given: object
    ) -> object:
        return real(self, query, replace(paid, charge=None), *given)  # type: ignore[arg-type, type-var]

    recorder = Recorder()
    monkeypatch.setattr(ChargedQueries, "_drawn", forgotten)
    with pytest.raises(Fault):
        ask(recorder, _COUNT)
    assert "run" not in recorder.calls


def test_a_charge_of_before_pays_for_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)
    kept = charged(engine.checked(question, {}), "receipt 1")

    async def again(*given: object) -> Charge:
        return kept

    monkeypatch.setattr(Recorder, "reserve", again)
    with pytest.raises(Fault):
        ask(recorder, _COUNT)
    assert "run" not in recorder.calls


def test_a_block_that_was_checked_against_another_policy_is_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)
    other = Drawer(replace(engine.policy), CATALOG, recorder, recorder.bits)
    monkeypatch.setattr(engine._charged, "_drawer", other)
    with pytest.raises(Fault):
        asyncio.run(engine.run(question, (), {}, run_of("alice")))
    assert "run" not in recorder.calls


def test_a_table_that_has_changed_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the engine looks at before the charge."""
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)
    monkeypatch.setattr(engine, "refuse_changed", lambda _: None)
    engine.drawer.changed = frozenset({"w.people"})
    with pytest.raises(Fault):
        asyncio.run(engine.run(question, (), {}, run_of("alice")))
    assert "run" not in recorder.calls


def test_nothing_is_read_that_a_timeout_of_the_client_could_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = ChargedQueries._answered

    async def limited(self: ChargedQueries, query: PlannedQuery, *given: Any) -> object:
        return await query.run.before_charge(60.0, real(self, query, *given))

    recorder = Recorder()
    monkeypatch.setattr(ChargedQueries, "_answered", limited)
    with pytest.raises(Fault):
        ask(recorder, _COUNT)
    assert "run" not in recorder.calls


def _proposals_of(name: str, column: str = "i8") -> CheckedProposals:
    policy = POLICIES["best"]
    (table,) = [one.name for one in policy.protected() if one.name.name == name]
    return proposal_plan(PlanningContext(policy, CATALOG, {}), Fraction(1), table, [column])


def test_proposals_of_another_policy_are_not_read() -> None:
    policy, plan, recorder = POLICIES["best"], _proposals_of("orders"), Recorder()
    for of, is_read in ((policy, True), (replace(policy), False)):
        drawn = Drawer(of, CATALOG, recorder, recorder.bits).proposed(
            charged(plan), plan, recorder, run_of("alice")
        )
        if is_read:
            assert len(asyncio.run(drawn)) == 1
            continue
        with pytest.raises(Fault):
            asyncio.run(drawn)
    assert recorder.calls == ["run"]


@pytest.mark.parametrize("changed", ["w.lines", "w.orders"])
def test_proposals_of_a_table_that_has_changed_are_not_read(changed: str) -> None:
    """Of lines, whose unit stands in the orders."""
    plan, recorder = _proposals_of("lines"), Recorder()
    drawer_of = Drawer(POLICIES["best"], CATALOG, recorder, recorder.bits)
    drawer_of.changed = frozenset({changed})
    with pytest.raises(Fault):
        asyncio.run(drawer_of.proposed(charged(plan), plan, recorder, run_of("alice")))
    assert recorder.calls == []
    drawer_of.changed = frozenset({"w.calls"})
    asyncio.run(drawer_of.proposed(charged(plan), plan, recorder, run_of("alice")))
    assert recorder.calls == ["run"]


def test_proposals_are_not_read_under_a_timeout_of_the_client() -> None:
    plan, recorder = _proposals_of("orders"), Recorder()
    drawer_of = Drawer(POLICIES["best"], CATALOG, recorder, recorder.bits)
    with pytest.raises(Fault):
        run = run_of("alice")
        drawn = drawer_of.proposed(charged(plan), plan, recorder, run)
        asyncio.run(run.before_charge(60.0, drawn))
    assert recorder.calls == []


def test_what_is_drawn_is_what_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The statements of a block that is drawn instead are its own."""
    compiled = list[CheckedBlock]()

    def noted(block: CheckedBlock) -> object:
        compiled.append(block)
        return compiled_block(block)

    monkeypatch.setattr(drawer, "compiled_block", noted)
    recorder = _run_with_another(monkeypatch)
    _without_the_look(monkeypatch)
    ask(recorder, _COUNT)
    assert len(compiled) == 1 and compiled[0].block == louder(_checked().blocks[0].block)


def test_nothing_is_read_for_a_block_that_costs_nothing() -> None:
    """Neither without a charge nor under one, whatever statements it has."""
    free = unchecked(_checked().blocks[0].block, NOTHING_PAID)
    (query,) = compile_block(free)
    for paid in (begin_free(free), charged(together([free])).begin(free)):
        with pytest.raises(Fault):
            paid.query(query, free)


@pytest.mark.parametrize("policy", ["world", "best", "chosen"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*), sum(i4), avg(i4), count(DISTINCT i4) FROM visits",
        "SELECT min(i4), max(i4) FROM visits",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM visits",
        "SELECT t, min(i4), count(*) FROM visits GROUP BY t",
    ],
)
def test_what_is_withheld_has_no_statement(text: str, policy: str) -> None:
    """But means of deviations, which the kernel lets nobody withhold."""
    block = _checked(text, policy).blocks[0].block
    numbers = set(range(len(block.releases))) - block.deviation_means.keys()
    for withheld in (set[int](), *({one} for one in numbers), numbers):
        queries = compile_block(unchecked(replace(block, withheld=frozenset(withheld))))
        read = {number for query in queries for number in query.releases}
        assert read.isdisjoint(withheld)
        assert withheld != numbers or read == block.deviation_means.keys()
