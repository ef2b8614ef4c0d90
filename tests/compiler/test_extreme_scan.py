"""MIN and MAX of units on a real server: what their scan counts, by brute force, and a person in all groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

from proxy.base.slots import Slots
from proxy.exact.table import ExactTable, by_keys
from proxy.kernel.plan import BlockPlan, KeptUnits, UnitExtreme
from proxy.query.ir.query_aggregates import AggregateKind
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import POLICIES, walk
from tests.unchecked_blocks import compile_block

pytestmark = pytest.mark.postgres

# 30 people; person 3 is in all groups with many rows. i4 leaves the bounds (0 .. 100) at both ends.
_ROWS = (
    "INSERT INTO visits(id, uid, i4, i8, f8, t, s, b, d)"
    " SELECT g, g % 30, (g * 37) % 130 - 10, g, (g * 7) % 50 + 0.25,"
    " (ARRAY['x', 'y', 'z'])[1 + g % 3], 's' || g % 5, g % 4 = 0, DATE '2005-01-01' + (g * 13) % 1000"
    " FROM generate_series(1, 240) g;"
    " INSERT INTO visits(id, uid, i4, t, s, b)"
    " SELECT 1000 + g, 3, g % 101, (ARRAY['x', 'y', 'z'])[1 + g % 3], 's' || g % 5, true"
    " FROM generate_series(1, 300) g"
)
_SEEDS = range(1, 41)


def _block(sql: str, policy: str = "best") -> BlockPlan:
    found = walk(sql, POLICIES[policy])
    assert found is not None
    (block,) = found.plan.blocks
    return block


def _table(block: BlockPlan, seed: int) -> ExactTable:
    """What the scan of minima and maxima gives."""
    tables = tiny_database().tables(block, seed)
    (table,) = (one for one in tables if any(slots.extreme is not None for slots in one.slots))
    return table


def _histograms(
    block: BlockPlan, seed: int
) -> dict[tuple[int, tuple[str | None, ...]], Counter[int]]:
    """How many units are at which place, by release and group."""
    table, found = _table(block, seed), {}
    for keys, rows in by_keys(table).items():
        for number, slots in zip(table.releases, table.slots, strict=True):
            found[number, keys] = _counted(slots, [row.values for row in rows])
    return found


def _counted(slots: Slots, rows: list[tuple[int | None, ...]]) -> Counter[int]:
    assert slots.extreme is not None and slots.count is not None
    found = Counter[int]()
    for values in rows:
        place, units = values[slots.extreme], values[slots.count]
        if place is not None:
            found[place] += units or 0
    return found


def test_without_groups_each_unit_has_its_own_extreme() -> None:
    database = tiny_database()
    database.fill(_ROWS)
    block = _block(
        "SELECT min(i4), max(i4) FILTER (WHERE b), min(d), max(CASE WHEN t = 'x' THEN i4 ELSE 0 END),"
        " min(f8) FROM visits"
    )
    asked = (
        "min(least(greatest(i4, 0), 100))",
        "max(least(greatest(i4, 0), 100)) FILTER (WHERE b)",
        "min(d)",
        "max(least(greatest(CASE WHEN t = 'x' THEN i4 ELSE 0 END, 0), 100))",
        "min(f8)",
    )
    rows = database.asked(
        f"SELECT {', '.join(asked)} FROM visits WHERE uid IS NOT NULL GROUP BY uid"
    )
    found = _histograms(block, 7)
    for number, release in enumerate(block.releases):
        if not isinstance(release, UnitExtreme):
            continue
        own = [row[number] for row in rows if row[number] is not None]
        one = release.measured
        expected = Counter(
            release.places.place_of(min(max(_index(value, one.grid), one.low), one.high))
            for value in own
        )
        assert found[number, ()] == expected, release
        people = next(n for n in block.answers[number].releases[1:])
        assert isinstance(block.releases[people], KeptUnits)
        assert found[people, ()].total() == len(own)


def _index(value: object, grid: Fraction) -> int:
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    return round(Fraction(str(value)) / grid)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT t, min(i4), max(i4) FROM visits GROUP BY t",
        "SELECT t, b, min(i4), max(i8) FROM visits GROUP BY t, b",
        "SELECT s, max(i4) FILTER (WHERE b) FROM visits GROUP BY s",
        "SELECT t, s, min(i4), count(*) FROM visits GROUP BY t, s",
    ],
    ids=["public keys", "two public keys", "private keys", "public and private keys"],
)
def test_a_person_in_all_groups_has_one_value(question: str) -> None:
    """Whatever the seeds are: one unit of the histogram of one group, and the rest as it was."""
    database = tiny_database()
    database.fill(_ROWS)
    block = _block(question)
    assert any(isinstance(release, UnitExtreme) for release in block.releases)
    with_values = set[int]()
    for seed in _SEEDS:
        here = _histograms(block, seed)
        with database.without("DELETE FROM visits WHERE uid = 3"):
            there = _histograms(block, seed)
        for number in range(len(block.releases)):
            gone = Counter[object]()
            for one in {*here, *there}:
                if one[0] != number:
                    continue
                mine, theirs = here.get(one, Counter()), there.get(one, Counter())
                assert not theirs - mine, "a value of somebody else"
                gone.update({(one, place): n for place, n in (mine - theirs).items()})
            assert gone.total() <= 1, (seed, number, gone)
            if gone:
                with_values.add(number)
    extremes = {
        n for n, one in enumerate(block.releases) if isinstance(one, UnitExtreme | KeptUnits)
    }
    assert with_values == extremes


def test_a_group_is_kept_whatever_its_values_are() -> None:
    """The same groups are kept with another operand, condition or value: by keys and unit alone."""
    database = tiny_database()
    database.fill(_ROWS)
    questions = (
        "SELECT t, max(i4) FROM visits GROUP BY t",
        "SELECT t, max(i4) FILTER (WHERE i4 > 1000) FROM visits GROUP BY t",
        "SELECT t, max(i8) FROM visits GROUP BY t",
    )
    found = []
    for question in questions:
        table = _table(_block(question), 5)
        groups = by_keys(table)
        found.append({k: sum(row.values[-1] or 0 for row in rows) for k, rows in groups.items()})
    assert found[0] == found[1] == found[2]
    assert sum(found[0].values()) == 30 and len(found[0]) == 3


def test_groups_are_kept_evenly() -> None:
    """A person of three groups is in each of them about as often, and not all people in one."""
    database = tiny_database()
    database.fill(_ROWS)
    block = _block("SELECT t, min(i4) FROM visits GROUP BY t")
    kept = Counter[tuple[str | None, ...]]()
    for seed in range(100, 160):
        for (number, keys), counted in _histograms(block, seed).items():
            kept[keys] += counted.total() if number == 0 else 0
    total = kept.total()
    assert total == 60 * 30
    # 600 each, of a standard deviation of 20; a false alarm in 10^6
    assert all(500 < count < 700 for count in kept.values()), kept


def test_all_extremes_of_a_block_are_one_scan() -> None:
    block = _block(
        "SELECT t, min(i4), max(i4), min(i8), max(f8) FILTER (WHERE b) FROM visits GROUP BY t"
    )
    (query,) = compile_block(block)
    assert len(query.releases) == len(block.releases)
    assert "OVER (PARTITION BY unit" in query.sql


def test_what_comes_back_is_as_long_as_the_places() -> None:
    database = tiny_database()
    database.fill("INSERT INTO visits(id, uid, i8) SELECT g, g, g FROM generate_series(1, 6000) g")
    block = _block("SELECT min(i8), max(i8) FROM visits")
    release = block.releases[0]
    assert isinstance(release, UnitExtreme)
    table = _table(block, 3)
    assert len(table.rows) <= 2 * (release.places.last + 2)
    counted = _histograms(block, 3)
    assert counted[0, ()].total() == counted[1, ()].total() == 6000


def test_units_of_one_row_are_not_gathered() -> None:
    block = _block("SELECT t, min(i4), max(i4) FILTER (WHERE b) FROM members GROUP BY t")
    (query,) = compile_block(block)
    assert "PARTITION BY" not in query.sql and "GROUP BY r1" not in query.sql
    database = tiny_database()
    database.fill(
        "INSERT INTO members(id, uid, i4, t, b) SELECT g, nullif(g, 5), g % 9, (ARRAY['x', 'y'])[1 + g % 2],"
        " g % 3 = 0 FROM generate_series(1, 90) g"
    )
    found = _histograms(block, 1)
    release = block.releases[0]
    assert isinstance(release, UnitExtreme) and release.aggregate.kind is AggregateKind.MIN
    for key in ("x", "y"):
        own = database.asked(f"SELECT i4 FROM members WHERE t = '{key}' AND uid IS NOT NULL")
        assert found[0, (key,)] == Counter(release.places.place_of(value) for (value,) in own)


def test_a_plan_without_the_hash_is_not_run() -> None:
    """The kernel refuses it (tests/kernel/holes.py): its SQL cuts nothing."""
    block = _block("SELECT t, min(i4) FROM visits GROUP BY t")
    releases = tuple(
        replace(one, keeps_one_group=False) if isinstance(one, UnitExtreme | KeptUnits) else one
        for one in block.releases
    )
    (query,) = compile_block(replace(block, releases=releases))
    assert "PARTITION BY" not in query.sql
