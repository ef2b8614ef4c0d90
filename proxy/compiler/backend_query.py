"""The one statement that runs on the protected database, and how to read what it returns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from proxy.base.slots import Slots
from proxy.query.syntax.placeholders import ScalarAnswer

# A statement of two parts is read through a cursor. Its first row has this as its first value, and the number
# of rows of the first part as its third. Before the second part is read, the proxy sets the setting.
# Rows of other releases have OTHERS there, and those by which bounds are chosen CHOICES and less.
FIRST_PART, OTHERS, CHOICES = -1, -2, -3
BETWEEN_PARTS = "dpproxy.between_parts"


@dataclass(frozen=True, slots=True)
class PublicList:
    """The values of a column of a public table: a query of its own, which runs whatever the protected rows
    are, so that no row decides whether the public table is read (PROOFS.md, "Lists of public tables").

    name: of the parameter that takes the values, as the text of an array. Its one row: how many values, their
    bytes together, the text (NULL where either is more than limits allow)."""

    name: str
    sql: str
    parameters: tuple[tuple[str, object], ...]

    def __repr__(self) -> str:  # parameters hold the client's literals
        return f"PublicList({self.sql!r})"


@dataclass(frozen=True, slots=True)
class BackendQuery:
    """sql with named bind parameters (%(name)s). A row is: the keys as text, the cell where there are
    cells, then partial results, integers or NULL. seeds: names of the parameters that take fresh random
    63-bit numbers at each run; lists: what parameters take that are read from public tables first."""

    sql: str
    parameters: Mapping[str, object]
    seeds: tuple[str, ...]
    keys: int
    has_sub_partition: bool
    slots: tuple[Slots, ...]
    releases: tuple[int, ...]  # which of the block's releases the slots are for
    scalars: tuple[tuple[str, ScalarAnswer], ...]  # parameters that take answers of earlier blocks
    units: int | None  # where private keys must be selected: the slot of the number of units
    lists: tuple[PublicList, ...] = ()

    def __repr__(self) -> str:  # parameters hold the client's literals
        return f"BackendQuery({self.sql!r})"

    def without_values(self) -> str:
        """Its text with NULL for each parameter, all of which have their casts: to be analysed, not run."""
        return _PLACE.sub(lambda found: "%" if found[0] == "%%" else "NULL", self.sql)


_PLACE = re.compile(r"%\(\w+\)s|%%")
