"""Names of what is measured, alike where the same rows are counted: by count(*), by count(x) of a column that
is never NULL, and by the number of rows that AVG and variances are divided by.

Of columns alone: of an expression it is not proven that it is NULL just where its grid index is, as in
planner.budget_allocation, which shares the same numbers within a statement.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy.kernel.plan import BlockPlan, NoisyStatistic, Release
from proxy.kernel.sensitivities import sensitivity_of
from proxy.kernel.shape import shape_of
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.query.ir.expressions import Clamped, ColumnRef, Expression
from proxy.reuse.block_question import BlockQuestion, measure_name

NeverNull = Callable[[ColumnRef], bool]


def release_names(
    block: BlockPlan, question: BlockQuestion, is_never_null: NeverNull
) -> tuple[str, ...]:
    """Of a question's releases, in its order.

    Given    is_never_null: of a column, by what the server enforces
    """
    named = zip(question.releases, question.release_names, strict=True)
    return tuple(_name(block, block.releases[n], name, is_never_null) for n, name in named)


def _name(block: BlockPlan, release: Release, name: str, is_never_null: NeverNull) -> str:
    if not isinstance(release, NoisyStatistic) or release.statistic is not Statistic.ROWS:
        return name
    if release.total is not None:  # rows of a unit are bounded otherwise
        return name
    found = _counted(release.of)
    if found is None:
        return name
    column, condition, fills = found
    if column is not None and (fills or is_never_null(column)):
        column = None
    return measure_name(
        block, "rows", column, condition, sensitivity_of(release, shape_of(block)).l1
    )


def _counted(
    of: Counted | tuple[Measured, ...],
) -> tuple[ColumnRef | None, Expression | None, bool] | None:
    """The column whose values are counted (None: all rows), of which rows, and whether it is never NULL, as far
    as that is known. None: neither a column nor all rows."""
    if isinstance(of, Counted):
        if of.operand is None or isinstance(of.operand, ColumnRef):
            return of.operand, of.condition, of.never_null
        return None
    if len(of) != 1:
        return None
    operand = of[0].operand
    column = operand.operand if isinstance(operand, Clamped) else operand
    # A value is NULL, and not counted, where its column is.
    return (column, of[0].condition, False) if isinstance(column, ColumnRef) else None
