"""Where the conditions of a statement leave a column of numbers or times, as ranges."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from proxy.base import instants, limits
from proxy.base.sql_types import SqlType
from proxy.base.time_templates import UNITS, template
from proxy.planner.facts import ColumnFacts, Range, Values
from proxy.planner.label_evaluation import LabelWork
from proxy.planner.possible_truth import Between, Unknown, Value, Within, fixed_value, truths
from proxy.planner.time_intervals import (
    FIELD_UNITS,
    MOST_STARTS,
    interval_of,
    is_function_of,
    is_told_apart,
    seconds_at,
    starts,
    turning_times,
    value_within,
)
from proxy.planner.varying_operands import varying
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import children, columns, size
from proxy.query.ir.expressions import Choose, ColumnRef, Comparison, Expression, In, Is

# Between numbers without a least step: no constant has so many digits.
_TINY = Fraction(1, 10 ** (limits.NUMBER_DIGITS + 50))
_DAY = 86_400
_STEP = Fraction(1, 10**6)  # of timestamps, in seconds
_MOST_RANGES = 2_000
_MOST_POINTS = 10_000
_EVALUATED = 20  # a function of a time is as much work as so many nodes of a condition


@dataclass(frozen=True, slots=True)
class ConditionPart:
    """One of the conditions that AND connects."""

    whole: Expression
    columns: frozenset[tuple[str, str]]
    size: int


def ranges_of(
    column: ColumnRef, known: ColumnFacts, about: Sequence[ConditionPart], labels: LabelWork
) -> tuple[Range, ...] | None:
    """Where numbers and times can lie, in the unit of bounds.

    Conditions on functions that constants tell where to look for, as its day, are looked at first. Within what
    they leave, the times at which the others change may be few enough: its hour, its day of the week.
    """
    if not labels.allowed(sum(part.size for part in about)):
        return known.ranges
    wholes = [part.whole for part in about]
    points, functions = _points(column, wholes), _functions(column, wholes)
    rising = {one: beside for one, beside in functions.items() if is_told_apart(one, column)}
    others = {one: beside for one, beside in functions.items() if one not in rising}
    seen = _Seen(points=points, functions={}, labels=labels)
    if rising:
        seen = seen.further(column, known, rising)
    ranges = _left(column, known, about, seen)
    conditions = [one for whole in wholes for one in evaluated_conditions(column, whole)]
    for functions, computed in ((others, []), ({}, conditions)):
        if functions or computed:
            known = replace(known, ranges=ranges)
            seen = seen.further(column, known, functions).with_computed(column, known, computed)
            ranges = _left(column, known, about, seen)
    return ranges


_Functions = Mapping[Expression, tuple[Value, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """Which functions are looked at, and the points between which they and the column are told apart; and the
    conditions that PostgreSQL evaluates."""

    points: frozenset[Fraction]
    functions: _Functions
    labels: LabelWork
    conditions: tuple[EvaluatedCondition, ...] = ()

    def further(self, column: ColumnRef, known: ColumnFacts, functions: _Functions) -> _Seen:
        """Also other functions, as far as there are few enough points; the ends of the policy's bounds are
        points, as beyond them what is computed may be of the bounds."""
        hull, points = _hull(known), self.points | _ends_of(known)
        seen = dict(self.functions)
        for of, beside in functions.items():
            found = frozenset(turning_times(of, column, beside, hull))
            if (
                self.labels.allowed((1 + len(found)) * _EVALUATED)
                and len(points | found) <= _MOST_POINTS
            ):
                points |= found
                seen[of] = beside
        return replace(self, points=points, functions=seen)

    def with_computed(
        self, column: ColumnRef, known: ColumnFacts, conditions: Iterable[EvaluatedCondition]
    ) -> _Seen:
        """Also such conditions, as far as there are few enough points."""
        hull, points, seen = _hull(known), self.points | _ends_of(known), self.conditions
        for one in conditions:
            found = frozenset[Fraction]().union(
                *(changing_times(part, column, hull) for part in one.parts)
            )
            if (
                self.labels.allowed((1 + len(found)) * _EVALUATED)
                and len(points | found) <= _MOST_POINTS
            ):
                points, seen = points | found, (*seen, one)
        return replace(self, points=points, conditions=seen)


def _ends_of(known: ColumnFacts) -> frozenset[Fraction]:
    hull, bounds = _hull(known), _bounds(known)
    ends = (hull.low, hull.high, bounds.low, bounds.high)
    return frozenset(at for at in ends if at is not None)


def _functions(
    column: ColumnRef, parts: Iterable[Expression]
) -> dict[Expression, tuple[Value, ...]]:
    """Functions of the column that are compared with constants, and these."""
    found: dict[Expression, list[Value]] = {}
    for of, beside in compared(parts):
        if is_function_of(of, column):
            values = (fixed_value(one, of.type) for one in beside if not columns(one))
            found.setdefault(of, []).extend(values)
    return {of: tuple(dict.fromkeys(values)) for of, values in found.items()}


def _scale(known: ColumnFacts) -> int:
    return _DAY if known.type is SqlType.DATE else 1


def _bounds(known: ColumnFacts) -> Within:
    """The policy's, in seconds."""
    if known.bounds is None:
        return Within(None, None)
    return Within(known.bounds.low * _scale(known), known.bounds.high * _scale(known))


