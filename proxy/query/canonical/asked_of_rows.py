"""Subqueries that are asked of each row: EXISTS, IN and scalar aggregates of protected rows.

One decorrelation for all: a LEFT JOIN with one row for each unit and each value that is compared with the row
around it, and an expression over that: whether there is a partner, or the partner's aggregates. Whether what is
compared is the privacy unit, the planner decides. EXISTS and IN of a public table look its rows up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.query.bind.join_conditions import aliases, conjunction, conjuncts, with_equalities
from proxy.query.bind.row_conditions import (
    ENDS,
    equal_pair,
    may_lack,
    names_any,
    order_of,
)
from proxy.query.canonical import trees
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.comparisons import compared
from proxy.query.canonical.context import Ctes, StatementContext, is_grouped, with_ctes
from proxy.query.canonical.expression_nodes import condition, read
from proxy.query.canonical.per_unit import AggregatesWithin
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.canonical.visible_names import SubqueryTree, VisibleNames
from proxy.query.canonical.walk import has_aggregate
from proxy.query.ir import expressions as ir
from proxy.query.ir.exposed import Exposed
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery
from proxy.query.ir.typing_rules import common
from proxy.query.syntax.placeholders import ClientArray

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT)
_Pairs = tuple[tuple[ir.ColumnRef, ir.ColumnRef], ...]


@dataclass(frozen=True, slots=True)
class _AskedRows:
    """The rows of a subquery: its own condition, and the pairs that are equal, those of the row around first;
    orders: other comparisons, of an own column with one of the row around."""

    relation: Relation
    where: ir.Expression | None
    pairs: _Pairs = ()
    orders: tuple[tuple[ir.Comparator, ir.ColumnRef, ir.ColumnRef], ...] = ()


class RowsReader(Protocol):
    """What a lookup needs of the reader of relations."""

    context: StatementContext

    def source(
        self, select: trees.SelectTree, ctes: Ctes, outer: VisibleNames | None = None
    ) -> tuple[Relation, VisibleNames]: ...

    def reaches_rows(self, query: trees.QueryTree, ctes: Ctes) -> bool: ...

    def rows_of(
        self, query: trees.QueryTree, ctes: Ctes
    ) -> tuple[Subquery, tuple[tuple[str, TypedValue], ...]]: ...

    def scalar(self, query: trees.QueryTree, ctes: Ctes) -> ir.Parameter | None: ...


@dataclass(slots=True, eq=False)
class AskedOfRows:
    """Those of one SELECT.

    Attributes:
        relation: Its FROM clause.
        found: By their trees, as the same subquery may be written twice.
        joins: What they have become.
        is_public_only: In ON, where rows of protected tables cannot be looked up.
    """

    reader: RowsReader
    relation: Relation
    ctes: Ctes
    found: dict[trees.Tree, TypedValue] = field(default_factory=dict)
    joins: list[tuple[Subquery, _Pairs]] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    is_public_only: bool = False

    def read(self, tree: SubqueryTree, scope: VisibleNames) -> TypedValue:
        """
        Raises:
            Refusal: UNSUPPORTED: forms that are no join with one row per unit.
        """
        name = tree
        if name not in self.found:
            self.found[name] = value_of(self._read(tree, scope))
        return self.found[name]

    def _read(self, tree: SubqueryTree, scope: VisibleNames) -> ir.Expression:
        query = tree.query
        if isinstance(query, trees.ValuesTree) and isinstance(tree, trees.InQuery):
            return self._listed(tree, query, scope)
        own = scope.constants.list_of(query) if isinstance(tree, trees.InQuery) else None
        if own is not None and isinstance(tree, trees.InQuery):
            item = ir.Parameter(ClientArray(own.number), own.type)
            return ir.In(compared(read(tree.operand, scope)), (item,))
        if isinstance(query, trees.SelectTree) and not self.reader.reaches_rows(query, self.ctes):
            public = self._public(tree, query, scope)
            if public is not None:
                return public
        if not isinstance(query, trees.SelectTree) or self.is_public_only:
            raise unread("this query in a condition")
        match tree:
            case trees.ExistsQuery():
                return self._exists(query, scope)
            case trees.InQuery():
                return self._is_in(tree, query, scope)
            case trees.ScalarQuery():
                answer = self.reader.scalar(query, self.ctes)
                return self._scalar(query, scope) if answer is None else answer

    def _listed(
        self, tree: trees.InQuery, query: trees.ValuesTree, scope: VisibleNames
    ) -> ir.Expression:
        """IN (VALUES ('a'), ('b'))"""
        if query.ctes or query.ending.limit is not None or any(len(row) != 1 for row in query.rows):
            raise unread("this list of values")
        array = trees.ArrayOf(tuple(row[0] for row in query.rows))
        return read(trees.Quantified("=", tree.operand, array, is_all=False), scope).expression

    def joined(self, relation: Relation) -> Relation:
        written = tuple(self.written.items())
        for subquery, pairs in self.joins:
            relation = Join(relation, subquery, True, pairs, None, is_lookup=True, written=written)
        return relation

    # Public tables

    def _public(
        self, tree: SubqueryTree, query: trees.SelectTree, scope: VisibleNames
    ) -> ir.Expression | None:
        """IN or EXISTS of rows of one public table; None: it is no such query."""
        table = self._public_table(query)
        if table is None or isinstance(tree, trees.ScalarQuery):
            return None
        if (
            query.group
            or query.is_distinct
            or query.having
            or query.ending.offset
            or has_aggregate(query.items)
        ):
            raise unread("this query of a public table in a condition")
        if isinstance(tree, trees.ExistsQuery):
            return self._exists_public(query, scope)
        if query.ending.limit is not None or len(query.items) != 1:
            raise unread("this list from a public table")
        base = replace(scope, relations={}, merged={}, subquery=None, lookups=None)
        relation, inner = self.reader.source(query, with_ctes(query, self.ctes), base)
        output = read(query.items[0][0], inner).expression
        where = None if query.where is None else condition(query.where, inner)
        if not isinstance(output, ir.ColumnRef) or not isinstance(relation, Scan):
            raise unread("an expression as a list from a public table")
        operand = read(tree.operand, scope).expression
        kinds = [one.type for one in (operand, output) if one.type is not None]
        common(kinds, None)  # which refuses what is not compared as a whole
        return ir.InPublic(operand, relation.table, relation.alias, output, where)

    def _public_table(self, query: trees.SelectTree) -> Exposed | None:
        item = query.source[0] if len(query.source) == 1 else None
        table = self.reader.context.table(item) if isinstance(item, trees.TableInFrom) else None
        return None if table is None or table.protected else table

    def _exists_public(self, query: trees.SelectTree, scope: VisibleNames) -> ir.Expression:
        """Rows of a public table are looked up as those of a list are: what NULL is in, is no row."""
        queried, inner = self._queried(query, scope)
        scan = queried.relation
        if len(queried.pairs) != 1 or queried.orders or not isinstance(scan, Scan):
            raise unread(
                "EXISTS of a public table that compares other than one column with the row around it"
            )
        if inner.joined(scan) is not scan or not _leaves_rows(query):
            raise unread("EXISTS of a public table with a subquery or LIMIT")
        ((operand, output),) = queried.pairs
        return ir.Is(ir.InPublic(operand, scan.table, scan.alias, output, queried.where), True)

    # Protected rows

    def _exists(self, query: trees.SelectTree, scope: VisibleNames) -> ir.Expression:
        if query.group or query.having or query.is_distinct or query.ending.offset:
            raise unread("GROUP BY, HAVING, DISTINCT or OFFSET in EXISTS")
        queried, inner = self._queried(query, scope)
        if has_aggregate(query.items):
            raise unread("EXISTS of an aggregate, which is always true,")
        if not _leaves_rows(query):
            raise unread("this LIMIT in EXISTS")
        if queried.orders:
            return self._exists_in_order(queried, inner)
        return _is_there(self._add(inner.joined(queried.relation), queried))

    def _exists_in_order(self, queried: _AskedRows, inner: VisibleNames) -> ir.Expression:
        """Some row is before another where the first of them is, after it where the last is, and other than it
        where one of both is."""
        if len(queried.orders) > 1:
            raise unread("EXISTS that compares several columns of the row around by anything but =")
        ((comparator, own, outer),) = queried.orders
        if any(k.is_float or not (k.is_number or k.is_time) for k in (own.type, outer.type)):
            raise unread(f"EXISTS that compares {own.type.sql} by anything but =")
        kinds = ENDS[comparator]
        aggregates = tuple(Aggregate(kind, own, None, own.type) for kind in kinds)
        found = self._add(inner.joined(queried.relation), queried, aggregates, is_compared=True)
        each = tuple(
            ir.Comparison(
                comparator, ir.ColumnRef(aggregate_column(n), own.type, None, found.alias), outer
            )
            for n in range(1, len(kinds) + 1)
        )
        return ir.Is(each[0] if len(each) == 1 else ir.Connective("OR", each), True)

    def _is_in(
        self, tree: trees.InQuery, query: trees.SelectTree, scope: VisibleNames
    ) -> ir.Expression:
        operand = read(tree.operand, scope).expression
        if not isinstance(operand, ir.ColumnRef):
            raise unread("IN (SELECT ...) of a protected table with no column before it")
        if query.ending.limit is not None or query.ending.offset is not None:
            raise unread("LIMIT in IN (SELECT ...)")
        if is_grouped(query):
            rows, shown = self.reader.rows_of(query, self.ctes)
            source: Relation = rows
            outputs: list[ir.Expression] = [
                ir.ColumnRef(name, value.exact().type or value.type, None, rows.alias)
                for name, value in shown
            ]
            queried = _AskedRows(rows, None)
        else:
            queried, inner = self._queried(query, scope)
            outputs = [read(part, inner).expression for part, _ in query.items]
            source = inner.joined(queried.relation)
        if queried.pairs or queried.orders:
            raise unread("IN with a subquery that names columns of the row around it")
        output = outputs[0] if len(outputs) == 1 else None
        if not isinstance(output, ir.ColumnRef):
            raise unread("IN of anything but one column of a protected table")
        if may_lack(self.relation, operand) or may_lack(source, output):
            raise unread("IN on a column of an outer join's other side")
        return _is_there(self._add(source, replace(queried, pairs=((operand, output),))))

    def _scalar(self, query: trees.SelectTree, scope: VisibleNames) -> ir.Expression:
        if (
            query.group
            or query.having
            or query.is_distinct
            or query.ending.limit
            or query.ending.offset
        ):
            raise unread("other clauses than WHERE in a subquery about each row")
        queried, own = self._queried(query, scope)
        inner = AggregatesWithin(self.reader.context.alias())
        reading = replace(own, aggregate=inner.read)
        if len(query.items) != 1 or queried.orders:
            raise unread("this subquery about each row")
        value = read(query.items[0][0], reading).exact()
        if not inner.found or {alias for alias, _ in columns(value)} != {inner.alias}:
            raise unread("a subquery about each row that is no aggregate")
        aggregates = tuple(inner.found)
        there = self._add(own.joined(queried.relation), queried, aggregates)
        return rebuild(value, lambda part: _of_row(part, there.alias, aggregates))

    def _queried(
        self, query: trees.SelectTree, scope: VisibleNames
    ) -> tuple[_AskedRows, VisibleNames]:
        """The rows of a subquery, and what names mean in it."""
        relation, inner = self.reader.source(query, with_ctes(query, self.ctes), scope)
        for name, visible in inner.relations.items():
            if visible.alias:
                self.written[visible.alias] = name
        parts = () if query.where is None else conjuncts(condition(query.where, inner))
        ours, theirs = aliases(relation), set(scope.own)
        around = frozenset(visible.alias for visible in scope.relations.values())
        naming = [part for part in parts if names_any(part, around)]
        where = conjunction([part for part in parts if not names_any(part, around)])
        orders = {part: order for part in naming if (order := order_of(part, ours, theirs))}
        pairs = [equal_pair(part, ours, theirs) for part in naming if part not in orders]
        if where is not None:
            relation = with_equalities(relation, where)
        queried = _AskedRows(relation, where, tuple(dict.fromkeys(pairs)), tuple(orders.values()))
        return queried, inner

    def _add(
        self,
        source: Relation,
        queried: _AskedRows,
        aggregates: tuple[Aggregate, ...] = (),
        *,
        is_compared: bool = False,
    ) -> Subquery:
        """One row for each unit and each value that is compared, as a join to come."""
        if not queried.pairs:
            raise unread("a subquery of a protected table that does not name the row around it")
        new_alias: Callable[[], str] = self.reader.context.alias
        keys = tuple(dict.fromkeys(inner for _, inner in queried.pairs))
        grouped = GroupByUnit(
            new_alias(),
            source,
            queried.where,
            keys[0],
            aggregates,
            keys=keys,
            is_compared=is_compared,
        )
        kinds: Mapping[str, SqlType] = {
            UNIT_COLUMN: keys[0].type,
            **{key_column(n): key.type for n, key in enumerate(keys, start=1)},
            **{aggregate_column(n): one.type for n, one in enumerate(aggregates, start=1)},
        }
        outputs = tuple(
            (name, ir.ColumnRef(name, kind, None, grouped.alias)) for name, kind in kinds.items()
        )
        found = Subquery(new_alias(), grouped, None, outputs)
        pairs = tuple(
            (outer, ir.ColumnRef(key_column(keys.index(inner) + 1), inner.type, None, found.alias))
            for outer, inner in queried.pairs
        )
        self.joins.append((found, pairs))
        return found


def _leaves_rows(query: trees.SelectTree) -> bool:
    """Whether LIMIT, if there is one, is a number above 0."""
    limit: trees.Tree | None = query.ending.limit
    while limit is not None and not isinstance(limit, trees.Literal):
        limit = getattr(limit, "operand", None)
        if limit is None:
            return False
    if limit is None:
        return True
    text = limit.value
    return isinstance(text, str) and text.isascii() and text.isdigit() and int(text[:9]) > 0


def _is_there(found: Subquery) -> ir.Expression:
    kind = found.outputs[0][1].type or SqlType.TEXT
    return ir.Not(ir.Is(ir.ColumnRef(UNIT_COLUMN, kind, None, found.alias), None))


def _of_row(part: ir.Expression, alias: str, aggregates: tuple[Aggregate, ...]) -> ir.Expression:
    """An aggregate, in one row per unit, as it is of a row: without partner a count is 0, any other NULL."""
    if not isinstance(part, ir.ColumnRef):
        return part
    there = replace(part, relation=alias)
    numbers = {aggregate_column(n): one.kind for n, one in enumerate(aggregates, start=1)}
    if numbers[part.column] not in _COUNTS:
        return there
    return ir.Choose(
        ir.Choice.COALESCE, (there, ir.Constant(Fraction(0), SqlType.INT8)), SqlType.INT8
    )
