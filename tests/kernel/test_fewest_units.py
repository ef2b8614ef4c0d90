"""No group of fewer units than the policy shows is counted as one of enough, whatever the plan counts by.

On PostgreSQL: ten units in one group, each with as many rows as it may have, of as many different values. The
policy shows groups of eleven. What the kernel lets through counts fewer than are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.exact.table import added_up, by_keys, places
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.checked_plan import check_plan
from proxy.kernel.fewest_units import check_fewest_units, counted_by, counted_of
from proxy.kernel.key_plans import FewestUnits
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic, Release
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.statistics import Statistic
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from tests.kernel.examples import (
    block_of_fewest,
    distinct_count,
    policy_of_fewest,
    row_shape,
    shape,
)
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES, SCHEMA, walk

_ALL = Loss(Fraction(10**9), Fraction(9, 10))
_LEAST = 11
# Rows of each of ten units.
_ROWS = {"people": 1, "trips": 3, "visits": 5, "orders": 6, "members": 1}
_TABLES = ["people", "trips", "visits", "members", "lines", "a join"]
_JOINED = "people p JOIN trips q ON p.t = q.t"


def _filled() -> Iterator[str]:
    for table, rows in _ROWS.items():
        columns, values = "id, i4, t, s, n2", "n, n, 'x', 'y', n"
        units = f"generate_series(1, {10 * rows}) n"
        if table in ("orders", "visits", "members"):
            columns, values = f"uid, {columns}", f"n % 10, {values}"
        if table == "trips":
            columns, values = f"leg, {columns}", f"n, {values}"
        yield f"INSERT INTO {SCHEMA}.{table} ({columns}) SELECT {values} FROM {units}"
    yield (
        f"INSERT INTO {SCHEMA}.lines (id, order_id, i4, t, s, n2) SELECT n, n, n, 'x', 'y', n"
        " FROM generate_series(1, 60) n"
    )


def _counting(release: Release) -> Iterator[Release]:
    yield release
    if isinstance(release, DistinctCount):
        yield replace(release, of_unit=not release.of_unit)


def _gated(block: BlockPlan) -> Iterator[BlockPlan]:
    """The block, shown by each of its numbers."""
    units = block.neighbours
    rows = 1 if isinstance(units, UnitNeighbours) else units.rows
    asked_for = (_LEAST, rows * (_LEAST - 1), rows * (_LEAST - 1) + 1)
    if block.selection is not None:
        for least in asked_for:
            yield replace(block, selection=replace(block.selection, fewest=least))
    for number, release in enumerate(block.releases):
        for one in _counting(release):
            releases = (*block.releases[:number], one, *block.releases[number + 1 :])
            for counted in asked_for:
                gate = FewestUnits(units=_LEAST, counted=counted, release=number)
                yield replace(block, releases=releases, fewest=gate)


def _counted(block: BlockPlan) -> tuple[int, int]:
    """The most that is counted of a group, and how much a group has to have."""
    tables = tiny_database().tables(block)
    if block.selection is not None:
        units = [sum(row.units for row in rows) for rows in by_keys(tables[0]).values()]
        return max(units, default=0), block.selection.fewest
    assert block.fewest is not None
    for number, table, slots in places(tables):
        if number == block.fewest.release:
            is_distinct = isinstance(block.releases[number], DistinctCount)
            slot = slots.count if is_distinct else slots.total
            groups = by_keys(tables[table]).values()
            return max((added_up(rows, slot) for rows in groups), default=0), block.fewest.counted
    raise AssertionError("a number that is not read")


@pytest.mark.every(2)
@pytest.mark.parametrize("table", _TABLES)
@pytest.mark.parametrize("key", ["t", "s", ""])
def test_no_smaller_group_is_counted_as_large_enough(table: str, key: str) -> None:
    tiny_database().fill("; ".join(_filled()))
    source, of = (_JOINED, "q.") if table == "a join" else (table, "")
    group = f" GROUP BY {of}{key}" if key else ""
    asked = f"SELECT count(*), count(DISTINCT {of}i4), sum({of}n2) FROM {source}{group}"
    world = World(POLICIES["smallest joins"], CATALOG)
    found = walk(asked, world.policy)
    assert found is not None
    let_through = refused = largest = 0
    for block in found.plan.blocks:
        for one in _gated(block):
            try:
                check_plan([one], _ALL, world)
            except NotPrivate:
                refused += 1
                continue
            let_through += 1
            counted, least = _counted(one)
            assert counted < least, (one.fewest, one.selection, one.releases)
            largest = max(largest, counted)
    assert let_through and refused and largest > 0


def _gate(**parts: int) -> BlockPlan:
    block = block_of_fewest(_LEAST)
    assert block.fewest is not None
    return replace(block, fewest=replace(block.fewest, **parts))


def _selected(fewest: int) -> BlockPlan:
    found = walk("SELECT free, count(*) FROM people GROUP BY free", policy_of_fewest(_LEAST))
    assert found is not None
    (block,) = found.plan.blocks
    assert block.selection is not None
    return replace(block, selection=replace(block.selection, fewest=fewest))


_SMALLER: Mapping[str, BlockPlan] = {
    "no number": replace(block_of_fewest(_LEAST), fewest=None),
    "one unit less": _gate(units=_LEAST - 1, counted=_LEAST - 1),
    "one row less": _gate(counted=_LEAST - 1),
    "a number before all": _gate(release=-1),
    "a number after all": _gate(release=1),
    "a selection of one unit less": _selected(_LEAST - 1),
    "a selection beside groups that are listed": replace(
        _selected(_LEAST), combinations=(("a",),), fewest=None
    ),
}


@pytest.mark.parametrize("name", _SMALLER)
def test_a_plan_that_shows_smaller_groups_is_refused(name: str) -> None:
    with pytest.raises(NotPrivate) as refused:
        check_fewest_units(_SMALLER[name], policy_of_fewest(_LEAST))
    assert refused.value.rule is Rule.FEWEST_UNITS


def test_what_shows_no_smaller_group_passes() -> None:
    unasked = replace(block_of_fewest(_LEAST), fewest=None)
    check_fewest_units(unasked, policy_of_fewest(1))
    with pytest.raises(NotPrivate):
        check_fewest_units(unasked, policy_of_fewest(2))
    check_fewest_units(replace(unasked, releases=()), policy_of_fewest(_LEAST))
    check_fewest_units(_selected(_LEAST), policy_of_fewest(_LEAST))


def test_a_total_that_is_cut_counts_no_units() -> None:
    block = block_of_fewest(_LEAST)
    (counted,) = block.releases
    assert isinstance(counted, NoisyStatistic)
    total = replace(counted, total=UnitTotal(low=0, high=1, parts=1, choice=None))
    assert counted_by(counted, _LEAST, block.neighbours) == _LEAST
    assert counted_by(total, _LEAST, block.neighbours) is None


def test_what_counts_units_and_what_does_not() -> None:
    of_units, of_rows = shape(count=1, groups=None).neighbours, row_shape(changed=3).neighbours
    assert counted_of(_LEAST, of_units) == _LEAST
    assert counted_of(_LEAST, of_rows) == 3 * (_LEAST - 1) + 1
    (rows,) = block_of_fewest(_LEAST).releases
    assert isinstance(rows, NoisyStatistic) and rows.statistic is Statistic.ROWS
    summed = replace(rows, statistic=Statistic.STEPS)
    units, values = distinct_count(of_unit=True), distinct_count(of_unit=False)
    for release, by_units, by_rows in (
        (rows, None, 31),
        (summed, None, None),
        (units, _LEAST, 31),
        (values, None, 31),
    ):
        assert counted_by(release, _LEAST, of_units) == by_units
        assert counted_by(release, _LEAST, of_rows) == by_rows
