"""The measure of this machine grows where the machine is slow, and not where the product is."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from proxy.pgwire.relay import Effects, Relay
from tests.machine_speed import (
    LOOKS,
    MOST_SLOWNESS,
    PAUSE_SECONDS,
    PIECES,
    Allowed,
    Piece,
    allowed_wait,
    allowed_work,
    run_code,
    wait_slowness,
    work_slowness,
)
from tests.pgwire.test_turns import test_a_turn_on_what_a_client_sends as check_turns

_USUAL: dict[Piece, float] = {run_code: PIECES[run_code]}
# So small that no machine is faster than that, and not so small that one reaches the most.
_FAST: dict[Piece, float] = {run_code: PIECES[run_code] / 3}


def _many_times(times: int) -> dict[Callable[[], object], float]:
    def again() -> None:
        for _ in range(times):
            run_code()

    return {again: _FAST[run_code]}


def _least(measure: Callable[[], float]) -> float:
    """Of three: what else runs here can only add."""
    return min(measure() for _ in range(3))


def _work_long() -> None:
    until = time.thread_time() + 25 * PAUSE_SECONDS
    while time.thread_time() < until:
        pass


def test_it_is_never_below_one_and_never_above_the_most() -> None:
    for slowness in (work_slowness, wait_slowness):
        assert slowness({run_code: 1000.0}) == 1
        assert slowness({_work_long: 1e-9}) == MOST_SLOWNESS


@pytest.mark.timed
@pytest.mark.parametrize("slowness", [work_slowness, wait_slowness])
def test_it_grows_with_what_the_machine_takes(slowness: Callable[..., float]) -> None:
    """Twice the work stands for a machine of half the speed."""
    once, twice = (_least(lambda n=n: slowness(_many_times(n))) for n in (1, 2))  # type: ignore[misc]
    assert twice > min(1.4 * once, MOST_SLOWNESS - 1)


@contextmanager
def _on_one_processor() -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.long
@pytest.mark.timed
def test_a_busy_machine_is_slow_on_the_wall() -> None:
    """Seven processes share one processor."""
    with _on_one_processor():
        alone = _least(lambda: wait_slowness(_USUAL))
        spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
        try:
            time.sleep(0.5)
            beside = _least(lambda: wait_slowness(_USUAL))
        finally:
            for one in spinning:
                one.kill()
                one.wait()
    assert beside > min(1.5 * alone, MOST_SLOWNESS - 1)


def test_a_busy_product_is_no_slow_machine() -> None:
    """Its threads are of the tests' own process; three of them leave this one a quarter of the interpreter."""
    is_over = threading.Event()

    def spin() -> None:
        while not is_over.is_set():
            sum(range(1000))

    threads = [threading.Thread(target=spin) for _ in range(3)]
    for one in threads:
        one.start()
    try:
        began = time.monotonic()
        slowness = wait_slowness(_FAST)
        by_the_wall = (time.monotonic() - began) / (LOOKS * (_FAST[run_code] + PAUSE_SECONDS))
    finally:
        is_over.set()
        for one in threads:
            one.join()
    assert slowness < 0.75 * by_the_wall


def test_what_is_allowed() -> None:
    """Who is quick is not measured; a fault that takes a constant time is one on any machine."""
    looks: list[int] = []

    def slowness() -> float:
        looks.append(1)
        return 3.0

    bound = Allowed(0.1, slowness)
    quick, slow, too_slow = 0.09, 0.29, 0.31
    assert quick < bound and quick <= bound and not looks
    assert slow < bound and slow <= bound and len(looks) == 2
    assert not (too_slow < bound or too_slow <= bound)
    assert not slow < Allowed(0.1, slowness, below=0.2)
    for allowed in (allowed_work(0.5), allowed_wait(0.5)):
        assert 0.5 <= allowed.now() <= 0.5 * MOST_SLOWNESS
        assert not float("inf") < allowed


@pytest.mark.long
@pytest.mark.timed
def test_a_turn_that_has_become_slow_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Relay.from_client

    def ten_times(machine: Relay, data: bytes) -> Effects:
        began = time.thread_time()
        effects = take(machine, data)
        ends = began + 10 * (time.thread_time() - began)
        while time.thread_time() < ends:
            pass
        return effects

    check_turns("closes", True)
    monkeypatch.setattr(Relay, "from_client", ten_times)
    with pytest.raises(AssertionError):
        check_turns("closes", True)
