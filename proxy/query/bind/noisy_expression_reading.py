"""Arithmetic over aggregates, by allow-list: what an interval can be carried through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.aggregate_reading import is_aggregate
from proxy.query.bind.nodes.casts import CAST_TYPES
from proxy.query.bind.nodes.numbers import rounding_type
from proxy.query.bind.scope import position_of
from proxy.query.ir import typing_rules, written_numbers
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

HINT = (
    "It takes aggregates, numbers, + - * /, round, floor, ceil, trunc, abs, greatest, least,"
    " coalesce, nullif with a number, and casts to numbers."
)
# Of what HINT lists, where it is only the arguments that are refused.
_ROUNDED = (
    "round and trunc take a constant number of digits there, from 0 to 20: round(avg(column), 2)."
)
_NO_NUMBER = (
    "It takes aggregates that are numbers, e.g. dp.error(max(column)) of a column of numbers."
)
_OF_WINDOW = (
    "Without it the NOTICE, or `errors` over HTTP, says what is known of a column with a window function. Of"
    " each group's own number: dp.error(count(*))."
)
_ARGUMENTS_OF: Mapping[type[exp.Expr], str] = {
    exp.Window: _OF_WINDOW,
    exp.Round: _ROUNDED,
    exp.Trunc: _ROUNDED,
    exp.Nullif: "nullif takes a constant number there: nullif(sum(column), 0).",
    exp.Cast: "Casts there are to integer, bigint, numeric, real and double precision: avg(column)::numeric.",
}
_DIGITS = 20

_OPERATORS: Mapping[type[exp.Expr], NoisyOperator] = {
    exp.Add: NoisyOperator.ADD,
    exp.Sub: NoisyOperator.SUBTRACT,
    exp.Mul: NoisyOperator.MULTIPLY,
    exp.Div: NoisyOperator.DIVIDE,
}
_FUNCTIONS: Mapping[type[exp.Expr], NumericFunction] = {
    exp.Neg: NumericFunction.NEGATE,
    exp.Abs: NumericFunction.ABS,
    exp.Floor: NumericFunction.FLOOR,
    exp.Ceil: NumericFunction.CEIL,
    exp.Trunc: NumericFunction.TRUNC,
    exp.Round: NumericFunction.ROUND,
}
_ARGUMENTS = frozenset(
    (
        "this",
        "expression",
        "expressions",
        "decimals",
        "to",
        "typed",
        "safe",
        "_type",
        "ignore_nulls",
    )
)


@dataclass(frozen=True, slots=True)
class NoisyReader:
    """answer: reads one aggregate of the block; window: a window function over answers."""

    answer: Callable[[exp.Expr], AnswerOf]
    window: Callable[[exp.Window, NoisyReader], NoisyExpression] | None = None

    def read(self, node: exp.Expr) -> NoisyExpression:
        """
        Refuses  UNSUPPORTED: anything through which no interval goes; what reading an aggregate refuses
        """
        if is_aggregate(node):
            found = self.answer(node)
            return found if found.type.is_number else refuse_form(node, _NO_NUMBER)
        is_window = isinstance(node, exp.Window)
        given = (name for name, value in node.args.items() if value not in (None, False, []))
        if not is_window and not _ARGUMENTS.issuperset(given):
            refuse_form(node)
        match node:
            case exp.Window() if self.window is not None:
                return self.window(node, self)
            case exp.Paren():
                return self.read(node.this)
            case exp.Literal():
                return _number(node)
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
                return self._arithmetic(node)
            case exp.Neg() | exp.Abs() | exp.Floor() | exp.Ceil() | exp.Trunc() | exp.Round():
                return self._call(node)
            case exp.Cast():
                return self._cast(node)
            case exp.Nullif():
                operand, equal = self.read(node.this), self.read(node.expression)
                if not isinstance(equal, PublicNumber):
                    refuse_form(node)
                return NoisyNullIf(operand, equal, operand.type)
            case exp.Coalesce():
                first, *others = map(self.read, (node.this, *node.expressions))
                # What has an interval is not NULL, so the others only decide the type.
                return NoisyCast(first, None, _result(node, (first, *others)))
            case exp.Greatest() | exp.Least():
                operands = tuple(map(self.read, (node.this, *node.expressions)))
                return NoisyChoice(
                    isinstance(node, exp.Greatest), operands, _result(node, operands)
                )
            case _:
                return refuse_form(node)

    def _arithmetic(self, node: exp.Expr) -> NoisyExpression:
        left, right = self.read(node.this), self.read(node.expression)
        kind = typing_rules.common((left.type, right.type), position_of(node))
        return NoisyArithmetic(_OPERATORS[type(node)], left, right, kind)

    def _call(self, node: exp.Expr) -> NoisyExpression:
        function, operand = _FUNCTIONS[type(node)], self.read(node.this)
        if function is NumericFunction.NEGATE and isinstance(operand, PublicNumber):
            return PublicNumber(-operand.value, operand.type)
        given = node.args.get("decimals")
        digits = 0 if given is None else _digits(given, node)
        kind = rounding_type(function, operand.type, has_digits=given is not None)
        return NoisyCall(function, operand, digits, kind)

    def _cast(self, node: exp.Expr) -> NoisyExpression:
        target = node.args["to"]
        kind = CAST_TYPES.get(target.this)
        operand = self.read(node.this)
        if kind is None or not kind.is_number:
            return refuse_form(node)
        digits = None
        if target.expressions:
            if kind is not SqlType.NUMERIC or len(target.expressions) > 2:
                refuse_form(node)
            digits = (
                0 if len(target.expressions) == 1 else _digits(target.expressions[1].this, node)
            )
        return NoisyCast(operand, digits, kind)


def _number(node: exp.Literal) -> PublicNumber:
    text = str(node.this)
    value = None if node.args.get("is_string") else written_numbers.number(text)
    if value is None:
        return refuse_form(node)
    return PublicNumber(value, typing_rules.literal_type(text))


def _digits(given: exp.Expr, node: exp.Expr) -> int:
    is_number = isinstance(given, exp.Literal) and not given.args.get("is_string")
    value = written_numbers.number(str(given.this)) if is_number else None
    if value is None or value.denominator != 1 or not 0 <= value <= _DIGITS:
        return refuse_form(node)
    return int(value)


def _result(node: exp.Expr, parts: tuple[NoisyExpression, ...]) -> SqlType:
    return typing_rules.common_result([part.type for part in parts], position_of(node))


def refuse_form(node: exp.Expr, hint: str | None = None) -> NoReturn:
    raise Refusal(
        Code.UNSUPPORTED,
        "the error of this form of expression is not known",
        hint or _ARGUMENTS_OF.get(type(node), HINT),
        position_of(node),
    )
