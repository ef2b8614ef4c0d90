"""Whether what two relations are joined on lets rows of a unit meet rows of that unit only."""

from __future__ import annotations

from proxy.planner.facts import PlanningContext, RelationWithUnit, UnitRows
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, scans


def on_the_unit(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, a: UnitRows, b: UnitRows
) -> bool:
    ours, theirs = unit_names(left, a), unit_names(right, b)
    return any(
        (x.relation, x.column) in ours
        and (y.relation, y.column) in theirs
        and compared_exactly(x, y)
        for x, y in joined.equal
    )


def unit_names(with_unit: RelationWithUnit, ownership: UnitRows) -> set[tuple[str, str]]:
    names = {key for key, column in with_unit.facts.items() if column.is_unit}
    return names | {(ownership.column.relation, ownership.column.column)}


def compared_exactly(x: ColumnRef, y: ColumnRef) -> bool:
    """Whether different values of one side never equal the same value of the other. A float meets other
    numbers in numeric, with 15 digits (compiler.expression_sql), so that floats next to each other collide."""
    return x.type.is_float == y.type.is_float and not x.type.meets_blank_padded(y.type)


def along_the_reference(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> ColumnRef | None:
    """The key by which a row meets the very row through which its unit was found, so that both belong to the
    same unit; None: it does not."""
    for x, y in joined.equal:
        for here, facts, there, side in (
            (x, left.facts, y, joined.right),
            (y, right.facts, x, joined.left),
        ):
            target = facts[here.relation, here.column].leads_to
            referred = next((s for s in scans(side) if s.alias == there.relation), None)
            if target is None or referred is None or referred.table != target:
                continue
            if not compared_exactly(x, y):
                continue
            if known.catalog.tables[target].primary_key == (there.column,):
                return there
    return None
