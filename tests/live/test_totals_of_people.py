"""Totals of the demo's customers through the whole path: a subquery adds up the orders of each.

Answers about these totals are near PostgreSQL's own, though nothing bounds the orders of a customer.

    python -m tests.live.test_totals_of_people [draws]        # the table of docs/reference/accuracy.md 9
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.cli.sample_policies import sample_policy
from proxy.engine.noisy_answers import NoisyAnswer
from tests.asked_by import run_by
from tests.live.served_database import asked, served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_DRAWS = 6
_NAME = "totals_of_people"
_TABLES = """\
tables:
  shop.orders:
    unit: {customer: customer_id}
    columns:
      total: {bounds: [0, 500], grid: 0.01}
      quantity: {bounds: [1, 20]}
"""
# As the policy's bounds cut the rows.
_CLAMPED = "least(greatest(total, 0), 500)"
_TOTALS = (
    "(SELECT customer_id, sum(total) AS t, count(*) AS n FROM shop.orders GROUP BY customer_id) q"
)


@dataclass(frozen=True)
class Asking:
    """The engine of the demo's shop, on the proxy's loop."""

    database: Database
    live: LiveProxy

    def run(self, question: str, **settings: str) -> NoisyAnswer:
        given = {f"dp.{name}": value for name, value in settings.items()}
        work = run_by(self.database.engine, asked(self.database, question), (), given, "someone")
        return self.live.do(work)

    def rows(self, select: str) -> list[dict[str, Any]]:
        return list(json.loads(self.run(f"SELECT {select}").relation)["b1"])


@pytest.fixture(scope="module")
def shop() -> Iterator[Asking]:
    with _served() as asking:
        yield asking


@contextmanager
def _served() -> Iterator[Asking]:
    sample = sample_policy("shop")
    script = f"{sample.schema}\n{sample.rows}"
    database = served_database(servers(), _NAME, script, _TABLES, "auto")
    proxy = start_proxy(servers(), [database])
    yield Asking(database, proxy)
    proxy.stop()


def _exact(select: str) -> float:
    clamped = select.replace("sum(total)", f"sum({_CLAMPED})")
    with psycopg.connect(servers().protected.dsn(_NAME)) as connection:
        row = connection.execute(f"SELECT {clamped}".encode()).fetchone()
    assert row is not None
    return float(row[0])


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("aggregate", "within"),
    [
        ("avg(t)", 0.05),
        ("sum(t)", 0.05),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY t)", 0.02),
        ("percentile_cont(0.9) WITHIN GROUP (ORDER BY t)", 0.08),
        ("count(*) FILTER (WHERE t > 1000)", 0.03),
        ("avg(t / 12)", 0.05),
        ("avg(n)", 0.05),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY n)", 0.01),
    ],
)
def test_they_are_near_the_exact_ones(aggregate: str, within: float, shop: Asking) -> None:
    select = f"{aggregate} FROM {_TOTALS}"
    exact = _exact(select)
    found = [shop.rows(select)[0]["a1"] for _ in range(_DRAWS)]
    assert median(found) == pytest.approx(exact, rel=within)


@pytest.mark.every(3)
@pytest.mark.parametrize("aggregate", ["avg(t)", "sum(t)", "stddev(t)", "avg(n)", "sum(n)"])
def test_the_error_is_that_of_totals_within_the_bound_that_is_told(
    aggregate: str, shop: Asking
) -> None:
    """Beyond eight times the stated error, which is of 95 of 100 answers, is one of 10^10."""
    column = "n" if "(n)" in aggregate else "t"
    for _ in range(_DRAWS):
        one = _drawn(aggregate, column, shop)
        assert abs(one.value - one.of_cut) < 8 * one.error + 1e-3 * one.of_cut


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """An answer, its stated error, and what it would be without noise: of totals cut at the bound."""

    value: float
    error: float
    of_cut: float


def _drawn(aggregate: str, column: str, shop: Asking) -> _Drawn:
    answer = shop.run(f"SELECT {aggregate} FROM {_TOTALS}")
    ((row,), (clipped,)) = json.loads(answer.relation)["b1"], answer.clipped
    (error,) = answer.columns
    assert clipped.most is not None and error.most is not None and not clipped.of_rows
    cut = aggregate.replace(f"({column})", f"(least({column}, {float(clipped.most)}))")
    of_cut = _exact(f"{cut} FROM {_TOTALS}")
    return _Drawn(value=float(row["a1"]), error=float(error.most), of_cut=of_cut)


def test_a_histogram_needs_no_bound(shop: Asking) -> None:
    for key in ("width_bucket(t, 0, 3000, 6)", "floor(t / 500)"):
        select = f"{key}, count(*) FROM {_TOTALS} GROUP BY 1"
        answer = shop.run(f"SELECT {select}")
        assert answer.clipped == ()
        found = {float(row["k1"]): row["a1"] for row in json.loads(answer.relation)["b1"]}
        with psycopg.connect(servers().protected.dsn(_NAME)) as connection:
            text = select.replace("sum(total)", f"sum({_CLAMPED})")
            exact: dict[Any, int] = dict(connection.execute(f"SELECT {text}".encode()).fetchall())
        assert len(found) > 4
        assert all(abs(count - exact[key]) < 30 for key, count in found.items())


def test_the_share_of_few_is_a_share(shop: Asking) -> None:
    select = f"sum(t) FILTER (WHERE t > 3000), sum(t) FROM {_TOTALS}"
    part, whole = (_exact(f"{one} FROM {_TOTALS}") for one in select.split(" FROM")[0].split(", "))
    found = []
    for _ in range(_DRAWS):
        answer = shop.run(f"SELECT {select}", epsilon="2")
        (row,) = json.loads(answer.relation)["b1"]
        assert len(answer.clipped) == 1, "both sums share one bound"
        found.append(row["a1"] / row["a2"])
    # 0.013; the noise of a share has a scale of 0.0025 at epsilon 2.
    assert median(found) == pytest.approx(part / whole, abs=0.04)


@pytest.mark.long
def test_means_of_totals_by_further_keys_are_about_their_centres(shop: Asking) -> None:
    """By the whole path: a bound on the totals, centres within it, and deviations from these."""
    inner = "SELECT customer_id, quantity AS k, sum(total) AS t FROM shop.orders GROUP BY 1, 2"
    select = f"avg(t) FROM ({inner}) q"
    exact, found = _exact(select), []
    for _ in range(_DRAWS):
        answer = shop.run(f"SELECT {select}")
        (row,), (clipped,) = json.loads(answer.relation)["b1"], answer.clipped
        found.append(row["a1"])
        assert clipped.aggregates == ("avg(t)",)
    assert median(found) == pytest.approx(exact, rel=0.05)


@pytest.mark.long
def test_means_of_rows_are_about_their_centres(shop: Asking) -> None:
    exact = _exact("avg(least(total, 500)) FROM shop.orders")
    found = [shop.rows("avg(total) FROM shop.orders")[0]["a1"] for _ in range(2 * _DRAWS)]
    shown = [mean for mean in found if mean is not None]  # by its noise one of some hundred is NULL
    assert len(shown) >= _DRAWS
    assert median(shown) == pytest.approx(exact, rel=0.05)


def _line(aggregate: str, draws: int, shop: Asking) -> str:
    """Of sums and means: how often the stated error holds the exact value, and that of totals that are cut."""
    exact = _exact(f"{aggregate} FROM {_TOTALS}")
    found = [_drawn(aggregate, "n" if "(n)" in aggregate else "t", shop) for _ in range(draws)]
    rmse = math.sqrt(sum((one.value - exact) ** 2 for one in found) / draws)
    stated = median(one.error for one in found)
    held = sum(abs(one.value - exact) <= one.error for one in found)
    of_cut = sum(abs(one.value - one.of_cut) <= one.error for one in found)
    numbers = f"{exact:,.1f} | {rmse:,.2f} | {stated:,.2f}"
    return f"| {aggregate} | {numbers} | {held} of {draws} | {of_cut} of {draws} |"


def _rank_line(rank: str, draws: int, shop: Asking) -> str:
    """Of a quantile of t: RMSE of the value, and the errors in rank that are stated."""
    aggregate = f"percentile_cont({rank}) WITHIN GROUP (ORDER BY t)"
    exact, squares, ranks = _exact(f"{aggregate} FROM {_TOTALS}"), list[float](), list[float]()
    for _ in range(draws):
        answer = shop.run(f"SELECT {aggregate} FROM {_TOTALS}")
        (row,), (error,) = json.loads(answer.relation)["b1"], answer.columns
        squares.append((float(row["a1"]) - exact) ** 2)
        (number,) = re.findall(r"([\d.]+) ranks", error.text())
        ranks.append(float(number))
    stated = f"+-{min(ranks):.0f} to {max(ranks):.0f} ranks"
    return f"| {rank} of t | {exact:,.1f} | {math.sqrt(sum(squares) / draws):,.2f} | {stated} | - | - |"


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    with _served() as shop:
        print(
            "| answer | exact | RMSE | stated error | holds the exact value | that of cut totals |"
        )
        print("|---|---|---|---|---|---|")
        for aggregate in ("avg(t)", "sum(t)", "stddev(t)", "avg(n)", "sum(n)"):
            print(_line(aggregate, draws, shop))
        for rank in ("0.5", "0.9"):
            print(_rank_line(rank, draws, shop))


def test_a_maximum_of_totals_says_on_which_side_it_is(shop: Asking) -> None:
    """And to which part of the customers it belongs: 22 of 139 orders looked exact."""
    ends = "dp.low(max(n)) AS low, dp.high(max(n)) AS high"
    answer = shop.run(f"SELECT max(n) AS most, {ends} FROM {_TOTALS}", epsilon="0.25")
    (row,) = json.loads(answer.relation)["b1"]
    low, high = (row[name] for name in sorted(row, key=lambda name: row[name] is None)[1:])
    assert low == row["a1"] and high is None
    (told,) = (one.text() for one in answer.columns if one.name == "most")
    found = re.match(
        r"most: at least this number; about \d+ \+-\d+ customers lie beyond it, [\d.]+ % of those:"
        r" rather (percentile_disc\(0\.9\d\));",
        told,
    )
    assert found is not None, told
    rather = shop.run(f"SELECT {found[1]} WITHIN GROUP (ORDER BY n) FROM {_TOTALS}", epsilon="1")
    assert json.loads(rather.relation)["b1"][0]["a1"] is not None


def test_of_rows_no_percentile_of_people_is_named(shop: Asking) -> None:
    answer = shop.run("SELECT min(total) AS least FROM shop.orders", epsilon="0.25")
    (told,) = (one.text() for one in answer.columns)
    assert "customers lie beyond it, " in told and "percentile" not in told


if __name__ == "__main__":
    main()
