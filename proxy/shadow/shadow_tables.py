"""What the shadow's tables look like: from the policy and the catalogue, as plain data.

Only what the policy exposes: of protected tables no default, CHECK constraint, index or bound of a partition is
taken over, as they can quote data. Of public tables they are where they run no code of the source
(query.copied_expressions; docs/design/shadow.md 4); enumerations where their labels are public
(policy.public_labels).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Enumeration, ForeignKey, Table, TableName
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable, PublicTable
from proxy.protected.judged_rows import JudgedRows
from proxy.query.copied_expressions import copied_check, copied_default
from proxy.query.rewrite.empty_twins import twin_of

RESERVED_SCHEMA = "dp"
ROWS_SCHEMA = "pg_dp_rows"  # of public views
_CHECKS = 100  # of a table
_PLAIN_TYPE = re.compile(r'(?:[a-z0-9_ ]+|"char")(?:\(\d+(?:,-?\d+)?\)[a-z ]*)?(?:\[\])*')


class ShadowError(RuntimeError):
    """The shadow cannot be built."""


class ShadowBusy(ShadowError):
    """Locks or logins kept us from it: the shadow is what it was, and the next try may succeed."""


@dataclass(frozen=True, slots=True)
class ShadowColumn:
    name: str
    type_name: str
    nullable: bool
    enumeration: Enumeration | None = None  # which the shadow has to have first
    default: str | None = None
    identity: str = ""


@dataclass(frozen=True, slots=True)
class ShadowTable:
    name: TableName
    protected: bool
    columns: tuple[ShadowColumn, ...]
    primary_key: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    foreign_keys: tuple[ForeignKey, ...]
    indexes: tuple[tuple[str, ...], ...] = ()
    checks: tuple[tuple[str, str], ...] = ()
    is_view: bool = False
    is_withheld: bool = False  # its rows are not copied, and a statement on it is refused

    @property
    def stored_in(self) -> TableName:
        """Where its rows are. A view has those of a table that analysts do not see: what defines it in the
        database is not taken over."""
        return TableName(ROWS_SCHEMA, twin_of(self.name).name) if self.is_view else self.name


def types_of(policy: Policy, catalog: Catalog) -> frozenset[str]:
    """The type names that the shadow is to be asked about."""
    return frozenset(
        column.type_name
        for exposed in policy.tables.values()
        for column in _exposed(exposed, _found(catalog, exposed.name))
        if _PLAIN_TYPE.fullmatch(column.type_name)
    )


def shadow_tables(
    policy: Policy, catalog: Catalog, known_types: Collection[str]
) -> tuple[ShadowTable, ...]:
    """
    Given    a policy, its database's catalogue, the type names that the shadow server has as well
    Gives    a table for each of the policy's; a type the shadow lacks (of an extension, or an enumeration
             whose labels are not public) becomes text
    Refuses  a table or column that the database has not, and the schema name `dp`
    """
    bare = {
        name: _without_references(exposed, _found(catalog, name), known_types)
        for name, exposed in policy.tables.items()
    }
    return tuple(
        ShadowTable(
            table.name,
            table.protected,
            table.columns,
            table.primary_key,
            table.unique,
            tuple(_references(policy.tables[name], _found(catalog, name), bare)),
            table.indexes,
            table.checks,
            table.is_view,
        )
        for name, table in bare.items()
    )


def withheld_names(policy: Policy, rows: JudgedRows | None) -> frozenset[TableName]:
    """The public tables of which no row may be copied. rows: the right to copy; None: of none."""
    return frozenset(
        name
        for name, table in policy.tables.items()
        if isinstance(table, PublicTable) and (rows is None or name in rows.closed)
    )


def withheld(
    tables: Iterable[ShadowTable], names: Collection[TableName]
) -> tuple[ShadowTable, ...]:
    """Make some public tables views that refuse, with an empty table behind each."""
    return tuple(
        replace(
            table,
            foreign_keys=tuple(key for key in table.foreign_keys if key.target not in names),
        )
        if table.name not in names
        else ShadowTable(
            name=table.name,
            protected=False,
            columns=tuple(replace(one, default=None, identity="") for one in table.columns),
            primary_key=(),
            unique=(),
            foreign_keys=(),
            is_view=True,
            is_withheld=True,
        )
        for table in tables
    )


def enumerations_of(tables: Iterable[ShadowTable]) -> tuple[Enumeration, ...]:
    """Those of which columns are, each once."""
    found = (column.enumeration for table in tables for column in table.columns)
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _found(catalog: Catalog, name: TableName) -> Table:
    if name.schema == RESERVED_SCHEMA:
        raise ShadowError(f"schema {RESERVED_SCHEMA} is dpproxy's own: {name} cannot be exposed")
    table = catalog.tables.get(name)
    if table is None:
        raise ShadowError(f"table {name} is not in the database, or not readable")
    return table


def _exposed(exposed: ProtectedTable | PublicTable, table: Table) -> tuple[Column, ...]:
    if isinstance(exposed, PublicTable) and exposed.columns is None:
        return table.columns
    names = set(exposed.columns or ())
    if isinstance(exposed, ProtectedTable) and isinstance(exposed.unit, IdentifierUnit):
        names.add(exposed.unit.column)
    for name in sorted(names):
        if table.column(name) is None:
            raise ShadowError(f"column {name} of {table.name} is not in the database")
    return tuple(column for column in table.columns if column.name in names)


def _without_references(
    exposed: ProtectedTable | PublicTable, table: Table, known_types: Collection[str]
) -> ShadowTable:
    protected = isinstance(exposed, ProtectedTable)
    displayed = _exposed(exposed, table)
    columns = tuple(_column(column, known_types, protected=protected) for column in displayed)
    certain = {column.name for column in columns if not column.nullable}
    return ShadowTable(
        name=table.name,
        protected=protected,
        columns=columns,
        primary_key=table.primary_key if certain.issuperset(table.primary_key) else (),
        unique=tuple(key for key in table.unique if certain.issuperset(key)),
        foreign_keys=(),
        # How a protected table is searched, or what is checked of it, may say what is rare in it.
        indexes=()
        if protected
        else tuple(each for each in table.indexes if {c.name for c in columns}.issuperset(each)),
        checks=() if protected else tuple(_checks(table, displayed, columns)),
        is_view=table.is_view and not protected,
    )


def _checks(
    table: Table, displayed: Iterable[Column], columns: Iterable[ShadowColumn]
) -> Iterator[tuple[str, str]]:
    as_there = {
        column.name: column.type
        for column, own in zip(displayed, columns, strict=True)
        if own.type_name == column.type_name and column.type is not SqlType.COLLATED
    }
    for name, text in table.checks[:_CHECKS]:
        copied = copied_check(text, as_there)
        if copied is not None:
            yield name, copied


def _column(column: Column, known_types: Collection[str], *, protected: bool) -> ShadowColumn:
    type_name = column.type_name if column.type_name in known_types else "text"
    if column.enumeration is not None:
        type_name = column.enumeration.written
    default, identity = None, ""
    if not protected and type_name == column.display_type_name:
        identity = column.identity
        if column.default is not None:
            default = copied_default(column.default, column.enumeration)
    return ShadowColumn(
        column.name, type_name, column.nullable, column.enumeration, default, identity
    )


def _references(
    exposed: ProtectedTable | PublicTable, table: Table, tables: dict[TableName, ShadowTable]
) -> Iterable[ForeignKey]:
    """The catalogue's and the policy's, where both ends are exposed and the target is a key."""
    stated = list(table.foreign_keys)
    if isinstance(exposed, ProtectedTable):
        for column in exposed.columns.values():
            if column.references is not None:
                target, target_column = column.references
                stated.append(ForeignKey((column.name,), target, (target_column,)))
    own = {column.name: column.type_name for column in tables[table.name].columns}
    for key in dict.fromkeys(stated):
        target_table = tables.get(key.target)
        if target_table is None or not own.keys() >= set(key.columns):
            continue
        types = {column.name: column.type_name for column in target_table.columns}
        if not types.keys() >= set(key.target_columns):
            continue
        is_key = key.target_columns in (target_table.primary_key, *target_table.unique)
        alike = all(
            own[a] == types[b] for a, b in zip(key.columns, key.target_columns, strict=True)
        )
        if is_key and alike:
            yield key
