"""Answers of one group do not contradict each other: a group "may be empty" only where no number says clearly
that it is not. A mean is divided by all that is known of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from proxy.engine.answer_notices import answer_notices
from proxy.estimates import deviation_mean_estimate
from proxy.estimates.deviation_mean_estimate import NoisyRows, averaged, own_rows
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    UnitExtreme,
)
from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.deviation_mean import PARTS, NoisyDeviations
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.mechanisms.recentred_mean import NoisyMeanSums
from proxy.release import counted_rows, null_answers, presenting
from proxy.release.counted_rows import better_rows, counts_of_means, has_rows
from proxy.release.drawn_values import Drawn, DrawnBlock, DrawnGroup, DrawnNumber, DrawnQuantile
from proxy.release.noisy_relation import NullReason
from proxy.release.noisy_values import noise_half_width
from proxy.release.presenting import presented
from tests.mechanisms.mean_accuracy import released
from tests.mechanisms.mean_sets import sets
from tests.release.released_world import block_of
from tests.seeded_bits import SeededBits

# Answers that can be NULL, and numbers beside them.
_NULLABLE = (
    "avg(i4)",
    "avg(id)",
    "stddev(i4)",
    "min(i4)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)",
    "avg(i4) FILTER (WHERE b)",
)
_BESIDE = (
    "count(*)",
    "count(i4)",
    "sum(i4)",
    "count(DISTINCT uid)",
    "count(*) FILTER (WHERE b)",
    "avg(i2)",
)
_TABLES = ("orders", "members")
_BELOW, _ABOVE = Fraction(1, 2), Fraction(3)  # half widths of a number


def _deviations(release: DeviationMean, widths: Fraction) -> NoisyDeviations:
    def one(count: int) -> NoisyDeviations:
        return NoisyDeviations(
            units=10_000,
            is_few=False,
            is_single=False,
            centre=0,
            count=count,
            total=0,
            rows=6,
            bound=1_000,
            lost_rows=0,
            lost=0,
        )

    scale = own_rows(one(0), release.epsilon_of_mean, release.declared).scale
    return one(round(PARTS * widths * Fraction(3 * scale)))


def _drawn(release: Release, widths: Fraction) -> Drawn:
    """What is drawn, so many half widths of its 95 % interval above 0."""
    match release:
        case NoisyStatistic() | DistinctCount() | KeptUnits():
            return DrawnNumber(math.ceil(widths * noise_half_width(release.noise)))
        case DeviationMean(has_squares=True):
            mean = _deviations(release, widths)
            return NoisySquares(mean=mean, total=1, bound=10**9, lost=0)
        case DeviationMean():
            return _deviations(release, widths)
        case RecentredMean():
            return NoisyMeanSums(total=0, count=math.ceil(widths * 20), centre=0)
        case OrderStatistic():
            size = math.ceil(widths * noise_half_width(release.size.noise))
            return DrawnQuantile(50, size=size)
        case UnitExtreme():
            return DrawnQuantile(50)
        case _:
            raise AssertionError(type(release))


def _groups(block: BlockPlan) -> Iterator[DrawnGroup]:
    """Each release alone is clearly above 0, or all are, or none."""
    count = len(block.releases)
    for above in ({*()}, *({n} for n in range(count)), {*range(count)}):
        values = (
            _drawn(release, _ABOVE if n in above else _BELOW)
            for n, release in enumerate(block.releases)
        )
        yield DrawnGroup((), tuple(values))


def _contradictions() -> Iterator[str]:
    for table, nullable, beside in product(_TABLES, _NULLABLE, _BESIDE):
        if table == "members" and "id)" in nullable + beside:
            continue
        block = block_of(f"SELECT {nullable}, {beside} FROM {table}", epsilon="1")
        for group in _groups(block):
            (row,) = presented(block, DrawnBlock((group,))).rows
            says_empty = any(one.null_reason is NullReason.EMPTY_GROUP for one in row.values)
            if says_empty and has_rows(block, group):
                yield f"{table}: {nullable} beside {beside}"


def test_no_null_says_that_a_group_may_be_empty_which_is_not() -> None:
    assert not [*_contradictions()]


def test_a_contradiction_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard of the test above: of each kind of answer that can be NULL some contradict a number."""
    monkeypatch.setattr(null_answers, "has_rows", lambda *_: False)
    found = [*_contradictions()]
    assert len(found) > 20
    assert all(any(nullable in one for one in found) for nullable in ("avg(i4)", "stddev(i4)"))


