"""The one statement that runs on the protected database, and how to read what it returns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import InitVar, dataclass

from proxy.base.errors import Fault
from proxy.base.slots import Slots
from proxy.query.syntax.placeholders import ScalarAnswer

# A statement of two parts is read through a cursor. Its first row has this as its first value, and the number
# of rows of the first part as its third. Before the second part is read, the proxy sets the setting.
# Rows of other releases have OTHERS there, those of minima and maxima EXTREMES, and those by which bounds are
# chosen CHOICES and less.
FIRST_PART, OTHERS, EXTREMES, CHOICES = -1, -2, -3, -4
BETWEEN_PARTS = "dpproxy.between_parts"
# Parameters of a statement that can be read in two halves: which of them (0: all units), and the least unit of
# the second one.
HALF, CUT = "half", "cut"
BELOW, FROM_CUT_ON = 1, 2
# Parameters of a statement that reads the rows at the ends of a column alone: a small and a large value of it,
# and how many rows there have to be at each of them.
LOW_END, HIGH_END, END_ROWS = "low_end", "high_end", "end_rows"
_HERE = object()


@dataclass(frozen=True, slots=True)
class PublicList:
    """The values of a column of a public table: a query of its own, which runs whatever the protected rows
    are, so that no row decides whether the public table is read (PROOFS.md, "Lists of public tables"). Only
    `public_list` makes one, and only the compiler calls it.

    name: of the parameter that takes the values, as the text of an array. Its one row: how many values, their
    bytes together, the text (NULL where either is more than limits allow)."""

    name: str
    sql: str
    parameters: tuple[tuple[str, object], ...]
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        if made is not _HERE:
            raise Fault("a list that was not compiled")

    def __repr__(self) -> str:  # parameters hold the client's literals
        return f"PublicList({self.sql!r})"


def public_list(name: str, sql: str, parameters: tuple[tuple[str, object], ...]) -> PublicList:
    """For the compiler alone (tests/trusted_base.py). sql: that reads public tables and nothing else."""
    return PublicList(name, sql, parameters, _HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredColumn:
    """Where values are stored: what the server's planner knows of this column says which are in the middle, or
    near the ends."""

    schema: str
    table: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnEnds:
    """Of a statement that reads the rows at the ends of a column.

    Attributes:
        place: Where the column is stored.
        needed: How many rows it needs at each end.
    """

    place: StoredColumn
    needed: int


@dataclass(frozen=True, slots=True)
class BackendQuery:
    """What is written of a statement. It is run once it is a CompiledQuery.

    sql with named bind parameters (%(name)s). A row is: the keys as text, the cell where there are
    cells, then partial results, integers or NULL. seeds: names of the parameters that take fresh random
    63-bit numbers at each run; lists: what parameters take that are read from public tables first;
    halved_by: HALF and CUT are parameters, here those for all units. Rows of both halves add up to theirs;
    ends: LOW_END, HIGH_END and END_ROWS are parameters, here NULL, for all rows. With others no row at all
    comes back where too few rows are at an end."""

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
    halved_by: StoredColumn | None = None
    ends: ColumnEnds | None = None

    def __repr__(self) -> str:  # parameters hold the client's literals
        return f"BackendQuery({self.sql!r})"

    def without_values(self) -> str:
        """Its text with NULL for each parameter, all of which have their casts: to be analysed, not run."""
        return _PLACE.sub(lambda found: "%" if found[0] == "%%" else "NULL", self.sql)


_PLACE = re.compile(r"%\(\w+\)s|%%")
