"""Mean and variance by noisy moments: edges and refusals. Privacy is in moments_layers.py."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.estimates import ratio_mean_estimate, recentred_mean_estimate, variance
from proxy.mechanisms import ratio_mean, split
from proxy.mechanisms.loss import Loss
from tests.seeded_bits import SeededBits

ONE = Fraction(1)
integers = st.integers(-(10**6), 10**6)
scales = st.fractions(Fraction(1, 10), 1000)


def test_one_possible_value_needs_no_noise() -> None:
    with pytest.raises(ValueError, match="sensitivity"):
        recentred_mean_estimate.release(0, 10, 3, 3, ONE, SeededBits(0))
    with pytest.raises(ValueError, match="sensitivity"):
        variance.release(90, 30, 10, 3, 3, ONE, SeededBits(0))


def test_no_rows_give_a_mean_within_the_bounds() -> None:
    for seed in range(50):
        answer = recentred_mean_estimate.release(0, 0, 10, 20, ONE, SeededBits(seed))
        assert 10 <= answer.least <= answer.value <= answer.most <= 20


@given(total=integers, count=st.integers(-5, 2000), of_total=scales, of_count=scales)
def test_a_means_interval_holds_every_mean_in_reach(
    total: int, count: int, of_total: Fraction, of_count: Fraction
) -> None:
    low, high = -40, 60
    moments = ratio_mean.NoisySumAndCount(total=total, count=count)
    noise = ratio_mean.RatioScales(total=of_total, count=of_count)
    below, above = ratio_mean_estimate.interval(moments, noise, low, high)
    each = Fraction(39, 40)
    totals = ratio_mean_estimate.ends(total, of_total, each)
    counts = ratio_mean_estimate.ends(count, of_count, each)
    for t in (*totals, total, sum(totals) // 2):
        for n in (*counts, count, 1):
            if counts[0] <= n <= counts[1]:
                mean = ratio_mean_estimate.mean(
                    ratio_mean.NoisySumAndCount(total=t, count=n), low, high
                )
                assert below <= mean <= above


@given(
    squares=integers,
    total=st.integers(-2000, 2000),
    count=st.integers(-5, 400),
    width=st.integers(1, 100),
    chosen=st.tuples(*[st.integers(0, 20)] * 3),
)
def test_a_variances_interval_holds_every_variance_in_reach(
    squares: int, total: int, count: int, width: int, chosen: tuple[int, int, int]
) -> None:
    moments = variance.NoisyMoments(squares=squares, total=total, count=count)
    noise = variance.VarianceScales(squares=Fraction(3000), total=Fraction(30), count=Fraction(3))
    below, above = variance.population_interval(moments, noise, 0, width)
    each = Fraction(59, 60)
    box = [
        ratio_mean_estimate.ends(squares, noise.squares, each),
        ratio_mean_estimate.ends(total, noise.total, each),
        ratio_mean_estimate.ends(count, noise.count, each),
    ]
    # Any point of the box, not only its corners.
    s, t, n = (a + (b - a) * part // 20 for (a, b), part in zip(box, chosen, strict=True))
    found = variance.population(variance.NoisyMoments(squares=s, total=t, count=n), 0, width)
    assert below <= found <= above


def test_wrong_bounds_and_losses_are_refused() -> None:
    for refused in (
        lambda: ratio_mean.scales(5, 4, ONE),
        lambda: variance.scales(5, 4, ONE),
        lambda: ratio_mean.scales(4, 5, Fraction(0)),
        lambda: ratio_mean.scales(4, 5, ONE, 0),
        lambda: variance.scales(4, 5, ONE, 0),
    ):
        with pytest.raises(ValueError, match=r"bound|epsilon|row"):
            refused()
    with pytest.raises(ValueError, match="root"):
        variance.deviation(Fraction(-1))


@pytest.mark.parametrize("weights", [[], [1, 0], [Fraction(-1, 2), 1]])
def test_weights_are_above_0(weights: list[int | Fraction]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        split.split_weighted(Loss(ONE, Fraction(0)), weights)
