"""NULL for answers that say nothing, decided by released and public numbers alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

from proxy.engine.answer_notices import answer_notices
from proxy.estimates.deviation_mean_estimate import units_needed
from proxy.kernel.plan import BlockPlan, DeviationMean, LaplaceNoise, NoisyStatistic, OrderStatistic
from proxy.kernel.statistics import Statistic
from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.deviation_mean import PARTS, NoisyDeviations
from proxy.release import counted_rows, null_answers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber, DrawnQuantile
from proxy.release.noisy_relation import NoisyTable, NullReason
from proxy.release.noisy_values import noise_half_width
from proxy.release.null_answers import AnswerRule, answer_rules, rows_needed
from proxy.release.presenting import presented
from tests.release.released_world import block_of, drawn
from tests.seeded_bits import SeededBits

_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)"
_TAIL = _MEDIAN.replace("0.5", "0.95")
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
    for seed in range(25):
        assert _reasons(block, [30, 40, 50] * 2_000, seed) == [None] * len(_ALL)


def _on_average(release: NoisyStatistic) -> int:
    """What a row adds where values are spread evenly over their bounds."""
    if release.statistic is Statistic.SQUARES:
        assert isinstance(release.of, tuple)
        return release.of[0].width ** 2 // 3
    return {Statistic.ROWS: 1, Statistic.PRODUCTS: 10}.get(release.statistic, 0)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("kind", "width"),
    [
        *(("corr", 2), ("regr_r2", 1), ("covar_pop", 100 * 15 // 2), ("covar_samp", 100 * 15 // 2)),
        # Slopes within the diagonals of the bounds, and what such lines have at 0.
        *(("regr_slope", 2 * 100 / 15), ("regr_intercept", 100 + 2 * 10 * 100 / 15)),
    ],
)
@pytest.mark.parametrize("is_stated", [True, False])
def test_of_pairs_what_is_as_inexact_as_its_range_is_null(
    kind: str, width: float, is_stated: bool
) -> None:
    """Of values that are spread over 0..100 and -5..10. What is shown is narrower than half of its range. An
    error that is not stated, as bounds were chosen from few units, decides as well."""
    block, nulls = block_of(f"SELECT {kind}(i4, i2) FROM people"), Counter[int]()
    if not is_stated:
        block = replace(block, unstated=frozenset(range(len(block.releases))))
    for rows in (2, 300, 100_000):
        for seed in range(30):
            bits = SeededBits(seed)
            group = []
            for release in block.releases:
                assert isinstance(release, NoisyStatistic) and isinstance(
                    release.noise, LaplaceNoise
                )
                exact = rows * _on_average(release)
                group.append(
                    DrawnNumber(exact + discrete_laplace.sample(bits, release.noise.scale))
                )
            (row,) = presented(block, DrawnBlock((DrawnGroup((), tuple(group)),))).rows
            (value,) = row.values
            nulls[rows] += value.is_missing
            if value.is_missing:
                assert value.null_reason is NullReason.TOO_WIDE
                (line,) = answer_notices(block, NoisyTable((row,)))
                assert line.startswith(f"{kind} is NULL: its error is at least half of the range")
            elif is_stated:
                assert value.half_width is not None
                assert 2 * value.half_width * value.grid < width
            else:
                assert value.half_width is None
    assert nulls[2] >= 28 and nulls[100_000] == 0


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", ["min(i4)", "max(i4), sum(i4)", _MEDIAN, f"{_MEDIAN}, count(i2)"])
def test_by_rank_a_group_without_rows_has_no_answer(sql: str) -> None:
    """Without a count beside it, by the noisy number of rows of the answer itself: 2.5 of 100 are shown."""
    block = block_of(f"SELECT {sql} FROM people")
    assert [rule.counts for rule in answer_rules(block)] == [(0,)]
    shown = sum(_reasons(block, [], seed)[0] is None for seed in range(400))
    assert shown <= 20  # more in one of 500 runs
    for seed in range(50):
        assert _reasons(block, [30, 40, 50] * 2_000, seed)[0] is None


def test_of_many_groups_without_rows_hardly_one_has_an_answer() -> None:
    """One of 40 results has any, whatever the number of groups. With weights the noise of the number of units
    counts for as many rows as a unit has on average, which is more than the error of a rank."""
    block = block_of(f"SELECT {_MEDIAN} FROM orders", "chosen")
    (release,) = block.releases
    assert isinstance(release, OrderStatistic) and release.weights is not None
    units = 1_000
    weights = replace(release.weights, units=units, rows=units * release.measured.rows)
    block, shown = replace(block, releases=(replace(release, weights=weights),)), 0
    for seed in range(40):
        bits = SeededBits(seed)
        sizes = [discrete_laplace.sample(bits, release.size.noise.scale) for _ in range(100)]
        groups = tuple(DrawnGroup((), (DrawnQuantile(50, size=size),)) for size in sizes)
        rows = presented(block, DrawnBlock(groups)).rows
        shown += any(not row.values[0].is_missing for row in rows)
    assert shown <= 5  # 1 is to be expected; without regard to the number of groups: 37


def test_rows_that_weights_take_away_count_in_the_error_of_a_rank() -> None:
    """By group: what is lost of one says nothing of another."""
    block = block_of(f"SELECT t, {_MEDIAN} FROM orders GROUP BY t", "chosen")
    (release,) = block.releases
    assert isinstance(release, OrderStatistic) and release.weights is not None
    size = 2 * rows_needed(release) * release.parts
    few, many = (DrawnQuantile(50, size=size, lost=lost) for lost in (0, size // release.parts))
    groups = tuple(DrawnGroup((key,), (one,)) for key, one in (("a", few), ("b", many)))
    noisy = presented(block, DrawnBlock(groups))
    assert [row.values[0].is_open for row in noisy.rows] == [False, True]
    (line,) = (one for one in answer_notices(block, noisy) if "reaches the last" in one)
    assert "in 1 of 2 groups" in line and "it may be far off there" in line


def test_a_size_that_is_not_looked_at_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard of the test above."""
    monkeypatch.setattr(counted_rows, "_size", lambda release, size: None)
    with pytest.raises(AssertionError):
        test_by_rank_a_group_without_rows_has_no_answer("min(i4)")


