"""Casts that no row can fail. Of a literal the cast is its type."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import TimeSpan, is_simple
from proxy.base.type_ranges import real_as_numeric
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.trees import TypeTree
from proxy.query.canonical.type_names import type_named, written_type
from proxy.query.canonical.values import TypedValue, is_promotion, is_widening, value_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.times_of_day import CLOCKS, clock_time
from proxy.query.ir.typing_rules import held, is_value_of, settle_literal
from proxy.query.syntax.placeholders import CastParameter, ClientParameter

_DIGITS = 20  # as of round()
_SECOND = 10**6


def literal_of(text: str | bool | None, name: TypeTree, kind: SqlType) -> TypedValue:
    """A text in quotes, true, false or NULL, of a type."""
    constant = ir.Constant(text, None)
    if kind is SqlType.INTERVAL and isinstance(text, str) and not is_simple(text):
        span = _span_of(text)
        if span is None:
            raise unread("this constant of type interval")
        return TypedValue(ir.Constant(span.text, kind), kind, written_type(name))
    if name.modifier and kind in (SqlType.VARCHAR, SqlType.BPCHAR) and isinstance(text, str):
        constant = ir.Constant(text[: int(name.modifier[0])], None)
    return TypedValue(settle_literal(constant, kind), kind, written_type(name))


def _span_of(text: str) -> TimeSpan | None:
    """An interval as PostgreSQL writes it with intervalstyle = postgres: 1 year 2 mons -3 days +04:05:06.7.

    >>> _span_of("1 year 2 mons -3 days +04:05:06.7")
    TimeSpan(months=14, days=-3, microseconds=14706700000)
    """
    words = text.split()
    months = days = microseconds = 0
    while words:
        word = words.pop(0)
        if ":" in word:
            sign = -1 if word.startswith("-") else 1
            hours, minutes, seconds = word.lstrip("+-").split(":")
            total = Fraction(hours) * 3600 + Fraction(minutes) * 60 + Fraction(seconds)
            microseconds += sign * int(total * _SECOND)
            continue
        unit = words.pop(0).removesuffix("s") if words else ""
        number = int(word) if word.lstrip("+-").isdigit() else None
        if number is None or unit not in ("year", "mon", "day"):
            return None
        months += number * {"year": 12, "mon": 1}.get(unit, 0)
        days += number if unit == "day" else 0
    return TimeSpan(months=months, days=days, microseconds=microseconds)


def cast(value: TypedValue, name: TypeTree, scope_types: dict[str, tuple[str, ...]]) -> TypedValue:
    """A value cast to the type of a name.

    Raises:
        Refusal: UNSUPPORTED: a cast that may fail on some row; SYNTAX: a constant that is none of the type.
    """
    kind = type_named(name, scope_types)
    labels = scope_types.get(name.name, ()) if kind is SqlType.ENUM else ()
    expression = _cast(value, kind)
    if name.modifier:
        expression = _modified(value_of(expression, kind), name, kind)
    return TypedValue(expression, kind, written_type(name), labels)


def _cast(value: TypedValue, kind: SqlType) -> ir.Expression:
    part, source = value.expression, value.type
    if isinstance(part, ir.Constant):
        return _cast_constant(part, source, kind)
    if (
        isinstance(part, ir.Parameter)
        and isinstance(part.source, ClientParameter)
        and source.is_text
    ):
        return part if kind.is_text else ir.Parameter(CastParameter(part.source.number, kind), kind)
    if source is kind or (source.is_text and kind.is_text and not value.labels):
        return part
    if is_widening(source, kind) or is_promotion(source, kind):
        # The outer of two casts decides the type, the inner one is there if it is no such cast.
        return part if part.type is source or is_widening(source, kind) else value.exact()
    if kind.is_text:
        return as_text(value, kind)
    inner = value.exact() if source.is_time else part
    if source.is_number and kind.is_number:
        if kind.is_integer and not source.is_integer:
            return ir.NumericCall(ir.NumericFunction.ROUND, part, 0, kind)
        return ir.Cast(part, kind)
    if source is SqlType.BOOL and kind is SqlType.INT4:
        return ir.Cast(part, kind)
    if source.is_time and kind.is_time:
        return ir.Cast(inner, kind)
    if source in CLOCKS and kind is SqlType.TIME_OF_DAY:
        return clock_time(inner)
    if source is SqlType.CLOCK_TIME and kind is SqlType.TIME_OF_DAY:
        return part
    if source.is_text and (kind.is_integer or kind is SqlType.DATE):
        return ir.Cast(part, kind)  # of what the planner knows every value of
    raise unread(
        f"a cast from {source.sql or 'this type'} to {kind.sql}, which may fail on some rows,"
    )


def _cast_constant(part: ir.Constant, source: SqlType, kind: SqlType) -> ir.Expression:
    value = part.value
    if value is None:
        return replace(part, type=kind)
    if source is kind or is_widening(source, kind):
        return part
    if isinstance(value, Fraction) and kind.is_text and source.is_integer:
        return ir.Constant(str(value), kind)
    if isinstance(value, Fraction) and kind.is_number:
        if source is SqlType.FLOAT4 and kind is SqlType.NUMERIC:
            value = real_as_numeric(value)
        if is_value_of(value, kind):
            return ir.Constant(held(value, kind), kind)
    if source.is_text and (kind.is_text or isinstance(value, str)):
        return settle_literal(ir.Constant(value, None), kind)
    raise unread("this cast of a constant")


def _modified(value: TypedValue, name: TypeTree, kind: SqlType) -> ir.Expression:
    most = int(name.modifier[0])
    part = value.exact()
    if kind is SqlType.NUMERIC:
        digits = int(name.modifier[1]) if len(name.modifier) > 1 else 0
        if digits > _DIGITS or not digits <= most <= limits.NUMBER_DIGITS:
            raise unread("a cast to a numeric of so many digits")
        below = Fraction(10) ** (most - digits)
        return ir.NumericCall(ir.NumericFunction.ROUND, part, digits, kind, below)
    if kind is SqlType.VARCHAR:
        length = ir.Constant(Fraction(most), SqlType.INT4)
        return ir.TextCall(ir.TextFunction.LEFT, part, (length,), kind)
    raise unread(f"a cast to {written_type(name)}")


def as_text(value: TypedValue, kind: SqlType = SqlType.TEXT) -> ir.Expression:
    """A value as PostgreSQL prints it, as far as that is one way.

    Raises:
        Refusal: UNSUPPORTED: times with a clock, types without a known text.
    """
    part, source = value.expression, value.type
    if value.labels:
        return replace(part, type=kind) if hasattr(part, "column") else part
    if source.is_text:
        return part
    if isinstance(part, ir.Constant) and isinstance(part.value, Fraction) and source.is_integer:
        return ir.Constant(str(part.value), kind)
    if source is SqlType.DATE:
        return ir.FormattedTime(ir.Cast(part, SqlType.TIMESTAMP), "YYYY-MM-DD", kind)
    if source.is_number or source is SqlType.BOOL:
        return ir.Cast(value.exact(), kind)
    raise unread(f"a value of type {source.sql or 'this kind'} as a text")
