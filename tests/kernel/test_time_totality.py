"""Each condition of the rules of times: what it refuses, in its own words, or the range that it gives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.base.time_spans import MOST_DAYS
from proxy.base.zones import Zone
from proxy.kernel.known_values import ANYTHING, FIRST_SECOND, LAST_SECOND, NULL, Value, within
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.time_totality import (
    bin_rule,
    cast_time_rule,
    extract_rule,
    shift_rule,
    template_rule,
    time_clamp_rule,
    truncation_rule_of_time,
)
from proxy.query.ir.expressions import (
    Cast,
    Clamped,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    Shift,
    TimeBin,
)
from tests.kernel.examples import column

_D = column("r1", "d", SqlType.DATE)
_TS = column("r1", "ts", SqlType.TIMESTAMP)
_TZ = column("r1", "tz", SqlType.TIMESTAMPTZ)
_T = column("r1", "t", SqlType.TEXT)
_UNTYPED = Constant(None, None)
_UTC, _BERLIN, _NOWHERE = Zone(name="UTC"), Zone(name="Europe/Berlin"), Zone(name="Nowhere")
_DAY = 86_400
_MOST_WIDTH = 31 * _DAY * 10**6
# What a timestamp can be moved to (PostgreSQL: 4713 BC to 294276).
_FIRST, _LAST = -210_835_000_000, 9_224_286_000_000
_FIRST_BINNED = FIRST_SECOND - MOST_DAYS * _DAY
_LAST_BINNED = LAST_SECOND + MOST_DAYS * _DAY
_NOON = within(Fraction(43_200), Fraction(43_200))


def _range(low: Fraction | int, high: Fraction | int) -> Value:
    return within(Fraction(low), Fraction(high))


def _clamp(
    low: int, high: int, kind: SqlType = SqlType.DATE, of: Expression = _D, value: Value = ANYTHING
) -> Value:
    return time_clamp_rule(Clamped(of, Fraction(low), Fraction(high), kind), value)


def _cut(value: Value, unit: str = "day", zone: Zone | None = None) -> Value:
    return truncation_rule_of_time(DateTrunc(unit, _TZ, SqlType.TIMESTAMPTZ, zone), value)


def _shift(days: int, value: Value) -> Value:
    return shift_rule(Shift(_D, 0, days, 0, SqlType.DATE), value)


def _bin(width: int, value: Value) -> Value:
    return bin_rule(TimeBin(_TS, width, 0, SqlType.TIMESTAMP), value)


def _format(template: str, value: Value) -> Value:
    return template_rule(FormattedTime(_TS, template), value)


def _cast(
    of: Expression, kind: SqlType, value: Value = ANYTHING, zone: Zone | None = None
) -> Value:
    return cast_time_rule(Cast(of, kind, zone), value)


_NO_ENDS = "a time that is moved and may be at the end of the calendar"
_OUT = "a time that is moved out of the calendar"
_NO_WIDTH = "bins of no width, or too large a one"
_BEFORE = "a time before the origin of bins"
_NO_FIELD = "a field that is not known"
_NO_ZONE = "a zone that is not known"
_NO_TIME = "a cast of what is no time"

_REFUSED: tuple[tuple[str, Callable[[], object]], ...] = (
    ("a time that is cast where it is clamped", lambda: _clamp(0, 1, SqlType.TIMESTAMP)),
    ("a clamp that is none", lambda: _clamp(1, 0)),
    ("a time that is cut to no unit", lambda: _cut(_NOON, "fortnight")),
    (_NO_ZONE, lambda: _cut(_NOON, zone=_NOWHERE)),
    (_NO_ENDS, lambda: _cut(ANYTHING)),
    (_NO_ENDS, lambda: _shift(1, Value(low=Fraction(0)))),
    (_NO_ENDS, lambda: _shift(1, Value(high=Fraction(0)))),
    (_OUT, lambda: _shift(1, _range(_FIRST + 2 * _DAY - 1, 0))),
    (_OUT, lambda: _shift(1, _range(0, _LAST - 2 * _DAY + 1))),
    (_NO_WIDTH, lambda: _bin(0, _NOON)),
    (_NO_WIDTH, lambda: _bin(-1, _NOON)),
    (_NO_WIDTH, lambda: _bin(_MOST_WIDTH + 1, _NOON)),
    (_BEFORE, lambda: _bin(1, Value(low=Fraction(0)))),
    (_BEFORE, lambda: _bin(1, Value(high=Fraction(0)))),
    (_BEFORE, lambda: _bin(1, _range(_FIRST_BINNED - 1, 0))),
    (_BEFORE, lambda: _bin(1, _range(0, _LAST_BINNED + 1))),
    ("a template that is not known", lambda: _format("TZ", _NOON)),
    (_NO_ENDS, lambda: _format("YYYY", ANYTHING)),
    (_NO_FIELD, lambda: extract_rule(Extract("year", _UNTYPED))),
    (_NO_FIELD, lambda: extract_rule(Extract("year", _T))),
    (_NO_FIELD, lambda: extract_rule(Extract("julian", _TS))),
    *(
        (
            "a field of a clock, of a date",
            lambda field=field: extract_rule(Extract(field, _D)),
        )
        for field in ("hour", "minute", "second")
    ),
    (_NO_TIME, lambda: _cast(_T, SqlType.DATE)),
    (_NO_TIME, lambda: _cast(_UNTYPED, SqlType.DATE)),
    (_NO_ZONE, lambda: _cast(_TZ, SqlType.TIMESTAMP, _NOON, _NOWHERE)),
    # A date may be beyond all timestamps, and another clock beyond the calendar.
    (_NO_ENDS, lambda: _cast(_D, SqlType.TIMESTAMP)),
    (_NO_ENDS, lambda: _cast(_TZ, SqlType.TIMESTAMP, zone=_BERLIN)),
)


@pytest.mark.parametrize(
    ("where", "judged"), _REFUSED, ids=[f"{n} {one}" for n, (one, _) in enumerate(_REFUSED)]
)
def test_one_condition_refuses(where: str, judged: Callable[[], object]) -> None:
    with pytest.raises(NotPrivate) as refused:
        judged()
    assert (refused.value.rule, refused.value.where) == (Rule.TOTALITY, where)


_CALENDAR = within(FIRST_SECOND, LAST_SECOND)
_FIRST_ONLY, _LAST_ONLY = _range(FIRST_SECOND, FIRST_SECOND), _range(LAST_SECOND, LAST_SECOND)

_GIVEN: tuple[tuple[object, Callable[[], object]], ...] = (
    (_range(0, _DAY), lambda: _clamp(0, 1)),
    (_range(0, 1), lambda: _clamp(0, 1, SqlType.TIMESTAMP, _TS)),
    (NULL, lambda: _clamp(0, 1, value=NULL)),
    # Ends beyond the years 1 to 9999 are printed as these.
    (_CALENDAR, lambda: _clamp(-(10**7), 10**7)),
    (_FIRST_ONLY, lambda: _clamp(-(10**7), -(10**7))),
    (_LAST_ONLY, lambda: _clamp(10**7, 10**7)),
    (_range(43_200 - 367 * _DAY, 43_200 + _DAY), lambda: _cut(_NOON, "year", _BERLIN)),
    (NULL, lambda: _cut(NULL)),
    # Microseconds may add up to one day more.
    (_range(_FIRST, _LAST), lambda: _shift(-1, _range(_FIRST + 2 * _DAY, _LAST - 2 * _DAY))),
    (NULL, lambda: _bin(1, NULL)),
    (_range(_FIRST_BINNED - 31 * _DAY, 0), lambda: _bin(_MOST_WIDTH, _range(_FIRST_BINNED, 0))),
    (_range(-1, _LAST_BINNED), lambda: _bin(10**6, _range(0, _LAST_BINNED))),
    (ANYTHING, lambda: _format("YYYY-MM", _NOON)),
    (ANYTHING, lambda: _format("YYYY-MM", NULL)),
    (ANYTHING, lambda: extract_rule(Extract("year", _D))),
    (ANYTHING, lambda: _cast(_D, SqlType.DATE)),
    (ANYTHING, lambda: _cast(_TS, SqlType.DATE)),
    (ANYTHING, lambda: _cast(_TZ, SqlType.TIMESTAMP, zone=_UTC)),
    (_range(43_200 - _DAY, 43_200 + _DAY), lambda: _cast(_D, SqlType.TIMESTAMP, _NOON)),
    (_range(43_200 - _DAY, 43_200 + _DAY), lambda: _cast(_TS, SqlType.DATE, _NOON)),
    (NULL, lambda: _cast(_D, SqlType.TIMESTAMP, NULL)),
)


@pytest.mark.parametrize("number", range(len(_GIVEN)))
def test_it_has_this_range(number: int) -> None:
    wanted, judged = _GIVEN[number]
    assert judged() == wanted


@pytest.mark.parametrize(
    "field",
    [
        *("epoch", "year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy"),
        *("hour", "minute", "second"),
    ],
)
def test_a_timestamp_has_all_fields(field: str) -> None:
    assert extract_rule(Extract(field, _TS)) == ANYTHING
