"""Ranges that conditions leave of a column, and the groups of a key that hold exactly their rows.

Of `at >= '2026-10-01' AND at < '2026-11-01'` that is the month that begins there, of `age BETWEEN 30 AND 39` a
group of age / 10. Keys are computed of clamped values, so that what lies beyond the policy's bounds is in the
first or the last group: these are within a range only if it has no end on their side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from proxy.base import limits
from proxy.base.instants import moment, seconds_of
from proxy.base.sql_types import SqlType
from proxy.planner.facts import Facts
from proxy.planner.possible_truth import constant_value
from proxy.planner.public_keys import constant_text, label_values
from proxy.planner.time_intervals import next_start, seconds_at, start_of
from proxy.query.ir.expressions import (
    Clamped,
    ColumnRef,
    Comparison,
    Constant,
    DateTrunc,
    Expression,
    In,
    Not,
    Quotient,
)
from proxy.query.ir.function_names import Comparator

_DAY = 86_400
# The least distance of two values, in seconds of times.
_STEPS: Mapping[SqlType, Fraction] = {
    **dict.fromkeys((SqlType.INT2, SqlType.INT4, SqlType.INT8), Fraction(1)),
    SqlType.DATE: Fraction(_DAY),
    **dict.fromkeys((SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ), Fraction(1, 10**6)),
}
_UNITS = ("year", "quarter", "month", "week", "day")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """From low, and below high; None: without an end. Of times in seconds."""

    low: Fraction | None = None
    high: Fraction | None = None

    def holds(self, other: Stretch) -> bool:
        is_above = self.low is None or (other.low is not None and other.low >= self.low)
        return is_above and (
            self.high is None or (other.high is not None and other.high <= self.high)
        )

    def meeting(self, other: Stretch) -> Stretch:
        lows = [end for end in (self.low, other.low) if end is not None]
        highs = [end for end in (self.high, other.high) if end is not None]
        return Stretch(low=max(lows, default=None), high=min(highs, default=None))


def stretch_of(part: Expression) -> tuple[ColumnRef, Stretch] | None:
    """Where a comparison leaves a column; None: it is no such comparison.

    Given    part: its columns in the types that they have in the backend
    """
    match part:
        case Comparison(comparator, ColumnRef() as column, Constant() as constant):
            pass
        case Comparison(turned, Constant() as constant, ColumnRef() as column):
            comparator = turned.turned
        case _:
            return None
    step, value = _STEPS.get(column.type), constant_value(constant, column.type)
    is_alike = constant.type in (None, column.type) or (
        column.type.is_integer and constant.type is not None and constant.type.is_integer
    )
    if step is None or not is_alike or not isinstance(value, Fraction):
        return None
    match comparator:
        case Comparator.GE:
            found = Stretch(low=math.ceil(value / step) * step)
        case Comparator.GT:
            found = Stretch(low=(math.floor(value / step) + 1) * step)
        case Comparator.LT:
            found = Stretch(high=math.ceil(value / step) * step)
        case Comparator.LE:
            found = Stretch(high=(math.floor(value / step) + 1) * step)
        case _:
            return None
    return column, found


def buckets(key: Expression, column: ColumnRef, facts: Facts) -> Mapping[str, Stretch]:
    """By the texts of a key, where the values of the column lie that are in its groups; none: the key is not
    made so, or of a clock that is not UTC's."""
    if not _is_made_of(key, column):
        return {}
    known = facts.get((column.relation, column.column))
    if known is None or known.bounds is None or known.is_unit:
        return {}
    if known.held is not None or known.of_row is not None:  # public, and may have changed since
        return {}
    scale = _DAY if column.type is SqlType.DATE else 1
    low, high = known.bounds.low * scale, known.bounds.high * scale
    found: dict[str, Stretch] = {}
    for text in label_values(key, facts) or ():
        one = None if text is None else _stretch(key, text)
        if text is None or one is None or one.low is None or one.high is None:
            return {}
        found[text] = Stretch(
            low=None if one.low <= low else one.low, high=None if one.high > high else one.high
        )
    return found


def keys_of(column: ColumnRef, stretch: Stretch, facts: Facts) -> Iterator[tuple[Expression, str]]:
    """Keys of which one group is exactly the rows in a range, with the text of that group; the widest first."""
    for key in _candidates(column, stretch, facts):
        exactly = [text for text, one in buckets(key, column, facts).items() if one == stretch]
        if len(exactly) == 1:
            yield key, exactly[0]


def clamped_below(key: Expression) -> Clamped | None:
    """What a planned key is computed of."""
    match key:
        case DateTrunc(operand=Clamped() as clamped) | Quotient(operand=Clamped() as clamped):
            return clamped
        case _:
            return None


def clamped_to_bounds(column: ColumnRef, facts: Facts) -> Clamped | None:
    """What `buckets` takes it to be."""
    bounds = facts[column.relation, column.column].bounds
    return None if bounds is None else Clamped(column, bounds.low, bounds.high, column.type)


