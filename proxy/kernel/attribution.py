"""Whose is each row of a relation: one rule for each node, from the tables up.

`relation_of` looks at a relation alone, with the policy and the catalogue. It believes no type, no key and
no flag that the relation states. Joins and truncations have files of their own (`join_rules`,
`truncation_rules`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product

from typing_extensions import assert_never

from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import RowBound, Table
from proxy.kernel.column_types import (
    COUNTS,
    aggregate_type,
    check_column,
    check_expressions,
    columns_in,
    has_one_form,
    is_grouped_in_one_form,
    is_ordered_whole,
    printed_type,
    tells_forms_apart,
    window_type,
)
from proxy.kernel.fixed_columns import fixed_by_keys, fixed_by_subquery
from proxy.kernel.join_rules import join_rule
from proxy.kernel.owners import (
    ColumnName,
    ColumnNames,
    Known,
    OfUnit,
    Owner,
    Public,
    Rows,
    RowsPerValue,
    check_alias,
    holder_of_units,
    name,
)
from proxy.kernel.prepared_copies import bound_of_copy, stored_table
from proxy.kernel.refusals import NotCovered, NotPrivate, Rule
from proxy.kernel.row_numbers import one_number
from proxy.kernel.truncation_rules import truncation_rule
from proxy.kernel.units_in_time import unit_outputs
from proxy.kernel.world import World
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable, PublicTable, RowUnit
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
    WindowFunction,
)

# Aggregates that are exact functions of a multiset of rows, whatever their order.
_EXACT = (
    *COUNTS,
    AggregateKind.SUM,
    AggregateKind.AVG,
    AggregateKind.MIN,
    AggregateKind.MAX,
)
_SEVERAL_NAMES = 16  # a key of columns that have several names is followed under so many of them


def relation_of(relation: Relation, world: World) -> Known:
    """Attribute the rows of a relation to units, by the rule of its node.

    Raises:
        NotPrivate: A rule refuses the relation or one below it.
        NotCovered: A node that no rule knows.
    """
    if not isinstance(relation, Join):
        check_alias(relation.alias)
    match relation:
        case Scan():
            return scan_rule(relation, world)
        case Subquery():
            return subquery_rule(relation, relation_of(relation.source, world), world)
        case GroupByUnit():
            return group_rule(relation, relation_of(relation.source, world), world)
        case UnionAll():
            return union_rule(relation, [relation_of(part, world) for part in relation.parts])
        case Truncate():
            return truncation_rule(relation, relation_of(relation.source, world), world)
        case Join():
            left, right = relation_of(relation.left, world), relation_of(relation.right, world)
            return join_rule(relation, left, right, world)
        case _:
            assert_never(relation)


def scan_rule(scan: Scan, world: World) -> Known:
    """Attribute the rows of a table as the policy does.

    Stability: 1, by the definition of neighbours. Types and keys are those that the server checks
    (PROOFS.md 22 A2). Where a row is stored is no key: other rows have other places where a unit never came.
    Seeded hashes of it are taken, and nothing else is made of it (A2.6, `check_expressions`). Of rows of a
    prepared copy as many change as `bound_of_copy` says (35 P3).

    Totality: a column of a type that is not read is there only if it is in a key. Its values are stored, and
    short, as an index holds them: PostgreSQL has no key on a column that is generated at each reading. To read
    such a one may raise; so may the text of a long value, by which rows are put in order.

    Raises:
        NotPrivate: A table that the policy or the catalogue does not have, or a reference that leads to no
            unit.

    >>> from tests.kernel.examples import WORLD, scan
    >>> visits = scan_rule(scan("r1", "visits"), WORLD)
    >>> sorted(visits.owner.columns), visits.owner.alone
    ([('r1', 'uid')], False)
    >>> scan_rule(scan("r1", "people"), WORLD).owner.changed
    1
    """
    policy, table = world.policy.tables.get(scan.table), stored_table(scan, world)
    if policy is None or table is None:
        raise NotPrivate(Rule.SCAN, "a table without a policy")
    in_keys = {column for key in (table.primary_key, *table.unique) for column in key}
    types = {
        (scan.alias, column.name): column.type
        for column in table.columns
        if column.type is not SqlType.OTHER or column.name in in_keys
    }
    keys = [_named_in(scan, table.primary_key)] if table.primary_key else []
    places = []
    if table.has_ctid:  # so no column is called that
        types[scan.alias, "ctid"] = SqlType.TID
        places.append(_named_in(scan, ["ctid"]))
    unique = tuple(_named_in(scan, columns) for columns in table.unique)
    match policy:
        case _ if scan.copy is not None:
            owner: Owner = _rows_of_copy(scan, bound_of_copy(scan, world), keys, unique, places)
        case PublicTable():
            owner = Public()
        case ProtectedTable():
            match policy.unit:
                case RowUnit():
                    owner = _rows_by_themselves(policy.unit, keys, unique, places)
                case IdentifierUnit():
                    owner = _rows_of_units(scan, table, policy.unit, world)
                case _:
                    assert_never(policy.unit)
        case _:
            assert_never(policy)
    return Known(owner=owner, types=types, keys=tuple(keys), nullable_keys=unique)


def _named_in(scan: Scan, columns: Iterable[str]) -> ColumnNames:
    return frozenset((scan.alias, column) for column in columns)


def _rows_by_themselves(
    unit: RowUnit,
    keys: Sequence[ColumnNames],
    unique: Sequence[ColumnNames],
    places: Sequence[ColumnNames],
) -> Rows:
    """Rows that are units: neighbours differ in `unit.rows` of them, of which each has a key and a place of its
    own."""
    single = [next(iter(key)) for key in (*keys, *unique) if len(key) == 1]
    return Rows(
        changed=unit.rows,
        most=tuple((column, 1) for column in single),
        touched=tuple((named, unit.rows) for named in (*keys, *places)),
        filled=frozenset().union(*keys, *places),
    )


def _rows_of_copy(
    scan: Scan,
    bound: RowBound,
    keys: Sequence[ColumnNames],
    unique: Sequence[ColumnNames],
    places: Sequence[ColumnNames],
) -> Rows:
    """Rows of which those of one unit change: all of them have one value of its column, and no more have it."""
    rows = _rows_by_themselves(RowUnit(bound.rows), keys, unique, places)
    unit = (scan.alias, bound.column)
    return replace(
        rows,
        most=(*rows.most, (unit, bound.rows)),
        touched=(*rows.touched, (frozenset({unit}), 1)),
        filled=rows.filled | {unit},
    )


def _rows_of_units(scan: Scan, table: Table, unit: IdentifierUnit, world: World) -> OfUnit:
    """Rows that hold their unit, or refer to the row that does.

    A reference leads as `holder_of_units` says. Of a unit of several forms the form that the server meets first
    would decide its partition, and rows of others which that is (PROOFS.md 27 K1a).
    """
    named = set()
    if len(table.primary_key) == 1:
        named.add(((scan.alias, table.primary_key[0]), scan.table))
    column, held = (scan.alias, unit.column), table.column(unit.column)
    if held is None:
        raise NotPrivate(Rule.SCAN, "a unit in a column that is not there")
    if unit.path is None and not held.holds_units:
        raise NotPrivate(Rule.SCAN, "a unit of which equal values are several")
    if unit.blocks is not None:  # no column holds it by itself: `unit_outputs`
        # No name has an end of a line in it.
        per, time = unit.blocks.per, (scan.alias, unit.blocks.time)
        return OfUnit(
            identifier=f"{unit.identifier}\n{per.value}",
            columns=frozenset(),
            times=frozenset({(time, per)}),
        )
    if unit.path is None:
        return OfUnit(
            identifier=unit.identifier,
            columns=frozenset({column}),
            alone=table.is_unique(unit.column),
            named=frozenset(named),
        )
    named.add((column, holder_of_units(unit, world).name))
    return OfUnit(identifier=unit.identifier, columns=frozenset(), named=frozenset(named))


def subquery_rule(subquery: Subquery, inner: Known, world: World) -> Known:
    """Leave each row of a filter and projection whose it was.

    Stability: 1. One row comes of one row and is a function of it; a condition on a row is 1-stable
    (PROOFS.md 17 "Cut before or after conditions?"). What names, numbers or bounds rows does so under its
    new name, which is one of its own. Windows: `window_rule`.

    Raises:
        NotPrivate: Two columns of one name, an expression that is not of the row, or a window over several
            units.

    >>> from tests.kernel.examples import WORLD, column, scan
    >>> renamed = Subquery("q", scan("r1", "visits"), None, (("who", column("r1", "uid", SqlType.INT8)),))
    >>> sorted(subquery_rule(renamed, relation_of(renamed.source, WORLD), WORLD).owner.columns)
    [('q', 'who')]
    """
    computed = [e for _, e in subquery.outputs if not isinstance(e, ColumnRef)]
    check_expressions((subquery.where, *computed, subquery.windows), inner.types, world)
    for _, expression in subquery.outputs:
        if isinstance(expression, ColumnRef):
            check_column(expression, inner.types, may_be_place=True)
    names = [output for output, _ in subquery.outputs] + [one.name for one in subquery.windows]
    if len(set(names)) < len(names):
        raise NotPrivate(Rule.SUBQUERY, "two columns of one name")
    for window in subquery.windows:
        _check_function(window)
    _check_one_order(subquery.windows)
    types = {(subquery.alias, n): printed_type(e, inner.types) for n, e in subquery.outputs}
    for window in subquery.windows:
        types[subquery.alias, window.name] = window_type(window, inner.types)
    renamed = _Renamed(subquery)
    return Known(
        owner=_owner_of_subquery(subquery, inner, renamed, unit_outputs(subquery, world)),
        types=types,
        keys=renamed.keys(inner.keys),
        nullable_keys=renamed.keys(inner.nullable_keys),
    )


class _Renamed:
    """The names that columns of the source have as outputs: none, one or several each."""

    def __init__(self, subquery: Subquery) -> None:
        self._names: dict[ColumnName, list[ColumnName]] = {}
        for output, expression in subquery.outputs:
            if isinstance(expression, ColumnRef):
                self._names.setdefault(name(expression), []).append((subquery.alias, output))

    def of(self, column: ColumnName | None) -> Sequence[ColumnName]:
        return () if column is None else self._names.get(column, ())

    def columns(self, columns: Iterable[ColumnName]) -> ColumnNames:
        return frozenset(new for column in columns for new in self.of(column))

    def key(self, key: ColumnNames) -> list[ColumnNames]:
        """The key under its new names; nothing where a column of it is left out."""
        chosen = product(*(self.of(column) for column in sorted(key)))
        return [frozenset(one) for one in islice(chosen, _SEVERAL_NAMES)]

    def keys(self, keys: Iterable[ColumnNames]) -> tuple[ColumnNames, ...]:
        return tuple(new for key in keys for new in self.key(key))

    def bounds(self, bounds: RowsPerValue) -> RowsPerValue:
        return tuple((new, most) for column, most in bounds for new in self.of(column))

    def rows(self, rows: Rows) -> Rows:
        return Rows(
            changed=rows.changed,
            most=self.bounds(rows.most),
            touched=tuple((new, most) for key, most in rows.touched for new in self.key(key)),
            filled=self.columns(rows.filled),
            in_place=next(iter(self.of(rows.in_place)), None),
        )


def _owner_of_subquery(
    subquery: Subquery, inner: Known, renamed: _Renamed, units: ColumnNames
) -> Owner:
    owner = inner.owner
    has_windows = any(one.function is not WindowFunction.ROW_NAME for one in subquery.windows)
    match owner:
        case Public():
            for window in subquery.windows:
                _check_ties(window, subquery, inner, frozenset())
            return Public(most=renamed.bounds(owner.most))
        case Rows():
            if has_windows:
                raise NotPrivate(Rule.WINDOW, "a window over rows of different units")
            return renamed.rows(owner)
        case OfUnit():
            numbering = [
                (subquery.alias, window.name)
                for window in subquery.windows
                if window_rule(window, subquery, inner, owner)
            ]
            return OfUnit(
                identifier=owner.identifier,
                columns=renamed.columns(owner.columns) | units,
                or_null=renamed.columns(owner.or_null),
                alone=owner.alone or one_number(subquery.where, owner.numbered),
                fixed=fixed_by_subquery(subquery, inner),
                named=frozenset((new, t) for old, t in owner.named for new in renamed.of(old)),
                numbered=renamed.columns(owner.numbered) | frozenset(numbering),
                rows=None if has_windows or owner.rows is None else renamed.rows(owner.rows),
                times=frozenset((new, per) for old, per in owner.times for new in renamed.of(old)),
            )
        case _:
            assert_never(owner)


def _check_function(window: WindowColumn) -> None:
    """The function that the rules go by is the one that is printed: an aggregate, wherever there is one."""
    if (window.aggregate is not None) != (window.function is WindowFunction.AGGREGATE):
        raise NotPrivate(Rule.WINDOW, "an aggregate that is called another function")


def window_rule(window: WindowColumn, subquery: Subquery, inner: Known, owner: OfUnit) -> bool:
    """Let a window pass whose value is a function of the rows of the row's own unit.

    Privacy: the first column of PARTITION BY holds the unit, so a partition has rows of one unit, or of
    nobody. The compiler prints that column whole and cuts other texts: two units with one beginning would
    share a partition. The value depends on no order that another unit's rows could decide: `_check_ties`.
    Aggregates are exact functions of rows in any order.

    Returns:
        Whether the column numbers the rows of each unit: row_number() with nothing but the unit in
            PARTITION BY.

    Raises:
        NotPrivate: The first column of PARTITION BY does not hold the unit, or the order leaves ties that
            matter.
        NotCovered: An aggregate that is not exact.

    >>> from tests.kernel.examples import WORLD, numbered_visits
    >>> first = numbered_visits("uid")
    >>> known = relation_of(first.source, WORLD)
    >>> window_rule(first.windows[0], first, known, known.owner)
    True
    >>> other = numbered_visits("i4", "uid")
    >>> window_rule(other.windows[0], other, known, known.owner)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if window.function is WindowFunction.ROW_NAME:
        return False
    first = window.partition[0] if window.partition else None
    if not isinstance(first, ColumnRef) or name(first) not in owner.columns:
        raise NotPrivate(Rule.WINDOW, "the first column of PARTITION BY does not hold the unit")
    if window.aggregate is not None:
        _check_exact(window.aggregate, Rule.WINDOW)
    _check_ties(window, subquery, inner, owner.columns)
    by = [name(part) for part in window.partition if isinstance(part, ColumnRef)]
    numbers = window.function is WindowFunction.ROW_NUMBER
    return numbers and len(by) == len(window.partition) and owner.columns.issuperset(by)


