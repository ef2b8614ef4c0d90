"""The exact, secret results of one backend statement. Only the protected database, the engine and release
may hold one; it has no text form, so that it cannot reach a log or an error."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Partial:
    """What one release needs of one group and cell: counts and sums of grid indices, or an extreme."""

    count: int | None = None
    total: int | None = None
    extreme: int | None = None
    squares: int | None = None

    def __repr__(self) -> str:
        return "Partial(hidden)"


@dataclass(frozen=True, slots=True, repr=False)
class ExactRow:
    """keys: text of each GROUP BY key; cell: the partition, 0 where there are none."""

    keys: tuple[str | None, ...]
    cell: int
    partials: tuple[Partial, ...]  # one per release of the statement
    units: int = 0  # in this group and cell, where private keys are to be selected

    def __repr__(self) -> str:
        return "ExactRow(hidden)"


@dataclass(frozen=True, slots=True, repr=False)
class ExactTable:
    """releases: which of a block's releases the partials are for. selected: of private groups only those are
    here that may be shown."""

    rows: tuple[ExactRow, ...]
    releases: tuple[int, ...]
    selected: bool = False

    def __repr__(self) -> str:
        return "ExactTable(hidden)"
