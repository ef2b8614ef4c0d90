"""What binding finds in a statement: its typed query, and what stands where in its text. Plain data.

Binding changes no text; rewriting is a function of the statement and of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from proxy.base.result_columns import IntervalEnd
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query import AggregateBlock, Key, Query, Scalar
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.selects import Select, Span


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A GROUP BY key, written again. cast_to: the type of what is written, where that of the key is another."""

    key: Key
    cast_to: str = ""


@dataclass(frozen=True, slots=True)
class IntervalValue:
    """dp.low, dp.high, dp.error or dp.clipped of an aggregate."""

    end: IntervalEnd
    aggregate: Aggregate


@dataclass(frozen=True, slots=True)
class ExpressionInterval:
    """dp.low, dp.high or dp.error of arithmetic over aggregates."""

    end: IntervalEnd
    expression: NoisyExpression


@dataclass(frozen=True, slots=True)
class GroupingValue:
    """GROUPING(): a bit for each of the keys, 1 in the levels that do not group by it."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class AnswerArray:
    """An array of answers, or of ends of their intervals: percentile_cont(ARRAY[...]). Each is a release."""

    parts: tuple[Aggregate | IntervalValue, ...]


@dataclass(frozen=True, slots=True)
class SureTruth:
    """bool_or or bool_and: true, false: how many rows are so, and how many are not, of which it says whether
    they are more than their noise."""

    is_or: bool
    true: Aggregate
    false: Aggregate

    @property
    def asked(self) -> Aggregate:
        """The number of rows of which one decides: of bool_or those that are so, of bool_and the others."""
        return self.true if self.is_or else self.false

    @property
    def others(self) -> Aggregate:
        return self.false if self.is_or else self.true


OneValue = Aggregate | KeyValue | IntervalValue | ExpressionInterval | GroupingValue
SpanMeaning = OneValue | AnswerArray | SureTruth

Level = tuple[int, ...]  # the places of its keys among those of the block, from 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsingColumns:
    """USING (...) of a join with answers. span: with the word; pairs: a key of the rows, and the column of the
    answers, of which each has the name."""

    span: Span
    pairs: tuple[tuple[Key, str], ...]
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedText:
    """What stays of the text of a SELECT in which rows are joined or compared with answers: all but these.

    rows: the lexemes of FROM that the noisy relation replaces; settled: conditions on rows alone, which hold of
    all that the noisy relation counts; is_summed: the SELECT adds up groups of the noisy relation, in its own;
    of_answers: what it groups by else; prefix: what the columns of the noisy relation begin with there.
    """

    rows: Span
    settled: tuple[Span, ...]
    using: tuple[UsingColumns, ...]
    is_summed: bool
    of_answers: tuple[Span, ...] = ()
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateSubquery:
    """One SELECT that aggregates rows of protected tables, and what stands in it.

    number: of its first block in the statement, from 1, in the order in which they are answered; those that
    ask the same have one; block: with the keys of all levels; spans: lexemes -> the value of the noisy relation
    that they mean; unnamed: the items of its list without an alias, and those of subqueries in it that may be
    named by a key; is_constant: it stands in a condition or an aggregate of another, whose text does not stay;
    levels: of GROUPING SETS, ROLLUP and CUBE, as often as they are written; one where it has none of them.
    """

    number: int
    select: Select
    block: AggregateBlock
    spans: Mapping[Span, SpanMeaning]
    unnamed: tuple[Span, ...]
    is_constant: bool
    levels: tuple[Level, ...]

    @property
    def distinct_levels(self) -> tuple[Level, ...]:
        return tuple(dict.fromkeys(self.levels))

    @property
    def blocks(self) -> tuple[AggregateBlock, ...]:
        """What is asked of the data: a block for each level, each a release of its own (ADR 0051)."""
        if len(self.levels) == 1:
            return (self.block,)
        return tuple(
            replace(
                self.block,
                keys=tuple(self.block.keys[place] for place in level),
                grouped=bool(level),
            )
            for level in self.distinct_levels
        )

    joined: JoinedText | None = None


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """All aggregate subqueries of a statement; one whose answer stands in another comes before it. offsets:
    parameters that are an OFFSET of rows, which may skip none."""

    subqueries: tuple[AggregateSubquery, ...]
    scalars: tuple[Scalar, ...]
    offsets: frozenset[int] = frozenset()

    @property
    def query(self) -> Query:
        return Query(blocks_of(self.subqueries), self.scalars)


def blocks_of(subqueries: Iterable[AggregateSubquery]) -> tuple[AggregateBlock, ...]:
    """All blocks of a statement. Those of several subqueries that ask the same are there once."""
    first: dict[int, AggregateSubquery] = {}
    for subquery in subqueries:
        first.setdefault(subquery.number, subquery)
    return tuple(block for subquery in first.values() for block in subquery.blocks)
