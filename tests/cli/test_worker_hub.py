"""What workers tell each other through the supervisor's hub, and what later ones learn of it."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from proxy.cli.serving_worker import join, share_gate
from proxy.cli.supervisor import WorkerHub
from proxy.cli.worker import Worker
from proxy.cli.worker_channel import Asked, WorkerChannel
from proxy.servers.login_gate import GateLimits, LoginGate
from tests.machine_speed import allowed_wait

_LIMITS = GateLimits(guesses=10, guess_seconds=60)


@dataclass(slots=True)
class Plant:
    """A hub, and workers that come and go."""

    tasks: dict[int, list[asyncio.Task[Any]]] = field(default_factory=dict)
    workers: dict[int, Worker] = field(default_factory=dict)
    hub: WorkerHub = field(init=False)

    def __post_init__(self) -> None:
        self.hub = WorkerHub(
            told={"joins": lambda worker, _: self.hub.is_ready(worker)},
            answers={"sync": lambda _: True},
        )

    async def start(self, number: int, prepare: Callable[[Worker], None]) -> Worker:
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        worker = Worker(
            number=number,
            workers=3,
            ledger_dsn="",
            accept="",
            is_first_start=True,
            sockets={},
            channel=WorkerChannel(theirs),
        )
        prepare(worker)
        reader, writer = await asyncio.open_connection(sock=ours)
        self.tasks[number] = [
            asyncio.create_task(self.hub.serve(number, reader, writer)),
            asyncio.create_task(worker.channel.follow()),
        ]
        await worker.channel.opened()
        await join(worker)
        self.workers[number] = worker
        return worker

    async def end(self, number: int, worker: Worker) -> None:
        writer = worker.channel._writer
        assert writer is not None
        writer.close()
        await asyncio.gather(*self.tasks[number])
        await asyncio.sleep(0.05)  # both ends are closed


async def _passes(worker: Worker) -> None:
    """All that was said before has arrived."""
    for _ in range(3):
        await worker.channel.ask_supervisor("sync")


def _is_asked(answer: Asked, worker: Worker) -> None:
    worker.channel.asked["add"] = answer


def _in_a_plant(act: Callable[[Plant], Awaitable[None]]) -> None:
    async def run() -> None:
        plant = Plant()
        await asyncio.wait_for(act(plant), 60)
        for number, worker in plant.workers.items():
            await plant.end(number, worker)

    asyncio.run(run())


def test_the_others_are_told_and_later_ones_what_is_kept() -> None:
    async def act(plant: Plant) -> None:
        heard: dict[int, list[Any]] = {1: [], 2: [], 3: []}

        def listen(worker: Worker) -> None:
            worker.channel.told["news"] = lambda source, body: heard[worker.number].append(
                (source, body)
            )

        one = await plant.start(1, listen)
        two = await plant.start(2, listen)
        one.channel.tell("news", "passing")
        one.channel.tell("news", "old", key="a")
        one.channel.tell("news", "new", key="a")
        one.channel.tell("news", "short", key="b", seconds=0.0)
        one.channel.tell("news", "own", key="c", is_own=True)
        two.channel.tell("news", "of two", key="d", is_own=True)
        await _passes(one)
        await _passes(two)
        assert heard[1] == [(2, "of two")]
        assert [body for _, body in heard[2]] == ["passing", "old", "new", "short", "own"]
        await plant.end(1, one)
        await plant.start(3, listen)
        assert heard[3] == [(1, "new"), (2, "of two")]

    _in_a_plant(act)


def test_who_ends_or_fails_keeps_nobody_waiting() -> None:
    async def act(plant: Plant) -> None:
        async def fail(_: Any) -> Any:
            raise ValueError

        async def wait(_: Any) -> Any:
            await asyncio.sleep(60)

        async def answer(body: Any) -> Any:
            return body + 1

        workers = [
            await plant.start(number, partial(_is_asked, of))
            for number, of in enumerate((fail, wait, answer, answer), 1)
        ]
        asking = asyncio.create_task(workers[3].channel.ask("add", 1, seconds=60))
        await asyncio.sleep(0.1)
        assert not asking.done()
        await plant.end(2, workers[1])
        assert await asking == {3: 2}
        assert await workers[3].channel.ask("unheard of") == {}

    _in_a_plant(act)


@pytest.mark.timed
def test_gates_count_together() -> None:
    """As many guesses, and the same delays, as one gate allows; also at a worker that starts later."""

    async def act(plant: Plant) -> None:
        gates = {number: LoginGate(_LIMITS) for number in (1, 2, 3)}
        alone = LoginGate(_LIMITS)

        def share(worker: Worker) -> None:
            share_gate(worker, "analysts", gates[worker.number])

        workers = [await plant.start(number, share) for number in (1, 2)]
        delays, expected = [], []
        for number in range(8):
            attempt = gates[1 + number % 2].enter_now("10.0.0.1", f"name {number}")
            lone = alone.enter_now("10.0.0.1", f"name {number}")
            assert attempt is not None and lone is not None
            delays.append(attempt.failed())
            expected.append(lone.failed())
            await _passes(workers[number % 2])
            await _passes(workers[1 - number % 2])
        assert [round(one, 2) for one in delays] == [round(one, 2) for one in expected]
        known = gates[1].enter_now("10.0.0.2", "ann")
        assert known is not None
        known.succeeded()
        await _passes(workers[0])
        await plant.end(1, workers[0])
        await plant.start(3, share)
        for gate in (gates[2], gates[3]):
            assert gate.lane("10.0.0.2", "ann") != gate.lane("10.0.0.2", "bob")
            left = [gate.enter_now("10.0.0.1", f"late {number}") for number in range(3)]
            assert [one is not None for one in left] == [True, True, False], "10 guesses in all"
            with_delay = left[0]
            assert with_delay is not None and with_delay.failed() > delays[-1] / 2

    began = time.monotonic()
    _in_a_plant(act)
    assert time.monotonic() - began < allowed_wait(15)
