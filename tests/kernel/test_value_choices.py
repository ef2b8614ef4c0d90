"""Bounds on values of units: plans that do not pay for them, or name them twice, are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from proxy.kernel.plan_check import check_plan, price_of_block
from proxy.planner.loss_events import loss_events

from proxy.kernel import plan_check
from proxy.kernel.bound_choices import ValueChoice
from proxy.kernel.plan import BlockPlan, NoisyStatistic, PrivatePlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.statistics import Counted
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from tests.audit.test_private_bounds import chosen_by_choice
from tests.kernel.test_weakened_kernel import Weakened
from tests.pipeline_world import CATALOG, POLICIES, walk

_POLICY = chosen_by_choice(POLICIES["best"])
_WORLD = World(_POLICY, CATALOG)


def _plan(select: str = "avg(t)") -> PrivatePlan:
    text = (
        f"SELECT {select} FROM (SELECT uid, sum(i4) AS t, count(*) AS n FROM orders GROUP BY uid) q"
    )
    found = walk(text, _POLICY)
    assert found is not None
    return found.plan


def _refused(block: BlockPlan) -> Rule:
    with pytest.raises(NotPrivate) as refused:
        price_of_block(block, _WORLD)
    return refused.value.rule


def _with(block: BlockPlan, one: ValueChoice) -> BlockPlan:
    return replace(block, value_choices=(one,))


def _unpaid() -> PrivatePlan:
    """The same plan, which states and charges the loss of its mean alone."""
    plan = _plan()
    (block,) = plan.blocks
    return replace(plan, loss=block.releases[0].loss)


def test_a_choice_is_paid() -> None:
    plan = _unpaid()
    (block,) = plan.blocks
    with pytest.raises(NotPrivate) as refused:
        check_plan(
            plan, loss_events(replace(plan, blocks=(replace(block, value_choices=()),))), _WORLD
        )
    assert refused.value.rule is Rule.PRICE


def test_a_kernel_that_takes_no_price_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _unpaid()
    events = loss_events(replace(plan, blocks=(replace(plan.blocks[0], value_choices=()),)))
    weak = Weakened(
        function=plan_check.price_of_block,
        was="prices += [price_of_value_choice(one, shape) for one in block.value_choices]",
        now="pass",
    )
    weak.put(monkeypatch)
    check_plan(replace(plan, blocks=plan.blocks), events, _WORLD)


def test_a_choice_walks_bounds_of_its_own_and_reports_with_noise() -> None:
    (block,) = _plan().blocks
    (one,) = block.value_choices
    quiet = replace(one.choice, report_scale=one.choice.report_scale / 2)
    assert _refused(_with(block, replace(one, choice=quiet))) is Rule.CHOSEN_BOUND
    free = replace(one.choice, walk=Loss(Fraction(0), Fraction(0)))
    assert _refused(_with(block, replace(one, choice=free))) is Rule.CHOSEN_BOUND
    given = replace(one.choice, is_given=True)
    assert _refused(_with(block, replace(one, choice=given))) is Rule.CHOSEN_VALUE
    assert _refused(_with(block, replace(one, bound=-3))) is Rule.CHOSEN_VALUE


def test_two_choices_have_two_names() -> None:
    (block,) = _plan("avg(t), avg(n)").blocks
    one, other = block.value_choices
    both = (one, replace(other, number=one.number))
    assert _refused(replace(block, value_choices=both)) is Rule.CHOSEN_VALUE


def test_an_operand_is_of_the_row() -> None:
    """Of another relation it is not."""
    (block,) = _plan().blocks
    (one,) = block.value_choices
    lost = walk("SELECT sum(i4) FROM visits", POLICIES["best"])
    assert lost is not None
    (foreign,) = lost.plan.blocks[0].releases
    assert isinstance(foreign, NoisyStatistic) and not isinstance(foreign.of, Counted)
    assert _refused(_with(block, replace(one, measured=foreign.of[0]))) is Rule.EXPRESSION
