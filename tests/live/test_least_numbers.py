"""Numbers under a bound that is chosen, on the demo's shop: what is stated of them holds in 88 of 100 draws."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.release.noisy_relation import NoisyInterval
from tests.asked_by import run_by
from tests.live.served_database import asked, served_database
from tests.live_proxy import start_proxy
from tests.servers_fixture import servers

_SHOP = Path(__file__).parents[2] / "policies" / "shop"
_DRAWS = 40
# The aggregates that are looked at, and the statement around them.
_STATEMENTS = (
    (("count(*)",), "SELECT {} FROM shop.orders"),
    (("count(*)", "count(DISTINCT customer_id)"), "SELECT {} FROM shop.orders"),
    (("sum(quantity)",), "SELECT {} FROM shop.orders"),
    (
        ("count(*)", "sum(total)", "avg(total)", "count(DISTINCT customer_id)"),
        "SELECT {} FROM shop.orders",
    ),
    (
        ("count(gap)",),
        "SELECT {} FROM (SELECT created_at::date - lag(created_at::date) OVER (PARTITION BY customer_id"
        " ORDER BY created_at) AS gap FROM shop.orders) g",
    ),
    (
        ("count(*)",),
        "SELECT {} FROM (SELECT total, row_number() OVER (PARTITION BY customer_id ORDER BY created_at) AS rn"
        " FROM shop.orders) x WHERE rn > 1",
    ),
)

# Of few orders each: squares of single persons are above a bound that noise chose.
_SPREADS = (
    "SELECT variance(total) FROM shop.orders WHERE status = 'returned'",
    "SELECT stddev(total) FROM shop.orders WHERE status = 'paid'",
)


def _shop_policy() -> tuple[str, str]:
    """What makes the demo's shop, and what its policy says of tables."""
    script = "\n".join((_SHOP / name).read_text() for name in ("schema.sql", "rows.sql"))
    policy = (_SHOP / "policy.yaml").read_text()
    return script, policy.partition("\ntables:")[2].partition("\nbudgets:")[0]


@pytest.mark.long
def test_spreads_of_some_orders_are_least_numbers() -> None:
    """Two-sided intervals held in 25 of 50 to 46 of 50 draws at epsilon 0.25, the others were too low.

    False alarm: of 80 draws at 97.5 % fewer than 64 hold once in 10^10 runs.
    """
    script, tables = _shop_policy()
    database = served_database(servers(), "shop_of_spreads", script, f"tables:{tables}", "auto")
    proxy, held, stated = start_proxy(servers(), [database]), 0, 0
    with psycopg.connect(servers().protected.dsn("shop_of_spreads")) as connection:
        for statement in _SPREADS:
            exact = connection.execute(statement.encode()).fetchone()
            assert exact is not None
            aggregate = statement.split()[1]
            question = statement.replace(
                aggregate, f"{aggregate}, dp.low({aggregate}), dp.high({aggregate})"
            )
            for _ in range(_DRAWS):
                work = run_by(
                    database.engine,
                    asked(database, question),
                    (),
                    {"dp.epsilon": "0.25"},
                    "someone",
                )
                (row,) = json.loads(proxy.do(work).relation)["b1"]
                assert row["h1"] is None, "a bound may cut"
                stated += row["l1"] is not None
                held += row["l1"] is not None and row["l1"] <= float(exact[0])
    proxy.stop()
    assert stated >= 70 and held >= 0.8 * stated, (held, stated)


