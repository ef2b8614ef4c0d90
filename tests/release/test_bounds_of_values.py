"""Bounds on values of units in answers that are kept: another statement may name them by another release."""

from __future__ import annotations

from proxy.engine.clipped_units import clipped_units, with_chosen
from proxy.kernel.plan import BlockPlan
from proxy.release.cached_block import CachedBlock, Order, cached_block, cached_text
from proxy.release.choosing_bounds import ChosenBound
from proxy.release.drawn_values import NOTHING, DrawnBlock, DrawnGroup
from proxy.reuse.block_question import question_of
from tests.audit.test_private_bounds import chosen_by_choice
from tests.pipeline_world import POLICIES, walk

_TOTALS = "(SELECT uid, sum(i4) AS t, sum(i8) AS m FROM orders GROUP BY uid) q"
_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY t)"
_BOUND = ChosenBound(bound=8, units=4_000, above=3, half_width=20, needed=20)


def _block(select: str) -> BlockPlan:
    found = walk(f"SELECT {select} FROM {_TOTALS}", chosen_by_choice(POLICIES["best"]))
    assert found is not None
    return found.plan.blocks[0]


def _order(block: BlockPlan) -> Order:
    question = question_of(block)
    assert question is not None
    return Order(keys=question.keys, releases=question.releases)


def test_a_kept_bound_has_the_name_of_the_statement_that_asks() -> None:
    one, other = _block(f"avg(t), {_MEDIAN}"), _block(f"{_MEDIAN}, avg(t)")
    (mine,), (theirs,) = one.value_choices, other.value_choices
    assert mine.number == theirs.number == 0, "a mean in one statement, and a median in the other"
    drawn = DrawnBlock((DrawnGroup((), (NOTHING, NOTHING)),))
    text = cached_text(CachedBlock(chosen={0: _BOUND}, drawn=drawn), _order(one))
    read = cached_block(text, _order(other), other)
    assert read.chosen == {theirs.number: _BOUND}


def _told(select: str, bound: ChosenBound = _BOUND) -> str:
    block = _block(select)
    chosen: dict[int | None, ChosenBound] = {one.number: bound for one in block.value_choices}
    return " ".join(told.text() for told in clipped_units(block, chosen, 1))


def _least(select: str) -> frozenset[int]:
    """The answers that would only be larger without the bound."""
    block = _block(select)
    return with_chosen(block, {one.number: _BOUND for one in block.value_choices}).least_answers


def test_what_is_cut_is_told_with_the_direction() -> None:
    cut = "at most 8 of a person count, about 3 +-20 of 4,000 +-20 people have more"
    assert _told("avg(t), count(*)") == f"avg(t): {cut}", (
        "its column says that it is a least number"
    )
    assert _least("count(*), avg(t)") == {2}
    assert "can only be larger" in _told(f"sum(t), stddev(t), {_MEDIAN}")
    assert _least(f"sum(t), stddev(t), {_MEDIAN}") == {1, 2, 3}


def test_of_signed_values_only_spreads_shrink() -> None:
    assert _least("avg(m), stddev(m), sum(m)") == {2}
    assert _least("corr(t, t * t)") == frozenset()
    for select in ("avg(m)", "avg(m), stddev(m)", "corr(t, t * t)"):
        assert "only make" not in _told(select)


def test_too_few_units_withhold_what_needs_the_bound_alone() -> None:
    block = _block("count(*), avg(t)")
    (chosen,) = block.value_choices
    none = ChosenBound(bound=None, units=3, above=0, half_width=20, needed=20)
    withheld = with_chosen(block, {chosen.number: none}).withheld
    counted, mean = block.answers
    assert withheld == set(mean.releases) and withheld.isdisjoint(counted.releases)
