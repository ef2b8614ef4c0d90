"""What a subquery of the question says of each row's own unit: EXISTS, IN and scalar subqueries.

The reader makes of each a LEFT JOIN with one row for each unit and value of the columns that are compared.
Here the join is also put on the unit itself, so that a row of a unit meets rows of that unit only, whatever is
compared, and one of them at most: neighbours that differ in a unit differ in the rows of that unit alone, and
no bound on them changes. What was asked must say the same, or this would answer another question: so what is
compared has to be the unit, or the reference that leads to it.

What is compared is compared in one type, in which to be equal and to be in one group are the same, so that what
is one row for each value is one row at most for each row of the left side.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import UNIT_COLUMN, key_column
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.column_types import injective
from proxy.planner.facts import Facts, PlanningContext, RelationWithUnit, UnitRows
from proxy.planner.text_lengths import is_long
from proxy.policy.policy_model import ProtectedTable, RowUnit
from proxy.query.ir.expressions import (
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    Expression,
    TextCall,
    TextFunction,
)
from proxy.query.ir.rebuilding import conjunction
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, scans

_OTHER_UNIT = "a subquery about each row must be of a table with the same privacy unit"
_APART = (
    "Ask each table by itself, or look a value up in a public table: column IN (SELECT column FROM"
    " public_table)."
)
_COMPARED = (
    *(SqlType.BOOL, SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ, SqlType.UUID),
    *(SqlType.NUMERIC, SqlType.BPCHAR),
)
_TEXTS = (SqlType.TEXT, SqlType.VARCHAR, SqlType.ENUM, SqlType.COLLATED)


def check_tables(joined: Join, known: PlanningContext) -> None:
    """
    Refuses  UNSUPPORTED: a lookup in a table whose rows are units by themselves
    """
    for scan in scans(joined.right):
        policy = known.policy.tables[scan.table]
        if isinstance(policy, ProtectedTable) and isinstance(policy.unit, RowUnit):
            _refuse(_OTHER_UNIT, _APART)


def looked_up(
    relation: Join,
    facts: Facts,
    left: RelationWithUnit,
    right: RelationWithUnit,
    known: PlanningContext,
) -> RelationWithUnit:
    """
    Given    relation: with its sides as planned; facts: of both
    Refuses  UNSUPPORTED: what is not about the unit of each row
    """
    a, b = left.ownership, right.ownership
    if not isinstance(a, UnitRows) or not isinstance(b, UnitRows) or a.identifier != b.identifier:
        _refuse(_OTHER_UNIT, _APART)
    if not injective(a.column.type, b.column.type):
        _refuse(
            "the privacy units of both tables are of types that are not compared exactly",
            "Ask the data owner for units of the same type in both tables.",
        )
    if not on_the_unit(relation, left, right, a, b) and not _along_the_reference(
        relation, facts, known
    ):
        _refuse(
            "a subquery about each row must compare the privacy unit that both tables share",
            _hint(left, right, a, b, relation),
        )
    for x, y in ((a.column, b.column), *relation.equal):
        _check_compared(x, y)
    others = [pair for pair in relation.equal if pair != (a.column, b.column)]
    equal = ((a.column, b.column), *(pair for pair in others if not is_long(pair[1], facts)))
    beginnings = tuple(_equal_beginnings(*pair) for pair in others if is_long(pair[1], facts))
    rest = conjunction(beginnings)
    return RelationWithUnit(replace(relation, equal=equal, rest=rest), facts, a)


def _check_compared(x: ColumnRef, y: ColumnRef) -> None:
    """
    Refuses  UNSUPPORTED: types in which several values that were grouped apart may equal one
    """
    if x.type.is_integer and y.type.is_integer:
        return
    if x.type in _TEXTS and y.type in _TEXTS:
        return
    if x.type is not y.type or x.type not in _COMPARED:
        _refuse(
            f"{x.type.sql} and {y.type.sql} cannot be compared in a subquery about each row",
            "Compare columns of one type, which is not a float.",
        )


def _equal_beginnings(x: ColumnRef, y: ColumnRef) -> Expression:
    """Long texts are grouped by their beginnings (ADR 0003)."""
    most = Constant(Fraction(limits.KEY_CHARACTERS), SqlType.INT4)
    return Comparison(Comparator.EQ, TextCall(TextFunction.LEFT, x, (most,), SqlType.TEXT), y)


def _hint(
    left: RelationWithUnit, right: RelationWithUnit, a: UnitRows, b: UnitRows, joined: Join
) -> str:
    """In the question's own names, where the units are columns of tables in it."""
    written = dict(joined.written)
    named = []
    for side, ownership in ((left, a), (right, b)):
        scan, found = (next(scans(side.relation)), stored_column(side.relation, ownership.column))
        if found is None or found[0] != scan.table or scan.alias not in written:
            return (
                "Compare the units of both tables in it: table.unit = outer_table.unit, or along the"
                " reference."
            )
        named.append((written[scan.alias], found[1][0], scan.table))
    (outer, unit, _), (inner, other, table) = named
    return (
        f"Compare the units of both tables in it: EXISTS (... AND {inner}.{other} = {outer}.{unit}); or"  # noqa: S608
        f" write {outer}.{unit} IN (SELECT {other} FROM {table} WHERE ...)."
    )


def _along_the_reference(relation: Join, facts: Facts, known: PlanningContext) -> bool:
    """Whether a row meets rows that refer to it, or the row that it refers to: through which the unit of the
    others is found, so that all of them belong to one unit."""
    for x, y in relation.equal:
        for here, there, side in ((x, y, relation.right), (y, x, relation.left)):
            target = facts[here.relation, here.column].leads_to
            if target is None or not injective(here.type, there.type):
                continue
            if stored_column(side, there) == (target, known.catalog.tables[target].primary_key):
                return True
    return False


def stored_column(
    relation: Relation, column: ColumnRef
) -> tuple[TableName, tuple[str, ...]] | None:
    """The table's column that a column is, through all that leaves it as it is."""
    match relation:
        case Scan() if relation.alias == column.relation:
            return relation.table, (column.column,)
        case Join():
            return stored_column(relation.left, column) or stored_column(relation.right, column)
        case Truncate():
            return stored_column(relation.source, column)
        case Subquery() if relation.alias == column.relation:
            below = dict(relation.outputs).get(column.column)
            return stored_column(relation.source, below) if isinstance(below, ColumnRef) else None
        case GroupByUnit() if relation.alias == column.relation:
            keys = {key_column(n): key for n, key in enumerate(relation.keys, start=1)}
            below = relation.unit if column.column == UNIT_COLUMN else keys.get(column.column)
            return stored_column(relation.source, below) if isinstance(below, ColumnRef) else None
        case _:
            return None


def _refuse(message: str, hint: str) -> NoReturn:
    raise Refusal(Code.UNSUPPORTED, message, hint)


# Whether what two relations are joined on lets rows of a unit meet rows of that unit only.


def on_the_unit(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, a: UnitRows, b: UnitRows
) -> bool:
    ours, theirs = unit_names(left, a), unit_names(right, b)
    return any(
        (x.relation, x.column) in ours
        and (y.relation, y.column) in theirs
        and injective(x.type, y.type)
        for x, y in joined.equal
    )


def unit_names(with_unit: RelationWithUnit, ownership: UnitRows) -> set[tuple[str, str]]:
    names = {key for key, column in with_unit.facts.items() if column.is_unit}
    return names | {(ownership.column.relation, ownership.column.column)}
