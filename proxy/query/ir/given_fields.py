"""Fields of nodes that parameters hold until the statement is run: a unit, a time zone, a number of digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proxy.base.errors import Code, Refusal
from proxy.base.instants import seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import TimeSpan
from proxy.base.written_spans import span_of
from proxy.base.written_times import TRUNCATIONS, names_its_zone
from proxy.base.zones import Zone, zone_named
from proxy.query.ir import expressions as ir
from proxy.query.ir.time_differences import checked_span
from proxy.query.ir.typing_rules import check_template

# PostgreSQL's other names for a unit of date_trunc() and extract() (datetime.c, deltatktbl).
_UNIT_NAMES = {
    **dict.fromkeys(("y", "years", "yr", "yrs"), "year"),
    "qtr": "quarter",
    **dict.fromkeys(("mon", "mons", "months"), "month"),
    **dict.fromkeys(("w", "weeks"), "week"),
    **dict.fromkeys(("d", "days"), "day"),
    **dict.fromkeys(("h", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("m", "min", "mins", "minutes"), "minute"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "second"),
}


def unit_name(text: str) -> str:
    """
    >>> unit_name("MONTHS"), unit_name("hour"), unit_name("moon")
    ('month', 'hour', 'moon')
    """
    return _UNIT_NAMES.get(text.lower(), text.lower())


FIELDS = frozenset(
    {
        *("year", "month", "day", "quarter", "dow", "doy", "isodow", "week", "isoyear", "epoch"),
        *("hour", "minute", "second"),
    }
)
CLOCK_FIELDS = frozenset({"hour", "minute", "second"})
MOST_DIGITS = 20  # to which is rounded
MOST_BUCKETS = 10_000
MOST_BIN_WIDTH = 31 * 86_400  # seconds
_SECOND = 10**6

# By the field's name: the constant that stands for it.
Found = Mapping[str, ir.Constant]


def constant_zone(name: str | None, position: int | None) -> Zone:
    """
    Raises:
        Refusal: UNSUPPORTED: what is no name of a zone with a region and a city. A name without a city can be
            an abbreviation to PostgreSQL: CET is then without summer time.
    """
    zone = None if name is None else zone_named(name)
    if zone is None or not (zone.is_utc or "/" in zone.name):
        raise Refusal(
            Code.UNSUPPORTED,
            "a time zone on a protected table is a constant name of the IANA time zone database",
            "Write 'UTC', or a name with a region and a city: column AT TIME ZONE 'Europe/Berlin'.",
            position,
        )
    return zone


def no_bin(position: int | None) -> Refusal:
    return Refusal(
        Code.FUNCTION,
        "date_bin() on protected columns takes a width of at most 31 days and a constant origin with its zone",
        "Write date_bin('15 minutes', column, timestamp '2001-01-01') of a timestamp, timestamptz"
        " '2001-01-01 00:00:00+00' of one with time zone.",
        position,
    )


def bin_width(span: TimeSpan | None, position: int | None) -> int:
    """In microseconds."""
    width = 0 if span is None else span.days * 86_400 * _SECOND + span.microseconds
    if span is None or span.months or not 0 < width <= MOST_BIN_WIDTH * _SECOND:
        raise no_bin(position)
    return width


def bin_origin(text: object, kind: SqlType, position: int | None) -> int:
    """In microseconds since 1970-01-01."""
    is_local = kind is SqlType.TIMESTAMP
    is_told = isinstance(text, str) and (is_local or names_its_zone(text))
    at = seconds_of(str(text), is_local=is_local) if is_told else None
    if at is None:
        raise no_bin(position)
    return int(at * _SECOND)


def completed(part: ir.Expression, found: Found) -> ir.Expression:
    """The node with its fields filled in.

    Args:
        part: One of `COMPLETED`, whose `given` names the fields.

    Raises:
        Refusal: FUNCTION, UNSUPPORTED, SYNTAX: what the field cannot be.
    """
    return COMPLETED[part.__class__](part, found)


def _text(found: Found, name: str) -> str | None:
    value = found[name].value if name in found else None
    return value if isinstance(value, str) else None


def _number(found: Found, name: str) -> Fraction | None:
    value = found[name].value if name in found else None
    return value if isinstance(value, Fraction) else None


def _extract(part: ir.Extract, found: Found) -> ir.Expression:
    name = unit_name(_text(found, "field") or "")
    if name not in FIELDS or (name in CLOCK_FIELDS and part.operand.type is SqlType.DATE):
        raise Refusal(
            Code.FUNCTION,
            "this field of date_part() is not available on protected columns",
            f"Use one of {', '.join(sorted(FIELDS))}.",
        )
    return replace(part, field=name, given=())


def _truncated(part: ir.DateTrunc, found: Found) -> ir.Expression:
    unit = unit_name(_text(found, "unit") or "") if "unit" in found else part.unit
    if unit not in TRUNCATIONS:
        raise Refusal(
            Code.FUNCTION,
            "this unit of date_trunc() is not available on protected columns",
            f"Use one of {', '.join(sorted(TRUNCATIONS))}.",
        )
    zone = constant_zone(_text(found, "zone"), None) if "zone" in found else part.zone
    return replace(part, unit=unit, zone=zone, given=())


def _cast(part: ir.Cast, found: Found) -> ir.Expression:
    return replace(part, zone=constant_zone(_text(found, "zone"), None), given=())


def _formatted(part: ir.FormattedTime, found: Found) -> ir.Expression:
    text = _text(found, "template")
    if text is None:
        raise Refusal(
            Code.FUNCTION, "the template of to_char() is null", "Write a template, e.g. 'YYYY-MM'."
        )
    check_template(text, None)
    return replace(part, template=text, given=())


def _shifted(part: ir.Shift, found: Found) -> ir.Expression:
    """By its interval, or its days; by NULL, NULL."""
    by = found["by"].value
    if by is None:
        return ir.Constant(None, part.type)
    span = span_of(by) if isinstance(by, str) else None
    if isinstance(by, Fraction) and by.denominator == 1:
        span = TimeSpan(days=int(by))
    if span is None:
        raise Refusal(
            Code.SYNTAX,
            "what is added to a date or timestamp is no interval",
            "Write one number of one unit: interval '90 minutes'.",
        )
    span = checked_span(-span if part.is_back else span, None)
    return ir.Shift(part.operand, span.months, span.days, span.microseconds, part.type)


def _bin(part: ir.TimeBin, found: Found) -> ir.Expression:
    width, origin = part.width, part.origin
    if "width" in found:
        text = _text(found, "width")
        width = bin_width(None if text is None else span_of(text), None)
    if "origin" in found:
        origin = bin_origin(found["origin"].value, part.type, None)
    return replace(part, width=width, origin=origin, given=())


def _rounded(part: ir.NumericCall, found: Found) -> ir.Expression:
    digits = _number(found, "digits")
    if digits is None or digits.denominator != 1 or abs(digits) > MOST_DIGITS:
        raise _not_so("a number is rounded to -20 to 20 digits", "Write round(column, 2).")
    return replace(part, digits=int(digits), given=())


def _bucket(part: ir.Bucket, found: Found) -> ir.Expression:
    low, high, count = (
        _number(found, name) if name in found else Fraction(getattr(part, name))
        for name in ("low", "high", "count")
    )
    if low is None or high is None or count is None:
        raise _no_bucket()
    if low >= high or count.denominator != 1 or not 1 <= count <= MOST_BUCKETS:
        raise _no_bucket()
    return replace(part, low=low, high=high, count=int(count), given=())


def _no_bucket() -> Refusal:
    return _not_so(
        "width_bucket() on protected columns takes a low end, a high one above it, and 1 to 10000 buckets",
        "Write width_bucket(column, 0, 100, 10).",
    )


def _real(part: ir.RealCall, found: Found) -> ir.Expression:
    value = _number(found, "constant")
    is_base = part.function in (ir.RealFunction.LOG, ir.RealFunction.RAISED)
    is_one = part.function is ir.RealFunction.LOG and value == 1
    if value is None or (is_base and value <= 0) or is_one:
        raise _not_so(
            "the exponent of power() is a constant number, the base of power() and log() one above 0",
            "Write power(column, 2) or log(2, column).",
        )
    return replace(part, constant=value, given=())


def _not_so(message: str, hint: str) -> Refusal:
    return Refusal(Code.FUNCTION, message, hint)


COMPLETED: Mapping[type[ir.Expression], Callable[[Any, Found], ir.Expression]] = {
    ir.Bucket: _bucket,
    ir.Cast: _cast,
    ir.DateTrunc: _truncated,
    ir.Extract: _extract,
    ir.FormattedTime: _formatted,
    ir.NumericCall: _rounded,
    ir.RealCall: _real,
    ir.Shift: _shifted,
    ir.TimeBin: _bin,
}
