"""The one statement that runs on the protected database, and how to read what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.base.slots import Slots


@dataclass(frozen=True, slots=True)
class BackendQuery:
    """sql with named bind parameters (%(name)s). A row is: the keys as text, the cell where there are
    cells, then partial results, integers or NULL. seeds: names of the parameters that take fresh random
    63-bit numbers at each run."""

    sql: str
    parameters: Mapping[str, object]
    seeds: tuple[str, ...]
    keys: int
    has_cell: bool
    slots: tuple[Slots, ...]
    releases: tuple[int, ...]  # which of the block's releases the slots are for
    scalars: tuple[tuple[str, int], ...]  # parameters that take the answers of earlier blocks
    units: int | None  # where private keys must be selected: the slot of the number of units

    def __repr__(self) -> str:  # parameters hold the client's literals
        return f"BackendQuery({self.sql!r})"
