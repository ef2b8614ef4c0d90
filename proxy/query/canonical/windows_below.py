"""Window functions in a SELECT that gives rows of units: they become columns of subqueries below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from proxy.base.limits import WINDOW_OFFSET
from proxy.base.sql_types import SqlType
from proxy.query.bind.window_reading import WindowsOfSelect
from proxy.query.canonical.aggregates import read_aggregate
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.expression_nodes import read
from proxy.query.canonical.trees import Call, OrderBy, SelectTree, Tree, WindowOf
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.canonical.visible_names import VisibleNames
from proxy.query.ir.expressions import ColumnRef, Constant, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Relation
from proxy.query.ir.windows import Frame, OrderTerm, WindowColumn, WindowFunction

_RANKS: Mapping[str, WindowFunction] = {
    "row_number": WindowFunction.ROW_NUMBER,
    "rank": WindowFunction.RANK,
    "dense_rank": WindowFunction.DENSE_RANK,
}
_VALUES: Mapping[str, WindowFunction] = {
    "first_value": WindowFunction.FIRST_VALUE,
    "last_value": WindowFunction.LAST_VALUE,
    "lag": WindowFunction.LAG,
    "lead": WindowFunction.LEAD,
}
_AGGREGATES = (
    *(AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.SUM),
    *(AggregateKind.AVG, AggregateKind.MIN, AggregateKind.MAX),
)
_FRAMES: Mapping[str, Frame] = {
    "": Frame.DEFAULT,
    "RANGE UNBOUNDED PRECEDING": Frame.DEFAULT,
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW": Frame.DEFAULT,
    "ROWS UNBOUNDED PRECEDING": Frame.ROWS_SO_FAR,
    Frame.ROWS_SO_FAR.value: Frame.ROWS_SO_FAR,
    Frame.WHOLE.value: Frame.WHOLE,
    "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING": Frame.WHOLE,
}
_TO_COME = ""  # the alias of relations to come
Outputs = tuple[tuple[str, Expression], ...]


class WindowsBelow:
    """Those of one SELECT: columns w1, w2, ... of relations to come."""

    def __init__(self) -> None:
        self._found = WindowsOfSelect()

    def read(self, call: Call, scope: VisibleNames) -> TypedValue:
        """
        Raises:
            Refusal: UNSUPPORTED: other functions, frames and forms.
        """
        within = replace(scope, window=None, aggregate=None)
        if call.name == "gen_random_uuid" and call.over is None:
            self._found.names_rows = True
            return self._column(_bare(WindowFunction.ROW_NAME, SqlType.UUID), is_new=True)
        over = call.over
        if not isinstance(over, WindowOf) or over.name:
            raise unread("a window by its name")
        frame = _FRAMES.get(over.frame)
        if frame is None:
            raise unread("this frame of a window")
        found = replace(
            _function(call, within),
            partition=tuple(read(part, within).exact() for part in over.partition),
            order=tuple(_term(one, within) for one in over.order),
            frame=frame,
        )
        if found.function is WindowFunction.LAST_VALUE and not found.order:
            found = replace(found, frame=Frame.WHOLE)
        if found.function is WindowFunction.LAST_VALUE and found.frame is not Frame.WHOLE:
            raise unread("last_value() up to the row itself, which is that row's,")
        return self._column(found)

    def first_row(self, select: SelectTree, scope: VisibleNames) -> Expression:
        """The number of a row by DISTINCT ON (...) ... ORDER BY."""
        within = replace(scope, window=None, aggregate=None)
        keys = tuple(read(part, within).exact() for part in select.distinct_on)
        order = (_term(one, within) for one in select.ending.order)
        found = replace(
            _bare(WindowFunction.ROW_NUMBER, SqlType.INT8),
            partition=keys,
            order=tuple(term for term in order if term.expression not in keys),
        )
        return self._column(found, is_new=True).expression

    @property
    def names_rows(self) -> bool:
        return self._found.names_rows

    def _column(self, found: WindowColumn, *, is_new: bool = False) -> TypedValue:
        columns = self._found.columns
        known = [one for one in columns if replace(one, name="") == found and not is_new]
        if not known:
            known = [replace(found, name=f"w{len(columns) + 1}")]
            columns += known
        return value_of(ColumnRef(known[0].name, found.type, None, _TO_COME))

    def below(
        self,
        new_alias: Callable[[], str],
        source: Relation,
        where: Expression | None,
        outputs: Outputs,
    ) -> tuple[Relation, Expression | None, Outputs]:
        """The parts of the SELECT over relations of ours that have the window columns."""
        return self._found.placed_below(new_alias, source, where, outputs)


def _bare(function: WindowFunction, kind: SqlType) -> WindowColumn:
    return WindowColumn(
        name="", function=function, type=kind, partition=(), order=(), frame=Frame.DEFAULT
    )


def _function(call: Call, scope: VisibleNames) -> WindowColumn:
    """Without its window."""
    if call.name in _RANKS and not call.arguments:
        return _bare(_RANKS[call.name], SqlType.INT8)
    if call.name in _VALUES and 1 <= len(call.arguments) <= 2:
        operand = read(call.arguments[0], scope).exact()
        found = _bare(_VALUES[call.name], operand.type or SqlType.TEXT)
        offset = _offset(call.arguments[1], scope) if len(call.arguments) == 2 else 1
        return replace(found, operand=operand, offset=offset)
    aggregate = read_aggregate(replace(call, over=None), scope)
    if isinstance(aggregate, Aggregate) and aggregate.kind in _AGGREGATES:
        return replace(_bare(WindowFunction.AGGREGATE, aggregate.type), aggregate=aggregate)
    raise unread(f"the window function {call.name}")


def _offset(tree: Tree, scope: VisibleNames) -> int:
    part = read(tree, scope).constant()
    value = part.value if isinstance(part, Constant) else None
    if isinstance(value, Fraction) and value.denominator == 1 and 0 <= value <= WINDOW_OFFSET:
        return int(value)
    raise unread("lag() and lead() by this number of rows")


def _term(order: OrderBy, scope: VisibleNames) -> OrderTerm:
    is_first = order.is_descending if order.nulls_first is None else order.nulls_first
    return OrderTerm(read(order.operand, scope).exact(), order.is_descending, is_first)
