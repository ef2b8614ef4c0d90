"""The public granularity of results: every noisy number is an integer times its grid.

A sum is computed over integer grid indices, never in floats (docs/design/mechanisms.md 1).
"""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.planner.facts import Facts
from proxy.planner.intervals import is_within_limits, whole_parts_of_day
from proxy.policy.grid import AVERAGE_STEPS, STEPS_DEFAULT, power_of_ten
from proxy.policy.policy_model import Bounds
from proxy.query.ir import expressions as ir

_STEPS_MAX = 10**15  # indices stay exact in float8 and sums far below numeric's limits


def of_expression(expression: ir.Expression, bounds: Bounds, facts: Facts) -> Fraction:
    """The grid on which all values of an expression lie, or a fine enough decimal one."""
    exact = _exact(expression, facts)
    width = max(abs(bounds.low), abs(bounds.high), bounds.high - bounds.low)
    if exact is None or exact == 0 or not _is_decimal(exact) or width / exact > _STEPS_MAX:
        return default_grid(bounds)
    return exact


def of_average(grid: Fraction, bounds: Bounds) -> Fraction:
    """The grid of a mean: no coarser than the column's, and a ten-thousandth of the bounds or finer.

    docs/design/mechanisms.md 1: age in 0..125 gives 0.01, capital gain in 0..1e5 gives 1.
    """
    width = bounds.high - bounds.low
    return min(grid, power_of_ten(width / AVERAGE_STEPS)) if width > 0 else grid


def of_squares(grid: Fraction, bounds: Bounds) -> Fraction:
    """The grid of a variance: as of a mean of squares where values are below 1, whose squares are smaller.

    >>> thousandths = Bounds(low=Fraction(0), high=Fraction(1, 1000))
    >>> str(of_squares(Fraction(1, 10**6), thousandths)), str(of_average(Fraction(1, 10**6), thousandths))
    ('1/10000000000', '1/10000000')
    """
    width = bounds.high - bounds.low
    mean = of_average(grid, bounds)
    return min(mean, power_of_ten(width * width / AVERAGE_STEPS)) if width > 0 else mean


def default_grid(bounds: Bounds | None) -> Fraction:
    """A fine enough decimal one."""
    if bounds is None:
        return Fraction(1)
    width = max(abs(bounds.low), abs(bounds.high), bounds.high - bounds.low)
    return power_of_ten(width / STEPS_DEFAULT) if width > 0 else Fraction(1)


def _is_decimal(value: Fraction) -> bool:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _gcd(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """The coarsest grid that holds both. A zero grid is that of the constant 0 (and of NULL)."""
    if left is None or right is None:
        return None
    top = math.gcd(left.numerator * right.denominator, right.numerator * left.denominator)
    return Fraction(top, left.denominator * right.denominator)


def common(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """The coarsest grid that holds both, if both are known."""
    return _gcd(left, right)


def _exact(expression: ir.Expression, facts: Facts) -> Fraction | None:
    """None: there is none, or one with too many digits."""
    grid = _of_node(expression, facts)
    return grid if grid is None or is_within_limits(grid) else None


def _of_node(expression: ir.Expression, facts: Facts) -> Fraction | None:
    def of(part: ir.Expression) -> Fraction | None:
        return _exact(part, facts)

    match expression:
        case ir.Constant():
            value = expression.value
            return abs(value) if isinstance(value, Fraction) else Fraction(0)
        case ir.ColumnRef():
            return facts[expression.relation, expression.column].grid
        case ir.Clamped():
            return _gcd(_gcd(of(expression.operand), abs(expression.low)), abs(expression.high))
        case ir.Arithmetic(operator=ir.Operator.MULTIPLY):
            left, right = of(expression.left), of(expression.right)
            return None if left is None or right is None else left * right
        case ir.Arithmetic():
            return _gcd(of(expression.left), of(expression.right))
        case ir.NumericCall(function=ir.NumericFunction.ABS | ir.NumericFunction.NEGATE):
            return of(expression.operand)
        case ir.NumericCall(operand=ir.ColumnRef(), digits=limits.NUMBER_AFTER_POINT):
            return of(expression.operand)  # the planner's own cut (bounds.py)
        case ir.NumericCall():
            return Fraction(10) ** -expression.digits
        case ir.Bucket():
            return Fraction(1)
        case ir.Quotient():
            return Fraction(1) if expression.type.is_integer else None
        case ir.Extract():
            return Fraction(1) if expression.field not in ("epoch", "second") else None
        case ir.Inside() if whole_parts_of_day(expression) is not None:
            return Fraction(1)
        case ir.Case():
            grid = of(expression.otherwise)
            for _, result in expression.whens:
                grid = _gcd(grid, of(result))
            return grid
        case ir.Choose():
            grid = Fraction(0)
            for part in expression.operands:
                grid = _gcd(grid, of(part)) if grid is not None else None
            return grid
        case ir.NullIf():
            return of(expression.operand)
        case ir.Cast() if expression.operand.type is SqlType.BOOL:
            return Fraction(1)
        case ir.Cast():
            return of(expression.operand)
        case _:
            return None
