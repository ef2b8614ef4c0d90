"""Logarithms, roots and powers to SQL, in numeric over operands that the planner has cut."""

from __future__ import annotations

from typing_extensions import assert_never

from proxy.compiler.binds import Binds
from proxy.query.ir.expressions import RealCall, RealFunction


def real_call_sql(call: RealCall, operand: str, binds: Binds) -> str:
    """operand: in numeric."""
    match call.function:
        case RealFunction.LN | RealFunction.EXP | RealFunction.SQRT:
            return f"pg_catalog.{call.function.value}({operand})"
        case RealFunction.LOG:
            assert call.constant is not None
            return f"pg_catalog.log({binds.number(call.constant)}, {operand})"
        case RealFunction.POWER:
            assert call.constant is not None
            return f"pg_catalog.power({operand}, {binds.number(call.constant)})"
        case RealFunction.RAISED:
            assert call.constant is not None
            return f"pg_catalog.power({binds.number(call.constant)}, {operand})"
        case _:
            assert_never(call.function)
