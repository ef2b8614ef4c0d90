"""Conditions on the number of a row within its unit."""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.kernel.column_types import conjuncts
from proxy.kernel.owners import ColumnNames, name
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Constant, Expression


def one_number(where: Expression | None, numbered: ColumnNames) -> bool:
    """Say whether at most one row of each unit passes a condition.

    Stability: columns of `numbered` are 1, 2, 3, ... within a unit, and one conjunct lets one of these
    numbers pass: `= c`, `<= 1` or `< 2`.

    >>> from proxy.base.sql_types import SqlType
    >>> number = ColumnRef("rn", SqlType.INT8, None, "r1")
    >>> first = Comparison(Comparator.LE, number, Constant(Fraction(1), SqlType.INT4))
    >>> one_number(first, frozenset({("r1", "rn")})), one_number(first, frozenset())
    (True, False)
    >>> second = Comparison(Comparator.LE, number, Constant(Fraction(2), SqlType.INT4))
    >>> one_number(second, frozenset({("r1", "rn")}))
    False
    """
    return any(_lets_one_pass(condition, numbered) for condition in conjuncts(where))


def _lets_one_pass(condition: Expression, numbered: ColumnNames) -> bool:
    if not isinstance(condition, Comparison) or not isinstance(condition.left, ColumnRef):
        return False
    if name(condition.left) not in numbered or not isinstance(condition.right, Constant):
        return False
    value = condition.right.value
    if not isinstance(value, Fraction):
        return False
    match condition.comparator:
        case Comparator.EQ:
            return True
        case Comparator.LE:
            return math.floor(value) <= 1
        case Comparator.LT:
            return math.ceil(value) <= 2
        case _:
            return False
