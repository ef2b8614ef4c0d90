"""Subqueries that are asked of each row of a SELECT, read: EXISTS, IN and scalar aggregates of protected rows.

Each becomes a LEFT JOIN with one row for each unit and each value of the columns that it compares with the row
around it, and an expression over that: whether there is a partner, or the partner's aggregates. Whether what
is compared is the privacy unit, the planner decides (planner.lookups).

In PostgreSQL's three values EXISTS is true or false. IN is NULL where what stands before it is, or where
nothing is equal and the list has a NULL: both are rows of nobody (ADR 0012), but for the far side of an outer
join, which is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.query.bind.aggregate_reading import Inner, readers_within
from proxy.query.bind.clause_reading import condition_of, outputs_of
from proxy.query.bind.join_conditions import aliases, conjuncts, equalities, with_equalities
from proxy.query.bind.scope import ColumnType, Named, Scope
from proxy.query.bind.sources import Sources
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import (
    Choice,
    Choose,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
    InPublic,
    Is,
    Not,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.rebuilding import conjunction, rebuild
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll
from proxy.query.syntax.placeholder_tokens import RowSubquery
from proxy.query.syntax.selects import Select, aggregates_rows

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT)
_Source = tuple[Relation, Scope]
_Rows = tuple[Subquery, dict[str, ColumnType]]


@dataclass(frozen=True, slots=True)
class _QueriedRows:
    """The rows of a subquery: its own condition, and the pairs that are equal, those of the row around first;
    orders: other comparisons, of an own column with one of the row around."""

    relation: Relation
    where: Expression | None
    pairs: tuple[tuple[ColumnRef, ColumnRef], ...]
    place: int | None
    orders: tuple[tuple[Comparator, ColumnRef, ColumnRef], ...] = ()


@dataclass(slots=True, eq=False)
class RowLookups:
    """Those of one SELECT. relation: its FROM clause; take, rows: of source_reading, for the subqueries' own;
    found: by their words, as the same subquery may be written twice; joins: what they have become;
    written: how the question names relations, by our aliases."""

    sources: Sources
    relation: Relation
    take: Callable[[Sources, Select], _Source]
    rows: Callable[[Sources, Select], _Rows]
    found: dict[object, Expression] = field(default_factory=dict)
    joins: list[tuple[Subquery, tuple[tuple[ColumnRef, ColumnRef], ...], int | None]] = field(
        default_factory=list
    )
    written: dict[str, str] = field(default_factory=dict)

    def read(self, subquery: RowSubquery, operand: Expression | None, scope: Scope) -> Expression:
        """
        Refuses  UNSUPPORTED: forms that are no join with one row per unit
        """
        select = self.sources.of_rows[subquery.index]
        lexemes = self.sources.lexed.lexemes
        is_exists = lexemes[select.keyword - 2].word == "exists"
        # As they are written: 'kind' is a text, kind a column.
        text = self.sources.lexed.text
        words = tuple(text[x.start : x.end] for x in lexemes[select.keyword : select.end])
        name = (is_exists, words, operand)
        if name not in self.found:
            try:
                if operand is not None:
                    self.found[name] = self._is_in(select, operand, scope)
                elif is_exists:
                    self.found[name] = self._exists(select, scope)
                else:
                    self.found[name] = self._scalar(select, scope)
            except Refusal as refusal:
                place = lexemes[select.keyword - 1].position
                raise (refusal if refusal.position is not None else refusal.at(place)) from None
        inside = range(select.keyword, select.end)  # the same words again are read by now
        self.sources.consumed |= {s.keyword for s in self.sources.selects if s.keyword in inside}
        return self.found[name]

    def joined(self, relation: Relation) -> Relation:
        for subquery, pairs, place in self.joins:
            written = tuple(self.written.items())
            relation = Join(
                relation, subquery, True, pairs, None, place, is_lookup=True, written=written
            )
        return relation

    def _exists(self, select: Select, scope: Scope) -> Expression:
        _only(select, "items", "from", "where", "limit")
        queried, inner = self._queried(select, scope)
        if aggregates_rows(self.sources.lexed, replace(select, distinct=False)):
            refuse("EXISTS of an aggregate is always true")
        if not self._leaves_rows(select):
            refuse("this LIMIT in EXISTS is not available on a protected table")
        if isinstance(queried.relation, Scan) and not self._is_protected(queried.relation):
            return self._exists_public(queried, queried.relation, inner)
        if queried.orders:
            return self._exists_in_order(queried, inner)
        return _is_there(self._add(inner.with_lookups(queried.relation), queried))

    def _exists_in_order(self, queried: _QueriedRows, inner: Scope) -> Expression:
        """Some row is before another where the first of them is, after it where the last is, and other than it
        where one of both is."""
        if len(queried.orders) > 1:
            refuse("only one column of the row around EXISTS can be compared by anything but =")
        ((comparator, own, outer),) = queried.orders
        kinds_of = {own.type, outer.type}
        if any(k.is_float or not (k.is_number or k.is_time) for k in kinds_of):
            refuse(f"{own.type.sql} is compared with the row around EXISTS by = only")
        kinds = ENDS[comparator]
        aggregates = tuple(Aggregate(kind, own, None, own.type) for kind in kinds)
        found = self._add(
            inner.with_lookups(queried.relation), queried, aggregates, is_compared=True
        )
        each = tuple(
            Comparison(
                comparator, ColumnRef(aggregate_column(n), own.type, None, found.alias), outer
            )
            for n in range(1, len(kinds) + 1)
        )
        return Is(each[0] if len(each) == 1 else Connective("OR", each), True)

    def _is_protected(self, scan: Scan) -> bool:
        return any(t.protected for t in self.sources.tables.values() if t.name == scan.table)

    def _exists_public(self, queried: _QueriedRows, scan: Scan, inner: Scope) -> Expression:
        """Rows of a public table are looked up as those of a list are: what NULL is in, is no row."""
        if len(queried.pairs) != 1 or queried.orders or inner.with_lookups(scan) is not scan:
            refuse(
                "EXISTS of a public table compares one of its columns with the row around it",
                "Compare one column: EXISTS (SELECT 1 FROM public_table p WHERE p.id = t.public_id AND ...).",
            )
        ((operand, output),) = queried.pairs
        return Is(InPublic(operand, scan.table, scan.alias, output, queried.where), True)

    def _leaves_rows(self, select: Select) -> bool:
        """Whether LIMIT, if there is one, is a number above 0."""
        span = select.clauses.get("limit")
        if span is None:
            return True
        text = self.sources.lexed.lexemes[span[0]].token.text
        return span[1] == span[0] + 1 and text.isascii() and text.isdigit() and int(text[:9]) > 0

    def _is_in(self, select: Select, operand: Expression, scope: Scope) -> Expression:
        if not isinstance(operand, ColumnRef):
            refuse("IN (SELECT ...) of a protected table takes the privacy unit before it")
        _only(select, "items", "from", "where", "group", "having")
        if "group" in select.clauses:
            relation, kinds = self.rows(self.sources, select)
            source: Relation = relation
            outputs: list[Expression] = [
                ColumnRef(name, kind.type, None, relation.alias) for name, kind in kinds.items()
            ]
            queried = _QueriedRows(relation, None, (), relation.position)
        else:
            queried, inner = self._queried(select, scope)
            outputs = [expression for _, expression, _ in outputs_of(self.sources, select, inner)]
            source = inner.with_lookups(queried.relation)
        if queried.pairs or queried.orders:
            refuse("IN with a subquery that names columns of the row around it is not available")
        output = outputs[0] if len(outputs) == 1 else None
        if not isinstance(output, ColumnRef):
            refuse("IN takes one column of a protected table, which is its privacy unit")
        if may_lack(self.relation, operand) or may_lack(source, output):
            refuse("IN on a column of an outer join's other side is not available")
        return _is_there(self._add(source, replace(queried, pairs=((operand, output),))))

    def _scalar(self, select: Select, scope: Scope) -> Expression:
        _only(select, "items", "from", "where")
        queried, own = self._queried(select, scope)
        inner = Inner(self.sources.alias(), [])
        reading = replace(own, readers=readers_within(inner), outer=None)
        outputs = outputs_of(self.sources, select, reading)
        if queried.orders:
            refuse("a scalar subquery can compare columns with the row around it by = only")
        if len(outputs) != 1 or not inner.aggregates:
            refuse("a scalar subquery about each row must be one aggregate")
        value = outputs[0][1]
        if {alias for alias, _ in columns(value)} != {inner.alias}:
            refuse("a column stands outside of the aggregate of this subquery")
        aggregates = tuple(inner.aggregates)
        there = self._add(own.with_lookups(queried.relation), queried, aggregates)
        return rebuild(value, lambda part: _of_row(part, there.alias, aggregates))

    def _queried(self, select: Select, scope: Scope) -> tuple[_QueriedRows, Scope]:
        """The rows of a subquery, and what names mean in it; what it looks up itself is not joined yet."""
        relation, inner = self.take(self.sources, select)
        inner = replace(inner, outer=scope)
        self.written |= written_names((*scope.relations, *inner.relations))
        span = select.clauses.get("where")
        parts = () if span is None else conjuncts(condition_of(self.sources, span, inner))
        around = frozenset(aliases_around(inner))
        own = [part for part in parts if not names_any(part, around)]
        ours, theirs = ({named.alias for named in one.relations} for one in (inner, scope))
        naming = [part for part in parts if names_any(part, around)]
        orders = {part: order for part in naming if (order := order_of(part, ours, theirs))}
        pairs = [equal_pair(part, ours, theirs) for part in naming if part not in orders]
        where = conjunction(own)
        if where is not None:
            relation = with_equalities(relation, where)
        place = self.sources.lexed.lexemes[select.keyword - 1].position
        queried = _QueriedRows(
            relation, where, tuple(dict.fromkeys(pairs)), place, tuple(orders.values())
        )
        return queried, inner

    def _add(
        self,
        source: Relation,
        queried: _QueriedRows,
        aggregates: tuple[Aggregate, ...] = (),
        *,
        is_compared: bool = False,
    ) -> Subquery:
        """One row for each unit and each value that is compared, as a join to come."""
        if not queried.pairs:
            refuse("a subquery of a protected table must name the row around it")
        keys = tuple(dict.fromkeys(inner for _, inner in queried.pairs))
        grouped = GroupByUnit(
            self.sources.alias(),
            source,
            queried.where,
            keys[0],
            aggregates,
            keys=keys,
            is_compared=is_compared,
        )
        kinds = {UNIT_COLUMN: keys[0].type}
        kinds |= {key_column(n): key.type for n, key in enumerate(keys, start=1)}
        kinds |= {aggregate_column(n): one.type for n, one in enumerate(aggregates, start=1)}
        outputs = tuple(
            (name, ColumnRef(name, kind, None, grouped.alias)) for name, kind in kinds.items()
        )
        found = Subquery(self.sources.alias(), grouped, None, outputs, queried.place)
        pairs = tuple(
            (outer, ColumnRef(key_column(keys.index(inner) + 1), inner.type, None, found.alias))
            for outer, inner in queried.pairs
        )
        self.joins.append((found, pairs, queried.place))
        return found


def _is_there(found: Subquery) -> Expression:
    return Not(
        Is(
            ColumnRef(UNIT_COLUMN, found.outputs[0][1].type or SqlType.TEXT, None, found.alias),
            None,
        )
    )


def _of_row(part: Expression, alias: str, aggregates: tuple[Aggregate, ...]) -> Expression:
    """An aggregate, in one row per unit, as it is of a row: without partner a count is 0, any other NULL."""
    if not isinstance(part, ColumnRef):
        return part
    there = replace(part, relation=alias)
    numbers = {aggregate_column(n): one.kind for n, one in enumerate(aggregates, start=1)}
    if numbers[part.column] not in _COUNTS:
        return there
    return Choose(Choice.COALESCE, (there, Constant(Fraction(0), SqlType.INT8)), SqlType.INT8)


def _only(select: Select, *clauses: str) -> None:
    others = sorted(select.clauses.keys() - set(clauses))
    if others:
        refuse(
            f"{others[0].upper()} is not available in a subquery about each row of a protected table"
        )


# Conditions of a subquery that name the row around it: equalities, and comparisons that one end decides.


_ON_THE_UNIT = (
    "Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND"
    " o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise."
)
ENDS: Mapping[Comparator, tuple[AggregateKind, ...]] = {
    Comparator.LT: (AggregateKind.MIN,),
    Comparator.LE: (AggregateKind.MIN,),
    Comparator.GT: (AggregateKind.MAX,),
    Comparator.GE: (AggregateKind.MAX,),
    Comparator.NE: (AggregateKind.MIN, AggregateKind.MAX),
}


def aliases_around(scope: Scope) -> Iterator[str]:
    while scope.outer is not None:
        scope = scope.outer
        yield from (named.alias for named in scope.relations)


def written_names(relations: Iterable[Named]) -> dict[str, str]:
    """How the question names them, by our aliases."""
    found = {}
    for named in relations:
        shortest: tuple[str, ...] = min(named.qualifiers, key=len, default=())
        if shortest:
            found[named.alias] = ".".join(shortest)
    return found


def names_any(part: Expression, aliases: frozenset[str]) -> bool:
    return any(alias in aliases for alias, _ in columns(part))


def equal_pair(part: Expression, ours: set[str], theirs: set[str]) -> tuple[ColumnRef, ColumnRef]:
    """The two columns of a condition, that of the row around the subquery first."""
    equal, _ = equalities(part, theirs, ours)
    if len(equal) != 1:
        refuse(
            "only equalities of two columns can name the row around a subquery of a protected table"
        )
    return equal[0]


def order_of(
    part: Expression, ours: set[str], theirs: set[str]
) -> tuple[Comparator, ColumnRef, ColumnRef] | None:
    match part:
        case Comparison(comparator=comparator, left=ColumnRef() as a, right=ColumnRef() as b) if (
            comparator in ENDS
        ):
            if a.relation in ours and b.relation in theirs:
                return comparator, a, b
            if b.relation in ours and a.relation in theirs:
                return comparator.turned, b, a
    return None


def may_lack(relation: Relation, column: ColumnRef) -> bool:
    """Whether rows can be without it, as an outer join has found no partner for them."""
    match relation:
        case Join():
            if column.relation in aliases(relation.right):
                return relation.left_outer or may_lack(relation.right, column)
            return may_lack(relation.left, column)
        case Subquery():
            below = dict(relation.outputs).get(column.column)
            return not isinstance(below, ColumnRef) or may_lack(relation.source, below)
        case UnionAll():
            return any(may_lack(part, column) for part in relation.parts)
        case GroupByUnit():
            keys = {key_column(n): key for n, key in enumerate(relation.keys, start=1)}
            key = keys.get(column.column)
            if key is None:
                return column.column != UNIT_COLUMN
            return not isinstance(key, ColumnRef) or may_lack(relation.source, key)
        case Truncate():
            return may_lack(relation.source, column)
        case Scan():
            return False
        case _:
            assert_never(relation)


def refuse(message: str, hint: str = _ON_THE_UNIT) -> NoReturn:
    raise Refusal(Code.UNSUPPORTED, message, hint)
