"""Public GROUP BY keys of expressions: all their values can be told without looking at the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

from proxy.base import limits
from proxy.base.decimals import decimal_text
from proxy.base.errors import Refusal
from proxy.base.instants import is_in_calendar, moment, seconds_of
from proxy.base.sql_types import SqlType
from proxy.planner.bounds import bounded
from proxy.planner.calendar_clamps import is_of_clamped
from proxy.planner.computed_labels import combined, parts_of_key
from proxy.planner.facts import Facts, Range, Values
from proxy.planner.intervals import STEPWISE, whole_parts_of_day
from proxy.planner.mapped_texts import depends_on_locale, mapped_texts
from proxy.planner.possible_truth import Within
from proxy.planner.time_intervals import interval_of, is_function_of
from proxy.planner.time_labels import extracted, time_texts
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choose,
    ColumnRef,
    Comparison,
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
    Quotient,
    Shift,
    TextCall,
    TimeBin,
)


def label_values(expression: Expression, facts: Facts) -> Values | None:
    """Every text that PostgreSQL can print for an expression; None where that is not public.

    A row whose value is not among them is in no group; NULL is a key only where it is among them.
    """
    values = _labels(expression, facts)
    narrow = [
        name
        for name in sorted(columns(expression))
        if facts[name].ranges is not None and facts[name].bounds
    ]
    if isinstance(expression, ColumnRef | Case) or len(narrow) != 1:
        return values
    found = _within_ranges(expression, facts, narrow[0])
    if found is None or values is None:
        return values if found is None else tuple(found)
    return tuple(value for value in values if value in found)


def _within_ranges(
    expression: Expression, facts: Facts, name: tuple[str, str]
) -> dict[str | None, None] | None:
    """The texts that are printed where a column lies in its ranges; None: they are not public, or too many."""
    known = facts[name]
    found: dict[str | None, None] = {}
    assert known.bounds is not None and known.ranges is not None
    for one in _counted(expression, known.ranges, known.bounds):
        labels = _labels(
            expression,
            facts | {name: replace(known, bounds=clamped(known.bounds, one), ranges=(one,))},
        )
        if labels is None:
            return None
        found.update(dict.fromkeys(labels))
        if len(found) > limits.GROUPS_PER_STATEMENT:
            return None
    return found


def _counted(expression: Expression, ranges: Sequence[Range], bounds: Bounds) -> Sequence[Range]:
    """Ranges of which rows can be in a group. Rows beyond the bounds are in the first or the last group if the
    key is computed of clamped values, and else in none."""
    if is_of_clamped(expression):
        return ranges
    meeting = [
        one
        for one in ranges
        if (one.low is None or one.low <= bounds.high)
        and (one.high is None or one.high >= bounds.low)
    ]
    return meeting or ranges


def clamped(bounds: Bounds, one: Range) -> Bounds:
    """As the compiled statement clamps what lies beyond the bounds."""
    ends = (
        bounds.low if one.low is None else one.low,
        bounds.high if one.high is None else one.high,
    )
    low, high = (min(max(end, bounds.low), bounds.high) for end in ends)
    return Bounds(low, high, bounds.kind)


def _labels(expression: Expression, facts: Facts) -> Values | None:
    values = _direct(expression, facts)
    if values is None:
        return _combined(expression, facts)
    return _of_parts(expression, values, facts) or _of_fewer(expression, values, facts) or values


def _of_fewer(expression: Expression, values: Values, facts: Facts) -> Values | None:
    """Of a number that is computed of a whole number with fewer values, as round(n / 2.0, 1): between its
    bounds are numbers that it never is."""
    if not isinstance(expression, NumericCall | Quotient):
        return None
    inner = _whole_numbers_of(expression, facts)
    if inner is None or not 0 < len(inner[1]) < len(values):
        return None
    column, numbers = inner
    found = facts.labels.evaluated([expression], [column], [(number,) for number in numbers])
    return tuple(dict.fromkeys(text for (text,) in found)) if found else None


def _whole_numbers_of(
    expression: Expression, facts: Facts
) -> tuple[ColumnRef, tuple[str, ...]] | None:
    """The whole number between bounds of which alone an expression is made, and all that it can be."""
    names = columns(expression)
    known = facts[next(iter(names))] if len(names) == 1 else None
    if known is None or known.bounds is None or not known.type.is_integer:
        return None
    ((relation, name),) = names
    low, high = math.ceil(known.bounds.low), math.floor(known.bounds.high)
    if high - low > _ROUNDED_MOST:
        return None
    return ColumnRef(name, known.type, None, relation), tuple(map(str, range(low, high + 1)))


def _of_parts(expression: Expression, values: Values, facts: Facts) -> Values | None:
    """Of a number that is computed of fields of times, whose bounds are wider than they are:
    extract(year FROM day)::int."""
    if not isinstance(expression, NumericCall | Quotient | Arithmetic):
        return None
    if not all(isinstance(part, Extract) for part in key_parts(expression, facts) or (expression,)):
        return None
    found = _combined(expression, facts)
    return found if found is not None and set(values).issuperset(found) else None


def key_parts(expression: Expression, facts: Facts) -> tuple[Expression, ...] | None:
    """The smallest parts with public values of which an expression is computed; None: it is not, or
    the database evaluates it, by a locale of its own."""
    if depends_on_locale(expression) and not (
        mapped_texts(expression, facts) is not None or _direct(expression, facts) is None
    ):
        return None
    return parts_of_key(expression, lambda part: _direct(part, facts))


def is_computed(expression: Expression, facts: Facts) -> bool:
    """Whether the values of a key are made of those of its parts, not of its form alone, as of a condition."""
    return _direct(expression, facts) is None and _combined(expression, facts) is not None


def _combined(expression: Expression, facts: Facts) -> Values | None:
    """Of a key that is computed of several parts."""
    parts = key_parts(expression, facts)
    if parts is None:
        return None
    values = [label_values(part, facts) or () for part in parts]
    found = combined([expression], parts, values, facts)
    return None if found is None else tuple(text for (text,) in found)


def _direct(expression: Expression, facts: Facts) -> Values | None:
    """Of an expression as a whole."""
    match expression:
        case ColumnRef():
            known = facts[expression.relation, expression.column]
            if known.values is None or known.nullable:
                return known.values
            return tuple(value for value in known.values if value is not None)
        case Case():
            results = [result for _, result in expression.whens] + [expression.otherwise]
            labels = [r for r in results if isinstance(r, Constant) and _is_printed(r, expression)]
            if len(labels) < len(results):
                return None
            return tuple(dict.fromkeys(constant_text(label) for label in labels))
        case Comparison() | Connective() | Not() | Is() | In() | InPublic() | Like():
            return ("true", "false")
        case Inside(type=SqlType.BOOL):
            return ("true", "false")
        case Inside() if (whole := whole_parts_of_day(expression)) is not None:
            return tuple(map(str, whole))
        case Extract():
            return extracted(expression, facts)
        case DateTrunc() | FormattedTime() | Shift() | TimeBin():
            return _times(expression, facts)
        case Cast() if expression.type.is_time:
            return _times(expression, facts)
        case NumericCall() if expression.function in STEPWISE:
            return _rounded(expression, facts)
        case Quotient() if expression.type.is_integer:
            return _whole_numbers(expression, facts)
        case TextCall() | NullIf() | Choose():
            mapped = mapped_texts(expression, facts)
            return None if mapped is None else tuple(dict.fromkeys(mapped.values()))
        case Bucket():
            return _buckets(expression, facts)
        case Arithmetic():
            return _bins(expression, facts)
        case _:
            return None


def _times(key: DateTrunc | Cast | FormattedTime | Shift | TimeBin, facts: Facts) -> Values | None:
    read = tuple((name, facts[name]) for name in sorted(columns(key)))
    return facts.labels.made_once((key, read), lambda: time_texts(key, facts))


_DAY = 86_400
_NUMBERS = (NumericCall, Extract, Bucket, Arithmetic)


def _bins(arithmetic: Arithmetic, facts: Facts) -> Values | None:
    """`floor(x / 10) * 10` and the like, as tools write bins: constants and a number with public values."""
    sides = [side for side in (arithmetic.left, arithmetic.right) if columns(side)]
    side = sides[0] if len(sides) == 1 else None
    is_part = isinstance(side, Inside) and side.type is SqlType.NUMERIC
    if side is None or not (is_part or isinstance(side, _NUMBERS)):
        return None
    values = _direct(side, facts) or ()
    found = facts.labels.evaluated([arithmetic], [side], [(text,) for text in values if text])
    return tuple(dict.fromkeys(text for (text,) in found)) or None if found else None


def constant_text(constant: Constant) -> str | None:
    """As PostgreSQL prints it, whatever of several texts of one instant it was written as."""
    value = constant.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and constant.type is not None and constant.type.is_time:
        return _printed_time(value, constant.type) or value
    return decimal_text(value) if isinstance(value, Fraction) else value


def _printed_time(text: str, kind: SqlType) -> str | None:
    seconds = seconds_of(text, is_local=kind is not SqlType.TIMESTAMPTZ)
    if seconds is None or not is_in_calendar(seconds):
        return None
    if kind is SqlType.DATE:
        return moment(seconds).date().isoformat()
    at = moment(seconds)
    part = f".{at.microsecond:06}".rstrip("0") if at.microsecond else ""
    zone = "+00" if kind is SqlType.TIMESTAMPTZ else ""
    return f"{at.replace(microsecond=0, tzinfo=None).isoformat(sep=' ')}{part}{zone}"


def _is_printed(label: Constant, of: Case) -> bool:
    """Whether it is known how a label is printed: a date among times is one in the session's zone."""
    kind = label.type
    if kind is None or not kind.is_time or label.value is None:
        return True
    return kind is of.type and _printed_time(str(label.value), kind) is not None


