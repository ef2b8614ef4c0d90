"""Bounds on values of units: plans that do not pay for them, or name them twice, are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.kernel.block_price import price_of_block
from proxy.kernel.bound_choices import ValueChoice
from proxy.kernel.plan import BlockPlan, NoisyStatistic, PrivatePlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.statistics import Counted
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from tests.audit.test_private_bounds import chosen_by_choice
from tests.kernel.examples import WORLD, block_of, joined, of_table, value_choice
from tests.kernel.made_blocks import _measured
from tests.kernel.tiny_database import tiny_database
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


def test_a_choice_is_paid() -> None:
    """The price is that of the mean, and of the walk and the report of the choice."""
    (block,) = _plan().blocks
    (one,) = block.value_choices
    price = price_of_block(block, _WORLD)
    assert price.epsilon == block.releases[0].loss.epsilon + one.choice.loss.epsilon
    assert len(price.events) == 3


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


def test_a_value_that_nothing_else_names_is_read() -> None:
    """A side of a join hands on what is named of it, by a choice as well."""
    choice = value_choice(Fraction(1))
    value = _measured(of_table("b", "calls", "i4"), 0, 3, 1)
    unit = of_table("a", "orders", "uid")
    block = _with(
        block_of(joined("orders", "uid", "calls", "uid"), unit=unit), replace(choice, measured=value)
    )
    price_of_block(block, WORLD)
    database = tiny_database()
    database.fill("INSERT INTO orders(id, uid) VALUES (1, 1); INSERT INTO calls VALUES (1, 1)")
    assert len(database.tables(block)) == 2