def _hull(known: ColumnFacts) -> Within:
    """Between which times within the policy's bounds conditions leave a column, in seconds."""
    bounds, ranges = _bounds(known), known.ranges
    if not ranges:
        return bounds
    lows, highs = [one.low for one in ranges], [one.high for one in ranges]
    low = None if None in lows else min(one for one in lows if one is not None) * _scale(known)
    high = None if None in highs else max(one for one in highs if one is not None) * _scale(known)
    return Within(
        bounds.low if low is None or (bounds.low is not None and bounds.low > low) else low,
        bounds.high if high is None or (bounds.high is not None and bounds.high < high) else high,
    )


def _left(
    column: ColumnRef, known: ColumnFacts, about: Sequence[ConditionPart], seen: _Seen
) -> tuple[Range, ...] | None:
    """The ranges in which no condition is false for sure, as far as these points tell."""
    steps, functions, labels = list(_between(seen.points)), seen.functions, seen.labels
    if known.type is SqlType.DATE:
        steps = [piece for piece in steps if not _is_between_days(piece)]
    if len(steps) == 1:
        return known.ranges
    if functions and not labels.allowed(len(steps) * _EVALUATED * sum(map(size, functions))):
        functions = {}
    has_times = bool(functions or seen.conditions)
    times = list(_times(known, steps)) if has_times else [None] * len(steps)
    computed = [truths_within(one, column, times, labels) for one in seen.conditions]
    places = _places(column, (*functions, *(one.condition for one in seen.conditions)))
    tests = [truths(part.whole, places) for part in about if labels.allowed(len(steps) * part.size)]
    there: list[bool] = []
    for piece, of, *outcomes in zip(steps, times, *computed, strict=True):
        if has_times and of is None:  # no value lies there
            there.append(there[-1])
            continue
        values = (
            Unknown.UNKNOWN if of is None else value_within(one, column, of, beside)
            for one, beside in functions.items()
        )
        row = (piece, *values, *outcomes)
        there.append(all(True in test(row) for test in tests))
    if all(there):
        return known.ranges
    scale = Fraction(1, _DAY) if known.type is SqlType.DATE else Fraction(1)
    step = known.step
    found: list[Range] = []
    is_open = False  # the range before goes on
    for piece, is_there in zip(steps, there, strict=True):
        if is_there:
            low, high = piece_ends(piece, scale, step)
            if low is not None and high is not None and low > high:
                continue
            found, low = (found[:-1], found[-1].low) if is_open else (found, low)
            found.append(Range(low, high))
        is_open = is_there
    if len(found) > _MOST_RANGES:
        return known.ranges
    return tuple(meeting(known.ranges, found))


def _is_between_days(piece: Value) -> bool:
    """Whether no day lies in it."""
    if not isinstance(piece, Between) or piece.low is None or piece.high is None:
        return False
    low, high = piece.low, piece.high
    is_day = low.denominator == 1 and low.numerator % _DAY == 0
    return is_day and high.numerator <= (low.numerator + _DAY) * high.denominator


def _places(column: ColumnRef, functions: Iterable[Expression]) -> dict[Expression, int]:
    """Of a column and functions of it in a row."""
    return {one: place for place, one in enumerate((column, *functions))}


def can_be_null(column: ColumnRef, about: Sequence[ConditionPart], labels: LabelWork) -> bool:
    """Whether the conditions may be true of a row that has no value there. Nor have the functions of it, but
    for greatest() and least()."""
    places = _places(column, _functions(column, [part.whole for part in about]))
    nothing = [Unknown.UNKNOWN if _holds_choice(of) else None for of in places]
    return all(
        True in truths(part.whole, places)(nothing) for part in about if labels.allowed(part.size)
    )


def _holds_choice(of: Expression) -> bool:
    return isinstance(of, Choose) or any(map(_holds_choice, children(of)))


