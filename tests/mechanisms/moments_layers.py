"""Layers of verification of mean and variance by noisy moments: see layers.py for the idea."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from unittest import mock

from proxy.estimates import ratio_mean_estimate, recentred_mean_estimate, variance
from proxy.mechanisms import discrete_laplace, ratio_mean, recentred_mean
from proxy.mechanisms.bits import RandomBits
from tests.seeded_bits import SeededBits

BOUNDS = ((0, 10), (0, 9), (-7, 4), (50, 60), (-60, -53), (3, 4))
EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(3))


def units(low: int, high: int) -> Iterator[tuple[int, ...]]:
    """All units of up to three rows within the bounds."""
    for rows in (1, 2, 3):
        yield from combinations_with_replacement(range(low, high + 1), rows)


def moments_are_private() -> None:
    """Exact auditor, in fractions: with Laplace noise the largest log ratio is sum |change|/scale.

    It is taken over every unit that can be added, at every size of unit; and it is used up. The
    changes are the product's own, so a centre forgotten there is seen here.
    """
    for low, high in BOUNDS:
        for epsilon in EPSILONS:
            worst = {(kind, rows): Fraction(0) for kind in ("mean", "variance") for rows in (1, 3)}
            for unit in units(low, high):
                n, total, squares = len(unit), sum(unit), sum(i * i for i in unit)
                centred = ratio_mean_estimate.centred(total, n, low, high)
                doubled = variance.centred_squares(squares, total, n, low, high)
                for rows in (1, 3):
                    if n > rows:
                        continue
                    of_mean = ratio_mean.scales(low, high, epsilon, rows)
                    loss = abs(centred) / of_mean.total + n / of_mean.count
                    worst["mean", rows] = max(worst["mean", rows], loss)
                    of_variance = variance.scales(low, high, epsilon, rows)
                    loss = abs(centred) / of_variance.total + n / of_variance.count
                    loss += abs(doubled) / of_variance.squares
                    worst["variance", rows] = max(worst["variance", rows], loss)
            for key, loss in worst.items():
                assert loss == epsilon, f"bounds {low}..{high}, {key}: {loss} of {epsilon}"


def moments_without_noise_are_exact() -> None:
    """Against the standard library's statistics, on whole tables, with the centring undone."""
    for seed in range(200):
        chooser = SeededBits(seed)
        low, high = BOUNDS[seed % len(BOUNDS)]
        rows = [low + chooser.below(high - low + 1) for _ in range(2 + chooser.below(30))]
        n, total = len(rows), sum(rows)
        centred = ratio_mean_estimate.centred(total, n, low, high)
        assert centred == sum(2 * i - low - high for i in rows)
        mean = ratio_mean_estimate.mean(
            ratio_mean.NoisySumAndCount(total=centred, count=n), low, high
        )
        assert mean == Fraction(total, n)
        squares = variance.centred_squares(sum(i * i for i in rows), total, n, low, high)
        moments = variance.NoisyMoments(squares=squares, total=centred, count=n)
        population = variance.population(moments, low, high)
        exact = [Fraction(i) for i in rows]
        assert population == statistics.pvariance(exact)
        assert variance.sample_variance(moments, low, high) == statistics.variance(exact)
        deviation = variance.deviation(population)
        assert deviation**2 <= population < (deviation + Fraction(1, 10**29)) ** 2


def moments_are_clamped() -> None:
    """Whatever the noise did, the answer is one that data within the bounds could have."""
    wild = (-(10**9), -5, -1, 0, 1, 7, 10**9)
    for low, high in BOUNDS:
        most = Fraction((high - low) ** 2, 4)
        for total in wild:
            for count in wild:
                mean = ratio_mean_estimate.mean(
                    ratio_mean.NoisySumAndCount(total=total, count=count), low, high
                )
                assert low <= mean <= high
                for squares in wild:
                    moments = variance.NoisyMoments(squares=squares, total=total, count=count)
                    assert 0 <= variance.population(moments, low, high) <= most
                    assert 0 <= variance.sample_variance(moments, low, high) <= 2 * most


