"""Bounds that an owner could put into a policy, to be chosen privately: which, and over which public grids.

Of a column: how far its values go below and above 0. Of a unit: how many rows it has, and in how many groups of
all listed keys it is. Each is a total of a unit by which AboveThreshold chooses (PROOFS.md 23): the size of the
largest value that it has, or a number; so one unit more raises each count of units by 0 or 1, however many rows
it has, and nothing has to be bounded before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import relation_alias
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.kernel.proposal_check import CheckedProposals, check_proposals
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext, ProtectedRows, UnitRows
from proxy.planner.neighbours import choice_of
from proxy.planner.table_rows import table_rows
from proxy.policy.column_shapes import bounds_kind
from proxy.policy.grid import type_step
from proxy.policy.key_texts import integer_range
from proxy.policy.policy_model import (
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    Policy,
    ProtectedTable,
)
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Scan

_LARGEST = 10**18  # grid indices stay bigint
_STEP = Fraction(1, 10**6)  # of types without one
_DAYS = 2**16  # either side of 1970: from 1790 to 2149
_DAY_SECONDS = 86_400
_LARGEST_NUMBER = 1_000_000  # of rows or groups of a unit


def unbounded(policy: Policy, catalog: Catalog) -> dict[TableName, tuple[str, ...]]:
    """Of protected tables the columns that could have bounds and have none: numbers, dates and timestamps that
    are neither keys, nor listed, nor refer to another table."""
    found = {}
    for table in policy.protected():
        there = catalog.tables[table.name]
        names = tuple(name for name, one in table.columns.items() if _is_unbounded(one, there))
        if names:
            found[table.name] = names
    return found


def proposal_plan(
    known: PlanningContext, epsilon: Fraction, only: TableName | None, columns: Collection[str]
) -> CheckedProposals:
    """
    Given    only: this table alone; columns: of it, these alone; else all that `unbounded` finds, and the units
             of tables that bound them by choice
    Refuses  UNSUPPORTED: there is nothing to propose, or not for such a table or column; NotPrivate: the kernel
             does not let it through
    """
    wanted = _wanted(known, only, columns)
    listed = {name: list(_parts(known, name, found)) for name, found in wanted.items()}
    parts = {name: found for name, found in listed.items() if found}  # no table is read for nothing
    count = sum(len(found) for found in parts.values())
    if count == 0:
        raise Refusal(
            Code.UNSUPPORTED,
            "the policy has no column without bounds",
            "Name what you want bounds for: --table schema.table --column name.",
        )
    tables = tuple(_table(known, name, parts[name], epsilon / count) for name in parts)
    return check_proposals(tables, known.world)


def _is_unbounded(column: ColumnPolicy, there: Table) -> bool:
    real = there.column(column.name)
    if real is None or bounds_kind(real.type) is None or there.is_unique(column.name):
        return False
    return column.bounds is None and column.values is None and column.references is None


def _wanted(
    known: PlanningContext, only: TableName | None, columns: Collection[str]
) -> dict[TableName, tuple[str, ...]]:
    found = unbounded(known.policy, known.catalog)
    protected = {table.name: table for table in known.policy.protected()}
    if only is None:
        chosen = {name for name, table in protected.items() if table.chooses_rows}
        asked = (name for name, table in protected.items() if not _is_in_blocks(table))
        return {name: found.get(name, ()) for name in asked if name in found or name in chosen}
    if only not in protected:
        raise Refusal(
            Code.UNSUPPORTED,
            f"the policy has no protected table {only}",
            "Write it as the policy does: --table schema.table.",
        )
    if _is_in_blocks(protected[only]):
        raise Refusal(
            Code.UNSUPPORTED,
            f"no bounds are proposed for {only}, whose privacy unit has blocks of time",
            "State them by what is known of the table: each block has a budget of its own, a proposal none.",
        )
    for name in columns:
        real = known.catalog.tables[only].column(name)
        is_listed = name in protected[only].columns
        if real is None or not is_listed or bounds_kind(real.type) is None:
            raise Refusal(
                Code.UNSUPPORTED,
                f"{only} has no column {name} of numbers, dates or timestamps in the policy",
                "List the column in the policy first: `columns: {name: {}}`.",
            )
    return {only: tuple(dict.fromkeys(columns)) or found.get(only, ())}


def _is_in_blocks(table: ProtectedTable) -> bool:
    return isinstance(table.unit, IdentifierUnit) and table.unit.blocks is not None


_Part = tuple[Proposed, str | None]


def _parts(known: PlanningContext, name: TableName, columns: tuple[str, ...]) -> Iterator[_Part]:
    ownership = table_rows(Scan(relation_alias(1), name), known).ownership
    if isinstance(ownership, UnitRows) and not ownership.unique:
        yield Proposed.ROWS, None
        if _keys(known, name):
            yield Proposed.GROUPS, None
    for column in columns:
        yield Proposed.LOW, column
        yield Proposed.HIGH, column


def _table(
    known: PlanningContext, name: TableName, parts: list[_Part], epsilon: Fraction
) -> TableProposals:
    found = table_rows(Scan(relation_alias(1), name), known)
    ownership, there = found.ownership, known.catalog.tables[name]
    times = ownership.rows if isinstance(ownership, ProtectedRows) else 1
    loss = Loss(epsilon / times, Fraction(0))
    bounds = []
    for what, column in parts:
        if column is None:
            choice = choice_of(loss, _LARGEST_NUMBER)
            bounds.append(ProposedBound(what=what, choice=choice, times=times))
            continue
        real = there.column(column)
        assert real is not None
        step, most = _steps(real)
        bounds.append(
            ProposedBound(
                what=what,
                choice=choice_of(loss, most),
                times=times,
                column=_ref(real),
                step=step,
                most=most * step,
            )
        )
    of_unit = ownership if isinstance(ownership, UnitRows) else None
    gathers = of_unit is not None and not of_unit.unique
    return TableProposals(
        table=name,
        relation=found.relation,
        unit=of_unit.column if of_unit is not None and gathers else None,
        not_null=None if of_unit is None else of_unit.column,
        keys=_keys(known, name),
        bounds=tuple(bounds),
    )


def _keys(known: PlanningContext, name: TableName) -> tuple[ColumnRef, ...]:
    policy, there = known.policy.tables[name], known.catalog.tables[name]
    assert isinstance(policy, ProtectedTable)
    listed = (one.name for one in policy.columns.values() if one.values is not None)
    columns = (there.column(column) for column in listed)
    return tuple(_ref(column) for column in columns if column is not None)


def _ref(column: Column) -> ColumnRef:
    return ColumnRef(column.name, column.type, None, relation_alias(1))


def _steps(column: Column) -> tuple[Fraction, int]:
    """The step of the grid of bounds, and the largest bound in steps: by the type alone."""
    if bounds_kind(column.type) is BoundsKind.DATE:
        return Fraction(1), _DAYS
    if bounds_kind(column.type) is BoundsKind.TIMESTAMP:
        return Fraction(_DAY_SECONDS), _DAYS
    if column.type.is_integer:
        return Fraction(1), min(_LARGEST, integer_range(column.type)[1])
    step = type_step(column)
    if step is None or column.type is not SqlType.NUMERIC or column.precision is None:
        return _STEP, _LARGEST
    return step, max(1, min(_LARGEST, 10**column.precision - 1))
