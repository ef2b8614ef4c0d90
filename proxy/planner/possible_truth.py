"""Which truth values a condition can have where something is known of columns: all of them, or too many.

A text says nothing about the order of texts, which is that of a collation, but for digits in the same places.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from proxy.base.instants import seconds_of
from proxy.base.sql_types import SqlType
from proxy.query.ir import expressions as ir


@dataclass(frozen=True, slots=True)
class Between:
    """Some number strictly between two, or beyond one (None)."""

    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True, slots=True)
class Within:
    """Some number from one to another, both included; None: without an end."""

    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True, slots=True)
class OtherText:
    """Some text that is none of these. years: it begins with four digits, from one number to another."""

    than: frozenset[str]
    years: tuple[int, int] | None = None


class Unknown(Enum):
    UNKNOWN = "unknown"


# Times are seconds since 1970-01-01 (UTC); texts of character(n) are without trailing blanks.
Value = Fraction | str | bool | Between | Within | OtherText | Unknown | None
Truths = frozenset[bool | None]
Row = Sequence[Value]
_Valued = Callable[[Row], Value]

ANY: Truths = frozenset({True, False, None})
_EITHER: Truths = frozenset({True, False})
_NULL: Truths = frozenset({None})
_YES: Truths = frozenset({True})
_NO: Truths = frozenset({False})
_UNKNOWN = Unknown.UNKNOWN
_FLOAT_LARGEST = Fraction(10) ** 300


def truths(condition: ir.Expression, known: Mapping[ir.Expression, int]) -> Callable[[Row], Truths]:
    """
    Given    known: the place in a row of each expression of which something is known
    Gives    of such a row, the truth values (None: NULL) that the condition can have
    """
    if condition in known:
        place = known[condition]
        return lambda row: _of_value(row[place])
    match condition:
        case ir.Constant(value=bool() | None as value):
            always: Truths = frozenset({value})
            return lambda row: always
        case ir.Connective(word=word, operands=operands):
            parts = [truths(part, known) for part in operands]
            decides = word == "OR"
            return lambda row: _connected([part(row) for part in parts], decides)
        case ir.Not(operand=operand):
            inner = truths(operand, known)
            return lambda row: frozenset(None if t is None else not t for t in inner(row))
        case ir.Is(operand=operand, truth=None):
            if operand.type is SqlType.BOOL:
                inner = truths(operand, known)
                return lambda row: frozenset(t is None for t in inner(row))
            of = _value(operand, known)
            return lambda row: _EITHER if of(row) is _UNKNOWN else _only(of(row) is None)
        case ir.Is(operand=operand, truth=truth):
            inner = truths(operand, known)
            return lambda row: frozenset(t is truth for t in inner(row))
        case ir.Comparison(comparator=how, left=left, right=right):
            one, other = _operands(left, right, known)
            return lambda row: _compared(how, one(row), other(row))
        case ir.In(operand=operand, items=items) if all(isinstance(i, ir.Constant) for i in items):
            return _in(operand, [i for i in items if isinstance(i, ir.Constant)], known)
        case ir.Case(type=SqlType.BOOL):
            return _case(condition, known)
        case ir.Choose(choice=ir.Choice.COALESCE, operands=operands, type=SqlType.BOOL):
            parts = [truths(part, known) for part in operands]
            return lambda row: _first([part(row) for part in parts])
        case _:
            return lambda row: ANY


def results(case: ir.Case, known: Mapping[ir.Expression, int]) -> Callable[[Row], frozenset[int]]:
    """The places of the results that a CASE can have: of its WHENs, then of ELSE."""
    tests = [truths(test, known) for test, _ in case.whens]

    def found(row: Row) -> frozenset[int]:
        possible = set()
        for number, test in enumerate(tests):
            outcomes = test(row)
            if True in outcomes:
                possible.add(number)
            if outcomes == _YES:
                return frozenset(possible)
        return frozenset({*possible, len(tests)})

    return found


def constant_value(constant: ir.Constant, kind: SqlType | None) -> Value:
    """What a constant is, beside something of this type."""
    value, own = constant.value, constant.type or kind
    if isinstance(value, Fraction):
        is_double = kind is not None and kind.is_float and abs(value) < _FLOAT_LARGEST
        return Fraction(float(value)) if is_double else value  # as it is compared
    if isinstance(value, str) and own is not None and own.is_time:
        return _seconds(value, own)
    if isinstance(value, str):
        return _text(value, own, kind) if own is None or own.is_text else _UNKNOWN
    return value


def fixed_value(expression: ir.Expression, kind: SqlType | None) -> Value:
    """What an expression of constants is, beside something of this type: a constant, the same with a minus, or
    its seconds, as differences of times are computed."""
    match expression:
        case ir.Constant():
            return constant_value(expression, kind)
        case ir.Extract(field="epoch", operand=ir.Constant(type=SqlType() as own) as of):
            return constant_value(of, own)
        case ir.NumericCall(function=ir.NumericFunction.NEGATE, operand=operand):
            value = fixed_value(operand, kind)
            return -value if isinstance(value, Fraction) else _UNKNOWN
        case _:
            return _UNKNOWN


def listed_value(text: str | None, kind: SqlType) -> Value:
    """What a public key is, by its text."""
    if text is None:
        return None
    if kind is SqlType.BOOL:
        return {"true": True, "false": False}.get(text, _UNKNOWN)
    if kind.is_time:
        return _seconds(text, kind)
    if kind.is_number:
        try:
            return Fraction(text)
        except ValueError:  # NaN
            return _UNKNOWN
    return _text(text, kind, kind) if kind.is_text else _UNKNOWN


def _seconds(text: str, kind: SqlType) -> Fraction | Unknown:
    found = seconds_of(text, is_local=kind is not SqlType.TIMESTAMPTZ)
    return _UNKNOWN if found is None else found


def _of_value(value: Value) -> Truths:
    return frozenset({value}) if value is None or isinstance(value, bool) else ANY


def _only(found: bool) -> Truths:
    return _YES if found else _NO


def _text(value: str, own: SqlType | None, kind: SqlType | None) -> str:
    """character(n) is without trailing blanks, beside text too (PostgreSQL 17 documentation, section 8.3)."""
    is_padded = own is SqlType.BPCHAR or (
        own is not None and kind is not None and own.meets_blank_padded(kind)
    )
    return value.rstrip(" ") if is_padded else value


def _connected(parts: list[Truths], decides: bool) -> Truths:
    """OR is true where one part is, AND false: `decides`."""
    if any(part == {decides} for part in parts):
        return _only(decides)
    found: set[bool | None] = set()
    if any(decides in part for part in parts):
        found.add(decides)
    rest = [part - {decides} for part in parts]
    if all(rest):
        if all((not decides) in part for part in rest):
            found.add(not decides)
        if any(None in part for part in rest):
            found.add(None)
    return frozenset(found)


def _first(parts: list[Truths]) -> Truths:
    """What COALESCE gives."""
    found: set[bool | None] = set()
    for part in parts:
        found |= part - _NULL
        if None not in part:
            return frozenset(found)
    return frozenset({*found, None})


def _value(
    expression: ir.Expression, known: Mapping[ir.Expression, int], beside: SqlType | None = None
) -> _Valued:
    if expression in known:
        place = known[expression]
        return lambda row: row[place]
    if isinstance(expression, ir.Cast) and expression.operand in known and _keeps_field(expression):
        return _value(expression.operand, known)
    value = fixed_value(expression, beside)
    return lambda row: value


def _keeps_field(cast: ir.Cast) -> bool:
    """Whether it is date_part() of a field, which is a whole number."""
    field = cast.operand.field if isinstance(cast.operand, ir.Extract) else "epoch"
    return cast.type is SqlType.FLOAT8 and field not in ("epoch", "second")


def _operands(
    left: ir.Expression, right: ir.Expression, known: Mapping[ir.Expression, int]
) -> tuple[_Valued, _Valued]:
    a, b = left.type, right.type
    if a is not None and b is not None and not _comparable(a, b):
        return (lambda row: _UNKNOWN), (lambda row: _UNKNOWN)
    return _value(left, known, b), _value(right, known, a)


def _comparable(a: SqlType, b: SqlType) -> bool:
    """Whether values as they are here compare as in PostgreSQL."""
    if SqlType.BPCHAR in (a, b):
        return a is b
    return (
        (a.is_number and b.is_number)
        or (a.is_time and b.is_time)
        or (a.is_text and b.is_text)
        or a is b
    )


def _compared(how: ir.Comparator, left: Value, right: Value) -> Truths:
    distinct = how in (ir.Comparator.DISTINCT, ir.Comparator.NOT_DISTINCT)
    if left is None or right is None:
        if not distinct:
            return _NULL
        if left is _UNKNOWN or right is _UNKNOWN:
            return _EITHER
        return _only((left is right) is (how is ir.Comparator.NOT_DISTINCT))
    if left is _UNKNOWN or right is _UNKNOWN:
        return _EITHER if distinct else ANY
    return frozenset().union(*(_outcomes(how, sign) for sign in _order(left, right)))


def _order(left: Value, right: Value) -> frozenset[int]:
    """What is possible of: the left is below (-1), equal (0), above (1), unequal in an unknown way (2)."""
    match left, right:
        case Fraction(), Fraction():
            return frozenset({(left > right) - (left < right)})
        case bool(), bool():
            return frozenset({left - right})
        case Between() | Within(), Fraction():
            return _sides(left, right)
        case Fraction(), Between() | Within():
            return frozenset(-sign for sign in _sides(right, left))
        case Between() | Within(), Between() | Within():
            return _sides_of_range(left, right)
        case str(), str():
            return frozenset({_order_of_texts(left, right)})
        case OtherText(), str():
            return _order_of_years(left, right)
        case str(), OtherText():
            return frozenset(sign if sign == 2 else -sign for sign in _order_of_years(right, left))
        case _:
            return frozenset({-1, 0, 1, 2})


_DIGITS = re.compile("[0-9]+|[^0-9]")
_YEAR = re.compile("[0-9]{4}")


def _order_of_texts(left: str, right: str) -> int:
    """Every collation orders texts by digits, if they first differ in as many, or in four that they begin with.

    >>> _order_of_texts("2023-05-31", "2023-11"), _order_of_texts("2022 Mai", "2023-01")
    (-1, -1)
    >>> _order_of_texts("a", "b"), _order_of_texts("2023-5", "2023-11")
    (2, 2)
    """
    years = [one[:4] for one in (left, right) if _YEAR.match(one)]
    if len(years) == 2 and years[0] != years[1]:
        return 1 if years[0] > years[1] else -1
    if left == right:
        return 0
    if not (left.isascii() and right.isascii()):
        return 2
    for one, other in zip(_DIGITS.findall(left), _DIGITS.findall(right), strict=False):
        if one != other:
            is_alike = len(one) == len(other) and one.isdigit() and other.isdigit()
            return (1 if one > other else -1) if is_alike else 2
    return 2


def _order_of_years(other: OtherText, text: str) -> frozenset[int]:
    if other.years is not None and _YEAR.match(text):
        first, last = other.years
        if int(text[:4]) < first:
            return frozenset({1})
        if int(text[:4]) > last:
            return frozenset({-1})
    return frozenset({2} if text in other.than else {0, 2})


def _sides(of: Between | Within, number: Fraction) -> frozenset[int]:
    """On which sides of a number some number can lie."""
    is_open = isinstance(of, Between)
    if of.high is not None and (of.high < number or (is_open and of.high == number)):
        return frozenset({-1})
    if of.low is not None and (of.low > number or (is_open and of.low == number)):
        return frozenset({1})
    sides = {-1, 0, 1}
    if of.high == number:
        sides.discard(1)
    if of.low == number:
        sides.discard(-1)
    return frozenset(sides)


def _sides_of_range(of: Between | Within, other: Between | Within) -> frozenset[int]:
    """On which sides of some number of the other some number can lie."""
    sides = {-1, 0, 1}
    is_open = isinstance(of, Between) or isinstance(other, Between)
    if of.high is not None and other.low is not None and of.high <= other.low:
        sides -= {0, 1} if is_open or of.high < other.low else {1}
    if of.low is not None and other.high is not None and of.low >= other.high:
        sides -= {0, -1} if is_open or of.low > other.high else {-1}
    return frozenset(sides)


_SIGNS = {
    ir.Comparator.EQ: (0,),
    ir.Comparator.NOT_DISTINCT: (0,),
    ir.Comparator.LT: (-1,),
    ir.Comparator.LE: (-1, 0),
    ir.Comparator.GT: (1,),
    ir.Comparator.GE: (1, 0),
}


def _outcomes(how: ir.Comparator, sign: int) -> Truths:
    if how in (ir.Comparator.NE, ir.Comparator.DISTINCT):
        return _only(sign != 0)
    if sign == 2 and how not in (ir.Comparator.EQ, ir.Comparator.NOT_DISTINCT):
        return _EITHER
    return _only(sign in _SIGNS[how])


def _in(
    operand: ir.Expression, items: list[ir.Constant], known: Mapping[ir.Expression, int]
) -> Callable[[Row], Truths]:
    kind, of = operand.type, _value(operand, known)
    if any(
        i.type is not None and kind is not None and not _comparable(kind, i.type) for i in items
    ):
        return lambda row: ANY
    values = [constant_value(item, kind) for item in items]
    listed = frozenset(value for value in values if value is not None)
    numbers = sorted(value for value in listed if isinstance(value, Fraction))
    missing: bool | None = None if None in values else False

    def found(row: Row) -> Truths:
        value = of(row)
        if value is None:
            return _NULL
        if value is _UNKNOWN or _UNKNOWN in listed:
            return ANY
        if isinstance(value, Between | Within):
            is_there = _EITHER if _holds_some(value, numbers) else _NO
        elif isinstance(value, OtherText):
            is_there = _NO if listed <= value.than else _EITHER
        else:
            is_there = _only(value in listed)
        return frozenset(missing if not one else True for one in is_there)

    return found


def _holds_some(of: Between | Within, numbers: Sequence[Fraction]) -> bool:
    """Whether one of some numbers, in order, can be the one that lies there."""
    after, before = (
        (bisect_right, bisect_left) if isinstance(of, Between) else (bisect_left, bisect_right)
    )
    first = 0 if of.low is None else after(numbers, of.low)
    last = len(numbers) if of.high is None else before(numbers, of.high)
    return first < last


def _case(case: ir.Case, known: Mapping[ir.Expression, int]) -> Callable[[Row], Truths]:
    possible = results(case, known)
    branches = [truths(part, known) for part in (*(r for _, r in case.whens), case.otherwise)]
    return lambda row: frozenset().union(*(branches[n](row) for n in possible(row)))
