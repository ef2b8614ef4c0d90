"""What is certain of expressions on a row in which some columns are NULL, whatever the others are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choose,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    In,
    InPublic,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    Quotient,
    TextCall,
)

_Truths = frozenset[bool | None]
_ANY: _Truths = frozenset({True, False, None})
_NOT_STRICT = (Comparator.DISTINCT, Comparator.NOT_DISTINCT)


@dataclass(frozen=True, slots=True)
class NullColumns:
    """Of such a row: all columns of the relations, and single ones, (alias, name); zeros: those that are NULL
    or 0."""

    relations: frozenset[str]
    columns: frozenset[tuple[str, str]] = frozenset()
    zeros: frozenset[tuple[str, str]] = frozenset()

    def holds(self, column: tuple[str, str]) -> bool:
        return column[0] in self.relations or column in self.columns


def is_null(expression: Expression, nulls: NullColumns) -> bool:
    """Whether it is NULL there for certain. Functions that are not known to give NULL for NULL are not."""
    match expression:
        case ColumnRef():
            return nulls.holds((expression.relation, expression.column))
        case Constant():
            return expression.value is None
        case Arithmetic():
            return is_null(expression.left, nulls) or is_null(expression.right, nulls)
        case (
            Quotient()
            | NumericCall()
            | TextCall()
            | Extract()
            | DateTrunc()
            | FormattedTime()
            | Bucket()
            | Cast()
            | NullIf()
        ):
            return is_null(expression.operand, nulls)
        case Choose():
            return all(is_null(operand, nulls) for operand in expression.operands)
        case Case():
            return all(is_null(result, nulls) for result in _results(expression, nulls))
        case _:
            return truths(expression, nulls) == {None}


def adds_nothing(expression: Expression, nulls: NullColumns) -> bool:
    """Whether a sum stays as it is by it: NULL or 0."""
    match expression:
        case Constant():
            return expression.value is None or expression.value == 0
        case ColumnRef() if (expression.relation, expression.column) in nulls.zeros:
            return True
        case Case():
            return all(adds_nothing(result, nulls) for result in _results(expression, nulls))
        case Choose() if any(isinstance(operand, Constant) for operand in expression.operands):
            return all(adds_nothing(operand, nulls) for operand in expression.operands)
        case _:
            return is_null(expression, nulls)


def truths(condition: Expression, nulls: NullColumns) -> _Truths:
    """What a condition can be there."""
    match condition:
        case Constant(value=bool() | None as value):
            return frozenset({value})
        case Comparison() if condition.comparator not in _NOT_STRICT:
            sides = (condition.left, condition.right)
            return frozenset({None}) if any(is_null(side, nulls) for side in sides) else _ANY
        case In() | InPublic() | Like() if is_null(condition.operand, nulls):
            return frozenset({None, False})  # of an empty list it is false
        case Is() if is_null(condition.operand, nulls):
            return frozenset({condition.truth is None})
        case Not():
            return frozenset(
                None if truth is None else not truth for truth in truths(condition.operand, nulls)
            )
        case Connective():
            found = truths(condition.operands[0], nulls)
            for operand in condition.operands[1:]:  # two at a time: there may be thousands
                pairs = product(found, truths(operand, nulls))
                found = frozenset(_connected(condition.word, pair) for pair in pairs)
            return found
        case ColumnRef() if is_null(condition, nulls):
            return frozenset({None})
        case _:
            return _ANY


def _connected(word: str, given: Iterable[bool | None]) -> bool | None:
    found = set(given)
    decides = word == "OR"  # true for OR, false for AND
    if decides in found:
        return decides
    return None if None in found else not decides


def _results(case: Case, nulls: NullColumns) -> Iterable[Expression]:
    """Those that it can come to."""
    for condition, result in case.whens:
        found = truths(condition, nulls)
        if True in found:
            yield result
        if found == {True}:
            return
    yield case.otherwise