def moments_formulas_are_golden() -> None:
    """docs/design/mechanisms.md 7.1, 7.2: scales of sum and count at epsilon/2, of three sums at epsilon/3."""
    one = Fraction(1)
    # r = 50 grid steps: Lap(2r/epsilon) = 100 steps = 200 half steps; the count Lap(2/epsilon).
    assert ratio_mean.scales(0, 100, one) == ratio_mean.RatioScales(
        total=Fraction(200), count=Fraction(2)
    )
    assert ratio_mean.scales(0, 100, one, 3) == ratio_mean.RatioScales(
        total=Fraction(600), count=Fraction(6)
    )
    # 3 r/epsilon = 150 steps = 300 half steps; r^2/2 = 1250 steps^2 is D^2 = 10^4 here.
    assert variance.scales(0, 100, one) == variance.VarianceScales(
        squares=Fraction(30_000), total=Fraction(300), count=Fraction(3)
    )
    # Ages around 38.6 of 0..125, 32,561 rows: they are up to 62.5 + 23.9 years from their mean, so the
    # error is Lap(86.4/0.92)/n, a median of 0.0020 years. (Two halves have 0.0033 to 0.0036.)
    low, high, n, total = 0, 12_500, 32_561, 125_685_460
    errors = []
    bits = SeededBits(5)
    for _ in range(1500):
        y = ratio_mean_estimate.centred(total, n, low, high)
        answer = recentred_mean_estimate.release(y, n, low, high, one, bits).value
        errors.append(abs(answer - Fraction(total, n)))
    found = float(statistics.median(errors)) / 100
    assert 0.0018 <= found <= 0.0022, found


def releases_are_the_moments_plus_noise() -> None:
    """A release adds one draw per moment at the planned scale, in order, and nothing else."""
    for seed in range(100):
        low, high = BOUNDS[seed % len(BOUNDS)]
        rows = [low + SeededBits(seed).below(high - low + 1) for _ in range(20)]
        total, squares, epsilon = sum(rows), sum(i * i for i in rows), EPSILONS[seed % 3]
        bits = SeededBits(seed)
        noise = variance.scales(low, high, epsilon, 2)
        expected = variance.NoisyMoments(
            squares=variance.centred_squares(squares, total, 20, low, high)
            + discrete_laplace.sample(bits, noise.squares),
            total=ratio_mean_estimate.centred(total, 20, low, high)
            + discrete_laplace.sample(bits, noise.total),
            count=20 + discrete_laplace.sample(bits, noise.count),
        )
        released = variance.release(squares, total, 20, low, high, epsilon, SeededBits(seed), 2)
        assert released == expected


class _Planned:
    """Stands for the sampler: the noise that makes the given results of the given data."""

    def __init__(self, *noise: int) -> None:
        self.noise = list(noise)
        self.scales: list[Fraction] = []

    def sample(self, bits: RandomBits, scale: Fraction) -> int:
        self.scales.append(scale)
        return self.noise.pop(0)


def recentred_means_are_private() -> None:
    """Exact auditor, in fractions: for every unit, and all results that a first stage can have, the data
    with and without it give equal results with noise that differs by at most epsilon, summed over the
    stages in units of their scales; that is used up, and is what `cost` says.

    Equal answers from that noise also show that the total is about the centre that was found.
    """
    for low, high in ((0, 4), (-7, -4), (3, 4)):
        for epsilon in EPSILONS:
            for rows in (1, 3):
                many = math.ceil(recentred_mean.MANY * rows / epsilon)
                worst = {"few": Fraction(0), "many": Fraction(0)}
                for unit in units(low, high):
                    if len(unit) > rows:
                        continue
                    y = ratio_mean_estimate.centred(sum(unit), len(unit), low, high)
                    for noisy_rows in (-5, many - 1, many):
                        for centre in range(low - high, high - low + 1):
                            branch = "many" if noisy_rows >= many else "few"
                            spent = _distinguishable(
                                (y, len(unit)), (low, high), epsilon, rows, noisy_rows, centre
                            )
                            worst[branch] = max(worst[branch], spent)
                            cost = recentred_mean.cost(y, len(unit), low, high, epsilon, rows)
                            assert spent <= cost <= epsilon
                assert worst == {"few": epsilon, "many": epsilon}, (low, high, epsilon, rows, worst)


