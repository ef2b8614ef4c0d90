"""One list of all values of a column of a prepared copy, for order statistics and sums: one scan for both.

A copy has an index of each such column (compiler/copy_view.py), in whose order PostgreSQL counts the rows of
each value without a hash table. Sums of rows are sums of values, each times its rows (PROOFS.md 35 P7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proxy.base.slots import Slots
from proxy.compiler.aggregate_sql import RowSource, index_sql
from proxy.compiler.binds import Binds
from proxy.compiler.seeded_keys import FEW_ROWS
from proxy.compiler.select_list import Output, row_conditions
from proxy.compiler.statistic_sql import is_of_bigints
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, NoisyStatistic, OrderStatistic, RecentredMean, Release
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.query.ir.expressions import Clamped, ColumnRef
from proxy.query.ir.relations import Scan

LISTED, LISTED_ROWS = "x", "m"  # what the column holds, and in how many rows


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
    if neighbours.rows > FEW_ROWS:  # whose values may have one hash
        return None
    if row_conditions(plan, neighbours.not_null, Binds()):
        return None
    return _column(first.measured)


def has_sums(plan: BlockPlan, numbers: Sequence[int], sums: Sequence[int]) -> bool:
    """Whether all these sums follow from the list of values of these order statistics."""
    column = listed_column(plan, [plan.releases[number] for number in numbers])
    if column is None:
        return False
    found = sums_of_values([plan.releases[n] for n in sums], column, Binds(), Output())
    return found is not None


def sums_of_values(
    sums: Sequence[Release], column: ColumnRef, binds: Binds, output: Output
) -> tuple[Slots, ...] | None:
    """Add sums of rows to a select list over values, each with its number of rows.

    Returns:
        Where each sum is found. None: one is of something else than the values of the column.
    """
    found = []
    for release in sums:
        slots = _slots(release, column, binds, output)
        if slots is None:
            return None
        found.append(slots)
    return tuple(found)


def _slots(release: Release, column: ColumnRef, binds: Binds, output: Output) -> Slots | None:
    match release:
        case NoisyStatistic(of=Counted() as counted):
            is_of_all = counted.operand is None or counted.never_null
            if counted.condition is not None or not is_of_all:
                return None
            return Slots(total=output.add(f"pg_catalog.sum({LISTED_ROWS})"))
        case NoisyStatistic(of=(measured,)) if _column(measured) == column:
            match release.statistic:
                case Statistic.ROWS:
                    return Slots(total=output.add(values_sql()))
                case Statistic.STEPS | Statistic.CENTRED:
                    is_centred = release.statistic is Statistic.CENTRED
                    return Slots(total=output.add(_total(measured, binds, is_centred=is_centred)))
                case _:
                    return None
        case RecentredMean(measured=measured) if _column(measured) == column:
            count = output.add(values_sql())
            return Slots(count=count, total=output.add(_total(measured, binds, is_centred=True)))
        case _:
            return None


def values_sql() -> str:
    """How many rows have a value."""
    return f"pg_catalog.sum(CASE WHEN {LISTED} IS NULL THEN 0 ELSE {LISTED_ROWS} END)"


def listed_index_sql(measured: Measured, binds: Binds) -> str:
    """The grid index of a value of the list, as `index_sql` has it for a row."""
    return index_sql(_of_list(measured), RowSource(binds, inner=False))


def _of_list(measured: Measured) -> Measured:
    if measured.index is not None:
        return replace(measured, index=_listed(measured.index))
    operand = measured.operand
    assert isinstance(operand, Clamped) and isinstance(operand.operand, ColumnRef), "`_column`"
    return replace(measured, operand=replace(operand, operand=_listed(operand.operand)))


def _listed(column: ColumnRef) -> ColumnRef:
    return replace(column, relation="", column=LISTED)


def _total(measured: Measured, binds: Binds, *, is_centred: bool) -> str:
    """The sum of grid indices of rows, or of these about the middle of their bounds (`centred_sql`)."""
    is_small = is_of_bigints(measured, RowSource(binds, inner=True))
    kind = "bigint" if is_small else "numeric"
    value = f"({listed_index_sql(measured, binds)})::{kind}"
    if is_centred:
        value = f"(2 * {value} - {binds.number(measured.low + measured.high, kind)})"
    return f"pg_catalog.sum({value} * {LISTED_ROWS})"


def _column(measured: Measured) -> ColumnRef | None:
    """The column that holds its values as whole numbers, in all rows."""
    if measured.condition is not None:
        return None
    if measured.index is not None:
        return measured.index
    operand = measured.operand.operand if isinstance(measured.operand, Clamped) else None
    return operand if isinstance(operand, ColumnRef) and operand.type.is_integer else None
