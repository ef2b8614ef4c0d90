"""Bounds of expressions by interval arithmetic, with every column clamped before anything is computed.

What comes out never raises and never leaves its interval, whatever is in the table (docs/design/sql.md 2):
columns are cut to their public bounds first, so that sums and products of them stay small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.constant_checks import check_inside, check_text_call
from proxy.kernel.text_totality import check_pattern
from proxy.planner import divisors, intervals
from proxy.planner.calendar_clamps import (
    can_overflow,
    column_below,
    shifted,
    shifted_by,
    truncated_within,
    with_calendar,
    within_calendar,
)
from proxy.planner.constant_times import constant_field
from proxy.planner.facts import Facts
from proxy.planner.intervals import clamped_by_type, is_of_day, unlimited, with_ends
from proxy.planner.number_texts import cast_of_text, printed, without_text
from proxy.planner.text_lengths import longest
from proxy.planner.time_bounds import time_bounds
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expression_walk import position_in
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Comparison,
    Concat,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    In,
    InPublic,
    Inside,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    NumericFunction,
    Parameter,
    Quotient,
    RealCall,
    Shift,
    TextCall,
    TimeBin,
)
from proxy.query.ir.rebuilding import rebuild, with_parts
from proxy.query.syntax.placeholders import ScalarAnswer

# numeric holds 131,072 digits before the point; far below that nothing can overflow.
_LARGEST = Fraction(10) ** 300


@dataclass(frozen=True, slots=True)
class Bounded:
    """An expression that cannot raise, and the interval in which its non-NULL values lie (None: always
    NULL)."""

    expression: Expression
    interval: Bounds | None


def bounded(expression: Expression, columns: Facts) -> Bounded:
    """A number (or date, as its day; or timestamp, as its second) with its bounds.

    Refuses  NO_BOUNDS where a column has none in the policy; UNSUPPORTED where none can be derived;
             TOO_COMPLEX where they have too many digits: each step of arithmetic is checked before the next
    """
    found = _bounded(expression, columns)
    interval = found.interval
    if interval is not None and max(abs(interval.low), abs(interval.high)) > _LARGEST:
        raise Refusal(
            Code.UNSUPPORTED,
            "the result of this arithmetic can become too large",
            "Scale the expression down.",
        )
    if interval is not None and not (
        intervals.is_within_limits(interval.low) and intervals.is_within_limits(interval.high)
    ):
        raise Refusal(
            Code.TOO_COMPLEX,
            f"the bounds of this arithmetic have too many digits, more than {limits.BOUND_DIGITS}",
            "Round in between, or use numbers with fewer digits.",
            position_in(expression),
        )
    return found


def _factor(expression: Expression, columns: Facts) -> Bounded:
    """An operand of arithmetic. A stored number without a scale, which can have 16,383 digits after the point,
    is cut before it is clamped: products of such numbers cost the product of their digits
    (kernel/work_prices.py). Rounding could carry into a digit for which the longest numbers have no room, so
    that it raises."""
    found = bounded(expression, columns)
    clamped = found.expression
    if not isinstance(clamped, Clamped) or not isinstance(clamped.operand, ColumnRef):
        return found
    column = clamped.operand
    known = columns.get((column.relation, column.column))
    if known is None or not known.is_long:
        return found
    digits = limits.NUMBER_AFTER_POINT
    cut = NumericCall(NumericFunction.TRUNC, column, digits, SqlType.NUMERIC)
    return Bounded(replace(clamped, operand=cut), found.interval)


def _bounded(expression: Expression, columns: Facts) -> Bounded:
    match expression:
        case Constant():
            return Bounded(expression, of_constant(expression))
        case ColumnRef():
            bounds = divisors.written(of_column(expression, columns))
            if not (expression.type.is_number or expression.type.is_time):
                unbounded(f'column "{expression.column}"', expression.position)
            return Bounded(Clamped(expression, bounds.low, bounds.high, expression.type), bounds)
        case Clamped():
            return Bounded(expression, Bounds(expression.low, expression.high))
        case _ if expression.type is not None and expression.type.is_time:
            return _time(expression, columns)
        case Arithmetic():
            left, right = _factor(expression.left, columns), _factor(expression.right, columns)
            changed = replace(expression, left=left.expression, right=right.expression)
            interval = intervals.of_arithmetic(expression.operator, left.interval, right.interval)
            intervals.check_range(expression, interval)
            return Bounded(changed, interval)
        case Quotient():
            return _quotient(expression, columns)
        case RealCall():
            inner = _factor(expression.operand, columns)
            return Bounded(*divisors.real_call(expression, (inner.expression, inner.interval)))
        case NumericCall():
            return _rounded(expression, bounded(expression.operand, columns))
        case Extract():
            return _extracted(expression, columns)
        case Bucket():
            inner = _factor(expression.operand, columns)
            place_bounds = Bounds(Fraction(0), Fraction(expression.count + 1))
            return Bounded(replace(expression, operand=inner.expression), place_bounds)
        case Case():
            return _case(expression, columns)
        case Choose():
            expression = with_ends(expression)
            parts = [bounded(part, columns) for part in expression.operands]
            operands = tuple(part.expression for part in parts)
            span = intervals.hull([part.interval for part in parts])
            if expression.choice is not Choice.COALESCE:
                is_least = expression.choice is Choice.LEAST
                span = divisors.chosen(span, expression.operands, is_least=is_least)
            return Bounded(replace(expression, operands=operands), span)
        case NullIf():
            inner, other = bounded(expression.operand, columns), bounded(expression.other, columns)
            changed_nullif = replace(expression, operand=inner.expression, other=other.expression)
            span = divisors.without_constant(expression, inner.interval, columns)
            return Bounded(changed_nullif, span)
        case Cast():
            return _cast(expression, columns)
        case TextCall() if expression.type is SqlType.INT4:
            most = longest(expression.operand, columns)
            if most is None:
                unbounded("the length of a text", expression.position)
            return _measured(expression, most, columns)
        case Inside() if (by_type := clamped_by_type(expression)) is not None:
            if not is_of_day(expression):
                raise unlimited(expression)
            return Bounded(by_type, Bounds(by_type.low, by_type.high))
        case Parameter(source=ScalarAnswer()):
            raise Refusal(
                Code.NO_BOUNDS,
                "nothing can be computed of the answer of a subquery in a condition",
                "Compute on the other side, column / 2 > (SELECT avg(column) FROM table); or run the subquery"
                " by itself and write the number.",
                expression.position,
            )
        case (
            Parameter()
            | Inside()
            | Comparison()
            | Connective()
            | Not()
            | Is()
            | In()
            | InPublic()
            | Like()
            | TextCall()
            | Concat()
            | DateTrunc()
            | FormattedTime()
            | Shift()
            | TimeBin()
        ):
            unbounded("this expression", None)
        case _:
            assert_never(expression)


def condition(expression: Expression, columns: Facts) -> Expression:
    """A condition, or an operand of one, with all arithmetic inside it clamped and its constants checked.

    Refuses  UNSUPPORTED for a LIKE pattern or a divisor that could raise; NO_BOUNDS as `bounded`
    """

    def again(part: Expression) -> Expression:
        return condition(part, columns)

    match expression:
        case Constant() | Parameter() | ColumnRef() | Clamped():
            return expression
        case Comparison():
            return with_parts(
                expression, left=again(expression.left), right=again(expression.right)
            )
        case Connective() | Choose() | Concat():
            return replace(expression, operands=tuple(map(again, expression.operands)))
        case Cast() if expression.operand.type is not None and expression.operand.type.is_text:
            return again(_without_text(expression))
        case Cast() if expression.type.is_text:
            as_printed = printed(expression, columns)
            return replace(as_printed, operand=again(as_printed.operand))
        case Cast() if can_overflow(expression):
            return replace(expression, operand=within_calendar(expression.operand, columns))
        case Not() | Is() | In() | Extract() | Cast():
            return replace(expression, operand=again(expression.operand))
        case FormattedTime():
            return replace(expression, operand=within_calendar(expression.operand, columns))
        case InPublic():
            inner = None if expression.condition is None else again(expression.condition)
            return replace(expression, operand=again(expression.operand), condition=inner)
        case Like():
            check_pattern(expression)
            return replace(expression, operand=again(expression.operand))
        case Inside():
            check_inside(expression)
            return expression
        case TextCall():
            check_text_call(expression)
            return replace(expression, operand=again(expression.operand))
        case Arithmetic() | Quotient() | NumericCall() | RealCall() | Bucket():
            lengths = _with_lengths(expression, columns)
            return bounded(lengths, with_calendar(lengths, columns)).expression
        case DateTrunc():
            return truncated_within(expression, columns)
        case Shift() | TimeBin():
            return shifted(expression, columns)
        case Case():
            whens = tuple((again(a), again(b)) for a, b in expression.whens)
            return replace(expression, whens=whens, otherwise=again(expression.otherwise))
        case NullIf():
            other = again(expression.other)
            return replace(expression, operand=again(expression.operand), other=other)
        case _:
            assert_never(expression)


def _measured(call: TextCall, most: int, columns: Facts) -> Bounded:
    """Cut to what it can be: also where a stored text is longer than it was said to be."""
    span = Bounds(Fraction(0), Fraction(most))
    return Bounded(Clamped(condition(call, columns), span.low, span.high, call.type), span)


def _with_lengths(expression: Expression, columns: Facts) -> Expression:
    """Where a comparison is made of it, the length of any text is below 2^30, as texts are stored."""

    def change(part: Expression) -> Expression:
        if isinstance(part, TextCall) and part.type is SqlType.INT4:
            return _measured(part, 2**30 - 1, columns).expression
        if (by_type := clamped_by_type(part)) is not None:
            return by_type
        if isinstance(part, Clamped) and isinstance(part.operand, Clamped):
            return replace(part, operand=part.operand.operand)  # it had been clamped before
        return part

    return rebuild(expression, change)


def _quotient(quotient: Quotient, columns: Facts) -> Bounded:
    inner = _factor(quotient.operand, columns)
    if isinstance(quotient.divisor, Constant | Parameter):
        divisor = divisors.checked_divisor(quotient)
        changed = replace(quotient, operand=inner.expression)
        return Bounded(changed, intervals.of_quotient(quotient, divisor, inner.interval))
    by = _factor(quotient.divisor, columns)
    operands = ((inner.expression, inner.interval), (by.expression, by.interval))
    return Bounded(*divisors.divided(quotient, *operands, columns))


def _rounded(rounded: NumericCall, inner: Bounded) -> Bounded:
    changed = replace(rounded, operand=inner.expression)
    if inner.interval is None:
        return Bounded(changed, None)
    interval = intervals.of_rounding(rounded, inner.interval)
    if rounded.function in intervals.STEPWISE and not intervals.fits(rounded.type, interval):
        unbounded(f"a cast to {rounded.type.sql} of values this large", None)
    if rounded.below is not None and max(abs(interval.low), abs(interval.high)) >= rounded.below:
        unbounded("a cast to a numeric of fewer digits than the values have", None)
    return Bounded(changed, interval)


def _time(time: Expression, columns: Facts) -> Bounded:
    """A computed time. It is cut by itself: its columns can have values beyond their bounds."""
    inside, found = condition(time, columns), time_bounds(time, columns)
    if found is None:
        below = column_below(time)
        if below is not None:
            of_column(below, columns)  # refuses a column without bounds by its name
        unbounded("this expression", position_in(time))
    return Bounded(Clamped(inside, found.low, found.high, _kind(time)), found)


def _kind(time: Expression) -> SqlType:
    assert time.type is not None
    return time.type


def _extracted(extract: Extract, columns: Facts) -> Bounded:
    if (value := constant_field(extract)) is not None:
        return Bounded(Constant(value, extract.type), Bounds(value, value))
    column = column_below(extract.operand)
    interval = intervals.of_fixed_field(extract.field)
    if interval is None and column is None:
        of = _time(extract.operand, columns).interval
        assert of is not None
        interval = intervals.of_calendar_field(extract.field, _kind(extract.operand), of)
    elif interval is None and column is not None:
        of = of_column(column, columns)
        # Another clock shows another day, at most; what is added moves it further.
        slack = Fraction(
            shifted_by(extract.operand) * (1 if column.type is SqlType.DATE else 86_400)
        )
        of = Bounds(of.low - slack, of.high + slack)
        interval = intervals.of_calendar_field(extract.field, column.type, of)
    assert interval is not None
    # The operand is not clamped to its bounds, so an infinite date gives Infinity; it is cut here.
    inside = replace(extract, operand=condition(extract.operand, columns))
    return Bounded(Clamped(inside, interval.low, interval.high, extract.type), interval)


def _case(case: Case, columns: Facts) -> Bounded:
    parts = [bounded(result, columns) for _, result in case.whens]
    otherwise = bounded(case.otherwise, columns)
    conditions = [condition(test, columns) for test, _ in case.whens]
    results = [part.expression for part in parts]
    whens = tuple(zip(conditions, results, strict=True))
    changed = replace(case, whens=whens, otherwise=otherwise.expression)
    return Bounded(changed, intervals.hull([part.interval for part in (*parts, otherwise)]))


def _without_text(cast: Cast) -> Expression:
    """
    Refuses  UNSUPPORTED: what is cast may be another text than that of a number or date
    """
    found = without_text(cast)
    if found is None:
        raise cast_of_text(cast)
    return found


def _cast(cast: Cast, columns: Facts) -> Bounded:
    if cast.operand.type is SqlType.BOOL:
        inner = condition(cast.operand, columns)
        return Bounded(replace(cast, operand=inner), Bounds(Fraction(0), Fraction(1)))
    if cast.operand.type is not None and cast.operand.type.is_text:
        return bounded(_without_text(cast), columns)
    bounded_inner = bounded(cast.operand, columns)
    return Bounded(replace(cast, operand=bounded_inner.expression), bounded_inner.interval)


# Bounds of what expressions are made of: those of columns, which the policy says, and of constants.


def unbounded(what: str, position: int | None) -> NoReturn:
    raise Refusal(
        Code.NO_BOUNDS,
        f"{what} has no public bounds, so its sum or average cannot be protected",
        "Aggregate a column that has bounds in the policy.",
        position,
    )


def of_constant(constant: Constant) -> Bounds | None:
    if constant.value is None:
        return None
    if not isinstance(constant.value, Fraction):
        unbounded("a constant that is not a number", constant.position)
    return Bounds(constant.value, constant.value)


def of_column(column: ColumnRef, columns: Facts) -> Bounds:
    known = columns.get((column.relation, column.column))
    bounds = None if known is None else known.bounds or known.held
    if bounds is not None:
        return bounds
    reason = None if known is None else known.unbounded
    if reason is None or reason.message == _without_bounds(column.column):
        raise Refusal(
            Code.NO_BOUNDS,
            _without_bounds(column.column),
            "Ask the data owner for `bounds` on this column, count its rows, or compare it as it is.",
            column.position,
        )
    raise Refusal(
        Code.NO_BOUNDS,
        f'column "{column.column}" of a subquery cannot be computed with: {reason.message}',
        reason.hint,
        column.position,
    )


def stored_without_bounds(name: str) -> Refusal:
    """Why a column of a subquery has no bounds that is this column of a table, or is computed of it."""
    return Refusal(
        Code.NO_BOUNDS,
        _without_bounds(name),
        f'Ask the data owner for `bounds` on column "{name}", count its rows, or compare it as it is.',
    )


def _without_bounds(name: str) -> str:
    return (
        f'column "{name}" has no bounds in the policy, so nothing can be computed from its values'
    )
