"""What the drawer refuses, and that what it gives of a claim is what the ledger keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from proxy.base.errors import Fault
from proxy.drawing.answer_slots import CacheState, ClaimedSlot, Unfinished
from proxy.drawing.charges import Charge, charge_in_ledger
from proxy.drawing.drawer import Drawer, DrawingInputs, DrawnAnswer
from proxy.drawing.kept_answers import ClaimedAnswers
from proxy.exact.table import ExactRow
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan, check_bounded
from proxy.mechanisms.loss import NOTHING
from proxy.release.cached_block import Order
from proxy.release.drawn_values import DrawnNumber
from tests.asked_by import run_of
from tests.charged_plans import charged
from tests.drawing.test_kept_answers import AnswersOfTest
from tests.engine.test_order import Recorder
from tests.named_slots import named_slot
from tests.pipeline_world import CATALOG, POLICIES, walk

_BEST = "SELECT sum(i4) FROM visits GROUP BY t"
_OF_TOTALS = "SELECT sum(i4) FROM visits"  # of which nothing is read but what bounds are chosen by


def _plan(text: str, policy: str) -> CheckedPlan:
    found = walk(text, POLICIES[policy])
    assert found is not None
    return found.checked


def _drawn(
    recorder: Recorder,
    block: CheckedBlock,
    charge: Charge,
    policy: str = "world",
    bounds: Mapping[CheckedBlock, CheckedBlock] | None = None,
) -> DrawnAnswer:
    """bounds: what is said to be a block with its bounds."""
    given = DrawingInputs(
        run=run_of("alice"),
        compiled=None,
        answers={},
        lists={},
        bounding=lambda _: (bounds or {})[block],
    )
    drawer = Drawer(POLICIES[policy], CATALOG, recorder, recorder.bits)
    return asyncio.run(drawer.draw(charge, block, recorder, given))


def _bounded(of: CheckedBlock) -> CheckedBlock:
    return check_bounded(of.block, of)


def test_bounds_are_chosen_here_and_not_before() -> None:
    """A block that comes with bounds was bounded by nobody who has read it."""
    plan, recorder = _plan(_BEST, "chosen"), Recorder()
    with pytest.raises(Fault):
        _drawn(recorder, _bounded(plan.blocks[0]), charged(plan), "chosen")
    assert recorder.calls == []


@pytest.mark.parametrize("text", [_BEST, _OF_TOTALS])
@pytest.mark.parametrize("is_own", [True, False])
def test_bounds_are_of_the_block_that_was_charged(text: str, is_own: bool) -> None:
    plan, other, recorder = _plan(text, "chosen"), _plan(text, "chosen"), Recorder()
    (block,) = plan.blocks
    bounds = {block: _bounded(block if is_own else other.blocks[0])}
    if is_own:
        assert _drawn(recorder, block, charged(plan), "chosen", bounds).bounded is bounds[block]
        return
    with pytest.raises(Fault):
        _drawn(recorder, block, charged(plan), "chosen", bounds)
    assert recorder.calls == ["run"], "what bounds are chosen by was read, and no more"


# --- claims -------------------------------------------------------------------------------------------

_COUNT = "SELECT count(*) FROM people"
_STANDS = 12_345


def _claimed(plan: CheckedPlan, ledger: AnswersOfTest) -> Charge:
    part = named_slot(plan.blocks[0], b"a slot", order=Order(keys=(), releases=(0,)))
    slot = ClaimedSlot(part=part, state=CacheState.DRAW, cached=7, text=None)
    return charge_in_ledger(
        plan,
        plan.price,
        receipt="1",
        paid=NOTHING,
        remaining=None,
        claimed=ClaimedAnswers(ledger, run_of("alice"), "me", [slot]),
    )


def _number(found: DrawnAnswer) -> int:
    (group,) = found.cached.drawn.groups
    (value,) = group.values
    assert isinstance(value, DrawnNumber)
    return value.index


def test_what_is_drawn_for_a_claim_is_what_stands_in_the_ledger() -> None:
    plan, recorder = _plan(_COUNT, "world"), Recorder(rows=(ExactRow((), 0, (41,)),))
    (block,) = plan.blocks
    own = _number(_drawn(recorder, block, _claimed(plan, AnswersOfTest())))
    assert abs(own - 41) < 60
    before = AnswersOfTest(stores=f'{{"v":1,"chosen":[],"groups":[[[],[{_STANDS}]]]}}')
    assert _number(_drawn(recorder, block, _claimed(plan, before))) == _STANDS
    with pytest.raises(Unfinished):
        _drawn(recorder, block, _claimed(plan, AnswersOfTest(stores=None)))
