"""Places are shared: nobody takes them all, and who holds fewest is next."""

from __future__ import annotations

import asyncio

import pytest

from proxy.databases.fair_places import FairPlaces


async def _tried(places: FairPlaces, *analysts: str) -> list[str]:
    """Who of them gets a place at once, in this order."""
    got = []
    for analyst in analysts:
        try:
            await places.take(analyst, 0.0)
            got.append(analyst)
        except asyncio.TimeoutError:
            continue
    return got


def test_one_analyst_holds_at_most_their_share() -> None:
    async def check() -> None:
        places = FairPlaces(8, 4)
        assert await _tried(places, *["mallory"] * 9) == ["mallory"] * 4
        assert await _tried(places, "bob") == ["bob"]
        places.give_back("mallory")
        assert await _tried(places, "mallory", "mallory") == ["mallory"]

    asyncio.run(check())


def test_the_last_place_is_for_who_holds_none() -> None:
    async def check() -> None:
        places = FairPlaces(8, 4)
        await _tried(places, *["mallory"] * 9, *["eve"] * 9)
        assert await _tried(places, "bob", "carol") == ["bob"]

    asyncio.run(check())


def test_a_single_place_serves_everybody_in_turn() -> None:
    async def check() -> None:
        places = FairPlaces(1, 1)
        await places.take("alice", 0.0)
        order: list[str] = []

        async def wait(analyst: str) -> None:
            await places.take(analyst, 5.0)
            order.append(analyst)
            places.give_back(analyst)

        waiting = [asyncio.create_task(wait(name)) for name in ("alice", "alice", "bob")]
        await asyncio.sleep(0)
        places.give_back("alice")
        await asyncio.gather(*waiting)
        assert order == ["alice", "alice", "bob"]

    asyncio.run(check())


def test_who_holds_fewest_is_next_whoever_waited_longer() -> None:
    async def check() -> None:
        places = FairPlaces(4, 3)
        await _tried(places, "mallory", "mallory", "mallory", "bob")
        order: list[str] = []

        async def wait(analyst: str) -> None:
            await places.take(analyst, 5.0)
            order.append(analyst)

        waiting = [asyncio.create_task(wait(name)) for name in ("mallory", "mallory", "carol")]
        await asyncio.sleep(0)
        places.give_back("mallory")
        await waiting[2]
        assert order == ["carol"]
        for task in waiting:
            task.cancel()

    asyncio.run(check())


@pytest.mark.parametrize("granted", [False, True])
def test_who_leaves_the_queue_keeps_nothing(granted: bool) -> None:
    """Cancelled before the place came free, or in the same moment."""

    async def check() -> None:
        places = FairPlaces(1, 1)
        await places.take("alice", 0.0)
        waiting = asyncio.create_task(places.take("bob", 5.0))
        await asyncio.sleep(0)
        if granted:
            places.give_back("alice")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if not granted:
            places.give_back("alice")
        assert await _tried(places, "carol", "alice") == ["carol"]

    asyncio.run(check())
