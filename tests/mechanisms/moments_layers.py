"""Layers of verification of mean and variance by noisy moments: see layers.py for the idea."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

from proxy.mechanisms import discrete_laplace, ratio_mean, variance
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
                centred = ratio_mean.centred(total, n, low, high)
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
        centred = ratio_mean.centred(total, n, low, high)
        assert centred == sum(2 * i - low - high for i in rows)
        mean = ratio_mean.mean(ratio_mean.NoisyMoments(centred, n), low, high)
        assert mean == Fraction(total, n)
        squares = variance.centred_squares(sum(i * i for i in rows), total, n, low, high)
        moments = variance.NoisyMoments(squares, centred, n)
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
                mean = ratio_mean.mean(ratio_mean.NoisyMoments(total, count), low, high)
                assert low <= mean <= high
                for squares in wild:
                    moments = variance.NoisyMoments(squares, total, count)
                    assert 0 <= variance.population(moments, low, high) <= most
                    assert 0 <= variance.sample_variance(moments, low, high) <= 2 * most


def moments_formulas_are_golden() -> None:
    """MECHANISMS 4.10, 4.11: scales of sum and count at epsilon/2, of three sums at epsilon/3."""
    one = Fraction(1)
    # r = 50 grid steps: Lap(2r/epsilon) = 100 steps = 200 half steps; the count Lap(2/epsilon).
    assert ratio_mean.scales(0, 100, one) == ratio_mean.Scales(Fraction(200), Fraction(2))
    assert ratio_mean.scales(0, 100, one, 3) == ratio_mean.Scales(Fraction(600), Fraction(6))
    # 3 r/epsilon = 150 steps = 300 half steps; r^2/2 = 1250 steps^2 is D^2 = 10^4 here.
    assert variance.scales(0, 100, one) == variance.Scales(
        Fraction(30_000), Fraction(300), Fraction(3)
    )
    # Ages around 38.6 of 0..125, 32,561 rows: shift (38.6 - 62.5) = -23.9 years. The error is
    # that of Lap(125)/n - (-23.9) Lap(2)/n: a median of about 0.0034 years (table: 0.0033, 0.0036).
    low, high, n, total = 0, 12_500, 32_561, 125_685_460
    errors = []
    bits = SeededBits(5)
    for _ in range(1500):
        answer = ratio_mean.release(total, n, low, high, one, bits)
        errors.append(abs(answer - Fraction(total, n)))
    found = float(statistics.median(errors)) / 100
    assert 0.0028 <= found <= 0.0040, found


def releases_are_the_moments_plus_noise() -> None:
    """A release adds one draw per moment at the planned scale, in order, and nothing else."""
    for seed in range(100):
        low, high = BOUNDS[seed % len(BOUNDS)]
        rows = [low + SeededBits(seed).below(high - low + 1) for _ in range(20)]
        total, squares, epsilon = sum(rows), sum(i * i for i in rows), EPSILONS[seed % 3]
        bits = SeededBits(seed)
        noise = variance.scales(low, high, epsilon, 2)
        expected = variance.NoisyMoments(
            variance.centred_squares(squares, total, 20, low, high)
            + discrete_laplace.sample(bits, noise.squares),
            ratio_mean.centred(total, 20, low, high) + discrete_laplace.sample(bits, noise.total),
            20 + discrete_laplace.sample(bits, noise.count),
        )
        released = variance.release(squares, total, 20, low, high, epsilon, SeededBits(seed), 2)
        assert released == expected
        bits = SeededBits(seed)
        of_mean = ratio_mean.scales(low, high, epsilon, 2)
        moments = ratio_mean.NoisyMoments(
            ratio_mean.centred(total, 20, low, high) + discrete_laplace.sample(bits, of_mean.total),
            20 + discrete_laplace.sample(bits, of_mean.count),
        )
        answer = ratio_mean.release(total, 20, low, high, epsilon, SeededBits(seed), 2)
        assert answer == ratio_mean.mean(moments, low, high)


def intervals_hold_the_truth() -> None:
    """Coverage at 80 %: at least that, and below 80 % only once in a million runs of this test."""
    low, high, runs = 0, 100, 600
    rows = [(7 * k) % 101 for k in range(300)]
    total, squares, n = sum(rows), sum(i * i for i in rows), len(rows)
    mean, spread = Fraction(total, n), statistics.pvariance([Fraction(i) for i in rows])
    level, one = Fraction(4, 5), Fraction(1)
    held = {"mean": 0, "variance": 0}
    bits = SeededBits(9)
    noise, scales = ratio_mean.scales(low, high, one), variance.scales(low, high, one)
    for _ in range(runs):
        pair = ratio_mean.NoisyMoments(
            ratio_mean.centred(total, n, low, high) + discrete_laplace.sample(bits, noise.total),
            n + discrete_laplace.sample(bits, noise.count),
        )
        below, above = ratio_mean.interval(pair, noise, low, high, level)
        assert below <= ratio_mean.mean(pair, low, high) <= above
        held["mean"] += below <= mean <= above
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
    releases_are_the_moments_plus_noise,
    intervals_hold_the_truth,
]