@pytest.mark.long
def test_what_is_stated_of_the_shop_holds() -> None:
    """By the noise alone 60 to 85 of 100 would, as up to 1,300 of 60,000 rows are cut.

    False alarms: of 40 draws at 95 % fewer than 25 hold once in 10^10 runs; of 200 at 97.5 % fewer than 176
    once in 10^9.
    """
    script, tables = _shop_policy()
    database = served_database(servers(), "shop_of_least", script, f"tables:{tables}", "auto")
    proxy, kinds, least = start_proxy(servers(), [database]), Counter[str](), 0
    with psycopg.connect(servers().protected.dsn("shop_of_least")) as connection:
        for aggregates, statement in _STATEMENTS:
            exact = connection.execute(statement.format(", ".join(aggregates)).encode()).fetchone()
            assert exact is not None
            ends = (f"dp.low({one}), dp.high({one})" for one in aggregates)
            question = statement.format(", ".join((*aggregates, *ends)))
            held, stated = [0] * len(aggregates), [0] * len(aggregates)
            for _ in range(_DRAWS):
                work = run_by(
                    database.engine, asked(database, question), (), {"dp.epsilon": "0.5"}, "someone"
                )
                (row,) = json.loads(proxy.do(work).relation)["b1"]
                for place, truth in enumerate(exact):
                    low, high = row[f"l{place + 1}"], row[f"h{place + 1}"]
                    kinds["two-sided" if high is not None else "least"] += low is not None
                    stated[place] += low is not None
                    is_below = high is None or float(truth) <= high
                    held[place] += low is not None and low <= float(truth) and is_below
            least += sum(holds for place, holds in enumerate(held) if row[f"h{place + 1}"] is None)
            for name, holds, of in zip(aggregates, held, stated, strict=True):
                assert of == _DRAWS and holds >= 25, (statement, name, holds, of)
    proxy.stop()
    assert 100 * least >= 88 * kinds["least"]
    assert kinds["least"] > 150 and kinds["two-sided"] > 100


# 1.6 % of the people have 40 to 80 rows each, which are two thirds of all that is paid.
_SKEWED = """\
CREATE SCHEMA w;
CREATE TABLE w.sales (id bigint PRIMARY KEY, person int NOT NULL, kind text NOT NULL, paid int NOT NULL);
INSERT INTO w.sales SELECT row_number() OVER (), p, k, paid FROM (
SELECT p, 'one' AS k, (p * 37 + n * 11) % 60 AS paid
FROM generate_series(1, 5000) p, generate_series(1, 1 + p % 4) n
UNION ALL SELECT p, 'bulk', 100 + (p * 7 + n) % 300
FROM generate_series(1, 5000) p, generate_series(1, 40 + p % 41) n WHERE p % 60 = 0) q;
"""
_SKEWED_TABLES = """\
tables:
  w.sales:
    unit: {buyer: person}
    max_rows_per_unit: auto
    columns:
      kind: {values: [one, bulk]}
      paid: {bounds: [0, 1000]}
"""


@pytest.mark.long
def test_a_share_whose_parts_are_cut_has_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the noise alone would miss: the bounds are chosen low, and cut the whole more than the part."""
    database = served_database(servers(), "shares", _SKEWED, _SKEWED_TABLES, "auto")
    proxy = start_proxy(servers(), [database])
    share = "1.0 * sum(paid) FILTER (WHERE kind = 'one') / sum(paid)"
    question = f"SELECT {share}, dp.low({share}), dp.high({share}) FROM w.sales"

    def ends() -> tuple[float | None, float | None]:
        work = run_by(database.engine, asked(database, question), (), {}, "someone")
        (row,) = json.loads(proxy.do(work).relation)["b1"]
        low, high = (next(row[name] for name in row if name[0] == side) for side in "lh")
        return low, high

    with psycopg.connect(servers().protected.dsn("shares")) as connection:
        exact = connection.execute(f"SELECT {share} FROM w.sales".encode()).fetchone()
    assert exact is not None
    assert all(ends() == (None, None) for _ in range(5))
    noise_alone = NoisyInterval.json

    def json_of_noise(one: NoisyInterval, *given: Any) -> str:
        return noise_alone(replace(one, is_least=False, is_most=False), *given)

    monkeypatch.setattr(NoisyInterval, "json", json_of_noise)
    drawn = [ends() for _ in range(_DRAWS)]
    proxy.stop()
    stated = [(low, high) for low, high in drawn if low is not None and high is not None]
    held = sum(low <= float(exact[0]) <= high for low, high in stated)
    assert len(stated) > 30 and held < 0.8 * len(stated), (held, len(stated))
