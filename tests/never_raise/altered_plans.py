"""Plans altered at random: nodes are taken out, put in, exchanged, given other types, constants and columns.

What the kernel lets pass of them must raise on no row, whatever made it.
"""

from __future__ import annotations

import random  # noqa: TID251  the same plans in every run
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Concat,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    Inside,
    InsideLook,
    Is,
    Like,
    NullIf,
    NumericCall,
    NumericFunction,
    Operator,
    Quotient,
    RealCall,
    RealFunction,
    Shift,
    TextCall,
    TextFunction,
    TimeBin,
)
from tests.kernel.raising_plans import changed
from tests.pipeline_world import DATA

_NUMBERS = ("0", "1", "-1", "2", "0.5", "10", "1e30", "-1e30", "1e-30", "1e300", "1e-300", "1000")
_TEXTS = ("", "a", "%", "\\", "a\\", "_%", "2010-01-01", "infinity", "(", "[a-z]+", "x" * 300)
_TYPES = (
    *(SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.NUMERIC, SqlType.FLOAT4, SqlType.FLOAT8),
    *(SqlType.TEXT, SqlType.VARCHAR, SqlType.BPCHAR, SqlType.BOOL, SqlType.DATE, SqlType.TIMESTAMP),
    *(SqlType.TIMESTAMPTZ, SqlType.UUID, SqlType.JSONB, SqlType.INTERVAL, SqlType.CLOCK_TIME),
)
_TIMES = (SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ)
_FIELDS = ("epoch", "year", "month", "hour", "second", "week", "isoyear", "julian", "timezone")
_UNITS = ("day", "year", "week", "minute", "quarter", "century", "microseconds")


