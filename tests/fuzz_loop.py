"""Tries made-up inputs for some minutes in a process of its own, and says what came out that must not.

DPPROXY_FUZZ_SECONDS: how long (1200 unless told); DPPROXY_FUZZ_SEED: another start.
"""

from __future__ import annotations

import os
import random  # noqa: TID251  the same inputs for the same seed
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tests.machine_speed import allowed_work

T = TypeVar("T")

SECONDS = float(os.environ.get("DPPROXY_FUZZ_SECONDS", "1200"))
SEED = int(os.environ.get("DPPROXY_FUZZ_SEED", "1"))
_SLOW = allowed_work(2)  # other programs must not make one fail
_HANGS_SECONDS = 60
MOST_MEBIBYTES = 512
_SHOWN_FAILURES = 20
_DONE = "tried "


class TooSlow(BaseException):
    """Not an Exception: what is tried must not catch it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    tried: int
    report: str


def in_a_child(module: str) -> Outcome:
    """Runs `module`, which calls `fuzz` as its main program."""
    done = subprocess.run(
        [sys.executable, "-m", module],
        capture_output=True,
        text=True,
        timeout=SECONDS + 120,
        check=False,
    )
    report = f"{done.stdout}\n{done.stderr}"
    counts = [line for line in done.stdout.splitlines() if line.startswith(_DONE)]
    return Outcome(int(counts[0].split()[1]) if counts and done.returncode == 0 else 0, report)


def fuzz(
    make: Callable[[random.Random], T], attempt: Callable[[T], None], show: Callable[[T], str]
) -> None:
    """
    Given    attempt: raises where something is wrong
    Gives    exits with 1 and prints each kind of failure once, shortest input first
    """
    failures: dict[str, tuple[T, str]] = {}
    rng, tried, slowest = random.Random(SEED), 0, 0.0
    signal.signal(signal.SIGVTALRM, _too_slow)
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        given = make(rng)
        before = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, _HANGS_SECONDS)
        wrong = _wrong(attempt, given)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        spent = time.process_time() - before
        slowest, tried = max(slowest, spent), tried + 1
        if wrong is None and not spent < _SLOW:
            wrong = ("slow", f"{spent:.1f} s")
        if wrong is None:
            continue
        known = failures.get(wrong[0])
        if known is None or len(show(given)) < len(show(known[0])):
            failures[wrong[0]] = (given, wrong[1])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{_DONE}{tried} inputs, slowest {slowest:.2f} s, memory {memory:.0f} MiB")
    for key, (given, text) in list(failures.items())[:_SHOWN_FAILURES]:
        print(f"--- {key}\n{show(given)}\n{text}")
    sys.exit(1 if failures or memory > MOST_MEBIBYTES else 0)


def _wrong(attempt: Callable[[T], None], given: T) -> tuple[str, str] | None:
    try:
        attempt(given)
    except TooSlow:
        return "slow", f"more than {_HANGS_SECONDS} s"
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {frames.filename}:{frames.lineno}", str(error)[:400]
    return None


def _too_slow(_number: int, _frame: object) -> None:
    raise TooSlow


def mutated(rng: random.Random, text: str, words: list[str], others: list[str]) -> str:
    """A text with some of its parts taken out, repeated, exchanged or put in."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 1, 3, 10, 40)))
        part = text[start:end]
        match rng.randrange(8):
            case 0:
                part = ""
            case 1:
                part = part * rng.choice((2, 3, 50))
            case 2 | 3 | 4:
                part = rng.choice(words)
            case 5:
                part = "".join(
                    chr(rng.choice((rng.randrange(1, 128), rng.randrange(1, 0x3000)))) for _ in part
                )
            case 6:
                other = rng.choice(others)
                at = rng.randrange(len(other) + 1)
                part = other[at : at + rng.choice((5, 20, 80))]
            case _:
                lines = text.split("\n")
                i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
                text = "\n".join(lines)
                continue
        text = text[:start] + part + text[end:]
    return text
