"""Only the kernel makes what is compiled, charged and drawn. A charge pays for the very blocks it is for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import proxy
from proxy.base.errors import Fault
from proxy.compiler.compiling import compile_block
from proxy.engine import noisy_answers
from proxy.engine.charged_queries import ChargedQueries, PlannedQuery
from proxy.engine.noisy_answers import NoCache
from proxy.kernel.checked_plan import (
    CheckedBlock,
    CheckedPlan,
    check_bounded,
    check_plan,
    refuse_unpaid,
    together,
)
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic
from proxy.kernel.price import NOTHING_PAID, Price
from proxy.kernel.proposal_check import CheckedProposals
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from proxy.planner.bound_proposals import proposal_plan
from proxy.planner.facts import PlanningContext
from tests.engine.test_order import Recorder, ask, asked
from tests.kernel.examples import WORLD
from tests.pipeline_world import CATALOG, POLICIES, walk
from tests.unchecked_blocks import unchecked

_COUNT = "SELECT count(*) FROM people WHERE i4 > 3"
_ROOT = Path(proxy.__file__).parent
_MADE = {"CheckedBlock", "CheckedPlan", "CheckedProposals"}
_MAKERS = {"kernel/checked_plan.py", "kernel/proposal_check.py"}


def _checked(text: str = _COUNT) -> CheckedPlan:
    pipeline = walk(text)
    assert pipeline is not None
    return pipeline.checked


def _proposals() -> CheckedProposals:
    policy = POLICIES["best"]
    (table,) = [one.name for one in policy.protected() if one.name.name == "orders"]
    return proposal_plan(PlanningContext(policy, CATALOG, {}), Fraction(1), table, ["i8"])


def _copies() -> Iterator[Callable[[], object]]:
    plan, proposals = _checked(), _proposals()
    (block,) = plan.blocks
    yield lambda: CheckedBlock(block=block.block, price=block.price, tables=(), made=object())
    yield lambda: CheckedPlan(
        blocks=(block,), price=plan.price, tables={}, private=plan.private, made=None
    )
    yield lambda: CheckedProposals(
        proposed=proposals.proposed, price=NOTHING_PAID, tables={}, made=object()
    )
    yield lambda: CheckedBlock(block=block.block, price=block.price, tables=())  # type: ignore[call-arg]
    yield lambda: replace(block, price=NOTHING_PAID)  # type: ignore[call-arg]
    yield lambda: replace(plan, price=NOTHING_PAID)  # type: ignore[call-arg]
    yield lambda: replace(proposals, price=NOTHING_PAID)  # type: ignore[call-arg]
    yield lambda: replace(block, price=NOTHING_PAID, made=object())


@pytest.mark.parametrize("number", range(8))
def test_nobody_else_makes_one(number: int) -> None:
    make = list(_copies())[number]
    with pytest.raises((Fault, TypeError, ValueError)):
        make()


def test_it_is_not_changed() -> None:
    block = _checked().blocks[0]
    with pytest.raises(AttributeError):
        block.price = NOTHING_PAID  # type: ignore[misc]
    assert block != _checked().blocks[0] and block != copy(block)


def _made_elsewhere(tree: ast.AST, name: str) -> Iterator[str]:
    """Names of the classes that are called, and what would get around their constructors."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            found = called.id if isinstance(called, ast.Name) else ""
            found = called.attr if isinstance(called, ast.Attribute) else found
            if found in _MADE and name not in _MAKERS:
                yield found
        of = node.attr if isinstance(node, ast.Attribute) else ""
        if of in ("__setattr__", "__new__") and not name.startswith(("base/", "pgwire/")):
            yield of
        if of == "_HERE" or (isinstance(node, ast.alias) and node.name == "_HERE"):
            yield "_HERE"


def _found(tree: ast.AST, name: str) -> list[str]:
    return [f"{name}: {one}" for one in _made_elsewhere(tree, name)]


def test_nothing_in_the_product_makes_one_outside_of_the_kernel() -> None:
    files = sorted(_ROOT.rglob("*.py"))
    names = [file.relative_to(_ROOT).as_posix() for file in files]
    assert set(names) >= _MAKERS
    found = [
        one
        for file, name in zip(files, names, strict=True)
        for one in _found(ast.parse(file.read_text()), name)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "CheckedBlock(block=one, price=two, tables=(), made=three)",
        "checked_plan.CheckedPlan(blocks=())",
        "from proxy.kernel.checked_plan import _HERE",
        "made = checked_plan._HERE",
        "object.__setattr__(block, 'price', price)",
        "block = object.__new__(kind)",
    ],
)
def test_what_would_make_one_is_seen(text: str) -> None:
    assert _found(ast.parse(text), "engine/noisy_answers.py")


_OF_NOISE = {"scale_for", "sigma2_for", "per_unit", "per_group"}
_CHARGES = {"engine/charged_queries.py", "engine/bound_proposing.py", "ledger/engine_ledger.py"}


def _called(name: str, of: str) -> Iterator[str]:
    """Functions of a module, and methods of an object, that a file calls by a name in front."""
    for node in ast.walk(ast.parse((_ROOT / name).read_text())):
        if isinstance(node, ast.Attribute) and (of == "" or ast.unparse(node.value) == of):
            yield node.attr


