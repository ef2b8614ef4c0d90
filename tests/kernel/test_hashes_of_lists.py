"""PostgreSQL hashes a list when the first row asks for it, for each mention: one person's row waits for all."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.plan import BlockPlan
from proxy.kernel.work import TooMuchWork, check_work
from proxy.query.ir.expressions import (
    Arithmetic,
    Clamped,
    Connective,
    Constant,
    Expression,
    InPublic,
    Operator,
)
from tests.kernel.examples import WORLD, of_table
from tests.kernel.holes import block_of

_FEW, _MANY = 20, 100


def _number(added: int) -> Expression:
    """Another one for each mention."""
    clamped = Clamped(of_table("r1", "members", "i4"), Fraction(0), Fraction(9), SqlType.INT4)
    constant = Constant(Fraction(added), SqlType.INT4)
    return Arithmetic(Operator.ADD, clamped, constant, SqlType.INT4)


def _public(added: int) -> Expression:
    rates, key = TableName("w", "rates"), of_table("q", "rates", "k")
    return InPublic(_number(added), rates, "q", key, None)


def _block(*conditions: Expression) -> BlockPlan:
    where = Connective("OR", conditions)
    return replace(block_of("SELECT count(*) FROM members"), where=where)


def test_many_mentions_take_too_long() -> None:
    check_work([_block(*map(_public, range(_FEW)))], WORLD)
    with pytest.raises(TooMuchWork):
        check_work([_block(*map(_public, range(_MANY)))], WORLD)
