"""An analyst's trial runs, which cost nothing, do not delay another analyst's statements."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from statistics import median

import psycopg
import pytest

from tests.live_proxy import LiveProxy
from tests.machine_speed import allowed_wait

_SESSIONS = 20
_SECONDS = 3
_RATIO = (
    "stddev(total) FILTER (WHERE total < {0}.5) / avg(total) FILTER (WHERE total > {0}.5)"
    " * sum(total) FILTER (WHERE total > {0}.5)"
)
_RATIOS = ", ".join(_RATIO.format(number) for number in range(1, 17))


def _dear(number: int) -> str:
    """Fails for each made-up answer. The number makes it another statement, which is planned anew."""
    return (
        f"SELECT status, quantity, product_id, {_RATIOS}, mod(1, count(*) - count(*)) FROM shop.orders"
        f" WHERE total <> {number}.25 GROUP BY status, quantity, product_id"
    )


@contextmanager
def _flood(live: LiveProxy, analyst: str) -> Iterator[list[str]]:
    """Sessions of the analyst, each of which sends one dear statement after the other."""
    numbers, states, is_over = count(), list[str](), threading.Event()

    def send(connection: psycopg.Connection) -> None:
        while not is_over.is_set():
            try:
                connection.execute(_dear(next(numbers)).encode())
            except psycopg.Error as error:
                states.append(error.sqlstate or "")
            if connection.closed:
                return

    with ExitStack() as stack:
        for _ in range(_SESSIONS):
            connection = stack.enter_context(live.connect(analyst=analyst))
            thread = threading.Thread(target=send, args=(connection,))
            stack.callback(thread.join)
            stack.callback(connection.cancel_safe)
            thread.start()
        stack.callback(is_over.set)
        yield states


@pytest.mark.long
@pytest.mark.timed
def test_another_analyst_is_answered_within_a_second(live: LiveProxy, analyst: str) -> None:
    other = live.servers.new_analyst()
    taken = []
    with live.connect(analyst=other) as connection, _flood(live, analyst) as states:
        ends = time.monotonic() + _SECONDS
        for number in count():
            begun = time.monotonic()
            connection.execute(f"SELECT count(*) FROM shop.orders WHERE total > {number}".encode())
            taken.append(time.monotonic() - begun)
            if time.monotonic() > ends and len(taken) > 5 and states:
                break
            time.sleep(0.1)
    assert median(taken) < allowed_wait(1), taken
    assert max(taken) < allowed_wait(2), taken
