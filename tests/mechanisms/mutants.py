"""Broken mechanisms, each with the layer of verification that must refuse it.

A mutant replaces product functions where they are looked up; nothing else changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proxy.estimates import sampling_accuracy
from proxy.mechanisms import discrete_laplace, smooth_sensitivity, smoothed_median, split
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from tests.mechanisms import layers, samplers

Function = Callable[..., Any]

SENSITIVITY = "proxy.mechanisms.smooth_sensitivity.smooth_sensitivity"
SENSITIVITY_IN_USE = "proxy.mechanisms.smoothed_median.smooth_sensitivity"
BETA = "proxy.mechanisms.smoothed_median.beta"
SCALE_FOR = "proxy.mechanisms.discrete_laplace.scale_for"
SAMPLE = "proxy.mechanisms.discrete_laplace.sample"
LAW = "proxy.mechanisms.smoothed_median.private_law"

# Kept before anything is replaced.
_scale_for = discrete_laplace.scale_for
_sample = discrete_laplace.sample
_smooth_sensitivity = smooth_sensitivity.smooth_sensitivity
_private_law = smoothed_median.private_law
_partitions = sampling_accuracy.laplace_partitions
_per_unit = split.per_unit


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    killed_by: Callable[[], None]
    replaces: tuple[str, ...]
    with_: Function | int


def _pairs_of(
    outputs: Sequence[int], rank: int, low: int, high: int, fewest: int, padded: bool
) -> list[tuple[int, int]]:
    """(a_j - a_i, j-i-1) for i <= rank <= j with at least `fewest` outputs changed."""
    a = [low, *sorted(outputs), high]
    ends = (0, len(a)) if padded else (1, len(a) - 1)
    return [
        (a[j] - a[i], j - i - 1)
        for i in range(ends[0], rank + 1)
        for j in range(max(rank, i + 1), ends[1])
        if j - i - 1 >= fewest
    ]


def _without_padding(
    outputs: Sequence[int], rank: int, low: int, high: int, beta: float, floor: float = 1.0
) -> float:
    pairs = _pairs_of(outputs, rank, low, high, fewest=0, padded=False)
    return max([floor, *(gap * math.exp(-beta * k) for gap, k in pairs)])


def _from_one_change(
    outputs: Sequence[int], rank: int, low: int, high: int, beta: float, floor: float = 1.0
) -> float:
    pairs = _pairs_of(outputs, rank, low, high, fewest=1, padded=True)
    return max([floor, *(gap * math.exp(-beta * k) for gap, k in pairs)])


def _local(
    outputs: Sequence[int], rank: int, low: int, high: int, beta: float, floor: float = 1.0
) -> float:
    """What one change can do here: k = 0 only."""
    pairs = _pairs_of(outputs, rank, low, high, fewest=0, padded=True)
    return max([floor, *(float(gap) for gap, k in pairs if k == 0)])


def _next_rank(
    outputs: Sequence[int], rank: int, low: int, high: int, beta: float, floor: float = 1.0
) -> float:
    return _smooth_sensitivity(outputs, min(rank + 1, len(outputs)), low, high, beta, floor)


def _without_floor(
    outputs: Sequence[int], rank: int, low: int, high: int, beta: float, floor: float = 1.0
) -> float:
    pairs = _pairs_of(outputs, rank, low, high, fewest=0, padded=True)
    return max(gap * math.exp(-beta * k) for gap, k in pairs)


def _median_of_next_rank(
    outputs: Sequence[int], low: int, high: int, epsilon: Fraction, delta: Fraction
) -> tuple[int, Fraction]:
    _, scale = _private_law(outputs, low, high, epsilon, delta)
    return sorted(outputs)[min(len(outputs) // 2 + 1, len(outputs) - 1)], scale


def _unclamped(
    outputs: Sequence[int],
    low: int,
    high: int,
    epsilon: Fraction,
    delta: Fraction,
    bits: RandomBits,
) -> int:
    centre, scale = _private_law(outputs, low, high, epsilon, delta)
    return centre + _sample(bits, scale)


def _zero_twice(bits: RandomBits, scale: Fraction) -> int:
    """The sampler without the rejection of -0: zero is twice as likely."""
    magnitude = abs(_sample(bits, scale))
    if magnitude and bits.below(2):
        return -magnitude
    if magnitude == 0 or bits.below(3):
        return magnitude
    return 0


MUTANTS = [
    Mutant(
        "sensitivity halved",
        layers.a_sum_is_private,
        (SCALE_FOR,),
        lambda sensitivity, epsilon: _scale_for(Fraction(sensitivity) / 2, epsilon),
    ),
    Mutant(
        "sensitivity halved, seen by opendp",
        layers.the_scale_is_opendps,
        (SCALE_FOR,),
        lambda sensitivity, epsilon: _scale_for(Fraction(sensitivity) / 2, epsilon),
    ),
    Mutant(
        "epsilon one percent too large",
        layers.a_sum_is_private,
        (SCALE_FOR,),
        lambda sensitivity, epsilon: _scale_for(sensitivity, epsilon * Fraction(101, 100)),
    ),
    Mutant(
        "delta ignored: beta = epsilon",
        layers.the_median_is_private,
        (BETA,),
        lambda epsilon, delta: float(epsilon),
    ),
    Mutant(
        "delta ignored: beta = epsilon / 2",
        layers.the_median_is_private,
        (BETA,),
        lambda epsilon, delta: float(epsilon) / 2,
    ),
    Mutant(
        "beta = epsilon / ln(1/delta)",
        layers.the_median_is_private,
        (BETA,),
        lambda epsilon, delta: float(epsilon) / math.log(1 / delta),
    ),
    Mutant(
        "beta = epsilon / (2 ln(2/delta)), valid for small epsilon only",
        layers.formulas_are_golden,
        (BETA,),
        lambda epsilon, delta: float(epsilon) / (2 * math.log(2 / delta)),
    ),
    Mutant(
        "beta rounded up",
        layers.formulas_are_golden,
        (BETA,),
        lambda epsilon, delta: (
            math.log1p(float(epsilon) / (2 * math.log(2 / delta))) * (1 + 2.0**-40)
        ),
    ),
    Mutant(
        "scale S/epsilon",
        layers.the_median_is_private,
        ("proxy.mechanisms.smoothed_median.noise_scale",),
        lambda sensitivity, epsilon: Fraction(sensitivity) / epsilon,
    ),
    Mutant(
        "S* without padding by the bounds",
        layers.the_median_is_private,
        (SENSITIVITY, SENSITIVITY_IN_USE),
        _without_padding,
    ),
    Mutant(
        "local instead of smooth sensitivity",
        layers.the_median_is_private,
        (SENSITIVITY, SENSITIVITY_IN_USE),
        _local,
    ),
    Mutant(
        "S* from k = 1",
        layers.smooth_sensitivity_is_its_definition,
        (SENSITIVITY, SENSITIVITY_IN_USE),
        _from_one_change,
    ),
    Mutant(
        "S* of the next rank",
        layers.smooth_sensitivity_is_its_definition,
        (SENSITIVITY, SENSITIVITY_IN_USE),
        _next_rank,
    ),
    Mutant(
        "S* without the floor of one step",
        layers.formulas_are_golden,
        (SENSITIVITY, SENSITIVITY_IN_USE),
        _without_floor,
    ),
    Mutant(
        "median of the next rank",
        layers.releases_are_the_law_within_bounds,
        (LAW,),
        _median_of_next_rank,
    ),
    Mutant(
        "epsilon not split",
        layers.a_statement_is_private,
        ("proxy.mechanisms.split.split",),
        lambda loss, releases: loss,
    ),
    Mutant(
        "delta not split",
        layers.a_loss_is_shared,
        ("proxy.mechanisms.split.split",),
        lambda loss, releases: Loss(loss.epsilon / releases, loss.delta),
    ),
    Mutant(
        "groups of one unit not charged",
        layers.a_loss_is_shared,
        ("proxy.mechanisms.split.per_group",),
        lambda loss, groups: loss,
    ),
    Mutant(
        "group privacy without the growth of delta",
        layers.a_loss_is_shared,
        ("proxy.mechanisms.split.per_unit",),
        lambda loss, rows: Loss(loss.epsilon / rows, loss.delta / rows),
    ),
    Mutant(
        "m = half of the rule",
        layers.formulas_are_golden,
        ("proxy.estimates.sampling_accuracy.laplace_partitions",),
        lambda epsilon, delta, steps: _partitions(epsilon, delta, steps) // 2 | 1,
    ),
    Mutant(
        "interval of continuous noise",
        layers.formulas_are_golden,
        ("proxy.mechanisms.discrete_laplace.half_width",),
        lambda scale: round(float(scale) * math.log(20)) + 1,
    ),
    Mutant(
        "sampler 30 % too narrow",
        samplers.fits("discrete Laplace"),
        (SAMPLE,),
        lambda bits, scale: _sample(bits, scale * Fraction(10, 13)),
    ),
    Mutant(
        "sampler 5 % too wide",
        samplers.fits("discrete Laplace", samplers.MANY_DRAWS),
        (SAMPLE,),
        lambda bits, scale: _sample(bits, scale * Fraction(105, 100)),
    ),
    Mutant("sampler's zero too likely", samplers.fits("discrete Laplace"), (SAMPLE,), _zero_twice),
    Mutant(
        "release not clamped",
        layers.releases_are_the_law_within_bounds,
        ("proxy.mechanisms.smoothed_median.release",),
        _unclamped,
    ),
]
