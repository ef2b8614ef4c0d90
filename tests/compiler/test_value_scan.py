"""Order statistics: what comes back from a large table is little, and gives the law of all its rows."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import BlockPlan, OrderStatistic, UnitExtreme
from proxy.mechanisms import order_statistic
from proxy.mechanisms.row_weights import PARTS
from proxy.protected.protected_database import ProtectedDatabase
from proxy.release.ordering import order_law, size_of
from tests.live.served_database import planned, served_database
from tests.servers_fixture import servers
from tests.uncharged_statements import read
from tests.unchecked_blocks import compile_block

_NAME = "value_scan"
_ROWS = 12_000
# Values that nobody shares and values that many do; groups large and small, and one of a single row.
_SCRIPT = f"""\
CREATE TABLE public.t AS
SELECT g AS id, g % 5000 AS owner,
       CASE WHEN g = 1 THEN 'lone' WHEN g % 1000 = 0 THEN 'few' WHEN g % 3 = 0 THEN 'some' ELSE 'most' END AS k,
       CASE WHEN g % 7 = 0 THEN 500 WHEN g % 11 = 0 THEN NULL
            ELSE ((g::bigint * 7919) % 100003)::integer END AS v,
       CASE WHEN g % 5 < 3 THEN 'one' WHEN g % 5 = 3 THEN 'two' END AS h
FROM generate_series(1, {_ROWS}) g
"""
_TABLES = """\
tables:
  public.t:
    unit: %s
    columns:
      k: {values: [few, lone, most, none, some]}
      v: {bounds: [0, 100000], grid: 2}
"""
_PRIVATE_KEY = "      h: {}\n"
_PERSON = "{person: owner}\n    max_groups_per_unit: 2\n    max_rows_per_unit: "


@functools.cache
def _made(unit: str) -> tuple[Database, str]:
    name = f"{_NAME}_{len(unit)}"
    pair = servers()
    database = served_database(pair, name, _SCRIPT, _TABLES % unit + _PRIVATE_KEY, "best")
    return database, pair.protected.dsn(name)


@pytest.fixture(params=["row", f"{_PERSON}2"])
def served(request: pytest.FixtureRequest) -> tuple[Database, str]:
    return _made(request.param)


def _block(database: Database, question: str) -> BlockPlan:
    (block,) = planned(database, question).blocks
    return block


def _exact(block: BlockPlan, source: str) -> ExactTable:
    async def run() -> ExactTable:
        protected = ProtectedDatabase(source, sessions_max=1)
        await protected.open()
        try:
            (query,) = (one for one in compile_block(block) if 0 in one.releases)
            return await read(protected, query, dict.fromkeys(query.seeds, 12345))
        finally:
            await protected.close()

    return asyncio.run(run())


def _by_group(table: ExactTable) -> dict[tuple[str | None, ...], list[ExactRow]]:
    found: dict[tuple[str | None, ...], list[ExactRow]] = {}
    for row in table.rows:
        found.setdefault(row.keys, []).append(row)
    return found


@pytest.mark.every(7)
@pytest.mark.parametrize(
    ("aggregate", "group"),
    [
        ("percentile_cont(0.01) WITHIN GROUP (ORDER BY v)", "k"),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY v)", "k"),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY v)", ""),
        ("percentile_disc(0.9) WITHIN GROUP (ORDER BY v)", ""),
        ("percentile_cont(1) WITHIN GROUP (ORDER BY v)", "k"),
        ("min(v)", "k"),
        ("max(v)", ""),
    ],
)
def test_what_is_fetched_gives_the_law_of_all_rows(
    aggregate: str, group: str, served: tuple[Database, str]
) -> None:
    database, source = served
    columns = f"{group}, {aggregate}" if group else aggregate
    question = f"SELECT {columns} FROM public.t" + (f" GROUP BY {group}" if group else "")
    block = _block(database, question)
    release = block.releases[0]
    if isinstance(release, UnitExtreme):
        _fetches_places(block, release, source)
        return
    assert isinstance(release, OrderStatistic) and release.needed is not None
    assert len(block.releases) == 1
    everything = replace(block, releases=(replace(release, needed=None),))
    tables = [_exact(plan, source) for plan in (block, everything)]
    some, whole = map(_by_group, tables)
    assert set(some) == set(whole)
    for keys in whole:
        laws = [
            order_law(release, table.slots[0], groups[keys])
            for table, groups in zip(tables, (some, whole), strict=True)
        ]
        assert order_statistic.apart(*laws) == 0, keys
        assert order_statistic.apart(*reversed(laws)) == 0, keys
        assert len(some[keys]) <= 2 * release.needed + 3
    assert max(map(len, whole.values())) > 8 * max(map(len, some.values()))


_CUTS = (
    "row",
    "{person: owner}\n    max_rows_per_unit: 2",
    "{person: owner}\n    max_rows_per_unit: auto",
)


@pytest.mark.every(7)
@pytest.mark.parametrize("unit", ["row", f"{_PERSON}2", f"{_PERSON}auto"])
@pytest.mark.parametrize(
    "only",
    ["", "FILTER (WHERE k <> 'most')", "FILTER (WHERE v = 500)", "FILTER (WHERE k = 'none')"],
)
@pytest.mark.parametrize("group", ["", "k", "k, h"])
def test_one_histogram_serves_all_order_statistics(unit: str, only: str, group: str) -> None:
    """At equal seeds each has the values that it has by itself, and with its limits the law of all rows."""
    database, source = _made(unit)
    asked = [f"percentile_cont({q}) WITHIN GROUP (ORDER BY v) {only}" for q in (0.01, 0.5, 0.5, 1)]
    asked += [f"min(v) {only}", f"max(v) {only}"] if unit == "row" else []
    columns = ", ".join([group, *asked]) if group else ", ".join(asked)
    question = f"SELECT {columns} FROM public.t" + (f" GROUP BY {group}" if group else "")
    block = _block(database, question)
    ordered = [one for one in block.releases if isinstance(one, OrderStatistic)]
    assert len(ordered) == len(block.releases) == len(set(asked))
    is_weighted = "auto" in unit and "h" not in group
    assert all((one.weights is not None) == is_weighted for one in ordered)
    together = _by_group(_exact(block, source))
    everything = replace(block, releases=tuple(replace(one, needed=None) for one in ordered))
    whole = _by_group(_exact(everything, source))
    (slots,) = set(_exact(block, source).slots)
    for release in ordered:
        alone = replace(block, releases=(replace(release, needed=None),))
        assert _by_group(_exact(alone, source)) == whole
        assert set(together) == set(whole)
        for keys, rows in whole.items():
            laws = [order_law(release, slots, group) for group in (together[keys], rows)]
            assert order_statistic.apart(*laws) == order_statistic.apart(*reversed(laws)) == 0
            assert size_of(release, slots, together[keys]) == size_of(release, slots, rows)
    needed = sum(one.needed or 0 for one in ordered)
    assert all(len(rows) <= 2 * needed + len(ordered) + 1 for rows in together.values())


def _fetches_places(block: BlockPlan, release: UnitExtreme, source: str) -> None:
    """Of each group the units at each place, which are few: their values come once, by unit and group."""
    table = _exact(block, source)
    assert release.places.last + 1 < 300 < _ROWS // 2
    for keys, rows in _by_group(table).items():
        for slots in table.slots:
            assert slots.extreme is not None
            found = [row.values[slots.extreme] for row in rows]
            places = [place for place in found if place is not None]
            assert len(places) == len(set(places)) <= release.places.last + 1, keys


def test_a_law_of_other_rows_is_reported_apart() -> None:
    """The comparison above sees a row that is missing near the rank."""
    values = [order_statistic.ValueCount(v, 1) for v in range(100)]
    half, one = Fraction(1, 2), Fraction(1)
    laws = [
        order_statistic.quantile_law(these, half, 0, 200, one) for these in (values, values[:-1])
    ]
    assert order_statistic.apart(*laws) > 0


_WEIGHED = _TABLES % "{person: owner}\n    max_rows_per_unit: auto"
_MANY = """\
CREATE TABLE public.t AS
SELECT id, owner, k, v FROM (
    SELECT g AS id, (power(g, 1.7) / 300)::integer % 900 AS owner,
           (ARRAY['some', 'most', 'few'])[1 + g % 3] AS k,
           CASE WHEN g % 7 = 0 THEN NULL ELSE 2 * (g % 50) END AS v
    FROM generate_series(1, 6000) g) s
