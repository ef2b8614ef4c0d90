"""How long, and of how many statements, answers are kept after an error."""

from __future__ import annotations

import asyncio
import tracemalloc
from dataclasses import replace

import pytest

from proxy.drawing.kept_answers import AnswerOwner, OwnedAnswer
from proxy.drawing.statement_run import Payer
from proxy.engine.noisy_answers import (
    BYTES_OF_ALL,
    BYTES_OF_ANALYST,
    KEPT_SECONDS,
    UndeliveredAnswer,
    UndeliveredAnswers,
    undelivered_answer,
)
from proxy.kernel.plan import PrivatePlan
from proxy.release.cached_block import CachedBlock
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from tests.asked_by import run_of
from tests.engine.test_order import Recorder, asked
from tests.pipeline_world import walk

_COUNT = "SELECT count(*) FROM people"


def _plan(statement: str = _COUNT) -> PrivatePlan:
    found = walk(statement)
    assert found is not None
    return found.plan


def _drawn(groups: int = 1, characters: int = 0) -> tuple[CachedBlock, ...]:
    """characters: of the key of each group; without any there is no key."""
    found = (
        DrawnGroup(
            (f"{number}".ljust(characters, "x"),) if characters else (),
            (DrawnNumber(10**6 + number),),
        )
        for number in range(groups)
    )
    return (CachedBlock(chosen={}, drawn=DrawnBlock(tuple(found))),)


def _payer(analyst: str, token: int | None = None) -> Payer:
    return Payer(analyst=analyst, token=token)


def _owner(analyst: str = "ann", token: int | None = None) -> AnswerOwner:
    return AnswerOwner(analyst=analyst, person=1, token=token)


def _answer(
    plan: PrivatePlan, analyst: str = "ann", token: int | None = None, groups: int = 1
) -> UndeliveredAnswer:
    answer = undelivered_answer(_owner(analyst, token), plan, "1", _drawn(groups))
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
    assert (answers.take(_payer("ann", None), _plan()) is not None) == is_there


def test_another_failure_does_not_prolong_it() -> None:
    clock = Clock()
    answers = UndeliveredAnswers(clock)
    answers.keep(_answer(_plan()))
    clock.now = KEPT_SECONDS - 1
    again = answers.take(_payer("ann", None), _plan())
    assert again is not None
    answers.keep(again)
    clock.now = KEPT_SECONDS + 1
    assert answers.take(_payer("ann", None), _plan()) is None


def test_an_answer_is_taken_once_and_by_its_analyst() -> None:
    answers = UndeliveredAnswers()
    answers.keep(_answer(_plan()))
    assert answers.take(_payer("bob", None), _plan()) is None
    assert answers.take(_payer("ann", None), _plan(f"{_COUNT} WHERE i4 > 3")) is None
    assert answers.take(_payer("ann", None), _plan()) is not None
    assert answers.take(_payer("ann", None), _plan()) is None


def test_what_is_shown_beside_an_answer_may_differ() -> None:
    answers = UndeliveredAnswers()
    answers.keep(_answer(_plan("SELECT count(*), dp.low(count(*) * 2) FROM people")))
    assert answers.take(_payer("ann", None), _plan()) is not None


def test_old_answers_make_room() -> None:
    answers = UndeliveredAnswers()
    plans = [_plan(f"{_COUNT} WHERE i4 > {number}") for number in range(12)]
    for plan in plans:
        answers.keep(_answer(plan))
    answers.keep(_answer(plans[0], "bob"))
    left = [
        number
        for number, plan in enumerate(plans)
        if answers.take(_payer("ann", None), plan) is not None
    ]
    assert left == list(range(4, 12))
    assert answers.take(_payer("bob", None), plans[0]) is not None


def test_analysts_together_have_a_limit() -> None:
    answers, plan = UndeliveredAnswers(), _plan()
    for number in range(300):
        answers.keep(_answer(plan, f"analyst {number}"))
    left = [n for n in range(300) if answers.take(_payer(f"analyst {n}", None), plan) is not None]
    assert left == list(range(300 - 256, 300))


@pytest.mark.parametrize("token", [None, 1])
def test_an_answer_is_kept_for_what_it_was_charged_to(token: int | None) -> None:
    answers = UndeliveredAnswers()
    answers.keep(_answer(_plan(), token=token))
    others = {None, 1, 2} - {token}
    assert [answers.take(_payer("ann", other), _plan()) for other in others] == [None, None]
    assert answers.take(_payer("ann", token), _plan()) is not None