def _distinguishable(
    unit: tuple[int, int],
    bounds: tuple[int, int],
    epsilon: Fraction,
    rows: int,
    noisy_rows: int,
    centre: int,
) -> Fraction:
    """The log ratio of one outcome on data of (total, count) and on the same with the unit."""
    low, high = bounds
    is_many = noisy_rows * epsilon >= recentred_mean.MANY * rows
    answers, noises, scales = [], [], []
    for total, count in ((-11, 40), (-11 + unit[0], 40 + unit[1])):
        if is_many:
            noise = (noisy_rows - count, centre * noisy_rows - total, 17 - (total - centre * count))
        else:
            noise = (noisy_rows - count, 123 - total, 45 - count)
        planned = _Planned(*noise)
        with mock.patch("proxy.mechanisms.discrete_laplace.sample", planned.sample):
            answers.append(
                recentred_mean_estimate.release(
                    total, count, low, high, epsilon, SeededBits(0), rows
                )
            )
        assert not planned.noise
        noises.append(noise)
        scales.append(planned.scales)
    assert answers[0] == answers[1]
    assert scales[0] == scales[1]  # of what was seen before only
    gaps = (abs(a - b) for a, b in zip(*noises, strict=True))
    return sum((gap / scale for gap, scale in zip(gaps, scales[0], strict=True)), Fraction(0))


def recentred_means_are_exact_without_noise() -> None:
    """Both branches, and whatever centre was found; clamped whatever the noise did."""
    low, high, one = 0, 10, Fraction(1)
    for rows in ([1, 2, 4] * 3, [0, 10, 9, 9] * 500, [0] * 2000, [10] * 2000):
        n, y = len(rows), sum(2 * i - 10 for i in rows)
        for off in (0, 300 * n, -300 * n):  # what noise does to the centre does no harm
            planned = _Planned(0, off if n > 1000 else 0, 0)
            with mock.patch("proxy.mechanisms.discrete_laplace.sample", planned.sample):
                found = recentred_mean_estimate.release(y, n, low, high, one, SeededBits(0))
            assert found.value == statistics.mean(Fraction(i) for i in rows)
    for noise in ((5000, 0, 10**9), (5000, 10**9, -(10**9)), (-50, 9**9, 3), (9, -(9**9), -9)):
        with mock.patch("proxy.mechanisms.discrete_laplace.sample", _Planned(*noise).sample):
            found = recentred_mean_estimate.release(5, 40, low, high, one, SeededBits(0))
        assert low <= found.least <= found.value <= found.most <= high


def intervals_hold_the_truth() -> None:
    """Coverage at 80 %: at least that, and below 80 % only once in a million runs of this test."""
    low, high, runs = 0, 100, 600
    rows = [(7 * k) % 101 for k in range(300)]
    total, squares, n = sum(rows), sum(i * i for i in rows), len(rows)
    mean, spread = Fraction(total, n), statistics.pvariance([Fraction(i) for i in rows])
    level, one = Fraction(4, 5), Fraction(1)
    held = {"mean": 0, "recentred": 0, "variance": 0}
    bits = SeededBits(9)
    noise, scales = ratio_mean.scales(low, high, one), variance.scales(low, high, one)
    for _ in range(runs):
        pair = ratio_mean.NoisySumAndCount(
            total=ratio_mean_estimate.centred(total, n, low, high)
            + discrete_laplace.sample(bits, noise.total),
            count=n + discrete_laplace.sample(bits, noise.count),
        )
        below, above = ratio_mean_estimate.interval(pair, noise, low, high, level)
        assert below <= ratio_mean_estimate.mean(pair, low, high) <= above
        held["mean"] += below <= mean <= above
        y, many = ratio_mean_estimate.centred(total, n, low, high), 10
        found = recentred_mean_estimate.release(many * y, many * n, low, high, one, bits, 1, level)
        assert found.least <= found.value <= found.most
        held["recentred"] += found.least <= mean <= found.most
        moments = variance.release(squares, total, n, low, high, one, bits)
        below, above = variance.population_interval(moments, scales, low, high, level)
        assert below <= variance.population(moments, low, high) <= above
        held["variance"] += below <= spread <= above
    for kind, count in held.items():
        slack = 4.8 * math.sqrt(float(level * (1 - level)) / runs)
        assert count / runs >= float(level) - slack, (kind, count)
        assert count < runs, kind  # an interval that always holds would say nothing


LAYERS = [
    moments_are_private,
    moments_without_noise_are_exact,
    moments_are_clamped,
    moments_formulas_are_golden,
    recentred_means_are_private,
    recentred_means_are_exact_without_noise,
    releases_are_the_moments_plus_noise,
    intervals_hold_the_truth,
]
