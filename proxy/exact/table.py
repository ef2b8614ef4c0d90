"""The exact, secret results of one backend statement. Only the protected database, the engine and release
may hold one; it has no text form, so that it cannot reach a log or an error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proxy.base.slots import Slots


@dataclass(frozen=True, slots=True, repr=False)
class ExactRow:
    """keys: text of each GROUP BY key; cell: the partition, 0 where there are none; values: partial results of
    this group and cell, NULL where there was nothing to add up or compare."""

    keys: tuple[str | None, ...]
    cell: int
    values: tuple[int | None, ...]
    units: int = 0  # in this group and cell, where private keys are to be selected

    def __repr__(self) -> str:
        return "ExactRow(hidden)"


@dataclass(frozen=True, slots=True, repr=False)
class ExactTable:
    """releases: which of a block's releases the slots are for. selected: of private groups only those are here
    that may be shown."""

    rows: tuple[ExactRow, ...]
    slots: tuple[Slots, ...]
    releases: tuple[int, ...]
    selected: bool = False

    def __repr__(self) -> str:
        return "ExactTable(hidden)"


def by_keys(table: ExactTable) -> dict[tuple[str | None, ...], list[ExactRow]]:
    """The rows of each group, one or one per cell, in the order in which groups came."""
    found: dict[tuple[str | None, ...], list[ExactRow]] = {}
    for row in table.rows:
        found.setdefault(row.keys, []).append(row)
    return found


def places(tables: Iterable[ExactTable]) -> list[tuple[int, int, Slots]]:
    """(release, which table it is in, where there), in the order of the releases."""
    found = [
        (release, number, slots)
        for number, table in enumerate(tables)
        for release, slots in zip(table.releases, table.slots, strict=True)
    ]
    return sorted(found, key=lambda place: place[0])


def added_up(rows: Iterable[ExactRow], slot: int | None) -> int:
    """The sum of one partial result over rows; 0 without any."""
    assert slot is not None, "the compiler omitted a column that the plan needs"
    return sum([row.values[slot] or 0 for row in rows])