def _check_one_order(windows: Sequence[WindowColumn]) -> None:
    """Refuse windows that tell tied rows apart in several orders.

    Privacy: of tied rows, which are alike to all above, it does not matter which is first in one sort. Another
    sort may put them in another order, by rows of other units: what two windows give meets on one row or on
    two. Windows of one PARTITION BY and ORDER BY are of one sort (PostgreSQL 17, 7.2.5).
    """
    sorts = [(*one.sorts, one.ties) for one in windows if one.depends_on_ties]
    if any(sort != sorts[0] for sort in sorts):
        raise NotPrivate(Rule.WINDOW, "several orders that tell tied rows apart")


def _check_ties(window: WindowColumn, subquery: Subquery, inner: Known, alike: ColumnNames) -> None:
    """Refuse a window whose value depends on the order of rows that its sort leaves tied.

    Privacy: the server puts tied rows in any order, which may follow from rows of other units. No harm
    where rows that are tied are one value in all that can be seen of them above, or where no two rows are
    tied, as a key is in the order. Texts of PARTITION BY and ORDER BY are printed with their first
    characters alone, so they do not count; `ties` are printed whole, with what tells equal values of
    several forms apart; of an array that is too large to be looked into, that it is one (PROOFS.md 27 K1a).

    Args:
        window: A window over the rows of one unit, or over public rows.
        subquery: Where it stands: nothing else of the source can be seen above.
        inner: The source.
        alike: Columns that are equal in all rows of a partition.
    """
    if not window.depends_on_ties:
        return
    types = inner.types
    parts = (*window.partition, *(term.expression for term in window.order))
    sorted_by = {name(part) for part in parts if isinstance(part, ColumnRef)}
    ties = {name(column) for column in window.ties}
    untied = {column for column in sorted_by | ties if is_ordered_whole(types[column])}
    untied -= {column for column in sorted_by - ties if types[column].is_text}
    if any(key <= untied | alike for key in inner.keys):
        return
    told = {column for column in ties if tells_forms_apart(types[column])}
    told |= {column for column in untied | alike if has_one_form(types[column])}
    seen = columns_in((subquery.outputs, tuple(one.expressions for one in subquery.windows)))
    seen |= columns_in(tuple(one.present for one in subquery.windows)) - alike
    if not seen <= told:
        raise NotPrivate(Rule.WINDOW, "an order that does not tell rows apart")


