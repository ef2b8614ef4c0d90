"""Clauses that leave out groups, and the order in which a list is cut: HAVING, LIMIT, WHERE around."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from proxy.base.errors import Refusal
from proxy.base.result_columns import IntervalEnd
from proxy.query.canonical import trees
from proxy.query.canonical.columns_of_answers import (
    Items,
    NoisyColumns,
    items_by_name,
    output_name,
    within,
)
from proxy.query.canonical.grouping import whole_number
from proxy.query.canonical.rows_meeting_answers import conjuncts
from proxy.query.canonical.values import is_widening
from proxy.query.canonical.walk import parts
from proxy.query.ir.bound_statement import ExpressionInterval, IntervalValue
from proxy.query.ir.noisy_expressions import (
    NoisyCast,
    NoisyExpression,
    NoisyWindow,
    PublicNumber,
    answers_in,
    parts_of,
)
from proxy.query.ir.query import NoisyComparison, OutputColumn, RowChoice, TopList

DISTINCT_ON = "DISTINCT ON"
TOP = "ORDER BY with LIMIT"
_ENDS = {
    "dp.low": IntervalEnd.LOW,
    "dp.high": IntervalEnd.HIGH,
    "dp.error": IntervalEnd.ERROR,
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
# What has a value where an answer in it is NULL.
_ANSWERS_OF_NULL = ("COALESCE", "GREATEST", "LEAST")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChoices:
    """
    Attributes:
        of: The SELECT that asks for answers.
        listed: Its columns.
        result: The SELECT that gives the statement's rows, if it is one.
        around: Those over answers that may have its groups, inner ones first.
        plain: The result, if it gives the rows of this SELECT and nothing else.
        queries: What a name without a schema reads.
    """

    of: NoisyColumns
    listed: tuple[OutputColumn, ...]
    result: trees.SelectTree | None
    around: Sequence[trees.SelectTree]
    plain: trees.SelectTree | None
    queries: Callable[[trees.FromItem], trees.QueryTree | None]

    @property
    def is_result(self) -> bool:
        return self.result is self.of.select

    def top_list(self, outer: Sequence[OutputColumn]) -> TopList | None:
        """ORDER BY and LIMIT of the SELECT, and of a query around it. None: no list is cut in a noisy order."""
        select = self.of.select
        if not is_cut(select):
            return None if self.is_result else self._top_around(outer)
        term = select.ending.order[0]
        place = _place(select, term) if self.is_result else None
        if place is None:
            is_noisy = self.of.is_noisy(term.operand)
            return TopList(is_descending=term.is_descending) if is_noisy else None
        return _of_column(self.listed, place, term, self._shown_rows(select))

    def _shown_rows(self, select: trees.SelectTree) -> int | None:
        """After how many rows a list is cut, if these are the first ones of all groups."""
        ending = select.ending
        if select.is_distinct or ending.has_ties or ending.offset or select.having:
            return None
        return None if self.of.has_levels else whole_number(ending.limit)

    def _top_around(self, outer: Sequence[OutputColumn]) -> TopList | None:
        result = self.result
        if result is None or not is_cut(result) or not self.of.select.group:
            return None
        term = result.ending.order[0]
        place = _place(result, term) if outer else None
        if place is None:
            return TopList()
        is_filtered = result.where is not None or self.of.select.having is not None
        return _of_column(outer, place, term, None if is_filtered else self._shown_rows(result))

    def row_choices(self, top: TopList | None) -> tuple[RowChoice, ...]:
        """What leaves out groups: the clauses of the SELECT, and those of queries around it."""
        return (*self._own(top), *self._around(top))

    def _own(self, top: TopList | None) -> Iterator[RowChoice]:
        select = self.of.select
        if select.having is not None:
            is_noisy = self.of.is_noisy(select.having)
            found = self._comparisons(select.having, lambda tree: tree) if is_noisy else None
            yield RowChoice(clause="HAVING", is_noisy=is_noisy, comparisons=found)
        if select.distinct_on:
            order = (select.distinct_on, tuple(one.operand for one in select.ending.order))
            yield RowChoice(clause=DISTINCT_ON, is_noisy=self.of.is_noisy(order))
        if top is None and _has_limit(select):
            yield RowChoice(clause="LIMIT", is_noisy=False)

    def _around(self, top: TopList | None) -> Iterator[RowChoice]:
        inner = items_by_name(self.of.select, self.listed)

        def inside(tree: trees.Tree) -> trees.Tree | None:
            named = {one.column for one in parts(tree) if isinstance(one, trees.ColumnName)}
            return within(tree, inner) if named <= inner.keys() else None

        for select in self.around:
            clauses = (("WHERE", select.where), ("HAVING", select.having))
            for clause, tree in clauses:
                if tree is None:
                    continue
                is_noisy = self._is_noisy(tree, select)
                found = None
                if is_noisy and select is self.plain:
                    found = self._comparisons(tree, inside)
                yield RowChoice(clause=clause, is_noisy=is_noisy, comparisons=found)
            order = tuple(one.operand for one in select.ending.order)
            is_ordered = self._is_noisy(order, select)
            if select.distinct_on:
                yield RowChoice(clause=DISTINCT_ON, is_noisy=is_ordered)
            elif _has_limit(select) and not (select is self.result and top is not None):
                yield RowChoice(clause=TOP, is_noisy=is_ordered)

    def _is_noisy(self, tree: object, select: trees.SelectTree) -> bool:
        """Whether noise of this SELECT is in an expression of a query around it."""
        noisy = {
            (item.alias, name)
            for item in _leaves(select.source)
            for name in self._noisy_names(item)
        }
        every = parts(tree, with_queries=True)
        return any(
            one is self.of.select
            or (isinstance(one, trees.ColumnName) and (one.relation, one.column) in noisy)
            for one in every
        )

    def _noisy_names(self, item: trees.FromItem) -> Iterator[str]:
        query = self.queries(item)
        if not isinstance(query, trees.SelectTree):
            return
        columns = getattr(item, "columns", ())
        for number, (tree, name) in enumerate(query.items):
            if query is self.of.select:
                one = self.listed[number]
                meaning = self.of.meanings.get(tree)
                is_interval = isinstance(meaning, ExpressionInterval | IntervalValue)
                is_noisy = bool(one.expression or one.reason) or is_interval
            else:
                is_noisy = self._is_noisy(tree, query)
            if is_noisy:
                yield columns[number] if number < len(columns) else output_name(tree, name)

    def _comparisons(
        self, condition: trees.Tree, inside: Callable[[trees.Tree], trees.Tree | None]
    ) -> tuple[NoisyComparison, ...] | None:
        """A condition as comparisons of which all hold; None: it is none of that form."""
        if self.of.has_levels or self.of.block.is_summed:
            return None
        found: list[NoisyComparison] = []
        for part in conjuncts(condition):
            tree = inside(part)
            if not isinstance(tree, trees.OperatorTree) or tree.operator not in _TURNED:
                return None
            calls = (one.name for one in parts(tree) if isinstance(one, trees.Call))
            if any(name in _ANSWERS_OF_NULL for name in calls) or len(tree.operands) != 2:
                return None
            one = self._comparison(tree.operator, *tree.operands)
            if one is None:
                return None
            found.append(one)
        return tuple(found)

    def _comparison(
        self, comparator: str, left: trees.Tree, right: trees.Tree
    ) -> NoisyComparison | None:
        try:
            (one, end), (other, other_end) = map(self._side, (left, right))
        except Refusal:
            return None
        if isinstance(one, PublicNumber):
            one, other, comparator, end = other, one, _TURNED[comparator], other_end
        if one is None or not isinstance(other, PublicNumber) or not _is_plain(one):
            return None
        return NoisyComparison(left=one, comparator=comparator, number=other.value, end=end)

    def _side(self, tree: trees.Tree) -> tuple[NoisyExpression | None, IntervalEnd | None]:
        """What dp.low(), dp.high() or dp.error() is asked of, and which of them."""
        while isinstance(tree, trees.CastTo):
            inner = tree.operand
            if not isinstance(inner, trees.Call) or inner.name not in _ENDS:
                break
            tree = inner
        end = None
        if isinstance(tree, trees.Call) and tree.name in _ENDS:
            end, tree = _ENDS[tree.name], tree.arguments[0]
        found = self.of.expression(tree)
        is_wide = isinstance(found, NoisyCast) and found.digits is None
        if is_wide and isinstance(found, NoisyCast) and is_widening(found.operand.type, found.type):
            found = found.operand
        return found, end


def _of_column(
    outputs: Sequence[OutputColumn], place: int, term: trees.OrderBy, rows: int | None
) -> TopList | None:
    column = outputs[place]
    if column.expression is None:
        return TopList(is_descending=term.is_descending) if column.reason else None
    if not rows:
        return TopList(is_descending=term.is_descending)
    return TopList(
        output=place + 1,
        is_descending=term.is_descending,
        rows=rows,
        has_nulls_first=term.nulls_first,
    )


def _place(select: trees.SelectTree, term: trees.OrderBy) -> int | None:
    """The place of the item by which a SELECT sorts."""
    items = [tree for tree, _ in select.items]
    return items.index(term.operand) if term.operand in items else None


def is_cut(select: trees.SelectTree) -> bool:
    """Whether LIMIT cuts a list in an order."""
    return bool(select.ending.order) and _has_rows(select)


def _has_rows(select: trees.SelectTree) -> bool:
    limit = select.ending.limit
    while isinstance(limit, trees.CastTo):
        limit = limit.operand
    return limit is not None and limit != trees.Literal(None)


def _has_limit(select: trees.SelectTree) -> bool:
    return select.ending.limit is not None or select.ending.offset is not None


def _is_plain(expression: NoisyExpression) -> bool:
    """Whether it is made of the answers of one group."""
    has_window = any(isinstance(part, NoisyWindow) for part in parts_of(expression))
    return bool(answers_in(expression)) and not has_window


def _leaves(source: Sequence[trees.FromItem]) -> Iterator[trees.TableInFrom | trees.QueryInFrom]:
    every = parts(tuple(source))
    yield from (one for one in every if isinstance(one, trees.TableInFrom | trees.QueryInFrom))


__all__ = ["GroupChoices", "Items", "is_cut"]
