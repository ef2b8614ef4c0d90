"""Operators that compare: = <> < <= > >=, LIKE and regular expressions, by the types of their operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import ge, gt, le, lt

from proxy.base.patterns import PatternSyntax
from proxy.base.sql_types import SqlType
from proxy.query.canonical.signatures import Builder, Signatures, overloads
from proxy.query.canonical.tokens import unread
from proxy.query.canonical.values import Value, value_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.pattern_checks import check_pattern
from proxy.query.ir.time_differences import as_seconds
from proxy.query.ir.times_of_day import as_seconds_of_day, is_time_of_day

_ORDER: Mapping[ir.Comparator, Callable[[int, int], bool]] = {
    ir.Comparator.LT: lt,
    ir.Comparator.LE: le,
    ir.Comparator.GT: gt,
    ir.Comparator.GE: ge,
}
_MIRRORED = {
    ir.Comparator.LT: ir.Comparator.GT,
    ir.Comparator.LE: ir.Comparator.GE,
    ir.Comparator.GT: ir.Comparator.LT,
    ir.Comparator.GE: ir.Comparator.LE,
}
INTEGERS = ("smallint", "integer", "bigint")
FLOATS = ("real", "double precision")
_TIMES = ("date", "timestamp without time zone", "timestamp with time zone")
_ALONE = ("numeric", "text", "bpchar", "boolean", "uuid", "interval", "time without time zone")
_PAIRS = (
    *((left, right) for kinds in (INTEGERS, FLOATS, _TIMES) for left in kinds for right in kinds),
    *((kind, kind) for kind in (*_ALONE, "enum")),
    *(("enum", "text"), ("text", "enum")),  # a parameter, which comes as the text of a label
)


_OF_DAY = ir.Arithmetic | ir.ColumnRef | ir.Parameter | ir.Constant


def compare(comparator: ir.Comparator, left: Value, right: Value) -> ir.Expression:
    """A comparison of two values whose operator PostgreSQL has."""
    found = _of_truth(comparator, left.expression, right.expression)
    if found is not None:
        return found
    if left.labels or right.labels:
        return _of_labels(comparator, left, right)
    one, other = compared(left), compared(right)
    return ir.Comparison(comparator, as_label(one, other), as_label(other, one))


def as_label(part: ir.Expression, beside: ir.Expression) -> ir.Expression:
    """A text that meets a column of labels."""
    is_text = isinstance(part, ir.Constant) and part.type is SqlType.TEXT
    return replace(part, type=SqlType.ENUM) if is_text and beside.type is SqlType.ENUM else part


def compared(value: Value) -> ir.Expression:
    """An operand of a comparison: intervals and times of day as numbers of seconds. The operators for two types
    of times exist, so a cast that is written among times is the client's own."""
    part = value.expression
    if value.type in (SqlType.INTERVAL, SqlType.DURATION):
        return as_seconds(part)
    if is_time_of_day(part) or value.type is SqlType.TIME_OF_DAY:
        if not isinstance(part, _OF_DAY):
            raise unread("a time of day that is computed in this way")
        return as_seconds_of_day(part)
    return value.exact() if value.type.is_time else part


def _of_truth(
    comparator: ir.Comparator, left: ir.Expression, right: ir.Expression
) -> ir.Expression | None:
    """(condition) = true is the condition, = false its opposite; None: it is no such comparison."""
    truth, operand = (left, right) if isinstance(left, ir.Constant) else (right, left)
    value = truth.value if isinstance(truth, ir.Constant) else None
    if isinstance(operand, ir.ColumnRef | ir.Constant | ir.Parameter) or not isinstance(
        value, bool
    ):
        return None
    match comparator:
        case ir.Comparator.EQ | ir.Comparator.NE:
            return operand if value is (comparator is ir.Comparator.EQ) else ir.Not(operand)
        case ir.Comparator.DISTINCT:
            return ir.Not(ir.Is(operand, value))
        case ir.Comparator.NOT_DISTINCT:
            return ir.Is(operand, value)
        case _:
            return None


def _of_labels(comparator: ir.Comparator, left: Value, right: Value) -> ir.Expression:
    """Labels of an enumeration by their order, as the list of labels for which the comparison is true."""
    if comparator not in _ORDER:
        return ir.Comparison(comparator, left.expression, right.expression)
    if isinstance(left.expression, ir.Constant):
        comparator, left, right = _MIRRORED[comparator], right, left
    bound = right.expression.value if isinstance(right.expression, ir.Constant) else None
    if not isinstance(bound, str) or bound not in left.labels:
        raise unread("the order of two labels that are no constants")
    place, meets = left.labels.index(bound), _ORDER[comparator]
    true = [label for number, label in enumerate(left.labels) if meets(number, place)]
    found = ir.In(
        left.expression, tuple(ir.Constant(one, SqlType.ENUM) for one in true or left.labels)
    )
    return found if true else ir.Not(found)


def _comparison(comparator: ir.Comparator) -> Builder:
    def made(arguments: Sequence[Value]) -> Value:
        left, right = arguments
        return value_of(compare(comparator, left, right), SqlType.BOOL)

    return made


_PATTERNS = {
    "~~": (False, PatternSyntax.LIKE),
    "~~*": (True, PatternSyntax.LIKE),
    "~": (False, PatternSyntax.REGULAR),
    "~*": (True, PatternSyntax.REGULAR),
}


def _like(operator: str, *, is_negated: bool) -> Builder:
    ignore_case, syntax = _PATTERNS[operator]

    def made(arguments: Sequence[Value]) -> Value:
        operand, pattern = arguments
        found = ir.Like(operand.expression, pattern.constant(), ignore_case, syntax=syntax)
        if isinstance(found.pattern, ir.Constant) and syntax is not PatternSyntax.LIKE:
            check_pattern(found)
        return value_of(ir.Not(found) if is_negated else found, SqlType.BOOL)

    return made


def items_of(elements: Sequence[Value]) -> tuple[ir.Constant | ir.Parameter, ...]:
    """The elements of a list, each of the type that PostgreSQL has written."""
    items = [compared(one) for one in elements]
    found = tuple(one for one in items if isinstance(one, ir.Constant | ir.Parameter))
    if len(found) < len(items):
        raise unread("an expression in a list")
    return tuple(found)


_TEXT_PAIRS = (("text", "text"), ("bpchar", "text"))
COMPARISONS: Signatures = {
    key: builder
    for comparator in ir.Comparator
    for key, builder in overloads(comparator.value, _PAIRS, _comparison(comparator)).items()
} | {
    key: builder
    for operator in _PATTERNS
    for mark, is_negated in (("", False), ("!", True))
    for key, builder in overloads(
        f"{mark}{operator}", _TEXT_PAIRS, _like(operator, is_negated=is_negated)
    ).items()
}