def _check_exact(aggregate: Aggregate, rule: Rule) -> None:
    if aggregate.kind not in _EXACT:
        raise NotCovered(rule, "an aggregate that is not in the list")


def group_rule(grouped: GroupByUnit, inner: Known, world: World) -> Known:
    """Attribute each row of GROUP BY the unit to the unit that it is grouped by.

    Stability: of units. The rows of a group have one unit, not NULL (`compiler.relation_sql`), and each
    aggregate is an exact function of them, whatever their order. Unit and keys name a row; where the unit
    alone is the key, or fixes all keys, or has one row already, it has one row here (PROOFS.md 17 "Asked of
    each row", 27 K6).

    Raises:
        NotPrivate: Rows are not grouped by a column that holds their unit.
        NotCovered: An aggregate that is not exact.

    >>> from tests.kernel.examples import WORLD, column, scan
    >>> one_row = GroupByUnit("g", scan("r1", "visits"), None, column("r1", "uid", SqlType.INT8), ())
    >>> group_rule(one_row, relation_of(one_row.source, WORLD), WORLD).owner.alone
    True
    """
    parts = (grouped.unit, grouped.where, grouped.keys, grouped.aggregates)
    check_expressions(parts, inner.types, world)
    owner = inner.owner
    if not isinstance(owner, OfUnit) or name(grouped.unit) not in owner.columns:
        raise NotPrivate(Rule.GROUP_BY_UNIT, "grouped by a column that does not hold the unit")
    for aggregate in grouped.aggregates:
        _check_exact(aggregate, Rule.GROUP_BY_UNIT)
    unit = (grouped.alias, UNIT_COLUMN)
    keys = {(grouped.alias, key_column(n)): key for n, key in enumerate(grouped.keys, start=1)}
    types = {unit: inner.types[name(grouped.unit)]}
    types |= {here: printed_type(key, inner.types) for here, key in keys.items()}
    if not all(is_grouped_in_one_form(types[here]) for here in keys):
        raise NotPrivate(Rule.GROUP_BY_UNIT, "a key of which equal values are several")
    for number, aggregate in enumerate(grouped.aggregates, start=1):
        types[grouped.alias, aggregate_column(number)] = aggregate_type(aggregate)
    # A text is cut to its first characters: it is not what it was.
    whole = {
        here: name(key)
        for here, key in keys.items()
        if isinstance(key, ColumnRef) and not types[here].is_text
    }
    holding = {here for here, below in whole.items() if below in owner.columns}
    named = {(here, t) for here, below in whole.items() for c, t in owner.named if c == below}
    fixed = fixed_by_keys(grouped, keys, inner)
    # A unit of one row has one group, too: it fixes all columns, and so all keys.
    is_alone = all(
        column in fixed or (isinstance(key, ColumnRef) and name(key) in owner.columns)
        for column, key in keys.items()
    )
    return Known(
        owner=OfUnit(
            identifier=owner.identifier,
            columns=frozenset({unit, *holding}),
            alone=is_alone,
            fixed=fixed,
            named=frozenset(named),
        ),
        types=types,
        keys=(frozenset({unit, *keys}),),
    )


