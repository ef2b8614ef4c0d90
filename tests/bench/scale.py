"""All aggregates of one column of ten million rows in one statement, beside the plain average's one scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

from tests.bench.measuring import Bound, Comparison
from tests.bench.servers import Servers

_COLUMNS = {"amount": "numeric", "seconds": "integer"}
_CASES = {
    "events_by_row": ("row unit, primary key", Bound(ratio=3.5)),
    "events_by_row_no_key": ("row unit, no key", Bound()),
    "events_by_user": ("user unit, covering index", Bound(ratio=4.5)),
    "events_by_user_no_index": ("user unit, no index", Bound(ratio=13)),
}


def scale(servers: Servers) -> list[Comparison]:
    found = []
    for column, kind in _COLUMNS.items():
        for database, (what, bound) in _CASES.items():
            found.append(
                Comparison(
                    f"{column} ({kind}), {what}",
                    _run(servers.plain(), f"SELECT avg({column}) FROM bench.events"),
                    _run(servers.proxied(database), _everything(column)),
                    bound,
                )
            )
    return found


def _everything(column: str) -> str:
    aggregates = ", ".join(f"{name}({column})" for name in ("sum", "avg", "min", "max"))
    return f"SELECT count(*), {aggregates} FROM bench.events"


def _run(connection: psycopg.Connection, text: str) -> Callable[[], object]:
    def run() -> list[tuple[Any, ...]]:
        return connection.execute(text.encode(), prepare=False).fetchall()

    return run
