"""FROM clauses read: which SELECTs give rows of protected tables, and what relation they are.

A SELECT is *clean* (touches nothing protected, or only answers of blocks), *rows* (one output row per row, or
per unit) or a *block* (aggregates rows: it will be answered with noise).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NoReturn

from sqlglot import exp
from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query import blocks as spans
from proxy.query.aggregate_reading import Inner, readers_within
from proxy.query.blocks import Select, Span, Visible, query_parts
from proxy.query.exposed import Exposed, unit_columns
from proxy.query.expressions import ColumnRef, Expression
from proxy.query.from_clause import Item, JoinItem, QueryItem, TableItem, leaves, read_from
from proxy.query.join_conditions import conjunction, equalities, with_equalities
from proxy.query.reading import READERS, read_condition, read_expression
from proxy.query.rebuilding import rebuild
from proxy.query.relations import Derived, Joined, PerUnit, Relation, Scan, Stacked
from proxy.query.residual import column_name
from proxy.query.scope import ColumnType, Named, PublicColumn, Scope
from proxy.query.slices import HINT, parse, parse_item
from proxy.query.statements import split_commas
from proxy.query.subquery_columns import all_columns, column_type, renamed
from proxy.query.tokens import Lexed


class Nature(Enum):
    CLEAN = "clean"
    ROWS = "rows"
    BLOCK = "block"


@dataclass(slots=True)
class Sources:
    """All SELECTs of one statement, and what has been found out about them.

    tables: first lexeme of a name -> table; scalars: bracket -> parameter number of a scalar subquery's answer,
    or of a subquery on a public table, which is in public by that number;
    consumed: keywords of SELECTs that became part of a block.
    """

    lexed: Lexed
    selects: tuple[Select, ...]
    ctes: tuple[Visible, ...]
    tables: Mapping[int, Exposed]
    parameters: tuple[SqlType, ...]
    scalars: dict[int, int] = field(default_factory=dict)
    scalar_types: dict[int, SqlType] = field(default_factory=dict)
    public: dict[int, PublicColumn] = field(default_factory=dict)
    consumed: set[int] = field(default_factory=set)
    _natures: dict[int, Nature] = field(default_factory=dict)
    _aliases: int = 0

    def alias(self) -> str:
        self._aliases += 1
        return f"r{self._aliases}"

    # --- what kind of SELECT ---------------------------------------------------------------------

    def nature(self, select: Select) -> Nature:
        """
        Refuses  what reading its FROM clause refuses, where that reaches protected rows
        """
        known = self._natures.get(select.keyword)
        if known is None:
            self._natures[select.keyword] = Nature.CLEAN  # a recursive CTE ends here
            known = self._nature(select)
            self._natures[select.keyword] = known
        return known

    def _nature(self, select: Select) -> Nature:
        if not self._reaches_rows(select):
            return Nature.CLEAN
        if not spans.aggregates_rows(self.lexed, select):
            return Nature.ROWS
        return Nature.ROWS if self._groups_by_unit(select) else Nature.BLOCK

    def _reaches_rows(self, select: Select) -> bool:
        span = select.clauses.get("from")
        if span is None:
            return False
        try:
            items = leaves(read_from(self.lexed, span))
        except Refusal:
            if self._names_rows(span):
                raise
            return False
        return any(self._item_gives_rows(item) for item in items)

    def _names_rows(self, span: Span) -> bool:
        """Whether a FROM clause of unknown form names protected tables outside of blocks, which are answered
        on their own wherever they stand."""
        answered = [
            (inner.keyword, inner.end)
            for inner in self.selects
            if span[0] <= inner.keyword < span[1] and self.nature(inner) is Nature.BLOCK
        ]
        return any(
            i in self.tables
            and self.tables[i].protected
            and not any(first <= i < last for first, last in answered)
            for i in range(*span)
        )

    def _item_gives_rows(self, item: Item) -> bool:
        match item:
            case TableItem():
                cte = self.cte(item)
                if cte is not None:
                    return self._query_gives_rows(cte.body)
                table = self.tables.get(item.first)
                return table is not None and table.protected
            case QueryItem():
                return self._query_gives_rows(item.query)
            case JoinItem():
                return any(self._item_gives_rows(leaf) for leaf in leaves(item))
            case _:
                assert_never(item)

    def _query_gives_rows(self, span: Span) -> bool:
        parts, _ = query_parts(self.lexed, span, self.selects)
        return any(self.nature(part) is Nature.ROWS for part in parts)

    def _groups_by_unit(self, select: Select) -> bool:
        if "group" not in select.clauses:
            return False
        relation, scope = self.source(select)
        units = unit_columns(relation, self.tables.values())
        for span in split_commas(self.lexed, *select.clauses["group"]):
            key = self._key_column(select, span, scope)
            if key is not None and (key.relation, key.column) in units:
                return True
        return False

    def _key_column(self, select: Select, span: Span, scope: Scope) -> ColumnRef | None:
        node = parse(self.lexed, span, self.scalars)
        if isinstance(node, exp.Literal) and node.is_int:
            items = split_commas(self.lexed, *select.items)
            number = int(node.name)
            if not 1 <= number <= len(items):
                return None
            node, _, _ = parse_item(self.lexed, items[number - 1], self.scalars)
        if not isinstance(node, exp.Column):
            return None
        try:
            found = read_expression(node, scope)
        except Refusal:
            return None
        return found if isinstance(found, ColumnRef) else None

    def cte(self, item: TableItem) -> Visible | None:
        if len(item.chain) > 1:
            return None
        hits = [
            cte
            for cte in self.ctes
            if cte.name == item.chain[0] and cte.span[0] <= item.first < cte.span[1]
        ]
        return hits[-1] if hits else None

    def public_column(self, select: Select) -> PublicColumn | None:
        """SELECT column FROM a public table [WHERE ...], to look values up in; None for anything else.

        Refuses  what reading its WHERE refuses
        """
        span = select.clauses.get("from")
        if span is None or not select.clauses.keys() <= {"items", "from", "where"}:
            return None
        item = read_from(self.lexed, span)
        table = self.tables.get(item.first) if isinstance(item, TableItem) else None
        if not isinstance(item, TableItem) or table is None or table.protected or self.cte(item):
            return None
        relation, named = self._table(item)
        assert isinstance(relation, Scan)
        scope = Scope(named, self.parameters, readers=READERS)
        outputs = self._outputs(select, scope)
        if len(outputs) != 1 or not isinstance(outputs[0][1], ColumnRef):
            return None
        where = select.clauses.get("where")
        condition = None if where is None else self.condition(where, scope)
        return PublicColumn(relation.table, relation.alias, outputs[0][1], condition)

    # --- relations -------------------------------------------------------------------------------

    def source(self, select: Select) -> tuple[Relation, Scope]:
        """The FROM clause of a SELECT that reaches rows, and what names mean in it."""
        item = read_from(self.lexed, select.clauses["from"])
        merged: dict[str, ColumnRef] = {}
        relation, named = self._relation(item, merged)
        scope = Scope(named, self.parameters, merged, self.scalar_types, self.public, READERS)
        return relation, scope

    def where(
        self, select: Select, relation: Relation, scope: Scope
    ) -> tuple[Relation, Expression | None]:
        """The WHERE of a SELECT; equalities in it complete joins that are written with commas."""
        span = select.clauses.get("where")
        if span is None:
            return relation, None
        condition = self.condition(span, scope)
        return with_equalities(relation, condition), condition

    def condition(self, span: Span, scope: Scope) -> Expression:
        place = self.lexed.lexemes[span[0]].position
        try:
            return read_condition(parse(self.lexed, span, self.scalars), scope)
        except Refusal as refusal:
            raise (refusal if refusal.position is not None else refusal.at(place)) from None

    def _relation(
        self, item: Item, merged: dict[str, ColumnRef]
    ) -> tuple[Relation, tuple[Named, ...]]:
        match item:
            case TableItem():
                return self._table(item)
            case QueryItem():
                relation, columns = self._query(item.query)
                try:
                    return renamed(relation, columns, item.columns, item.alias)
                except Refusal as refusal:
                    raise refusal.at(self.lexed.lexemes[item.query[0]].position) from None
            case JoinItem():
                return self._join(item, merged)
            case _:
                assert_never(item)

    def _table(self, item: TableItem) -> tuple[Relation, tuple[Named, ...]]:
        cte = self.cte(item)
        if cte is not None:
            relation, columns = self._query(cte.body)
            return renamed(relation, columns, cte.columns or item.columns, item.alias or cte.name)
        table = self.tables.get(item.first)
        if table is None or item.columns:
            self.refuse(
                item.first, "only tables of the policy can be joined with a protected table"
            )
        alias = self.alias()
        columns = {c.name: ColumnType(c.type, c.shown_type_name) for c in table.columns.values()}
        qualifiers = frozenset({item.chain, item.chain[-1:], tuple(table.name)})
        if item.alias is not None:
            qualifiers = frozenset({(item.alias,)})
        return Scan(alias, table.name), (Named(alias, qualifiers, columns),)

    def _join(
        self, item: JoinItem, merged: dict[str, ColumnRef]
    ) -> tuple[Relation, tuple[Named, ...]]:
        left, left_named = self._relation(item.left, merged)
        right, right_named = self._relation(item.right, merged)
        named = (*left_named, *right_named)
        scope = Scope(named, self.parameters, merged, self.scalar_types, self.public, READERS)
        equal: list[tuple[ColumnRef, ColumnRef]] = []
        rest: Expression | None = None
        for name in item.using:
            pair = (
                Scope(left_named, (), merged).find((), name),
                Scope(right_named, ()).find((), name),
            )
            if pair[0] is None or pair[1] is None:
                self.refuse(item.place, f'column "{name}" of USING is not on both sides')
            equal.append((pair[0], pair[1]))
            merged[name] = pair[0]
        if item.on is not None:
            condition = self.condition(item.on, scope)
            sides = ({n.alias for n in left_named}, {n.alias for n in right_named})
            found, others = equalities(condition, *sides)
            equal += found
            rest = conjunction(others)
        place = self.lexed.lexemes[item.place].position
        joined = Joined(left, right, item.left_outer, tuple(equal), rest, place)
        return joined, named

    def _query(self, span: Span) -> tuple[Relation, dict[str, ColumnType]]:
        """A subquery or CTE that gives rows."""
        parts, only_all = query_parts(self.lexed, span, self.selects)
        if not only_all:
            self.refuse(span[0], "only UNION ALL can combine rows of protected tables")
        read = [self.rows(part) for part in parts]
        if len(read) == 1:
            return read[0]
        names = list(read[0][1])
        width = {len(columns) for _, columns in read}
        if len(width) != 1:
            self.refuse(span[0], "each UNION query must have the same number of columns")
        places = tuple(f"c{i}" for i in range(1, len(names) + 1))
        stacked: list[Derived] = []
        for relation, columns in read:
            kinds = tuple(columns.values())
            outputs = tuple(
                (place, ColumnRef(name, kind.type, None, _alias_of(relation)))
                for place, name, kind in zip(places, columns, kinds, strict=True)
            )
            stacked.append(Derived(self.alias(), relation, None, outputs))
        first = tuple(read[0][1].values())
        if any(tuple(k.type for k in c.values()) != tuple(k.type for k in first) for _, c in read):
            self.refuse(span[0], "the columns of UNION ALL must have the same types")
        union = Stacked(self.alias(), tuple(stacked))
        outputs = tuple(
            (name, ColumnRef(place, kind.type, None, union.alias))
            for name, place, kind in zip(names, places, first, strict=True)
        )
        derived = Derived(self.alias(), union, None, outputs, self.lexed.lexemes[span[0]].position)
        return derived, dict(zip(names, first, strict=True))

    def rows(self, select: Select) -> tuple[Derived, dict[str, ColumnType]]:
        """A SELECT that gives rows, as a relation, and its columns.

        Refuses  LIMIT, ORDER BY, DISTINCT and windows below an aggregate: which rows stay would be data's
        """
        if self.nature(select) is not Nature.ROWS:
            self.refuse(
                select.keyword, "rows of protected tables cannot be combined with other queries"
            )
        self.consumed.add(select.keyword)
        forbidden = [
            n for n in ("order", "limit", "offset", "fetch", "window", "for") if n in select.clauses
        ]
        if forbidden or select.distinct:
            place = select.clauses[forbidden[0]][0] - 1 if forbidden else select.keyword + 1
            word = self.lexed.lexemes[place].word.upper() or "DISTINCT"
            self.refuse(place, f"{word} is not available below an aggregate on a protected table")
        relation, scope = self.source(select)
        relation, where = self.where(select, relation, scope)
        if "group" in select.clauses:
            return self._per_unit(select, relation, where, scope)
        if spans.aggregates_rows(self.lexed, select):
            self.refuse(select.keyword, "an aggregate here needs GROUP BY the privacy unit")
        found = self._outputs(select, scope)
        outputs = tuple((name, expression) for name, expression, _ in found)
        place = self.lexed.lexemes[select.keyword].position
        derived = Derived(self.alias(), relation, where, outputs, place)
        return derived, {name: kind for name, _, kind in found}

    def _outputs(self, select: Select, scope: Scope) -> list[tuple[str, Expression, ColumnType]]:
        found: list[tuple[str, Expression, ColumnType]] = []
        for span in split_commas(self.lexed, *select.items):
            node, alias, _ = parse_item(self.lexed, span, self.scalars)
            if isinstance(node, exp.Star) and not node.args.get("except_"):
                found += all_columns(scope, None)
                continue
            if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                found += all_columns(scope, self.lexed.lexemes[span[0]].name)
                continue
            place = self.lexed.lexemes[span[0]].position
            try:
                expression = read_expression(node, scope)
            except Refusal as refusal:
                raise (refusal if refusal.position is not None else refusal.at(place)) from None
            kind = expression.type or SqlType.TEXT
            name = alias or column_name(node, self.lexed.lexemes[span[0]].word) or "?column?"
            found.append((name, expression, column_type(expression, kind, scope)))
        return found

    def _per_unit(
        self, select: Select, relation: Relation, where: Expression | None, scope: Scope
    ) -> tuple[Derived, dict[str, ColumnType]]:
        """GROUP BY the unit: its aggregates become columns of one row per unit."""
        units = unit_columns(relation, self.tables.values())
        keys = [
            self._key_column(select, span, scope)
            for span in split_commas(self.lexed, *select.clauses["group"])
        ]
        unit = keys[0]
        others = any(k is None or (k.relation, k.column) not in units for k in keys)
        if unit is None or others:
            self.refuse(
                select.clauses["group"][0], "GROUP BY here can only be on the privacy unit itself"
            )
        inner = Inner(self.alias(), [])
        reading = replace(scope, readers=readers_within(inner))

        def one_row(part: Expression) -> Expression:
            if isinstance(part, ColumnRef) and part.relation != inner.alias:
                if (part.relation, part.column) not in units:
                    raise Refusal(
                        Code.UNSUPPORTED,
                        f'"{part.column}" is neither the privacy unit nor inside an aggregate',
                        "Aggregate it per unit, e.g. max(column).",
                        part.position,
                    )
                return ColumnRef("unit", part.type, part.position, inner.alias)
            return part

        outputs = [
            (name, rebuild(expression, one_row), kind)
            for name, expression, kind in self._outputs(select, reading)
        ]
        having = None
        if "having" in select.clauses:
            having = rebuild(self.condition(select.clauses["having"], reading), one_row)
        grouped = PerUnit(inner.alias, relation, where, unit, tuple(inner.aggregates))
        place = self.lexed.lexemes[select.clauses["group"][0]].position
        named = tuple((name, expression) for name, expression, _ in outputs)
        derived = Derived(self.alias(), grouped, having, named, place)
        return derived, {name: kind for name, _, kind in outputs}

    def refuse(self, index: int, message: str) -> NoReturn:
        raise Refusal(Code.UNSUPPORTED, message, HINT, self.lexed.lexemes[index].position)


def _alias_of(relation: Relation) -> str:
    assert not isinstance(relation, Joined)
    return relation.alias
