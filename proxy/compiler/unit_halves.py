"""Units in two halves, each of which a session of its own can read at the same time.

A half has all rows of a unit or none: it is made by one comparison of the unit with one value, in the order by
which the server says that two units are the same. So sums over both halves are those over all units, and what
one unit can change in them is what it can change in one, whatever the value is. It says how long each half
takes, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.base.sql_types import SqlType
from proxy.compiler.backend_query import BELOW, CUT, HALF, StoredColumn
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.full_joins import Condition, condition
from proxy.compiler.stored_columns import stored_column
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.query.ir.relations import Relation, windows

# Of others the values of the planner need not be written as they are read.
_HALVED = (SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.UUID, SqlType.TEXT, SqlType.VARCHAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitHalves:
    """Attributes:
    place: Where units are stored.
    of_rows: Whether a row is of a unit of the half that is asked for.
    """

    place: StoredColumn
    of_rows: Condition


def unit_halves(source: Relation, unit: UnitNeighbours, binds: Binds) -> UnitHalves | None:
    """Print the condition on rows of one half; None where units are in no column of a table by itself.

    What is below may choose among rows of several units, the same ones in both sessions. A Truncate does so:
    it goes by what is in the rows and by the seed, a parameter of the statement. Columns of windows may not,
    wherever they stand: a name that one gives to a row is new in each session.
    """
    column = unit.column
    place = stored_column(source, column)
    if place is None or column.type not in _HALVED or any(windows(source)):
        return None
    half = binds.at_each_run(HALF, "0", "integer")
    cut = binds.at_each_run(CUT, None, column.type.sql)
    # Of all units the planner drops it. Of a half it makes < or >= of it, which an index serves.
    below = f"({column_sql(column)} < {cut}) = ({half} = {BELOW})"
    return UnitHalves(place=place, of_rows=condition(f"({half} = 0 OR {below})", column))
