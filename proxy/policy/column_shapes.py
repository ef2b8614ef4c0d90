"""What a planner can know of a column, but for names: columns of one shape are asked about once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.policy.key_texts import integer_range
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    Policy,
    ProtectedTable,
)

# Of `ProtectedTable`: all but its name, its columns, its unit and what it is joined on.
_OF_A_TABLE = tuple(
    one.name
    for one in fields(ProtectedTable)
    if one.name not in ("name", "columns", "unit", "join_keys")
)


def column_shape(
    policy: Policy, catalog: Catalog, table: TableName, column: str | None
) -> Hashable | None:
    """Describe what matters to a question that names one protected table and no other column.

    Args:
        policy, catalog: Of the table.
        table: A protected one.
        column: None where the question names none.

    Returns:
        None: the column follows references to other tables, or the names themselves matter.
    """
    exposed, made = policy.tables[table], catalog.tables[table]
    assert isinstance(exposed, ProtectedTable), "it names a protected table"
    known, unit = exposed.columns.get(column or ""), exposed.unit
    if column == table.name or (known is not None and known.references is not None):
        return None
    names = () if column is None else (column,)
    if isinstance(unit, IdentifierUnit):
        if unit.path is not None:
            return None
        names = (*names, unit.column)
    return (
        (len({*names}), len(names), unit.kind) if isinstance(unit, IdentifierUnit) else unit,
        tuple(getattr(exposed, name) for name in _OF_A_TABLE),
        bool(exposed.join_keys),
        *(_unnamed(exposed.columns.get(name)) for name in names),
        *(_unnamed(made.column(name)) for name in names),
        tuple(_of_key(made, key, names) for key in (made.primary_key, *made.unique)),
        made.has_ctid,
    )


def reading_shape(
    policy: Policy, catalog: Catalog, table: TableName, column: str
) -> Hashable | None:
    """Describe what matters to how such a question is read, before it is planned.

    It is no setting, bound, value or key: the reader is given none.

    Returns:
        None: the names themselves may matter.
    """
    exposed = policy.tables[table]
    assert isinstance(exposed, ProtectedTable), "it names a protected table"
    unit = exposed.unit if isinstance(exposed.unit, IdentifierUnit) else None
    if column == table.name or (unit is not None and unit.path is not None):
        return None
    described = _unnamed(catalog.tables[table].column(column))
    of_unit = unit is not None and (unit.kind, unit.column == column)
    return column in exposed.columns, described, of_unit


def settings_shape(policy: Policy, catalog: Catalog, day: int | None) -> Hashable:
    """Describe what holds for all columns."""
    given = (getattr(policy.privacy, one.name) for one in fields(policy.privacy))
    privacy = tuple(frozenset(one.items()) if isinstance(one, dict) else one for one in given)
    return privacy, policy.accounting, catalog.encoding, day


def _of_key(table: Table, key: tuple[str, ...], names: tuple[str, ...]) -> Hashable:
    """The columns of a key by their part in questions and by what they are."""
    return tuple(
        (name in names and names.index(name), _unnamed(table.column(name))) for name in key
    )


def _unnamed(column: Column | ColumnPolicy | None) -> Hashable:
    return None if column is None else replace(column, name="")


# What the type of a column lets a policy say of it: as an identifier, and of its bounds.

_LARGEST_FLOAT = {SqlType.FLOAT4: Fraction(34) * 10**37, SqlType.FLOAT8: Fraction(179) * 10**306}


def family(column: Column) -> str | None:
    """Types that one identifier may have in several tables; None: none that can name units."""
    if not column.holds_units:
        return None
    if column.type.is_integer:
        return "whole number"
    if column.type is SqlType.NUMERIC:
        return f"numeric of scale {column.scale}"
    return "text" if column.type.is_text else "uuid"


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
