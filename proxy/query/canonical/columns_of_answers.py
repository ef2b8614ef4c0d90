"""Output columns as expressions over noisy answers, for their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.query.canonical import trees
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.noisy_trees import NoisyTreeReader
from proxy.query.canonical.walk import children, is_aggregate, parts, rebuilt
from proxy.query.ir.bound_statement import (
    AnswerArray,
    ExpressionInterval,
    GroupingValue,
    IntervalValue,
    KeyValue,
    SpanMeaning,
    SureTruth,
)
from proxy.query.ir.noisy_expressions import (
    AnswerOf,
    NoisyExpression,
    NoisyWindow,
    WindowOrder,
    WindowSum,
    answers_in,
    count_parts,
)
from proxy.query.ir.query import COMPUTED_AROUND, OF_A_RANK, AggregateBlock, OutputColumn
from proxy.query.ir.query_aggregates import Aggregate

_PARTS = 50  # of an expression whose error nobody has asked for
_MOST_ROWS = 10_000  # of a frame's end: a larger one is no moving average
_SUBQUERY = "it is made of the answer of a subquery, whose error is not carried on"
_SUMMED = "it adds up noisy groups, each with an error of its own"
_INTERVAL = "it is made of the ends of an interval"
_ARRAY = "several answers, each with an error of its own in sorted rows"
_TRUTH = "it is true or false where such rows are surely more than their noise, else NULL"
_LONG = "it is long: dp.error() of it gives its error"
_UNKNOWN = "the error of this form of expression is not known"
_RANKS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "row_number"})
_QUERIES = trees.ScalarQuery | trees.ExistsQuery | trees.InQuery | trees.ArrayQuery
_SHIFTS = {"lag": -1, "lead": 1}
_SUMS = {"sum": WindowSum.SUM, "avg": WindowSum.AVG}


def output_name(tree: trees.Tree, name: str) -> str:
    return name or (tree.column if isinstance(tree, trees.ColumnName) else "?column?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyColumns:
    """Of one SELECT that asks for answers.

    Attributes:
        meanings: Of its keys and calls.
        is_filtered: Its groups are not all there where a window sees them.
        has_levels: It has GROUPING SETS.
        answers: Aliases of other answers that its rows meet.
    """

    select: trees.SelectTree
    block: AggregateBlock
    meanings: Mapping[trees.Tree, SpanMeaning]
    is_filtered: bool
    has_levels: bool
    answers: frozenset[str]

    def listed(self) -> tuple[OutputColumn, ...]:
        """One for each item of its list."""
        return tuple(
            self._column(tree, output_name(tree, name)) for tree, name in self.select.items
        )

    def meanings_in(self, tree: object) -> Iterator[SpanMeaning]:
        """What of the SELECT stands in an expression."""
        if isinstance(tree, trees.QueryTree):
            return
        meaning = self.meanings.get(tree) if isinstance(tree, trees.Tree) else None
        if meaning is not None:
            yield meaning
            return
        for one in children(tree):
            yield from self.meanings_in(one)

    def is_noisy(self, tree: object) -> bool:
        """Whether anything in it says something of noise."""
        return any(not isinstance(one, KeyValue | GroupingValue) for one in self.meanings_in(tree))

    def _column(self, tree: trees.Tree, name: str) -> OutputColumn:
        within = list(self.meanings_in(tree))
        is_whole = tree in self.meanings
        if any(isinstance(one, ExpressionInterval | IntervalValue) for one in within):
            return OutputColumn(name, None, "" if len(within) == 1 and is_whole else _INTERVAL)
        if not is_whole and any(isinstance(one, _QUERIES) for one in parts(tree)):
            return OutputColumn(name, None, _SUBQUERY)
        arrays = [one for one in within if isinstance(one, AnswerArray)]
        if any(isinstance(part, IntervalValue) for one in arrays for part in one.parts):
            return OutputColumn(name, None, "" if is_whole else _INTERVAL)
        if arrays:
            return OutputColumn(name, None, _SUMMED if self.block.is_summed else _ARRAY)
        if any(isinstance(one, SureTruth) for one in within):
            return OutputColumn(name, None, _TRUTH)
        if not any(isinstance(one, Aggregate) for one in within):
            named = (one for one in parts(tree) if isinstance(one, trees.ColumnName))
            of_answers = any(one.relation in self.answers for one in named)
            return OutputColumn(name, None, _SUBQUERY if of_answers else "")
        if self.block.is_summed:
            return OutputColumn(name, None, _SUMMED)
        expression = self._expression(tree)
        if expression is None:
            return OutputColumn(name, None, OF_A_RANK if has_rank(tree) else _UNKNOWN)
        is_long = count_parts(expression) > _PARTS
        return OutputColumn(name, None if is_long else expression, _LONG if is_long else "")

    def expression(self, tree: trees.Tree) -> NoisyExpression | None:
        """An expression over the aggregates. None: its error is not known, or it is long."""
        found = self._expression(tree)
        return None if found is None or count_parts(found) > _PARTS else found

    def _expression(self, tree: trees.Tree) -> NoisyExpression | None:
        try:
            if isinstance(tree, trees.Call) and is_aggregate(tree):
                return self._answer(tree)  # of dates too
            return NoisyTreeReader(self._answer, None if self.has_levels else self._window).read(
                tree
            )
        except Refusal:
            return None

    def _answer(self, call: trees.Call) -> AnswerOf:
        meaning = self.meanings.get(call)
        if not isinstance(meaning, Aggregate):
            raise unread(_UNKNOWN)
        return AnswerOf(self.block.aggregates.index(meaning) + 1, meaning.type)

    # Windows over the answers of all groups

    def _window(self, call: trees.Call, reader: NoisyTreeReader) -> NoisyExpression:
        over = call.over
        is_plain = not (call.filter or call.is_distinct or call.order or call.is_star)
        if self.is_filtered or not isinstance(over, trees.WindowOf) or over.name or not is_plain:
            raise unread(_UNKNOWN)
        operand = reader.bare(call.arguments[0]) if call.arguments else None
        if operand is None or len(answers_in(operand)) != 1 or isinstance(operand, NoisyWindow):
            raise unread(_UNKNOWN)
        partition = tuple(map(self._key, over.partition))
        order = tuple(
            WindowOrder(
                self._key(one.operand),
                one.is_descending,
                one.is_descending if one.nulls_first is None else one.nulls_first,
            )
            for one in over.order
        )
        every = set(range(len(self.block.keys)))
        if order and {*partition, *(term.key for term in order)} != every:
            raise unread(_UNKNOWN)  # rows with equal keys would be one step of the frame
        function, start, end = _frame(call, over, is_ordered=bool(order))
        return NoisyWindow(
            function=function,
            operand=operand,
            partition=partition,
            order=order,
            start=start,
            end=end,
            type=_window_type(function, operand.type),
        )

    def _key(self, tree: trees.Tree) -> int:
        meaning = self.meanings.get(tree)
        if not isinstance(meaning, KeyValue):
            raise unread(_UNKNOWN)
        return self.block.keys.index(meaning.key)


def _frame(
    call: trees.Call, over: trees.WindowOf, *, is_ordered: bool
) -> tuple[WindowSum, int | None, int | None]:
    """The function, with the first and the last row of its frame."""
    shift = _SHIFTS.get(call.name)
    if shift is not None:
        if len(call.arguments) > 2 or not is_ordered:
            raise unread(_UNKNOWN)
        offset = call.arguments[1] if len(call.arguments) == 2 else trees.Literal("1")
        text = offset.value if isinstance(offset, trees.Literal) else None
        rows = shift * _rows(text)
        return WindowSum.SHIFT, rows, rows
    function = _SUMS.get(call.name)
    if function is None or len(call.arguments) != 1:
        raise unread(_UNKNOWN)
    if not over.frame:
        return function, None, 0 if is_ordered else None
    kind, _, ends = over.frame.partition(" ")
    first, _, last = ends.removeprefix("BETWEEN ").partition(" AND ")
    start, end = _end(first), 0 if not last else _end(last)
    if kind != "ROWS" and not (kind == "RANGE" and start in (None, 0) and end in (None, 0)):
        raise unread(_UNKNOWN)
    return function, start, end


def _end(text: str) -> int | None:
    """One end of a frame, in rows after the current one."""
    if text.startswith("UNBOUNDED"):
        return None
    if text == "CURRENT ROW":
        return 0
    number, _, side = text.partition(" ")
    return -_rows(number) if side == "PRECEDING" else _rows(number)


def _rows(text: object) -> int:
    if not isinstance(text, str) or not text.isdecimal() or int(text) > _MOST_ROWS:
        raise unread(_UNKNOWN)
    return int(text)


def _window_type(function: WindowSum, operand: SqlType) -> SqlType:
    """As PostgreSQL types sum() and avg() (PostgreSQL 17 documentation, section 9.21)."""
    if function is WindowSum.SHIFT:
        return operand
    if operand.is_float:
        is_single = operand is SqlType.FLOAT4 and function is WindowSum.SUM
        return SqlType.FLOAT4 if is_single else SqlType.FLOAT8
    is_short = operand in (SqlType.INT2, SqlType.INT4)
    return SqlType.INT8 if function is WindowSum.SUM and is_short else SqlType.NUMERIC


def has_rank(tree: object) -> bool:
    """Whether a place in an order stands in it."""
    calls = (one for one in parts(tree) if isinstance(one, trees.Call))
    return any(one.over is not None and one.name in _RANKS for one in calls)


def columns_around(
    around: trees.SelectTree, of: NoisyColumns, listed: Sequence[OutputColumn]
) -> tuple[OutputColumn, ...]:
    """The columns of a plain SELECT around this one, which gives its rows as they are.

    Args:
        listed: Its own columns.
    """
    inner = items_by_name(of.select, listed)
    is_cut = of.select.having or of.select.ending.limit or of.select.ending.offset
    has_same_rows = around.where is None and not is_cut
    found = []
    for tree, name in around.items:
        shown = output_name(tree, name)
        named = [one.column for one in parts(tree) if isinstance(one, trees.ColumnName)]
        columns = [inner[one][1] for one in named if one in inner]
        if len(columns) == len(named) and not any(one.expression or one.reason for one in columns):
            found.append(OutputColumn(shown, None))  # keys
        elif isinstance(tree, trees.ColumnName) and columns:
            found.append(OutputColumn(shown, columns[0].expression, columns[0].reason))
        else:
            windows = any(isinstance(one, trees.Call) and one.over for one in parts(tree))
            can_be_read = len(columns) == len(named) and (has_same_rows or not windows)
            expression = of.expression(within(tree, inner)) if can_be_read else None
            none = OF_A_RANK if has_rank(tree) else COMPUTED_AROUND
            reason = "" if expression is not None else none
            found.append(OutputColumn(shown, expression, reason))
    return tuple(found)


Items = Mapping[str, tuple[trees.Tree, OutputColumn]]


def items_by_name(select: trees.SelectTree, listed: Sequence[OutputColumn]) -> Items:
    """The items that their names tell apart, with the columns that they are."""
    names = [one.name for one in listed]
    return {
        name: (tree, column)
        for name, (tree, _), column in zip(names, select.items, listed, strict=True)
        if names.count(name) == 1
    }


def within(tree: trees.Tree, inner: Items) -> trees.Tree:
    """An expression of the query around, over what the subquery computes."""
    change: Callable[[object], object] = lambda one: (  # noqa: E731
        inner[one.column][0] if isinstance(one, trees.ColumnName) else rebuilt(one, change)
    )
    found = change(tree)
    assert isinstance(found, trees.Tree)
    return found
