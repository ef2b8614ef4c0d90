"""What is publicly known of the columns of a relation, and whom its rows belong to. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.catalog.model import TableName
from proxy.policy.model import Bounds, Mechanism
from proxy.query.expressions import ColumnRef


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """bounds: of its values after clamping; grid: on which its values lie; values: public keys;
    partitions: the policy's number of partitions; type: in the backend (computed columns are numeric)."""

    type: SqlType
    bounds: Bounds | None = None
    grid: Fraction | None = None
    values: tuple[str | None, ...] | None = None
    step: Fraction | None = None  # the column's type holds only multiples of it
    nullable: bool = True
    partitions: int | None = None
    is_unit: bool = False
    leads_to: TableName | None = (
        None  # the table in whose row the unit was found, by this reference
    )
    mechanism: Mechanism | None = None


# (alias of the relation, name of the column)
Facts = Mapping[tuple[str, str], ColumnFacts]

# Distinct values of columns of public tables, as PostgreSQL prints them.
PublicValues = Mapping[tuple[TableName, str], tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class PublicRows:
    """Nobody's."""


@dataclass(frozen=True, slots=True)
class ProtectedRows:
    """Each row is protected by itself; neighbours differ in `rows` of them. hashed_by: what names a row."""

    rows: int
    hashed_by: tuple[ColumnRef, ...]


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Each row belongs to the unit in `column`; at most `rows` of a unit count. unique: a unit has one row
    at most, by a key that the server checks."""

    identifier: str
    column: ColumnRef
    rows: int
    unique: bool
    groups: int | None
    rows_per_group: int | None


Owner = PublicRows | ProtectedRows | UnitRows
