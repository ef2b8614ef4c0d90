"""Operators that compare: = <> < <= > >=, LIKE and regular expressions, by the types of their operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import ge, gt, le, lt

from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.regular_expressions import like_patterns
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.signatures import Builder, Signatures, overloads
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.ir import expressions as ir
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


def compare(comparator: ir.Comparator, left: TypedValue, right: TypedValue) -> ir.Expression:
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


def compared(value: TypedValue) -> ir.Expression:
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


def _of_labels(comparator: ir.Comparator, left: TypedValue, right: TypedValue) -> ir.Expression:
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
    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        left, right = arguments
        return value_of(compare(comparator, left, right), SqlType.BOOL)

    return made


_IGNORES_CASE = {"~~": False, "~~*": True, "~": False, "~*": True}


def _like(operator: str, *, is_negated: bool) -> Builder:
    ignore_case = _IGNORES_CASE[operator]
    is_regular = operator in ("~", "~*")

    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        operand, pattern = arguments
        constant = pattern.constant()
        if is_regular:
            found = regular(operand.expression, constant, ignore_case=ignore_case)
        else:
            found = ir.Like(operand.expression, constant, ignore_case)
        return value_of(ir.Not(found) if is_negated else found, SqlType.BOOL)

    return made


def regular(
    operand: ir.Expression,
    pattern: ir.Constant | ir.Parameter,
    *,
    ignore_case: bool = False,
    is_similar: bool = False,
) -> ir.Expression:
    """A regular expression, or one of SIMILAR TO, as patterns of LIKE."""
    if not isinstance(pattern, ir.Constant):
        raise unread("a regular expression that is no literal")
    if pattern.value is None:
        return ir.Like(operand, pattern, ignore_case)
    text = str(pattern.value)
    found = like_patterns(text, is_similar=is_similar)
    if found is None or (ignore_case and not text.isascii()):  # case of others is a locale's
        raise unread("this regular expression")
    each = tuple(ir.Like(operand, replace(pattern, value=one), ignore_case) for one in found)
    return each[0] if len(each) == 1 else ir.Connective("OR", each)


def items_of(elements: Sequence[TypedValue]) -> tuple[ir.Constant | ir.Parameter, ...]:
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
    for operator in _IGNORES_CASE
    for mark, is_negated in (("", False), ("!", True))
    for key, builder in overloads(
        f"{mark}{operator}", _TEXT_PAIRS, _like(operator, is_negated=is_negated)
    ).items()
}
