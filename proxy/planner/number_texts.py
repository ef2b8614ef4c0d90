"""Numbers as texts: with how many digits after the point PostgreSQL prints them, where that is one number.

ir.Arithmetic of the compiled statement is in numeric, whatever the type in the question; what is printed is
rounded to the digits that the question's own type would show, so that both are one text.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner.facts import Facts
from proxy.planner.intrinsic_bounds import whole_parts_of_day
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import position_in

_PRINTS_AS_STORED = (ir.ColumnRef, ir.Extract, ir.TextCall, ir.Bucket)
_MOST_DIGITS = 40


def printed(cast: ir.Cast, facts: Facts) -> ir.Cast:
    """A number that is cast to text: rounded to the digits that are printed of it.

    Refuses  UNSUPPORTED: it is not known how many these are
    """
    if cast.operand.type is SqlType.BOOL:
        return cast
    digits = digits_of(cast.operand, facts)
    if digits is None or (digits > _MOST_DIGITS and not isinstance(cast.operand, ir.ColumnRef)):
        raise Refusal(
            Code.UNSUPPORTED,
            "it is not known with how many digits this number is printed",
            "Round it first: round((...)::numeric, 2)::text, or floor(...)::text.",
            position_in(cast),
        )
    operand = cast.operand
    if isinstance(operand, _PRINTS_AS_STORED) and not _is_computed(operand, facts):
        return cast
    if (
        operand.type is not None and operand.type.is_float
    ):  # what has no more digits is a numeric as it is
        operand = ir.Cast(operand, SqlType.NUMERIC)
    rounded = ir.NumericCall(ir.NumericFunction.ROUND, operand, digits, SqlType.NUMERIC)
    return replace(cast, operand=rounded)


def _is_computed(operand: ir.Expression, facts: Facts) -> bool:
    """Whether a subquery computes it, so that its digits are those of its arithmetic."""
    if not isinstance(operand, ir.ColumnRef):
        return False
    known = facts.get((operand.relation, operand.column))
    return known is not None and known.computed_of is not None


def cast_of_text(cast: ir.Cast) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        f"a cast from text to {cast.type.sql} may fail on some rows: it is allowed in GROUP BY, of a text whose"
        " values are public",
        "Compare the column as a text: column = '7'.",
        position_in(cast),
    )


def digits_of(expression: ir.Expression, facts: Facts) -> int | None:
    """After the point; None: not known, or not the same on all rows."""
    match expression:
        case ir.Constant(value=None):
            return 0
        case ir.Constant(value=Fraction() as value, type=kind):
            return 0 if kind is not None and kind.is_integer and value.denominator == 1 else None
        case ir.ColumnRef():
            return _of_column(expression, facts)
        case ir.Cast(operand=operand, type=kind):
            is_text = operand.type is not None and operand.type.is_text
            if operand.type is SqlType.BOOL or (is_text and kind.is_integer):
                return 0
            return digits_of(operand, facts)
        case ir.NumericCall(function=ir.NumericFunction.ABS | ir.NumericFunction.NEGATE):
            return digits_of(expression.operand, facts)
        case ir.NumericCall(type=kind, digits=digits):
            return None if kind.is_float and digits > 0 else max(digits, 0)
        case ir.Arithmetic(operator=operator):
            left, right = digits_of(expression.left, facts), digits_of(expression.right, facts)
            if left is None or right is None:
                return None
            return left + right if operator is ir.Operator.MULTIPLY else max(left, right)
        case ir.Quotient(type=kind) if kind.is_integer:
            return 0
        case ir.Quotient(remainder=True):
            return _equal([expression.operand, expression.divisor], facts)
        case ir.Extract(field=field):
            return None if field in ("epoch", "second") else 0
        case ir.Bucket() | ir.TextCall(type=SqlType.INT4):
            return 0
        case ir.Inside() if whole_parts_of_day(expression) is not None:
            return 0
        case ir.Case():
            return _equal([*(b for _, b in expression.whens), expression.otherwise], facts)
        case ir.Choose():
            return _equal(list(expression.operands), facts)
        case ir.NullIf() | ir.Clamped():
            return digits_of(expression.operand, facts)
        case _:
            return None


def _equal(parts: list[ir.Expression], facts: Facts) -> int | None:
    there = [part for part in parts if not (isinstance(part, ir.Constant) and part.value is None)]
    found = {digits_of(part, facts) for part in there}
    return found.pop() if len(found) == 1 else None


def _of_column(column: ir.ColumnRef, facts: Facts) -> int | None:
    kind = column.type
    if kind.is_integer:
        return 0
    known = facts.get((column.relation, column.column))
    if known is not None and known.computed_of is not None:
        return digits_of(known.computed_of.expression, {**facts, **known.computed_of.facts})
    step = None if known is None else known.step
    if kind is not SqlType.NUMERIC or step is None or step > 1:
        return None
    return len(str(step.denominator)) - 1  # a power of ten
