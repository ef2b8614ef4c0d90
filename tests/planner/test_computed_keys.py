"""The values of a computed key are the texts that PostgreSQL prints for numeric."""

from __future__ import annotations

import pytest

from tests.pipeline_world import walk


@pytest.mark.parametrize(
    "key, some",
    [
        ("floor(i2 / 2.0) * (0 - 2)", ("6", "0", "-2", "-10")),
        ("(0 - 1) * floor(n2)", ("0",)),
        ("(0 - 1.50) * floor(i2)", ("7.5", "0.0", "-1.5")),
        ("floor(i2 / 2.0) * 0", ("0",)),
        ("floor(f8) * (0 - 2)", ("0", "-2")),
    ],
)
def test_zero_has_no_sign(key: str, some: tuple[str, ...]) -> None:
    pipeline = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    assert pipeline is not None
    values = pipeline.plan.blocks[0].keys[0].values
    assert values is not None
    assert set(some) <= set(values)
    assert {"-0", "-0.0", "-0.00"}.isdisjoint(values)