def _times(known: ColumnFacts, steps: Sequence[Value]) -> Iterator[Within | None]:
    """Between which times each piece lies, None: there is none. Beyond the policy's bounds some functions are
    computed of the bound."""
    bounds = _bounds(known)
    step = Fraction(_DAY) if known.type is SqlType.DATE else _STEP
    for piece in steps:
        low, high = _seconds_of(piece, step)
        if isinstance(piece, Between) and low is not None and high is not None and low > high:
            yield None
            continue
        if low is not None and bounds.high is not None:
            low = min(low, bounds.high)
        if high is not None and bounds.low is not None:
            high = max(high, bounds.low)
        yield Within(low, high)


def pieces(column: ColumnRef, parts: Iterable[Expression]) -> Iterator[Value]:
    """Constants that a column is compared with, and what lies between them, in order."""
    yield from _between(_points(column, parts))


def _between(points: Collection[Fraction]) -> Iterator[Value]:
    before: Fraction | None = None
    # Whole seconds first: two fractions take a hundred times as long to compare as two integers.
    for point in sorted(points, key=lambda at: (at.numerator // at.denominator, at)):
        yield Between(before, point)
        yield point
        before = point
    yield Between(before, None)


def _points(column: ColumnRef, parts: Iterable[Expression]) -> frozenset[Fraction]:
    return frozenset(one for one in constants_beside(column, parts) if isinstance(one, Fraction))


def constants_beside(column: ColumnRef, parts: Iterable[Expression]) -> Iterator[Value]:
    """Constants that a column is compared with."""
    for of, beside in compared(parts):
        if of == column:
            yield from (fixed_value(one, column.type) for one in beside if not columns(one))


def compared(parts: Iterable[Expression]) -> Iterator[tuple[Expression, tuple[Expression, ...]]]:
    """What is compared, and what it is compared with: with nothing what is only looked at for NULL."""
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        match part:
            case Comparison(left=left, right=right):
                yield left, (right,)
                yield right, (left,)
            case In(operand=operand, items=items):
                yield operand, items
            case Is(operand=operand, truth=None):
                yield operand, ()
        waiting += children(part)


def _seconds_of(piece: Value, step: Fraction) -> tuple[Fraction | None, Fraction | None]:
    """The least and the largest time of a piece."""
    if isinstance(piece, Fraction):
        return piece, piece
    assert isinstance(piece, Between)
    return (
        None if piece.low is None else (piece.low // step + 1) * step,
        None if piece.high is None else -(-piece.high // step + 1) * step,
    )


def piece_ends(
    piece: Value, scale: Fraction, step: Fraction | None
) -> tuple[Fraction | None, Fraction | None]:
    """The least and the largest value of a piece."""
    if not isinstance(piece, Between):
        assert isinstance(piece, Fraction)
        return piece * scale, piece * scale
    low = None if piece.low is None else piece.low * scale
    high = None if piece.high is None else piece.high * scale
    if step is None:
        return (None if low is None else low + _TINY), (None if high is None else high - _TINY)
    return (
        None if low is None else (math.floor(low / step) + 1) * step,
        None if high is None else (math.ceil(high / step) - 1) * step,
    )


def meeting(before: tuple[Range, ...] | None, now: list[Range]) -> Iterator[Range]:
    for one in now:
        for other in before if before is not None else (Range(None, None),):
            lows = [end for end in (one.low, other.low) if end is not None]
            highs = [end for end in (one.high, other.high) if end is not None]
            low, high = max(lows, default=None), min(highs, default=None)
            if low is None or high is None or low <= high:
                yield Range(low, high)


# --- Conditions on one column of times that no interval tells, as extract(year FROM at)::text = '2023':
# PostgreSQL says for which parts of a time they are true (ADR 0109).


_OPENED = (
    ir.Connective,
    ir.Not,
    ir.Is,
    ir.Choose,
    ir.Case,
)  # of which possible_truth.py knows what their parts make of them


@dataclass(frozen=True, slots=True)
class EvaluatedCondition:
    """parts: of the time, in whole units of the calendar; the rest are constants."""

    condition: ir.Expression
    parts: tuple[ir.Expression, ...]


def evaluated_conditions(
    column: ir.ColumnRef, whole: ir.Expression
) -> Iterator[EvaluatedCondition]:
    """The smallest conditions in another that are on parts of one column, and that no interval tells."""
    if columns(whole) != {(column.relation, column.column)} or whole.type is not SqlType.BOOL:
        return
    if isinstance(whole, _OPENED) and not _looks_for_null(whole):
        for part in children(whole):
            yield from evaluated_conditions(column, part)
        return
    if _is_told(whole, column):
        return
    parts = _parts(whole, column)
    if parts:
        yield EvaluatedCondition(whole, tuple(dict.fromkeys(parts)))


def _looks_for_null(whole: ir.Expression) -> bool:
    return isinstance(whole, ir.Is) and whole.operand.type is not SqlType.BOOL


def _is_told(whole: ir.Expression, column: ir.ColumnRef) -> bool:
    """Whether an interval of the column, or of a function of it, tells it."""
    match whole:
        case ir.Comparison(left=left, right=right):
            side, other = (right, left) if columns(right) else (left, right)
        case ir.In(operand=operand, items=()):
            return operand == column
        case ir.In(operand=side, items=(other, *_)) | ir.Is(operand=side as other):
            pass
        case _:
            return False
    is_alone = isinstance(whole, ir.Is) or not columns(other)
    if isinstance(side, ir.FormattedTime) and _names_year(side) and _year_place(side) is None:
        return False
    return is_alone and (side == column or is_function_of(side, column))


def _year_place(key: ir.FormattedTime) -> int | None:
    known = template(key.template)
    return None if known is None else known.year_place


def _names_year(part: ir.Expression) -> bool:
    """Whether it comes to no value again that it had in another year."""
    match part:
        case ir.Extract(field=field):
            return field in ("year", "isoyear")
        case ir.FormattedTime(template=text):
            return "YYY" in text.upper()
        case _:
            return part.type is not None and part.type.is_time


def _parts(whole: ir.Expression, column: ir.ColumnRef) -> list[ir.Expression] | None:
    """The largest expressions that are the same throughout a unit of the calendar; None: the column stands
    elsewhere, too."""
    if not columns(whole):
        return []
    if _unit(whole) is not None and is_function_of(whole, column):
        return [whole]
    below = [_parts(part, column) for part in children(whole)]
    found = [part for parts in below if parts is not None for part in parts]
    return None if None in below or not below else found


def _unit(part: ir.Expression) -> str | None:
    match part:
        case ir.Extract(field=field):
            return FIELD_UNITS.get(field)
        case ir.FormattedTime():
            known = template(part.template)
            return None if known is None or known.unit == UNITS[-1] else known.unit
        case ir.Cast(type=SqlType.DATE):
            return "day"
        case ir.DateTrunc(unit=unit):
            return unit if UNITS.index(unit) <= UNITS.index("day") else None
        case _:
            return None


def changing_times(part: ir.Expression, column: ir.ColumnRef, of: Within) -> frozenset[Fraction]:
    """All times of a column, between two others, at which a part of it may change."""
    unit, clock = _unit(part), varying(part)
    assert unit is not None and clock is not None
    is_time = part.type is not None and part.type.is_time
    found = interval_of(part if is_time else clock, column, of)
    if found is None or found.low is None or found.high is None:
        return frozenset()
    listed = list(islice(starts(unit, found.low, found.high), MOST_STARTS + 1))
    if len(listed) > MOST_STARTS:
        return frozenset()
    return frozenset(
        turning_times(part if is_time else clock, column, [seconds_at(at) for at in listed], of)
    )


def truths_within(
    one: EvaluatedCondition,
    column: ir.ColumnRef,
    times: Sequence[Within | None],
    labels: LabelWork,
) -> list[Value]:
    """What a condition is where the column lies between two times: true, false, NULL, or not known.

    Before the first of these times and after the last, it is not true if it is not true there and its parts
    name a year. If that is wrong, rows beyond the policy's bounds are in no group.

    Args:
        times: Between which the column lies, in seconds and in order; None: nowhere.
    """
    rows = [_row(one.parts, column, of) for of in times]
    several = list(dict.fromkeys(row for row in rows if row is not None))
    found = labels.evaluated([one.condition], one.parts, several) if several else None
    if found is None:
        return [Unknown.UNKNOWN] * len(rows)
    known = {row: _TRUTHS[text] for row, (text,) in zip(several, found, strict=True)}
    truths: list[Value] = [Unknown.UNKNOWN if row is None else known[row] for row in rows]
    if any(map(_names_year, one.parts)):
        inside = [place for place, row in enumerate(rows) if row is not None]
        if truths[inside[0]] is not True:
            truths[: inside[0]] = [False] * inside[0]
        if truths[inside[-1]] is not True:
            truths[inside[-1] + 1 :] = [False] * (len(rows) - inside[-1] - 1)
    return truths


_TRUTHS: Mapping[str | None, bool | None] = {"true": True, "false": False, None: None}


def _row(parts: Sequence[ir.Expression], column: ir.ColumnRef, of: Within | None) -> Values | None:
    texts = [None if of is None else _text(part, value_within(part, column, of)) for part in parts]
    return tuple(texts) if None not in texts else None


def _text(part: ir.Expression, value: Value) -> str | None:
    """None: it is not one value."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Fraction):
        return None
    if part.type is not None and part.type.is_time:
        at = instants.moment(value)
        is_day = part.type is SqlType.DATE
        return at.date().isoformat() if is_day else instants.time_text(at, part.type)
    return str(value) if value.denominator == 1 else None