def _candidates(column: ColumnRef, stretch: Stretch, facts: Facts) -> Iterator[Expression]:
    if not column.type.is_integer:
        # date_trunc(date) is an instant: of a clock that is not looked at here.
        if column.type is SqlType.DATE or stretch.low is None or stretch.high is None:
            return
        for unit in _UNITS:
            at = start_of(moment(stretch.low), unit)
            if (seconds_at(at), _end(at, unit)) == (stretch.low, stretch.high):
                yield DateTrunc(unit, column, column.type)
        return
    known = facts.get((column.relation, column.column))
    low = stretch.low
    if low is None and known is not None and known.bounds is not None:
        low = known.bounds.low
    if low is None or stretch.high is None or stretch.high - low < 2:
        return
    yield Quotient(column, Constant(stretch.high - low, column.type), False, column.type)


def _is_made_of(key: Expression, column: ColumnRef) -> bool:
    match key:
        case DateTrunc(unit=unit, operand=ColumnRef() as operand, zone=zone, given=()):
            is_utc = zone is None or zone.is_utc or key.type is SqlType.TIMESTAMP
            return operand == column and operand.type is key.type and unit in _UNITS and is_utc
        case Quotient(
            operand=ColumnRef() as operand,
            divisor=Constant(value=Fraction() as width, type=kind),
            remainder=False,
        ):
            is_whole = kind is not None and kind.is_integer and key.type.is_integer
            return operand == column and is_whole and operand.type.is_integer and width > 0
        case _:
            return False


def _stretch(key: Expression, text: str) -> Stretch | None:
    match key:
        case DateTrunc():
            seconds = seconds_of(text, is_local=key.type is SqlType.TIMESTAMP)
            if seconds is None:
                return None
            return Stretch(low=seconds, high=_end(moment(seconds), key.unit))
        case Quotient(divisor=Constant(value=Fraction() as width)):
            place = int(text)  # truncated towards 0
            low = place * width if place > 0 else (place - 1) * width + 1
            high = (place + 1) * width if place >= 0 else place * width + 1
            return Stretch(low=low, high=high)
        case _:
            return None


def _end(start: datetime, unit: str) -> Fraction | None:
    try:
        return seconds_at(next_start(start, unit))
    except (OverflowError, ValueError):  # beyond the years of the calendar here
        return None


# Conditions that leave some of a column's public values: `column = constant`, IN, NOT IN.


# Of these equal texts are equal values, and the other way round.
_EXACT_TEXTS = frozenset(
    {SqlType.BOOL, SqlType.INT2, SqlType.INT4, SqlType.INT8}
    | {SqlType.TEXT, SqlType.VARCHAR, SqlType.ENUM}
)


def slice_of(part: Expression, facts: Facts) -> tuple[ColumnRef, frozenset[str]] | None:
    """A column of which all values are public, and those that a condition leaves; None: no such condition.

    Given    part: its columns in the types that they have in the backend
    """
    found = compared_texts(part)
    if found is None or found.is_negated:
        return None
    column = found.column
    known = facts.get((column.relation, column.column))
    if known is None or known.values is None or known.is_unit:
        return None
    return (column, found.texts) if found.texts <= {*known.values} else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTexts:
    """column IN (texts), or NOT IN."""

    column: ColumnRef
    texts: frozenset[str]
    is_negated: bool = False


def compared_texts(part: Expression) -> ComparedTexts | None:
    """None: it is no such condition, or equal values of the column are not equal texts."""
    match part:
        case Comparison(Comparator.EQ | Comparator.NE, ColumnRef() as column, Constant() as one):
            texts = [_text(one, column)]
        case Comparison(Comparator.EQ | Comparator.NE, Constant() as one, ColumnRef() as column):
            texts = [_text(one, column)]
        case In(ColumnRef() as column, items):
            texts = [_text(one, column) if isinstance(one, Constant) else None for one in items]
        case ColumnRef(type=SqlType.BOOL) as column:
            texts = ["true"]
        case Not(operand):
            found = compared_texts(operand)
            return None if found is None else _negated(found)
        case _:
            return None
    known = frozenset(text for text in texts if text is not None)
    if column.type not in _EXACT_TEXTS or None in texts:
        return None
    if any(len(text) >= limits.KEY_CHARACTERS for text in known):
        return None  # a key is only the beginning of such a text
    compared = ComparedTexts(column=column, texts=known)
    is_negated = isinstance(part, Comparison) and part.comparator is Comparator.NE
    return _negated(compared) if is_negated else compared


def _negated(of: ComparedTexts) -> ComparedTexts:
    if of.column.type is SqlType.BOOL:
        return replace(of, texts=frozenset({"true", "false"}) - of.texts)
    return replace(of, is_negated=not of.is_negated)


def _text(constant: Constant, column: ColumnRef) -> str | None:
    """Of a constant that is compared as the column is."""
    kind, is_number = constant.type, column.type.is_integer
    is_alike = kind is None or (kind.is_integer if is_number else kind is SqlType.BOOL)
    if column.type.is_text:
        is_alike = kind in (None, SqlType.TEXT, SqlType.VARCHAR, SqlType.ENUM)
    return constant_text(constant) if is_alike else None
