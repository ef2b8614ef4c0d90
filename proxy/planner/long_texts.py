"""Texts that are looked at in rows which a join repeats are cut to their beginnings first (kernel/work.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from proxy.base.node_parts import with_parts
from proxy.base.sql_types import SqlType
from proxy.kernel.plan import (
    BlockPlan,
    DistinctCount,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
)
from proxy.kernel.statistics import Counted, Measured
from proxy.query.ir.expressions import (
    Choice,
    Choose,
    Comparator,
    Comparison,
    Concat,
    Constant,
    Expression,
    Like,
    Parameter,
    TextCall,
    TextFunction,
)
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import rewrite

_ORDERED = (Comparator.LT, Comparator.LE, Comparator.GT, Comparator.GE)
# character(n) is declared with its length, and compared without its blanks; labels are short.
_SHORT = (SqlType.BPCHAR, SqlType.ENUM)


def with_beginnings(block: BlockPlan, characters: int) -> BlockPlan:
    """The block with so many characters of each stored text that is gone through; itself, if none is."""

    def cut(expression: Expression) -> Expression:
        return rebuild(expression, lambda part: _cut(part, characters))

    def maybe(expression: Expression | None) -> Expression | None:
        return None if expression is None else cut(expression)

    changed = replace(
        block,
        source=rewrite(block.source, cut),
        where=maybe(block.where),
        keys=tuple(with_parts(key, expression=cut(key.expression)) for key in block.keys),
        releases=tuple(_release(one, cut) for one in block.releases),
    )
    return block if changed == block else replace(changed, text_characters=characters)


def _release(release: Release, cut: Callable[[Expression], Expression]) -> Release:
    def maybe(part: Expression | None) -> Expression | None:
        return None if part is None else cut(part)

    def measured(one: Measured) -> Measured:
        return replace(one, operand=cut(one.operand), condition=maybe(one.condition))

    match release:
        case NoisyStatistic(of=Counted() as counted):
            operand, condition = maybe(counted.operand), maybe(counted.condition)
            return replace(release, of=replace(counted, operand=operand, condition=condition))
        case NoisyStatistic(of=tuple() as several):
            return replace(release, of=tuple(map(measured, several)))
        case DistinctCount():
            operand = cut(release.operand)
            return replace(release, operand=operand, condition=maybe(release.condition))
        case RecentredMean() | OrderStatistic() | SampleAggregate():
            return replace(release, measured=measured(release.measured))
        case _:
            raise AssertionError("a release of another kind")


def _cut(part: Expression, characters: int) -> Expression:
    def short(operand: Expression) -> Expression:
        kind = operand.type
        if kind is None or not kind.is_text or kind in _SHORT:
            return operand
        if isinstance(operand, Constant | Parameter | TextCall | Concat):
            return operand
        most = Constant(Fraction(characters), SqlType.INT4)
        return TextCall(TextFunction.LEFT, operand, (most,), SqlType.TEXT)

    match part:
        case Like():
            return with_parts(part, operand=short(part.operand))
        case TextCall() if part.function is not TextFunction.LEFT:
            return with_parts(part, operand=short(part.operand))
        case Comparison() if part.comparator in _ORDERED:
            return with_parts(part, left=short(part.left), right=short(part.right))
        case Concat():
            return with_parts(part, operands=tuple(map(short, part.operands)))
        case Choose() if part.choice is not Choice.COALESCE:
            return with_parts(part, operands=tuple(map(short, part.operands)))
        case _:
            return part
