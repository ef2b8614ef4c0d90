"""Arithmetic over aggregates as expressions that an interval can be carried through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from proxy.query.canonical import trees
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.type_names import type_named
from proxy.query.canonical.values import is_widening
from proxy.query.canonical.walk import is_aggregate
from proxy.query.ir import typing_rules
from proxy.query.ir.expressions import NumericFunction
from proxy.query.ir.noisy_expressions import (
    AnswerOf,
    NoisyArithmetic,
    NoisyCall,
    NoisyCast,
    NoisyChoice,
    NoisyExpression,
    NoisyNullIf,
    NoisyOperator,
    PublicNumber,
)

_OPERATORS = {operator.value: operator for operator in NoisyOperator}
_FUNCTIONS: Mapping[str, NumericFunction] = {
    "abs": NumericFunction.ABS,
    "floor": NumericFunction.FLOOR,
    "ceil": NumericFunction.CEIL,
    "ceiling": NumericFunction.CEIL,
    "trunc": NumericFunction.TRUNC,
    "round": NumericFunction.ROUND,
}
_DIGITS = 20


@dataclass(frozen=True, slots=True)
class NoisyTreeReader:
    """answer: Of one aggregate of the block. window: Of a window function over answers."""

    answer: Callable[[trees.Call], AnswerOf]
    window: Callable[[trees.Call, NoisyTreeReader], NoisyExpression] | None = None

    def read(self, tree: trees.Tree) -> NoisyExpression:
        """
        Raises:
            Refusal: UNSUPPORTED: anything through which no interval goes.
        """
        match tree:
            case trees.Call() if tree.over is not None:
                if self.window is None:
                    raise unread("the error of a window function")
                return self.window(tree, self)
            case trees.Call() if is_aggregate(tree):
                found = self.answer(tree)
                if not found.type.is_number:
                    raise unread("the error of an answer that is no number")
                return found
            case trees.Literal(value=str() as text, is_text=False):
                value = typing_rules.number(text)
                assert value is not None, "as the tokens are"
                return PublicNumber(value, typing_rules.literal_type(text))
            case trees.OperatorTree(operator="-", operands=(operand,)):
                return self._negated(self.read(operand))
            case trees.OperatorTree(operator=sign, operands=(left, right)) if sign in _OPERATORS:
                return self._arithmetic(_OPERATORS[sign], left, right)
            case trees.CastTo():
                return self._cast(tree)
            case trees.Call(name="NULLIF", arguments=(operand, equal)):
                number = self.bare(equal)
                if not isinstance(number, PublicNumber):
                    raise unread("the error of NULLIF of two answers")
                of = self.read(operand)
                return NoisyNullIf(of, number, of.type)
            case trees.Call(name="COALESCE", arguments=arguments):
                first, *others = map(self.read, arguments)
                kinds = [one.type for one in (first, *others)]
                # What has an interval is not NULL, so the others only decide the type.
                return NoisyCast(
                    self._without(first), None, typing_rules.common_result(kinds, None)
                )
            case trees.Call(name=("GREATEST" | "LEAST") as name, arguments=arguments):
                operands = tuple(map(self.read, arguments))
                kind = typing_rules.common_result([one.type for one in operands], None)
                return NoisyChoice(name == "GREATEST", tuple(map(self._without, operands)), kind)
            case trees.Call(name=name, arguments=arguments) if name in _FUNCTIONS:
                return self._call(_FUNCTIONS[name], arguments)
            case _:
                raise unread("the error of this form of expression")

    def bare(self, tree: trees.Tree) -> NoisyExpression:
        return self._without(self.read(tree))

    def _without(self, found: NoisyExpression) -> NoisyExpression:
        """Without a cast to a wider number, which PostgreSQL may have written."""
        is_wide = isinstance(found, NoisyCast) and found.digits is None
        if is_wide and isinstance(found, NoisyCast) and is_widening(found.operand.type, found.type):
            return found.operand
        return found

    def _negated(self, operand: NoisyExpression) -> NoisyExpression:
        if isinstance(operand, PublicNumber):
            return PublicNumber(-operand.value, operand.type)
        return NoisyCall(NumericFunction.NEGATE, operand, 0, operand.type)

    def _arithmetic(
        self, operator: NoisyOperator, left: trees.Tree, right: trees.Tree
    ) -> NoisyExpression:
        one, other = self.read(left), self.read(right)
        kind = typing_rules.common((one.type, other.type), None)
        return NoisyArithmetic(operator, self._without(one), self._without(other), kind)

    def _call(
        self, function: NumericFunction, arguments: tuple[trees.Tree, ...]
    ) -> NoisyExpression:
        operand = self.read(arguments[0])
        digits = _digits(self.read(arguments[1])) if len(arguments) == 2 else 0
        if len(arguments) > 2:
            raise unread("the error of this form of expression")
        return NoisyCall(function, self._without(operand), digits, operand.type)

    def _cast(self, tree: trees.CastTo) -> NoisyExpression:
        kind = type_named(tree.type, {})
        inner = tree.operand
        if isinstance(inner, trees.Literal) and inner.is_text and isinstance(inner.value, str):
            value = typing_rules.number(inner.value) if kind.is_number else None
            if value is None:
                raise unread("the error of this form of expression")
            return PublicNumber(value, kind)
        operand = self.read(inner)
        if not kind.is_number:
            raise unread("the error of a cast to this type")
        if isinstance(operand, PublicNumber) and is_widening(operand.type, kind):
            return NoisyCast(operand, None, kind)
        digits = None
        if tree.type.modifier:
            digits = int(tree.type.modifier[1]) if len(tree.type.modifier) > 1 else 0
            operand = self._without(operand)
        return NoisyCast(operand, digits, kind)


def _digits(part: NoisyExpression) -> int:
    value = part.value if isinstance(part, PublicNumber) else None
    if not isinstance(value, Fraction) or value.denominator != 1 or not 0 <= value <= _DIGITS:
        raise unread("rounding an answer to so many digits")
    return int(value)