@pytest.mark.parametrize("aggregate", ["min(i4)", "max(i4)", _MEDIAN])
def test_too_few_rows_by_their_noisy_number(aggregate: str) -> None:
    block = block_of(f"SELECT {aggregate}, count(*) FROM people", epsilon="0.5")
    needed = rows_needed(block.releases[0])  # type: ignore[arg-type]
    assert 60 < needed < 300
    for seed in range(50):
        assert _reasons(block, [50] * (needed - 30), seed)[0] is NullReason.TOO_FEW
        assert _reasons(block, [50] * (needed + 30), seed)[0] is None


def test_an_error_of_half_of_the_bounds() -> None:
    """i4 is within 0 .. 100."""
    block = block_of("SELECT avg(i4) FROM people", epsilon="0.01")
    shown = 0
    for seed in range(80):
        (row,) = presented(block, drawn(block, {(): [50] * 2_000}, seed)).rows
        (value,) = row.values
        if value.is_missing:
            assert value.null_reason in (NullReason.TOO_INEXACT, NullReason.EMPTY_GROUP)
            continue
        shown += 1
        assert value.half_width is not None and value.half_width * value.grid < 50
    assert 40 < shown < 80


_MEANS = pytest.mark.parametrize(
    "columns", ["avg(i4)", "avg(i4), count(i4)"], ids=["own", "shared"]
)


