"""Intervals of shares, running sums, moving averages and growth hold; of rows not known there are none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.kernel.plan import BlockPlan, GaussianNoise, LaplaceNoise, NoisyStatistic
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyWindow, WindowOrder, WindowSum
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.noisy_relation import NoInterval, NoisyInterval
from proxy.release.presenting import presented
from proxy.release.window_intervals import Ends, WindowGroups, window_ends
from tests.pipeline_world import read
from tests.release.released_world import block_of
from tests.seeded_bits import SeededBits

_DAYS = 24
_FROM = "FROM people WHERE d BETWEEN '2015-01-01' AND '2015-01-24' GROUP BY d"
_FORMS = {
    "running": "sum(count(*)) OVER (ORDER BY d)",
    "moving": "avg(count(*)) OVER (ORDER BY d ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "total": "sum(count(*)) OVER ()",
    "before": "lag(count(*)) OVER (ORDER BY d)",
    "share": "100.0 * count(*) / sum(count(*)) OVER ()",
    "growth": "count(*) * 1.0 / lag(count(*)) OVER (ORDER BY d) - 1",
}


def _block(expression: str, noise: LaplaceNoise | GaussianNoise) -> BlockPlan:
    """count(*), and the expression whose error is wanted, by day."""
    text = f"SELECT d, count(*), {expression} AS x {_FROM}"
    block = block_of(text)
    found = read(text)
    assert found is not None
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic)
    outputs = found[1].query.blocks[0].outputs
    return replace(block, releases=(replace(release, noise=noise),), outputs=outputs)


def _shown(block: BlockPlan, counts: Sequence[int]) -> list[NoisyInterval | NoInterval]:
    groups = (
        DrawnGroup((f"2015-01-{day:02}",), (DrawnNumber(count),))
        for day, count in enumerate(counts, start=1)
    )
    rows = presented(block, DrawnBlock(tuple(groups))).rows
    return [row.errors[2] for row in rows]  # type: ignore[misc]


def _held(form: str, noise: LaplaceNoise | GaussianNoise, factor: float) -> float:
    """The part of intervals that hold the exact number, with noise that is `factor` times as large."""
    block, bits = _block(_FORMS[form], noise), SeededBits(7)
    exact = [2_000 + 31 * (day % 7) for day in range(_DAYS)]
    truths = [one.value for one in _shown(block, exact) if isinstance(one, NoisyInterval)]
    held = total = 0
    for _ in range(60):
        noisy = [count + round(factor * _noise(noise, bits)) for count in exact]
        found = [one for one in _shown(block, noisy) if isinstance(one, NoisyInterval)]
        assert len(found) == len(truths)
        total += len(found)
        held += sum(o.low <= t <= o.high for o, t in zip(found, truths, strict=True))
    return held / total


def _noise(noise: LaplaceNoise | GaussianNoise, bits: SeededBits) -> float:
    """Continuous, by inversion and by Box and Muller."""
    first, second = ((bits.below(2**40) + 1) / (2**40 + 2) for _ in range(2))
    if isinstance(noise, LaplaceNoise):
        return float(noise.scale) * math.log(first) * (1 if second < 0.5 else -1)
    radius = math.sqrt(-2 * math.log(first))
    return math.sqrt(float(noise.sigma2)) * radius * math.cos(2 * math.pi * second)


@pytest.mark.every(6)
@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize(
    "noise", [LaplaceNoise(scale=Fraction(40)), GaussianNoise(sigma2=Fraction(3_200))]
)
def test_intervals_hold_and_notice_noise_30_percent_too_large(
    form: str, noise: LaplaceNoise | GaussianNoise
) -> None:
    """1,440 intervals of 60 draws, not independent of each other.

    A ratio takes two answers at 97.5 % each, so its interval is wider than it needs to be.
    """
    right, wrong = _held(form, noise, 1.0), _held(form, noise, 1.3)
    assert right > 0.92
    if form == "growth":
        assert _held(form, noise, 2.0) < 0.98
        return
    assert right < (0.995 if form == "share" else 0.98)
    assert wrong < right - 0.015
    assert form in ("share", "total") or wrong < 0.93


def test_by_hand() -> None:
    keys = [("2", "x"), ("10", "x"), (None, "x"), ("1", "y")]
    groups = WindowGroups(keys, [SqlType.INT4, SqlType.TEXT])
    parts = [Ends(Fraction(n), Fraction(n - 3), Fraction(n + 4)) for n in (20, 100, 7, 1)]
    window = NoisyWindow(
        function=WindowSum.SUM,
        operand=AnswerOf(1, SqlType.INT8),
        partition=(1,),
        order=(WindowOrder(0, False, False),),
        start=None,
        end=0,
        type=SqlType.NUMERIC,
    )
    found = window_ends(window, parts, groups)
    assert [one.value for one in found if isinstance(one, Ends)] == [20, 120, 127, 1]
    assert isinstance(found[1], Ends) and found[1].high - 120 == pytest.approx(math.sqrt(32), abs=1)
    descending = replace(window, order=(WindowOrder(0, True, True),))
    found = window_ends(descending, parts, groups)
    assert [one.value for one in found if isinstance(one, Ends)] == [127, 107, 7, 1]
    mean = replace(window, function=WindowSum.AVG, start=-1, order=window.order)
    found = window_ends(mean, [parts[0], None, *parts[2:]], groups)
    assert [one.value for one in found if isinstance(one, Ends)] == [20, 20, 7, 1]
    lag = replace(window, function=WindowSum.SHIFT, start=-1, end=-1)
    found = window_ends(lag, parts, groups)
    assert found == [None, parts[0], parts[1], None]
    unknown = window_ends(window, [NoInterval.OF_AN_ANSWER, *parts[1:]], groups)
    assert unknown[:3] == [NoInterval.OF_AN_ANSWER] * 3 and isinstance(unknown[3], Ends)


def test_texts_are_not_ordered_here() -> None:
    """PostgreSQL orders them by a collation."""
    order = (WindowOrder(0, False, False),)
    window = NoisyWindow(
        function=WindowSum.SUM,
        operand=AnswerOf(1, SqlType.INT8),
        partition=(),
        order=order,
        start=None,
        end=0,
        type=SqlType.NUMERIC,
    )
    groups = WindowGroups([("b",), ("B",)], [SqlType.TEXT])
    part = Ends(Fraction(1), Fraction(0), Fraction(2))
    assert window_ends(window, [part, part], groups) == [NoInterval.UNKNOWN_ORDER] * 2
    whole = window_ends(replace(window, order=(), end=None), [part, part], groups)
    assert [one.value for one in whole if isinstance(one, Ends)] == [2, 2]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT d, sum(count(*)) OVER (ORDER BY d) {_FROM} HAVING count(*) > 10",
        f"SELECT d, sum(count(*)) OVER (ORDER BY count(*)) {_FROM}",
        f"SELECT d, sum(count(*)) OVER w {_FROM} WINDOW w AS (ORDER BY d)",
        "SELECT d, t, sum(count(*)) OVER (ORDER BY d) FROM people WHERE d BETWEEN '2015-01-01' AND"
        " '2015-01-24' GROUP BY d, t",
        "SELECT t, sum(count(*)) OVER () FROM people GROUP BY ROLLUP (t)",
        f"SELECT d, rank() OVER (ORDER BY count(*)) {_FROM}",
        f"SELECT d, sum(count(*)) FILTER (WHERE d > '2015-01-02') OVER () {_FROM}",
        f"SELECT d, sum(sum(count(*)) OVER ()) OVER () {_FROM}",
        f"SELECT d, lag(count(*), 1, 0) OVER (ORDER BY d) {_FROM}",
        f"SELECT d, lag(count(*)) OVER () {_FROM}",
        f"SELECT d, sum(count(*)) OVER (ORDER BY d GROUPS 2 PRECEDING) {_FROM}",
        f"SELECT d, sum(count(*)) OVER (ORDER BY d ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) {_FROM}",
    ],
)
def test_where_the_rows_of_a_window_are_not_known_there_is_no_error(text: str) -> None:
    try:
        found = read(text)
    except Exception as refusal:  # what is refused as a whole states no error either
        pytest.skip(f"refused: {refusal}")
    assert found is not None
    column = found[1].query.blocks[0].outputs[-1]
    assert column.expression is None and column.reason


def test_descending_order_has_null_first_as_in_postgres() -> None:
    found = read(f"SELECT d, sum(count(*)) OVER (ORDER BY d DESC) {_FROM}")
    assert found is not None
    window = found[1].query.blocks[0].outputs[-1].expression
    assert isinstance(window, NoisyWindow)
    assert window.order == (WindowOrder(0, True, True),)