"""


def test_rows_are_weighed_by_how_many_their_unit_has() -> None:
    """In all groups, of rows that have a value, by brute force; sizes are the same for all bounds."""
    pair = servers()
    database = served_database(pair, "value_weights", _MANY, _WEIGHED, "best")
    source = pair.protected.dsn("value_weights")
    block = _block(
        database, "SELECT k, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY k"
    )
    (release,) = block.releases
    assert isinstance(release, OrderStatistic) and release.weights is not None
    with psycopg.connect(source) as connection:
        rows = connection.execute("SELECT owner, k, v FROM t WHERE v IS NOT NULL").fetchall()
    of_unit = Counter(owner for owner, _, _ in rows)
    assert max(of_unit.values()) > 10
    for bound in (1, 3, 10_000):
        measured = replace(release.measured, rows=bound)
        weighed = replace(release, measured=measured, needed=None)
        expected = dict[tuple[str, int], tuple[int, int]]()
        for owner, key, value in rows:
            number = of_unit[owner]
            weight = PARTS if number <= bound else PARTS * bound // number
            before = expected.get((key, value // 2), (0, 0))
            expected[key, value // 2] = (before[0] + weight, before[1] + PARTS // number)
        table = _exact(replace(block, releases=(weighed,)), source)
        assert {(*row.keys, row.values[0]): row.values[1:] for row in table.rows} == expected


def test_of_extremes_rows_are_counted_up_to_those_that_are_fetched() -> None:
    """Whatever many of them share a value."""
    pair = servers()
    database = served_database(pair, "value_sizes", _SCRIPT, _TABLES % "row", "best")
    source = pair.protected.dsn("value_sizes")
    for columns, group in (("min(v)", ""), ("k, max(v)", " GROUP BY k")):
        block = _block(database, f"SELECT {columns} FROM t{group}")
        release = block.releases[0]
        assert isinstance(release, OrderStatistic)
        table = _exact(block, source)
        by = "GROUP BY k" if group else "GROUP BY ()"
        with psycopg.connect(source) as connection:
            text = f"SELECT {'k, ' if group else ''}count(v) FROM t WHERE v IS NOT NULL {by}"
            found = connection.execute(text.encode()).fetchall()
        assert release.needed is not None and max(row[-1] for row in found) > release.needed
        expected = {tuple(row[:-1]): min(row[-1], release.needed) for row in found}
        sizes = {
            keys: size_of(release, table.slots[0], rows) for keys, rows in _by_group(table).items()
        }
        assert sizes == expected
