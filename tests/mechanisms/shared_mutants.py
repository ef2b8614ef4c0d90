"""Broken sharing, sums over counts, clipped means. See mutants.py for the idea."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from proxy.estimates import sampling_accuracy, shared_moments, sum_over_count
from proxy.mechanisms import clipped_mean, discrete_laplace
from proxy.mechanisms.bits import RandomBits
from tests.mechanisms import samplers, shared_layers
from tests.mechanisms.mutants import Mutant

SCALE = "proxy.mechanisms.clipped_mean.scale"
SCALES = "proxy.estimates.sum_over_count.scales"
POOLED = "proxy.estimates.shared_moments.pooled"

# Kept before anything is replaced.
_scale = clipped_mean.scale
_partitions = sampling_accuracy.clipped_partitions
_scales = sum_over_count.scales
_mean = sum_over_count.mean
_pooled = shared_moments.pooled
_half_width = shared_moments.total_half_width


def _last_need_wins(
    needs: Sequence[Mapping[str, Fraction]], weight: Fraction
) -> dict[str, Fraction]:
    return {part: least for need in needs for part, least in need.items()}


def _not_clipped(
    outputs: Sequence[int],
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    changed: int = 1,
) -> int:
    noise = discrete_laplace.sample(bits, _scale(low, high, epsilon, changed))
    return min(max(round(Fraction(sum(outputs) + noise, len(outputs))), low), high)


def _spent_twice(
    needs: Sequence[Mapping[str, Fraction]], weight: Fraction
) -> dict[str, Fraction] | None:
    return _pooled(needs, 2 * weight)


MUTANTS = [
    Mutant(
        "clipped mean's scale 30 % too small",
        shared_layers.clipped_means_are_private,
        (SCALE,),
        lambda low, high, epsilon, changed=1: (
            _scale(low, high, epsilon, changed) * Fraction(10, 13)
        ),
    ),
    Mutant(
        "clipped mean's scale 30 % too small, seen by draws",
        samplers.fits("clipped mean"),
        (SCALE,),
        lambda low, high, epsilon, changed=1: (
            _scale(low, high, epsilon, changed) * Fraction(10, 13)
        ),
    ),
    Mutant(
        "clipped mean's scale 30 % too large",
        shared_layers.clipped_means_are_private,
        (SCALE,),
        lambda low, high, epsilon, changed=1: (
            _scale(low, high, epsilon, changed) * Fraction(13, 10)
        ),
    ),
    Mutant(
        "clipped mean charged for one partition where two move",
        shared_layers.clipped_means_are_private,
        (SCALE,),
        lambda low, high, epsilon, changed=1: _scale(low, high, epsilon),
    ),
    Mutant(
        "clipped mean of outputs that are not clipped",
        shared_layers.clipped_means_are_the_noisy_mean,
        ("proxy.mechanisms.clipped_mean.release",),
        _not_clipped,
    ),
    Mutant(
        "clipped mean with half of the partitions",
        shared_layers.clipped_mean_formulas_are_golden,
        ("proxy.estimates.sampling_accuracy.clipped_partitions",),
        lambda epsilon, changed=1: _partitions(epsilon, changed) // 2 | 1,
    ),
    Mutant(
        "sum over count: epsilon not split",
        shared_layers.sums_over_counts_are_private,
        ("proxy.estimates.sum_over_count.split",),
        lambda loss, releases: loss,
    ),
    Mutant(
        "sum over count: scales 30 % too small",
        shared_layers.sums_over_counts_are_private,
        (SCALES,),
        lambda low, high, epsilon, rows=1: _scales(low, high, epsilon * Fraction(13, 10), rows),
    ),
    Mutant(
        "sum over count: scales 30 % too small, seen by draws",
        samplers.fits("sum over count"),
        (SCALES,),
        lambda low, high, epsilon, rows=1: _scales(low, high, epsilon * Fraction(13, 10), rows),
    ),
    Mutant(
        "sum over count: sensitivity high - low",
        shared_layers.sums_over_counts_are_private,
        ("proxy.estimates.sum_over_count.total_sensitivity",),
        lambda low, high, rows=1: rows * (high - low),
    ),
    Mutant(
        "sum over count: not clamped",
        shared_layers.sums_over_counts_are_the_noisy_ratio,
        ("proxy.estimates.sum_over_count.mean",),
        lambda sums, low, high: Fraction(sums.total, max(1, sums.count)),
    ),
    Mutant(
        "sum over count: interval without the count's noise",
        shared_layers.sum_over_count_formulas_are_golden,
        ("proxy.estimates.sum_over_count.interval",),
        lambda sums, noise, low, high, level=0.95: (
            _mean(sums, low, high) - 7,
            _mean(sums, low, high) + 7,
        ),
    ),
    Mutant(
        "shared sums: the last answer's need decides",
        shared_layers.shared_sums_meet_every_need,
        (POOLED,),
        _last_need_wins,
    ),
    Mutant(
        "shared sums: the weights are spent twice",
        shared_layers.shared_sums_meet_every_need,
        (POOLED,),
        _spent_twice,
    ),
    Mutant(
        "shared sums: the centre's part of the total forgotten",
        shared_layers.shared_totals_are_exact_without_noise,
        ("proxy.estimates.shared_moments.total_of",),
        lambda total, count, low, high: round(Fraction(total, 2)),
    ),
    Mutant(
        "shared sums: sensitivity of the centred sum halved",
        shared_layers.shared_sums_are_private,
        ("proxy.mechanisms.ratio_mean.total_sensitivity",),
        lambda low, high, rows=1: Fraction(rows * (high - low), 2),
    ),
    Mutant(
        "shared sums: the reach of one of the two noises",
        shared_layers.shared_totals_reach_as_far_as_said,
        ("proxy.estimates.shared_moments.total_half_width",),
        lambda of_total, of_count, low, high, level=0.95: _half_width(
            of_total, Fraction(1, 10**6), low, high, level
        ),
    ),
]
