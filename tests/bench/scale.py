"""Ten million rows: all aggregates of a column in one statement, beside the plain average's one scan; and the
same question beside itself, with units of many rows, of one row, and in very many private groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

from tests.bench.measuring import Bound, Comparison
from tests.bench.servers import Servers

_COLUMNS = {"amount": "numeric", "seconds": "integer"}
_CASES = {
    "events_by_row": ("row unit, primary key", Bound(ratio=3.5)),
    "events_by_row_no_key": ("row unit, no key", Bound(ratio=3.5)),
    "events_by_user": ("user unit, covering index", Bound(ratio=4.5)),
    "events_by_user_no_index": ("user unit, no index", Bound(ratio=13)),
}
_FIVE = {
    "events_best_by_row": "row unit",
    "events_fixed": "user unit, covering index",
    "events_by_row": "row unit, smooth_median",
    "events_by_user": "user unit, covering index, smooth_median",
}

_SAME = {
    "events_by_user": ("user unit, covering index", Bound(ratio=4.5)),
    "events_by_user_no_index": ("user unit, no index", Bound(ratio=13)),
    "events_by_event": ("unique unit", Bound(ratio=1.4)),
}
_QUESTIONS = {
    "count": "SELECT count(*) FROM bench.events",
    "sum": "SELECT sum(amount) FROM bench.events",
    "count, sum by 20 keys": "SELECT country, count(*), sum(amount) FROM bench.events GROUP BY country",
}
# 100,000 groups of 100 rows: more than enough for all to be shown.
_GROUPS = "SELECT event_id / 100 AS block, count(*) FROM bench.events GROUP BY event_id / 100"


def same_question(servers: Servers) -> list[Comparison]:
    return [
        Comparison(
            f"{what}, {unit}",
            run(servers.plain(), text),
            run(servers.proxied(database), text),
            bound,
        )
        for database, (unit, bound) in _SAME.items()
        for what, text in _QUESTIONS.items()
    ]


def many_groups(servers: Servers) -> Comparison:
    return Comparison(
        "count by 100,000 private keys, row unit",
        run(servers.plain(), _GROUPS),
        run(servers.proxied("events_by_row"), _GROUPS),
    )


def scale(servers: Servers) -> list[Comparison]:
    found = []
    for column, kind in _COLUMNS.items():
        for database, (what, bound) in _CASES.items():
            found.append(
                Comparison(
                    f"{column} ({kind}), {what}",
                    run(servers.plain(), f"SELECT avg({column}) FROM bench.events"),
                    run(servers.proxied(database), everything(column)),
                    bound,
                )
            )
    return found


def five_aggregates(servers: Servers) -> list[Comparison]:
    """All aggregates of a column beside the same statement on plain PostgreSQL."""
    return [
        Comparison(
            f"five aggregates, {kind}, {what}",
            run(servers.plain(), everything(column)),
            run(servers.proxied(database), everything(column)),
            Bound(ratio=2),
        )
        for database, what in _FIVE.items()
        for column, kind in _COLUMNS.items()
    ]


def everything(column: str) -> str:
    aggregates = ", ".join(f"{name}({column})" for name in ("sum", "avg", "min", "max"))
    return f"SELECT count(*), {aggregates} FROM bench.events"


def run(connection: psycopg.Connection, text: str) -> Callable[[], object]:
    def once() -> list[tuple[Any, ...]]:
        return connection.execute(text.encode(), prepare=False).fetchall()

    return once
