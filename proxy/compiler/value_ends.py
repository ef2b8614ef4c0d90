"""MIN and MAX of rows from the rows near the ends of a column alone.

Both look at so many of the least or largest values, `needed`. The server's planner knows below which value, and
above which, about a hundredth of the rows of a column are. Rows between the two need not be counted value by
value, which takes longer than to read them; where the column has an index, they are not read either.

The index of a value grows with the value. So where `needed` rows are found up to the index of the low end, the
least `needed` values are those of all rows, and so at the other end. Where a quarter of the rows that the
planner counts there is not found, the statement returns no row, and is read again without ends (PROOFS.md 9).
It goes by the planner's number, as `needed` is one that whoever asks can choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.base.sql_types import SqlType
from proxy.compiler.aggregate_sql import plain_column
from proxy.compiler.backend_query import END_ROWS, HIGH_END, LOW_END, ColumnEnds
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.full_joins import Condition, condition
from proxy.compiler.stored_columns import stored_column
from proxy.compiler.value_counts import LISTED, listed_index_sql
from proxy.kernel.plan import BlockPlan, OrderStatistic
from proxy.query.ir.query_aggregates import AggregateKind

# Of times the text depends on settings of the session.
_TYPES = (
    *(SqlType.INT2, SqlType.INT4, SqlType.INT8),
    *(SqlType.NUMERIC, SqlType.FLOAT4, SqlType.FLOAT8),
)
_SIDES = {AggregateKind.MIN: (LOW_END, "<="), AggregateKind.MAX: (HIGH_END, ">=")}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRows:
    """Attributes:
    of: Where the ends are found.
    of_rows: Whether a row is at an end, or all are wanted.
    counted: The rows at each end, over a list of values v with n rows each, with their names.
    enough: Whether these are as many as are needed, or all rows were read.
    """

    of: ColumnEnds
    of_rows: Condition
    counted: tuple[str, ...]
    enough: str


def end_rows(plan: BlockPlan, numbers: Sequence[int], binds: Binds) -> EndRows | None:
    """Print what keeps to the ends of a column; None where all rows have to be read.

    Args:
        plan: Of the block.
        numbers: Of order statistics of one list of values.
        binds: Of the statement.
    """
    if not plan.looks_at_ends(numbers):
        return None
    releases = [one for n in numbers if isinstance(one := plan.releases[n], OrderStatistic)]
    measured = releases[0].measured
    column = measured.index or plain_column(measured.operand)
    place = None if column is None else stored_column(plan.source, column)
    if column is None or place is None or column.type not in _TYPES:
        return None
    needed = max(one.needed for one in releases if one.needed is not None)
    value = column_sql(column)
    index, enough = listed_index_sql(measured, binds), binds.at_each_run(END_ROWS, None, "bigint")
    at_end, counted, names = [], [], []
    for kind in {one.aggregate.kind: None for one in releases}:
        name, compares = _SIDES[kind]
        end = binds.at_each_run(name, None, column.type.sql)
        at_end.append(f"{value} {compares} {end}")
        # The server computes the index of the end once.
        of_end = f"(SELECT {index} FROM (SELECT {end} AS {LISTED}) e)"
        found = f"pg_catalog.sum(n) FILTER (WHERE v {compares} {of_end}) OVER ()"
        counted.append(f"{found} AS at_{name}")
        names.append(f"at_{name} >= {enough}")
    of_all = f"{enough} IS NULL"
    return EndRows(
        of=ColumnEnds(place=place, needed=needed),
        # Of all rows the planner drops it; else it looks both ends up in an index.
        of_rows=condition(f"({' OR '.join([*at_end, of_all])})", column),
        counted=tuple(counted),
        enough=f"({of_all} OR ({' AND '.join(names)}))",
    )