def _receipts(numbers: tuple[int | None, int | None], tokens: tuple[int | None, int | None]) -> int:
    """How often alice's statement is charged: once it fails, then it is sent again.

    numbers: alice's in the ledger, each time; tokens: that each is charged to
    """
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)

    async def twice() -> None:
        for number, token in zip(numbers, tokens, strict=True):
            recorder.number = number
            run = run_of("alice", token)
            engine.keep_undelivered(await engine.run(question, (), {}, run))

    asyncio.run(twice())
    return recorder.calls.count("reserve")


@pytest.mark.parametrize("number", [None, 1])
@pytest.mark.parametrize("token", [None, 5])
def test_the_same_person_is_charged_once(number: int | None, token: int | None) -> None:
    assert _receipts((number, number), (token, token)) == 1


@pytest.mark.parametrize("numbers", [(1, 2), (None, 1)])
def test_another_person_of_the_same_name_is_charged(numbers: tuple[int | None, int | None]) -> None:
    assert _receipts(numbers, (None, None)) == 2


@pytest.mark.parametrize("tokens", [(None, 5), (5, None), (5, 6)])
def test_another_credential_is_charged(tokens: tuple[int | None, int | None]) -> None:
    assert _receipts((1, 1), tokens) == 2


def test_a_large_answer_is_not_kept() -> None:
    assert undelivered_answer(_owner(), _plan(), "1", _drawn(10_000)) is not None
    assert undelivered_answer(_owner(), _plan(), "1", _drawn(20_000)) is None


def test_an_answer_with_long_keys_is_not_kept() -> None:
    plan = _plan("SELECT i4, count(*) FROM people GROUP BY i4")
    fits, long = 400, BYTES_OF_ANALYST // 1_000
    assert undelivered_answer(_owner(), plan, "1", _drawn(1_000, fits)) is not None
    assert undelivered_answer(_owner(), plan, "1", _drawn(1_000, long)) is None


def test_an_answer_with_long_constants_is_not_kept() -> None:
    plan = _plan()
    long = tuple((f"{number:0100}",) for number in range(BYTES_OF_ANALYST // 150))
    large = replace(plan, blocks=(replace(plan.blocks[0], combinations=long),))
    assert undelivered_answer(_owner(), large, "1", _drawn()) is None


@pytest.mark.parametrize(("groups", "characters"), [(10_000, 0), (5_000, 300)])
def test_it_takes_no_more_memory_than_is_counted(groups: int, characters: int) -> None:
    plan = _plan("SELECT i4, count(*) FROM people GROUP BY i4" if characters else _COUNT)
    tracemalloc.start()
    try:
        drawn = _drawn(groups, characters)
        octets, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    answer = undelivered_answer(_owner(), plan, "1", drawn)
    assert answer is not None and octets <= answer.octets <= 2 * octets


def test_large_answers_of_an_analyst_make_room() -> None:
    answers = UndeliveredAnswers()
    plans = [_plan(f"{_COUNT} WHERE i4 > {number}") for number in range(4)]
    each = [_answer(plan, token=number, groups=4_500) for number, plan in enumerate(plans)]
    assert 3 * each[0].octets < BYTES_OF_ANALYST < 4 * each[0].octets
    answers.keep(_answer(plans[0], "bob"))
    for answer in each:
        answers.keep(answer)
    left = [n for n, plan in enumerate(plans) if answers.take(_payer("ann", n), plan) is not None]
    assert left == [1, 2, 3]
    assert answers.take(_payer("bob", None), plans[0]) is not None


def test_large_answers_of_all_make_room() -> None:
    answers, plan = UndeliveredAnswers(), _plan()
    large = _answer(plan, groups=10_000)
    most = BYTES_OF_ALL // large.octets
    assert 8 < most < 20
    for number in range(20):
        answers.keep(replace(large, answer=OwnedAnswer(_owner(f"analyst {number}"), ())))
    left = [n for n in range(20) if answers.take(_payer(f"analyst {n}", None), plan) is not None]
    assert left == list(range(20 - most, 20))


def test_its_repr_holds_no_answer() -> None:
    answer = replace(_answer(_plan()), until=1.0)
    assert repr(answer) == "UndeliveredAnswer(receipt='1')"
