"""Who is shown an answer that is kept: whoever has paid for it, and of two draws under one charge only one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from proxy.base.errors import Fault
from proxy.drawing import kept_answers
from proxy.drawing.answer_slots import (
    AnswersInLedger,
    CachedQuestion,
    CacheState,
    ClaimedSlot,
    ShownAnswer,
    Unfinished,
    cached_question,
    question_given,
    shown_answer,
)
from proxy.drawing.kept_answers import AnswerOwner, ClaimedAnswers, OwnedAnswer
from proxy.drawing.statement_run import Payer, StatementRun
from proxy.engine import questions_of_answers
from proxy.mechanisms.loss import NOTHING
from proxy.release.cached_block import CachedBlock, Order
from proxy.release.drawn_values import DrawnBlock
from tests.asked_by import run_of
from tests.kernel.examples import block_of_fewest
from tests.named_slots import named_slot, renamed
from tests.pipeline_world import walk
from tests.unchecked_blocks import priced

_DRAW, _READY, _WAIT, _APART = CacheState.DRAW, CacheState.READY, CacheState.WAIT, CacheState.APART
_OTHER = '{"v":1,"chosen":[],"groups":[[[],[]]]}'
_DRAWN = CachedBlock(chosen={}, drawn=DrawnBlock(()))
_INNER = named_slot(priced(NOTHING), b"inner")
_OUTER = renamed(named_slot(priced(NOTHING), b"outer"), rests_on=frozenset({_INNER.block}))


class AnswersOfTest:
    """forgets: whether a draw is still the holder's; stores: what stands after storing, if not this."""

    def __init__(self, *, forgets: bool = True, stores: str | None = "this") -> None:
        self.stored: list[int] = []
        self.forgotten: list[int] = []
        self.asked: list[tuple[str, int]] = []
        self._forgets, self._stores = forgets, stores

    async def shown(self, run: StatementRun, cached: int) -> ShownAnswer | None:
        self.asked.append((run.analyst, cached))
        return shown_answer(run.analyst, cached, _OTHER)

    async def store(self, run: StatementRun, cached: int, relation: str) -> str | None:
        self.stored.append(cached)
        return relation if self._stores == "this" else self._stores

    async def forget(self, cached: int, holder: str) -> bool:
        assert holder == "me"
        self.forgotten.append(cached)
        return self._forgets

    async def let_go(self, cached: int, holder: str) -> None:
        pass


def _slot(
    part: CachedQuestion, state: CacheState, cached: int | None, text: str | None = None
) -> ClaimedSlot:
    return ClaimedSlot(part=part, state=state, cached=cached, text=text)


def _claimed(ledger: AnswersInLedger, *slots: ClaimedSlot) -> ClaimedAnswers:
    return ClaimedAnswers(ledger, run_of("alice"), "me", slots)


def _stored(ledger: AnswersInLedger, *slots: ClaimedSlot) -> CachedBlock:
    """Of the last block."""
    block = slots[-1].part.block
    return asyncio.run(_claimed(ledger, *slots).stored(block, _DRAWN))


def test_it_is_stored_beside_what_is_stored() -> None:
    ledger = AnswersOfTest()
    _stored(ledger, _slot(_INNER, _DRAW, 7), _slot(_OUTER, _DRAW, 8))
    assert (ledger.stored, ledger.forgotten) == ([8], [])


def test_it_is_forgotten_beside_an_answer_that_is_not_kept() -> None:
    """E.g. the same inner question twice in a statement: the second has an answer of its own."""
    ledger = AnswersOfTest()
    assert _stored(ledger, _slot(_INNER, _APART, None), _slot(_OUTER, _DRAW, 8)) is _DRAWN
    assert (ledger.stored, ledger.forgotten) == ([], [8])


