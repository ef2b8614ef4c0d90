"""What several keys can be together that are parts of one time: a year has some months, a day some hours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from proxy.base import limits
from proxy.base.instants import extracted_field
from proxy.base.sql_types import SqlType
from proxy.base.time_templates import UNITS, template
from proxy.base.zones import UTC
from proxy.planner.facts import Facts, Values
from proxy.planner.time_labels import clock_times, day_of, start_of, time_text
from proxy.query.ir.expressions import (
    Cast,
    ColumnRef,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
)

_FIELD_UNITS = {
    **{"year": "year", "quarter": "quarter", "month": "month", "hour": "hour", "minute": "minute"},
    **dict.fromkeys(("isoyear", "week", "day", "dow", "isodow", "doy"), "day"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A key as a part of what a clock shows. clock: that expression; unit: in which `text` is the same."""

    clock: Expression
    unit: str
    text: Callable[[datetime], str]


def times_together(
    keys: Sequence[Expression], facts: Facts
) -> Iterator[tuple[tuple[int, ...], list[Values]]]:
    """The places of keys that are parts of one clock's time, and what these are together.

    Given    facts: narrowed by the question's conditions
    """
    parts = {place: part for place, key in enumerate(keys) if (part := _part(key)) is not None}
    for clock in dict.fromkeys(part.clock for part in parts.values()):
        places = tuple(place for place, part in parts.items() if part.clock == clock)
        if len(places) < 2:
            continue
        unit = max((parts[place].unit for place in places), key=UNITS.index)
        has_year = any(_has_year(parts[place]) for place in places)
        times = clock_times(clock, unit, facts, has_year=has_year)
        if times is None:
            continue
        found: dict[Values, None] = {}
        for number, at in enumerate(times):
            if number > limits.TIMES_FORMATTED:
                break
            found[tuple(parts[place].text(at) for place in places)] = None
        else:
            yield places, list(found)


# Days of two years of the same calendar.
_ONE_YEAR, _OTHER_YEAR = (datetime(year, 3, 5, tzinfo=timezone.utc) for year in (2001, 2007))


def _has_year(part: _Part) -> bool:
    return part.text(_ONE_YEAR) != part.text(_OTHER_YEAR)


def _part(key: Expression) -> _Part | None:
    match key:
        case Extract(field=field, operand=operand) if field in _FIELD_UNITS:
            return _Part(
                clock=_clock(operand),
                unit=_FIELD_UNITS[field],
                text=lambda at: str(extracted_field(at, field)),
            )
        case FormattedTime(operand=operand):
            known = template(key.template)
            if known is None or known.unit == "second":
                return None
            unit = "day" if known.unit == "week" else known.unit
            return _Part(clock=_clock(operand), unit=unit, text=known.text)
        case DateTrunc(unit=unit, operand=operand) if unit not in ("hour", "minute"):
            zone, kind = key.zone or UTC, key.type
            clock: Expression = operand
            if operand.type is SqlType.TIMESTAMPTZ:
                clock = Cast(operand, SqlType.TIMESTAMP, key.zone)

            def truncated(at: datetime) -> str:
                return time_text(start_of(at, unit), kind, zone)

            return _Part(
                clock=_clock(clock), unit="day" if unit == "week" else unit, text=truncated
            )
        case Cast(type=SqlType.DATE, operand=operand):
            return _Part(clock=_clock(operand), unit="day", text=day_of)
        case _:
            return None


def _clock(operand: Expression) -> Expression:
    """In UTC an instant is shown as it is; a date is the same day as a timestamp."""
    if isinstance(operand, Cast) and isinstance(operand.operand, ColumnRef):
        if (operand.type, operand.operand.type) == (SqlType.TIMESTAMP, SqlType.DATE):
            return operand.operand
        crosses = {operand.type, operand.operand.type} == {SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ}
        if crosses and (operand.zone is None or operand.zone.is_utc):
            return operand.operand
    return operand