class Alterer:
    """Alters plans with the numbers of one generator."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw

    def altered(self, block: BlockPlan) -> BlockPlan | None:
        """The block with some of its expressions altered; None: it has none."""
        found: BlockPlan | None = block
        for _ in range(self._draw.choice((1, 1, 2, 3))):
            found = None if found is None else changed(found, self._change())
        return found

    def _change(self) -> Callable[[Expression], Expression | None]:
        left = self._draw.choice((0, 1, 2, 3, 5, 8, 13))

        def change(node: Expression) -> Expression | None:
            nonlocal left
            left -= 1
            return self._other(node) if left < 0 else None

        return change

    def _other(self, node: Expression) -> Expression | None:
        ways = (self._inner, self._with_other_parts, self._wrapped, self._exchanged, self._retyped)
        return self._draw.choice(ways)(node)

    def _number(self) -> Fraction:
        return Fraction(self._draw.choice(_NUMBERS))

    def _constant(self) -> Constant:
        if self._draw.randint(0, 3):
            return Constant(self._number(), self._draw.choice(_TYPES[:4]))
        value = self._draw.choice((None, *_TEXTS))
        return Constant(value, self._draw.choice((SqlType.TEXT, *_TIMES)))

    def _column(self) -> ColumnRef:
        one = self._draw.choice(DATA)
        return ColumnRef(one.name, one.type, None, "r1")

    def _inner(self, node: Expression) -> Expression | None:
        """What it is made of in its place: a clamp, a cut or a cast is forgotten."""
        match node:
            case Clamped() | Cast() | NumericCall() | NullIf() | TextCall() | RealCall() | Bucket():
                return node.operand
            case DateTrunc() | Shift() | TimeBin() | FormattedTime() | Extract() | Inside():
                return node.operand
            case Arithmetic() | Comparison():
                return self._draw.choice((node.left, node.right))
            case Case():
                return node.otherwise
            case Choose() | Concat():
                return self._draw.choice(node.operands)
            case _:
                return None

    def _exchanged(self, node: Expression) -> Expression | None:
        """A column or a constant in the place of another one."""
        if isinstance(node, Constant):
            return self._constant()
        return self._column() if isinstance(node, ColumnRef) else None

    def _retyped(self, node: Expression) -> Expression | None:
        """It claims another type."""
        if isinstance(node, Comparison | Is | Like | Constant):
            return None
        return replace(node, type=self._draw.choice(_TYPES))

    def _with_other_parts(self, node: Expression) -> Expression | None:
        draw = self._draw
        match node:
            case Clamped():
                low, high = sorted((self._number(), self._number()))
                return draw.choice((replace(node, low=low), replace(node, high=high)))
            case Arithmetic():
                return replace(node, operator=draw.choice(tuple(Operator)))
            case Quotient():
                return draw.choice(
                    (
                        replace(node, remainder=not node.remainder),
                        replace(node, divisor=node.operand),
                    )
                )
            case NumericCall():
                digits = draw.choice((-20, 0, 2, 20))
                return replace(node, function=draw.choice(tuple(NumericFunction)), digits=digits)
            case RealCall():
                constant = self._number()
                return replace(node, function=draw.choice(tuple(RealFunction)), constant=constant)
            case TextCall():
                function = draw.choice(tuple(TextFunction))
                given = tuple(self._constant() for _ in node.arguments)
                return draw.choice(
                    (replace(node, function=function), replace(node, arguments=given))
                )
            case Like():
                pattern = Constant(draw.choice(_TEXTS), SqlType.TEXT)
                return replace(node, pattern=pattern)
            case Inside():
                return replace(node, look=draw.choice(tuple(InsideLook)))
            case _:
                return self._with_other_time(node)

    def _with_other_time(self, node: Expression) -> Expression | None:
        draw = self._draw
        match node:
            case Extract():
                return replace(node, field=draw.choice(_FIELDS))
            case DateTrunc():
                return replace(node, unit=draw.choice(_UNITS))
            case Shift():
                return replace(node, months=draw.choice((-60_000, 0, 60_000, 4_000_000)))
            case TimeBin():
                return replace(node, width=draw.choice((1, 10**6, 31 * 86_400 * 10**6, 10**15)))
            case FormattedTime():
                return replace(node, template=draw.choice(("YYYY", "Month", "TZ", "J", "")))
            case Bucket():
                return replace(
                    node, low=self._number(), high=self._number(), count=draw.choice((1, 9))
                )
            case NullIf():
                return replace(node, other=self._constant())
            case _:
                return None

    def _wrapped(self, node: Expression) -> Expression | None:
        """It is computed with."""
        draw, kind = self._draw, node.type
        if kind is None or isinstance(node, Constant):
            return None
        made: list[Expression] = [
            Cast(node, draw.choice(_TYPES)),
            Clamped(node, Fraction(-1), self._number() ** 2, draw.choice((kind, SqlType.NUMERIC))),
            Choose(draw.choice(tuple(Choice)), (node, draw.choice((self._column(), node))), kind),
            Case(((Is(node, None), node),), self._constant(), kind),
            NullIf(node, self._constant(), kind),
        ]
        if kind.is_time:
            made += [
                Extract(draw.choice(_FIELDS), node),
                DateTrunc("year", node, draw.choice(_TIMES)),
                Shift(node, 1, 0, 0, draw.choice(_TIMES)),
                FormattedTime(node, "YYYY"),
                TimeBin(node, 10**6, 0, draw.choice(_TIMES)),
            ]
        if kind.is_text:
            function = draw.choice(tuple(TextFunction))
            arguments = tuple(self._constant() for _ in range(draw.randint(0, 2)))
            made += [
                TextCall(
                    function, node, arguments, draw.choice((kind, SqlType.TEXT, SqlType.INT4))
                ),
                Concat((node, draw.choice((self._column(), node)))),
            ]
        if not (kind.is_time or kind.is_text) or not draw.randint(0, 3):
            made += self._computed(node)
        found = draw.choice(made)
        if kind is SqlType.BOOL and found.type is not SqlType.BOOL:
            return Comparison(draw.choice(tuple(Comparator)), found, self._constant())
        return found

    def _computed(self, node: Expression) -> list[Expression]:
        draw, numeric = self._draw, SqlType.NUMERIC
        other = draw.choice((node, self._column(), self._constant()))
        return [
            Arithmetic(draw.choice(tuple(Operator)), node, other, numeric),
            Quotient(node, other, bool(draw.randint(0, 1)), draw.choice((numeric, SqlType.INT4))),
            Quotient(other, node, bool(draw.randint(0, 1)), numeric),
            Quotient(node, NullIf(node, Constant(Fraction(0), numeric), numeric), False, numeric),
            NumericCall(
                draw.choice(tuple(NumericFunction)), node, draw.choice((-3, 0, 9)), numeric
            ),
            RealCall(draw.choice(tuple(RealFunction)), node, self._number(), numeric),
            Bucket(node, Fraction(0), Fraction(1), 3),
        ]
