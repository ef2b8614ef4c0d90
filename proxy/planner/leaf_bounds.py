"""Bounds of what expressions are made of: those of columns, which the policy says, and of constants."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

from proxy.base.errors import Code, Refusal
from proxy.planner.facts import Facts
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import ColumnRef, Constant


def unbounded(what: str, position: int | None) -> NoReturn:
    raise Refusal(
        Code.NO_BOUNDS,
        f"{what} has no public bounds, so its sum or average cannot be protected",
        "Aggregate a column that has bounds in the policy.",
        position,
    )


def of_constant(constant: Constant) -> Bounds | None:
    if constant.value is None:
        return None
    if not isinstance(constant.value, Fraction):
        unbounded("a constant that is not a number", constant.position)
    return Bounds(constant.value, constant.value)


def of_column(column: ColumnRef, columns: Facts) -> Bounds:
    known = columns.get((column.relation, column.column))
    bounds = None if known is None else known.bounds or known.held
    if bounds is None:
        if known is not None and known.unbounded is not None:
            raise _of_computed(column, known.unbounded)
        raise Refusal(
            Code.NO_BOUNDS,
            f'column "{column.column}" has no bounds in the policy, so its values cannot be aggregated',
            "Ask the data owner for `bounds` on this column, or count its rows instead.",
            column.position,
        )
    return bounds


def _of_computed(column: ColumnRef, reason: Refusal) -> Refusal:
    """No policy can bound what a subquery computes: its own expression can."""
    return Refusal(
        Code.NO_BOUNDS,
        f'column "{column.column}" of a subquery cannot be aggregated: {reason.message}',
        f"{reason.hint.removesuffix('.')}, in the subquery that computes it.",
        column.position,
    )
