"""What is publicly known of a relation's columns, and whom its rows belong to. Plain data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.owners import Known
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.world import World
from proxy.planner.label_evaluation import NO_STATEMENT, EvaluatingKeys, LabelWork
from proxy.planner.series import SeriesTerms
from proxy.policy.policy_model import Bounds, Mechanism, Policy, ProtectedTable
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.rebuilding import rebuild, with_parts
from proxy.query.ir.relations import CopyRead, Relation


@dataclass(frozen=True, slots=True)
class Range:
    """From low to high, both included; None: without an end."""

    low: Fraction | None
    high: Fraction | None


# Texts of a public key, of several keys, or of a row.
Values = tuple[str | None, ...]

# Of a public table some columns, and its rows in them, as PostgreSQL prints them.
PublicRowsOf = Mapping[TableName, tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]]


@dataclass(frozen=True, slots=True)
class PublicRow:
    """A column has the value of a public row: that of this alias, in this place of its rows. is_outer: or NULL,
    with all of that row."""

    alias: str
    place: int
    rows: tuple[tuple[str | None, ...], ...] = field(compare=False, repr=False)
    is_outer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedOf:
    """What a subquery computes a column of: columns that can be named beside it, and others, whose facts are
    here as far as the subquery's own condition leaves them."""

    expression: Expression
    facts: Mapping[tuple[str, str], ColumnFacts] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """bounds: of its values after clamping; grid: on which its values lie; values: public keys; ranges: where
    its values lie by the statement's conditions, before clamping, for public keys alone;
    partitions: the policy's number of partitions; type: in the backend (computed columns are numeric);
    held: within which the values of a public table were when it was read. It may have changed since, so where
    they are computed with they are clamped like others (ADR 0058)."""

    type: SqlType
    bounds: Bounds | None = None
    grid: Fraction | None = None
    values: tuple[str | None, ...] | None = None
    ranges: tuple[Range, ...] | None = None
    step: Fraction | None = None  # the column's type holds only multiples of it
    least: Fraction | None = None  # the column's type holds nothing below it
    nullable: bool = True
    partitions: int | None = None
    is_unit: bool = False
    leads_to: TableName | None = (
        None  # the table in whose row the unit was found, by this reference
    )
    mechanism: Mechanism | None = None
    characters: int | None = None  # the column's type holds no longer text
    open_rows: int | None = None  # its bounds are of so many rows of a unit: releases choose others
    kept: Bounds | None = None  # a total of a unit, which releases cut to this bound of the policy
    per_unit: Bounds | None = None  # of the sum over all rows of a unit
    chooses_per_unit: bool = False
    of_row: PublicRow | None = None
    computed_of: ComputedOf | None = None
    held: Bounds | None = None
    is_long: bool = False  # a number of which the type lets any digits stand after the point
    is_clamped: bool = False  # a stored value can lie beyond the bounds, which are the policy's
    index: ColumnRef | None = None  # a column that holds its grid index
    # Of a computed column without bounds: why it has none.
    unbounded: Refusal | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Facts(Mapping[tuple[str, str], ColumnFacts]):
    """What is publicly known of columns, by alias of the relation and name of the column.

    labels: evaluates keys that are computed of these columns, for the statement that is planned.
    """

    columns: Mapping[tuple[str, str], ColumnFacts]
    labels: LabelWork = NO_STATEMENT

    def __getitem__(self, name: tuple[str, str]) -> ColumnFacts:
        return self.columns[name]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __or__(self, columns: Mapping[tuple[str, str], ColumnFacts]) -> Facts:
        """Also these columns, which replace those of the same names."""
        return Facts({**self.columns, **columns}, self.labels)

    def instead(self, columns: Mapping[tuple[str, str], ColumnFacts]) -> Facts:
        """Other columns of the same statement."""
        return Facts(columns, self.labels)


# Distinct values of columns of public tables, as PostgreSQL prints them.
PublicValues = Mapping[tuple[TableName, str], tuple[str | None, ...]]

# Between which the numbers and times of a column of a public table are.
PublicBounds = Mapping[tuple[TableName, str], Bounds]


@dataclass(frozen=True, slots=True)
class PublicRows:
    """Rows of a public table; they belong to no privacy unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedPart:
    """A table or subquery in a join by truncation. names: of a row, in whose order it is cut; cut_by: columns,
    in their order."""

    alias: str
    names: tuple[ColumnRef, ...]
    cut_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtectedRows:
    """Each row is protected by itself; neighbours differ in `rows` of them. hashed_by: what sends a row to its
    partition: its key, where it is stored (ctid), or nothing; of one row only, unless `partitions` says in how
    many partitions those rows can be. parts: of a join by truncation, which can be cut once more."""

    rows: int
    hashed_by: tuple[ColumnRef, ...]
    partitions: int | None = None
    parts: tuple[TruncatedPart, ...] = ()

    @property
    def named_by(self) -> tuple[ColumnRef, ...]:
        """Columns that name a row wherever it is stored; none without a key."""
        return tuple(column for column in self.hashed_by if not column.is_place)


@dataclass(frozen=True, slots=True)
class Untruncated:
    """A table or subquery of which a unit may have more rows than `rows`: no more are counted, but all of them
    come. column: of the unit."""

    alias: str
    column: ColumnRef
    rows: int


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Each row belongs to the unit in `column`; at most `rows` of a unit count. named_by: what names a row,
    where rows may have to be cut.

    untruncated: what has to be truncated before its rows are multiplied; formed: so many rows of a unit come at
    most, once it is. is_chosen: `rows` is the largest bound, of which a smaller one is chosen privately;
    is_unbounded: there is no choice either, and no release may need a bound."""

    identifier: str
    column: ColumnRef
    rows: int
    groups: int | None
    rows_per_group: int | None
    named_by: tuple[ColumnRef, ...] = ()
    untruncated: tuple[Untruncated, ...] = ()
    formed: int = 1
    is_chosen: bool = False
    is_unbounded: bool = False

    @property
    def unique(self) -> bool:
        """Whether a unit has one row at most, whatever is counted."""
        return self.formed == 1 and not self.untruncated

    @property
    def joined(self) -> int:
        """At most so many rows of a unit are multiplied by a join."""
        return self.formed if self.is_chosen else self.rows


