"""A statement in canonical form as a typed query: which SELECTs ask for answers, and what they ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import IntervalColumn, IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.query.bind.added_rows import check_added_rows
from proxy.query.bind.expression_reading import exact, shallow
from proxy.query.canonical import trees
from proxy.query.canonical.aggregates import read_aggregate
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.constants import NO_CONSTANTS, KnownConstants, made_constants
from proxy.query.canonical.context import Ctes, StatementContext, cte_of, with_ctes
from proxy.query.canonical.expression_nodes import read
from proxy.query.canonical.grouping import key_sets
from proxy.query.canonical.noisy_trees import NoisyTreeReader
from proxy.query.canonical.query_grammar import parse_canonical
from proxy.query.canonical.relation_reader import RelationReader, RowsOrAnswers, leaves
from proxy.query.canonical.rows_meeting_answers import MetRows, met_rows
from proxy.query.canonical.visible_names import VisibleNames
from proxy.query.canonical.walk import (
    has_aggregate,
    is_aggregate,
    parts,
    subqueries,
    uncovered,
    unknown_relations,
)
from proxy.query.ir.bound_statement import (
    AnswerArray,
    ExpressionInterval,
    GroupingValue,
    IntervalValue,
    KeyValue,
    Level,
    SpanMeaning,
    SureTruth,
)
from proxy.query.ir.exposed import Exposed
from proxy.query.ir.expressions import Parameter
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyExpression, answers_in
from proxy.query.ir.query import AggregateBlock, Key, Query, Scalar
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.syntax.placeholders import ScalarAnswer

_ENDS: Mapping[str, IntervalEnd] = {f"dp.{end.name.lower()}": end for end in IntervalEnd}
_SUMMED = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.SUM)
_WHOLE = frozenset(_ENDS)


def read_canonical(
    text: str,
    tables: Mapping[TableName, Exposed],
    parameters: tuple[SqlType, ...] = (),
    constants: KnownConstants = NO_CONSTANTS,
) -> CanonicalReading:
    """Read a statement in canonical form.

    Args:
        text: As dp.canonical() writes it.
        tables: Of the policy, with all columns that the shadow has, in its order.
        parameters: Types of $1, $2, ...
        constants: What the shadow evaluates of `constants_in` it.

    Raises:
        Refusal: RAW_ROWS, UNSUPPORTED, FUNCTION, COLUMN_NOT_USABLE, SYNTAX, TOO_COMPLEX.
    """
    enumerations = {
        column.enumeration.written: column.enumeration.labels
        for table in tables.values()
        for column in table.columns.values()
        if column.enumeration is not None
    }
    context = StatementContext(tables, parameters, enumerations, constants)
    reader = _AnswersReader(RelationReader(context))
    tree = parse_canonical(text)
    reader.read(tree, {})
    query = Query(tuple(reader.blocks), tuple(reader.scalars))
    return CanonicalReading(tree=tree, query=query, answered=reader.answered)


def constants_in(text: str) -> tuple[str, ...]:
    """The expressions of a statement in canonical form that the shadow can evaluate before it is read."""
    return made_constants(parse_canonical(text))


@dataclass(slots=True)
class _Asked:
    """What a SELECT asks besides its keys: aggregates in order, what is asked of their intervals, and what each
    call means."""

    aggregates: dict[Aggregate, None] = field(default_factory=dict)
    intervals: list[tuple[IntervalEnd, Aggregate | NoisyExpression]] = field(default_factory=list)
    meanings: dict[trees.Tree, SpanMeaning] = field(default_factory=dict)

    @property
    def has_truths(self) -> bool:
        return any(isinstance(one, SureTruth) for one in self.meanings.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredSelect:
    """A SELECT that asks for answers.

    Attributes:
        number: Of its first block in the statement, from 1.
        block: With the keys of all levels.
        meanings: Of its keys and calls.
        levels: As of AggregateSubquery.
    """

    select: trees.SelectTree
    number: int
    block: AggregateBlock
    meanings: Mapping[trees.Tree, SpanMeaning]
    levels: tuple[Level, ...]
    met: MetRows | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalReading:
    """answered: By the identity of their SELECTs in the tree."""

    tree: trees.QueryTree
    query: Query
    answered: Mapping[int, AnsweredSelect]


class _AnswersReader:
    def __init__(self, relations: RelationReader) -> None:
        self._relations = relations
        self._context = relations.context
        self._seen: dict[int, int] = {}
        self._kept: list[trees.QueryTree] = []
        self.blocks: list[AggregateBlock] = []
        self.scalars: list[Scalar] = []
        self.answered: dict[int, AnsweredSelect] = {}
        relations.answers = self._scalar

    def read(self, query: trees.QueryTree, ctes: Ctes) -> None:
        """Add all blocks of a query, those of which others need the answers first."""
        if id(query) in self._seen:
            return
        self._seen[id(query)] = -1
        self._kept.append(query)
        inner = with_ctes(query, ctes)
        match query:
            case trees.ValuesTree():
                self._read_subqueries(query.rows, inner)
            case trees.SetTree():
                for part in query.parts:
                    self.read(part, inner)
            case trees.SelectTree():
                self._read_select(query, inner)

    def _read_select(self, select: trees.SelectTree, ctes: Ctes) -> None:
        nature = self._relations.nature(select, ctes)
        if nature is RowsOrAnswers.ROWS:
            raise Refusal(
                Code.RAW_ROWS,
                "rows of a protected table cannot be returned, only aggregates of them",
                "Use aggregates of them.",
            )
        for item in leaves(select.source):
            self._read_below(item, ctes)
        if nature is RowsOrAnswers.ANSWERS:
            self._read_subqueries(self._beside_answers(select), ctes)
            self._seen[id(select)] = len(self.blocks)
            self._add(select, ctes)
            return
        every = (select.items, select.where, select.having, select.group, select.ending)
        if any(isinstance(one, trees.Call) and one.name in _ENDS for one in parts(every)):
            raise unread("dp.error() and its like of anything but aggregates of a protected table")
        self._read_subqueries(every, ctes)

    def _read_below(self, item: trees.FromItem, ctes: Ctes) -> None:
        query, around = None, ctes
        if isinstance(item, trees.QueryInFrom):
            query = item.query
        elif isinstance(item, trees.FunctionInFrom) and any(subqueries(item.call)):
            raise unread("a subquery as an argument of a function in FROM")
        elif isinstance(item, trees.TableInFrom):
            cte = cte_of(item, ctes)
            query, around = (None, ctes) if cte is None else (cte.tree.query, cte.around)
        if query is not None and self._relations.nature(query, around) is not RowsOrAnswers.ROWS:
            self.read(query, around)

    def _read_subqueries(self, tree: object, ctes: Ctes) -> None:
        for query in subqueries(tree):
            self.read(query, ctes)

    def _beside_answers(self, select: trees.SelectTree) -> tuple[trees.Tree, ...]:
        """Subqueries of which the answers stay beside those of this SELECT."""
        keys = tuple(tree for level in self._levels(select) for tree in level)
        ending = tuple(one.operand for one in select.ending.order)
        every = (*(tree for tree, _ in select.items), select.having, *ending)
        return tuple(
            part
            for tree in every
            if tree is not None
            for part in uncovered(tree, keys, _WHOLE)
            if isinstance(
                part, trees.ScalarQuery | trees.ExistsQuery | trees.InQuery | trees.ArrayQuery
            )
        )

    def _scalar(self, query: trees.QueryTree, ctes: Ctes) -> Parameter | None:
        """The one answer of a subquery that names no row around it."""
        if (
            not isinstance(query, trees.SelectTree)
            or self._relations.nature(query, ctes) is not RowsOrAnswers.ANSWERS
        ):
            raise unread("this subquery in a condition")
        inner = with_ctes(query, ctes)
        if unknown_relations(query):
            return None
        is_plain = not (query.group or query.having or query.is_distinct or query.ending.limit)
        tree = query.items[0][0] if len(query.items) == 1 else None
        if not is_plain or not isinstance(tree, trees.Call) or not is_aggregate(tree):
            raise unread("a subquery in a condition that is not one aggregate of a table")
        self.read(query, ctes)
        block = self._seen[id(query)]
        answer = ScalarAnswer(len(self.scalars))
        self.scalars.append(Scalar(answer, block))
        _ = inner
        return Parameter(answer, self.blocks[block].aggregates[0].type)

    # One SELECT

    def _add(self, whole: trees.SelectTree, ctes: Ctes) -> None:
        select = whole
        if select.distinct_on:
            raise unread("DISTINCT ON")
        met = self._met_rows(select, ctes)
        levels = self._levels(select)
        grouped = bool(select.group) or select.is_distinct
        answers: frozenset[str] = frozenset()
        if met is not None:
            self._read_subqueries(met.retained, ctes)
            levels, grouped, answers = (met.keys,), bool(met.keys), met.answers
            select = replace(select, source=(met.rows,), where=_conjunction(met.settled))
        relation, scope = self._relations.source(select, ctes)
        relation, where = self._relations.where(select.where, relation, scope)
        written = dict.fromkeys(tree for level in levels for tree in level)
        keys = {tree: _key(tree, scope) for tree in written}
        _check_levels(levels, keys, [tree for tree, _ in select.items])
        _check_named(self._beside_answers(whole), tuple(keys), answers)
        asked = self._asked(select, scope, keys, answers)
        if len(asked.aggregates) > limits.RELEASES_PER_STATEMENT:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"more than {limits.RELEASES_PER_STATEMENT} different aggregates in one statement",
                "Ask several questions.",
            )
        if met is not None and met.is_summed:
            _refuse_unsummed(asked)
        if not (grouped or met) and not asked.aggregates:
            raise Refusal(
                Code.RAW_ROWS, "rows of a protected table cannot be read", "Use aggregates."
            )
        expressions = tuple(
            dict.fromkeys(of for _, of in asked.intervals if not isinstance(of, Aggregate))
        )
        numbers = {of: n for n, of in enumerate((*asked.aggregates, *expressions), start=1)}
        by_expression = {key.expression: key for key in keys.values()}
        block = AggregateBlock(
            scope.joined(relation),
            where,
            tuple(by_expression.values()),
            grouped,
            tuple(asked.aggregates),
            frozenset(IntervalColumn(end, numbers[of]) for end, of in asked.intervals),
            expressions,
            is_summed=met is not None and met.is_summed,
            has_truths=asked.has_truths,
        )
        check_added_rows(block)
        places = {key.expression: place for place, key in enumerate(block.keys)}
        numbered = [
            tuple(sorted({places[keys[tree].expression] for tree in level})) for level in levels
        ]
        asked.meanings |= {
            tree: KeyValue(by_expression[key.expression]) for tree, key in keys.items()
        }
        self.answered[id(whole)] = AnsweredSelect(
            select=whole,
            number=len(self.blocks) + 1,
            block=block,
            meanings=asked.meanings,
            levels=tuple(numbered),
            met=met,
        )
        self.blocks += _of_levels(block, numbered)

    def _levels(self, select: trees.SelectTree) -> tuple[tuple[trees.Tree, ...], ...]:
        if select.group:
            return key_sets(select)
        if select.is_distinct and not has_aggregate(select.items):
            return (tuple(tree for tree, _ in select.items),)
        return ((),)

    def _met_rows(self, select: trees.SelectTree, ctes: Ctes) -> MetRows | None:
        relations = self._relations
        return met_rows(
            select,
            ctes,
            relations.answers_in(select.source, ctes),
            lambda query: relations.lists_answers(query, ctes),
        )

    def _asked(
        self,
        select: trees.SelectTree,
        scope: VisibleNames,
        keys: Mapping[trees.Tree, Key],
        answers: frozenset[str],
    ) -> _Asked:
        asked = _Asked()
        every = [
            *(tree for tree, _ in select.items),
            *([] if select.having is None else [select.having]),
            *(one.operand for one in select.ending.order),
        ]
        for tree in every:
            for part in uncovered(tree, tuple(keys), _WHOLE):
                if isinstance(part, trees.GroupingOf):
                    values = tuple(keys[one] for one in part.keys)
                    asked.meanings[part] = GroupingValue(values)
                elif not isinstance(part, trees.ColumnName) or part.relation not in answers:
                    self._take(part, scope, asked)
        return asked

    def _take(self, part: object, scope: VisibleNames, asked: _Asked) -> None:
        match part:
            case trees.Call(name=name) if name in _ENDS:
                self._interval(part, scope, asked)
            case trees.Call() if is_aggregate(part):
                self._aggregates(part, scope, asked)
            case trees.ColumnName() | trees.WholeRow():
                raise Refusal(
                    Code.RAW_ROWS,
                    f'"{getattr(part, "column", "a row")}" can only be read inside an aggregate or as a key',
                    "Make it a key of the groups, or aggregate it.",
                )

    def _aggregates(
        self, call: trees.Call, scope: VisibleNames, asked: _Asked
    ) -> tuple[Aggregate, ...]:
        found = read_aggregate(call, scope)
        match found:
            case Aggregate():
                several: tuple[Aggregate, ...] = (found,)
            case SureTruth():
                several = (found.true, found.false)
                asked.intervals += [(IntervalEnd.LOW, one) for one in several]
            case tuple():
                several = found
        for one in several:
            asked.aggregates.setdefault(one)
        asked.meanings[call] = AnswerArray(found) if isinstance(found, tuple) else found
        return several

    def _interval(self, call: trees.Call, scope: VisibleNames, asked: _Asked) -> None:
        """dp.low, dp.high, dp.error or dp.clipped."""
        end = _ENDS[call.name]
        if len(call.arguments) != 1:
            raise unread(f"{call.name} of several arguments")
        of = call.arguments[0]
        if isinstance(of, trees.Call) and is_aggregate(of):
            found = self._aggregates(of, scope, asked)
            if isinstance(asked.meanings[of], SureTruth):
                raise unread(f"{call.name} of bool_or() and its like")
            asked.intervals += [(end, one) for one in found]
            values = tuple(IntervalValue(end, one) for one in found)
            is_array = isinstance(asked.meanings[of], AnswerArray)
            asked.meanings[call] = AnswerArray(values) if is_array else values[0]
            return

        def answer(part: trees.Call) -> AnswerOf:
            (aggregate,) = self._aggregates(part, scope, asked)
            return AnswerOf(list(asked.aggregates).index(aggregate) + 1, aggregate.type)

        expression = NoisyTreeReader(answer).read(of)
        if not answers_in(expression):
            raise unread(f"{call.name} of no aggregate")
        asked.intervals.append((end, expression))
        asked.meanings[call] = ExpressionInterval(end, expression)


def _conjunction(parts_of: Sequence[trees.Tree]) -> trees.Tree | None:
    if len(parts_of) < 2:
        return parts_of[0] if parts_of else None
    return trees.Junction("AND", tuple(parts_of))


def _check_named(
    beside: Sequence[object], keys: Sequence[trees.Tree], answers: frozenset[str]
) -> None:
    """Subqueries beside answers may name keys of these and no other column of the rows."""
    for query in subqueries(tuple(beside)):
        around = unknown_relations(query) - answers
        inside = tuple(parts(query, with_queries=True))
        named = {one for one in inside if isinstance(one, trees.ColumnName | trees.WholeRow)}
        of_rows = {one for one in named if one.relation in around}
        if any(one not in keys for one in of_rows):
            raise Refusal(
                Code.RAW_ROWS,
                "a subquery can only name columns of the row around it that are in GROUP BY",
                "Make the column a key of the groups.",
            )
        # Such an aggregate is one of the SELECT around it; a merged column may be, of which nothing says it.
        within = (named.intersection(parts(one)) for one in inside if is_aggregate(one))
        if any(one and one <= of_rows for one in within) or any(not one.relation for one in named):
            raise unread("an aggregate of columns of the row around a subquery")


def _refuse_unsummed(asked: _Asked) -> None:
    if asked.intervals:
        raise unread("the error of answers that are added up")
    for aggregate in asked.aggregates:
        if aggregate.kind not in _SUMMED:
            raise unread(
                f"{aggregate.kind.value} added up over groups that are joined with answers"
            )


def _check_levels(
    levels: Sequence[Sequence[trees.Tree]],
    keys: Mapping[trees.Tree, Key],
    items: Sequence[trees.Tree],
) -> None:
    """In a level that has one of two equal keys only, the other is NULL, whatever their values are."""
    plain = [list(level) for level in levels]
    places: dict[Key, set[tuple[int, ...]]] = {}
    is_partial = False
    for tree, key in keys.items():
        # How often a level has it, as two items of one expression are two keys to PostgreSQL.
        within = tuple(level.count(tree) for level in plain)
        places.setdefault(replace(key, type_name=""), set()).add(within)
        is_partial |= 0 in within and max(within) > 1 and items.count(tree) > 1
    if is_partial or any(len(one) > 1 for one in places.values()):
        raise unread(
            "a key that is written in two ways, of which some grouping sets have only one,"
        )


def _of_levels(block: AggregateBlock, levels: Sequence[Level]) -> list[AggregateBlock]:
    """A block for each level of GROUPING SETS, each a release of its own (ADR 0051)."""
    if len(levels) == 1:
        return [block]
    return [
        replace(block, keys=tuple(block.keys[place] for place in level), grouped=bool(level))
        for level in dict.fromkeys(levels)
    ]


def _key(tree: trees.Tree, scope: VisibleNames) -> Key:
    value = read(tree, scope)
    expression = exact(shallow(value.exact()))
    return Key(expression, expression.type or value.type, value.name)
