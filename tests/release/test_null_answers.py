"""NULL for answers that say nothing, decided by released and public numbers alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

from proxy.kernel.plan import BlockPlan
from proxy.release import null_answers
from proxy.release.drawn_values import DrawnBlock, DrawnNumber, noise_half_width
from proxy.release.null_answers import AnswerRule, answer_rules, rows_needed
from proxy.release.null_reason import NullReason
from proxy.release.presenting import presented
from tests.release.released_world import block_of, drawn

_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)"
_ALL = ("avg(i4)", "min(i4)", "max(i4)", _MEDIAN, "count(*)")


def _reasons(block: BlockPlan, values: list[int], seed: int) -> list[NullReason | None]:
    (row,) = presented(block, drawn(block, {(): values}, seed)).rows
    assert all(value.is_missing == (value.null_reason is not None) for value in row.values)
    return [value.null_reason for value in row.values]


def test_an_empty_group_has_no_answers_but_its_count() -> None:
    """The count of no rows is above its half width in 2.5 of 100 draws."""
    block, shown = block_of(f"SELECT {', '.join(_ALL)} FROM people"), 0
    for seed in range(400):
        *others, count = _reasons(block, [], seed)
        assert count is None
        shown += others[0] is None
    assert shown <= 20  # 0.025 * 400 = 10; more than 20 in one of 500 runs


def test_many_rows_have_all_answers() -> None:
    block = block_of(f"SELECT {', '.join(_ALL)} FROM people")
    for seed in range(100):
        assert _reasons(block, [30, 40, 50] * 2_000, seed) == [None] * len(_ALL)


def test_without_a_released_count_nothing_is_known() -> None:
    """MIN alone counts nothing, and the exact number of rows is not looked at."""
    for sql in ("min(i4)", "max(i4)", _MEDIAN, "min(i4), count(i2)", "max(i4), sum(i4)"):
        block = block_of(f"SELECT {sql} FROM people")
        assert all(not rule.counts for rule in answer_rules(block)), sql
        assert _reasons(block, [], 1)[0] is None, sql


@pytest.mark.parametrize("aggregate", ["min(i4)", "max(i4)", _MEDIAN])
def test_too_few_rows_by_their_noisy_number(aggregate: str) -> None:
    block = block_of(f"SELECT {aggregate}, count(*) FROM people", epsilon="1")
    needed = rows_needed(block.releases[0])  # type: ignore[arg-type]
    assert 40 < needed < 300
    for seed in range(50):
        assert _reasons(block, [50] * (needed - 30), seed)[0] is NullReason.TOO_FEW
        assert _reasons(block, [50] * (needed + 30), seed)[0] is None


def test_an_error_of_half_of_the_bounds() -> None:
    """i4 is within 0 .. 100."""
    block = block_of("SELECT avg(i4) FROM people", epsilon="0.01")
    shown = 0
    for seed in range(200):
        (row,) = presented(block, drawn(block, {(): [50] * 2_000}, seed)).rows
        (value,) = row.values
        if value.is_missing:
            assert value.null_reason in (NullReason.TOO_INEXACT, NullReason.EMPTY_GROUP)
            continue
        shown += 1
        assert value.half_width is not None and value.half_width * value.grid < 50
    assert 100 < shown < 200


def test_the_pattern_follows_from_what_is_released() -> None:
    """Whatever rows a draw is of: the released count alone decides."""
    block = block_of("SELECT min(i4), count(*) FROM people", epsilon="1")
    needed = rows_needed(block.releases[0])  # type: ignore[arg-type]
    half_width = noise_half_width(block.releases[1].noise)  # type: ignore[union-attr]
    assert 0 < half_width < needed
    expected = {0: NullReason.EMPTY_GROUP, half_width + 1: NullReason.TOO_FEW, needed: None}
    for values in ([], [7] * 3, [60] * 5_000):
        (group,) = drawn(block, {(): values}, 1).groups
        for count, reason in expected.items():
            released = replace(group, values=(group.values[0], DrawnNumber(count)))
            (row,) = presented(block, DrawnBlock((released,))).rows
            assert row.values[0].null_reason is reason
            assert row.values[1].text() == str(count)


def test_the_order_of_columns_does_not_matter() -> None:
    """`id` is never NULL, so that count(id) and count(*) are one release, named after the first of them."""
    columns = ("avg(id)", "min(id)", "count(id)", "count(*)")
    patterns = set()
    for order in permutations(columns):
        block = block_of(f"SELECT {', '.join(order)} FROM orders")
        rules = {order[rule.position]: rule for rule in answer_rules(block)}
        patterns.add(tuple(_counts(block, rules[name]) for name in columns[:2]))
    assert len(patterns) == 1


def _counts(block: BlockPlan, rule: AnswerRule) -> tuple[str, ...]:
    """Without the names that depend on which column is first."""
    releases = (block.releases[number] for number in rule.counts)
    return tuple(sorted(f"{type(one).__name__} {one.loss}" for one in releases))


def test_a_smoothed_median_has_its_own_gate() -> None:
    block = block_of("SELECT avg(i4), count(*), min(i4) FROM people", "world")
    assert answer_rules(block) == ()


def test_a_count_that_is_looked_at_exactly_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard of the tests above: without the rule an empty group has answers."""
    monkeypatch.setattr(null_answers, "null_reason", lambda evidence: None)
    with pytest.raises(AssertionError):
        test_an_empty_group_has_no_answers_but_its_count()


def test_error_and_width_are_compared_in_one_unit() -> None:
    block = block_of("SELECT avg(n2) FROM people")
    (rule,) = answer_rules(block)
    assert rule.width == Fraction(175) and rule.has_error_limit
