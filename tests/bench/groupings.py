"""What a grouping costs that is seen for the first time: EXPLAIN of it with what PostgreSQL said of its keys
forgotten, beside EXPLAIN with that kept. `python -m tests.bench.groupings`"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import psycopg

from proxy.shadow.constant_evaluation import ShadowLabels
from tests.live.served_database import served_database
from tests.live_proxy import start_proxy
from tests.servers_fixture import servers
from tests.sql.corpus import corpus

_ROUNDS = 40
# A key, and a condition that it is narrowed by.
GROUPINGS = (
    ("lower(state) || '/' || size", "true"),
    ("concat(state, ' ', kind, ' ', is_new)", "true"),
    ("extract(year FROM day) || '-' || extract(month FROM day)", "true"),
    ("date_trunc('week', at)", "extract(year FROM at) * 100 + extract(month FROM at) = 202305"),
    ("to_char(day, 'YYYY-MM')", "day::text LIKE '2023-1%'"),
    ("at::date - date '2023-01-01'", "extract(year FROM at)::text = '2023'"),
    ("floor(age / 10) * 10 || ' - ' || (floor(age / 10) + 1) * 10 - 1", "age > 20"),
    ("CASE WHEN state = 'south' THEN upper(state) ELSE initcap(state) END", "true"),
)


def _times(
    connection: psycopg.Connection, labels: ShadowLabels, key: str, where: str
) -> list[list[float]]:
    """Milliseconds: of those that are seen for the first time, and of the others."""
    found: list[list[float]] = [[], []]
    for number in range(2 * _ROUNDS):
        is_seen = number % 2
        if not is_seen:
            labels._kept.clear()
            labels._characters.clear()
        # Another constant each time, so that no plan is remembered.
        text = f"EXPLAIN SELECT {key}, count(*) FROM w.sales WHERE {where} AND spent > -{number + 1} GROUP BY 1"
        started = time.perf_counter()
        connection.execute(text.encode()).fetchall()
        found[is_seen].append((time.perf_counter() - started) * 1_000)
    return found


def table(measured: Sequence[tuple[str, list[list[float]]]]) -> str:
    lines = ["first  seen   more   p90    key"]
    for key, (first, seen) in measured:
        more = statistics.median(first) - statistics.median(seen)
        ninth = sorted(first)[len(first) * 9 // 10] - statistics.median(seen)
        lines.append(
            f"{statistics.median(first):5.1f}  {statistics.median(seen):5.1f}  {more:5.2f}  {ninth:5.2f}  {key}"
        )
    return "\n".join(lines)


def measure() -> list[tuple[str, list[list[float]]]]:
    sales = corpus("sales")
    database = served_database(
        servers(), "groupings", sales.schema, sales.policy, "best", most="100"
    )
    proxy = start_proxy(servers(), [database])
    try:
        with proxy.connect("groupings", analyst=proxy.servers.new_analyst()) as connection:
            return [
                (f"{key} where {where}", _times(connection, database.labels, key, where))
                for key, where in GROUPINGS
            ]
    finally:
        proxy.stop()


if __name__ == "__main__":
    print(table(measure()))