RowOwnership = PublicRows | ProtectedRows | UnitRows


@dataclass(frozen=True, slots=True)
class RelationWithUnit:
    """A relation with what is known of it."""

    relation: Relation
    facts: Facts
    ownership: RowOwnership


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicContents:
    """What was read of public tables. Two contexts with equal contents plan alike.

    values: distinct values of columns, which can then be GROUP BY keys; rows: of small tables, which say
    what such keys are together; bounds: of their numbers and times.
    What is left out is not known: a column without values is no public key.
    """

    values: PublicValues = field(default_factory=dict)
    rows: PublicRowsOf = field(default_factory=dict)
    bounds: PublicBounds = field(default_factory=dict)

    def with_tables(self, other: PublicContents, names: Collection[TableName]) -> PublicContents:
        """Take what another reading knows of some tables, of which this one knows nothing."""
        values = {key: one for key, one in other.values.items() if key[0] in names}
        rows = {name: one for name, one in other.rows.items() if name in names}
        bounds = {key: one for key, one in other.bounds.items() if key[0] in names}
        return PublicContents(
            values={**self.values, **values},
            rows={**self.rows, **rows},
            bounds={**self.bounds, **bounds},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFacts:
    """What is known of the columns of a table, and of what: a context that another was made of shares it as
    long as these are the same."""

    columns: Mapping[str, ColumnFacts]
    policy: ProtectedTable
    described: Table
    public: PublicValues
    day: int | None

    def are_of(self, policy: ProtectedTable, described: Table, known: PlanningContext) -> bool:
        same = self.policy is policy and self.described is described
        return same and self.public is known.public and self.day == known.day


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """What is public: the policy, the catalogue, the values of public tables, the rows of small ones, and the
    bounds of their numbers and times.

    naming_key: under which a plan that is refused has its name in the log. day: the present, in days since
    1970-01-01, for bounds that end with it; None: nothing is planned that needs it. column_facts: of each
    protected table, once asked for: they follow from the rest (table_rows.py). evaluating: says what keys
    are that are computed of listed values; None: no such key is public. labels: does so for one statement."""

    policy: Policy
    catalog: Catalog
    public: PublicValues
    rows: PublicRowsOf = field(default_factory=dict)
    bounds: PublicBounds = field(default_factory=dict)
    # So many rows of a unit are read of each table, of a statement that is dear for each of them (None: all).
    most_stored: int | None = None
    mechanism: Mechanism | None = None  # what the session has chosen for AVG, MIN and MAX
    is_rounded: bool = (
        False  # whether the session has answers printed to the digits that mean something
    )
    naming_key: bytes = field(default=b"", repr=False)
    day: int | None = None
    evaluating: EvaluatingKeys | None = field(default=None, compare=False, repr=False)
    labels: LabelWork = field(default=NO_STATEMENT, compare=False, repr=False)
    series: SeriesTerms | None = None  # what is planned is released step by step
    # Tables of which a copy is read instead: policy and catalogue then say of them what holds of the copies
    # (prepared_copies.py). stored: what the kernel believes, which is what holds of the tables.
    copies: Mapping[TableName, CopyRead] = field(default_factory=dict)
    stored: World | None = None
    made_facts: dict[TableName, MadeFacts] = field(default_factory=dict, compare=False, repr=False)

    @property
    def world(self) -> World:
        """What the kernel checks by."""
        return self.stored or World(self.policy, self.catalog, self.naming_key)

    def attributed(self, relation: Relation) -> Known | None:
        """Whose its rows are, as the kernel sees it. None: it refuses the relation, and so the plan."""
        try:
            return relation_of(relation, self.world)
        except NotPrivate:
            return None


def planning_context(
    policy: Policy, catalog: Catalog, contents: PublicContents, day: int | None = None
) -> PlanningContext:
    """Combine a policy and its catalogue with what was read of public tables."""
    return PlanningContext(
        policy, catalog, contents.values, contents.rows, contents.bounds, day=day
    )


def typed(expression: Expression, facts: Facts) -> Expression:
    """Columns in the types that they have in the backend."""

    def change(part: Expression) -> Expression:
        if isinstance(part, ColumnRef) and (part.relation, part.column) in facts:
            return with_parts(part, type=facts[part.relation, part.column].type)
        return part

    return rebuild(expression, change)
