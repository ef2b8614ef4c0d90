"""bool_or, bool_and and every: whether some row is so, or all rows are.

One row decides them, so no noise could be added to the answer itself. Over protected rows each is a
comparison of two answers with their own errors, how many rows are so and how many are not, which is post-
processing of two counts (ADR 0055). bool_or is true where there surely are rows that are so, and false
where there surely are others and of these none is to be seen. Over the rows of one privacy unit, in a
subquery that groups by it, they are exact: the largest or smallest of 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.expression_reading import read_condition
from proxy.query.bind.scope import Scope, only, position_of
from proxy.query.ir.bound_statement import SureTruth
from proxy.query.ir.expressions import Case, Connective, Constant, Expression, Not
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_IS_OR: Mapping[type[exp.Expr], bool] = {exp.LogicalOr: True, exp.LogicalAnd: False}
TRUTH_NODES = tuple(_IS_OR)  # and every(), which the parser does not know
_EVERY = "every"


def is_truth(node: exp.Expr) -> bool:
    """Whether it is a call of one of them, perhaps with FILTER."""
    if isinstance(node, exp.Filter):
        node = node.this
    return type(node) in _IS_OR or (type(node) is exp.Anonymous and node.name.lower() == _EVERY)


def read_truth(node: exp.Expr, scope: Scope) -> SureTruth:
    """
    Refuses  UNSUPPORTED: other forms (DISTINCT, ORDER BY inside, several arguments)
    """
    is_or, truth, condition = _parts(node, scope)

    def rows(part: Expression) -> Aggregate:
        both = part if condition is None else Connective("AND", (condition, part))
        return Aggregate(AggregateKind.COUNT_ROWS, None, both, SqlType.INT8)

    return SureTruth(is_or, rows(truth), rows(Not(truth)))


def truth_of_unit(node: exp.Expr, scope: Scope) -> Aggregate:
    """The same of the rows of a unit, as 1 and 0: bool_or is their maximum, bool_and their minimum.

    Refuses  as read_truth
    """
    is_or, truth, condition = _parts(node, scope)
    kind = AggregateKind.MAX if is_or else AggregateKind.MIN
    nothing = Constant(None, SqlType.INT4)
    number = Case(((truth, _number(1)), (Not(truth), _number(0))), nothing, SqlType.INT4)
    return Aggregate(kind, number, condition, SqlType.INT4)


def _number(value: int) -> Constant:
    return Constant(Fraction(value), SqlType.INT4)


def _parts(node: exp.Expr, scope: Scope) -> tuple[bool, Expression, Expression | None]:
    """Whether it is bool_or; of what; its FILTER."""
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        condition = read_condition(node.expression.this, scope)
        node = node.this
    if isinstance(node, exp.Anonymous):
        operand = node.expressions[0] if len(node.expressions) == 1 else None
    else:
        only(node, "this")
        operand = node.this
    if operand is None or isinstance(operand, exp.Distinct | exp.Order | exp.Tuple | exp.Star):
        raise Refusal(
            Code.UNSUPPORTED,
            "this form of bool_or(), bool_and() or every() is not available on a protected table",
            "Use it of one condition, with FILTER (WHERE ...) if need be: bool_or(column > 5).",
            position_of(node),
        )
    return _IS_OR.get(type(node), False), read_condition(operand, scope), condition
