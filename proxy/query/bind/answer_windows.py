"""Window functions over the answers of a block, for their errors: sum, avg, lag and lead OVER (...).

The rows of the window are the groups of the block. So nothing may filter or repeat the groups, and ORDER BY may
name keys only. Other forms have no known error, and the answer itself is not affected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from proxy.base.sql_types import SqlType
from proxy.query.bind.expression_reading import read_expression
from proxy.query.bind.noisy_expression_reading import NoisyReader, refuse_form
from proxy.query.bind.select_context import SelectContext
from proxy.query.ir.noisy_expressions import (
    NoisyExpression,
    NoisyWindow,
    WindowOrder,
    WindowSum,
    answers_in,
)
from proxy.query.ir.query import Key

_MOST_ROWS = 10_000  # of a frame's end: a larger one is no moving average
_SUMS = {exp.Sum: WindowSum.SUM, exp.Avg: WindowSum.AVG}
_SHIFTS = {exp.Lag: -1, exp.Lead: 1}
_WINDOW_PARTS = frozenset(("this", "partition_by", "order", "spec", "over"))
_SPEC_PARTS = frozenset(("kind", "start", "start_side", "end", "end_side"))


@dataclass(frozen=True, slots=True)
class AnswerWindows:
    """Reads window functions of one SELECT. keys: of its block."""

    context: SelectContext
    keys: Sequence[Key]

    def read(self, node: exp.Window, reader: NoisyReader) -> NoisyExpression:
        """Read one window function.

        Raises:
            Refusal: UNSUPPORTED, for forms whose error is not known.
        """
        if self._is_filtered() or not _WINDOW_PARTS.issuperset(_given(node)):
            refuse_form(node)
        function = node.this
        operand = reader.read(function.this) if function.this is not None else refuse_form(node)
        if len(answers_in(operand)) != 1 or any(
            isinstance(part, exp.Window) for part in function.find_all(exp.Window)
        ):
            refuse_form(node)
        partition = tuple(map(self._key, node.args.get("partition_by") or ()))
        order = tuple(map(self._order, _terms(node)))
        if order and {*partition, *(term.key for term in order)} != set(range(len(self.keys))):
            refuse_form(node)  # rows with equal keys would be one step of the frame
        kind, start, end = self._frame(node, bool(order))
        return NoisyWindow(
            function=kind,
            operand=operand,
            partition=partition,
            order=order,
            start=start,
            end=end,
            type=_type(kind, operand.type),
        )

    def _is_filtered(self) -> bool:
        select = self.context.select
        joined = self.context.sources.joined[select.keyword].joins
        return "having" in select.clauses or bool(joined)

    def _key(self, node: exp.Expr) -> int:
        expression = read_expression(node, self.context.scope)
        expressions = [key.expression for key in self.keys]
        if expression not in expressions:
            refuse_form(node)
        return expressions.index(expression)

    def _order(self, node: exp.Ordered) -> WindowOrder:
        is_descending = bool(node.args.get("desc"))
        return WindowOrder(self._key(node.this), is_descending, bool(node.args.get("nulls_first")))

    def _frame(
        self, node: exp.Window, is_ordered: bool
    ) -> tuple[WindowSum, int | None, int | None]:
        """The function, with the first and the last row of its frame."""
        function, spec = node.this, node.args.get("spec")
        shift = _SHIFTS.get(type(function))
        if shift is not None:
            if set(_given(function)) - {"this", "offset"} or not is_ordered:
                refuse_form(node)
            offset = function.args.get("offset")
            rows = shift * (1 if offset is None else _rows(offset, node))
            return WindowSum.SHIFT, rows, rows
        kind = _SUMS.get(type(function))
        if kind is None or set(_given(function)) != {"this"}:
            refuse_form(node)
        if spec is None:
            return kind, None, 0 if is_ordered else None
        if not _SPEC_PARTS.issuperset(_given(spec)) or not _counts_rows(spec):
            refuse_form(node)
        start = _end(spec.args.get("start"), spec.args.get("start_side"), node)
        end = (
            0
            if spec.args.get("end") is None
            else _end(spec.args.get("end"), spec.args.get("end_side"), node)
        )
        return kind, start, end


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value not in (None, False, [])]


def _counts_rows(spec: exp.Expr) -> bool:
    """Whether a frame is of rows. RANGE up to the current row is, too, as no two rows have equal keys."""
    ends = spec.args.get("start"), spec.args.get("end")
    is_plain = all(end in ("UNBOUNDED", "CURRENT ROW", None) for end in ends)
    return spec.args.get("kind") == "ROWS" or (spec.args.get("kind") == "RANGE" and is_plain)


def _terms(node: exp.Window) -> Sequence[exp.Ordered]:
    order = node.args.get("order")
    terms = () if order is None else order.expressions
    return [term if isinstance(term, exp.Ordered) else exp.Ordered(this=term) for term in terms]


def _end(value: object, side: object, node: exp.Expr) -> int | None:
    """One end of a ROWS frame, in rows after the current one."""
    if value == "UNBOUNDED":
        return None
    if value == "CURRENT ROW":
        return 0
    rows = _rows(value, node)
    return -rows if str(side).upper() == "PRECEDING" else rows  # as it is written


def _rows(value: object, node: exp.Expr) -> int:
    text = str(value.this) if isinstance(value, exp.Literal) and not value.is_string else ""
    if not text.isdecimal() or int(text) > _MOST_ROWS:
        return refuse_form(node)
    return int(text)


def _type(function: WindowSum, operand: SqlType) -> SqlType:
    """As PostgreSQL types sum() and avg() (PostgreSQL 17 documentation, section 9.21)."""
    if function is WindowSum.SHIFT:
        return operand
    if operand.is_float:
        is_single = operand is SqlType.FLOAT4 and function is WindowSum.SUM
        return SqlType.FLOAT4 if is_single else SqlType.FLOAT8
    if function is WindowSum.SUM and operand in (SqlType.INT2, SqlType.INT4):
        return SqlType.INT8
    return SqlType.NUMERIC


# Places in an order of noisy numbers: rank(), row_number() and their kin.


_RANKS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.RowNumber)


def has_rank(node: exp.Expr) -> bool:
    """Whether an expression has one in it."""
    return any(isinstance(one.this, _RANKS) for one in node.find_all(exp.Window))
