"""The typed question: what one statement asks of protected tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from proxy.base.result_columns import IntervalColumn
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import (
    Connective,
    Constant,
    Expression,
    In,
    InPublic,
    Like,
    Parameter,
)
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import Relation, rewrite
from proxy.query.ir.typing_rules import settle
from proxy.query.syntax.placeholders import ClientArray, ClientParameter, ScalarAnswer


@dataclass(frozen=True, slots=True)
class Key:
    """A GROUP BY key; type_name as PostgreSQL prints it, for the column of the noisy relation."""

    expression: Expression
    type: SqlType
    type_name: str
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """An output column of the statement. expression: over the answers, of which its error is known; None where
    nothing noisy is in it, or, with a reason, where it is not known."""

    name: str
    expression: NoisyExpression | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AggregateBlock:
    """One SELECT that aggregates rows of protected tables.

    grouped: has GROUP BY (or DISTINCT): one row per group instead of exactly one row.
    intervals: the extra columns asked for by dp.low, dp.high and dp.error. expressions: arithmetic over the
    aggregates of which they are asked; their numbers in `intervals` follow those of the aggregates.
    outputs: the columns of the statement's result, if this SELECT gives them.
    """

    source: Relation
    where: Expression | None
    keys: tuple[Key, ...]
    grouped: bool
    aggregates: tuple[Aggregate, ...]
    intervals: frozenset[IntervalColumn] = frozenset()
    expressions: tuple[NoisyExpression, ...] = ()
    outputs: tuple[OutputColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class Scalar:
    """The single answer of an earlier block, which stands in a later one as a parameter."""

    answer: ScalarAnswer
    block: int  # index into Query.blocks


@dataclass(frozen=True, slots=True)
class Query:
    """All blocks of a statement; a block whose answer stands in another comes before it."""

    blocks: tuple[AggregateBlock, ...]
    scalars: tuple[Scalar, ...] = ()


# By number: a constant; of an array each of its elements.
Values = Mapping[int, Constant | tuple[Constant, ...]]


def bind(block: AggregateBlock, values: Values) -> AggregateBlock:
    """The block with the client's parameters, and what the shadow has evaluated, replaced by constants; a text
    that the question casts ($1::date) is read as that type.

    Refuses  SYNTAX: text that is no value of the type
    """

    def change(part: Expression) -> Expression:
        if isinstance(part, In):
            return _listed(part, values)
        if isinstance(part, Like):
            return _patterns(part, values)
        if isinstance(part, InPublic) and part.condition is not None:
            return replace(part, condition=rebuild(part.condition, change))
        if not isinstance(part, Parameter) or not isinstance(part.source, ClientParameter):
            return part
        found = values.get(part.source.number)
        if not isinstance(found, Constant):
            return part
        if found.type is part.type:
            return found
        return settle(Constant(found.value, None, part.position), part.type)

    def again(part: Expression) -> Expression:
        return rebuild(part, change)

    return changed(block, again)


def _listed(part: In, values: Values) -> Expression:
    """With the elements of an array; of one that is NULL nothing is known, in an empty one is nothing."""
    array = part.items[0] if part.items else None
    if not isinstance(array, Parameter) or not isinstance(array.source, ClientArray):
        return part
    elements = values.get(array.source.number)
    if elements is None:
        return part
    if isinstance(elements, Constant):
        return Constant(None, SqlType.BOOL, array.position)
    if not elements:
        return Constant(False, SqlType.BOOL, array.position)
    return replace(part, items=elements)


def _patterns(part: Like, values: Values) -> Expression:
    """A condition for each element of an array of patterns."""
    array = part.pattern.source if isinstance(part.pattern, Parameter) else None
    elements = values.get(array.number) if isinstance(array, ClientArray) else None
    if elements is None or not isinstance(array, ClientArray):
        return part
    if isinstance(elements, Constant):
        return Constant(None, SqlType.BOOL)
    each = tuple(replace(part, pattern=element) for element in elements)
    if len(each) < 2:
        return each[0] if each else Constant(array.is_all, SqlType.BOOL)
    return Connective("AND" if array.is_all else "OR", each)


def parameters_of(block: AggregateBlock) -> frozenset[int]:
    """The numbers of what is to be bound in it."""
    found: set[int] = set()

    def visit(part: Expression) -> Expression:
        if isinstance(part, Parameter) and isinstance(part.source, ClientParameter | ClientArray):
            found.add(part.source.number)
        return part

    changed(block, lambda part: rebuild(part, visit))
    return frozenset(found)


def uses_answers(block: AggregateBlock) -> bool:
    """Whether anything in it is compared with the answer of an earlier block."""
    found = False

    def visit(part: Expression) -> Expression:
        nonlocal found
        found |= isinstance(part, Parameter) and isinstance(part.source, ScalarAnswer)
        return part

    changed(block, lambda part: rebuild(part, visit))
    return found


def changed(block: AggregateBlock, change: Callable[[Expression], Expression]) -> AggregateBlock:
    """The block with every expression in it changed."""
    return replace(
        block,
        source=rewrite(block.source, change),
        where=None if block.where is None else change(block.where),
        keys=tuple(replace(key, expression=change(key.expression)) for key in block.keys),
        aggregates=tuple(aggregate.changed(change) for aggregate in block.aggregates),
    )
