"""Tables, columns, types and keys of a database, as read from its catalogue. No rows, no statistics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name

IN_NORMAL_FORMS = "UTF8 in an order of normal forms"  # which ICU has for el, fa, he, hi
_UNPRINTABLE = (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ, SqlType.OTHER)


class TableName(NamedTuple):
    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class Enumeration:
    """A type of listed labels, in the order by which they are compared."""

    schema: str
    name: str
    labels: tuple[str, ...]

    @property
    def written(self) -> str:
        return written_name(self.schema, self.name)


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: SqlType
    type_name: (
        str  # as format_type prints it, modifier included: numeric(8,2), character varying(20);
        # of a type that is not read it only says what that is
    )
    nullable: bool
    precision: int | None = None  # of numeric(p,s)
    scale: int | None = None
    # Every stored value obeys the declared type and modifier. Not of foreign tables, tables with inheritance
    # children, views: what their declarations say is no more than a proposal (of a grid, for instance).
    is_enforced: bool = True
    comment: str | None = field(
        default=None, compare=False
    )  # may quote data: shown of public tables only
    enumeration: Enumeration | None = None  # where its labels are public (policy.public_labels)
    default: str | None = field(default=None, compare=False)  # SQL of the source; as a comment
    identity: str = field(default="", compare=False)  # 'a' always, 'd' by default
    # attnum, which no other column of the table gets, also after this one is dropped
    number: int = field(default=0, compare=False, repr=False)

    @property
    def has_keys(self) -> bool:
        """Whether equal values of its type print equally, so that a text names a group.

        Not so: bare numeric (5 = 5.0), real and double precision (0 = -0), and timestamps, which print by the
        session's settings.
        """
        kind = self.type
        if kind is SqlType.NUMERIC:
            return self.precision is not None and self.scale is not None
        return not (kind.is_float or kind.is_compound or kind in _UNPRINTABLE)

    @property
    def holds_units(self) -> bool:
        """Whether its values can name units: equal ones print equally, so a hash of the text is one of the
        unit.

        Not so: real and double precision (0 = -0), bare numeric (1.0 = 1.00), intervals (a day and 24 hours),
        and types that are not read. Times print by the session's settings. character(n) loses its blanks on
        the way to text.
        """
        kind = self.type
        if kind is SqlType.NUMERIC:
            return self.scale is not None
        return kind.is_integer or kind.is_text or kind is SqlType.UUID

    @property
    def display_type_name(self) -> str:
        """Of the column as analysts see it: labels that are not public are text to them."""
        if self.enumeration is not None:
            return self.enumeration.written
        return self.type.sql if self.type is SqlType.ENUM else self.type_name


@dataclass(frozen=True, slots=True)
class ForeignKey:
    columns: tuple[str, ...]
    target: TableName
    target_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBeneath:
    """A column of a table that a view shows, directly or through other views.

    Attributes:
        table: Its name.
        column: Its name.
        relation: The oid of the table.
        number: As of `Column`.
    """

    table: TableName
    column: str
    relation: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBound:
    """The server keeps to at most `rows` rows with one value of `column`, which is never NULL: by a unique key
    of the column and a `slot` from 1 to `rows` (protected/row_bounds.sql)."""

    column: str
    rows: int


@dataclass(frozen=True, slots=True)
class Table:
    name: TableName
    columns: tuple[Column, ...]  # in attnum order
    primary_key: tuple[str, ...] = ()
    unique: tuple[
        tuple[str, ...], ...
    ] = ()  # unique over non-NULL columns; the primary key is not repeated
    foreign_keys: tuple[ForeignKey, ...] = ()
    comment: str | None = field(default=None, compare=False)  # as of a column
    indexes: tuple[tuple[str, ...], ...] = field(
        default=(), compare=False
    )  # beside keys, plain ones
    checks: tuple[tuple[str, str], ...] = field(
        default=(), compare=False
    )  # names and SQL of the source; as a comment
    is_view: bool = field(default=False, compare=False)
    has_ctid: bool = False  # each row has a place of its own, for all the time of a statement
    # Digest of a view's text or what row security asks, of views and functions beneath, and of roles' members.
    shows: str = ""
    oid: int = field(default=0, compare=False, repr=False)  # another one where it is created again
    # Of views, materialized ones too: all columns of tables that they, and views beneath them, name
    beneath: tuple[ColumnBeneath, ...] = field(default=(), compare=False, repr=False)
    row_bound: RowBound | None = None

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    def key_among(self, columns: Collection[str]) -> tuple[str, ...]:
        """The primary key; () where a column of it is not among these."""
        return self.primary_key if set(self.primary_key) <= set(columns) else ()

    def is_unique(self, column: str) -> bool:
        """Whether one column alone identifies a row (server-checked key)."""
        return self.primary_key == (column,) or (column,) in self.unique


@dataclass(frozen=True, slots=True)
class Catalog:
    tables: Mapping[TableName, Table]
    encoding: str = "UTF8"
    enumerations: Mapping[str, Enumeration] = field(default_factory=dict)  # by Column.type_name


# Whether what a plan was made for still holds of a table.


def still_holds(was: Table, now: Table | None) -> bool:
    """
    Given    a table as it was when policy and shadow were made from it, and as it is; None: it is gone
    Gives    whether all that can be relied on is there: columns, NOT NULL, keys, references and places of
             rows may have been added, nothing may be another or gone. A view shows what it showed
    """
    if now is None:
        return False
    columns = {column.name: column for column in now.columns}
    return (
        all(_is_as_good(column, columns.get(column.name)) for column in was.columns)
        and unique_keys(was) <= unique_keys(now)
        and set(was.foreign_keys) <= set(now.foreign_keys)
        and (now.has_ctid or not was.has_ctid)
        and now.shows == was.shows
    )


def _is_as_good(was: Column, now: Column | None) -> bool:
    if now is None:
        return False
    believed = replace(
        now,
        nullable=was.nullable or now.nullable,
        is_enforced=was.is_enforced and now.is_enforced,
    )
    return believed == was


def unique_keys(table: Table) -> set[tuple[str, ...]]:
    return {key for key in (table.primary_key, *table.unique) if key}
