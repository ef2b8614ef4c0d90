"""Layers of verification of shared sums, sum over count and clipped mean: see layers.py for the idea."""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.estimates import ratio_mean_estimate, sampling_accuracy, shared_moments, sum_over_count
from proxy.mechanisms import clipped_mean, discrete_laplace, ratio_mean
from tests.mechanisms.laplace_law import LaplaceLaw, hockey_stick
from tests.mechanisms.moments_layers import BOUNDS, EPSILONS, units
from tests.mechanisms.neighbours import all_multiset_pairs
from tests.seeded_bits import SeededBits

_ROUNDING = 1e-12
ONE = Fraction(1)


def clipped_means_are_private() -> None:
    """Exact auditor: the law of the noisy sum of outputs, over all lists of 3 and 5 outputs and their
    neighbours, also where one unit changes two of them; no more epsilon than asked for, and no less."""
    for m, steps in ((3, 5), (5, 4)):
        universe = all_multiset_pairs(m, steps)
        for epsilon in EPSILONS:
            for changed in (1, 2):
                scale = clipped_mean.scale(universe.low, universe.high, epsilon, changed)
                most = max(abs(sum(a) - sum(b)) for a, b in universe.pairs) * changed
                p, q = LaplaceLaw.of((0, scale)), LaplaceLaw.of((most, scale))
                at = float(epsilon)
                assert hockey_stick(p, q, at) <= _ROUNDING, (m, epsilon, changed)
                assert hockey_stick(p, q, at * 0.99) > 1e-4, (m, epsilon, changed)


def clipped_means_are_the_noisy_mean() -> None:
    """A release is (sum of clipped outputs + one draw at its scale) / m, rounded and clamped."""
    for seed in range(200):
        chooser = SeededBits(seed)
        low, high = -chooser.below(50), 1 + chooser.below(300)
        outputs = [chooser.below(900) - 300 for _ in range(1 + chooser.below(60))]
        epsilon, changed = EPSILONS[seed % 3], 1 + seed % 4
        answer = clipped_mean.release(outputs, low, high, epsilon, SeededBits(seed), changed)
        clipped = [min(max(output, low), high) for output in outputs]
        scale = Fraction(changed * (high - low)) / epsilon
        noise = discrete_laplace.sample(SeededBits(seed), scale)
        expected = round(Fraction(sum(clipped) + noise, len(outputs)))
        assert answer == min(max(expected, low), high)


def clipped_mean_formulas_are_golden() -> None:
    """docs/design/mechanisms.md 5.5: scale (hi - lo) moved / (m epsilon) of a mean; m for 1 % of the range."""
    assert clipped_mean.scale(0, 100, ONE) / 257 == Fraction(100, 257)
    assert clipped_mean.scale(-50, 100, Fraction(1, 2), 3) == 900
    rule = [("1/10", 1, 2997), ("1/2", 1, 601), ("1", 1, 301), ("2", 1, 151), ("1", 3, 899)]
    for text, changed, m in rule:
        found = sampling_accuracy.clipped_partitions(Fraction(text), changed)
        assert found == m, f"epsilon {text}, {changed} moved: m = {found}, not {m}"
        reach = sampling_accuracy.clipped_half_width(m, 0, 10_000, Fraction(text), changed)
        assert 90 <= reach <= 101, reach
    assert sampling_accuracy.clipped_partitions(Fraction(100)) == 17
    # P(|noise| > t) is 5 % at t = b ln 20 = 299.6 b/100 of the sum: over 301 partitions 100 steps.
    assert sampling_accuracy.clipped_half_width(301, 0, 10_000, ONE) in (100, 101)


def sums_over_counts_are_private() -> None:
    """Exact auditor, in fractions, as for moments: the largest log ratio over all units is epsilon."""
    for low, high in BOUNDS:
        for epsilon in EPSILONS:
            worst = {1: Fraction(0), 3: Fraction(0)}
            for unit in units(low, high):
                for rows in worst:
                    if len(unit) <= rows:
                        noise = sum_over_count.scales(low, high, epsilon, rows)
                        loss = abs(sum(unit)) / noise.total + len(unit) / noise.count
                        worst[rows] = max(worst[rows], loss)
            for rows, loss in worst.items():
                assert loss == epsilon, f"bounds {low}..{high}, {rows} rows: {loss} of {epsilon}"


def sums_over_counts_are_the_noisy_ratio() -> None:
    for seed in range(100):
        low, high = BOUNDS[seed % len(BOUNDS)]
        chooser = SeededBits(seed)
        rows = [low + chooser.below(high - low + 1) for _ in range(1 + chooser.below(40))]
        epsilon, per_unit = EPSILONS[seed % 3], 1 + seed % 3
        largest = max(abs(low), abs(high))
        bits = SeededBits(seed)
        total = sum(rows) + discrete_laplace.sample(bits, 2 * per_unit * largest / epsilon)
        count = len(rows) + discrete_laplace.sample(bits, 2 * per_unit / epsilon)
        expected = min(max(Fraction(total, max(1, count)), Fraction(low)), Fraction(high))
        found = sum_over_count.release(
            sum(rows), len(rows), low, high, epsilon, SeededBits(seed), per_unit
        )
        assert found == expected


