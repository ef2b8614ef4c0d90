"""No constant that an analyst or a policy can write makes a draw take long, on any data: a draw that only
somebody's row sets off would tell by its time that the row is there, and all sessions wait for it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from fractions import Fraction

import pytest

from proxy.base.limits import FRACTION_DIGITS
from proxy.mechanisms import (
    deviation_mean,
    deviation_variance,
    discrete_gaussian,
    discrete_laplace,
    order_statistic,
    polyplace,
    private_bound,
    smoothed_median,
)
from proxy.mechanisms.deviation_mean import PARTS, GroupDeviations, GroupRows
from proxy.mechanisms.exact_choice import Weight, choose
from proxy.mechanisms.growing_places import Places
from proxy.mechanisms.order_statistic import ValueCount
from proxy.mechanisms.private_bound import UnitTotals
from tests.machine_speed import allowed_work
from tests.seeded_bits import SeededBits

pytestmark = pytest.mark.timed

_LONGEST = allowed_work(0.75)  # of processor time, for a few draws
_RATES = [Fraction(1, 2**power) for power in (0, 60, 120, 127, 128, 129, 150, 200, 400)]
# Beyond a million no exponential has bounds: an error would tell that there is a row.
_RATES += [Fraction(7, 3**80), Fraction(1, 10**100 + 1), Fraction(600), Fraction(10**9 + 1, 2)]
_SIZES = [Fraction(10) ** power for power in (-400, -200, -20, 0, 20, 200, 400)]
_SIZES += [Fraction(10**400 + 1, 7**470), Fraction(7**470, 10**400 + 1)]


def _takes(draw: Callable[[SeededBits], object]) -> float:
    bits = SeededBits(1)
    began = time.thread_time()
    for _ in range(3):
        draw(bits)
    return time.thread_time() - began


@pytest.mark.every(6)
@pytest.mark.parametrize("rate", _RATES, ids=lambda rate: f"{float(rate):.0e}")
@pytest.mark.parametrize("count", [1, 2, 3, 200])
@pytest.mark.parametrize("step", [1, 2**40, 2**140])
def test_choices(rate: Fraction, count: int, step: int) -> None:
    weights = [Weight(1 + number % 3, number * step) for number in range(count)]
    assert _takes(lambda bits: choose(bits, weights, rate)) < _LONGEST


_Q = [Fraction(0), Fraction(1, 2), Fraction(1, 10**9), Fraction(1, 10**FRACTION_DIGITS)]
# The least of a statement, that of a share of it in a thousand, and one of many digits.
_EPSILONS = [Fraction(1), Fraction(1, 10**6), Fraction(1, 10**9), Fraction(10**390 + 7, 10**396)]


@pytest.mark.every(6)
@pytest.mark.parametrize("q", _Q, ids=lambda q: f"{float(q):.0e}")
@pytest.mark.parametrize("epsilon", [*_EPSILONS, Fraction(10**9)], ids=range(5))
@pytest.mark.parametrize("rows", [0, 1, 2, 300])
def test_order_statistics(q: Fraction, epsilon: Fraction, rows: int) -> None:
    values = [ValueCount(7 * number, 1 + number % 2) for number in range(rows)]

    def draw(bits: SeededBits) -> int:
        return order_statistic.quantile(values, q, 0, 10**9, epsilon, bits)

    assert _takes(draw) < _LONGEST


@pytest.mark.parametrize("scale", _SIZES, ids=lambda scale: f"{len(str(scale))}")
def test_noise(scale: Fraction) -> None:
    assert _takes(lambda bits: discrete_laplace.sample(bits, scale)) < _LONGEST
    assert _takes(lambda bits: discrete_gaussian.sample(bits, scale)) < _LONGEST
    far = 10**420
    for centre in (-far, 0, far):
        took = _takes(
            lambda bits, centre=centre: polyplace.sample(bits, centre, scale, -far, far)  # type: ignore[misc]
        )
        assert took < _LONGEST


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1), Fraction(10**6)])
def test_walks_over_bounds(epsilon: Fraction) -> None:
    """Nobody is above any bound, and everybody above all of 800."""
    bounds, walk = private_bound.bounds_up_to(10**60), private_bound.walk(epsilon)
    beyond = len(bounds) + 1
    for totals in (
        UnitTotals(units={}, sums={}),
        UnitTotals(units={beyond: 10**9}, sums={beyond: 10**70}),
    ):
        took = _takes(
            lambda bits, totals=totals: private_bound.choose(totals, bounds, walk, bits) or 0  # type: ignore[misc]
        )
        assert took < _LONGEST


@pytest.mark.every(2)
@pytest.mark.parametrize("high", [1, 1_000, 10**60])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1), Fraction(10**6)])
def test_places(epsilon: Fraction, high: int) -> None:
    """Nobody has a value, and a thousand units at each place."""
    for is_least in (False, True):
        places = Places(-high, high, is_least)
        for values in ([], [ValueCount(number, 1000) for number in range(places.last + 1)]):
            took = _takes(
                lambda bits, values=values, places=places: places.drawn(values, epsilon, bits)  # type: ignore[misc]
            )
            assert took < _LONGEST


@pytest.mark.parametrize("high", [1, 1_000, 10**60])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1), Fraction(10**6)])
def test_means_and_variances_of_deviations(epsilon: Fraction, high: int) -> None:
    """Nobody is there, and everybody is above all bounds, in each of a few groups."""
    none = GroupRows(rows={}, shares={}, sums=0), GroupDeviations(sums={}, shares={})
    all_rows = GroupRows(rows={999: 10**40}, shares={999: 10**9 * PARTS}, sums=10**40 * PARTS)
    everybody = all_rows, GroupDeviations(sums={999: 10**70}, shares={999: 10**9 * PARTS})
    for (rows, deviations), units in ((none, {}), (everybody, {999: 10**9})):

        def draw(
            bits: SeededBits,
            rows: GroupRows = rows,
            deviations: GroupDeviations = deviations,
            units: dict[int, int] = units,
        ) -> object:
            groups, among = [rows] * 4, (-high, high, epsilon, None, bits)
            centres = deviation_mean.centred(groups, units, *among)
            each, around = [deviations] * 4, (units, centres, -high, high)
            means = deviation_mean.noisy(groups, each, *around, epsilon, None, bits)
            parts = (epsilon, epsilon)
            return deviation_variance.noisy(means, each, *around, parts, None, bits)

        assert _takes(draw) < _LONGEST


_OUTPUTS = {
    "empty": [0] * 101,
    "one": [0] * 100 + [10**15],
    "spread": list(range(0, 101 * 10**13, 10**13)),
    "at the end": [10**15] * 101,
}


@pytest.mark.parametrize("outputs", _OUTPUTS)
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10**6)])
def test_medians(outputs: str, epsilon: Fraction) -> None:
    given, delta = _OUTPUTS[outputs], Fraction(1, 10**9)
    low, high = 0, 10**15
    for draw in (
        lambda bits: smoothed_median.release(given, low, high, epsilon, delta, bits),
        lambda bits: polyplace.release(given, low, high, epsilon, 4, bits),
    ):
        assert _takes(draw) < _LONGEST


def test_every_mechanism_that_draws_is_here() -> None:
    """A new one is to be added above."""
    from pathlib import Path

    import proxy.mechanisms

    folder = Path(next(iter(proxy.mechanisms.__path__)))
    drawing = {
        file.stem
        for file in folder.glob("*.py")
        if "RandomBits" in file.read_text(encoding="utf-8")
    }
    here = {"exact_choice", "order_statistic", "discrete_laplace", "discrete_gaussian"}
    here |= {"polyplace", "smoothed_median", "private_bound"}
    here |= {"growing_places", "deviation_mean", "deviation_variance"}
    # Sums of those above, a coin of a probability in fixed point, and the protocol itself.
    made_of_them = {"bits", "bernoulli", "partition_selection", "recentred_mean", "clipped_mean"}
    made_of_them |= {"octave_bound"}  # a histogram: it is drawn for a mean of deviations
    made_of_them |= {
        "sum_over_count",
        "shared_moments",
        "ratio_mean",
        "variance",
        "pair_statistics",
    }
    assert drawing - here <= made_of_them, sorted(drawing - here - made_of_them)
    assert list(itertools.filterfalse(drawing.__contains__, here)) == []
