"""A condition on row numbers bounds the rows of a unit wherever it is written: no bound is chosen beside it."""

from __future__ import annotations

import pytest

from proxy.engine.answer_conditions import left_out_rows
from proxy.kernel.plan import NoisyStatistic
from proxy.query.ir.relations import windows
from tests.kernel.examples import l1
from tests.pipeline_world import POLICIES, walk

_NUMBERED = (
    "(SELECT uid, i4, t, row_number() OVER (PARTITION BY uid ORDER BY ts) AS rn FROM orders) o"
)
_IN_A_TABLE = f"{_NUMBERED} JOIN places p ON p.code = o.t"
_PER_PERSON = (
    f"{_NUMBERED} JOIN (SELECT uid, count(*) AS n FROM visits GROUP BY uid) v ON v.uid = o.uid"
)
_TWICE = f"{_NUMBERED} JOIN {_NUMBERED[:-1]}q ON q.uid = o.uid"
_AROUND = f"(SELECT o.rn, p.zone FROM {_IN_A_TABLE}) x"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("source", "rows"),
    [
        (f"{_NUMBERED} WHERE rn = 1", 1),
        (f"{_IN_A_TABLE} WHERE rn = 1", 1),
        (f"{_IN_A_TABLE} WHERE o.rn <= 3 AND p.zone = 'north'", 3),
        (f"{_IN_A_TABLE} AND rn < 3", 2),
        (f"{_PER_PERSON} WHERE rn = 2 AND n > 1", 1),
        (f"members m JOIN {_NUMBERED} ON o.uid = m.uid AND o.rn = 1", 1),
        (f"members m LEFT JOIN {_NUMBERED} ON o.uid = m.uid AND o.rn = 1", 1),
        (f"members m LEFT JOIN {_NUMBERED} ON o.uid = m.uid WHERE o.rn = 1", 1),
        (f"{_IN_A_TABLE} AND o.rn <= 3 WHERE o.rn = 2", 1),
        (f"{_IN_A_TABLE} AND o.rn = 1 WHERE o.rn <= 2 AND o.rn < 9", 1),
        (f"{_TWICE} WHERE o.rn = 1 AND q.rn = 2", 1),
        (f"{_AROUND} WHERE rn = 1", 1),
        # rows of the left side stay whatever ON says of them
        (f"{_NUMBERED} LEFT JOIN members m ON o.uid = m.uid AND o.rn = 1", None),
        (f"{_IN_A_TABLE} WHERE rn > 1", None),
        (f"{_IN_A_TABLE} WHERE rn = 1 OR i4 > 3", None),
        # one row in each group of a unit is not one row of a unit
        (f"{_IN_A_TABLE.replace('BY uid', 'BY uid, t')} WHERE rn = 1", None),
    ],
)
def test_rows_of_a_unit(source: str, rows: int | None) -> None:
    """Of tables whose rows have no bound in the policy: None, one is chosen."""
    pipeline = walk(f"SELECT count(*) FROM {source}", POLICIES["chosen"])
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic)
    assert (not block.choices) == (rows is not None)
    if rows is not None:
        assert l1(block) == rows


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("ts", "those with the smaller i4 come first"),
        ("ts DESC", "those with the smaller i4 come first"),
        ("ts, i4", ""),
        ("ts, id", ""),
        ("id", ""),
    ],
)
def test_which_of_equal_rows_is_first_is_told(order: str, first: str) -> None:
    """Nothing is where the order has all that is used or the key of the table. A key ends the order."""
    numbered = f"(SELECT uid, i4, row_number() OVER (PARTITION BY uid ORDER BY {order}) AS rn FROM orders) o"
    pipeline = walk(f"SELECT avg(i4) FROM {numbered} WHERE rn = 1", POLICIES["chosen"])
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    told = [line for line in left_out_rows(block) if "equal in ORDER BY" in line]
    assert len(told) == bool(first) and all(first in line for line in told)
    (window,) = windows(block.source)
    assert bool(window.ties) == ("id" not in order)
