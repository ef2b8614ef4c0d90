"""Places that several share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.turns.fair_share import Busy, FairShare


@settings(max_examples=5)
@given(dice=st.randoms(use_true_random=False))
def test_neither_limit_is_exceeded_and_all_places_come_back(dice: Any) -> None:
    async def run() -> None:
        share = FairShare(at_once=5, each=2)
        inside: list[str] = []

        async def one(holder: str) -> None:
            try:
                async with share.place(holder, dice.random() / 50):
                    inside.append(holder)
                    try:
                        assert len(inside) <= 5
                        assert inside.count(holder) <= 2
                        await asyncio.sleep(dice.random() / 100)
                    finally:
                        inside.remove(holder)
            except Busy:
                pass

        tasks = [asyncio.create_task(one(dice.choice("abcd"))) for _ in range(200)]
        await asyncio.sleep(0.01)
        for task in dice.sample(tasks, 20):
            task.cancel()
        gathered = await asyncio.gather(*tasks, return_exceptions=True)
        assert not [e for e in gathered if isinstance(e, Exception)]
        # Those that were cancelled inside did not come to `remove`.
        assert share.used == 0
        assert not share._waiting

    asyncio.run(run())


def test_one_holder_does_not_keep_another_waiting() -> None:
    async def run() -> None:
        share = FairShare(at_once=4, each=3)
        for _ in range(3):
            await share.take("mallory", 0)
        with pytest.raises(Busy):
            await share.take("mallory", 0.01)
        assert share.is_awaited("mallory") is False
        await share.take("bob", 0.01)
        served: list[str] = []

        async def wait(holder: str, line: str) -> None:
            await share.take(holder, 60, line)
            served.append(holder + line)

        waiting = [asyncio.create_task(wait("mallory", "x")) for _ in range(3)]
        waiting += [asyncio.create_task(wait("carol", line)) for line in ("1", "1", "2")]
        await asyncio.sleep(0)
        assert share.is_awaited("mallory")
        for _ in range(3):
            share.give_back("mallory")
        share.give_back("bob")
        for _ in range(10):  # turns of the loop: what was granted goes on
            await asyncio.sleep(0)
        # The one with fewest places first; carol's lines in turn.
        assert served == ["carol1", "malloryx", "carol2", "malloryx"]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(run())


def test_the_last_place_is_for_who_holds_none() -> None:
    async def run() -> None:
        share = FairShare(at_once=8, each=4, last_for_new=True)
        got = []
        for holder in [*["mallory"] * 9, *["eve"] * 9, "bob", "carol"]:
            try:
                await share.take(holder, 0.0)
                got.append(holder)
            except Busy:
                continue
        assert got == [*["mallory"] * 4, *["eve"] * 3, "bob"]
        share.give_back("eve")
        with pytest.raises(Busy):
            await share.take("mallory", 0.0)
        await share.take("carol", 0.0)

    asyncio.run(run())


def test_a_single_place_serves_everybody() -> None:
    async def run() -> None:
        share = FairShare(at_once=1, each=1, last_for_new=True)
        for holder in ("alice", "alice", "bob"):
            async with share.place(holder, 1.0):
                assert share.used == 1
        assert share.used == 0

    asyncio.run(run())
