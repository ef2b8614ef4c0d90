"""The rows of dp.columns: what the policy exposes, in words an analyst reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from typing import NamedTuple

from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.catalog.catalog_model import Catalog, Column
from proxy.planner.facts import PublicValues
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    Mechanism,
    MovingBounds,
    Policy,
    PublicTable,
)
from proxy.shadow.column_uses import ColumnUses
from proxy.shadow.shadow_tables import ShadowTable

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
