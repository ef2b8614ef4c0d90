"""Threads that guess credentials, as fast as they are answered."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx
import psycopg


@dataclass(slots=True)
class Guesses:
    """Number of answers so far, by what was answered."""

    answers: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, answer: str) -> None:
        with self.lock:
            self.answers[answer] = self.answers.get(answer, 0) + 1


@contextlib.contextmanager
def guessing(threads: int, guess: Callable[[int], str]) -> Iterator[Guesses]:
    """Call `guess` with ever new numbers, from many threads, until the block ends."""
    stop, guesses = threading.Event(), Guesses()

    def go_on(number: int) -> None:
        while not stop.is_set():
            try:
                answer = guess(number)
            except (OSError, httpx.HTTPError, psycopg.Error) as error:
                answer = type(error).__name__
            guesses.count(answer)
            number += threads

    running = [threading.Thread(target=go_on, args=(number,)) for number in range(threads)]
    for one in running:
        one.start()
    try:
        yield guesses
    finally:
        stop.set()
        for one in running:
            one.join(60)


def seconds_of(call: Callable[[], object]) -> float:
    began = time.monotonic()
    call()
    return time.monotonic() - began
