"""Only the kernel makes what is compiled, charged and drawn. What a charge pays for: tests/drawing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import proxy
from proxy.base import limits
from proxy.base.errors import Fault
from proxy.kernel import checked_plan
from proxy.kernel.block_price import price_of_block
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.checked_plan import (
    CheckedBlock,
    CheckedPlan,
    check_bounded,
    check_centred,
    check_plan,
)
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    LaplaceNoise,
    NoisyStatistic,
    Release,
    with_centres,
)
from proxy.kernel.price import NOTHING_PAID, Price
from proxy.kernel.proposal_check import CheckedProposals
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.sensitivities import laplace, of_sum, of_total
from proxy.kernel.shape import shape_of
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.kernel.work import TooMuchWork
from proxy.mechanisms.deviation_mean import NoisyCentres
from proxy.mechanisms.loss import Loss
from proxy.planner.bound_proposals import proposal_plan
from proxy.planner.facts import PlanningContext
from proxy.policy.policy_model import Bounds
from tests.engine.test_order import Recorder, ask, asked
from tests.kernel.examples import (
    WORLD,
    distinct_count,
    key_plan,
    scan,
    value_choice,
    weight_choice,
)
from tests.pipeline_world import CATALOG, POLICIES, walk
from tests.unchecked_blocks import louder

_COUNT = "SELECT count(*) FROM people WHERE i4 > 3"
_ROOT = Path(proxy.__file__).parent
_MAKERS = {
    "CheckedBlock": "kernel/checked_plan.py",
    "CheckedPlan": "kernel/checked_plan.py",
    "CheckedProposals": "kernel/proposal_check.py",
    "CompiledQuery": "compiler/compiling.py",
    "PublicList": "compiler/backend_query.py",
    "CompiledBlock": "drawing/compiled_blocks.py",
    "Charge": "drawing/charges.py",
    "PaidBlock": "drawing/charges.py",
    "PaidQuery": "drawing/charges.py",
}


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
    yield lambda: CheckedBlock(
        block=block.block, price=block.price, tables=(), world=WORLD, made=object()
    )
    yield lambda: CheckedPlan(
        blocks=(block,), price=plan.price, tables={}, private=plan.private, made=None
    )
    yield lambda: CheckedProposals(
        proposed=proposals.proposed, price=NOTHING_PAID, tables={}, world=WORLD, made=object()
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
            if name != _MAKERS.get(found, name):
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
    assert set(names) >= set(_MAKERS.values())
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
        "Charge(receipt=None, plan=plan, price=price)",
        "charges.PaidQuery(query=query, made=None)",
        "CompiledQuery(sql='TABLE people')",
        "PublicList('l1', 'TABLE people', ())",
        "object.__setattr__(block, 'price', price)",
        "block = object.__new__(kind)",
    ],
)
def test_what_would_make_one_is_seen(text: str) -> None:
    assert _found(ast.parse(text), "engine/noisy_answers.py")


_OF_NOISE = {"scale_for", "sigma2_for", "per_unit", "per_group"}


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


def _chosen() -> CheckedPlan:
    pipeline = walk("SELECT sum(i4) FROM visits", POLICIES["chosen"])
    assert pipeline is not None and pipeline.plan.blocks[0].chooses
    return pipeline.checked


def test_another_question_has_no_bounds_of_this_one() -> None:
    plan = _chosen()
    other = walk("SELECT sum(i4) FROM visits WHERE i4 > 3", POLICIES["chosen"])
    assert other is not None
    with pytest.raises(NotPrivate) as refused:
        check_bounded(other.plan.blocks[0], plan.blocks[0])
    assert refused.value.rule is Rule.PRICE


_OTHER_BLOCKS: dict[str, tuple[str, Callable[[BlockPlan], BlockPlan]]] = {
    "another table": (
        "another question than was charged",
        lambda block: replace(block, source=scan("r1", "calls")),
    ),
    "a key": (
        "another question than was charged",
        lambda block: replace(block, keys=(key_plan("i2", ("1",)),)),
    ),
    "combinations of keys": (
        "another question than was charged",
        lambda block: replace(block, combinations=()),
    ),
    "a choice of values": (
        "other choices of bounds than were drawn",
        lambda block: replace(block, value_choices=(value_choice(Fraction(1)),)),
    ),
    "a choice of weights": (
        "other choices of bounds than were drawn",
        lambda block: replace(block, weight_choice=weight_choice(Fraction(10))),
    ),
    "a larger loss": ("a bound that made it dearer", lambda block: _dearer(block)),
    "a further release": (
        "other sums than were read with the totals of units",
        lambda block: replace(block, releases=(*block.releases, distinct_count(of_unit=True))),
    ),
}


def _dearer(block: BlockPlan) -> BlockPlan:
    """For twice the loss, with noise that is enough for it."""
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic)
    twice = Loss(release.loss.epsilon * 2, release.loss.delta)
    return replace(block, releases=(replace(release, loss=twice),))


@pytest.mark.parametrize("name", _OTHER_BLOCKS)
def test_one_condition_refuses_another_block_than_was_charged(name: str) -> None:
    where, change = _OTHER_BLOCKS[name]
    (charged,) = _chosen().blocks
    with pytest.raises(NotPrivate) as refused:
        check_bounded(change(charged.block), charged)
    assert refused.value.where == where


def test_a_bound_that_is_chosen_has_its_own_price() -> None:
    """Before it is chosen rho is that of any mechanism with this loss."""
    (charged,) = _chosen().blocks
    bounded = check_bounded(charged.block, charged)
    assert bounded.price.epsilon == charged.price.epsilon
    assert bounded.price.rho < charged.price.rho
    assert bounded.paid is charged and bounded.tables == charged.tables


def _forgetting_the_choice(block: BlockPlan, epsilon: Fraction) -> BlockPlan:
    """The block as if its bound had been given: with noise for more than was left for it."""
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic) and release.total is not None
    total = replace(release.total, choice=None)
    scale = Fraction(total.most * total.parts) / epsilon
    given = replace(
        release,
        total=total,
        noise=LaplaceNoise(scale=scale),
        loss=Loss(epsilon, Fraction(0)),
    )
    return replace(block, releases=(given,))


def test_a_choice_that_was_drawn_is_not_forgotten() -> None:
    """All of the charge would be spent on noise, and the choice was drawn on top."""
    plan = _chosen()
    (charged,) = plan.blocks
    (release,) = charged.block.releases
    assert isinstance(release, NoisyStatistic) and release.choice is not None
    for epsilon in (release.noise_loss.epsilon, charged.price.epsilon):
        bounded = _forgetting_the_choice(charged.block, epsilon)
        assert charged.price.covers(price_of_block(bounded, charged.world, is_bounded=True))
        with pytest.raises(NotPrivate) as refused:
            check_bounded(bounded, charged)
        assert refused.value.rule is Rule.PRICE
        assert "choices" in refused.value.where


def _narrow(measured: Measured) -> Measured:
    return replace(measured, clamp=Bounds(Fraction(0), measured.grid))


def _of_narrow_values(block: BlockPlan) -> BlockPlan:
    """What is measured as of values within a step, with the noise for these."""
    releases: list[Release] = []
    for release in block.releases:
        if isinstance(release, NoisyStatistic) and release.total is None:
            of = release.of if isinstance(release.of, Counted) else tuple(map(_narrow, release.of))
            moved = of_sum(shape_of(block), release.statistic, of)
            release = replace(release, of=of, noise=laplace(moved, release.loss.epsilon))
        elif isinstance(release, DeviationMean):
            release = replace(release, measured=_narrow(release.measured))
        releases.append(release)
    return replace(block, releases=tuple(releases))


@pytest.mark.parametrize("answers", ["covar_pop(i4, i2)", "avg(i4), count(*)"])
def test_what_was_read_before_its_bound_gets_the_noise_for_it(answers: str) -> None:
    """It is of the values of the plan that was charged, and is not read again."""
    pipeline = walk(f"SELECT {answers} FROM visits", POLICIES["chosen"])
    assert pipeline is not None
    (charged,) = pipeline.checked.blocks
    assert charged.block.is_of_totals and charged.block.chooses
    narrow = _of_narrow_values(charged.block)
    assert narrow != charged.block
    assert charged.price.covers(price_of_block(narrow, charged.world, is_bounded=True))
    with pytest.raises(NotPrivate) as refused:
        check_bounded(narrow, charged)
    assert refused.value.rule is Rule.PRICE
    assert "sums" in refused.value.where
    check_bounded(charged.block, charged)


def test_a_mean_that_was_not_read_has_no_bound() -> None:
    """What is read with the totals of units is numbered by how many means there are: the squares of one would
    be the rows of the next."""
    pipeline = walk("SELECT count(*), variance(i4) FROM visits", POLICIES["chosen"])
    assert pipeline is not None
    (charged,) = pipeline.checked.blocks
    count, mean = charged.block.releases
    assert charged.block.is_of_totals and isinstance(count, NoisyStatistic) and count.choice
    half = Loss(count.noise_loss.epsilon / 2, Fraction(0))
    assert count.total is not None
    total = replace(count.total, high=count.choice.bounds[0])
    noise = laplace(of_total(total), half.epsilon)
    count = replace(count, total=total, noise=noise, loss=half + count.choice.loss)
    check_bounded(replace(charged.block, releases=(count, mean)), charged)
    more = replace(charged.block, releases=(count, mean, replace(mean, loss=half)))
    assert charged.price.covers(price_of_block(more, charged.world, is_bounded=True))
    with pytest.raises(NotPrivate) as refused:
        check_bounded(more, charged)
    assert refused.value.where == "other sums than were read with the totals of units"


def test_a_sum_that_was_read_with_others_gets_no_cut_of_its_own() -> None:
    """It was read as of rows."""
    pipeline = walk("SELECT covar_pop(i4, i2) FROM visits", POLICIES["chosen"])
    assert pipeline is not None
    (charged,) = pipeline.checked.blocks
    (number, *_) = charged.block.sums_of_totals
    release = charged.block.releases[number]
    assert isinstance(release, NoisyStatistic)
    total = UnitTotal(low=-1, high=1, parts=1, choice=None)
    cut = replace(release, total=total, noise=laplace(of_total(total), release.loss.epsilon))
    releases = (*charged.block.releases[:number], cut, *charged.block.releases[number + 1 :])
    with pytest.raises(NotPrivate) as refused:
        check_bounded(replace(charged.block, releases=releases), charged)
    assert refused.value.where == "other sums than were read with the totals of units"


def _other_statistic(release: Release) -> Release:
    is_sum = isinstance(release, NoisyStatistic) and release.statistic is Statistic.CENTRED
    return replace(release, statistic=Statistic.SQUARES) if is_sum else release  # type: ignore[arg-type]


def _of_units(release: Release) -> Release:
    return distinct_count(of_unit=True) if isinstance(release, NoisyStatistic) else release


@pytest.mark.parametrize("change", [_other_statistic, _of_units])
def test_what_was_read_before_its_bound_is_of_the_same_rows(
    change: Callable[[Release], Release],
) -> None:
    pipeline = walk("SELECT covar_pop(i4, i2) FROM visits", POLICIES["chosen"])
    assert pipeline is not None
    (charged,) = pipeline.checked.blocks
    other = _releases(charged.block, change)
    assert charged.block.sums_of_totals and other != charged.block
    with pytest.raises(NotPrivate) as refused:
        check_bounded(other, charged)
    assert refused.value.where == "other sums than were read with the totals of units"


def test_a_changed_block_is_checked_again_and_has_a_price_of_its_own() -> None:
    plan = _checked()
    changed = check_plan([louder(plan.blocks[0].block)], plan.loss, WORLD)
    assert changed.price.rho < plan.price.rho


def test_sums_that_were_read_have_as_many_rows_as_their_bound_lets_count() -> None:
    """How many that are is no part of what was read."""

    def of_other_rows(release: Release) -> Release:
        if not isinstance(release, NoisyStatistic) or isinstance(release.of, Counted):
            return release
        return replace(release, of=tuple(replace(one, rows=one.rows + 1) for one in release.of))

    pipeline = walk("SELECT covar_pop(i4, i2) FROM visits", POLICIES["chosen"])
    assert pipeline is not None
    (charged,) = pipeline.checked.blocks
    bounded = _releases(charged.block, of_other_rows)
    assert bounded != charged.block
    check_bounded(bounded, charged)


def test_rows_that_take_too_long_are_refused_before_and_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = _chosen()
    (charged,) = plan.blocks
    monkeypatch.setattr(limits, "UNIT_NANOSECONDS", 0)
    with pytest.raises(TooMuchWork):
        check_plan([charged.block], plan.loss, charged.world)
    with pytest.raises(Fault):
        check_bounded(charged.block, charged)


def test_what_is_no_number_is_refused_before_it_is_compared() -> None:
    block = _checked().blocks[0].block
    odd = replace(block, sub_partitions=1.5)  # type: ignore[arg-type]
    with pytest.raises(NotPrivate) as refused:
        check_plan([odd], _checked().loss, WORLD)
    assert refused.value.where == "a part of another type"


def test_what_costs_more_than_the_statement_may_is_refused() -> None:
    plan = _checked()
    less = Loss(plan.loss.epsilon - Fraction(1, 10**9), plan.loss.delta)
    with pytest.raises(NotPrivate) as refused:
        check_plan([one.block for one in plan.blocks], less, WORLD)
    assert refused.value.rule is Rule.PRICE and len(refused.value.digest) == 64


def test_what_is_charged_is_the_price_of_the_plan() -> None:
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)
    plan = engine.checked(question, {})
    ask(recorder, _COUNT)
    assert recorder.charged == [plan.loss] == [plan.price.loss]
    assert plan.price.events and Price(epsilon=plan.loss.epsilon).epsilon == plan.price.epsilon


def _awaiting() -> tuple[CheckedBlock, int, NoisyCentres]:
    """A count and a mean of deviations, the number of the mean, and centres that it may have."""
    pipeline = walk("SELECT t, count(*), avg(i4) FROM orders GROUP BY t", POLICIES["best"])
    assert pipeline is not None
    (of,) = pipeline.checked.blocks
    ((number, mean),) = of.block.deviation_means.items()
    groups = len(of.block.listed_groups)
    centres = NoisyCentres(
        units=100,
        is_few=False,
        is_single=False,
        rows=mean.declared or 2,
        lost_rows=0,
        weights=(2**20,) * groups,
        sums=(0,) * groups,
        centres=(0,) * groups,
    )
    return of, number, centres


def _releases(block: BlockPlan, change: Callable[[Release], Release]) -> BlockPlan:
    return replace(block, releases=tuple(map(change, block.releases)))


_OTHERS: dict[str, Callable[[int, NoisyCentres], Mapping[int, NoisyCentres]]] = {
    "centres of another release": lambda number, one: {number: one, number + 1: one},
    "centres of fewer groups": lambda number, one: {number: replace(one, centres=one.centres[1:])},
    "a bound below 1": lambda number, one: {number: replace(one, rows=0)},
}


def test_a_block_with_its_centres_passes_at_its_price() -> None:
    of, number, centres = _awaiting()
    found = check_centred({number: centres}, of)
    assert found.block == with_centres(of.block, {number: centres}) and found.price is of.price
    assert found.block.deviation_means[number].centres is centres and found.tables == of.tables
    assert found.world is of.world and found.paid is of.paid


@pytest.mark.parametrize("name", _OTHERS)
def test_other_centres_than_a_block_waits_for_are_refused(name: str) -> None:
    of, number, centres = _awaiting()
    with pytest.raises(NotPrivate) as refused:
        check_centred(_OTHERS[name](number, centres), of)
    assert refused.value.rule is Rule.DEVIATION_MEAN and refused.value.digest


def test_a_block_gets_centres_once() -> None:
    """They would be paid once and drawn twice."""
    of, number, centres = _awaiting()
    with pytest.raises(NotPrivate):
        check_centred({number: centres}, check_centred({number: centres}, of))


def test_other_sums_are_never_alike() -> None:
    """Of what is not known here nothing was read with the totals of units."""
    unknown: Any = object()
    with pytest.raises(NotPrivate) as refused:
        checked_plan._of_any_rows(unknown)
    assert refused.value.rule is Rule.PRICE


def test_tables_of_people_alone_are_charged() -> None:
    assert set(
        _checked("SELECT count(*) FROM visits JOIN rates ON visits.i8 = rates.k").tables
    ) == {"w.visits"}
