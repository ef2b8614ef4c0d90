"""How neighbours differ, and what bounds a unit has. Plain data of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.query.ir.expressions import ColumnRef


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNeighbours:
    """Neighbours differ in `rows` rows. hashed_by: the columns whose hash sends a row to its partition (the
    primary key, a unit column that is unique, ctid); empty: a random partition per row. not_null: a unit
    column that is unique: rows without a unit are excluded. partitions: those rows are in so many partitions
    of a group at most (None: each in its own), because rows of one value of hashed_by are together."""

    rows: int
    hashed_by: tuple[ColumnRef, ...]
    not_null: ColumnRef | None
    partitions: int | None = None

    @property
    def is_random(self) -> bool:
        """Whether partitions are no function of what rows hold, so that two databases cannot be compared."""
        return all(column.is_place for column in self.hashed_by)

    @property
    def partitions_of_a_group(self) -> int:
        return self.rows if self.partitions is None else min(self.rows, self.partitions)

    def partitions_of(self, groups: int) -> int:
        """So many outputs of partitions change at most, over all of so many groups."""
        return min(self.rows, groups * self.partitions_of_a_group)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitNeighbours:
    """Neighbours differ in all rows of one unit, so rows are gathered and bounded per unit first.

    rows: at most so many rows of a unit count; groups: at most so many groups of a unit count (None:
    the groups are few enough that nothing needs to be cut); rows_per_group: within each of them. is_summed:
    whether rows are counted over all groups of a unit to keep to `rows`; else the other two bounds see to it.
    is_unbounded: the policy bounds no rows, so the planner takes only releases of which all rows count. No SQL
    and no price goes by it.
    is_in_order: the groups of a unit that count are the first ones by their key, as they are listed; else they
    are chosen by a keyed hash.
    """

    column: ColumnRef
    rows: int
    groups: int | None
    rows_per_group: int | None
    is_summed: bool
    is_unbounded: bool = False
    is_in_order: bool = False


Neighbours = RowNeighbours | UnitNeighbours
