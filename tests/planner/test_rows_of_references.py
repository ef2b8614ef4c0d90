"""Along a reference a unit has as many joined rows as rows that refer, and those that stay without partner."""

from __future__ import annotations

import pytest

from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import NoisyStatistic
from tests.kernel.examples import l1
from tests.pipeline_world import walk

_ORDERS, _LINES, _CALLS = 6, 7, 2  # rows of a unit; lines lead to orders, calls refer to them


@pytest.mark.parametrize(
    "source, rows",
    [
        ("lines l JOIN orders o ON l.order_id = o.id", _LINES),
        ("lines l LEFT JOIN orders o ON l.order_id = o.id", _LINES),
        ("orders o JOIN lines l ON l.order_id = o.id", _LINES),
        # of 6 orders 5 have no line, and the other one 7
        ("orders o LEFT JOIN lines l ON l.order_id = o.id", _ORDERS + _LINES - 1),
        ("lines l RIGHT JOIN orders o ON l.order_id = o.id", _ORDERS + _LINES - 1),
        ("calls c JOIN orders o ON c.i2 = o.id", _CALLS),
        ("calls c LEFT JOIN orders o ON c.i2 = o.id", _CALLS),
        ("orders o LEFT JOIN calls c ON c.i2 = o.id", _ORDERS + _CALLS - 1),
    ],
)
def test_rows_of_a_unit(source: str, rows: int) -> None:
    pipeline = walk(f"SELECT count(*) FROM {source}")
    assert pipeline is not None
    (release,) = pipeline.plan.blocks[0].releases
    assert isinstance(release, NoisyStatistic)
    assert l1(pipeline.plan.blocks[0]) == rows


@pytest.mark.parametrize(
    "source, per_group",
    [
        # Two orders of a group are what the policy lets count; how many lines they have is another matter.
        ("orders o JOIN lines l ON l.order_id = o.id", None),
        ("calls c LEFT JOIN orders o ON c.i2 = o.id", None),
        ("orders o LEFT JOIN calls c ON c.i2 = o.id", None),
        ("orders o", 2),
    ],
)
def test_rows_in_a_group_are_those_that_refer(source: str, per_group: int | None) -> None:
    pipeline = walk(f"SELECT o.b, count(*) FROM {source} GROUP BY 1")
    assert pipeline is not None
    unit = pipeline.plan.blocks[0].neighbours
    assert isinstance(unit, UnitNeighbours) and unit.rows_per_group == per_group


@pytest.mark.parametrize(
    "source, rows, per_group",
    [
        # Two orders of a group, each with all rows of the other table that the unit has.
        ("orders o JOIN calls c ON c.uid = o.uid", 12, 4),
        ("calls c JOIN orders o ON c.uid = o.uid", 12, 4),
        ("orders o JOIN visits v ON v.uid = o.uid", 30, 10),
        ("orders o JOIN orders p ON p.uid = o.uid", 36, 4),
        ("orders o JOIN members m ON m.uid = o.uid", 6, 2),
        ("calls o JOIN visits v ON v.uid = o.uid", 10, None),
    ],
)
def test_rows_in_a_group_are_multiplied_by_a_join_on_the_unit(
    source: str, rows: int, per_group: int | None
) -> None:
    """With the smaller of both bounds most joined rows of a unit that keeps to the policy would not count."""
    pipeline = walk(f"SELECT o.b, count(*) FROM {source} GROUP BY 1")
    assert pipeline is not None
    unit = pipeline.plan.blocks[0].neighbours
    assert isinstance(unit, UnitNeighbours)
    assert (unit.rows, unit.rows_per_group) == (rows, per_group)
