"""Which keys and conditions are computed of columns cut to their bounds: rows beyond count as the nearest."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    ColumnRef,
    DateTrunc,
    Expression,
    NumericCall,
    Quotient,
    RealCall,
    Shift,
    TimeBin,
)

OF_CLAMPED = (Arithmetic, Bucket, DateTrunc, NumericCall, Quotient, RealCall, Shift, TimeBin)


def is_of_clamped(expression: Expression) -> bool:
    """Whether some part is computed of a column within its bounds: to_char(date_trunc('week', at), 'YYYY')."""
    return any(_clamps(part) for part in parts_of(expression))


def _clamps(part: Expression) -> bool:
    if isinstance(part, DateTrunc | TimeBin):  # not of a cast (calendar_clamps.py)
        operand = part.operand
        while isinstance(operand, Shift):
            operand = operand.operand
        return isinstance(operand, ColumnRef)
    return isinstance(part, OF_CLAMPED) and not isinstance(part, Shift)


def parts_of(expression: Expression) -> Iterator[Expression]:
    yield expression
    for child in children(expression):
        yield from parts_of(child)
