"""Parts of dates and timestamps."""

from __future__ import annotations

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.instants import is_in_calendar, iso_text, seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.written_spans import span_of
from proxy.base.written_times import TRUNCATIONS, names_its_zone
from proxy.base.zones import Zone
from proxy.query.bind.nodes.operands import repeated
from proxy.query.bind.nodes.written_bins import week_in
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import Expression
from proxy.query.ir.given_fields import CLOCK_FIELDS, FIELDS, constant_zone, unit_name
from proxy.query.ir.time_differences import (
    INSTEAD,
    age_field,
    interval_field,
    is_time_of_day,
    part_of_day,
)
from proxy.query.ir.typing_rules import check_template, common, settle_literal
from proxy.query.syntax.placeholders import ClientParameter


def _extract(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    name = unit_name(str(node.this.name))
    if isinstance(node.expression, exp.Anonymous) and node.expression.name.lower() == "age":
        return _age(node, name, scope)
    operand = scope.read(node.expression)
    given = _text(node.this, scope) if isinstance(node.this, exp.Parameter) else None
    if given is not None and given[1]:
        if operand.type is None or not operand.type.is_time:
            raise unknown(node)
        return ir.Extract("", operand, given=(("field", given[1]),))
    if operand.type is SqlType.DURATION and isinstance(operand, ir.ColumnRef) and name == "epoch":
        where = position_of(node)
        return ir.Inside(ir.InsideLook.EPOCH, operand, (), (), SqlType.NUMERIC, where)
    if is_time_of_day(operand):
        part = part_of_day(name, operand, position_of(node))
        if part is None:
            raise _of_day(node)
        return part
    if operand.type is SqlType.INTERVAL:
        known = _seconds_of(operand, name)
        if known is not None:
            return known
        found = interval_field(name, operand)
        if found is None or isinstance(operand, ir.Constant | ir.Parameter):
            raise unknown(node)
        return found
    on_clock = name in CLOCK_FIELDS and operand.type is SqlType.DATE
    if name not in FIELDS or operand.type is None or not operand.type.is_time or on_clock:
        raise unknown(node)
    return ir.Extract(name, operand)


def _of_day(node: exp.Expr) -> Refusal:
    return Refusal(
        Code.FUNCTION,
        "of a time of day there are the hour, minute, second and epoch on a protected table",
        INSTEAD,
        position_of(node),
    )


def _seconds_of(operand: Expression, field: str) -> Expression | None:
    """extract(epoch FROM interval '2 weeks'): a constant, where it has no months."""
    value = operand.value if isinstance(operand, ir.Constant) else None
    span = span_of(value) if isinstance(value, str) else None
    if span is None or span.months or field != "epoch":
        return None
    return ir.Constant(span.compared, SqlType.NUMERIC)


def _age(node: exp.Expr, name: str, scope: Scope) -> Expression:
    """extract(year FROM age(current_date, born))"""
    call = node.expression
    only(call, "this", "expressions")
    parts = [scope.read(part) for part in call.expressions]
    kinds = [part.type for part in parts if part.type is not None and part.type.is_time]
    found = None
    if len(parts) == 2 and kinds and any(map(columns, parts)):
        meeting = common(kinds, position_of(node))
        later, earlier = (
            part if part.type is meeting else ir.Cast(settle_literal(part, meeting), meeting)
            for part in parts
        )
        if all(part.type in (None, *kinds) for part in parts):
            found = age_field(name, repeated(later), repeated(earlier))
    if found is None:
        raise Refusal(
            Code.FUNCTION,
            "of age() on protected columns there are the year and the month, of two times",
            "Write extract(year FROM age(current_date, column)), or a difference,"
            " extract(day FROM ended - started), of dates ended - started.",
            position_of(node),
        )
    return found


def _at_zone(node: exp.Expr, scope: Scope) -> Expression:
    """AT TIME ZONE: between an instant and what a clock shows."""
    only(node, "this", "zone")
    operand, (zone, given) = scope.read(node.this), _zone(node.args["zone"], node, scope)
    known = None if zone is None else _known_in_zone(operand, zone)
    if known is not None:
        return known
    if operand.type is SqlType.TIMESTAMPTZ:
        return ir.Cast(operand, SqlType.TIMESTAMP, zone, given)
    if operand.type is SqlType.TIMESTAMP:
        return ir.Cast(operand, SqlType.TIMESTAMPTZ, zone, given)
    if (
        operand.type is SqlType.DATE
    ):  # whose midnight is the session's, as a timestamp with time zone
        return ir.Cast(ir.Cast(operand, SqlType.TIMESTAMPTZ), SqlType.TIMESTAMP, zone, given)
    raise unknown(node)


def _known_in_zone(operand: Expression, zone: Zone) -> Expression | None:
    """A constant in a zone, as a constant, so that conditions narrow keys by it; None where it depends on the
    session, or lies beyond the years in which the clock is known."""
    text = operand.value if isinstance(operand, ir.Constant) else None
    if not isinstance(operand, ir.Constant) or not isinstance(text, str):
        return None
    is_local = operand.type is SqlType.TIMESTAMP
    if not is_local and not (operand.type is SqlType.TIMESTAMPTZ and names_its_zone(text)):
        return None
    given = seconds_of(text, is_local=is_local)
    if given is None:
        return None
    at = zone.instant(given) if is_local else given
    meant = at if is_local else zone.local(at)
    if not zone.covers(at, at) or not is_in_calendar(meant):
        return None
    kind = SqlType.TIMESTAMPTZ if is_local else SqlType.TIMESTAMP
    return ir.Constant(iso_text(meant, kind), kind, operand.position)


def timezone(node: exp.Expr, scope: Scope) -> Expression:
    """timezone('Europe/Berlin', x), which is x AT TIME ZONE 'Europe/Berlin'. The parser has no name for it."""
    only(node, "this", "expressions")
    if str(node.name).lower() != "timezone" or len(node.expressions) != 2:
        raise unknown(node)
    zone, operand = node.expressions
    return _at_zone(exp.AtTimeZone(this=operand, zone=zone), scope)


def _zone(written: exp.Expr, node: exp.Expr, scope: Scope) -> tuple[Zone | None, ir.Given]:
    """A zone, or what holds its name until the statement is run."""
    if isinstance(written, exp.Parameter):
        text = _text(written, scope)
        if text is not None and text[1] is not None:
            return None, (("zone", text[1]),)
    written = written.unnest()
    is_text = isinstance(written, exp.Literal) and written.is_string
    return constant_zone(written.name if is_text else None, position_of(node)), ()


def _text(node: exp.Expr, scope: Scope) -> tuple[str, ClientParameter | None] | None:
    """A text that has to be known before planning: as it is written, or what will hold it."""
    if isinstance(node, exp.Literal | exp.Var):
        return str(node.name), None
    read = scope.read(node) if isinstance(node, exp.Parameter) else None
    is_text = isinstance(read, ir.Parameter) and read.type.is_text
    if not (is_text and isinstance(read, ir.Parameter)):
        return None
    return ("", read.source) if isinstance(read.source, ClientParameter) else None


def _date_trunc(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "unit", "zone")
    written = _text(node.args["unit"], scope)
    is_day = written is not None and written[1] is None and unit_name(written[0]) == "day"
    if is_day and node.args.get("zone") is None:
        week = week_in(node.this, scope)
        if week is not None:
            return week
    operand = scope.read(node.this)
    if is_time_of_day(operand):
        raise _of_day(node)
    if written is None or operand.type is None or not operand.type.is_time:
        raise unknown(node)
    unit, given = unit_name(written[0]), written[1]
    held: ir.Given = () if given is None else (("unit", given),)
    if given is None and unit not in TRUNCATIONS:
        raise unknown(node)
    result: SqlType = operand.type
    if node.args.get("zone") is not None:  # of a date or a local time: as an instant
        if operand.type is not SqlType.TIMESTAMPTZ:
            operand = ir.Cast(operand, SqlType.TIMESTAMPTZ)
        zone, of_zone = _zone(node.args["zone"], node, scope)
        return ir.DateTrunc(unit, operand, SqlType.TIMESTAMPTZ, zone, (*held, *of_zone))
    # date_trunc(date) is that of timestamptz (PostgreSQL 17 documentation, section 9.9.2)
    result = SqlType.TIMESTAMPTZ if result is SqlType.DATE else result
    return ir.DateTrunc(unit, operand, result, None, held)


def _date(node: exp.Expr, scope: Scope) -> Expression:
    """date(x), which is x::date."""
    only(node, "this")
    operand = scope.read(node.this)
    if operand.type not in (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ, SqlType.DATE):
        raise unknown(node)
    return operand if operand.type is SqlType.DATE else ir.Cast(operand, SqlType.DATE)


def _formatted(node: exp.Expr, scope: Scope) -> Expression:
    """to_char() of a time, which prints what the session's clock shows."""
    only(node, "this", "format")
    operand, written = scope.read(node.this), _text(node.args["format"], scope)
    if is_time_of_day(operand):
        raise _of_day(node)
    if operand.type is None or not operand.type.is_time or written is None:
        raise unknown(node)
    if written[1] is None:
        check_template(written[0], position_of(node))
    if operand.type is not SqlType.TIMESTAMP:  # PostgreSQL prints a date as its midnight
        operand = ir.Cast(operand, SqlType.TIMESTAMP)
    held: ir.Given = () if written[1] is None else (("template", written[1]),)
    return ir.FormattedTime(operand, written[0], given=held)


READERS: Readers = {
    exp.Extract: _extract,
    exp.TimestampTrunc: _date_trunc,
    exp.AtTimeZone: _at_zone,
    exp.Date: _date,
    exp.TimeToStr: _formatted,
}
