"""Orders and lines as TPC-H has them, plain and through the proxy, by customer and by row: order statistics of
one column, products of columns, and a prepared copy of the lines, whose customer is behind a reference.
`python -m tests.bench.orders --orders 1500000 --lines 2000000`"""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping
from importlib.resources import files

import psycopg

from proxy.compiler.copy_view import copy_script
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.catalog_reader import read_catalog
from tests.bench.copies import is_of_copy
from tests.bench.measuring import Bound, Comparison, Measured, measure, table
from tests.bench.scale import run
from tests.live.served_database import READER, policy_head, served_database
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
      l_nation:
        values: [N1, N2, N3, N4, N5, N6, N7, N8, N9, N10, N11, N12, N13, N14, N15, N16, N17, N18, N19, N20]
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
    prepared: {{table: dp.lines, max_age: 1d}}
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
    "count of lines": ("SELECT count(*) FROM {}", ("w.lines", "w.line_rows"), (3, 2)),
    "five sums of lines": (
        f"SELECT count(*), sum(l_quantity), sum(l_extendedprice), {_DISCOUNTED},"
        " sum(l_extendedprice * l_discount) FROM {}",
        ("w.lines", "w.line_rows"),
        (2.5, 2),
    ),
}


# Of the prepared copy, beside plain PostgreSQL on the lines by themselves.
_COPIED: Mapping[str, tuple[str, float]] = {
    "count of lines": ("SELECT count(*) FROM w.lines", 0.8),
    "count, sum of lines": ("SELECT count(*), sum(l_quantity) FROM w.lines", 0.8),
    "count, sum of lines by 20 keys": (
        "SELECT l_nation, count(*), sum(l_quantity) FROM w.lines GROUP BY l_nation",
        0.8,
    ),
    "TPC-H Q1": (_Q1.format("w.lines"), 2.5),
}
_GOALS = (
    "MIN, MAX, two quantiles of orders",
    "five aggregates of orders",
    "TPC-H Q1",
    "count of lines",
)


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
    owner = pair.protected.dsn("orders")
    database = served_database(
        pair, "orders", script, _TABLES, "best", lambda: _make_copy(owner), most="100"
    )
    proxy = start_proxy(pair, [database])
    try:
        with (
            psycopg.connect(owner, autocommit=True) as plain,
            proxy.connect("orders", analyst=pair.new_analyst()) as ours,
            proxy.connect("orders", analyst=pair.new_analyst()) as of_copy,
        ):
            # Index-only scans need the visibility map. VACUUM leaves pages out while the log of a commit just
            # before is not on disk, be it its own of the table before.
            plain.execute("SET synchronous_commit = on")
            plain.execute("VACUUM (ANALYZE)")
            ours.execute("SET dp.prepared = off")
            asked = {what: one for what, one in _ASKED.items() if what in names}
            compared = _comparisons(asked, plain, ours)
            return measure([*compared, *_of_copy(plain, of_copy)], rounds, 1, min)
    finally:
        proxy.stop()


def _make_copy(owner: str) -> None:
    policy = read_policy(policy_head("orders", "best") + _TABLES, "orders.yaml", {"DSN": owner})
    (lines,) = (table for table in policy.protected() if table.prepared is not None)
    script = copy_script(lines, read_catalog(owner), lines.max_rows_per_unit or 1, READER)
    assert script is not None
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(
            "SET synchronous_commit = on"
        )  # or VACUUM finds rows that are not written yet
        connection.execute(script.partition("VACUUM")[0].encode())


def _of_copy(plain: psycopg.Connection, ours: psycopg.Connection) -> list[Comparison]:
    for text, _ in _COPIED.values():
        if not is_of_copy(ours, text):
            raise SystemExit(f"{text}: the answer is not of the prepared copy")
    return [
        Comparison(f"{what}, prepared copy", run(plain, text), run(ours, text), Bound(ratio=most))
        for what, (text, most) in _COPIED.items()
    ]


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
    parser.add_argument("--copies", action="store_true", help="only the prepared copy")
    options = parser.parse_args()
    print(f"Least of {options.rounds} rounds in turn, load {os.getloadavg()[0]:.1f}:")
    names = () if options.copies else tuple(_ASKED)
    print(table(measured(options.orders, options.lines, options.rounds, names)))
    print(f"At the end: load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
