"""What the shadow's tables look like: from the policy and the catalogue, as plain data.

Only what the policy exposes: of protected tables no default, CHECK constraint, index or bound of a partition is
taken over, as they can quote data. Of public tables they are where they run no code of the source
(query.copied_expressions; docs/design/shadow.md 4); enumerations where their labels are public
(policy.public_labels).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from typing import NamedTuple

from psycopg import sql
from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name
from proxy.catalog.catalog_model import Catalog, Column, Enumeration, ForeignKey, Table, TableName
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.policy_statements import PolicyStatements
from proxy.kernel.plan import PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext, PublicValues
from proxy.planner.planning import planned
from proxy.policy.column_shapes import column_shape, reading_shape, settings_shape
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    Mechanism,
    MovingBounds,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    Unit,
)
from proxy.protected.judged_rows import JudgedRows
from proxy.query.copied_expressions import copied_check, copied_default
from proxy.query.ir.binding import bind
from proxy.query.ir.query import Query
from proxy.query.rewrite.empty_twins import twin_of
from proxy.query.syntax.statements import Statement

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


# The rows of dp.columns: what the policy exposes, in words an analyst reads.

# What a column of a protected table can be used for: what the planner accepts of it, asked form by form.
#
# Columns of which the planner knows the same are asked about once in a process.

_CONDITION = "SELECT count(*) FROM {t} WHERE {c} IS NULL"
_GROUPS = "SELECT {c}, count(*) FROM {t} GROUP BY {c}"
_MONTHS = "SELECT date_trunc('month', {c}), count(*) FROM {t} GROUP BY 1"
_PER_UNIT = "SELECT count(*) FROM (SELECT {c} FROM {t} GROUP BY {c}) q"
_AGGREGATES = {
    "COUNT": "count({c})",
    "COUNT(DISTINCT)": "count(DISTINCT {c})",
    "SUM": "sum({c})",
    "AVG": "avg({c})",
    "MIN": "min({c})",
    "MAX": "max({c})",
    "variance": "variance({c})",
    "percentiles": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {c})",
}


_REMEMBERED = dict[Hashable, tuple[str, ...]]()
_MOST_REMEMBERED = 20_000
_UNREAD = set[Hashable]()  # forms with shapes of columns of which they cannot even be read


def _is_public(plan: PrivatePlan) -> bool:
    """Whether all groups are answered, whatever is in the table."""
    return all(key.values is not None for block in plan.blocks for key in block.keys)


class ColumnUses:
    """Given a policy that was checked against its catalogue. Nothing is read of any table.

    keys: of public tables to which columns refer, as of `referenced_keys`. Others are no public keys."""

    def __init__(self, policy: Policy, catalog: Catalog, keys: PublicValues) -> None:
        self._policy = policy
        self._catalog = catalog
        self._oids = {name: oid for oid, name in enumerate(sorted(policy.tables), start=1)}
        relations = {oid: name for name, oid in self._oids.items()}
        self._statements = PolicyStatements(policy, catalog, relations)
        self._known = PlanningContext(policy, catalog, keys, {}, day=day_of_machine())
        self._loss = Loss(policy.privacy.epsilon, policy.privacy.delta)

        self._settings = settings_shape(policy, catalog, self._known.day)

    def of(self, table: TableName, column: str) -> tuple[str, ...]:
        """In words, in an order that does not change."""
        shape = column_shape(self._policy, self._catalog, table, column)
        if shape is None:
            return self.asked(table, column)
        found = _REMEMBERED.get((self._settings, shape))
        if found is None:
            if len(_REMEMBERED) >= _MOST_REMEMBERED:
                _REMEMBERED.clear()
            found = _REMEMBERED[self._settings, shape] = self.asked(table, column)
        return found

    def asked(self, table: TableName, column: str) -> tuple[str, ...]:
        """As `of`, of the planner itself."""
        return tuple(self._found(table, column))

    def _found(self, table: TableName, column: str) -> Iterator[str]:
        if self._read(table, _CONDITION, column) is not None:  # bounds do not matter to it
            yield "WHERE"
        groups = self._plan(table, _GROUPS, column)
        if groups is not None and _is_public(groups):
            yield "GROUP BY"
        else:
            if groups is not None:
                yield "GROUP BY (values that many have)"
            described = self._catalog.tables[table].column(column)
            if described is not None and described.type.is_time:
                months = self._plan(table, _MONTHS, column)
                if months is not None and _is_public(months):
                    yield "GROUP BY its month (date_trunc)"
            if groups is None and self._plan(table, _PER_UNIT, column) is not None:
                yield "GROUP BY inside a subquery"
        yield from self._aggregates(table, column)

    def _aggregates(self, table: TableName, column: str) -> Iterator[str]:
        """All at once, which most columns with bounds pass; else counts together, and each other by itself."""
        words = tuple(_AGGREGATES)
        if self._are_planned(table, words, column):
            yield from words
            return
        for group in (words[:2], *((word,) for word in words[2:])):
            if self._are_planned(table, group, column):
                yield from group
            elif len(group) > 1:
                yield from (word for word in group if self._are_planned(table, (word,), column))

    def _are_planned(self, table: TableName, words: Sequence[str], column: str) -> bool:
        listed = ", ".join(_AGGREGATES[word] for word in words)
        return self._plan(table, f"SELECT {listed} FROM {{t}}", column) is not None  # noqa: S608

    def _plan(self, table: TableName, form: str, column: str) -> PrivatePlan | None:
        """None: refused."""
        query = self._read(table, form, column)
        if query is None:
            return None
        try:
            return planned(query, self._known, self._loss).private
        except Refusal:
            return None

    def _read(self, table: TableName, form: str, column: str) -> Query | None:
        """None: refused, of which most are by the type of the column alone."""
        shape = reading_shape(self._policy, self._catalog, table, column)
        if (form, shape) in _UNREAD:
            return None
        written = form.format(t=written_name(*table), c=written_name(column))
        try:
            found = self._statements.look(written)
            assert isinstance(found, Statement), "it names a protected table"
            oids = tuple(self._oids[table] for _ in found.relations)
            question = self._statements.read(found, oids, ())
        except Refusal:
            if shape is not None and len(_UNREAD) < _MOST_REMEMBERED:
                _UNREAD.add((form, shape))
            return None
        assert question is not None, "it names a protected table"
        query = question.reading.query
        blocks = tuple(replace(bind(block, {}), outputs=()) for block in query.blocks)
        return replace(query, blocks=blocks)


_NO_KEYS: PublicValues = {}
_ANYTHING = "anything: the table is public"


class ExposedColumn(NamedTuple):
    table: str
    column: str
    type_name: str
    low: str | None
    high: str | None
    values: list[str | None] | None
    usable_for: str


def exposed_columns(
    policy: Policy,
    catalog: Catalog,
    tables: tuple[ShadowTable, ...],
    keys: PublicValues = _NO_KEYS,
) -> list[ExposedColumn]:
    """One row for each column of the shadow, in order. keys: of public tables, as of `referenced_keys`."""
    rows = []
    accepted = ColumnUses(policy, catalog, keys)
    for shadow_table in tables:
        exposed = policy.tables[shadow_table.name]
        table = catalog.tables[shadow_table.name]
        for displayed in shadow_table.columns:
            column = table.column(displayed.name)
            assert column is not None, "shadow_tables took it from this catalogue"
            row = ExposedColumn(
                str(table.name), displayed.name, displayed.type_name, None, None, None, _ANYTHING
            )
            if not isinstance(exposed, PublicTable):
                known = exposed.columns.get(displayed.name)
                of_planner = accepted.of(table.name, displayed.name)
                uses = _uses(of_planner, column, known, policy.privacy.mechanism)
                unit = exposed.unit
                is_unit = isinstance(unit, IdentifierUnit) and unit.column == displayed.name
                if is_unit and isinstance(unit, IdentifierUnit) and unit.blocks is not None:
                    uses = f"COUNT(DISTINCT) within one {unit.blocks.per.value}"
                elif is_unit or (known is not None and known.references is not None):
                    uses = f"joins, {uses}"
                row = row._replace(usable_for=uses)
                if known is not None and known.bounds is not None:
                    low, high = _bound_texts(known.bounds)
                    row = row._replace(low=low, high=high)
                if known is not None and known.values is not None:
                    row = row._replace(values=list(known.values))
            rows.append(row)
    return rows


def _uses(
    accepted: Sequence[str],
    column: Column,
    known: ColumnPolicy | None,
    mechanism: Mechanism,
) -> str:
    uses = list(accepted)
    if known is not None and known.bounds is not None and "MAX" in uses:
        chosen = known.mechanism or mechanism
        if chosen is not Mechanism.AUTO and (
            column.type.is_number or chosen in (Mechanism.BEST, Mechanism.SMOOTH_MEDIAN)
        ):
            uses[uses.index("MAX")] += f" (mechanism: {chosen.value})"
    return ", ".join(uses)


def _bound_texts(bounds: Bounds | MovingBounds) -> tuple[str, str]:
    """`now` as it is written: the row would be wrong tomorrow."""
    high = "now" if isinstance(bounds, MovingBounds) else bound_text(bounds.high, bounds.kind)
    return bound_text(bounds.low, bounds.kind), high


def bound_text(bound: Fraction, kind: BoundsKind) -> str:
    """A bound as PostgreSQL would print it.

    >>> bound_text(Fraction(35, 2), BoundsKind.NUMBER), bound_text(Fraction(1), BoundsKind.DATE)
    ('17.5', '1970-01-02')
    """
    try:
        match kind:
            case BoundsKind.NUMBER:
                return decimal_text(bound)
            case BoundsKind.DATE:
                return str(date(1970, 1, 1) + timedelta(days=int(bound)))
            case BoundsKind.TIMESTAMP:
                zero = datetime(1970, 1, 1, tzinfo=timezone.utc)
                moment = zero + timedelta(microseconds=round(bound * 1_000_000))
                return moment.replace(tzinfo=None).isoformat(sep=" ")
            case _:
                assert_never(kind)
    except OverflowError:  # PostgreSQL's dates reach further than Python's
        return decimal_text(bound)


# Comments of a shadow: on protected tables and their columns how these are protected, from the policy alone;
# on public ones what the database says.

_COLUMN_CHARACTERS = 1_000  # of a list of values


def comments(
    policy: Policy,
    catalog: Catalog,
    tables: Iterable[ShadowTable],
    columns: Iterable[ExposedColumn],
) -> Iterator[sql.Composed]:
    """Given  columns: of all tables, as dp.columns has them."""
    by_table: dict[str, list[ExposedColumn]] = {}
    for column in columns:
        by_table.setdefault(column.table, []).append(column)
    for table in tables:
        exposed = policy.tables[table.name]
        match exposed:
            case ProtectedTable():
                yield _on_table(table, f"{protection(exposed.unit)} {_price(policy)}")
                for column in by_table.get(str(table.name), []):
                    yield _on_column(table.name, column.column, _about(column))
            case PublicTable():
                known = catalog.tables[table.name]
                if known.comment is not None:
                    yield _on_table(table, known.comment)
                for one in table.columns:
                    found = known.column(one.name)
                    if found is not None and found.comment is not None:
                        yield _on_column(table.name, one.name, found.comment)
            case _:
                assert_never(exposed)


def protection(unit: Unit) -> str:
    """
    >>> protection(RowUnit())
    'Protected: aggregates are answered with noise that hides any one row. SELECT * FROM dp.columns.'
    """
    match unit:
        case RowUnit(rows=1):
            hidden = "any one row"
        case RowUnit(rows=rows):
            hidden = f"any {rows} rows"
        case IdentifierUnit():
            hidden = f"all rows of any one {unit.identifier} (by {unit.column})"
            if unit.blocks is not None:
                block = f"one {unit.blocks.per.value} (by {unit.blocks.time})"
                hidden = f"the rows of any one {unit.identifier} (by {unit.column}) in {block}"
        case _:
            assert_never(unit)
    return (
        f"Protected: aggregates are answered with noise that hides {hidden}."  # noqa: S608
        " SELECT * FROM dp.columns."
    )


def _price(policy: Policy) -> str:
    return (
        f"A statement costs epsilon {decimal_text(policy.privacy.epsilon)} at most, unless dp.epsilon is set;"
        " EXPLAIN shows its price and its error for nothing."
    )


def _about(column: ExposedColumn) -> str:
    parts = [f"For {column.usable_for}."]
    if column.low is not None and column.high is not None:
        parts.append(f"Values count as {column.low} to {column.high}.")
    if column.values is not None:
        listed = ", ".join("NULL" if value is None else value for value in column.values)
        parts.append(f"Groups: {listed}"[:_COLUMN_CHARACTERS] + ".")
    return " ".join(parts)


def _on_table(table: ShadowTable, text: str) -> sql.Composed:
    kind = sql.SQL("VIEW" if table.is_view else "TABLE")
    return sql.SQL("COMMENT ON {} {} IS {}").format(
        kind, sql.Identifier(*table.name), sql.Literal(text)
    )


def _on_column(table: TableName, column: str, text: str) -> sql.Composed:
    return sql.SQL("COMMENT ON COLUMN {} IS {}").format(
        sql.Identifier(table.schema, table.name, column), sql.Literal(text)
    )
