"""MIN and MAX of the demo's customers through a served proxy: one value of each, who counts in one group.

python -m tests.live.test_extremes_of_people [draws]        # the demo's table of docs/reference/accuracy.md 7
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from statistics import median

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.cli.sample_policies import sample_policy
from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan
from proxy.protected.protected_database import ProtectedDatabase
from tests.live.served_database import planned, served_database
from tests.live_proxy import LiveProxy
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers
from tests.uncharged_statements import read
from tests.unchecked_blocks import compile_block, release_block

_DRAWS, _MANY_DRAWS = 12, 40
_DEMO = "extremes_of_the_demo"
_LEAST, _MOST = Decimal("2.12"), Decimal(175)  # of all orders, within the policy's bounds
_TABLES = """\
tables:
  shop.orders:
    unit: {customer: customer_id}
    columns:
      total: {bounds: [0, 500], grid: 0.01}
      status: {values: [paid, shipped, returned, cancelled]}
"""
_ALL = "SELECT min(total), max(total) FROM shop.orders"
_BY_STATUS = "SELECT status, min(total), max(total) FROM shop.orders GROUP BY status"
_FEW = "SELECT min(total), max(quantity) FROM shop.orders WHERE customer_id < 8"


def _told(live: LiveProxy, sql: str) -> tuple[list[tuple[object, ...]], list[str]]:
    """A draw of its own: each analyst is new."""
    heard: list[str] = []
    with live.connect("shop", analyst=live.servers.new_analyst()) as connection:
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        return connection.execute(sql.encode()).fetchall(), heard


def test_of_all_customers_they_are_near_the_exact_ones(live: LiveProxy) -> None:
    """MIN below 4 and MAX at its bound, each but for one draw in some thousand: so are most draws."""
    near = 0
    for _ in range(_DRAWS):
        ((least, most),), heard = _told(live, _ALL)
        if heard == []:
            assert isinstance(least, Decimal) and isinstance(most, Decimal)
            near += least < 4 and most > 170
    assert near > _DRAWS // 2


@pytest.mark.long
def test_of_the_demo_with_its_own_bounds() -> None:
    """`dpproxy demo` lets a total be up to 500: docs/reference/accuracy.md 7."""
    ((least, most),) = _of_the_demo(_demo(), _ALL, 20).values()
    assert max(least) < 4 and min(most) > 400, (least, most)


def _demo() -> Database:
    sample = sample_policy("shop")
    script = f"{sample.schema}\n{sample.rows}"
    return served_database(servers(), _DEMO, script, _TABLES, "best")


def _of_the_demo(
    database: Database, question: str, draws: int
) -> Mapping[str, tuple[list[float], list[float]]]:
    """MIN and MAX of each group. Four draws share what the database gave."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    (block,) = planned(database, question).blocks
    for seed in range(1, draws // 4 + 1):
        tables = asyncio.run(_read(block, servers().protected.dsn(_DEMO), seed))
        for draw in range(4):
            for row in release_block(block, tables, SeededBits(10 * seed + draw)).rows:
                ends = found.setdefault(str(row.keys[0]) if row.keys else "all", ([], []))
                for end, value in zip(ends, row.values, strict=True):
                    end.append(float(value.index * value.grid))
    return found


async def _read(block: BlockPlan, dsn: str, seed: int) -> list[ExactTable]:
    data = ProtectedDatabase(dsn, sessions_max=1, timeout_ms=60_000)
    await data.open()
    try:
        return [
            await read(data, query, {name: seed + n for n, name in enumerate(query.seeds)})
            for query in compile_block(block)
        ]
    finally:
        await data.close()


@pytest.mark.long
def test_by_status_they_are_in_order(live: LiveProxy) -> None:
    least, most = Counter[str](), Counter[str]()
    found: dict[str, list[tuple[float, float]]] = {}
    quiet = 0  # by its noise an answer is NULL now and then, or is adjusted to another one
    for _ in range(_MANY_DRAWS):
        rows, heard = _told(live, _BY_STATUS)
        assert len(rows) == 4
        if heard:
            continue
        quiet += 1
        for status, low, high in rows:
            assert isinstance(low, Decimal) and isinstance(high, Decimal) and low < high
            found.setdefault(str(status), []).append((float(low), float(high)))
    assert quiet > _MANY_DRAWS // 2
    for status, pairs in found.items():
        least[status] = round(median(low for low, _ in pairs) * 100)
        most[status] = round(median(high for _, high in pairs) * 100)
    assert max(least.values()) < 700, least
    assert min(most.values()) > 17_000, most
    assert least["shipped"] < 350, least


def test_few_people_have_no_answer_and_a_notice(live: LiveProxy) -> None:
    """By the noise of their count they are enough now and then."""
    draws = (_told(live, _FEW) for _ in range(_MANY_DRAWS))
    (text,) = next(heard for rows, heard in draws if rows == [(None, None)])
    for line, name in zip(text.splitlines(), ("min(total)", "max(quantity)"), strict=True):
        said = r"it takes about \d+ people with a value, and a noisy count found fewer\."
        assert re.match(rf"{re.escape(name)} is NULL: {said}", line), line
    assert text.count("Raise dp.epsilon,") == 1 and "Raise dp.epsilon," in text.splitlines()[-1]


def test_the_interval_holds_the_exact_ones(live: LiveProxy) -> None:
    sql = "SELECT status, dp.low(min(total)), dp.high(min(total)), dp.low(max(total)), dp.high(max(total))"
    missed = known = 0
    for _ in range(_DRAWS // 2):
        rows, _ = _told(live, f"{sql} FROM shop.orders GROUP BY status")
        for _, *ends in rows:
            if None in ends:
                continue
            known += 1
            low, high, below, above = (Decimal(str(end)) for end in ends)
            assert low == 0 and above == _MOST
            missed += high < _LEAST
            missed += below > _MOST
    assert known >= 8 and missed <= 16  # of 48, each with 5 % at most


def test_rollups_have_them_too(live: LiveProxy) -> None:
    text = "SELECT status, min(quantity) FROM shop.orders GROUP BY ROLLUP (status)"
    draws = (_told(live, text) for _ in range(_MANY_DRAWS))
    rows = next(rows for rows, heard in draws if heard == [])
    assert len(rows) == 5
    assert all(isinstance(least, int) and 1 <= least <= 20 for _, least in rows)


def test_explain_says_how_a_customer_counts(live: LiveProxy) -> None:
    lines, _ = _told(live, f"EXPLAIN (VERBOSE) {_BY_STATUS}")
    text = " ".join(" ".join(str(line) for (line,) in lines).split())
    assert "one value per unit" in text and "a unit counts in one of its groups" in text
    assert "ranks" not in text, "many values share a place"
    lines, _ = _told(live, "EXPLAIN (VERBOSE) SELECT max(quantity) FROM shop.orders")
    assert "ranks" in " ".join(str(line) for (line,) in lines)


def _exact(question: str) -> Mapping[str, tuple[float, float]]:
    """Of values within the demo's bounds."""
    clamped = question.replace("(total)", "(least(total, 500))")
    with psycopg.connect(servers().protected.dsn(_DEMO)) as connection:
        rows = connection.execute(clamped.encode()).fetchall()
    return {str(row[0]) if len(row) > 2 else "all": (row[-2], row[-1]) for row in rows}


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 80
    database = _demo()
    print("| group | exact MIN, MAX | median MIN, MAX |\n|---|---|---|")
    for question in (_ALL, _BY_STATUS):
        exact = _exact(question)
        for group, (least, most) in _of_the_demo(database, question, draws).items():
            low, high = exact[group]
            print(f"| {group} | {low}, {high} | {median(least):.2f}, {median(most):.0f} |")


if __name__ == "__main__":
    main()
