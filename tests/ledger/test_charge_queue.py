"""Who waits goes with the next, in the order in which they came; what goes wrong is told to each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import psycopg
import pytest
from psycopg import errors

from proxy.base.errors import Fault
from proxy.ledger import charge_queue
from proxy.ledger.charge_queue import ChargeQueue
from proxy.ledger.charge_statements import Row, in_their_order


class Recorded:
    """Answers each with ten times its number; while it is held, nothing is answered."""

    def __init__(self, error: Callable[[Sequence[int]], Exception | None] = lambda _: None) -> None:
        self.sent: list[list[int]] = []
        self.held = asyncio.Event()
        self.held.set()
        self._error = error

    async def together(self, these: Sequence[int]) -> Sequence[int]:
        self.sent.append(list(these))
        await self.held.wait()
        error = self._error(these)
        if error is not None:
            raise error
        return [10 * one for one in these]


async def _soon(queue: ChargeQueue[int, int], *these: int) -> list[asyncio.Task[int]]:
    """Each begun, in this order."""
    tasks = [asyncio.create_task(queue.charged(one)) for one in these]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def _behind_another(
    charges: Recorded, queue: ChargeQueue[int, int], *these: int
) -> list[object]:
    """What becomes of these, which wait for charge 0."""
    charges.held.clear()
    (first,) = await _soon(queue, 0)
    tasks = await _soon(queue, *these)
    charges.held.set()
    assert await first == 0
    return list(await asyncio.gather(*tasks, return_exceptions=True))


def test_the_first_goes_at_once_and_the_others_together_in_their_order() -> None:
    async def run() -> list[list[int]]:
        charges = Recorded()
        charges.held.clear()
        queue = ChargeQueue(charges.together, most=3)
        tasks = await _soon(queue, 1)
        assert charges.sent == [[1]]
        tasks += await _soon(queue, 2, 3, 4, 5, 6)
        charges.held.set()
        assert await asyncio.gather(*tasks) == [10, 20, 30, 40, 50, 60]
        assert await queue.charged(7) == 70
        return charges.sent

    assert asyncio.run(run()) == [[1], [2, 3, 4], [5, 6], [7]]


def test_who_is_cancelled_before_is_not_sent_and_after_holds_up_nobody() -> None:
    async def run() -> list[list[int]]:
        charges = Recorded()
        charges.held.clear()
        queue = ChargeQueue(charges.together)
        sent, waiting, other = await _soon(queue, 1), await _soon(queue, 2), await _soon(queue, 3)
        waiting[0].cancel()
        sent[0].cancel()
        await asyncio.sleep(0)
        assert charges.sent == [[1]]
        charges.held.set()
        assert await other[0] == 30
        assert sent[0].cancelled() and waiting[0].cancelled()
        return charges.sent

    assert asyncio.run(run()) == [[1], [3]]


def test_who_waits_too_long_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charge_queue, "_WAIT_SECONDS", 0.05)

    async def run() -> list[list[int]]:
        charges = Recorded()
        charges.held.clear()
        queue = ChargeQueue(charges.together)
        first, late = await _soon(queue, 1), await _soon(queue, 2, 3)
        for one in late:
            with pytest.raises(Fault, match="busy"):
                await one
        assert not first[0].done(), "it was sent, so it may stand"
        charges.held.set()
        assert await first[0] == 10
        return charges.sent

    assert asyncio.run(run()) == [[1]]


def _of_server(kind: type[psycopg.Error], severity: str = "ERROR") -> Fault:
    class Told(kind):  # type: ignore[misc, valid-type]
        @property
        def diag(self) -> object:
            return type("Diag", (), {"severity_nonlocalized": severity})

    fault = Fault("the ledger failed")
    fault.__cause__ = Told("")
    return fault


def test_where_nothing_stands_each_goes_alone_and_one_fails() -> None:
    def error(these: Sequence[int]) -> Exception | None:
        return _of_server(errors.CheckViolation) if 2 in these else None

    async def run() -> tuple[list[list[int]], list[object]]:
        charges = Recorded(error)
        queue = ChargeQueue(charges.together)
        found = await _behind_another(charges, queue, 1, 2, 3)
        return charges.sent, found

    sent, (one, two, three) = asyncio.run(run())
    assert sent == [[0], [1, 2, 3], [1], [2], [3]]
    assert (one, three) == (10, 30)
    assert isinstance(two, Fault)


@pytest.mark.parametrize(
    "error",
    [
        Fault("no word from the server"),
        ValueError("of ours"),
        _of_server(errors.OperationalError),  # the connection is lost: no state, no severity
        _of_server(errors.AdminShutdown, "FATAL"),
        _of_server(errors.DeadlockDetected, "FATAL"),
        _of_server(errors.DiskFull),
        _of_server(errors.QueryCanceled),
    ],
)
def test_where_something_may_stand_there_is_no_second_try(error: Exception) -> None:
    async def run() -> tuple[list[list[int]], list[object]]:
        charges = Recorded(lambda these: error if len(these) > 1 else None)
        queue = ChargeQueue(charges.together)
        found = await _behind_another(charges, queue, 1, 2)
        assert await queue.charged(3) == 30
        return charges.sent, found

    sent, found = asyncio.run(run())
    assert sent == [[0], [1, 2], [3]]
    assert [type(one) for one in found] == [type(error)] * 2
    assert not isinstance(error, Fault) or found[0] is not found[1], "each raises its own"


def test_an_outage_while_each_goes_alone_ends_it() -> None:
    def error(these: Sequence[int]) -> Exception | None:
        if len(these) > 1:
            return _of_server(errors.DeadlockDetected)
        return None if list(these) in ([0], [1]) else Fault("away")

    async def run() -> tuple[list[list[int]], list[object]]:
        charges = Recorded(error)
        queue = ChargeQueue(charges.together)
        found = await _behind_another(charges, queue, 1, 2, 3)
        return charges.sent, found

    sent, (one, two, three) = asyncio.run(run())
    assert sent == [[0], [1, 2, 3], [1], [2]]
    assert one == 10
    assert str(two) == str(three) == "away"


def test_who_waits_when_it_closes_is_told() -> None:
    async def run() -> list[object]:
        charges = Recorded()
        charges.held.clear()
        queue = ChargeQueue(charges.together)
        tasks = [*await _soon(queue, 1), *await _soon(queue, 2)]
        await queue.close()
        await queue.close()
        assert charges.sent == [[1]]
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    assert [str(one) for one in asyncio.run(run())] == ["the ledger is closed"] * 2


def _row(place: int, who: str, *, may_ask: bool = True) -> Row:
    return {"place": place, "who": who, "may_ask": may_ask}


def test_rows_are_found_by_their_place_and_never_given_to_another() -> None:
    ann, bob, carol = _row(1, "ann"), _row(2, "bob", may_ask=False), _row(3, "carol")
    who = ["ann", "bob", "carol"]
    assert in_their_order([bob, carol, ann], who) == [ann, None, carol]
    for wrong in (
        [ann, bob],
        [ann, bob, carol, carol],
        [ann, bob, _row(4, "carol")],
        [ann, bob, bob],
        [_row(1, "bob"), _row(2, "ann"), carol],
    ):
        with pytest.raises(Fault):
            in_their_order(wrong, who)
