"""How much slower this machine is at the moment than the one that bounds of time were written on.

A bound is a figure of a usual machine: `assert taken < allowed_work(0.05)`. Who takes longer is compared with a
fixed piece of work, which is done then: so a slow or busy machine is told from a product that has become slow.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# Of the two pieces below on a usual machine: 3 GHz, nothing else running.
_CODE_SECONDS = 0.006
_MEMORY_SECONDS = 0.007
PAUSE_SECONDS = 0.001
LOOKS = 4
MOST_SLOWNESS = 20.0  # so that a check can still fail

_MESSAGE = bytes(16 * 1024 * 1024)
Piece = Callable[[], object]


def run_code() -> int:
    """As most of the product: small texts, numbers, dictionaries."""
    counts: dict[str, int] = {}
    for number in range(40_000):
        key = f"{number % 97}"
        counts[key] = counts.get(key, 0) + len(key)
    return sum(counts.values()) + sum(
        len(b"x,".join((b"x,y" * 2_000).split(b","))) for _ in range(20)
    )


def copy_memory() -> int:
    """As a large message: 16 MiB, to pages that are new to the process."""
    with mmap.mmap(-1, len(_MESSAGE)) as pages:
        return pages.write(_MESSAGE)


PIECES: Mapping[Piece, float] = {run_code: _CODE_SECONDS, copy_memory: _MEMORY_SECONDS}


def work_slowness(pieces: Mapping[Piece, float] = PIECES) -> float:
    """By processor time of this thread, at least 1: that of the slowest look, since a turn may be as slow."""
    looks = [_worked(piece) / usual for piece, usual in pieces.items() for _ in range(LOOKS)]
    return _bounded(max(looks))


def wait_slowness(pieces: Mapping[Piece, float] = PIECES) -> float:
    """By the clock on the wall, at least 1: with what others take of the processors, and how long it is
    until a thread that has slept gets one. All looks together, since a long wait meets the mean of that.

    What other threads of this process do is no part of it: that may be the product.
    """
    usual = LOOKS * (sum(pieces.values()) + PAUSE_SECONDS * len(pieces))
    began, process, worked = time.monotonic(), time.process_time(), 0.0
    for _ in range(LOOKS):
        for piece in pieces:
            time.sleep(PAUSE_SECONDS)
            worked += _worked(piece)
    others = time.process_time() - process - worked
    return _bounded(max(worked, time.monotonic() - began - others) / usual)


def _bounded(slowness: float) -> float:
    return min(max(slowness, 1.0), MOST_SLOWNESS)


def _worked(piece: Piece) -> float:
    began = time.thread_time()
    piece()
    return time.thread_time() - began


@dataclass(frozen=True, slots=True)
class Allowed:
    """A bound that is measured only where it is needed: where something took longer than on a usual machine."""

    usual: float
    slowness: Callable[[], float]
    below: float = float("inf")

    def now(self) -> float:
        return min(self.usual * self.slowness(), self.below)

    def __gt__(self, taken: float) -> bool:
        return taken < self.usual or taken < self.now()

    def __ge__(self, taken: float) -> bool:
        return taken <= self.usual or taken <= self.now()


def allowed_work(usual: float, *, below: float = float("inf")) -> Allowed:
    """For processor time. below: as for `allowed_wait`."""
    return Allowed(usual, work_slowness, below)


def allowed_wait(usual: float, *, below: float = float("inf")) -> Allowed:
    """For the clock on the wall.

    Args:
        below: what a fault would take on any machine, as a delay that is a constant of the server.
    """
    return Allowed(usual, wait_slowness, below)
