"""FROM clauses and SELECTs that give rows, as relations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.errors import Refusal
from proxy.base.result_columns import union_column
from proxy.base.sql_types import SqlType
from proxy.query.bind.computed_join_keys import ComputedKeys
from proxy.query.bind.expression_reading import exact, shallow
from proxy.query.bind.join_conditions import (
    aliases,
    conjunction,
    conjuncts,
    equalities,
    of_both,
    with_equalities,
)
from proxy.query.bind.scope import ColumnType, Named
from proxy.query.canonical import trees
from proxy.query.canonical.asked_of_rows import AskedOfRows
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.context import Ctes, StatementContext, cte_of, is_grouped, with_ctes
from proxy.query.canonical.expression_nodes import condition, read
from proxy.query.canonical.grouping import groups_of_some_rows
from proxy.query.canonical.per_unit import read_distinct, read_per_unit, unit_keys
from proxy.query.canonical.rows_meeting_answers import rows_in
from proxy.query.canonical.rows_of_constants import ConstantRow, crossed_rows, query_of
from proxy.query.canonical.values import TypedValue
from proxy.query.canonical.visible_names import VisibleNames, VisibleRelation
from proxy.query.canonical.walk import has_aggregate, has_window, names_table, parts, subqueries
from proxy.query.canonical.windows_below import WindowsBelow
from proxy.query.ir.exposed import row_names, unit_columns
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import (
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    Expression,
    Parameter,
)
from proxy.query.ir.relations import Join, Relation, Scan, Subquery, UnionAll, scans


class RowsOrAnswers(Enum):
    """What a query gives: rows of protected tables, or of public ones alone; answers; else CLEAN."""

    ROWS = "rows"
    PUBLIC = "public"
    ANSWERS = "answers"
    CLEAN = "clean"


Outputs = tuple[tuple[str, TypedValue], ...]
_RANGES = frozenset({"<", ">", "<=", ">="})


@dataclass(frozen=True, slots=True)
class RowsOf:
    """The rows of a query as a relation, and its columns by the names that they have outside."""

    relation: Relation
    columns: Outputs


class RelationReader:
    """Reads FROM clauses of one statement."""

    def __init__(self, context: StatementContext) -> None:
        self.context = context
        self._natures: dict[int, RowsOrAnswers] = {}
        self._kept: list[trees.QueryTree] = []  # identities are keys
        self._whole_groups: set[int] = set()
        self._inside_ctes = 0
        self.answers: Callable[[trees.QueryTree, Ctes], Parameter | None] | None = None

    def base_scope(self) -> VisibleNames:
        return VisibleNames(
            parameters=self.context.parameters,
            enumerations=self.context.enumerations,
            constants=self.context.constants,
        )

    # What a query gives

    def nature(self, query: trees.QueryTree, ctes: Ctes) -> RowsOrAnswers:
        found = self._natures.get(id(query))
        if found is None:
            self._natures[id(query)] = RowsOrAnswers.CLEAN  # a recursive CTE ends here
            self._kept.append(query)
            found = self._natures[id(query)] = self._nature(query, with_ctes(query, ctes))
        return found

    def _nature(self, query: trees.QueryTree, ctes: Ctes) -> RowsOrAnswers:
        if isinstance(query, trees.ValuesTree):
            return RowsOrAnswers.CLEAN
        if isinstance(query, trees.SetTree):
            parts = [self.nature(part, ctes) for part in query.parts]
            for one in (RowsOrAnswers.ROWS, RowsOrAnswers.ANSWERS, RowsOrAnswers.CLEAN):
                if one in parts:
                    return one
            return RowsOrAnswers.PUBLIC if query.operator == "UNION ALL" else RowsOrAnswers.CLEAN
        items = [self._item_nature(item, ctes) for item in leaves(query.source)]
        if RowsOrAnswers.ROWS not in items:
            is_plain = not (is_grouped(query) or query.having or has_aggregate(query.items))
            is_plain = is_plain and query.ending.limit is None and query.ending.offset is None
            is_public = items and all(one is RowsOrAnswers.PUBLIC for one in items)
            if is_plain and is_public and not query.distinct_on and not query.ending.order:
                return RowsOrAnswers.PUBLIC
            return RowsOrAnswers.CLEAN
        aggregates = has_aggregate((query.items, query.having, query.ending.order))
        if query.distinct_on and not aggregates and not query.group:
            return (
                RowsOrAnswers.ROWS if self._groups_by_unit(query, ctes) else RowsOrAnswers.ANSWERS
            )
        if not aggregates and not is_grouped(query) and query.having is None:
            return RowsOrAnswers.ROWS
        if not query.group and aggregates:
            return RowsOrAnswers.ANSWERS
        return RowsOrAnswers.ROWS if self._groups_by_unit(query, ctes) else RowsOrAnswers.ANSWERS

    def _item_nature(self, item: trees.FromItem, ctes: Ctes) -> RowsOrAnswers:
        match item:
            case trees.TableInFrom():
                cte = cte_of(item, ctes)
                if cte is not None:
                    return self.nature(cte.tree.query, cte.around)
                table = self.context.table(item)
                if table is None:
                    return RowsOrAnswers.CLEAN
                return RowsOrAnswers.ROWS if table.protected else RowsOrAnswers.PUBLIC
            case trees.QueryInFrom():
                return self.nature(item.query, ctes)
            case trees.FunctionInFrom():
                return RowsOrAnswers.CLEAN
            case trees.JoinInFrom() | trees.RawSql():
                raise AssertionError("leaves are no joins")
            case _:
                assert_never(item)

    def answers_in(
        self, source: Sequence[trees.FromItem], ctes: Ctes
    ) -> Callable[[trees.FromItem], bool]:
        """Whether a leaf of this FROM clause can be joined with answers, not with rows."""
        crossed = crossed_rows(source, ctes)
        of_ranges = frozenset(id(one) for item in source for one in self._public_ranges(item, ctes))

        def is_answer(item: trees.FromItem) -> bool:
            if isinstance(item, trees.FunctionInFrom):
                return _is_of_constants(item)
            if id(item) in of_ranges:
                return True
            if isinstance(item, trees.TableInFrom) and cte_of(item, ctes) is None:
                return False
            is_clean = self._item_nature(item, ctes) in (RowsOrAnswers.ANSWERS, RowsOrAnswers.CLEAN)
            return is_clean and not crossed.has(item)

        return is_answer

    def _public_ranges(self, item: trees.FromItem, ctes: Ctes) -> Iterator[trees.FromItem]:
        """Public rows that rows meet by ranges alone: a row may meet several, as it meets those of a series."""
        if not isinstance(item, trees.JoinInFrom):
            return
        found = {
            one.operator
            for one in parts(item.on, with_queries=True)
            if isinstance(one, trees.OperatorTree)
        }
        for side in (item.left, item.right):
            yield from self._public_ranges(side, ctes)
            if isinstance(side, trees.JoinInFrom) or not found & _RANGES or "=" in found:
                continue
            if self._item_nature(side, ctes) is RowsOrAnswers.PUBLIC:
                yield side

    def lists_answers(self, query: trees.QueryTree, ctes: Ctes) -> bool:
        """Whether a query behind IN gives answers with groups, or what is made of such."""
        nature = self.nature(query, ctes)
        if nature is RowsOrAnswers.ANSWERS:
            return not isinstance(query, trees.SelectTree) or is_grouped(query)
        return nature is RowsOrAnswers.CLEAN and self._has_answers(query, ctes)

    def _has_answers(self, query: trees.QueryTree, ctes: Ctes) -> bool:
        inner = with_ctes(query, ctes)
        if isinstance(query, trees.SetTree):
            return any(self.lists_answers(part, inner) for part in query.parts)
        if isinstance(query, trees.ValuesTree):
            return False
        items = leaves(query.source)
        if any(self._item_nature(item, inner) is RowsOrAnswers.ANSWERS for item in items):
            return True
        queries = [query_of(item, inner) for item in items]
        return any(self._has_answers(one, inner) for one in queries if one is not None)

    def _groups_by_unit(self, select: trees.SelectTree, ctes: Ctes) -> bool:
        probe = RelationReader(self.context)
        rows = rows_in(select.source, self.answers_in(select.source, ctes))
        relation, scope = probe.source(replace(select, source=(rows,)), ctes)
        units = unit_columns(relation, self.context.tables.values()) | row_names(relation)
        for tree in unit_keys(select):
            if not isinstance(tree, trees.ColumnName):
                continue
            try:
                found = read(tree, scope).expression
            except Refusal:
                continue
            if isinstance(found, ColumnRef) and (found.relation, found.column) in units:
                return True
        return False

    # FROM

    def source(
        self, select: trees.SelectTree, ctes: Ctes, outer: VisibleNames | None = None
    ) -> tuple[Relation, VisibleNames]:
        """The FROM clause, and what names mean in the SELECT."""
        if not select.source:
            raise unread("a query without FROM among rows")
        inner = groups_of_some_rows(select)
        if inner is not None:
            self._whole_groups.add(id(inner))
        scope = self.base_scope() if outer is None else replace(outer, merged={}, own=frozenset())
        crossed = crossed_rows(select.source, ctes)
        if not crossed.items:
            raise unread("rows of constants alone")
        for row in crossed.constants:
            scope = self._with_constants(row, scope)
        relation, scope = self._item(crossed.items[0], scope, ctes)
        for item in crossed.items[1:]:
            right, scope = self._item(item, scope, ctes)
            relation = Join(relation, right, False, (), None)
        scope = replace(scope, own=frozenset(aliases(relation)))
        lookups = AskedOfRows(self, relation, ctes)
        return relation, replace(scope, subquery=lookups.read, lookups=lookups)

    def _item(
        self, item: trees.FromItem, scope: VisibleNames, ctes: Ctes
    ) -> tuple[Relation, VisibleNames]:
        match item:
            case trees.TableInFrom():
                found, visible = self._table(item, ctes)
                return found, _seen(scope, item.alias, visible)
            case trees.QueryInFrom():
                if item.is_lateral:
                    raise unread("LATERAL beside rows of a protected table")
                rows = self.rows(item.query, ctes)
                relation, visible = self._renamed(rows, item.columns)
                return relation, _seen(scope, item.alias, visible)
            case trees.FunctionInFrom() | trees.RawSql():
                raise unread("a function in FROM beside rows of a protected table")
            case trees.JoinInFrom():
                return self._join(item, scope, ctes)
            case _:
                assert_never(item)

    def _table(self, item: trees.TableInFrom, ctes: Ctes) -> tuple[Relation, VisibleRelation]:
        cte = cte_of(item, ctes)
        if cte is not None:
            if cte.tree.is_recursive and names_table(cte.tree.query, cte.tree.name):
                raise unread("a recursive query")
            self._inside_ctes += 1
            rows = self.rows(cte.tree.query, cte.around)
            self._inside_ctes -= 1
            names = (*item.columns, *cte.tree.columns[len(item.columns) :])
            return self._renamed(rows, names)
        table = self.context.table(item)
        if table is None:
            raise unread("a table that the policy does not list, beside rows of a protected table,")
        alias = self.context.alias()
        values = {
            name: TypedValue(
                ColumnRef(name, column.type, None, alias),
                column.type if column.enumeration else _known_type(column.type),
                column.display_type_name,
                () if column.enumeration is None else column.enumeration.labels,
            )
            for name, column in table.columns.items()
        }
        if not item.columns:
            return Scan(alias, table.name), VisibleRelation(alias, values)
        order = tuple(table.columns)
        if len(order) != len(item.columns):
            raise unread("a list of names for the columns of a table")
        shown = {
            new: values[own] for own, new in zip(order, item.columns, strict=True) if own in values
        }
        outer = self.context.alias()
        outputs = tuple((name, value.expression) for name, value in shown.items())
        return (
            Subquery(outer, Scan(alias, table.name), None, outputs),
            VisibleRelation(outer, _columns_of(outer, tuple(shown.items()))),
        )

    def _renamed(self, rows: RowsOf, names: Sequence[str]) -> tuple[Relation, VisibleRelation]:
        """A subquery with other names for its first columns."""
        relation = rows.relation
        assert isinstance(relation, Subquery)
        shown = [*names, *(name for name, _ in rows.columns[len(names) :])]
        if len(shown) != len(rows.columns):
            raise unread("a column list with more names than columns")
        renamed = tuple((new, value) for new, (_, value) in zip(shown, rows.columns, strict=True))
        if names:
            # Columns of no policy are in the list, and not among those of the relation.
            of = dict(zip((name for name, _ in rows.columns), shown, strict=True))
            outputs = tuple((of[name], part) for name, part in relation.outputs)
            relation = replace(relation, outputs=outputs)
        return relation, VisibleRelation(relation.alias, _columns_of(relation.alias, renamed))

    def _join(
        self, item: trees.JoinInFrom, scope: VisibleNames, ctes: Ctes
    ) -> tuple[Relation, VisibleNames]:
        left, scope = self._item(item.left, scope, ctes)
        before = dict(scope.merged)
        right, scope = self._item(item.right, scope, ctes)
        if item.kind == "RIGHT":
            left, right = right, left
        is_outer = item.kind in ("LEFT", "RIGHT", "FULL")
        sides = (aliases(left), aliases(right))
        equal: list[tuple[ColumnRef, ColumnRef]] = []
        merged: dict[str, ColumnRef] = {}
        for name in item.using:
            both = {**before, **scope.merged}
            first, second = (
                self._of_side(scope, side, name, known)
                for side, known in zip(sides, (before, both), strict=True)
            )
            equal.append((first, second))
            merged[name] = of_both(first, second, is_outer)
        scope = replace(scope, merged={**scope.merged, **merged})
        if item.alias:
            raise unread("an alias of the columns of USING")
        rest: Expression | None = None
        lists = AskedOfRows(self, left, ctes, is_public_only=True)
        scope = replace(scope, subquery=lists.read)
        if item.on is not None and item.on != trees.Literal(True):
            found, others = equalities(condition(item.on, scope), *sides)
            equal += found
            rest = conjunction(others)
        joined = Join(left, right, is_outer, tuple(equal), rest)
        if rest is not None:
            completed, others = self._keys(scope).applied(joined, conjuncts(rest))
            assert isinstance(completed, Join)
            joined = replace(completed, rest=conjunction(others))
        return self._without_public_rows(item, joined), scope

    def _of_side(
        self, scope: VisibleNames, side: set[str], name: str, merged: Mapping[str, ColumnRef]
    ) -> ColumnRef:
        """The column of a side of USING, which may be one that another USING has merged."""
        if name in merged and merged[name].relation in side:
            return merged[name]
        found = [
            relation.columns[name].expression
            for relation in scope.relations.values()
            if relation.alias in side and name in relation.columns
        ]
        if len(found) != 1 or not isinstance(found[0], ColumnRef):
            raise unread(f'the column "{name}" of USING')
        return found[0]

    def _is_public(self, relation: Relation) -> bool:
        return not any(self.context.tables[scan.table].protected for scan in scans(relation))

    def _without_public_rows(self, item: trees.JoinInFrom, joined: Join) -> Join:
        """An outer join that keeps public rows, as one that does not (bind/added_rows.py)."""
        is_public = [self._is_public(side) for side in (joined.left, joined.right)]
        is_full = item.kind == "FULL"
        match is_public:
            case [True, False] if joined.left_outer:
                turned = replace(joined, left_outer=False, has_public_outer=True)
                if is_full:
                    pairs = tuple((b, a) for a, b in joined.equal)
                    turned = replace(
                        turned, left=joined.right, right=joined.left, equal=pairs, left_outer=True
                    )
            case [False, True] if is_full:
                turned = replace(joined, has_public_outer=True)
            case _ if is_full:
                raise unread("FULL JOIN between protected tables")
            case _:
                return joined
        public = joined.left if is_public[0] else joined.right
        names = set() if joined.rest is None else {alias for alias, _ in columns(joined.rest)}
        if (item.using and is_full) or names & aliases(public):
            raise unread("this condition of an outer join that keeps rows of a public table")
        return turned

    def _keys(self, scope: VisibleNames) -> ComputedKeys:
        named = [
            Named(
                relation.alias,
                frozenset(),
                {
                    one.expression.column: ColumnType(one.expression.type, one.name, one.labels)
                    for one in relation.columns.values()
                    if isinstance(one.expression, ColumnRef)
                },
            )
            for relation in scope.relations.values()
        ]
        public = {table.name for table in self.context.tables.values() if not table.protected}
        return ComputedKeys(
            named=named, is_public=lambda scan: scan.table in public, new_alias=self.context.alias
        )

    def where(
        self, tree: trees.Tree | None, relation: Relation, scope: VisibleNames
    ) -> tuple[Relation, Expression | None]:
        """WHERE; equalities in it complete joins that are written with commas."""
        if tree is None:
            return relation, None
        found = condition(tree, scope)
        relation = with_equalities(relation, found)
        return self._keys(scope).applied(relation, conjuncts(found))[0], found

    def _with_constants(self, row: ConstantRow, scope: VisibleNames) -> VisibleNames:
        base = self.base_scope()
        shown = {name or output_name(tree): read(tree, base) for name, tree in row.columns}
        return _seen(scope, row.item.alias, VisibleRelation("", shown))

    # What lookups need

    def reaches_rows(self, query: trees.QueryTree, ctes: Ctes) -> bool:
        return self.nature(query, ctes) in (RowsOrAnswers.ROWS, RowsOrAnswers.ANSWERS)

    def rows_of(self, query: trees.QueryTree, ctes: Ctes) -> tuple[Subquery, Outputs]:
        rows = self.rows(query, ctes)
        assert isinstance(rows.relation, Subquery)
        return rows.relation, rows.columns

    def scalar(self, query: trees.QueryTree, ctes: Ctes) -> Parameter | None:
        """The answer of a subquery by itself; None: it is asked of each row."""
        return None if self.answers is None else self.answers(query, ctes)

    # SELECTs that give rows

    def rows(self, query: trees.QueryTree, ctes: Ctes) -> RowsOf:
        """
        Raises:
            Refusal: LIMIT and the like below an aggregate: which rows stay would be data's.
        """
        inner = with_ctes(query, ctes)
        if isinstance(query, trees.ValuesTree):
            raise unread("VALUES beside rows of a protected table")
        if isinstance(query, trees.SetTree):
            return self._union(query, inner)
        nature = self.nature(query, ctes)
        if nature not in (RowsOrAnswers.ROWS, RowsOrAnswers.PUBLIC):
            raise unread("a query with other rows than those of protected tables, beside these,")
        if any(subqueries(query.ending.order)):
            raise unread("ORDER BY an answer below an aggregate")
        is_cut = query.ending.limit is not None and id(query) not in self._whole_groups
        is_first = bool(query.distinct_on) and nature is RowsOrAnswers.ROWS
        if is_cut or query.ending.offset or query.windows or (query.distinct_on and not is_first):
            raise unread("LIMIT, OFFSET, DISTINCT ON or WINDOW below an aggregate")
        relation, scope = self.source(query, inner)
        relation, where = self.where(query.where, relation, scope)
        is_windowed = has_window(query.items)
        is_distinct = query.is_distinct and not is_first
        if query.group or (is_distinct and not is_windowed):
            return self._per_unit(query, relation, where, scope)
        if has_aggregate(query.items):
            raise unread("an aggregate here without GROUP BY the privacy unit")
        windows = WindowsBelow()
        reading = replace(scope, window=windows.read)
        outputs = named_apart(self._outputs(query, reading))
        if windows.names_rows and self._inside_ctes:
            raise unread("gen_random_uuid() in WITH, which could be another each time it is named,")
        number = windows.first_row(query, scope) if is_first else None
        relation = scope.joined(relation)
        named = tuple((name, value.exact()) for name, value in outputs)
        if number is not None:
            named = (*named, ("", number))
        relation, where, named = windows.below(self.context.alias, relation, where, named)
        if number is not None:
            first = Constant(Fraction(1), SqlType.INT8)
            where = Comparison(Comparator.EQ, named[-1][1], first)
            named = named[:-1]
        subquery = Subquery(self.context.alias(), relation, where, named)
        shown = tuple(outputs)
        if is_distinct:
            subquery = read_distinct(self.context, subquery)
        return RowsOf(subquery, shown)

    def _outputs(
        self, select: trees.SelectTree, scope: VisibleNames
    ) -> list[tuple[str, TypedValue]]:
        """The items after SELECT, without columns of no policy, which nobody can name outside."""
        found = []
        for tree, name in select.items:
            if isinstance(tree, trees.ColumnName) and _is_unlisted(tree, scope):
                continue
            value = read(tree, scope)
            exact(shallow(value.expression))
            found.append((name or output_name(tree), value))
        return found

    def _per_unit(
        self,
        select: trees.SelectTree,
        relation: Relation,
        where: Expression | None,
        scope: VisibleNames,
    ) -> RowsOf:
        made, outputs = read_per_unit(
            self.context, select, relation, where, scope, lambda inner: self._outputs(select, inner)
        )
        return RowsOf(made, outputs)

    def _union(self, query: trees.SetTree, ctes: Ctes) -> RowsOf:
        if query.operator != "UNION ALL" or query.ending.limit or query.ending.offset:
            raise unread(f"{query.operator} of rows of protected tables")
        read_parts = [self.rows(part, ctes) for part in query.parts]
        width = {len(part.columns) for part in read_parts}
        if len(width) != 1:
            raise unread("a union of different numbers of columns of the policy")
        places = tuple(union_column(n) for n in range(1, width.pop() + 1))
        united = []
        for part in read_parts:
            outputs = tuple(
                (place, ColumnRef(name, _type_of(value), None, part.relation.alias))  # type: ignore[union-attr]
                for place, (name, value) in zip(places, part.columns, strict=True)
            )
            united.append(Subquery(self.context.alias(), part.relation, None, outputs))
        union = UnionAll(self.context.alias(), tuple(united))
        shown: list[tuple[str, TypedValue]] = []
        for number, place in enumerate(places):
            values = [part.columns[number][1] for part in read_parts]
            kinds = {_union_type(value.type) for value in values}
            if len(kinds) != 1:
                raise unread("a union of columns of different types")
            name = read_parts[0].columns[number][0]
            kind = _type_of(values[0])
            names = {value.name for value in values}
            if len({_type_of(value) for value in values}) > 1:
                kind = _union_type(kind)
            written = names.pop() if len(names) == 1 else kind.sql
            labels = values[0].labels if len({value.labels for value in values}) == 1 else ()
            column = ColumnRef(place, kind, None, union.alias)
            shown.append((name, TypedValue(column, values[0].type, written, labels)))
        named = tuple((name, value.expression) for name, value in shown)
        return RowsOf(Subquery(self.context.alias(), union, None, named), tuple(shown))


def leaves(items: Sequence[trees.FromItem]) -> list[trees.FromItem]:
    found: list[trees.FromItem] = []
    for item in items:
        found += leaves((item.left, item.right)) if isinstance(item, trees.JoinInFrom) else [item]
    return found


def _is_of_constants(item: trees.FunctionInFrom) -> bool:
    """
    Raises:
        Refusal: UNSUPPORTED: another function than those whose rows the shadow knows.
    """
    call = item.call
    is_known = isinstance(call, trees.Call) and call.name in ("generate_series", "unnest")
    if not is_known or any(isinstance(one, trees.ColumnName) for one in parts(call)):
        raise unread("a function in FROM beside a protected table")
    return True


def _seen(scope: VisibleNames, alias: str, relation: VisibleRelation) -> VisibleNames:
    return replace(scope, relations={**scope.relations, alias: relation})


def _type_of(value: TypedValue) -> SqlType:
    return value.exact().type or value.type


def _known_type(kind: SqlType) -> SqlType:
    """Labels that are not public are texts on the shadow, and so are texts of several collations."""
    return _union_type(SqlType.INTERVAL if kind is SqlType.DURATION else kind)


def _union_type(kind: SqlType) -> SqlType:
    return SqlType.TEXT if kind in (SqlType.ENUM, SqlType.COLLATED) else kind


def _columns_of(alias: str, outputs: Outputs) -> dict[str, TypedValue]:
    """The columns of a subquery as the SELECT around it sees them."""
    return {
        name: TypedValue(
            ColumnRef(name, _type_of(value), None, alias), value.type, value.name, value.labels
        )
        for name, value in outputs
    }


def _is_unlisted(tree: trees.ColumnName, scope: VisibleNames) -> bool:
    relation = scope.relations.get(tree.relation)
    return relation is not None and tree.column not in relation.columns


def output_name(tree: trees.Tree) -> str:
    return tree.column if isinstance(tree, trees.ColumnName) else "?column?"


def named_apart(outputs: Sequence[tuple[str, TypedValue]]) -> tuple[tuple[str, TypedValue], ...]:
    """Of outputs of one name, which nobody can name, the later ones under names of ours."""
    written = {name for name, _ in outputs}
    found: dict[str, TypedValue] = {}
    numbers = itertools.count(1)
    for name, value in outputs:
        own = name
        while own in found or (own is not name and own in written):
            own = f"dp_same_{next(numbers)}"
        found[own] = value
    return tuple(found.items())
