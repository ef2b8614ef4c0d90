"""Orders and lines as TPC-H has them, plain and through the proxy, by customer and by row: order statistics of
one column, products of columns. `python -m tests.bench.orders --orders 1500000 --lines 2000000`"""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping
from importlib.resources import files

import psycopg

from tests.bench.measuring import Bound, Comparison, Measured, measure, table
from tests.bench.scale import run
from tests.live.served_database import served_database
from tests.live_proxy import start_proxy
from tests.servers_fixture import servers

_COLUMNS = """\
    columns:
      l_quantity: {bounds: [0, 50]}
      l_extendedprice: {bounds: [0, 110000]}
      l_discount: {bounds: [0, 0.1]}
      l_tax: {bounds: [0, 0.08]}
      l_returnflag: {values: [A, N, R]}
      l_linestatus: {values: [F, O]}
      l_shipdate: {}
"""
_PRICE = "columns: {o_totalprice: {bounds: [0, 600000]}}"
_TABLES = f"""\
tables:
  w.orders: {{unit: {{customer: o_custkey}}, max_rows_per_unit: 400, {_PRICE}}}
  w.ordered: {{unit: {{customer: o_custkey}}, max_rows_per_unit: 400, columns: {{o_orderkey: {{}}}}}}
  w.order_rows: {{unit: row, {_PRICE}}}
  w.lines:
    unit: {{customer: l_orderkey -> w.ordered.o_custkey}}
    max_rows_per_unit: 400
{_COLUMNS}  w.line_rows:
    unit: row
{_COLUMNS}"""
_RANKS = ", ".join(
    f"percentile_cont({q}) WITHIN GROUP (ORDER BY o_totalprice)" for q in ("0.5", "0.9")
)
_DISCOUNTED = "sum(l_extendedprice * (1 - l_discount))"
# Without its order, which takes no time.
_Q1 = (
    "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), "
    f"{_DISCOUNTED}, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),"
    " avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*) FROM {}"
    " WHERE l_shipdate <= date '1998-09-02' GROUP BY l_returnflag, l_linestatus"
)
_ORDERS, _LINES = 1_500_000, 2_000_000
# The text, the tables by customer and by row, and how many times as long as plain it may take.
_Asked = tuple[str, tuple[str, str], tuple[float, float]]
_ASKED: Mapping[str, _Asked] = {
    "MIN, MAX, two quantiles of orders": (
        f"SELECT min(o_totalprice), max(o_totalprice), {_RANKS} FROM {{}}",
        ("w.orders", "w.order_rows"),
        (4, 4),
    ),
    "two quantiles of orders": (f"SELECT {_RANKS} FROM {{}}", ("w.orders", "w.order_rows"), (4, 4)),
    "five aggregates of orders": (
        "SELECT count(*), sum(o_totalprice), avg(o_totalprice), min(o_totalprice), max(o_totalprice) FROM {}",
        ("w.orders", "w.order_rows"),
        (2, 2),
    ),
    "TPC-H Q1": (_Q1, ("w.lines", "w.line_rows"), (2.5, 2)),
    "five sums of lines": (
        f"SELECT count(*), sum(l_quantity), sum(l_extendedprice), {_DISCOUNTED},"
        " sum(l_extendedprice * l_discount) FROM {}",
        ("w.lines", "w.line_rows"),
        (2.5, 2),
    ),
}


_GOALS = ("MIN, MAX, two quantiles of orders", "five aggregates of orders", "TPC-H Q1")


def measured(
    orders: int, lines: int, rounds: int, names: Collection[str] = tuple(_ASKED)
) -> list[Measured]:
    """Make the tables, serve them, and ask in turn.

    Args:
        orders: So many.
        lines: So many.
        rounds: Of which the least counts.
        names: Of what is asked.
    """
    script = files("tests.bench").joinpath("orders.sql").read_text(encoding="utf-8")
    script = script.replace("{orders}", str(orders)).replace("{lines}", str(lines))
    pair = servers()
    database = served_database(pair, "orders", script, _TABLES, "best", most="100")
    proxy = start_proxy(pair, [database])
    try:
        with (
            psycopg.connect(pair.protected.dsn("orders"), autocommit=True) as plain,
            proxy.connect("orders", analyst=pair.new_analyst()) as ours,
        ):
            plain.execute("VACUUM (ANALYZE)")  # index-only scans need the visibility map
            asked = {what: one for what, one in _ASKED.items() if what in names}
            return measure(_comparisons(asked, plain, ours), rounds, 1, min)
    finally:
        proxy.stop()


def goals_of_orders(rounds: int) -> list[Measured]:
    """Measure what has a goal."""
    return measured(_ORDERS, _LINES, rounds, _GOALS)


def _comparisons(
    asked: Mapping[str, _Asked], plain: psycopg.Connection, ours: psycopg.Connection
) -> list[Comparison]:
    return [
        Comparison(
            f"{what}, {unit}",
            run(plain, text.format(name)),
            run(ours, text.format(name)),
            Bound(ratio=most),
        )
        for what, (text, names, bounds) in asked.items()
        for unit, name, most in zip(("by customer", "by row"), names, bounds, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.orders", description=__doc__)
    parser.add_argument("--orders", type=int, default=_ORDERS)
    parser.add_argument("--lines", type=int, default=_LINES)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"Least of {options.rounds} rounds in turn, load {os.getloadavg()[0]:.1f}:")
    print(table(measured(options.orders, options.lines, options.rounds)))
    print(f"At the end: load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
