"""Parts of dates and timestamps."""

from __future__ import annotations

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression

_FIELDS = frozenset(
    [
        "year",
        "month",
        "day",
        "quarter",
        "dow",
        "doy",
        "isodow",
        "week",
        "isoyear",
        "epoch",
        "hour",
        "minute",
        "second",
    ]
)


_CLOCK_FIELDS = frozenset({"hour", "minute", "second"})


def _extract(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    operand = scope.read(node.expression)
    name = str(node.this.name).lower()
    on_clock = name in _CLOCK_FIELDS and operand.type is SqlType.DATE
    if name not in _FIELDS or operand.type is None or not operand.type.is_time or on_clock:
        raise unknown(node)
    return ir.Extract(name, operand)


def _at_utc(node: exp.Expr, scope: Scope) -> Expression:
    """AT TIME ZONE 'UTC', which is a plain cast in the backend's time zone."""
    only(node, "this", "zone")
    zone = node.args["zone"]
    operand = scope.read(node.this)
    if not isinstance(zone, exp.Literal) or zone.name.upper() != "UTC":
        raise _refused(node, "AT TIME ZONE on a protected table takes the time zone 'UTC'", _IN_UTC)
    if operand.type is SqlType.TIMESTAMPTZ:
        return ir.Cast(operand, SqlType.TIMESTAMP)
    if operand.type is SqlType.TIMESTAMP:
        return ir.Cast(operand, SqlType.TIMESTAMPTZ)
    if operand.type is SqlType.DATE:
        raise _refused(
            node, "AT TIME ZONE of a date is not available on a protected table", _OF_A_DATE
        )
    raise unknown(node)


_IN_UTC = (
    "Write column AT TIME ZONE 'UTC', or compare the column with a time that names its zone:"
    " column >= '2026-01-31 12:00:00+01'."
)
_OF_A_DATE = "Compare the date itself, e.g. column >= '2026-01-31', or take it apart by extract()."


def _refused(node: exp.Expr, message: str, hint: str) -> Refusal:
    return Refusal(Code.UNSUPPORTED, message, hint, position_of(node))


_TRUNCATIONS = frozenset(["minute", "hour", "day", "week", "month", "quarter", "year"])


def _date_trunc(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "unit")
    operand = scope.read(node.this)
    unit = str(node.args["unit"].name).lower()
    if unit not in _TRUNCATIONS or operand.type is None or not operand.type.is_time:
        raise unknown(node)
    # date_trunc(date) is that of timestamptz (PostgreSQL 17 documentation, section 9.9.2)
    result = SqlType.TIMESTAMPTZ if operand.type is SqlType.DATE else operand.type
    return ir.DateTrunc(unit, operand, result)


READERS: Readers = {
    exp.Extract: _extract,
    exp.TimestampTrunc: _date_trunc,
    exp.AtTimeZone: _at_utc,
}
