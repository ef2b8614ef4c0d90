"""Many floats that equal one number, as both are compared in numeric."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.result_columns import UNIT_COLUMN, key_column
from proxy.base.sql_types import SqlType
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import Rule
from proxy.query.ir.expressions import (
    Arithmetic,
    Clamped,
    Comparator,
    Comparison,
    Constant,
    Expression,
    Operator,
)
from proxy.query.ir.relations import GroupByUnit, Join
from tests.kernel.examples import column, of_table, scan
from tests.kernel.holes import block_of, hole

# In numeric all of these orders have one number.
_NEAR_ALIKE = (
    "INSERT INTO members(id, uid, i4, f8) VALUES (1, 7, 1, 1);"
    " INSERT INTO orders(id, uid, f8) SELECT g, 7, {} * (1 + g * 2.220446049250313e-16::float8)"
    " FROM generate_series(0, 19) g"
)
_ONE_MEMBER = "DELETE FROM members WHERE uid = 7"


def _beside_a_float(left: Expression) -> BlockPlan:
    """The one row of a unit beside the groups of its orders by unit and a float, of which one is met."""
    block = block_of("SELECT count(*) FROM members")
    orders, unit = scan("o", "orders"), of_table("o", "orders", "uid")
    key = of_table("o", "orders", "f8")
    groups = GroupByUnit("b", orders, None, unit, (), keys=(key,))
    here = of_table("r1", "members", "uid")
    pair = (here, column("b", UNIT_COLUMN, SqlType.INT4))
    same = Comparison(Comparator.EQ, left, column("b", key_column(1), SqlType.FLOAT8))
    return replace(block, source=Join(scan("r1", "members"), groups, False, (pair,), same))


@hole(Rule.NEIGHBOURS, _NEAR_ALIKE.format(1), _ONE_MEMBER)
def computed_floats_that_are_compared() -> BlockPlan:
    """What is computed meets a float in numeric, of 15 digits: many floats are equal to it."""
    kind = SqlType.FLOAT8
    value = Clamped(of_table("r1", "members", "f8"), Fraction(-100), Fraction(100), kind)
    return _beside_a_float(Arithmetic(Operator.ADD, value, Constant(Fraction(0), kind), kind))


@hole(Rule.NEIGHBOURS, _NEAR_ALIKE.format("1e301::float8"), _ONE_MEMBER)
def floats_that_are_compared_with_a_constant() -> BlockPlan:
    """So does a constant that is too large to be printed as a float."""
    return _beside_a_float(Constant(Fraction(10**301), SqlType.FLOAT8))
