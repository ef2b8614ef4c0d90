"""Blocks at random that show groups by any of their numbers, and rows of fewer units than the policy shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random  # noqa: TID251

from proxy.exact.table import ExactTable, added_up, by_keys, places
from proxy.kernel.key_plans import FewestUnits
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, Release
from proxy.kernel.world import World
from proxy.query.ir.relations import Join, UnionAll, relations_of, tables_of_rows
from tests.kernel.made_blocks import BlockMaker
from tests.pipeline_world import CATALOG, POLICIES

_OF_PERSONS = ("visits", "orders", "members", "calls", "lines")
KINDS = {
    **dict.fromkeys(_OF_PERSONS, "person"),
    "notes": "author",
    "people": "people",
    "trips": "trips",
}


def world_of(units: int) -> World:
    """The world, of which no group of fewer units is shown."""
    return World(replace(POLICIES["world"], min_units_per_group=units), CATALOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class FewUnits:
    """kind: of which there are fewer than `units`; of others there are as many as come."""

    kind: str
    units: int

    @property
    def sql(self) -> str:
        """Deletes what is too much."""
        left = self.units - 1
        match self.kind:
            case "person":
                of_orders = f"SELECT id FROM w.orders WHERE uid > {left}"
                gone = [f"DELETE FROM w.lines WHERE order_id IN ({of_orders})"]
                tables = (one for one in _OF_PERSONS if one != "lines")
                gone += [f"DELETE FROM w.{table} WHERE uid > {left}" for table in tables]
                return "; ".join(gone)
            case "author":
                authors = "SELECT uid FROM w.notes WHERE uid IS NOT NULL GROUP BY 1 ORDER BY 1"
                return f"DELETE FROM w.notes WHERE uid IN ({authors} OFFSET {left})"
            case "people":
                return f"DELETE FROM w.people WHERE id > {left}"
            case _:
                rows = f"SELECT leg FROM w.trips ORDER BY leg OFFSET {3 * left}"
                return f"DELETE FROM w.trips WHERE leg IN ({rows})"


def kinds_of(block: BlockPlan, units: int) -> Iterator[FewUnits]:
    """The kinds of which each row of a block has a unit. Behind a LEFT JOIN it may have none; a row of a
    UNION ALL has one of several.
    """
    kinds = {KINDS.get(name.name) for name in tables_of_rows(block.source)} - {None}
    is_of_all = not any(
        isinstance(one, UnionAll) or (isinstance(one, Join) and one.left_outer)
        for one in relations_of(block.source)
    )
    if len(kinds) == 1 or is_of_all:
        yield from (FewUnits(kind=kind, units=units) for kind in sorted(filter(None, kinds)))


def gated(block: BlockPlan, random: Random, units: int) -> Iterator[BlockPlan]:
    """The block, shown by each of its numbers, for as many as might do."""
    rows = 1 if isinstance(block.neighbours, UnitNeighbours) else block.neighbours.rows
    asked_for = sorted({units, rows * (units - 1), rows * (units - 1) + 1})
    if block.selection is not None:
        for fewest in asked_for:
            yield replace(block, selection=replace(block.selection, fewest=fewest))
        return
    for number, release in enumerate(block.releases):
        one = _counting(release, random)
        releases = (*block.releases[:number], one, *block.releases[number + 1 :])
        for counted in asked_for:
            gate = FewestUnits(units=units, counted=counted, release=number)
            yield replace(block, releases=releases, fewest=gate)


def _counting(release: Release, random: Random) -> Release:
    if isinstance(release, DistinctCount) and random.random() < 0.3:
        return replace(release, of_unit=not release.of_unit)
    return release


def most_counted(block: BlockPlan, tables: Sequence[ExactTable]) -> tuple[int, int]:
    """The most that is counted of a group, and how much a group has to have."""
    if block.selection is not None:
        units = [sum(row.units for row in rows) for rows in by_keys(tables[0]).values()]
        return max(units, default=0), block.selection.fewest
    gate = block.fewest
    assert gate is not None
    for number, table, slots in places(tables):
        if number == gate.release:
            is_distinct = isinstance(block.releases[number], DistinctCount)
            slot = slots.count if is_distinct else slots.total
            groups = by_keys(tables[table]).values()
            return max((added_up(rows, slot) for rows in groups), default=0), gate.counted
    raise AssertionError("a number that is not read")


def blocks_of(maker: BlockMaker, units: int) -> Iterator[BlockPlan]:
    made = maker.block()
    if made is not None:
        yield from gated(made, maker.maker.random, units)
