"""Columns that a unit fixes: they have one value in all of its rows.

A customer has one state, whatever the number of orders: in `orders JOIN customers` the state is fixed by the
customer. A unit is in one group of keys that are functions of fixed columns.

Proof: PROOFS.md 27 K6. A row of nobody fixes nothing, and is in no group of a unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod

from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import columns_in, has_one_form
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.owners import (
    NO_COLUMNS,
    ColumnName,
    ColumnNames,
    FixedTimes,
    Known,
    OfUnit,
    Public,
    name,
)
from proxy.policy.policy_model import BlockLength
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import Cast, Clamped, ColumnRef, DateTrunc, Expression, InPublic
from proxy.query.ir.relations import (
    Frame,
    GroupByUnit,
    Join,
    Subquery,
    WindowColumn,
    WindowFunction,
)

# What date_trunc() cuts to, of which each has whole blocks.
_WHOLE = {
    BlockLength.DAY: ("day", "week", "month", "quarter", "year"),
    BlockLength.WEEK: ("week",),
    BlockLength.MONTH: ("month", "quarter", "year"),
    BlockLength.QUARTER: ("quarter", "year"),
    BlockLength.YEAR: ("year",),
}
Pairs = Sequence[tuple[ColumnName, ColumnName]]


def fixed_columns(context: Known) -> ColumnNames:
    """List the columns that have one value in all rows of a unit, in one form.

    Privacy: a unit that has one row has one value in each column. A column that holds the unit has one value,
        if equal values of its type have one form; of 1 and 1.00 a function could tell them apart.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, scan
    >>> members = fixed_columns(relation_of(scan("r1", "members"), WORLD))
    >>> ("r1", "t") in members
    True
    >>> sorted(fixed_columns(relation_of(scan("r1", "orders"), WORLD)))
    [('r1', 'uid')]
    """
    owner = context.owner
    if not isinstance(owner, OfUnit):
        return NO_COLUMNS
    if owner.alone:
        return frozenset(context.types)
    units = (column for column in owner.columns if has_one_form(context.types[column]))
    return owner.fixed | frozenset(units)


def fixed_times(context: Known) -> FixedTimes:
    """List the times that are in one block in all rows of a unit."""
    return context.owner.times if isinstance(context.owner, OfUnit) else frozenset()


def is_fixed(expression: Expression, fixed: ColumnNames, times: FixedTimes = frozenset()) -> bool:
    """Say whether an expression has one value in all rows of a unit: all that it is made of has.

    >>> from tests.kernel.examples import column
    >>> at = column("r1", "ts", SqlType.TIMESTAMP)
    >>> by = {unit: DateTrunc(unit, at, SqlType.TIMESTAMP) for unit in ("day", "month", "week", "year")}
    >>> [unit for unit in by if is_fixed(by[unit], frozenset(), frozenset({(name(at), BlockLength.MONTH)}))]
    ['month', 'year']
    """
    if columns_in(expression) <= fixed:
        return True
    if isinstance(expression, DateTrunc):
        time = _time_of(expression.operand)
        lengths = [per for column, per in times if time is not None and column == name(time)]
        is_whole = any(expression.unit in _WHOLE[per] for per in lengths)
        return is_whole and (expression.zone is None or expression.zone.is_utc)
    parts = () if isinstance(expression, InPublic) else children(expression)
    return bool(parts) and all(is_fixed(part, fixed, times) for part in parts)


def _time_of(expression: Expression) -> ColumnRef | None:
    """The column of which an expression is the time, cut to bounds or to its day, as UTC has it.

    All of these are monotone. A cut leaves the times of a block in it, or makes one time of them.
    """
    while isinstance(expression, Clamped | Cast):
        if not expression.type.is_time or (
            isinstance(expression, Cast) and expression.zone is not None
        ):
            return None
        expression = expression.operand
    return expression if isinstance(expression, ColumnRef) else None


def fixed_by_subquery(subquery: Subquery, inner: Known) -> ColumnNames:
    """List the outputs that a unit fixes: functions of fixed columns, and values of all of its rows."""
    owner, fixed = inner.owner, fixed_columns(inner)
    if not isinstance(owner, OfUnit):
        return NO_COLUMNS
    times = fixed_times(inner)
    found = [output for output, part in subquery.outputs if is_fixed(part, fixed, times)]
    by_unit = owner.columns | fixed
    found += [one.name for one in subquery.windows if _is_of_all_rows(one, by_unit)]
    return frozenset((subquery.alias, output) for output in found)


def _is_of_all_rows(window: WindowColumn, by_unit: ColumnNames) -> bool:
    """Whether all rows of a unit are one partition, and have one value there."""
    columns = [*window.partition, *(() if window.present is None else (window.present,))]
    parts = [name(part) for part in columns if isinstance(part, ColumnRef)]
    if len(parts) < len(columns) or not by_unit.issuperset(parts):
        return False
    is_ordered = bool(window.order or window.ties)  # ties are printed behind the order
    is_whole = window.frame is Frame.WHOLE or (window.frame is Frame.DEFAULT and not is_ordered)
    match window.function:
        case WindowFunction.FIRST_VALUE:  # all frames begin with the first row of the partition
            return True
        case WindowFunction.LAST_VALUE | WindowFunction.AGGREGATE:
            return is_whole
        case _:
            return False


def fixed_by_keys(grouped: GroupByUnit, keys: Iterable[ColumnName], inner: Known) -> ColumnNames:
    """List the keys of GROUP BY the unit that the unit fixes."""
    fixed = fixed_columns(inner)
    pairs = zip(keys, grouped.keys, strict=True)
    return frozenset(column for column, key in pairs if is_fixed(key, fixed))


def fixed_by_join(join: Join, left: Known, right: Known, pairs: Pairs) -> ColumnNames:
    """List the columns of a join on the unit, or with a public side, that a unit fixes.

    Stability: a row of a unit meets rows of the same unit alone. Of an inner join each row has a row of both
        sides, so what either side fixes stays fixed. Of a LEFT JOIN the right side has NULL where there is no
        partner. It is fixed only where ON compares nothing but fixed columns: then all left rows of the unit
        have a partner, or none has.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, joined
    >>> fixed = fixed_columns(relation_of(joined("orders", "uid", "members", "uid"), WORLD))
    >>> ("b", "t") in fixed, ("a", "t") in fixed
    (True, False)
    """
    here, there = fixed_columns(left), fixed_columns(right)
    if isinstance(left.owner, Public):
        return there | _fixed_partners(left, there, [(y, x) for x, y in pairs])
    if isinstance(right.owner, Public):
        there = _fixed_partners(right, here, pairs)
    if join.left_outer and not _is_met_alike(join, left, right, here | there, pairs):
        return here
    return here | there


def _fixed_partners(public: Known, fixed: ColumnNames, pairs: Pairs) -> ColumnNames:
    """The columns of a public side of which all rows of a unit meet the same row, if they meet any."""
    compared = {y for x, y in pairs if x in fixed}
    is_one = any(key <= compared for key in (*public.keys, *public.nullable_keys))
    return frozenset(public.types) if is_one else NO_COLUMNS


def _is_met_alike(join: Join, left: Known, right: Known, fixed: ColumnNames, pairs: Pairs) -> bool:
    """Whether ON holds for all left rows of a unit with a right row, or for none of them."""

    def is_of_unit(pair: tuple[ColumnName, ColumnName]) -> bool:
        a, b = left.owner, right.owner
        are_units = isinstance(a, OfUnit) and isinstance(b, OfUnit) and pair in pairs
        return are_units and pair[0] in a.columns and pair[1] in b.columns  # type: ignore[union-attr]

    compared = [(name(x), name(y)) for x, y in join.equal]
    if not all(is_of_unit(pair) or fixed.issuperset(pair) for pair in compared):
        return False
    return join.rest is None or is_fixed(join.rest, fixed)


def most_groups(
    keys: Sequence[KeyPlan],
    combinations: Sequence[tuple[str | None, ...]] | None,
    fixed: ColumnNames,
    times: FixedTimes = frozenset(),
) -> int | None:
    """Bound the groups in which one unit has rows.

    Privacy: a key that is a function of fixed columns has one value for a unit (PROOFS.md 27 K6). Of another
        key the listed values are counted. Groups are named by texts, and where another key is private a text
        that is not listed may be shown: 1.00 is found in a list of 1, and is a group of its own. So such a key
        is one of which equal values have one text (K4a).

    Args:
        keys: The keys of a block.
        combinations: The groups that are answered; None: all combinations of the values of keys.
        fixed: The columns that the unit fixes.
        times: Those of which it fixes the block.

    Returns:
        The bound; None where some other key is private.

    >>> from tests.kernel.examples import key_plan
    >>> keys = (key_plan("t", None), key_plan("i2", ("1", "2")))
    >>> most_groups(keys, None, frozenset({("r1", "t")})), most_groups(keys, None, frozenset())
    (2, None)
    >>> most_groups((key_plan("t", None), key_plan("n", ("1",))), None, frozenset({("r1", "t")}))
    """
    is_kept = [is_fixed(key.expression, fixed, times) for key in keys]
    if combinations is not None:
        alike = Counter(
            tuple(value for value, kept in zip(group, is_kept, strict=True) if kept)
            for group in combinations
        )
        return max([1, *alike.values()])
    others = [key for key, kept in zip(keys, is_kept, strict=True) if not kept]
    if any(key.values is None for key in keys) and not all(map(_is_listed_by_text, others)):
        return None
    return max(1, prod(len(key.values or ()) for key in others))


def _is_listed_by_text(key: KeyPlan) -> bool:
    """Whether the text of each row that SQL finds in the list of a key is listed itself.

    A column is compared in its type, all else by its text (compiler.select_list); blanks at the end of
    character(n) are in no text.
    """
    if key.values is None:
        return False
    column = key.expression
    if not isinstance(column, ColumnRef):
        return True
    return has_one_form(column.type) or column.type is SqlType.BPCHAR
