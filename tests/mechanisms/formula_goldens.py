"""Golden values of docs/design/mechanisms.md that no layer of a mechanism has: by hand, with their source."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

from proxy.estimates import ratio_mean_estimate, sampling_accuracy, series_noise
from proxy.kernel.plan import BlockPlan, DistinctCount, LaplaceNoise, NoisyStatistic
from proxy.mechanisms import continual, discrete_laplace, ratio_mean, split
from proxy.mechanisms.loss import Loss
from tests.kernel.examples import l1
from tests.mechanisms.laplace_law import LaplaceLaw
from tests.pipeline_world import walk

MILLIONTH = Fraction(1, 10**6)


def _block(question: str) -> BlockPlan:
    pipeline = walk(question)
    assert pipeline is not None
    return pipeline.plan.blocks[0]


def sensitivities_are_golden() -> None:
    """4.2 COUNT 1 per row; 4.3 SUM max(|lo|, |hi|) in grid steps, not hi - lo; 4.12 COUNT(DISTINCT) 1 per row,
    D per unit, 1 of units. R rows of a unit: R times (4.5)."""
    for question, expected in (
        ("SELECT count(*) FROM people", 1),
        ("SELECT count(i4) FROM people", 1),
        ("SELECT count(*) FROM trips", 3),
        ("SELECT count(*) FROM visits", 5),
        ("SELECT sum(i4) FROM people", 100),
        ("SELECT sum(i2) FROM people", 10),  # -5 .. 10
        ("SELECT sum(n2) FROM people", 17_500),  # 0 .. 175 in hundredths
        ("SELECT sum(i4 + 50) FROM people", 150),  # 50 .. 150
        ("SELECT sum(i4) FROM visits", 500),
        ("SELECT count(DISTINCT i4) FROM people", 1),
        ("SELECT count(DISTINCT i4) FROM visits", 5),
        ("SELECT count(DISTINCT uid) FROM visits", 1),
    ):
        block = _block(question)
        (release,) = block.releases
        assert isinstance(release, NoisyStatistic | DistinctCount)
        assert l1(block) == expected, question
        assert isinstance(release.noise, LaplaceNoise)
        assert release.noise.scale == Fraction(expected, 8), question  # epsilon 8


def groups_are_golden() -> None:
    """4.7: a row is in one group, which costs epsilon once; a unit in 2 groups with 2 rows each moves 4."""
    for question, scale in (
        ("SELECT t, count(*) FROM people GROUP BY t", Fraction(1, 8)),
        ("SELECT t, count(*) FROM orders GROUP BY t", Fraction(2 * 2, 8)),
        (
            "SELECT t, count(*) FROM visits GROUP BY t",
            Fraction(5, 8),
        ),  # 5 rows, all in one or in four
    ):
        (release,) = _block(question).releases
        assert isinstance(release, NoisyStatistic)
        assert release.noise == LaplaceNoise(scale=scale), question


def rows_of_a_unit_are_golden() -> None:
    """4.4: for k rows (k e, k e^((k-1) e) d); so e = 1/3 and d = 10^-6 / (3 e^(2/3)) give k = 3 (1, 10^-6)."""
    row = split.per_unit(Loss(Fraction(1), MILLIONTH), 3)
    assert row.epsilon == Fraction(1, 3)
    assert math.isclose(row.delta, 1.71139039677530e-7, rel_tol=1e-12)


def shares_are_golden() -> None:
    """4.15: k releases at (epsilon/k, delta/k); by weights 1, 2, 4 a seventh, two and four sevenths."""
    whole = Loss(Fraction(1), MILLIONTH)
    assert split.split(whole, 4) == Loss(Fraction(1, 4), Fraction(1, 4 * 10**6))
    weighted = split.split_weighted(whole, [1, 2, 4])
    assert [share.epsilon for share in weighted] == [Fraction(w, 7) for w in (1, 2, 4)]
    assert [share.delta for share in weighted] == [Fraction(w, 7 * 10**6) for w in (1, 2, 4)]


def propose_test_release_is_golden() -> None:
    """4.13, not adopted. The noisy distance 0 + Lap(1/epsilon) passes the test with probability
    e^(-epsilon T) / 2: that is delta at T = ln(1/(2 delta)) / epsilon, and sqrt(delta / 8) at the half of
    ln(2/delta) / epsilon that is sometimes printed."""
    delta = 1e-6
    for epsilon in (0.1, 1.0, 3.0):
        exact, printed = math.log(1 / (2 * delta)) / epsilon, math.log(2 / delta) / (2 * epsilon)
        assert math.isclose(math.exp(-epsilon * exact) / 2, delta, rel_tol=1e-12)
        passes = math.exp(-epsilon * printed) / 2
        assert math.isclose(passes, math.sqrt(delta / 8), rel_tol=1e-12)
        assert round(passes, 5) == 0.00035
    assert round(math.log(1 / (2 * delta)), 2) == 13.12


def automatic_bounds_are_golden() -> None:
    """4.14, not adopted: 130 bins, any empty one above T = ln(B/(2p))/epsilon with probability p = 10^-9."""
    assert round(math.log(130 / 2e-9), 1) == 24.9


def intervals_are_golden() -> None:
    """4.16: discrete Laplace at 95 %; of a ratio the corners at half of what may be missed each; the public
    floor of a median's noise; and why S itself is not published."""
    assert [discrete_laplace.half_width(Fraction(b)) for b in (1, 2, 10, 100)] == [3, 6, 30, 300]
    noise = ratio_mean.scales(0, 100, Fraction(1))
    assert noise == ratio_mean.RatioScales(total=Fraction(200), count=Fraction(2))
    # ln 40 = 3.689: 738 half steps of the sum, 7 of the count, of 1,000 rows with mean 40.
    least, most = ratio_mean_estimate.interval(
        ratio_mean.NoisySumAndCount(total=-20_000, count=1000), noise, 0, 100
    )
    assert math.isclose(least, 50 - (20_000 + 738) / (2 * 993), abs_tol=0.002)
    assert math.isclose(most, 50 - (20_000 - 738) / (2 * 1007), abs_tol=0.002)
    beta = math.log(1 + 1 / (2 * math.log(2e6)))
    floor = sampling_accuracy.laplace_noise_floor(1000, 17, Fraction(1), MILLIONTH)
    assert math.isclose(
        floor, 1000 * math.exp(-8 * beta), rel_tol=1e-12
    )  # (hi-lo) e^(-beta (m-1)/2)
    assert round(math.exp(beta / 0.1 * math.log(1 / (2 * 0.05))), 1) == 2.2


