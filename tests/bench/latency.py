"""What one question costs in time on a small table, and what relaying costs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import psycopg

from tests.bench.measuring import Bound, Comparison
from tests.bench.servers import Servers

_NO_BOUND = Bound()
_FRESH_COUNT, _PREPARED_COUNT, _RECENT_COUNT = (
    Bound(added_ms=10),
    Bound(added_ms=5),
    Bound(added_ms=7),
)
_FRESH_AVG = Bound(added_ms=6)
_TEXT = "SELECT count(*) FROM bench.people WHERE income > 30000"
_AVG = "SELECT avg(age) FROM bench.people"
_RECENT = "SELECT count(*) FROM bench.people WHERE joined > now() - interval '1000 days'"


def latency(servers: Servers) -> list[Comparison]:
    plain, ours = servers.plain(), servers.proxied("people")
    direct, relayed = servers.shadow("people"), servers.proxied("people")
    grouped = "SELECT region, count(*) FROM bench.people GROUP BY region ORDER BY region"
    return [
        Comparison(
            "select 1, direct and relayed", _same(direct, "SELECT 1"), _same(relayed, "SELECT 1")
        ),
        _both("count(*)", "SELECT count(*) FROM bench.people", plain, ours, _FRESH_COUNT),
        Comparison(
            "count(*) where, new text",
            _new_text(plain, itertools.count()),
            _new_text(ours, itertools.count()),
            _FRESH_COUNT,
        ),
        Comparison(
            "count(*) where, parameter, prepared",
            _prepared(plain, itertools.count()),
            _prepared(ours, itertools.count()),
            _PREPARED_COUNT,
        ),
        Comparison(
            "count(*) where, prepared",
            _prepared_text(plain, _TEXT),
            _prepared_text(ours, _TEXT),
            _PREPARED_COUNT,
        ),
        _both("count(*) since now() - interval", _RECENT, plain, ours, _RECENT_COUNT),
        Comparison(
            "count(*) since now() - interval, prepared",
            _prepared_text(plain, _RECENT),
            _prepared_text(ours, _RECENT),
            _RECENT_COUNT,
        ),
        _both("avg(age)", _AVG, plain, ours),
        _both("count(*) by region", grouped, plain, ours),
    ]


def small_goals(servers: Servers) -> list[Comparison]:
    plain, ours = servers.plain(), servers.proxied("people")
    return [
        Comparison(
            "COUNT of 32,000 rows, prepared",
            _prepared_text(plain, _TEXT),
            _prepared_text(ours, _TEXT),
            Bound(added_ms=3),
        ),
        _both("AVG of 32,000 rows", _AVG, plain, servers.proxied("people_best"), _FRESH_AVG),
        _both("AVG of 32,000 rows, smooth_median", _AVG, plain, ours, _FRESH_AVG),
    ]


def _both(
    what: str,
    text: str,
    plain: psycopg.Connection,
    ours: psycopg.Connection,
    bound: Bound = _NO_BOUND,
) -> Comparison:
    return Comparison(what, _same(plain, text), _same(ours, text), bound)


def _same(connection: psycopg.Connection, text: str) -> Callable[[], object]:
    def run() -> list[tuple[Any, ...]]:
        return connection.execute(text.encode(), prepare=False).fetchall()

    return run


def _new_text(connection: psycopg.Connection, numbers: Iterator[int]) -> Callable[[], object]:
    """A statement that nobody has seen before: nothing kept helps."""

    def run() -> list[tuple[Any, ...]]:
        text = f"SELECT count(*) FROM bench.people WHERE income > {next(numbers)}.5"
        return connection.execute(text.encode(), prepare=False).fetchall()

    return run


def _prepared(connection: psycopg.Connection, numbers: Iterator[int]) -> Callable[[], object]:
    def run() -> list[tuple[Any, ...]]:
        return connection.execute(
            "SELECT count(*) FROM bench.people WHERE income > %s::numeric",
            (next(numbers),),
            prepare=True,
        ).fetchall()

    return run


def _prepared_text(connection: psycopg.Connection, text: str) -> Callable[[], object]:
    def run() -> list[tuple[Any, ...]]:
        return connection.execute(text.encode(), prepare=True).fetchall()

    return run
