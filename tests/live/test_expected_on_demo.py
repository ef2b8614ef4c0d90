"""EXPLAIN and what comes, on the demo's data: the median stated error is near that of as many rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from proxy.engine.answer_accuracy import accuracies
from proxy.engine.expected_errors import expected_error
from tests.asked_by import run_by
from tests.live.served_database import asked, planned, served_database
from tests.live_proxy import start_proxy
from tests.servers_fixture import servers

_SHOP = Path(__file__).parents[2] / "policies" / "shop"
_DRAWS = 7
_CUSTOMERS, _ORDERS = 5_000, 60_000
# What one group has of them: all, or a seventh of the orders, of 3,950 customers.
_WHOLE, _WEEKDAYS = "", "extract(dow FROM created_at)"
_SIZES = {_WHOLE: (_CUSTOMERS, _ORDERS), _WEEKDAYS: (3_950, _ORDERS // 7)}
_AGGREGATES = (
    *("avg(total)", "avg(quantity)", "stddev(total)", "variance(total)", "sum(total)"),
    *("covar_pop(quantity, total)", "corr(quantity, total)", "regr_slope(total, quantity)"),
)
_TIMES = 3.5  # 2.7 of avg(quantity), below 2 of all others


def _policy() -> tuple[str, str]:
    script = "\n".join((_SHOP / name).read_text() for name in ("schema.sql", "rows.sql"))
    return script, (_SHOP / "policy.yaml").read_text().partition("\ntables:")[2].partition(
        "\nbudgets:"
    )[0]


@contextmanager
def _shop() -> Iterator[Any]:
    script, tables = _policy()
    database = served_database(
        servers(), "expected", script, f"tables:{tables}\nreuse: none\n", "best", most="2"
    )
    live = start_proxy(servers(), [database])
    try:
        yield database, live
    finally:
        live.stop()


def _expected(database: Any, sql: str, sizes: tuple[int, int]) -> float | None:
    """Between two examples the error falls as a power of the number. None: NULL at the next smaller one."""
    plan = planned(database, sql)
    (block,) = plan.blocks
    found = expected_error(block, 0, accuracies(plan)[0])
    examples = [(one.number, one.error) for one in found.examples]
    if examples[0][0] is None:
        return float(examples[0][1] or 0)
    size = sizes[0 if found.examples[0].of == "customers" else 1]
    known = [(math.log(number), error) for number, error in examples if number]
    for (low, first), (high, last) in pairwise(known):
        if math.log(size) <= high and last is not None:
            if first is None:
                return float(last) * math.exp(high - math.log(size))
            share = (math.log(size) - low) / (high - low)
            return math.exp(math.log(first) * (1 - share) + math.log(last) * share)
    return None


@pytest.mark.long
def test_what_comes_is_what_explain_says() -> None:
    with _shop() as (database, live):
        for key in (_WHOLE, _WEEKDAYS):
            for aggregate in _AGGREGATES:
                grouped = f"{key}, " if key else ""
                sql = f"SELECT {grouped}{aggregate} AS x FROM shop.orders{' GROUP BY 1' if key else ''}"
                expected = _expected(database, sql, _SIZES[key])
                came: list[float | None] = []
                for _ in range(_DRAWS):
                    work = run_by(database.engine, asked(database, sql), (), {}, "someone")
                    (column,) = (one for one in live.do(work).columns if one.name == "x")
                    ends = column.least, column.most
                    came.append(
                        None
                        if ends[0] is None or ends[1] is None
                        else math.sqrt(float(ends[0]) * float(ends[1]))
                    )
                known = [float(one) for one in came if one is not None]
                print(
                    f"{sql}: expected {expected}, came {median(known) if known else None} of {len(came)}"
                )
                if expected is None:
                    assert len(known) < len(came) / 2, sql
                else:
                    assert len(known) > len(came) / 2, sql
                    assert expected / _TIMES < median(known) < expected * _TIMES, sql