def sum_over_count_formulas_are_golden() -> None:
    """docs/design/mechanisms.md 7.3: max(|lo|, |hi|), not hi - lo, at epsilon/2; interval by corners."""
    assert sum_over_count.scales(50, 60, ONE) == ratio_mean.RatioScales(
        total=Fraction(120), count=Fraction(2)
    )
    assert sum_over_count.scales(-7, 4, ONE, 3).total == 42
    noise = sum_over_count.scales(0, 100, ONE)
    # ln 40 half widths: 738 of the sum, 7 of the count.
    assert discrete_laplace.half_width(noise.total, 0.975) in (737, 738)
    least, most = sum_over_count.interval(
        ratio_mean.NoisySumAndCount(total=5000, count=100), noise, 0, 100
    )
    assert abs(float(least) - (5000 - 738) / 107) < 0.02
    assert abs(float(most) - (5000 + 738) / 93) < 0.02


def shared_sums_meet_every_need() -> None:
    """Nobody loses by sharing, nothing is spent twice: on random needs, and on the smallest by hand."""
    parts = "NTQS"
    for seed in range(500):
        chooser = SeededBits(seed)
        needs, weight = [], Fraction(0)
        for _ in range(1 + chooser.below(5)):
            own = Fraction(1 + chooser.below(8), 1 + chooser.below(4))
            chosen = [part for part in parts if chooser.below(2)] or ["N"]
            scaled = own / (1 if chooser.below(2) else len(chosen))
            needs.append(dict.fromkeys(chosen, scaled))
            weight += own
        asked = {part for need in needs for part in need}
        least = {part: max(need.get(part, Fraction(0)) for need in needs) for part in asked}
        found = shared_moments.pooled(needs, weight)
        assert (found is None) == (sum(least.values()) > weight), seed
        if found is not None:
            assert set(found) == set(least)
            assert all(found[part] >= need for part, need in least.items())
            assert sum(found.values()) <= weight
            assert max(found.values()) == max(least.values())
            full = max(least.values()) * len(least) <= weight
            assert len(set(found.values())) == 1 if full else sum(found.values()) == weight
    third = Fraction(1, 3)
    count, spread = {"N": ONE}, dict.fromkeys("NTQ", third)
    assert shared_moments.pooled([count, spread], Fraction(2)) == {
        "N": ONE, "T": Fraction(1, 2), "Q": Fraction(1, 2),
    }  # fmt: skip
    assert shared_moments.pooled([spread, spread], Fraction(2)) == spread
    mean = {"N": ONE, "T": ONE}
    assert shared_moments.pooled([count, mean, mean], Fraction(3)) == mean
    assert shared_moments.pooled([mean, spread], Fraction(2)) is None


def shared_sums_are_private() -> None:
    """Exact auditor of COUNT, SUM and AVG from two noisy sums: the largest log ratio over all units."""
    for low, high in BOUNDS:
        for epsilon in EPSILONS:
            for rows in (1, 3):
                share = shared_moments.pooled(
                    [{"N": ONE}, {"N": ONE, "T": ONE}, {"N": ONE, "T": ONE}], Fraction(3)
                )
                assert share is not None
                whole = sum(share.values())
                of_total = discrete_laplace.scale_for(
                    ratio_mean.total_sensitivity(low, high, rows), epsilon * share["T"] / whole
                )
                of_count = discrete_laplace.scale_for(rows, epsilon * share["N"] / whole)
                worst = max(
                    abs(ratio_mean_estimate.centred(sum(unit), len(unit), low, high)) / of_total
                    + len(unit) / of_count
                    for unit in units(low, high)
                    if len(unit) <= rows
                )
                assert worst == epsilon, (low, high, rows, worst)


def shared_totals_are_exact_without_noise() -> None:
    for low, high in BOUNDS:
        for unit in units(low, high):
            y = ratio_mean_estimate.centred(sum(unit), len(unit), low, high)
            assert shared_moments.total_of(y, len(unit), low, high) == sum(unit)


def shared_totals_reach_as_far_as_said() -> None:
    """Against the exact convolution of the two discrete laws, over 95 and 80 %."""
    for (low, high), of_total, of_count in (
        ((0, 10), 20, 2), ((50, 60), 20, 2), ((-10, 10), 40, 2), ((0, 100), 3, 9), ((-3, 9), 24, 8),
    ):  # fmt: skip
        noise = of_total, of_count
        laws = [LaplaceLaw.of((0, Fraction(scale))) for scale in noise]
        ends = [40 * scale for scale in noise]
        count = {n: laws[1].probability(n) for n in range(-ends[1], ends[1] + 1)}
        for level in (0.95, 0.8):
            reach = shared_moments.total_half_width(
                Fraction(of_total), Fraction(of_count), low, high, level
            )
            held = 0.0
            for n, chance in count.items():
                # |t/2 + (low+high) n/2| <= reach
                first = math.ceil(-2 * reach - (low + high) * n)
                last = math.floor(2 * reach - (low + high) * n)
                below = laws[0].mass(first, min(last, 0)) if first <= 0 else 0.0
                above = laws[0].mass(max(first, 1), last) if last >= 1 else 0.0
                held += chance * (below + above)
            assert level <= held <= level + 0.05, (low, high, level, held)


LAYERS = [
    clipped_means_are_private,
    clipped_means_are_the_noisy_mean,
    clipped_mean_formulas_are_golden,
    sums_over_counts_are_private,
    sums_over_counts_are_the_noisy_ratio,
    sum_over_count_formulas_are_golden,
    shared_sums_meet_every_need,
    shared_sums_are_private,
    shared_totals_are_exact_without_noise,
    shared_totals_reach_as_far_as_said,
]
