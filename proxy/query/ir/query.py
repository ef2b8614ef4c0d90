"""The typed question: what one statement asks of protected tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from proxy.base.result_columns import IntervalColumn, IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import Comparison, Expression, Parameter
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.rebuilding import changed_aggregate, each_changed, rebuild, rewrite, with_parts
from proxy.query.ir.relations import Relation
from proxy.query.syntax.placeholders import ScalarAnswer


@dataclass(frozen=True, slots=True)
class Key:
    """A GROUP BY key; type_name as PostgreSQL prints it, for the column of the noisy relation."""

    expression: Expression
    type: SqlType
    type_name: str
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AggregateBlock:
    """One SELECT that aggregates rows of protected tables.

    grouped: has GROUP BY (or DISTINCT): one row per group instead of exactly one row.
    intervals: the extra columns asked for by dp.low, dp.high and dp.error. expressions: arithmetic over the
    aggregates of which they are asked; their numbers in `intervals` follow those of the aggregates.
    outputs: the columns of the statement's result, if this SELECT gives them; inner_outputs: its columns, if
    not; outer_outputs: those of the result, if the query around has the rows of this SELECT. is_summed: its
    groups are parts of those that the statement shows, and are added up. has_truths: some counts are only asked
    whether they are more than their noise. top: LIMIT cuts the list in a noisy order. row_choices: other
    clauses that leave out groups. compared_keys: keys that such a clause compares with literals.
    """

    source: Relation
    where: Expression | None
    keys: tuple[Key, ...]
    grouped: bool
    aggregates: tuple[Aggregate, ...]
    intervals: frozenset[IntervalColumn] = frozenset()
    expressions: tuple[NoisyExpression, ...] = ()
    outputs: tuple[OutputColumn, ...] = ()
    is_summed: bool = False
    has_truths: bool = False
    top: TopList | None = None
    inner_outputs: tuple[OutputColumn, ...] = field(default=(), compare=False)
    outer_outputs: tuple[OutputColumn, ...] = field(default=(), compare=False)
    row_choices: tuple[RowChoice, ...] = ()
    compared_keys: tuple[Comparison, ...] = field(default=(), compare=False)


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


def uses_answers(block: AggregateBlock) -> bool:
    """Whether anything in it is compared with the answer of an earlier block."""
    found = False

    def visit(part: Expression) -> Expression:
        nonlocal found
        found |= isinstance(part, Parameter) and isinstance(part.source, ScalarAnswer)
        return part

    changed(block, lambda part: rebuild(part, visit))
    return found


def compared_answers(block: AggregateBlock) -> frozenset[int]:
    """The aggregates, by number from 1, of which rows are compared with the answer of an earlier block: all if
    the rows or groups of the block are, else those whose own operand or condition is. 0: the groups of a block
    without aggregates."""
    if not uses_answers(block):
        return frozenset()
    rows = with_parts(block, aggregates=())
    numbers = range(1, len(block.aggregates) + 1)
    if uses_answers(rows):
        return frozenset(numbers or (0,))
    return frozenset(
        number
        for number, one in zip(numbers, block.aggregates, strict=True)
        if uses_answers(with_parts(rows, aggregates=(one,)))
    )


def changed(block: AggregateBlock, change: Callable[[Expression], Expression]) -> AggregateBlock:
    """The block with every expression in it changed."""

    def of_key(key: Key) -> Key:
        return with_parts(key, expression=change(key.expression))

    return with_parts(
        block,
        source=rewrite(block.source, change),
        where=None if block.where is None else change(block.where),
        keys=each_changed(block.keys, of_key),
        aggregates=each_changed(block.aggregates, lambda one: changed_aggregate(one, change)),
    )


# What a statement shows of the answers: its columns, and which groups or rows it leaves out.


OF_A_RANK = "a place in an order of noisy numbers: rows that differ by less than their errors may change places"
COMPUTED_AROUND = "a query around the SELECT that aggregates computes it: its error is not known"


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """An output column of the statement. expression: over the answers, of which its error is known; None where
    nothing noisy is in it, or, with a reason, where it is not known. written: SQL of a bare aggregate, in the
    words of the statement. is_order: all rows are shown, in its order."""

    name: str
    expression: NoisyExpression | None
    reason: str = ""
    written: str = field(default="", compare=False, repr=False)
    is_order: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyComparison:
    """comparator: < <= > >= = or <>, between an expression over noisy answers and a number. end: it is that end
    of its interval, or the half width, that is compared; None: the expression itself."""

    left: NoisyExpression
    comparator: str
    number: Fraction
    end: IntervalEnd | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChoice:
    """A clause that leaves out some groups.

    clause: Its name. is_noisy: Whether noise has a part in which groups pass.
    comparisons: A group passes if all hold. None: only the run knows which pass.
    """

    clause: str
    is_noisy: bool = True
    comparisons: tuple[NoisyComparison, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopList:
    """A list that LIMIT cuts in a noisy order.

    output: The output column in whose order it is, from 1. rows: How many are shown. Both are None if only the
        run decides that: HAVING, OFFSET, a parameter, a query around it.
    is_descending: None if it is not known. has_nulls_first: NULLS FIRST or LAST is written. None:
        PostgreSQL's default, where NULL is larger than all numbers.
    """

    output: int | None = None
    is_descending: bool | None = None
    rows: int | None = None
    has_nulls_first: bool | None = None

    @property
    def nulls_first(self) -> bool:
        """Whether NULL comes before all numbers."""
        return bool(self.is_descending if self.has_nulls_first is None else self.has_nulls_first)