def test_each_kind_of_number_tells_of_rows() -> None:
    for beside in _BESIDE:
        block = block_of(f"SELECT {beside} FROM orders", epsilon="1")
        below, *_, above = _groups(block)
        assert has_rows(block, above) and not has_rows(block, below), beside


def test_the_notice_says_no_more_than_is_known() -> None:
    """The mean's own number of rows is not clear; the group is not empty, by its count."""
    block = block_of("SELECT avg(i4), count(*) FROM orders GROUP BY t", epsilon="1")
    mean, count = block.releases
    for widths, reason in ((_ABOVE, NullReason.UNCLEAR_ROWS), (_BELOW, NullReason.EMPTY_GROUP)):
        group = DrawnGroup(("x",), (_drawn(mean, _BELOW), _drawn(count, widths)))
        table = presented(block, DrawnBlock((group,)))
        assert table.rows[0].values[0].null_reason is reason
        (text,) = [one for one in answer_notices(block, table) if "NULL" in one]
        assert ("It may be empty" in text) == (reason is NullReason.EMPTY_GROUP)


@pytest.mark.parametrize(
    ("columns", "counts"),
    [
        ("avg(id), count(*)", 1),
        ("avg(id), count(id)", 1),
        ("avg(i4), count(i4)", 1),
        ("avg(i4), count(*)", 0),  # i4 may be NULL
        ("avg(id), count(*) FILTER (WHERE b)", 0),
        ("avg(id) FILTER (WHERE b), count(*) FILTER (WHERE b)", 1),
        ("avg(id), count(DISTINCT uid)", 1),  # at least as many rows as people
        ("avg(i4), count(DISTINCT uid)", 0),
        ("avg(id), sum(i4)", 0),
        ("stddev(id), count(*)", 1),
    ],
)
def test_counts_of_the_very_rows_are_taken(columns: str, counts: int) -> None:
    block = block_of(f"SELECT {columns} FROM orders")
    assert sum(map(len, counts_of_means(block).values())) == counts


def test_means_of_columns_that_are_never_null_count_each_others_rows() -> None:
    block = block_of("SELECT avg(id), avg(id * 1) FROM orders")
    assert counts_of_means(block) == {}  # an expression is not known to be never NULL
    block = block_of("SELECT avg(id), stddev(id), count(*) FROM orders")
    assert {number: len(others) for number, others in counts_of_means(block).items()} == {0: 1}


def test_a_clear_count_gives_the_mean() -> None:
    """The mean's own number is not clear; with the count it is. The mean is in the middle of 0 .. 1000."""
    block = block_of("SELECT avg(id), count(*) FROM orders", epsilon="1")
    mean, count = block.releases
    group = DrawnGroup((), (_drawn(mean, _BELOW), _drawn(count, 6 * _ABOVE)))
    (row,) = presented(block, DrawnBlock((group,))).rows
    assert row.values[0].text() == "500.0000"
    assert row.values[0].half_width is not None


def test_a_clear_number_of_people_gives_the_mean() -> None:
    """Each of them has a row. The error is that of a mean of as few rows."""
    block = block_of("SELECT avg(id), count(DISTINCT uid) FROM orders", epsilon="1")
    mean, count = block.releases
    errors = []
    for widths in (_BELOW, 10 * _ABOVE, 40 * _ABOVE):
        group = DrawnGroup((), (_drawn(mean, _BELOW), _drawn(count, widths)))
        (row,) = presented(block, DrawnBlock((group,))).rows
        assert row.values[0].is_missing == (widths == _BELOW)
        errors.append(row.values[0].half_width or 0)
    _, few, many = errors
    assert 3 * many < few < 5 * many


