"""The text that names a private group: equal keys have equal texts, which are values of the type."""

from __future__ import annotations

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import value_sql
from proxy.compiler.text_sql import key_characters
from proxy.kernel.key_plans import KeyPlan
from proxy.query.ir.expressions import Extract


def private_key_sql(key: KeyPlan, binds: Binds) -> str:
    """What equals prints equally in one type and one session but for floats (0 and -0), numerics (1.0 and 1.00)
    and texts of some collations, which are not read (docs/design/sql.md 5.2)."""
    value = value_sql(key.expression, binds)
    if key.type.is_float:
        return f"CASE WHEN {value} = 0 THEN '0'::text ELSE ({value})::text END"
    if key.type is SqlType.NUMERIC and not isinstance(key.expression, Extract):
        return _number(value, key.is_long, binds)
    displayed = f"({value})::text"
    if not key.is_long:
        return displayed
    return f"{key_characters(displayed, key.expression, limits.KEY_CHARACTERS)}::text"


def _number(value: str, is_long: bool, binds: Binds) -> str:
    """Without zeros at its end. Of too many digits those after the point are cut, which may make it the same as
    another; with too many before it a number is infinite. NaN is above all and stays."""
    if not is_long:
        return f"pg_catalog.trim_scale({value})::text"
    most = binds.add(f"1e{limits.KEY_DIGITS}", "numeric")
    infinite = binds.add("Infinity", "numeric")
    plain = f"pg_catalog.trim_scale(pg_catalog.trunc({value}, {limits.KEY_DIGITS}))::text"
    return (
        f"CASE WHEN {value} >= {most} AND {value} <= {infinite} THEN 'Infinity'::text"
        f" WHEN {value} <= - {most} THEN '-Infinity'::text ELSE {plain} END"
    )
