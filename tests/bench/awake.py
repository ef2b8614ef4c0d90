"""Processors that do not fall asleep: an idle one is clocked down, and takes half as long again for the same.

A loop on each core that runs only while nothing else wants to, so it takes nothing from what is measured.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def awake() -> Iterator[None]:
    """
    Refuses  AttributeError where the system is not Linux
    """
    context = multiprocessing.get_context("spawn")
    loops = [
        context.Process(target=_loop, args=(core,), daemon=True) for core in os.sched_getaffinity(0)
    ]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.terminate()
            loop.join()


def _loop(core: int) -> None:
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while os.getppid() != 1:
        for _ in range(1_000_000):
            pass
