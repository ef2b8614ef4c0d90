"""Conditions on one column of times that no interval tells, as extract(year FROM at)::text = '2023': PostgreSQL
says for which parts of a time they are true (ADR 0109)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from proxy.base import instants
from proxy.base.sql_types import SqlType
from proxy.base.time_templates import UNITS, template
from proxy.planner.facts import Values
from proxy.planner.label_work import evaluated
from proxy.planner.possible_truth import Unknown, Value, Within
from proxy.planner.time_intervals import (
    FIELD_UNITS,
    MOST_STARTS,
    interval_of,
    is_function_of,
    seconds_at,
    starts,
    turning_times,
    value_within,
)
from proxy.planner.varying_operands import varying
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import children, columns

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
    one: EvaluatedCondition, column: ir.ColumnRef, times: Sequence[Within | None]
) -> list[Value]:
    """What a condition is where the column lies between two times: true, false, NULL, or not known.

    Before the first of these times and after the last, it is not true if it is not true there and its parts
    name a year. If that is wrong, rows beyond the policy's bounds are in no group.

    Args:
        times: Between which the column lies, in seconds and in order; None: nowhere.
    """
    rows = [_row(one.parts, column, of) for of in times]
    several = list(dict.fromkeys(row for row in rows if row is not None))
    found = evaluated([one.condition], one.parts, several) if several else None
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