def integer_noise_is_golden() -> None:
    """4.17: E|DLap(b)| is about b, its deviation about sqrt(2) b."""
    for b in (10, 100):
        law = LaplaceLaw.of((0, Fraction(b)))
        chances = [law.probability(k) for k in range(1, 40 * b)]
        mean = 2 * math.fsum(k * p for k, p in enumerate(chances, start=1))
        square = 2 * math.fsum(k * k * p for k, p in enumerate(chances, start=1))
        assert math.isclose(mean, b, rel_tol=2e-3)
        assert math.isclose(math.sqrt(square), math.sqrt(2) * b, rel_tol=2e-3)


def series_are_golden() -> None:
    """8.1: one unit in any b of N steps, by trying all of them, and the exponents that the page names."""
    factor = continual.factor_of(6, 4)
    for most_steps in (1, 2, 3):
        lengths = []
        for steps in combinations(range(6), most_steps):
            moved = [sum(factor[at - one] for one in steps if one <= at) for at in range(6)]
            lengths.append(sum(one**2 for one in moved))
        assert continual.squared_sensitivity(factor, most_steps, 1) == max(lengths)
    for most_steps, eighths in ((1, 4), (7, 3), (30, 2), (90, 2), (365, 0)):
        assert series_noise.best_factor(365, most_steps) == continual.factor_of(365, eighths)


GOLDENS = [
    sensitivities_are_golden,
    groups_are_golden,
    rows_of_a_unit_are_golden,
    shares_are_golden,
    propose_test_release_is_golden,
    automatic_bounds_are_golden,
    intervals_are_golden,
    integer_noise_is_golden,
    series_are_golden,
]
