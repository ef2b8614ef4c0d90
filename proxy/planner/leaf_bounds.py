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
    if bounds is not None:
        return bounds
    reason = None if known is None else known.unbounded
    if reason is None or reason.message == _without_bounds(column.column):
        raise Refusal(
            Code.NO_BOUNDS,
            _without_bounds(column.column),
            "Ask the data owner for `bounds` on this column, or count its rows instead.",
            column.position,
        )
    raise Refusal(
        Code.NO_BOUNDS,
        f'column "{column.column}" of a subquery cannot be aggregated: {reason.message}',
        reason.hint,
        column.position,
    )


def stored_without_bounds(name: str) -> Refusal:
    """Why a column of a subquery has no bounds that is this column of a table, or is computed of it."""
    return Refusal(
        Code.NO_BOUNDS,
        _without_bounds(name),
        f'Ask the data owner for `bounds` on column "{name}", or count its rows instead.',
    )


def _without_bounds(name: str) -> str:
    return f'column "{name}" has no bounds in the policy, so its values cannot be aggregated'
