"""The plan of bounds that are proposed to an owner: of which tables, over which grids. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from proxy.catalog.catalog_model import TableName
from proxy.kernel.bound_choices import BoundChoice
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Relation


class Proposed(Enum):
    LOW = "low"
    HIGH = "high"
    ROWS = "rows"
    GROUPS = "groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedBound:
    """choice: over bounds in steps, of one row or unit; times: so many of them are protected together; column:
    None of rows and groups; step: in numbers, days or seconds; most: what the type holds."""

    what: Proposed
    choice: BoundChoice
    times: int
    column: ColumnRef | None = None
    step: Fraction = Fraction(1)
    most: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProposals:
    """unit: None where each row is protected by itself, or has a unit of its own; not_null: the unit's column
    then; keys: columns with listed keys."""

    table: TableName
    relation: Relation
    unit: ColumnRef | None
    not_null: ColumnRef | None
    keys: tuple[ColumnRef, ...]
    bounds: tuple[ProposedBound, ...]