@pytest.mark.every(6)
@_MEANS
@pytest.mark.parametrize("value", [50, 75, 97])
def test_intervals_that_are_shown_hold(columns: str, value: int) -> None:
    """Of groups with about as many rows as are needed: noise does not choose those whose mean it moves."""
    block = block_of(f"SELECT {columns} FROM people", epsilon="0.1")
    shown = held = 0
    for rows in (70, 80, 90, 120):
        for seed in range(300):
            (row,) = presented(block, drawn(block, {(): [value] * rows}, seed)).rows
            mean = row.values[0]
            if mean.is_missing:
                continue
            assert mean.half_width is not None
            shown += 1
            held += abs(mean.index - value / mean.grid) <= mean.half_width
    assert shown > 20
    assert held >= 0.94 * shown, (held, shown)


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
            least = DrawnQuantile(1, size=count)
            released = replace(group, values=(least, DrawnNumber(count)))
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


_DEVIATIONS = NoisyDeviations(
    units=10_000,
    is_few=False,
    is_single=False,
    centre=0,
    count=0,
    total=0,
    rows=6,
    bound=1_000,
    lost_rows=0,
    lost=0,
)


def _of_deviations(block: BlockPlan, mean: NoisyDeviations) -> NoisyTable:
    group = DrawnGroup((), (mean, DrawnQuantile(50)))
    return presented(block, DrawnBlock((group,)))


def _mean_and_tail() -> tuple[BlockPlan, DeviationMean]:
    block = block_of(f"SELECT avg(i4), {_TAIL} FROM orders", epsilon="1")
    mean = block.releases[0]
    assert isinstance(mean, DeviationMean)
    return block, mean


def test_a_mean_of_deviations_counts_the_rows_of_its_operand() -> None:
    """i4 is within 0 .. 100. The number of rows of the mean decides on the percentile, too."""
    block, _ = _mean_and_tail()
    needed = rows_needed(block.releases[1])  # type: ignore[arg-type]
    assert [rule.counts for rule in answer_rules(block)] == [(0,), (1, 0)]
    few = (NullReason.EMPTY_GROUP, NullReason.EMPTY_GROUP)
    for count, reasons in ((-5, few), (0, few), (needed - 1, (None, NullReason.TOO_FEW))):
        (row,) = _of_deviations(block, replace(_DEVIATIONS, count=PARTS * count)).rows
        assert tuple(value.null_reason for value in row.values) == reasons
    (row,) = _of_deviations(block, replace(_DEVIATIONS, count=PARTS * needed)).rows
    assert [value.null_reason for value in row.values] == [None, None]
    assert row.values[0].half_width is not None


def test_a_mean_of_deviations_with_too_large_an_error() -> None:
    block, _ = _mean_and_tail()
    for bound, reason in ((10**3, None), (10**8, NullReason.TOO_INEXACT)):
        mean = replace(_DEVIATIONS, count=PARTS * 10_000, bound=bound)
        table = _of_deviations(block, mean)
        assert table.rows[0].values[0].null_reason is reason
        told = any("the error is more than half" in text for text in answer_notices(block, table))
        assert told == (reason is not None)


def test_a_rough_mean_has_no_error_and_takes_units() -> None:
    """Its number of rows is one of units, with which nothing else is compared."""
    block, release = _mean_and_tail()
    needed = units_needed(release.loss.epsilon)
    rough = replace(_DEVIATIONS, bound=None, count=PARTS)
    shown = _of_deviations(block, replace(rough, units=needed))
    assert [value.null_reason for value in shown.rows[0].values] == [None, None]
    assert shown.rows[0].values[0].half_width is None
    (text,) = answer_notices(block, shown)
    assert text.startswith("avg: the error is not known, as too few ")
    missing = _of_deviations(block, replace(rough, units=needed - 1))
    assert missing.rows[0].values[0].null_reason is NullReason.TOO_FEW
    (text,) = answer_notices(block, missing)
    assert text.startswith(f"avg is NULL: it takes about {needed:,} ")


@pytest.mark.every(2)
@_MEANS
def test_an_interval_that_its_bounds_cut_would_be_found(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard of those that are shown: what is cut is narrow where noise has moved a mean to an end."""
    monkeypatch.setattr(null_answers, "_in_the_middle", lambda *_: None)
    with pytest.raises(AssertionError):
        test_intervals_that_are_shown_hold(columns, 50)