def test_noise_is_computed_in_the_kernel() -> None:
    """The planner chooses what is measured, and for how much. It computes no noise, and no part of a group."""
    modules = ("discrete_laplace", "discrete_gaussian", "split", "partition_selection")
    names = [file.relative_to(_ROOT).as_posix() for file in _ROOT.rglob("*.py")]
    above = [name for name in names if name.startswith(("planner/", "reuse/", "engine/"))]
    found = {(n, one) for n in above for of in modules for one in _called(n, of)}
    assert {one for one in found if one[1] in _OF_NOISE} == set()
    assert "scale_for" in set(_called("kernel/sensitivities.py", "discrete_laplace"))


def test_who_charges_is_known() -> None:
    names = {file.relative_to(_ROOT).as_posix() for file in _ROOT.rglob("*.py")}
    names -= {name for name in names if name.startswith("audit/")}  # of other things
    assert {name for name in names if "reserve" in _called(name, "")} == _CHARGES


def test_a_charge_pays_for_the_very_block() -> None:
    plan, other = _checked(), _checked()
    (block,) = plan.blocks
    refuse_unpaid(block, plan)
    refuse_unpaid(block, together([*other.blocks, block]))
    for charged in (None, other, together([])):
        with pytest.raises(Fault):
            refuse_unpaid(block, charged)


def test_what_costs_nothing_needs_no_charge() -> None:
    plan = _checked("SELECT t FROM people GROUP BY t")
    assert plan.price == NOTHING_PAID
    refuse_unpaid(plan.blocks[0], None)


def _chosen() -> CheckedPlan:
    pipeline = walk("SELECT sum(i4) FROM visits", POLICIES["chosen"])
    assert pipeline is not None and pipeline.plan.blocks[0].chooses
    return pipeline.checked


def test_the_charge_of_a_block_pays_for_its_bounds() -> None:
    plan, world = _chosen(), World(POLICIES["chosen"], CATALOG)
    (of,) = plan.blocks
    bounded = check_bounded(of.block, of, world)  # by the largest bound
    refuse_unpaid(bounded, plan)
    again = check_bounded(of.block, bounded, world)
    refuse_unpaid(again, plan)
    with pytest.raises(Fault):
        refuse_unpaid(bounded, _chosen())


def test_another_question_has_no_bounds_of_this_one() -> None:
    plan, world = _chosen(), World(POLICIES["chosen"], CATALOG)
    other = walk("SELECT sum(i4) FROM visits WHERE i4 > 3", POLICIES["chosen"])
    assert other is not None
    with pytest.raises(NotPrivate) as refused:
        check_bounded(other.plan.blocks[0], plan.blocks[0], world)
    assert refused.value.rule is Rule.PRICE


def _louder(block: BlockPlan) -> BlockPlan:
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic) and isinstance(release.noise, LaplaceNoise)
    noise = replace(release.noise, scale=release.noise.scale * 2)
    return replace(block, releases=(replace(release, noise=noise),))


def test_a_changed_block_is_checked_again_and_has_a_price_of_its_own() -> None:
    plan = _checked()
    changed = check_plan([_louder(plan.blocks[0].block)], plan.loss, WORLD)
    assert changed.price.rho < plan.price.rho
    with pytest.raises(Fault):
        refuse_unpaid(changed.blocks[0], plan)


def test_what_costs_more_than_the_statement_may_is_refused() -> None:
    plan = _checked()
    less = Loss(plan.loss.epsilon - Fraction(1, 10**9), plan.loss.delta)
    with pytest.raises(NotPrivate) as refused:
        check_plan([one.block for one in plan.blocks], less, WORLD)
    assert refused.value.rule is Rule.PRICE and len(refused.value.digest) == 64


class _Another(NoCache):
    """Hands in another block than was charged, whatever it is."""

    async def to_draw(self, number: int, block: CheckedBlock) -> CheckedBlock:
        return unchecked(_louder(block.block))


def _run_with_another(patch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    patch.setattr("proxy.engine.charged_queries._NO_CACHE", _Another())
    return recorder


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
    monkeypatch.setattr(noisy_answers, "refuse_unpaid", lambda *_: None)
    ask(recorder, _COUNT)
    assert "run" in recorder.calls


def test_nothing_is_run_that_was_not_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ChargedQueries._drawn

    def forgotten(
        self: ChargedQueries, query: PlannedQuery, paid: object, *given: object
    ) -> object:
        return real(self, query, replace(paid, plan=None), *given)  # type: ignore[arg-type, type-var]

    recorder = Recorder()
    monkeypatch.setattr(ChargedQueries, "_drawn", forgotten)
    with pytest.raises(Fault):
        ask(recorder, _COUNT)
    assert "run" not in recorder.calls


def test_what_is_drawn_is_what_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The statements of a block that is drawn instead are its own."""
    compiled = list[CheckedBlock]()

    def noted(block: CheckedBlock) -> object:
        compiled.append(block)
        return compile_block(block)

    monkeypatch.setattr(noisy_answers, "compile_block", noted)
    recorder = _run_with_another(monkeypatch)
    monkeypatch.setattr(noisy_answers, "refuse_unpaid", lambda *_: None)
    ask(recorder, _COUNT)
    assert len(compiled) == 2 and compiled[1].block == _louder(compiled[0].block)


def test_what_is_charged_is_the_price_of_the_plan() -> None:
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)
    plan = engine.checked(question, {})
    ask(recorder, _COUNT)
    assert recorder.charged == [plan.loss] == [plan.price.loss]
    assert plan.price.events and Price(epsilon=plan.loss.epsilon).epsilon == plan.price.epsilon
