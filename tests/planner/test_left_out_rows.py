"""Which rows are in no group of a key, or in another, by the statement and the catalogue alone."""

from __future__ import annotations

import pytest

from proxy.engine.answer_conditions import left_out_rows
from tests.pipeline_world import walk


def _rules(key: str, where: str = "") -> list[str]:
    pipeline = walk(f"SELECT {key} AS k, count(*) FROM people {where} GROUP BY 1")
    assert pipeline is not None
    return list(left_out_rows(pipeline.plan.blocks[0]))


@pytest.mark.parametrize("key", ["c", "c = 'a'", "c IN ('a')", "NOT c = 'a'", "c LIKE 'a%'"])
def test_a_key_that_can_be_null(key: str) -> None:
    assert _rules(key) == ["rows whose c is null are in no group"]
    assert _rules(key, "WHERE c IS NOT NULL") == []
    assert _rules(key, "WHERE c <> 'b'") == []


@pytest.mark.parametrize(
    "key", ["c IS NULL", "coalesce(c, 'a')", "CASE WHEN c = 'a' THEN 1 ELSE 0 END", "c IS NOT NULL"]
)
def test_a_key_that_is_never_null(key: str) -> None:
    assert _rules(key) == []


def test_private_keys_and_answers_without_keys_leave_nothing_out() -> None:
    assert _rules("s") == []
    pipeline = walk("SELECT count(*) FROM people WHERE c = 'a'")
    assert pipeline is not None and list(left_out_rows(pipeline.plan.blocks[0])) == []


@pytest.mark.parametrize("key", ["floor(i4 / 10)", "i4 / 10", "floor(i4 / 10) * 10"])
def test_bins_beyond_bounds_count_at_the_ends(key: str) -> None:
    (rule,) = [rule for rule in _rules(key) if "bounds" in rule]
    assert (
        rule == "rows whose i4 is beyond its bounds in the policy count in the first or last group"
    )
    assert not any("bounds" in rule for rule in _rules(key, "WHERE i4 BETWEEN 1 AND 2"))
    assert any("bounds" in rule for rule in _rules(key, "WHERE i4 > 1"))


@pytest.mark.parametrize("key", ["extract(month FROM d)", "extract(quarter FROM d)"])
def test_parts_of_a_time_with_one_open_end(key: str) -> None:
    """The policy's bound is the other end, which is told if it leaves a group out."""
    beyond = [rule for rule in _rules(key, "WHERE d >= '2019-12-31'") if "bounds" in rule]
    assert beyond == ["rows whose d is beyond its bounds in the policy are in no group"]
    for where in ("", "WHERE d >= '2010-01-01'", "WHERE d >= '2019-12-31' AND d < '2020-01-01'"):
        assert not any("bounds" in rule for rule in _rules(key, where))


@pytest.mark.parametrize(
    "asked", ["sum(v.i4), sum(o.i4)", "sum(o.i4), sum(v.i4)", "sum(v.i4 * o.i4)"]
)
def test_columns_of_one_name_have_both_their_bounds(asked: str) -> None:
    """Once the last one of a set was told, another in each process."""
    pipeline = walk(f"SELECT {asked} FROM visits v JOIN orders o ON v.uid = o.uid WHERE v.i4 <= 50")
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    ends = [(column, int(bounds.low), int(bounds.high)) for column, bounds in block.clamped]
    assert ends == [("i4", 0, 50), ("i4", 0, 100)]


_COUNT = "SELECT s, count(*) FROM (SELECT {}) q GROUP BY s"
_UNION = _COUNT.format("{} AS s FROM orders UNION ALL SELECT {} FROM members")
_FIRST = _COUNT.format("{}(t) OVER (PARTITION BY uid ORDER BY d) AS s FROM orders{}")


@pytest.mark.parametrize(
    ("sql", "has_null"),
    [
        (_UNION.format("'a'", "'b'"), False),
        (_UNION.format("1", "2"), False),
        (_UNION.format("CASE WHEN b THEN 'a' ELSE 'c' END", "'b'"), False),
        (_UNION.format("'a'", "NULL"), True),
        (_UNION.format("CASE WHEN b THEN 'a' END", "'b'"), True),
        (_UNION.format("t", "'b'"), True),
        (_FIRST.format("first_value", " WHERE t IS NOT NULL"), False),
        (_FIRST.format("first_value", ""), True),
        (_FIRST.format("lag", " WHERE t IS NOT NULL"), True),
        (_FIRST.format("lead", " WHERE t IS NOT NULL"), True),
    ],
)
def test_constants_and_other_rows_without_null_leave_out_nothing(sql: str, has_null: bool) -> None:
    """What can be NULL has a group of its own, and what cannot has none."""
    pipeline = walk(sql)
    assert pipeline is not None
    (key,) = pipeline.plan.blocks[0].keys
    assert (key.left_out, None in (key.values or ())) == ((), has_null)
