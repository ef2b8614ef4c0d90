"""Window functions in a SELECT that gives rows: row_number() OVER (PARTITION BY unit ORDER BY ...) and others.

They become columns of a subquery below the SELECT, which has the SELECT's condition and all columns that the
SELECT names. Windows of different order are subqueries one over the other, each of which has the columns of
those below it: so rows that one of them cannot tell apart another can, or they are alike in everything
(planner.unit_windows). Whether a partition is of one unit, the planner decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.limits import WINDOW_OFFSET
from proxy.base.sql_types import SqlType
from proxy.query.bind.aggregate_reading import is_aggregate, read_aggregate
from proxy.query.bind.expression_reading import READERS, read_expression
from proxy.query.bind.function_forms import WINDOW_SUBSTITUTES
from proxy.query.bind.nodes.operands import read_constant
from proxy.query.bind.scope import Readers, Scope, function_name, only, position_of
from proxy.query.bind.sources import Sources
from proxy.query.ir.expressions import ColumnRef, Constant, Expression
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.rebuilding import changed_window, rebuild
from proxy.query.ir.relations import (
    Frame,
    OrderTerm,
    Relation,
    Subquery,
    WindowColumn,
    WindowFunction,
)
from proxy.query.ir.typing_rules import ordinal
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.slices import parse, parse_ordered
from proxy.query.syntax.statements import split_commas

_RANKS: Mapping[type[exp.Expr], WindowFunction] = {
    exp.RowNumber: WindowFunction.ROW_NUMBER,
    exp.Rank: WindowFunction.RANK,
    exp.DenseRank: WindowFunction.DENSE_RANK,
}
_VALUES: Mapping[type[exp.Expr], WindowFunction] = {
    exp.FirstValue: WindowFunction.FIRST_VALUE,
    exp.LastValue: WindowFunction.LAST_VALUE,
    exp.Lag: WindowFunction.LAG,
    exp.Lead: WindowFunction.LEAD,
}
_AGGREGATES = (
    *(AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.SUM),
    *(AggregateKind.AVG, AggregateKind.MIN, AggregateKind.MAX),
)
_FORMS = (
    "Over the rows of a unit there are row_number, rank, dense_rank, lag, lead, first_value, last_value, count,"
    " sum, avg, min and max: row_number() OVER (PARTITION BY unit ORDER BY column)."
)
_BINS = (
    "For bins of one width write width_bucket(column, 0, 100, 4); for those of as many rows ask for edges,"
    " percentile_disc(0.25) WITHIN GROUP (ORDER BY column)."
)
_FRAMES = (
    "Leave the frame out, or write ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW, or ROWS BETWEEN UNBOUNDED"
    " PRECEDING AND UNBOUNDED FOLLOWING."
)
_TO_COME = ""
_Outputs = tuple[tuple[str, Expression], ...]
_UNBOUNDED = ("UNBOUNDED", "preceding")


@dataclass(slots=True)
class WindowsOfSelect:
    """Those of one SELECT: columns w1, w2, ... of relations to come, until then of one without a name."""

    columns: list[WindowColumn] = field(default_factory=list)
    names_rows: bool = False

    def readers(self) -> Readers:
        return {**READERS, exp.Window: self.read, exp.Uuid: self.read_name}

    def read(self, node: exp.Expr, scope: Scope) -> Expression:
        """
        Refuses  UNSUPPORTED: other functions, frames and forms
        """
        only(node, "this", "partition_by", "order", "spec", "over")
        within = replace(scope, readers=READERS)
        found = _function(node.this, within)
        order = node.args.get("order")
        found = replace(
            found,
            partition=tuple(
                read_expression(part, within) for part in node.args.get("partition_by") or ()
            ),
            order=() if order is None else _order(order, within),
            frame=_frame(node.args.get("spec")),
            position=position_of(node),
        )
        if found.function is WindowFunction.LAST_VALUE and not found.order:
            found = replace(found, frame=Frame.WHOLE)
        if found.function is WindowFunction.LAST_VALUE and found.frame is not Frame.WHOLE:
            raise _refusal("last_value() up to the row itself is that row's", node, _FRAMES)
        return self._column(found, node)

    def read_name(self, node: exp.Expr, scope: Scope) -> Expression:
        """gen_random_uuid(), each time another."""
        only(node)
        self.names_rows = True
        name = f"w{len(self.columns) + 1}"
        self.columns.append(
            replace(
                _bare(WindowFunction.ROW_NAME, SqlType.UUID), name=name, position=position_of(node)
            )
        )
        return ColumnRef(name, SqlType.UUID, position_of(node), _TO_COME)

    def first_row(
        self, sources: Sources, select: Select, scope: Scope, outputs: _Outputs
    ) -> ColumnRef:
        """The number of a row by DISTINCT ON (...) ... ORDER BY, whose names and numbers are first those of
        outputs (PostgreSQL 17 documentation, SELECT, "DISTINCT Clause")."""
        lexed, within = sources.lexed, replace(scope, readers=READERS)

        def read(node: exp.Expr) -> Expression:
            place = ordinal(node.name) if isinstance(node, exp.Literal) else None
            if place is not None and place <= len(outputs):
                return outputs[place - 1][1]
            named = dict(reversed(outputs)) if isinstance(node, exp.Column) else {}
            is_bare = isinstance(node, exp.Column) and not node.table
            found = named.get(node.name) if is_bare else None
            return read_expression(node, within) if found is None else found

        def spans(clause: str) -> Iterator[Span]:
            return iter(split_commas(lexed, *select.clauses.get(clause, (0, 0))))

        keys = [read(parse(lexed, span, sources.placeholders)) for span in spans("on")]
        order = [
            _term(parse_ordered(lexed, span, sources.placeholders), read) for span in spans("order")
        ]
        found = replace(
            _bare(WindowFunction.ROW_NUMBER, SqlType.INT8),
            partition=tuple(keys),
            order=tuple(term for term in order if term.expression not in keys),
            position=lexed.lexemes[select.keyword].position,
        )
        self.columns.append(replace(found, name=f"w{len(self.columns) + 1}"))
        return ColumnRef(self.columns[-1].name, SqlType.INT8, found.position, _TO_COME)

    def _column(self, found: WindowColumn, node: exp.Expr) -> ColumnRef:
        known = [one for one in self.columns if replace(one, name="") == found]
        if not known:
            known = [replace(found, name=f"w{len(self.columns) + 1}")]
            self.columns += known
        return ColumnRef(known[0].name, found.type, position_of(node), _TO_COME)

    def below(
        self,
        sources: Sources,
        select: Select,
        source: Relation,
        where: Expression | None,
        outputs: _Outputs,
    ) -> tuple[Relation, Expression | None, _Outputs]:
        """
        Given    source, where, outputs: of the SELECT, which may be over these and the window columns
        Gives    the same, over relations of ours that have the window columns
        Refuses  UNSUPPORTED: names of rows in a CTE, which is read as often as it is named
        """
        if not self.columns:
            return source, where, outputs
        ctes = (cte.body for cte in sources.ctes)
        if self.names_rows and any(first <= select.keyword < last for first, last in ctes):
            sources.refuse(
                select.keyword, "gen_random_uuid() in WITH could be another each time it is named"
            )
        return self.placed_below(sources.alias, source, where, outputs)

    def placed_below(
        self,
        new_alias: Callable[[], str],
        source: Relation,
        where: Expression | None,
        outputs: _Outputs,
    ) -> tuple[Relation, Expression | None, _Outputs]:
        """As `below`, of windows that may stand there."""
        if not self.columns:
            return source, where, outputs
        used: dict[ColumnRef, str] = {}
        parts = [part for _, part in outputs]
        parts += [part for one in self.columns for part in one.expressions]
        for part in parts:
            rebuild(part, lambda one: self._use(one, used))
        relation, names = source, dict[ColumnRef, ColumnRef]()
        for sorts in dict.fromkeys(one.sorts for one in self.columns):
            alias, change = new_alias(), _Renaming(dict(names))
            windows = tuple(
                changed_window(one, change) for one in self.columns if one.sorts == sorts
            )
            listed = tuple((text, change(column)) for column, text in used.items())
            position = windows[0].position
            relation = Subquery(alias, relation, where, listed, position, windows=windows)
            where = None
            for one in windows:  # which those above see as columns
                used[ColumnRef(one.name, one.type, None, _TO_COME)] = one.name
            names = {c: replace(c, column=text, relation=alias) for c, text in used.items()}
        change = _Renaming(names)
        return relation, None, tuple((name, change(part)) for name, part in outputs)

    def _use(self, part: Expression, used: dict[ColumnRef, str]) -> Expression:
        if isinstance(part, ColumnRef) and part.relation != _TO_COME:
            used.setdefault(replace(part, position=None), f"c{len(used) + 1}")
        return part


@dataclass(frozen=True, slots=True)
class _Renaming:
    """Columns of an expression as those of the relation that has them by now."""

    names: Mapping[ColumnRef, ColumnRef]

    def __call__(self, expression: Expression) -> Expression:
        return rebuild(expression, self._one)

    def _one(self, part: Expression) -> Expression:
        if not isinstance(part, ColumnRef):
            return part
        found = self.names.get(replace(part, position=None))
        return part if found is None else replace(found, position=part.position)


def _bare(function: WindowFunction, kind: SqlType) -> WindowColumn:
    return WindowColumn(
        name="", function=function, type=kind, partition=(), order=(), frame=Frame.DEFAULT
    )


def _function(node: exp.Expr, scope: Scope) -> WindowColumn:
    """Without its window."""
    if type(node) in _RANKS:
        only(node)
        return _bare(_RANKS[type(node)], SqlType.INT8)
    if type(node) in _VALUES:
        if node.args.get("default") is not None:
            hint = "Write coalesce(lag(column), 0) for another value than NULL."
            raise _refusal("lag() and lead() have no third argument there", node, hint)
        only(node, "this", "offset")
        operand = read_expression(node.this, scope)
        found = _bare(_VALUES[type(node)], operand.type or SqlType.TEXT)
        return replace(found, operand=operand, offset=_offset(node, scope))
    if is_aggregate(node):
        aggregate = read_aggregate(node, scope)
        if aggregate.kind in _AGGREGATES:
            found = _bare(WindowFunction.AGGREGATE, aggregate.type)
            return replace(found, aggregate=aggregate)
    name = function_name(node)
    substitute = WINDOW_SUBSTITUTES.get(name)
    hint = _FORMS if substitute is None else substitute.hint
    raise _refusal(
        f"window function {name} is not available over rows of a protected table",
        node,
        _BINS if isinstance(node, exp.Ntile) else hint,
    )


def _offset(node: exp.Expr, scope: Scope) -> int:
    given = node.args.get("offset")
    if given is None:
        return 1
    constant = read_constant(given, scope)
    value = constant.value if isinstance(constant, Constant) else None
    if isinstance(value, Fraction) and value.denominator == 1 and 0 <= value <= WINDOW_OFFSET:
        return int(value)
    raise _refusal(
        "lag() and lead() go by a constant number of rows there",
        node,
        f"Write lag(column) or lag(column, 2), of {WINDOW_OFFSET} at most.",
    )


def _order(node: exp.Expr, scope: Scope) -> tuple[OrderTerm, ...]:
    only(node, "expressions")
    return tuple(_term(one, lambda part: read_expression(part, scope)) for one in node.expressions)


def _term(node: exp.Expr, read: Callable[[exp.Expr], Expression]) -> OrderTerm:
    if not isinstance(node, exp.Ordered):
        raise _refusal("this ORDER BY of a window is not available", node)
    only(node, "this", "desc", "nulls_first")
    is_descending = bool(node.args.get("desc"))
    return OrderTerm(read(node.this), is_descending, bool(node.args.get("nulls_first")))


def _frame(spec: exp.Expr | None) -> Frame:
    """
    Refuses  frames for which each row would need a pass of its own
    """
    if spec is None:
        return Frame.DEFAULT
    only(spec, "kind", "start", "start_side", "end", "end_side")
    start = (spec.args.get("start"), str(spec.args.get("start_side") or "").lower())
    end = (spec.args.get("end"), str(spec.args.get("end_side") or "").lower())
    if start == _UNBOUNDED and end == ("UNBOUNDED", "following"):
        return Frame.WHOLE
    is_to_row = end in (("CURRENT ROW", ""), (None, ""))
    kind = str(spec.args.get("kind")).lower()
    if start == _UNBOUNDED and is_to_row and kind == "rows":
        return Frame.ROWS_SO_FAR
    if start == _UNBOUNDED and is_to_row and kind == "range":
        return Frame.DEFAULT
    raise _refusal(
        "this frame of a window is not available over rows of a protected table", spec, _FRAMES
    )


def _refusal(message: str, node: exp.Expr, hint: str = _FORMS) -> Refusal:
    return Refusal(Code.UNSUPPORTED, message, hint, position_of(node))