_ROUNDED_MOST = 1_000
# Python's own context keeps 28 digits and rounds the rest.
_EXACT = Context(prec=limits.BOUND_DIGITS)


def _rounded(rounded: NumericCall, facts: Facts) -> Values | None:
    """floor, ceil, round and trunc of a bounded number; numeric prints as many digits as it is rounded to."""
    if _is_difference(rounded, facts):
        return None
    found = _interval(rounded.operand, facts)
    scale = Fraction(10) ** rounded.digits
    if found is None or (found.high - found.low) * scale > _ROUNDED_MOST:
        return None
    if rounded.digits and rounded.type is not SqlType.NUMERIC:
        return None
    if rounded.digits < 0:
        step = 10**-rounded.digits
        low, high = (_whole(rounded, end * scale) for end in (found.low, found.high))
        return tuple(str(n * step) for n in range(low, high + 1))
    low, high = (_whole(rounded, end * scale) for end in (found.low, found.high))
    if not rounded.digits:
        return tuple(str(n) for n in range(low, high + 1))
    return tuple(f"{Decimal(n).scaleb(-rounded.digits, _EXACT):f}" for n in range(low, high + 1))


def _whole_numbers(quotient: Quotient, facts: Facts) -> Values | None:
    """x / 10 and x % 10 of a bounded integer."""
    if _is_difference(quotient, facts):
        return None
    found = _interval(quotient, facts)
    if found is None or found.high - found.low > _ROUNDED_MOST:
        return None
    low, high = math.ceil(found.low), math.floor(found.high)
    return tuple(str(n) for n in range(low, high + 1))


