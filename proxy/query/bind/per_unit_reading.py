"""A SELECT that groups by the privacy unit, read: one row per unit, or per unit and further keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NoReturn

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import UNIT_COLUMN, key_column
from proxy.base.sql_types import SqlType
from proxy.query.bind.aggregate_reading import Inner, readers_within
from proxy.query.bind.clause_reading import condition_of, outputs_of
from proxy.query.bind.group_keys import depends_on_keys, read_keys
from proxy.query.bind.scope import ColumnType, Scope, function_name, position_of
from proxy.query.bind.select_context import context_of
from proxy.query.bind.sources import Sources
from proxy.query.ir.exposed import row_names, unit_columns
from proxy.query.ir.expression_walk import columns, size
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import GroupByUnit, Relation, Subquery
from proxy.query.syntax.selects import Select


def read_per_unit(
    sources: Sources, select: Select, relation: Relation, where: Expression | None, scope: Scope
) -> tuple[Subquery, dict[str, ColumnType]]:
    """GROUP BY the unit, or DISTINCT: its aggregates become columns of one row per unit and further keys."""
    units = unit_columns(relation, sources.tables.values())
    read = read_keys(context_of(sources, select, scope))
    if len(read.levels) > 1:
        raise Refusal(
            Code.UNSUPPORTED,
            "a subquery that groups by the privacy unit has no ROLLUP, CUBE or GROUPING SETS",
            "GROUP BY the unit alone there: "
            "SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table GROUP BY unit) q.",
            sources.lexed.lexemes[select.clauses["group"][0]].position,
        )
    written = [one.key.expression for one in read.keys]
    held = [key for key in written if isinstance(key, ColumnRef) and _name(key) in units]
    place = select.clauses.get("group", select.items)[0]
    if not held:
        sources.refuse(place, "GROUP BY here can only be on the privacy unit itself")
    inner = Inner(sources.alias(), [])
    written_keys = tuple(key for key in written if columns(key) and key not in held)
    grouped = GroupedColumns(
        inner.alias, units, written_keys, partial(depends_on_keys, scope, written)
    )
    readers = {**readers_within(inner), exp.Window: _refuse_window}
    reading = replace(scope, readers=readers)
    outputs = [
        (name, grouped.read(expression), kind)
        for name, expression, kind in outputs_of(sources, select, reading)
    ]
    having = None
    if "having" in select.clauses:
        having = grouped.read(condition_of(sources, select.clauses["having"], reading))
    relation = scope.with_lookups(relation)
    keys = tuple(grouped.keys)
    rows = GroupByUnit(inner.alias, relation, where, held[0], tuple(inner.aggregates), keys=keys)
    named = tuple((name, expression) for name, expression, _ in outputs)
    position = sources.lexed.lexemes[place].position
    subquery = Subquery(sources.alias(), rows, having, named, position)
    return subquery, {name: kind for name, _, kind in outputs}


_EDGES = (
    "Ask for edges, percentiles of the totals: SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP"
    " (ORDER BY s) FROM (SELECT unit, sum(column) AS s FROM table GROUP BY unit) q. Then group by them: CASE"
    " WHEN s < edge THEN 1 ELSE 2 END."
)
_TOTALS = (
    "Aggregate the totals in the query around: SELECT sum(s) FROM (SELECT unit, sum(column) AS s FROM table"
    " GROUP BY unit) q."
)


def _refuse_window(node: exp.Expr, scope: Scope) -> NoReturn:
    """Of the one row of each unit, whose place among others is made of their rows."""
    name = function_name(node.this)
    raise Refusal(
        Code.UNSUPPORTED,
        f"window function {name} is not available over one row for each unit, as it reads the rows of others",
        _EDGES if node.args.get("order") is not None else _TOTALS,
        position_of(node),
    )


def distinct_rows(sources: Sources, rows: Subquery, keyword: int) -> Subquery:
    """DISTINCT of rows that have their columns already, window functions among them, as GROUP BY all of them.

    Refuses  UNSUPPORTED: neither the privacy unit nor what names a row is among the columns
    """
    names = [name for name, _ in rows.outputs]
    columns = [
        ColumnRef(name, part.type or SqlType.TEXT, None, rows.alias) for name, part in rows.outputs
    ]
    units = unit_columns(rows, sources.tables.values())
    held = [one for one in columns if _name(one) in units]
    named = [one for one in columns if _name(one) in row_names(rows)]
    if not (held or named) or len(set(names)) < len(names):
        sources.refuse(
            keyword + 1, "DISTINCT here needs the privacy unit, and columns of different names"
        )
    alias = sources.alias()
    keys = tuple(one for one in columns if one not in held)
    numbers = {key: key_column(number) for number, key in enumerate(keys, start=1)}
    outputs = tuple(
        (one.column, ColumnRef(numbers.get(one, UNIT_COLUMN), one.type, None, alias))
        for one in columns
    )
    grouped = GroupByUnit(alias, rows, None, (*held, *named)[0], (), keys=keys)
    return Subquery(sources.alias(), grouped, None, outputs, rows.position)


def _name(column: ColumnRef) -> tuple[str, str]:
    return column.relation, column.column


class GroupedColumns:
    """Expressions over the rows of a unit as expressions over the one row that they become.

    Attributes:
        keys: Those given, and the columns that depend on them.
    """

    def __init__(
        self,
        alias: str,
        units: frozenset[tuple[str, str]],
        keys: tuple[Expression, ...],
        depends: Callable[[ColumnRef], bool],
    ) -> None:
        self._alias, self._units, self._depends = alias, units, depends
        self._known: dict[Expression, Expression] = {}
        self.keys = list(keys)
        numbered = list(enumerate(keys, start=1))
        for number, key in sorted(numbered, key=lambda one: size(one[1])):
            # a key may stand within another
            self._known[rebuild(key, self._one)] = self._column(number, key)

    def read(self, expression: Expression) -> Expression:
        """
        Refuses  UNSUPPORTED: a column that has several values in it
        """

        def check(part: Expression) -> Expression:
            if isinstance(part, ColumnRef) and part.relation != self._alias:
                raise Refusal(
                    Code.UNSUPPORTED,
                    f'"{part.column}" is neither the privacy unit nor inside an aggregate',
                    "Aggregate the column in the subquery, or group by it there.",
                    part.position,
                )
            return part

        return rebuild(rebuild(expression, self._one), check)

    def _one(self, part: Expression) -> Expression:
        if isinstance(part, ColumnRef) and _name(part) in self._units:
            return ColumnRef(UNIT_COLUMN, part.type, part.position, self._alias)
        if part not in self._known and isinstance(part, ColumnRef) and self._depends(part):
            self.keys.append(part)
            self._known[part] = self._column(len(self.keys), part)
        return self._known.get(part, part)

    def _column(self, number: int, key: Expression) -> ColumnRef:
        assert key.type is not None
        return ColumnRef(key_column(number), key.type, None, self._alias)