def union_rule(union: UnionAll, parts: Sequence[Known]) -> Known:
    """Attribute each row of a UNION ALL to the unit of the part that it comes from.

    Stability: 1. One unit changes only its own rows in each part, so it changes only its own rows in the
    union. Where rows change, their numbers add up. Columns match by position: the unit has to stand at one
    position in all parts, in one type there, as a cast could make two units equal.

    Raises:
        NotPrivate: Parts of different widths or owners, or a column of types that do not meet exactly.

    >>> from tests.kernel.examples import WORLD, columns_of
    >>> both = UnionAll("u", (columns_of("orders", "uid", "i4"), columns_of("calls", "uid", "i4")))
    >>> sorted(relation_of(both, WORLD).owner.columns)
    [('u', 'uid')]
    >>> crossed = UnionAll("u", (columns_of("orders", "uid", "i4"), columns_of("calls", "i4", "uid")))
    >>> sorted(relation_of(crossed, WORLD).owner.columns)
    []
    """
    if len({(len(part.outputs), len(part.windows)) for part in union.parts}) != 1:
        raise NotPrivate(Rule.UNION_ALL, "parts of different widths")
    columns = _columns_by_place(union)
    types = {
        column: _common_type(
            {known.types[below] for known, below in zip(parts, of_parts, strict=True)}
        )
        for column, of_parts in columns.items()
    }
    owners = [known.owner for known in parts]
    if all(isinstance(owner, Public) for owner in owners):
        return Known(owner=Public(), types=types)
    rows = [owner for owner in owners if isinstance(owner, Rows)]
    if len(rows) == len(owners):
        return Known(owner=Rows(changed=sum(one.changed for one in rows)), types=types)
    units = [owner for owner in owners if isinstance(owner, OfUnit)]
    if len(units) < len(owners) or len({unit.identifier for unit in units}) != 1:
        raise NotPrivate(Rule.UNION_ALL, "parts of different units")

    def shared(is_so: Callable[[OfUnit, ColumnName], bool]) -> ColumnNames:
        """The columns of which this is so in all parts, in one type."""
        return frozenset(
            column
            for column, of_parts in columns.items()
            if len({k.types[c] for k, c in zip(parts, of_parts, strict=True)}) == 1
            and all(is_so(owner, c) for owner, c in zip(units, of_parts, strict=True))
        )

    tables = {table for unit in units for _, table in unit.named}
    named = {
        (column, table)
        for table in tables
        for column in shared(lambda unit, below, table=table: (below, table) in unit.named)  # type: ignore[misc]
    }
    owner = OfUnit(
        identifier=units[0].identifier,
        columns=shared(lambda unit, below: below in unit.columns),
        or_null=shared(lambda unit, below: below in unit.columns | unit.or_null),
        named=frozenset(named),
    )
    return Known(owner=owner, types=types)


def _columns_by_place(union: UnionAll) -> Mapping[ColumnName, list[ColumnName]]:
    """The columns of a union, which have the names of the first part, and what each is in the parts."""
    return {
        (union.alias, output): [(part.alias, part.outputs[place][0]) for part in union.parts]
        for place, (output, _) in enumerate(union.parts[0].outputs)
    }


def _common_type(kinds: set[SqlType]) -> SqlType:
    """Find the type in which columns of several parts meet: numbers in numeric.

    PostgreSQL gives texts the type of the first part. The rule says character varying if any part is:
    character(n) meets that without trailing blanks, so fewer joins pass. A float would make a float of all.
    """
    if len(kinds) == 1:
        return next(iter(kinds))
    if all(kind.is_number and not kind.is_float for kind in kinds):
        return SqlType.NUMERIC
    if all(kind.is_text and kind is not SqlType.BPCHAR for kind in kinds):
        return SqlType.VARCHAR if SqlType.VARCHAR in kinds else SqlType.TEXT
    raise NotPrivate(Rule.UNION_ALL, "a column of several types")
