"""What several keys can be together that are parts of one time: a year has some months, a day some hours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.base.time_templates import UNITS, template
from proxy.base.zones import UTC, Zone
from proxy.planner.constant_times import extracted_field
from proxy.planner.facts import Facts, Values
from proxy.planner.time_intervals import FIELD_UNITS, start_of
from proxy.planner.time_labels import clock_times, time_text
from proxy.query.ir.expressions import Cast, DateTrunc, Expression, Extract, FormattedTime


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
        times = clock_times(clock, unit, facts)
        if times is None:
            continue
        found: dict[Values, None] = {}
        for number, at in enumerate(times):
            if number > limits.TIMES_FORMATTED:
                break
            found[tuple(parts[place].text(at) for place in places)] = None
        else:
            yield places, list(found)


def _part(key: Expression) -> _Part | None:
    match key:
        case Extract(field=field, operand=operand) if field in FIELD_UNITS:
            below = _read(operand, UTC)
            if below is None:
                return None
            displayed = below.displayed
            return _Part(
                clock=below.clock,
                unit=below.unit or FIELD_UNITS[field],
                text=lambda at: str(extracted_field(displayed(at), field)),
            )
        case FormattedTime(operand=operand):
            known, below = template(key.template), _read(operand, UTC)
            if known is None or known.unit == "second" or below is None:
                return None
            unit, displayed = (
                below.unit or ("day" if known.unit == "week" else known.unit),
                below.displayed,
            )
            return _Part(clock=below.clock, unit=unit, text=lambda at: known.text(displayed(at)))
        case DateTrunc(type=kind) | Cast(type=kind) if kind.is_time:
            found = _time(key)
            if found is None or found.unit is None:
                return None
            zone = found.zone or UTC
            return _Part(
                clock=found.clock,
                unit=found.unit,
                text=lambda at: time_text(found.displayed(at), kind, zone),
            )
        case _:
            return None


def _as_it_is(at: datetime) -> datetime:
    return at


@dataclass(frozen=True, slots=True, kw_only=True)
class _Time:
    """What a clock shows of a time. clock: whose times are listed; displayed: this time by the clock's; unit:
    in which it is the same, None: it is the clock's. zone: of which it is the clock, if it is an instant."""

    clock: Expression
    displayed: Callable[[datetime], datetime] = _as_it_is
    unit: str | None = None
    zone: Zone | None = None


def _time(key: Expression) -> _Time | None:
    """None: it is not known which clock that is."""
    match key:
        case DateTrunc(unit=unit, operand=operand):
            zone = key.zone or UTC
            is_instant = key.type is SqlType.TIMESTAMPTZ
            if is_instant and unit in ("hour", "minute", "second") and not zone.is_utc:
                return None  # the hour before a change is shown twice
            below = _read(operand, zone)
            return None if below is None else _truncated(below, unit, zone if is_instant else None)
        case Cast(operand=operand, type=kind) if operand.type is not None and operand.type.is_time:
            zone = key.zone or UTC
            if kind is SqlType.TIMESTAMPTZ and operand.type is not kind and not zone.is_utc:
                return _Time(clock=key, zone=UTC)  # not each local time is shown
            below = _read(operand, zone)
            if below is None:
                return None
            if kind is SqlType.DATE:
                return _truncated(below, "day", None)
            return replace(below, zone=zone if kind is SqlType.TIMESTAMPTZ else None)
        case _:
            return _Time(clock=key, zone=UTC if key.type is SqlType.TIMESTAMPTZ else None)


def _read(operand: Expression, zone: Zone) -> _Time | None:
    """What a zone's clock shows of an instant; another time is shown as it is."""
    found = _time(operand)
    if found is None or found.zone is None or found.zone == zone:
        return found
    if found.zone.is_utc and zone.is_utc:
        return found
    if found.unit is not None:
        return None
    return _Time(clock=Cast(found.clock, SqlType.TIMESTAMP, zone))


def _truncated(below: _Time, unit: str, zone: Zone | None) -> _Time:
    return replace(
        below,
        displayed=lambda at: start_of(below.displayed(at), unit),
        unit=below.unit or ("day" if unit == "week" else unit),  # a week is in two months
        zone=zone,
    )
