"""Public GROUP BY keys of expressions: all their values can be told without looking at the data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from decimal import Context, Decimal, Inexact
from fractions import Fraction

from proxy.base import limits
from proxy.base.decimals import decimal_text
from proxy.base.errors import Refusal
from proxy.base.instants import moment
from proxy.base.sql_types import SqlType
from proxy.planner.bounds import bounded
from proxy.planner.facts import Facts
from proxy.planner.intervals import STEPWISE
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    ColumnRef,
    Comparison,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    In,
    InPublic,
    Is,
    Like,
    Not,
    NumericCall,
    Operator,
)

Values = tuple[str | None, ...]


def label_values(expression: Expression, facts: Facts) -> Values | None:
    """Every text that PostgreSQL can print for an expression; None where that is not public.

    A row whose value is not among them is in no group; NULL is a key only where it is among them.
    """
    match expression:
        case ColumnRef():
            return facts[expression.relation, expression.column].values
        case Case():
            results = [result for _, result in expression.whens] + [expression.otherwise]
            if not all(isinstance(result, Constant) for result in results):
                return None
            texts = (_text(result) for result in results if isinstance(result, Constant))
            return tuple(dict.fromkeys(texts))
        case Comparison() | Connective() | Not() | Is() | In() | InPublic() | Like():
            return ("true", "false")
        case Extract():
            return _extracted(expression, facts)
        case DateTrunc():
            return _date_trunc(expression, facts)
        case Cast(operand=DateTrunc() as date_trunc, type=SqlType.TIMESTAMP):  # AT TIME ZONE 'UTC'
            values = label_values(date_trunc, facts)
            return None if values is None else tuple(v and v.removesuffix("+00") for v in values)
        case NumericCall() if expression.function in STEPWISE and expression.digits == 0:
            return _rounded(expression, facts)
        case Bucket():
            return tuple(str(n) for n in range(expression.count + 2))
        case Arithmetic():
            return _computed(expression, facts)
        case _:
            return None


# Python's own context keeps 28 digits and rounds the rest.
_EXACT = Context(prec=limits.BOUND_DIGITS, traps=[Inexact])
_OPERATIONS = {
    Operator.ADD: _EXACT.add,
    Operator.SUBTRACT: _EXACT.subtract,
    Operator.MULTIPLY: _EXACT.multiply,
}


def _computed(arithmetic: Arithmetic, facts: Facts) -> Values | None:
    """`floor(x / 10) * 10` and the like, as tools write bins: a constant and a number with public values.

    Decimal keeps the scales of sums and products as PostgreSQL's numeric does, and so the texts.
    """
    sides = [_decimals(side, facts) for side in (arithmetic.left, arithmetic.right)]
    left, right = sides
    if left is None or right is None or min(len(left), len(right)) > 1:
        return None
    operation = _OPERATIONS[arithmetic.operator]
    try:
        found = sorted({operation(a, b) for a in left for b in right})
    except Inexact:
        return None
    return tuple(f"{value if value else abs(value):f}" for value in found)  # numeric has no -0


def _decimals(side: Expression, facts: Facts) -> list[Decimal] | None:
    match side:
        case Constant(value=Fraction() as value) if (
            abs(value) < 10**9 and 10**6 % value.denominator == 0
        ):
            return [Decimal(decimal_text(value))]
        case NumericCall() | Extract() | Bucket() | Arithmetic():
            values = label_values(side, facts)
            return None if values is None else [Decimal(text) for text in values if text]
        case _:
            return None


def _text(constant: Constant) -> str | None:
    value = constant.value
    if isinstance(value, bool):
        return "true" if value else "false"
    return decimal_text(value) if isinstance(value, Fraction) else value


_ROUNDED_MOST = 1_000


def _rounded(rounded: NumericCall, facts: Facts) -> Values | None:
    """floor, ceil, round and trunc of a bounded number."""
    try:
        found = bounded(rounded, facts).interval
    except Refusal:
        return None
    if found is None or found.high - found.low > _ROUNDED_MOST:
        return None
    return tuple(str(n) for n in range(int(found.low), int(found.high) + 1))


def _extracted(extract: Extract, facts: Facts) -> Values | None:
    if extract.field in ("epoch", "second"):
        return None
    try:
        found = bounded(extract, facts).interval
    except Refusal:
        return None
    if found is None or found.high - found.low > limits.GROUPS_PER_STATEMENT:
        return None
    low, high = math.floor(found.low), math.ceil(found.high)
    if extract.field in ("year", "isoyear"):
        low, high = _years(extract, facts) or (low + 1, high - 1)  # a year of slack on both sides
    return tuple(str(n) for n in range(low, high + 1))


def _years(extract: Extract, facts: Facts) -> tuple[int, int] | None:
    """The first and the last year of a column's own bounds."""
    operand = extract.operand
    bounds = None
    if isinstance(operand, ColumnRef):
        bounds = facts[operand.relation, operand.column].bounds
    if bounds is None:
        return None
    seconds = 86400 if operand.type is SqlType.DATE else 1
    low, high = (moment(end * seconds) for end in (bounds.low, bounds.high))
    if extract.field == "isoyear":
        return low.isocalendar()[0], high.isocalendar()[0]
    return low.year, high.year


def _date_trunc(date_trunc: DateTrunc, facts: Facts) -> Values | None:
    operand = date_trunc.operand
    if not isinstance(operand, ColumnRef):
        return None
    bounds = facts[operand.relation, operand.column].bounds
    if bounds is None:
        return None
    found: list[str] = []
    for start in _starts(date_trunc.unit, bounds, operand.type is SqlType.DATE):
        if len(found) > limits.GROUPS_PER_STATEMENT:
            return None
        text = start.strftime("%Y-%m-%d %H:%M:%S")
        found.append(text + "+00" if date_trunc.type is SqlType.TIMESTAMPTZ else text)
    return tuple(found)


def _starts(unit: str, bounds: Bounds, days: bool) -> Iterator[datetime]:
    seconds = 86400 if days else 1
    at = _floor(moment(bounds.low * seconds), unit)
    last = moment(bounds.high * seconds)
    while at <= last:
        yield at
        at = _next(at, unit)


_FIXED = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _floor(at: datetime, unit: str) -> datetime:
    day = datetime(at.year, at.month, at.day, tzinfo=timezone.utc)
    match unit:
        case "minute":
            return at.replace(second=0, microsecond=0)
        case "hour":
            return at.replace(minute=0, second=0, microsecond=0)
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case _:
            months = _MONTHS[unit]
            return day.replace(month=(day.month - 1) // months * months + 1, day=1)


def _next(at: datetime, unit: str) -> datetime:
    if unit in _FIXED:
        return at + _FIXED[unit]
    months = at.month - 1 + _MONTHS[unit]
    return at.replace(year=at.year + months // 12, month=months % 12 + 1)