def test_without_the_count_the_test_above_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presenting, "counts_of_means", lambda plan: {})
    for test in (test_a_clear_count_gives_the_mean, test_a_clear_number_of_people_gives_the_mean):
        with pytest.raises(AssertionError):
            test()


def test_a_count_that_may_be_cut_does_not_outweigh_the_mean() -> None:
    """However little noise it has: its bound may have cut a tenth."""
    block = block_of("SELECT avg(id), count(*) FROM orders", epsilon="8")
    mean, count = block.releases
    assert isinstance(mean, DeviationMean) and isinstance(count, NoisyStatistic)
    drawn = _deviations(mean, Fraction(1_000))
    own = own_rows(drawn, mean.epsilon_of_mean, mean.declared)
    group = DrawnGroup((), (drawn, DrawnNumber(round(own.number * 0.9))))
    better = better_rows(block, counts_of_means(block), group)[0]
    assert own.scale < counted_rows._CUT * own.number / 100
    assert abs(better.number - own.number) < own.scale


def test_the_average_is_as_exact_as_it_says() -> None:
    """In 20,000 draws; the half width is that of Laplace noise, so it holds a little more than 95 %."""
    bits = SeededBits(7)

    def drawn(scale: int) -> NoisyRows:
        return NoisyRows(number=discrete_laplace.sample(bits, Fraction(scale)), scale=scale)

    found = [averaged([drawn(60), drawn(80)]) for _ in range(20_000)]
    reach = math.log(20) * found[0].scale
    held = sum(abs(rows.number) <= reach for rows in found) / len(found)
    assert 0.95 <= held <= 0.97
    assert np.std([rows.number for rows in found]) == pytest.approx(
        math.sqrt(2) * found[0].scale, rel=0.03
    )


@pytest.mark.every(4)
@pytest.mark.parametrize("is_of_people", [False, True])
@pytest.mark.parametrize("name", ["by 48, uneven", "1,000 units by 50"])
def test_intervals_of_means_beside_a_count_hold(name: str, is_of_people: bool) -> None:
    """Of groups of few rows, many of which have no mean without the count."""
    (rows,) = (one for one in sets() if one.shape.name == name)
    epsilon, bits = Fraction(1), SeededBits(3)
    in_all = rows.counts.sum(1)
    bound = int(np.percentile(in_all, 99))
    counts = (rows.counts * np.minimum(1, bound / in_all)[:, None]).sum(0)
    given = (0, rows.width, epsilon, None)
    alone = shown = held = 0
    for _ in range(8):
        for place, one in enumerate(released(rows, epsilon, bits).means):
            number = counts[place] + discrete_laplace.sample(bits, Fraction(bound))
            scale = math.hypot(bound, counted_rows._CUT * number)
            own = own_rows(one, epsilon, None)
            better = averaged([own, NoisyRows(number=number, scale=scale)])
            if is_of_people:
                people = int((rows.counts[:, place] > 0).sum())
                noisy = people + discrete_laplace.sample(bits, Fraction(20))
                better = replace(own, least=max(0, noisy - 60))
            alone += deviation_mean_estimate.exists(one, epsilon, None)
            if not deviation_mean_estimate.exists(one, epsilon, None, better):
                continue
            half_width = deviation_mean_estimate.half_width(one, *given, rows=better)
            if 2 * half_width >= rows.width:
                continue
            shown += 1
            value = float(deviation_mean_estimate.mean(one, *given, better))
            held += abs(value - rows.means[place]) <= half_width + 0.5
    assert shown > 1.5 * alone
    assert held >= 0.95 * shown