@pytest.mark.parametrize("most", [1, 10**6])
def test_nor_is_what_hangs_on_one_that_was_forgotten(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Because it is too large, or hangs on another answer itself. Its name would be that of another draw, for
    which whoever asks again pays."""
    monkeypatch.setattr(kept_answers, "_RELATION", most)
    last = renamed(named_slot(priced(NOTHING), b"last"), rests_on=frozenset({_OUTER.block}))
    ledger = AnswersOfTest()
    inner = _slot(_INNER, _APART, None) if most > 1 else _slot(_INNER, _DRAW, 7)
    claimed = _claimed(ledger, inner, _slot(_OUTER, _DRAW, 8), _slot(last, _DRAW, 9))

    async def both() -> None:
        await claimed.stored(_OUTER.block, _DRAWN)
        monkeypatch.setattr(kept_answers, "_RELATION", 10**6)
        assert await claimed.stored(last.block, _DRAWN) is _DRAWN

    asyncio.run(both())
    assert (ledger.stored, ledger.forgotten) == ([], [8, 9])


@pytest.mark.parametrize("is_there", [True, False])
def test_it_is_not_shown_beside_an_answer_that_is_not_kept(is_there: bool) -> None:
    inner = [_slot(_INNER, _APART, None)] if is_there else []
    claimed = _claimed(AnswersOfTest(), *inner, _slot(_OUTER, _READY, 8, "{}"))
    with pytest.raises(Fault):
        asyncio.run(claimed.ready(_OUTER.block))


def test_who_was_taken_over_shows_nothing() -> None:
    with pytest.raises(Unfinished):
        _stored(AnswersOfTest(stores=None), _slot(_INNER, _DRAW, 7))


def test_what_is_too_large_is_shown_by_its_holder_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "_RELATION", 1)
    own, another = AnswersOfTest(forgets=True), AnswersOfTest(forgets=False)
    assert _stored(own, _slot(_INNER, _DRAW, 7)) is _DRAWN
    with pytest.raises(Unfinished):
        _stored(another, _slot(_INNER, _DRAW, 7))
    assert own.forgotten == another.forgotten == [7] and own.stored == another.stored == []


def test_what_another_stored_before_is_shown_instead() -> None:
    shown = _stored(AnswersOfTest(stores=_OTHER), _slot(_INNER, _DRAW, 7))
    assert len(shown.drawn.groups) == 1 and _DRAWN.drawn.groups == ()


def test_who_waits_asks_as_themselves() -> None:
    ledger = AnswersOfTest()
    claimed = _claimed(ledger, _slot(_INNER, _WAIT, 7))
    asyncio.run(claimed.wait())
    assert ledger.asked == [("alice", 7)]
    found = asyncio.run(claimed.ready(_INNER.block))
    assert found is not None and len(found.drawn.groups) == 1


# --- answers that were not delivered -------------------------------------------------------------------


class _People:
    def __init__(self, number: int | None) -> None:
        self._number = number

    async def person(self, analyst: str) -> int | None:
        return self._number


@pytest.mark.parametrize(
    ("analyst", "person", "token", "is_shown"),
    [
        ("ann", 1, None, True),
        ("bob", 1, None, False),
        ("ann", 2, None, False),
        ("ann", None, None, False),
        ("ann", 1, 7, False),
    ],
)
def test_an_answer_is_shown_to_its_owner_alone(
    analyst: str, person: int | None, token: int | None, is_shown: bool
) -> None:
    kept = OwnedAnswer(AnswerOwner(analyst="ann", person=1, token=None), (_DRAWN,))
    payer = Payer(analyst=analyst, token=token)
    found = asyncio.run(kept.shown(payer, _People(person)))
    assert found == ((_DRAWN,) if is_shown else None)
    assert "CachedBlock" not in repr(kept)


# --- names --------------------------------------------------------------------------------------------


def test_a_block_that_takes_answers_has_a_name_where_these_are_named() -> None:
    """That the planner says it of such a block, the kernel sees to (`block_price.check_answers`)."""
    found = walk("SELECT count(*) FROM people WHERE i4 > (SELECT avg(i4) FROM people)")
    assert found is not None
    inner, outer = found.checked.blocks
    order = Order(keys=(), releases=(0,))
    assert cached_question(inner, "q", "t", order, None).digest is not None
    assert cached_question(outer, "q", "t", order, None).digest is None
    rests_on = frozenset({inner})
    named = {question_given(outer, "q", "t", order, one, rests_on).digest for one in ("a", "b")}
    assert len(named) == 2 and None not in named


def test_an_answer_is_named_as_it_is_shown() -> None:
    """A policy that shows no small groups any more hides the same draw, so what compares with it is another
    question."""
    block = block_of_fewest(11)
    part = {0: _INNER}
    names = {
        questions_of_answers._name(one, 0, part, {})
        for one in (block, replace(block, fewest=None), replace(block, is_rounded=True))
    }
    assert len(names) == 3 and None not in names


def _made_by_hand() -> Iterator[Callable[[], object]]:
    yield lambda: replace(_INNER, digest=b"another")  # type: ignore[call-arg]
    yield lambda: CachedQuestion(
        block=_INNER.block,
        digest=b"d",
        question="q",
        terms="t",
        order=_INNER.order,
        derivable=None,
        rests_on=frozenset(),
        made=object(),
    )
    yield lambda: ShownAnswer(analyst="alice", cached=1, text="{}", made=object())


@pytest.mark.parametrize("number", range(3))
def test_nobody_else_makes_one(number: int) -> None:
    make = list(_made_by_hand())[number]
    with pytest.raises((Fault, TypeError, ValueError)):
        make()
