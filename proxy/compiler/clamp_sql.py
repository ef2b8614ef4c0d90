"""Values cut to bounds: the smaller and the larger of two values, strict as in max(x) and min(x)."""

from __future__ import annotations

from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds
from proxy.query.ir.expressions import Clamped, ColumnRef, Extract

# What PostgreSQL's own max(x) and min(x) compare with (pg_aggregate.aggtransfn). They are strict: NULL stays
# NULL, where greatest(least(x, high), low) makes it `high` (docs/design/backends.md 3). And they take x once,
# where CASE takes it up to three times.
_ORDERED = {
    SqlType.INT4: "int4",
    SqlType.INT8: "int8",
    SqlType.NUMERIC: "numeric_",
    SqlType.FLOAT8: "float8",
    SqlType.DATE: "date_",
    SqlType.TIMESTAMP: "timestamp_",
    SqlType.TIMESTAMPTZ: "timestamptz_",
}


def clamp_sql(value: str, clamped: Clamped, binds: Binds) -> str:
    """`value`, a number or time of the operand's type, clamped to the bounds of `clamped`."""
    kind = _clamp_type(clamped)
    if kind.is_time:
        low, high = (binds.add(iso_text(e, kind), kind.sql) for e in (clamped.low, clamped.high))
    else:
        low, high = (binds.number(e, kind.sql) for e in (clamped.low, clamped.high))
    if kind is SqlType.NUMERIC and clamped.type is not SqlType.NUMERIC:
        value = f"({value})::numeric"
    return within_sql(value, low, high, kind)


def within_sql(value: str, low: str, high: str, kind: SqlType) -> str:
    return larger_sql(smaller_sql(value, high, kind), low, kind)


def _clamp_type(clamped: Clamped) -> SqlType:
    """The type in which a value is compared with its bounds."""
    kind, ends = clamped.type, (clamped.low, clamped.high)
    if kind.is_integer and not isinstance(clamped.operand, Extract):
        if any(end.denominator != 1 for end in ends):
            return SqlType.NUMERIC
        fits = kind is not SqlType.INT8 and max(map(abs, ends)) < 2**31
        return SqlType.INT4 if fits else SqlType.INT8
    if kind.is_float and isinstance(clamped.operand, ColumnRef):
        return SqlType.FLOAT8
    return kind if kind.is_time else SqlType.NUMERIC


def smaller_sql(left: str, right: str, kind: SqlType) -> str:
    """The smaller of two, NULL if one is. NaN is larger than all numbers (PostgreSQL 17 documentation,
    section 8.1.3)."""
    return f"pg_catalog.{_ORDERED[kind]}smaller({left}, {right})"


def larger_sql(left: str, right: str, kind: SqlType) -> str:
    """The larger of two, NULL if one is."""
    return f"pg_catalog.{_ORDERED[kind]}larger({left}, {right})"
