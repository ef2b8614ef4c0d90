"""PostgreSQL hashes a list when the first row asks for it, for each mention: one person's row waits for all.

It does so without a seed, so an analyst can write a list of which all items have one hash: each is compared
with all others.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel import work_prices
from proxy.kernel.plan import BlockPlan
from proxy.kernel.work import TooMuchWork, block_work, check_work
from proxy.kernel.world import World
from proxy.query.ir.expressions import (
    Arithmetic,
    Clamped,
    Connective,
    Constant,
    Expression,
    In,
    InPublic,
    Operator,
)
from tests.kernel.examples import WORLD, of_table
from tests.kernel.holes import block_of
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES
from tests.unchecked_blocks import compiled

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


_LISTED = "i4 IN (SELECT k FROM rates)"


@pytest.mark.parametrize(
    "question",
    [
        f"SELECT count(*) FROM members WHERE {_LISTED}",
        f"SELECT count(*) FILTER (WHERE {_LISTED}) FROM members",
        f"SELECT avg(i4) FILTER (WHERE {_LISTED}), stddev(i4) FILTER (WHERE {_LISTED}) FROM members",
        f"SELECT corr(i4, n2) FILTER (WHERE {_LISTED}) FROM members",
        f"SELECT max(i4) FILTER (WHERE {_LISTED}) FROM members",
        f"SELECT t, max(i4) FILTER (WHERE {_LISTED}), avg(n2) FILTER (WHERE {_LISTED}) FROM visits GROUP BY t",
        f"SELECT count(DISTINCT i4) FILTER (WHERE {_LISTED}) FROM members",
        f"SELECT max(k) FROM (SELECT uid, count(*) FILTER (WHERE {_LISTED}) AS k FROM visits GROUP BY uid) q",
        f"SELECT count(*) FROM (SELECT uid, {_LISTED} AS b FROM visits GROUP BY 1, 2) q",
        f"SELECT sum(n) FROM (SELECT uid, CASE WHEN {_LISTED} THEN 1 ELSE 2 END AS b, count(*) AS n FROM visits"
        " GROUP BY 1, 2) q",
        "SELECT count(*) FROM (SELECT DISTINCT uid, floor(i4 / 10) AS k FROM visits WHERE i8 IN"
        " (SELECT k FROM rates)) q",
    ],
)
def test_each_place_that_prints_a_list_is_priced(question: str) -> None:
    for policy in ("world", "best"):
        block = block_of(question, policy)
        printed = sum(query.sql.count("= ANY(") for query in compiled(block))
        priced = block_work(block, World(POLICIES[policy], CATALOG)).once
        assert 0 < printed * work_prices._HASH * limits.PUBLIC_LIST_ELEMENTS <= priced


def test_many_mentions_take_too_long() -> None:
    check_work([_block(*map(_public, range(_FEW)))], WORLD)
    with pytest.raises(TooMuchWork) as refused:
        check_work([_block(*map(_public, range(_MANY)))], WORLD)
    assert "IN is the dearest step" in refused.value.message
    assert refused.value.hint == "Use IN fewer times."


def _of_one_hash(items: int) -> Expression:
    """hashint8() folds both halves of a number."""
    numbers = (Fraction(high << 32 | high ^ 5) for high in range(1, items + 1))
    return In(
        of_table("r1", "members", "i8"), tuple(Constant(one, SqlType.INT8) for one in numbers)
    )


def test_lists_are_no_dearest_step_beside_what_many_rows_compute() -> None:
    block = block_of(
        "SELECT sum(ln(greatest(n2, 1))) FROM visits WHERE i8 IN (SELECT k FROM rates)"
    )
    assert block_work(block, WORLD).dearest.written == "ln()"


def test_items_of_one_hash_take_too_long() -> None:
    of_one_hash = _of_one_hash(limits.LIST_ELEMENTS)
    check_work([_block(of_one_hash, of_one_hash)], WORLD)
    with pytest.raises(TooMuchWork):
        check_work([_block(*[of_one_hash] * _MANY)], WORLD)


def test_they_have_one_hash() -> None:
    listed = _of_one_hash(limits.LIST_ELEMENTS)
    assert isinstance(listed, In)
    numbers = ", ".join(str(one.value) for one in listed.items if isinstance(one, Constant))
    asked = f"SELECT count(DISTINCT hashint8(v)), count(DISTINCT v) FROM unnest(ARRAY[{numbers}]) v"
    assert tiny_database().asked(asked) == [(1, limits.LIST_ELEMENTS)]