def _interval(expression: Expression, facts: Facts) -> Bounds | None:
    """Where it lies: of a function of one time, as the table of such functions says."""
    try:
        found = bounded(expression, facts).interval
    except Refusal:
        return None
    names = columns(expression)
    if found is None or len(names) != 1:
        return found
    (name,) = names
    known = facts[name]
    column = ColumnRef(name[1], known.type, None, name[0])
    if known.bounds is None or not is_function_of(expression, column):
        return found
    scale = _DAY if known.type is SqlType.DATE else 1
    own = interval_of(
        expression, column, Within(known.bounds.low * scale, known.bounds.high * scale)
    )
    if own is None or own.low is None or own.high is None:
        return found
    return Bounds(max(own.low, found.low), min(own.high, found.high), found.kind)


def _is_difference(expression: Expression, facts: Facts) -> bool:
    """Whether two times are taken from each other: that can be as much as both have bounds, and is mostly
    little. What there is of it appears by selection."""
    return sum(facts[name].type.is_time for name in columns(expression)) > 1


def _whole(rounded: NumericCall, value: Fraction) -> int:
    """As PostgreSQL rounds."""
    if rounded.halves_are_even:
        return round(value)
    match rounded.function:
        case NumericFunction.FLOOR:
            return math.floor(value)
        case NumericFunction.CEIL:
            return math.ceil(value)
        case NumericFunction.TRUNC:
            return math.trunc(value)
        case _:
            half = math.floor(abs(value) + Fraction(1, 2))
            return half if value >= 0 else -half


def _buckets(bucket: Bucket, facts: Facts) -> Values:
    try:
        found = bounded(bucket.operand, facts).interval
    except Refusal:
        found = None
    places = [0, bucket.count + 1]
    if found is not None:
        places = [_place(bucket, end) for end in (found.low, found.high)]
    return tuple(str(n) for n in range(min(places), max(places) + 1))


def _place(bucket: Bucket, value: Fraction) -> int:
    """width_bucket: 0 before the first end, count + 1 from the second one on."""
    share = (value - bucket.low) / (bucket.high - bucket.low)
    return 0 if share < 0 else min(math.floor(share * bucket.count) + 1, bucket.count + 1)
