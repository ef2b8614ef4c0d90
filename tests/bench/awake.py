"""Processors that do not fall asleep: an idle one is clocked down, and takes half as long again for the same.

A loop on each core that runs only while nothing else wants to, so it takes nothing from what is measured.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.context import SpawnProcess

_MOST = 1.5  # times that a commit may take longer, or less long, beside the loops


@contextmanager
def awake(commit: Callable[[], float]) -> Iterator[str]:
    """Keep the cores awake while the body runs, unless that changes what is measured.

    Some kernels wake a process that waits at the next tick alone where a loop runs: a commit then takes 4 ms.

    Args:
        commit: Gives the milliseconds of a durable commit.

    Yields:
        Whether the loops run, in words.

    Raises:
        AttributeError: The system is not Linux.
    """
    context = multiprocessing.get_context("spawn")
    loops = [
        context.Process(target=_loop, args=(core,), daemon=True) for core in os.sched_getaffinity(0)
    ]
    asleep = commit()
    for loop in loops:
        loop.start()
    try:
        beside = commit()
        told = f"A commit takes {asleep:.2f} ms, and {beside:.2f} ms beside loops that keep cores awake"
        if is_changed(asleep, beside):
            _stop(loops)
            yield f"{told}: no loops."
        else:
            yield f"{told}: they run (of the load they are {len(loops)})."
    finally:
        _stop(loops)


def is_changed(asleep: float, beside: float) -> bool:
    return max(asleep, beside) > _MOST * min(asleep, beside)


def _stop(loops: Sequence[SpawnProcess]) -> None:
    for loop in loops:
        loop.terminate()
        loop.join()


def _loop(core: int) -> None:
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while os.getppid() != 1:
        for _ in range(1_000_000):
            pass
