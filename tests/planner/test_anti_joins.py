"""`LEFT JOIN o ... WHERE o.unit IS NULL` is planned as NOT EXISTS, where both mean the same."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Refusal
from proxy.planner import blocks_with_units
from tests.pipeline_world import walk


def _sql(text: str) -> list[str]:
    """The statements for the data, without the numbers of aliases."""
    pipeline = walk(text)
    assert pipeline is not None
    return [re.sub(r"\br\d+[gs]?\b", "r", one.sql) for (one,) in pipeline.queries]


_EXISTS = "SELECT count(*) FROM members c WHERE {}NOT EXISTS (SELECT 1 FROM orders o WHERE o.uid = c.uid{})"
_JOIN = "SELECT count(*) FROM members c LEFT JOIN orders o"
_PAIRS = {
    f"{_JOIN} ON o.uid = c.uid WHERE o.uid IS NULL": _EXISTS.format("", ""),
    f"{_JOIN} ON c.uid = o.uid AND o.i4 > 3 WHERE c.b AND o.id IS NULL": _EXISTS.format(
        "c.b AND ", " AND o.i4 > 3"
    ),
}


@pytest.mark.parametrize("join", _PAIRS)
def test_as_not_exists(join: str) -> None:
    """NOT (NOT (x IS NULL)), as the reader writes NOT EXISTS, is x IS NULL."""
    wanted = [sql.replace("NOT (NOT (", "((") for sql in _sql(_PAIRS[join])]
    found = [sql.replace('r."unit" IS NULL', '((r."unit" IS NULL))', 1) for sql in _sql(join)]
    assert [re.sub(r"[()]", "", one) for one in found] == [
        re.sub(r"[()]", "", one) for one in wanted
    ]


def _rows(text: str) -> int:
    pipeline = walk(text)
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    return block.neighbours.rows


_ROWS = "SELECT count(*) FROM members c LEFT JOIN orders o ON o.uid = c.uid WHERE"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"{_ROWS} o.uid IS NULL", 1),
        (f"{_ROWS} o.id IS NULL", 1),  # never NULL in a partner
        (f"{_ROWS} o.i4 IS NULL", 6),  # NULL in partners, too
        (f"{_ROWS} o.uid IS NOT NULL", 6),
        (f"{_ROWS} o.uid IS NULL OR c.b", 6),
        (f"{_ROWS} o.uid IS NULL AND o.b IS NULL", 6),
        (_ROWS.replace("count(*)", "count(o.i4)") + " o.uid IS NULL", 6),
        (_ROWS.replace("LEFT JOIN", "JOIN") + " o.uid IS NULL", 6),
        (_ROWS.replace("o.uid = c.uid", "o.uid = c.uid AND c.b") + " o.uid IS NULL", 6),
    ],
)
def test_only_where_both_mean_the_same(text: str, rows: int) -> None:
    assert _rows(text) == rows


def test_what_a_lookup_refuses_is_a_join_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The join is on a column that is no unit."""
    text = "SELECT count(*) FROM orders o LEFT JOIN calls v ON v.i2 = o.id WHERE v.i2 IS NULL"

    def planned() -> object:
        try:
            pipeline = walk(text)
        except Refusal as refusal:
            return refusal.message
        assert pipeline is not None
        return pipeline.plan

    found = planned()
    monkeypatch.setattr(blocks_with_units, "as_not_exists", lambda block, known: None)
    assert planned() == found
