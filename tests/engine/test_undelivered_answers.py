"""How long, and of how many statements, answers are kept after an error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.engine.undelivered_answers import (
    KEPT_SECONDS,
    UndeliveredAnswer,
    UndeliveredAnswers,
    undelivered_answer,
)
from proxy.kernel.plan import PrivatePlan
from proxy.release.cached_block import CachedBlock
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from tests.pipeline_world import walk

_COUNT = "SELECT count(*) FROM people"


def _plan(statement: str = _COUNT) -> PrivatePlan:
    found = walk(statement)
    assert found is not None
    return found.plan


def _drawn(groups: int = 1) -> tuple[CachedBlock, ...]:
    group = DrawnGroup((), (DrawnNumber(7),))
    return (CachedBlock(chosen={}, drawn=DrawnBlock((group,) * groups)),)


def _answer(plan: PrivatePlan, analyst: str = "ann", receipt: str = "1") -> UndeliveredAnswer:
    answer = undelivered_answer(analyst, plan, receipt, _drawn())
    assert answer is not None
    return answer


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("seconds", "is_there"), [(KEPT_SECONDS - 1, True), (KEPT_SECONDS + 1, False)]
)
def test_an_answer_is_kept_for_an_hour(seconds: float, is_there: bool) -> None:
    clock = Clock()
    answers = UndeliveredAnswers(clock)
    answers.keep(_answer(_plan()))
    clock.now = seconds
    assert (answers.take("ann", _plan()) is not None) == is_there


def test_another_failure_does_not_prolong_it() -> None:
    clock = Clock()
    answers = UndeliveredAnswers(clock)
    answers.keep(_answer(_plan()))
    clock.now = KEPT_SECONDS - 1
    again = answers.take("ann", _plan())
    assert again is not None
    answers.keep(again)
    clock.now = KEPT_SECONDS + 1
    assert answers.take("ann", _plan()) is None


def test_an_answer_is_taken_once_and_by_its_analyst() -> None:
    answers = UndeliveredAnswers()
    answers.keep(_answer(_plan()))
    assert answers.take("bob", _plan()) is None
    assert answers.take("ann", _plan(f"{_COUNT} WHERE i4 > 3")) is None
    assert answers.take("ann", _plan()) is not None
    assert answers.take("ann", _plan()) is None


def test_what_is_shown_beside_an_answer_may_differ() -> None:
    answers = UndeliveredAnswers()
    answers.keep(_answer(_plan("SELECT count(*), dp.low(count(*) * 2) FROM people")))
    assert answers.take("ann", _plan()) is not None


def test_old_answers_make_room() -> None:
    answers = UndeliveredAnswers()
    plans = [_plan(f"{_COUNT} WHERE i4 > {number}") for number in range(12)]
    for plan in plans:
        answers.keep(_answer(plan))
    answers.keep(_answer(plans[0], "bob"))
    left = [number for number, plan in enumerate(plans) if answers.take("ann", plan) is not None]
    assert left == list(range(4, 12))
    assert answers.take("bob", plans[0]) is not None


def test_analysts_together_have_a_limit() -> None:
    answers, plan = UndeliveredAnswers(), _plan()
    for number in range(300):
        answers.keep(_answer(plan, f"analyst {number}"))
    left = [n for n in range(300) if answers.take(f"analyst {n}", plan) is not None]
    assert left == list(range(300 - 256, 300))


def test_a_large_answer_is_not_kept() -> None:
    assert undelivered_answer("ann", _plan(), "1", _drawn(20_000)) is not None
    assert undelivered_answer("ann", _plan(), "1", _drawn(20_001)) is None


def test_its_repr_holds_no_answer() -> None:
    answer = replace(_answer(_plan()), until=1.0)
    assert repr(answer) == "UndeliveredAnswer(receipt='1')"
