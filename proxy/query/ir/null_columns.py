"""What is certain of expressions on a row in which some columns are NULL, whatever the others are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from proxy.query.ir import expressions as ir

_Truths = frozenset[bool | None]
_ANY: _Truths = frozenset({True, False, None})
_NOT_STRICT = (ir.Comparator.DISTINCT, ir.Comparator.NOT_DISTINCT)


@dataclass(frozen=True, slots=True)
class NullColumns:
    """Of such a row: all columns of the relations, and single ones, (alias, name); zeros: those that are NULL
    or 0."""

    relations: frozenset[str]
    columns: frozenset[tuple[str, str]] = frozenset()
    zeros: frozenset[tuple[str, str]] = frozenset()

    def holds(self, column: tuple[str, str]) -> bool:
        return column[0] in self.relations or column in self.columns


def is_null(expression: ir.Expression, nulls: NullColumns) -> bool:
    """Whether it is NULL there for certain. Functions that are not known to give NULL for NULL are not."""
    match expression:
        case ir.ColumnRef():
            return nulls.holds((expression.relation, expression.column))
        case ir.Constant():
            return expression.value is None
        case ir.Arithmetic():
            return is_null(expression.left, nulls) or is_null(expression.right, nulls)
        case (
            ir.Quotient()
            | ir.NumericCall()
            | ir.TextCall()
            | ir.Extract()
            | ir.DateTrunc()
            | ir.FormattedTime()
            | ir.Bucket()
            | ir.Cast()
            | ir.NullIf()
        ):
            return is_null(expression.operand, nulls)
        case ir.Choose():
            return all(is_null(operand, nulls) for operand in expression.operands)
        case ir.Case():
            return all(is_null(result, nulls) for result in _results(expression, nulls))
        case _:
            return truths(expression, nulls) == {None}


def adds_nothing(expression: ir.Expression, nulls: NullColumns) -> bool:
    """Whether a sum stays as it is by it: NULL or 0."""
    match expression:
        case ir.Constant():
            return expression.value is None or expression.value == 0
        case ir.ColumnRef() if (expression.relation, expression.column) in nulls.zeros:
            return True
        case ir.Case():
            return all(adds_nothing(result, nulls) for result in _results(expression, nulls))
        case ir.Choose() if any(
            isinstance(operand, ir.Constant) for operand in expression.operands
        ):
            return all(adds_nothing(operand, nulls) for operand in expression.operands)
        case _:
            return is_null(expression, nulls)


def truths(condition: ir.Expression, nulls: NullColumns) -> _Truths:
    """What a condition can be there."""
    match condition:
        case ir.Constant(value=bool() | None as value):
            return frozenset({value})
        case ir.Comparison() if condition.comparator not in _NOT_STRICT:
            sides = (condition.left, condition.right)
            return frozenset({None}) if any(is_null(side, nulls) for side in sides) else _ANY
        case ir.In() | ir.InPublic() | ir.Like() if is_null(condition.operand, nulls):
            return frozenset({None, False})  # of an empty list it is false
        case ir.Is() if is_null(condition.operand, nulls):
            return frozenset({condition.truth is None})
        case ir.Not():
            return frozenset(
                None if truth is None else not truth for truth in truths(condition.operand, nulls)
            )
        case ir.Connective():
            found = truths(condition.operands[0], nulls)
            for operand in condition.operands[1:]:  # two at a time: there may be thousands
                pairs = product(found, truths(operand, nulls))
                found = frozenset(_connected(condition.word, pair) for pair in pairs)
            return found
        case ir.ColumnRef() if is_null(condition, nulls):
            return frozenset({None})
        case _:
            return _ANY


def _connected(word: str, given: Iterable[bool | None]) -> bool | None:
    found = set(given)
    decides = word == "OR"  # true for OR, false for AND
    if decides in found:
        return decides
    return None if None in found else not decides


def _results(case: ir.Case, nulls: NullColumns) -> Iterable[ir.Expression]:
    """Those that it can come to."""
    for condition, result in case.whens:
        found = truths(condition, nulls)
        if True in found:
            yield result
        if found == {True}:
            return
    yield case.otherwise
