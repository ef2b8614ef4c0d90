"""Whose is a row of a relation: what the rules of attribution say of a relation. Plain data.

A column is named by the alias of its relation and its name there: `("r1", "uid")`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Table, TableName
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.policy.policy_model import BlockLength, IdentifierUnit, ProtectedTable
from proxy.query.ir.expressions import ColumnRef

ColumnName = tuple[str, str]
ColumnNames = frozenset[ColumnName]
# At most so many rows have one value of the column; NULL is no value.
RowsPerValue = tuple[tuple[ColumnName, int], ...]

FixedTimes = frozenset[tuple[ColumnName, BlockLength]]

NO_COLUMNS: ColumnNames = frozenset()
# PostgreSQL cuts a longer name, so that two could be one.
_ALIAS = re.compile(r"[a-z][a-z0-9_]{0,62}")


def name(column: ColumnRef) -> ColumnName:
    """Name a column as `Known` does.

    >>> name(ColumnRef("uid", SqlType.INT4, None, "r1"))
    ('r1', 'uid')
    """
    return column.relation, column.column


def holder_of_units(unit: IdentifierUnit, world: World) -> Table:
    """The table to which the references of a unit lead.

    Claim: A row of it has one unit, and a reference names one row of it at most.
    Argument: Its unit is that very column, by the policy. What the reference names is a primary key of one
        column (PROOFS.md 18, 22 A2.1).

    Raises:
        NotPrivate: The reference leads to no such table.

    >>> from tests.kernel.examples import WORLD
    >>> lines = WORLD.policy.tables[TableName("w", "lines")]
    >>> str(holder_of_units(lines.unit, WORLD).name)
    'w.orders'
    """
    if unit.path is None:
        raise NotPrivate(Rule.SCAN, "a unit without a reference")
    holder, target = (
        world.policy.tables.get(unit.path.table),
        world.catalog.tables.get(unit.path.table),
    )
    leads = isinstance(holder, ProtectedTable) and holder.unit == IdentifierUnit(
        unit.identifier, unit.path.column
    )
    if not leads or target is None or len(target.primary_key) != 1:
        raise NotPrivate(Rule.SCAN, "a reference that leads to no unit")
    return target


def check_alias(alias: str) -> None:
    """Let a relation pass that is called by a word.

    Privacy: the compiler prints aliases as they are, names of columns in quotes. Any other text would be SQL
    that no rule has seen.

    >>> check_alias("r1")
    >>> check_alias("r1 CROSS JOIN w.people")
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if _ALIAS.fullmatch(alias) is None:
        raise NotPrivate(Rule.EXPRESSION, "an alias that is no word")


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """No row depends on a protected one."""

    most: RowsPerValue = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Neighbours differ in `changed` rows.

    most: bounds on rows with one value; touched: the rows that change have at most so many different values
    of these columns together; filled: columns that are never NULL; in_place: a row that comes does so
    alone, or takes the place of one with the same value of this column.
    """

    changed: int
    most: RowsPerValue = ()
    touched: tuple[tuple[ColumnNames, int], ...] = ()
    filled: ColumnNames = NO_COLUMNS
    in_place: ColumnName | None = None

    def most_of(self, column: ColumnName) -> int | None:
        """At most so many rows have one value of the column; None: no bound is known."""
        return min((most for there, most in self.most if there == column), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfUnit:
    """Each row is a function of the rows of one unit and of public rows, or of rows of nobody.

    identifier: which kind of unit; columns: hold the unit in every row that has one, and are NULL in
    others; or_null: hold the unit or NULL, as the right side of a LEFT JOIN does; alone: a unit has at most
    one row; fixed: have one value in all rows of a unit, beside those that have by the rest
    (fixed_columns.py); named: a value of the column, if not NULL, is the primary key of a row of the table
    which belongs to the row's unit; numbered: columns that number the rows of a unit 1, 2, ...;
    rows: the same relation as rows that change, where a unit has few and nobody has none;
    times: columns whose times are in one block of this length, in all rows of a unit.
    """

    identifier: str
    columns: ColumnNames
    or_null: ColumnNames = NO_COLUMNS
    alone: bool = False
    fixed: ColumnNames = NO_COLUMNS
    named: frozenset[tuple[ColumnName, TableName]] = frozenset()
    numbered: ColumnNames = NO_COLUMNS
    rows: Rows | None = None
    times: FixedTimes = frozenset()


Owner = Public | Rows | OfUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a relation.

    types: of its columns, from the catalogue up; keys: sets of columns that name a row, by a key that the
    server checks or by GROUP BY; nullable_keys: sets that do so among the rows where none of them is NULL.
    """

    owner: Owner
    types: Mapping[ColumnName, SqlType] = field(hash=False)
    keys: tuple[ColumnNames, ...] = ()
    nullable_keys: tuple[ColumnNames, ...] = ()


def within(bounds: RowsPerValue, there: Iterable[ColumnName]) -> RowsPerValue:
    """Those bounds that are on columns which are there."""
    return tuple((column, most) for column, most in bounds if column in there)
