"""FROM clauses read: which SELECTs give rows of protected tables, and what relation they are.

What a SELECT gives and what its FROM clause is are found out together: a SELECT that groups by the privacy
unit gives rows, and what the unit is its FROM clause says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import TokenType
from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.answer_joins import parted
from proxy.query.bind.clause_reading import (
    condition_of,
    is_distinct_keys,
    is_first_rows,
    key_column,
    key_spans,
    outputs_of,
    read_where,
)
from proxy.query.bind.declared_types import joined_columns, renamed
from proxy.query.bind.expression_reading import READERS
from proxy.query.bind.join_conditions import computed_keys, conjuncts, equalities, of_both
from proxy.query.bind.outer_joins import without_public_rows
from proxy.query.bind.per_unit_reading import distinct_rows, read_per_unit
from proxy.query.bind.row_lookups import RowLookups
from proxy.query.bind.scope import ColumnType, Named, PublicColumn, Scope, column_type_of
from proxy.query.bind.sources import Nature, Sources
from proxy.query.bind.union_reading import union_all
from proxy.query.bind.window_reading import WindowsOfSelect
from proxy.query.ir.exposed import row_names, unit_columns
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Constant, Expression
from proxy.query.ir.rebuilding import conjunction
from proxy.query.ir.relations import Join, Relation, Scan, Subquery
from proxy.query.ir.typing_rules import ordinal
from proxy.query.syntax.from_clause import Item, JoinItem, QueryItem, TableItem, leaves
from proxy.query.syntax.previews import may_aggregate
from proxy.query.syntax.selects import (
    Select,
    Span,
    aggregates_rows,
    has_window,
    is_call,
    is_relation,
    own_lexemes,
    query_parts,
)


def nature_of(sources: Sources, select: Select) -> Nature:
    """
    Refuses  what reading its FROM clause refuses, where that reaches protected rows
    """
    known = sources.natures.get(select.keyword)
    if known is None:
        sources.natures[select.keyword] = Nature.CLEAN  # a recursive CTE ends here
        try:
            known = _nature(sources, select)
        except Refusal:
            del sources.natures[select.keyword]
            raise
        sources.natures[select.keyword] = known
    return known


def _nature(sources: Sources, select: Select) -> Nature:
    if not _reaches_rows(sources, select):
        return Nature.CLEAN
    if not aggregates_rows(sources.lexed, select):
        return Nature.ROWS
    return Nature.ROWS if _groups_by_unit(sources, select) else Nature.AGGREGATES


def _reaches_rows(sources: Sources, select: Select) -> bool:
    span = select.clauses.get("from")
    if span is None:
        return False
    try:
        items = leaves(sources.from_item(select))
    except Refusal:
        if _names_rows(sources, span):
            raise
        return False
    return any(_item_gives_rows(sources, item) for item in items)


def _names_rows(sources: Sources, span: Span) -> bool:
    """Whether a FROM clause of unknown form names protected tables outside of aggregate subqueries, which
    are answered on their own wherever they stand."""
    answered = [
        (inner.keyword, inner.end)
        for inner in sources.selects
        if span[0] <= inner.keyword < span[1] and nature_of(sources, inner) is Nature.AGGREGATES
    ]
    return any(
        (_names_protected(sources, i) or _names_rows_of_cte(sources, i))
        and not any(first <= i < last for first, last in answered)
        for i in range(*span)
    )


def _names_protected(sources: Sources, index: int) -> bool:
    return index in sources.tables and sources.tables[index].protected


def _names_rows_of_cte(sources: Sources, index: int) -> bool:
    name = sources.lexed.lexemes[index].name
    if not name or not is_relation(sources.lexed, index):
        return False
    cte = sources.cte(TableItem(index, (name,), None, ()))
    return cte is not None and _query_gives_rows(sources, cte.body)


def _item_gives_rows(sources: Sources, item: Item) -> bool:
    match item:
        case TableItem():
            cte = sources.cte(item)
            if cte is not None:
                return _query_gives_rows(sources, cte.body)
            table = sources.tables.get(item.first)
            return table is not None and table.protected
        case QueryItem():
            return _query_gives_rows(sources, item.query)
        case JoinItem():
            return any(_item_gives_rows(sources, leaf) for leaf in leaves(item))
        case _:
            assert_never(item)


def _query_gives_rows(sources: Sources, span: Span) -> bool:
    parts, _ = query_parts(sources.lexed, span, sources.selects)
    return any(nature_of(sources, part) is Nature.ROWS for part in parts)


def gives_answers(sources: Sources, item: TableItem | QueryItem) -> bool:
    """Whether a leaf of FROM is neither rows nor a table: it can be joined with answers, not with rows."""
    match item:
        case TableItem():
            cte = sources.cte(item)
            query = None if cte is None else cte.body
        case QueryItem():
            query = item.query
        case _:
            assert_never(item)
    if query is None or _query_gives_rows(sources, query):
        return False
    return not is_public_rows(sources, query)


def _groups_by_unit(sources: Sources, select: Select) -> bool:
    """GROUP BY, DISTINCT or DISTINCT ON, with the unit among its keys."""
    is_distinct = is_distinct_keys(sources, select) or is_first_rows(sources, select)
    if "group" not in select.clauses and not is_distinct:
        return False
    relation, scope = source_of(sources, select)
    units = unit_columns(relation, sources.tables.values()) | row_names(relation)
    for span in key_spans(sources, select):
        key = key_column(sources, select, span, scope)
        if key is not None and (key.relation, key.column) in units:
            return True
    return False


def read_public_column(sources: Sources, select: Select) -> PublicColumn | None:
    """SELECT column FROM a public table [WHERE ...], to look values up in; None for anything else.

    Refuses  what reading its WHERE refuses
    """
    span = select.clauses.get("from")
    if span is None or not select.clauses.keys() <= {"items", "from", "where"}:
        return None
    item = sources.from_item(select)
    table = sources.tables.get(item.first) if isinstance(item, TableItem) else None
    if not isinstance(item, TableItem) or table is None or table.protected or sources.cte(item):
        return None
    relation, named = _table(sources, item)
    assert isinstance(relation, Scan)
    scope = Scope(named, sources.parameters, readers=READERS, constants=sources.constants)
    outputs = outputs_of(sources, select, scope)
    if len(outputs) != 1 or not isinstance(outputs[0][1], ColumnRef):
        return None
    where = select.clauses.get("where")
    condition = None if where is None else condition_of(sources, where, scope)
    return PublicColumn(relation.table, relation.alias, outputs[0][1], condition)


def source_of(sources: Sources, select: Select) -> tuple[Relation, Scope]:
    """The FROM clause of a SELECT that reaches rows, and what names mean in it: to look at. Whoever makes a
    relation of the SELECT takes it."""
    if select.keyword not in sources.relations:
        sources.relations[select.keyword] = _read_source(sources, select)
    return sources.relations[select.keyword]


def take_source(sources: Sources, select: Select) -> tuple[Relation, Scope]:
    """As `source_of`, once: a CTE that is used twice is two relations, under aliases of their own."""
    found = source_of(sources, select)
    del sources.relations[select.keyword]
    return found


def _read_source(sources: Sources, select: Select) -> tuple[Relation, Scope]:
    item = sources.rows_item(select)
    known: _Leaves = {}
    of_ranges = frozenset(_public_ranges(sources, item))
    for leaf in leaves(item):
        if leaf.span not in of_ranges and not gives_answers(sources, leaf):
            known[leaf.span] = _leaf(sources, leaf)
    found = parted(sources.lexed, item, lambda leaf: leaf.span not in known)
    sources.joined[select.keyword] = found
    relation, scope = _relation(sources, found.rows, known)
    lookups = RowLookups(sources, relation, take_source, _rows)
    return relation, replace(scope, lookups=lookups, fixed=sources.fixed_columns(select))


_COMBINED = (
    "Count people instead of rows: count(DISTINCT c.id) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o"
    " WHERE o.customer_id = c.id AND ...) for each part; NOT EXISTS in place of EXCEPT."
)
_RANGES = {TokenType.LT, TokenType.GT, TokenType.LTE, TokenType.GTE, TokenType.BETWEEN}


def _public_ranges(sources: Sources, item: Item) -> Iterator[Span]:
    """Public rows that rows meet by ranges alone, as a spine of days meets the orders of a week before each: a
    row may meet several, so that they are joined with answers, as a series is."""
    if not isinstance(item, JoinItem):
        return
    kinds = {one.kind for one in sources.lexed.lexemes[slice(*(item.on or (0, 0)))]}
    for side in (item.left, item.right):
        yield from _public_ranges(sources, side)
        is_range = bool(kinds & _RANGES) and TokenType.EQ not in kinds
        if is_range and _is_public(sources, side):
            yield side.span


def _is_public(sources: Sources, item: Item) -> bool:
    if isinstance(item, TableItem) and sources.cte(item) is None:
        table = sources.tables.get(item.first)
        return table is not None and not table.protected
    return isinstance(item, QueryItem) and is_public_rows(sources, item.query)


_Leaves = dict[Span, tuple[Relation, tuple[Named, ...]]]  # that have been read, by where they stand


def _relation(sources: Sources, item: Item, known: _Leaves) -> tuple[Relation, Scope]:
    """A leaf or a join, and what names mean in it: each side of a join has names of its own."""
    if isinstance(item, JoinItem):
        return _join(sources, item, known)
    found = known.get(item.span)
    relation, named = _leaf(sources, item) if found is None else found
    return relation, sources.scope(named, {})


def _leaf(sources: Sources, item: TableItem | QueryItem) -> tuple[Relation, tuple[Named, ...]]:
    match item:
        case TableItem():
            return _table(sources, item)
        case QueryItem():
            relation, columns = _query(sources, item.query)
            try:
                return renamed(relation, columns, item.columns, item.alias)
            except Refusal as refusal:
                raise refusal.at(sources.lexed.lexemes[item.query[0]].position) from None
        case _:
            assert_never(item)


def _table(sources: Sources, item: TableItem) -> tuple[Relation, tuple[Named, ...]]:
    cte = sources.cte(item)
    if cte is not None:
        sources.refuse_recursion(cte)
        relation, columns = _query(sources, cte.body)
        # The alias' list is of the names that the CTE's list has given (PostgreSQL 17 documentation, 7.2.1.2).
        names = (*item.columns, *cte.columns[len(item.columns) :])
        return renamed(relation, columns, names, item.alias or cte.name)
    table = sources.tables.get(item.first)
    if table is None:
        sources.refuse_relation(item)
    alias = sources.alias()
    columns = {name: column_type_of(column) for name, column in table.columns.items()}
    if item.columns:  # as (SELECT * FROM table) AS alias (names)
        outputs = tuple(
            (name, ColumnRef(name, kind.type, None, alias)) for name, kind in columns.items()
        )
        place = sources.lexed.lexemes[item.first].position
        subquery = Subquery(sources.alias(), Scan(alias, table.name), None, outputs, place)
        try:
            relation, (named,) = renamed(subquery, columns, item.columns, item.alias)
        except Refusal as refusal:
            raise refusal.at(place) from None
        displayed = dict(zip(columns, named.columns, strict=True))
        return relation, (replace(named, key=tuple(displayed[name] for name in table.key)),)
    qualifiers = frozenset({item.chain, item.chain[-1:], tuple(table.name)})
    if item.alias is not None:
        qualifiers = frozenset({(item.alias,)})
    return Scan(alias, table.name), (Named(alias, qualifiers, columns, table.key),)


def _join(sources: Sources, item: JoinItem, known: _Leaves) -> tuple[Relation, Scope]:
    left, left_scope = _relation(sources, item.left, known)
    right, right_scope = _relation(sources, item.right, known)
    merged = {**_on_one_side(left_scope, right_scope), **_on_one_side(right_scope, left_scope)}
    equal: list[tuple[ColumnRef, ColumnRef]] = []
    of_using: dict[str, ColumnRef] = {}
    rest: Expression | None = None
    for name in item.using:
        pair = (left_scope.find((), name), right_scope.find((), name))
        if pair[0] is None or pair[1] is None:
            sources.refuse(item.place, f'column "{name}" of USING is not on both sides')
        equal.append((pair[0], pair[1]))
        of_using[name] = of_both(pair[0], pair[1], item.left_outer)
    relations = (*left_scope.relations, *right_scope.relations)
    scope = sources.scope(relations, {**merged, **of_using})
    written = (right_scope, left_scope) if item.is_turned else (left_scope, right_scope)
    scope = replace(scope, star=joined_columns(*written, of_using))
    if item.on is not None:
        condition = condition_of(sources, item.on, scope)
        sides = ({n.alias for n in left_scope.relations}, {n.alias for n in right_scope.relations})
        found, others = equalities(condition, *sides)
        equal += found
        rest = conjunction(others)
    place = sources.lexed.lexemes[item.place].position
    joined = Join(left, right, item.left_outer, tuple(equal), rest, place)
    if rest is not None:
        keys = computed_keys(sources, relations)
        completed, others = keys.applied(joined, conjuncts(rest))
        assert isinstance(completed, Join)
        joined = replace(completed, rest=conjunction(others))
    return without_public_rows(sources, item, joined), scope


def _on_one_side(side: Scope, other: Scope) -> dict[str, ColumnRef]:
    """Columns that USING has made one within a side, where the other side has none of that name."""
    return {
        name: column
        for name, column in side.merged.items()
        if not any(name in relation.columns for relation in other.relations)
    }


def _query(sources: Sources, span: Span) -> tuple[Relation, dict[str, ColumnType]]:
    """A subquery or CTE that gives rows."""
    parts, only_all = query_parts(sources.lexed, span, sources.selects)
    if not only_all:
        sources.refuse(span[0], "only UNION ALL can combine rows of protected tables", _COMBINED)
    is_public = is_public_rows(sources, span)
    read = [_rows(sources, part, is_public) for part in parts]
    if len(read) == 1:
        return read[0]
    return union_all(sources, read, span[0])


def _rows(
    sources: Sources, select: Select, is_public: bool = False
) -> tuple[Subquery, dict[str, ColumnType]]:
    """A SELECT that gives rows, protected ones or public, as a relation, and its columns.
    Refuses  LIMIT, DISTINCT, windows below an aggregate: which rows stay would be data's
    """
    if not is_public and nature_of(sources, select) is not Nature.ROWS:
        sources.refuse(
            select.keyword, "rows of protected tables cannot be combined with other queries"
        )
    sources.consumed.add(select.keyword)
    forbidden = clauses_below(sources, select)
    is_distinct = is_distinct_keys(sources, select)
    is_first = is_first_rows(sources, select) and not is_public
    if forbidden or (select.distinct and not (is_distinct or is_first)):
        place = select.clauses[forbidden[0]][0] - 1 if forbidden else select.keyword + 1
        word = sources.lexed.lexemes[place].word.upper() or "DISTINCT"
        message = f"{word} is not available below an aggregate on a protected table"
        if forbidden == ["limit"] and "order" not in select.clauses:
            sources.refuse(place, message, NO_LIMIT)
        sources.refuse(place, message)
    relation, scope = take_source(sources, select)
    refuse_answers(sources, select)
    relation, where = read_where(sources, select, relation, scope)
    has_windows = is_distinct and has_window(sources.lexed, select)
    if "group" in select.clauses or (is_distinct and not has_windows):
        return read_per_unit(sources, select, relation, where, scope)
    if aggregates_rows(sources.lexed, replace(select, distinct=False)):
        sources.refuse(select.keyword, "an aggregate here needs GROUP BY the privacy unit")
    windows = WindowsOfSelect()
    found = outputs_of(sources, select, replace(scope, readers=windows.readers()))
    outputs = tuple((name, expression) for name, expression, _ in found)
    if is_first:
        number = windows.first_row(sources, select, scope, outputs)
        outputs = (*outputs, ("", number))
    relation = scope.with_lookups(relation)
    relation, where, outputs = windows.below(sources, select, relation, where, outputs)
    if is_first:
        one = Constant(Fraction(1), SqlType.INT8)
        where = Comparison(Comparator.EQ, outputs[-1][1], one)
        outputs = outputs[:-1]
    place = sources.lexed.lexemes[select.keyword].position
    subquery = Subquery(sources.alias(), relation, where, outputs, place)
    if has_windows:
        subquery = distinct_rows(sources, subquery, select.keyword)
    return subquery, {name: kind for name, _, kind in found}


def is_public_rows(sources: Sources, span: Span) -> bool:
    """
    Given    span: the lexemes of a query in brackets or of a CTE
    Gives    whether it gives rows of public tables and nothing else, in a form that is read like protected rows
    """
    known = sources.public_rows.get(span)
    if known is None:
        sources.public_rows[span] = False  # a recursive CTE ends here
        known = sources.public_rows[span] = _is_public_rows(sources, span)
    return known


def _is_public_rows(sources: Sources, span: Span) -> bool:
    parts, only_all = query_parts(sources.lexed, span, sources.selects)
    if not (parts and only_all):
        return False

    def is_public(item: TableItem | QueryItem) -> bool:
        cte = sources.cte(item) if isinstance(item, TableItem) else None
        if isinstance(item, TableItem) and cte is None:
            table = sources.tables.get(item.first)
            return table is not None and not table.protected
        query = item.query if isinstance(item, QueryItem) else cte.body if cte else (0, 0)
        return is_public_rows(sources, query)

    for part in parts:
        if not part.clauses.keys() <= {"items", "from", "where"} or "from" not in part.clauses:
            return False
        if aggregates_rows(sources.lexed, part):
            return False
        try:
            items = leaves(sources.from_item(part))
        except Refusal:
            return False
        if not all(map(is_public, items)):
            return False
    return True


# Where rows are wanted by themselves, without what is joined or compared with them on the shadow.


_IN_AGGREGATES = (
    "Join the other query in the SELECT that aggregates:"
    " SELECT k, count(*) FROM table JOIN (SELECT ...) q ON k = q.k GROUP BY k."
)
AS_A_CONSTANT = "Run the inner query by itself and write its result as a constant."


def refuse_answers(
    sources: Sources, select: Select, retained: Sequence[Span] = (), hint: str = _IN_AGGREGATES
) -> None:
    """Where rows are wanted: what is joined with answers is only known on the shadow.

    Given    a SELECT of which the source has been read; retained: its conditions on answers
    Refuses  UNSUPPORTED: answers in its FROM or such conditions
    """
    places = [join.place for join in sources.joined[select.keyword].joins]
    places += [first for first, _ in retained]
    if places:
        raise Refusal(
            Code.UNSUPPORTED,
            "rows of protected tables cannot be combined with other queries in a subquery",
            hint,
            sources.lexed.lexemes[places[0]].position,
        )


# --- A LIMIT on rows of which only the groups are asked.
#
# Metabase asks so for the values of a column: SELECT k FROM (SELECT k FROM t LIMIT 9000) q GROUP BY k
# LIMIT 50. Which rows PostgreSQL takes is its own choice: the groups of all rows are what it may answer at
# most, and no more of them are returned than so many rows can have. It is read as the statement without
# the inner LIMIT. What counts or adds up rows depends on how many there are, and is refused as ever.


_INSIDE = frozenset({"items", "from", "where", "limit"})
_AROUND = frozenset({"items", "from", "where", "group", "order", "limit"})


NO_LIMIT = "Leave it out: which rows it would keep is left open."


def clauses_below(sources: Sources, select: Select) -> list[str]:
    """What would decide which rows of a SELECT stay. Not ORDER BY, which leaves them all: it is not read, and
    is left out; but for one in which a SELECT stands. Not OFFSET of a parameter, which is 0 at each run."""
    clauses = ("order", "limit", "offset", "fetch", "window", "for")
    found: list[str] = [name for name in clauses if name in select.clauses]
    number = _parameter(sources, select.clauses.get("offset", (0, 0)))
    if number is not None:
        sources.offsets.add(number)
        found.remove("offset")
    if found == ["limit"] and shows_groups_only(sources, select):
        return []
    first, last = select.clauses.get("order", (0, 0))
    if any(first <= one.keyword < last for one in sources.selects):
        return found
    return [name for name in found if name != "order"]


def _parameter(sources: Sources, span: Span) -> int | None:
    """$1, and nothing else."""
    lexemes = sources.lexed.lexemes[slice(*span)]
    is_one = len(lexemes) == 2 and lexemes[0].kind is TokenType.PARAMETER
    return ordinal(lexemes[1].token.text) if is_one else None


def shows_groups_only(sources: Sources, select: Select) -> bool:
    """
    Given    a SELECT that gives rows, with a LIMIT
    Gives    whether it is all that a SELECT groups, which has no aggregate and a LIMIT that is not above
    """
    most = _limit(sources, select)
    if most is None or select.distinct or not select.clauses.keys() <= _INSIDE:
        return False
    return any(
        _is_all_of(sources, around, (select.keyword, select.end))
        and _returns_no_more(sources, around, most)
        for around in sources.selects
    )


def _is_all_of(sources: Sources, around: Select, query: Span) -> bool:
    first, last = around.clauses.get("from", (0, 0))
    if not first <= query[0] < last:
        return False
    try:
        item = sources.from_item(around)
    except Refusal:
        return False
    return isinstance(item, QueryItem) and item.query == query


def _returns_no_more(sources: Sources, around: Select, most: int) -> bool:
    if not around.clauses.keys() <= _AROUND or not ("group" in around.clauses or around.distinct):
        return False
    returned = _limit(sources, around)
    lexed = sources.lexed
    return (
        returned is not None
        and returned <= most
        and not any(
            (may_aggregate(lexed.lexemes[index].name) and is_call(lexed, index))
            or lexed.lexemes[index].word == "over"
            for name, span in around.clauses.items()
            if name in ("items", "order")
            for index in own_lexemes(lexed, span)
        )
    )


def _limit(sources: Sources, select: Select) -> int | None:
    """Of LIMIT with a whole number."""
    first, last = select.clauses.get("limit", (0, 0))
    text = sources.lexed.lexemes[first].token.text
    return int(text) if last - first == 1 and text.isascii() and text.isdigit() else None
