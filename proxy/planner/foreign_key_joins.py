"""Joins of two tables of one privacy unit along a foreign key: `payments.rental_id = rentals.rental_id`."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.planner.facts import PlanningContext, RelationWithUnit, UnitRows
from proxy.planner.truncation import can_be_truncated_by, is_unique, leaf, origin
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join


@dataclass(frozen=True, slots=True, kw_only=True)
class AlongForeignKey:
    """units: the columns of the units, which ON has to set equal as well; key: that is referred to."""

    units: tuple[ColumnRef, ColumnRef]
    key: ColumnRef


def along_a_foreign_key(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> AlongForeignKey | None:
    """
    Given    sides whose rows have the same kind of unit, each in a column of its own
    Gives    None where no equality of ON is that of a declared foreign key

    With the units equal, all rows that a joined row is made of belong to one unit, whatever the data is; by the
    key, which the server checks, a row meets one row at most, so that a unit has as many joined rows as it has
    rows that refer (with those that have no partner, if they stay). Where the data is as it should be, the row
    that is referred to is of the same unit anyway, and nothing is left out.
    """
    a, b = left.ownership, right.ownership
    assert isinstance(a, UnitRows) and isinstance(b, UnitRows)
    if not can_be_truncated_by(a.column, b.column):
        return None
    for x, y in joined.equal:
        if not can_be_truncated_by(x, y):
            continue
        if _refers(joined, x, y, known):
            return AlongForeignKey(units=(a.column, b.column), key=y)
        if _refers(joined, y, x, known):
            return AlongForeignKey(units=(a.column, b.column), key=x)
    return None


def _refers(joined: Join, here: ColumnRef, there: ColumnRef, known: PlanningContext) -> bool:
    """Whether a column is declared to refer to another, which names a row of its side."""
    source, target = leaf(joined, here.relation), leaf(joined, there.relation)
    if source is None or target is None or not is_unique(target, there.column, known):
        return False
    of, to = origin(source, here.column), origin(target, there.column)
    return (
        of is not None
        and to is not None
        and any(
            (key.columns, key.target, key.target_columns) == ((of[1],), to[0], (to[1],))
            for key in known.catalog.tables[of[0]].foreign_keys
        )
    )
