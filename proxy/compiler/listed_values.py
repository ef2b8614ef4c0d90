"""One list of all values of a column of a prepared copy, for order statistics and sums: one scan for both.

A copy has an index of each such column (compiler/copy_view.py), in whose order PostgreSQL counts the rows of
each value without a hash table. Sums of rows are sums of values, each times its rows (PROOFS.md 35 P7).
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.base.slots import Slots
from proxy.compiler.aggregate_sql import RowSource, index_sql
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.select_list import Output, row_conditions
from proxy.compiler.statistic_sql import is_of_bigints
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, NoisyStatistic, OrderStatistic, RecentredMean, Release
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.query.ir.expressions import Clamped, ColumnRef
from proxy.query.ir.relations import Scan

VALUE_ROWS = "m"  # how many rows have a value


def listed_column(plan: BlockPlan, releases: Sequence[Release]) -> ColumnRef | None:
    """The column whose values order statistics are about, if they are read from the whole of a prepared copy.

    With a condition on rows, or by groups, no index has the rows of a value beside each other.
    """
    first, neighbours = releases[0], plan.neighbours
    if not isinstance(first, OrderStatistic) or not isinstance(neighbours, RowNeighbours):
        return None
    if plan.keys or plan.sub_partitions or plan.selection is not None or first.weights is not None:
        return None
    if not isinstance(plan.source, Scan) or plan.source.copy is None:
        return None
    if row_conditions(plan, neighbours.not_null, Binds()):
        return None
    return _column(first.measured)


def has_sums(plan: BlockPlan, numbers: Sequence[int], sums: Sequence[int]) -> bool:
    """Whether all these sums follow from the list of values of these order statistics."""
    column = listed_column(plan, [plan.releases[number] for number in numbers])
    if column is None:
        return False
    rows = RowSource(Binds(), inner=True)
    return sums_of_values([plan.releases[n] for n in sums], column, rows, Output()) is not None


def sums_of_values(
    sums: Sequence[Release], column: ColumnRef, rows: RowSource, output: Output
) -> tuple[Slots, ...] | None:
    """Add sums of rows to a select list over values, each with its number of rows.

    Returns:
        Where each sum is found. None: one is of something else than the values of the column.
    """
    found = []
    for release in sums:
        slots = _slots(release, column, rows, output)
        if slots is None:
            return None
        found.append(slots)
    return tuple(found)


def _slots(release: Release, column: ColumnRef, rows: RowSource, output: Output) -> Slots | None:
    match release:
        case NoisyStatistic(of=Counted() as counted):
            is_of_all = counted.operand is None or counted.never_null
            if counted.condition is not None or not is_of_all:
                return None
            return Slots(total=output.add(f"pg_catalog.sum({VALUE_ROWS})"))
        case NoisyStatistic(of=(measured,)) if _column(measured) == column:
            match release.statistic:
                case Statistic.ROWS:
                    return Slots(total=output.add(values_sql(column, rows)))
                case Statistic.STEPS | Statistic.CENTRED:
                    is_centred = release.statistic is Statistic.CENTRED
                    return Slots(total=output.add(_total(measured, rows, is_centred=is_centred)))
                case _:
                    return None
        case RecentredMean(measured=measured) if _column(measured) == column:
            count = output.add(values_sql(column, rows))
            return Slots(count=count, total=output.add(_total(measured, rows, is_centred=True)))
        case _:
            return None


def values_sql(column: ColumnRef, rows: RowSource) -> str:
    """How many rows have a value in the column."""
    return f"pg_catalog.sum(CASE WHEN {rows.take(column_sql(column))} IS NULL THEN 0 ELSE {VALUE_ROWS} END)"


def _total(measured: Measured, rows: RowSource, *, is_centred: bool) -> str:
    """The sum of grid indices of rows, or of these about the middle of their bounds (`centred_sql`)."""
    kind = "bigint" if is_of_bigints(measured, rows) else "numeric"
    value = f"({index_sql(measured, rows)})::{kind}"
    if is_centred:
        value = f"(2 * {value} - {rows.binds.number(measured.low + measured.high, kind)})"
    return f"pg_catalog.sum({value} * {VALUE_ROWS})"


def _column(measured: Measured) -> ColumnRef | None:
    """The column that holds its values as whole numbers, in all rows."""
    if measured.condition is not None:
        return None
    if measured.index is not None:
        return measured.index
    operand = measured.operand.operand if isinstance(measured.operand, Clamped) else None
    if isinstance(operand, ColumnRef) and operand.type.is_integer and measured.grid == 1:
        return operand
    return None
