"""What the type of a column lets a policy say of it: as an identifier, and of its bounds."""

from __future__ import annotations

from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from proxy.policy.key_texts import integer_range
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import BoundsKind

_LARGEST_FLOAT = {SqlType.FLOAT4: Fraction(34) * 10**37, SqlType.FLOAT8: Fraction(179) * 10**306}


def family(column: Column) -> str | None:
    """Types whose equal values print equally, so that hashing the text is hashing the identifier.

    Not real and double precision (0 = -0), bare numeric (1.0 = 1.00), nor types that depend on
    settings. character(n) loses its blanks on the way to text.
    """
    if column.type.is_integer:
        return "whole number"
    if column.type.is_text:
        return "text"
    if column.type is SqlType.UUID:
        return "uuid"
    if column.type is SqlType.NUMERIC and column.scale is not None:
        return f"numeric of scale {column.scale}"
    return None


def bounds_kind(sql_type: SqlType) -> BoundsKind | None:
    if sql_type.is_number:
        return BoundsKind.NUMBER
    if sql_type is SqlType.DATE:
        return BoundsKind.DATE
    if sql_type.is_time:
        return BoundsKind.TIMESTAMP
    return None


def misfit(bound: Fraction, real: Column) -> str | None:
    """Why a bound is no value of the column's type."""
    if real.type.is_integer:
        low, high = integer_range(real.type)
        if bound.denominator != 1 or not low <= bound <= high:
            return f"a bound of {real.type_name} is a whole number from {low} to {high}"
    if real.type is SqlType.NUMERIC and real.precision is not None and real.scale is not None:
        scaled = bound * Fraction(10) ** real.scale
        if scaled.denominator != 1 or abs(scaled) >= 10**real.precision:
            step = 1 / Fraction(10) ** real.scale
            most = decimal((10**real.precision - 1) * step)
            return f"a bound of {real.type_name} is a multiple of {decimal(step)} up to +-{most}"
    if real.type.is_float and abs(bound) > _LARGEST_FLOAT[real.type]:
        return f"the bound does not fit into {real.type_name}"
    return None
