"""Broken noise: Gaussian, zCDP, PolyPlace, noisy moments, weights. See mutants.py for the idea."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from proxy.estimates import (
    ratio_mean_estimate,
    recentred_mean_estimate,
    sampling_accuracy,
    variance,
)
from proxy.kernel.price import Price
from proxy.mechanisms import (
    discrete_gaussian,
    polyplace,
    ratio_mean,
    recentred_mean,
    smooth_sensitivity,
    split,
    zcdp,
)
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from tests.mechanisms import gaussian_layers, layers, moments_layers, polyplace_layers, samplers
from tests.mechanisms.mutants import Mutant

SIGMA2_FOR = "proxy.mechanisms.discrete_gaussian.sigma2_for"
GAUSSIAN = "proxy.mechanisms.discrete_gaussian.sample"
RHO_OF_LOSS = "proxy.mechanisms.zcdp.rho_of_loss"
SMOOTHNESS = "proxy.mechanisms.polyplace.smoothness"
POLYPLACE_SCALE = "proxy.mechanisms.polyplace.noise_scale"
POLYPLACE_SENSITIVITY = "proxy.mechanisms.polyplace.smooth_sensitivity"
POLYPLACE = "proxy.mechanisms.polyplace.sample"

# Kept before anything is replaced.
_sigma2_for = discrete_gaussian.sigma2_for
_gaussian = discrete_gaussian.sample
_smoothness = polyplace.smoothness
_noise_scale = polyplace.noise_scale
_polyplace = polyplace.sample
_partitions = sampling_accuracy.polyplace_partitions
_smooth_sensitivity = smooth_sensitivity.smooth_sensitivity
_centred = ratio_mean_estimate.centred
_mean_scales = ratio_mean.scales
_shares = recentred_mean.allocation
_recentred = recentred_mean_estimate.release
_cost = recentred_mean.cost
_variance_scales = variance.scales
_population = variance.population
_split_weighted = split.split_weighted


def _ends_of_whole_level(result: int, scale: Fraction, level: Fraction) -> tuple[int, int]:
    """No union bound, and a reach of half of what is needed."""
    reach = math.floor(scale * Fraction(-math.log(1 - level)) / 3)
    return result - reach, result + reach


def _nearest_after_clamping(
    bits: RandomBits, centre: int, scale: Fraction, low: int, high: int, shape: int = 2
) -> int:
    """Noise that is thrown away, not clamped, where it leads beyond the bounds."""
    while True:
        wide = _polyplace(bits, centre, scale, low - 10**6, high + 10**6, shape)
        if low <= wide <= high:
            return wide


MUTANTS = [
    Mutant(
        "sigma of one cell instead of the L2 of all cells",
        gaussian_layers.gaussian_noise_is_private,
        (SIGMA2_FOR,),
        lambda l2_sensitivity2, rho: _sigma2_for(1, rho),
    ),
    Mutant(
        "sigma from L1 instead of L2: too much noise",
        gaussian_layers.gaussian_formulas_are_golden,
        (SIGMA2_FOR,),
        lambda l2_sensitivity2, rho: _sigma2_for(Fraction(l2_sensitivity2) ** 2, rho),
    ),
    Mutant(
        "sensitivity not squared",
        gaussian_layers.gaussian_noise_is_private,
        (SIGMA2_FOR,),
        lambda l2_sensitivity2, rho: _sigma2_for(math.isqrt(math.ceil(l2_sensitivity2)), rho),
    ),
    Mutant(
        "sigma2 = sensitivity^2 / (4 rho)",
        gaussian_layers.gaussian_noise_is_private,
        (SIGMA2_FOR,),
        lambda l2_sensitivity2, rho: _sigma2_for(l2_sensitivity2, 2 * rho),
    ),
    Mutant(
        "sigma2 30 % too small, seen by opendp",
        gaussian_layers.rho_is_opendps,
        (SIGMA2_FOR,),
        lambda l2_sensitivity2, rho: _sigma2_for(l2_sensitivity2, rho * Fraction(13, 10)),
    ),
    Mutant(
        "rho = epsilon^2 / 2, as if the noise were pure",
        gaussian_layers.gaussian_noise_is_private,
        (RHO_OF_LOSS,),
        lambda epsilon, delta: epsilon**2 / 2,
    ),
    Mutant(
        "rho 30 % too large, seen by opendp",
        gaussian_layers.rho_is_opendps,
        (RHO_OF_LOSS,),
        lambda epsilon, delta, kept=zcdp.rho_of_loss: kept(epsilon, delta) * Fraction(13, 10),
    ),
    Mutant(
        "only the order alpha = 2 is tried",
        gaussian_layers.rho_is_opendps,
        ("proxy.mechanisms.zcdp._minimised",),
        lambda function: 0.0,
    ),
    Mutant(
        "rho composed by its maximum",
        gaussian_layers.rho_adds_up_and_converts,
        ("proxy.kernel.price.Price.__add__",),
        lambda one, other: Price(rho=max(one.rho, other.rho)),
    ),
    Mutant(
        "Gaussian sampler with sigma 30 % too small",
        samplers.fits("discrete Gaussian"),
        (GAUSSIAN,),
        lambda bits, sigma2: _gaussian(bits, sigma2 * Fraction(100, 169)),
    ),
    Mutant(
        "Gaussian sampler with sigma 5 % too large",
        samplers.fits("discrete Gaussian"),
        (GAUSSIAN,),
        lambda bits, sigma2: _gaussian(bits, sigma2 * Fraction(11025, 10000)),
    ),
    Mutant(
        "PolyPlace scale halved",
        polyplace_layers.polyplace_is_private,
        (POLYPLACE_SCALE,),
        lambda sensitivity, gamma: _noise_scale(sensitivity, gamma) / 2,
    ),
    Mutant(
        "PolyPlace scale S/epsilon",
        polyplace_layers.polyplace_formulas_are_golden,
        (POLYPLACE_SCALE,),
        lambda sensitivity, gamma: Fraction(sensitivity) / (2 * gamma),
    ),
    Mutant(
        "PolyPlace S with gamma doubled",
        polyplace_layers.polyplace_is_private,
        (POLYPLACE_SENSITIVITY,),
        lambda outputs, rank, low, high, beta: _smooth_sensitivity(
            outputs, rank, low, high, 2 * beta
        ),
    ),
    Mutant(
        "PolyPlace gamma = epsilon",
        polyplace_layers.polyplace_is_private,
        (SMOOTHNESS,),
        lambda epsilon, shape=2: epsilon,
    ),
    Mutant(
        "PolyPlace gamma 5 % too large",
        polyplace_layers.polyplace_is_private,
        (SMOOTHNESS,),
        lambda epsilon, shape=2: _smoothness(epsilon, shape) * Fraction(105, 100),
    ),
    Mutant(
        "PolyPlace with local sensitivity",
        polyplace_layers.polyplace_is_private,
        (POLYPLACE_SENSITIVITY,),
        lambda outputs, rank, low, high, beta: _smooth_sensitivity(outputs, rank, low, high, 16.0),
    ),
    Mutant(
        "PolyPlace m without kappa",
        polyplace_layers.polyplace_formulas_are_golden,
        ("proxy.estimates.sampling_accuracy.polyplace_partitions",),
        lambda epsilon, steps, kappa=2: _partitions(epsilon, steps, 1),
    ),
    Mutant(
        "PolyPlace sampler 30 % too narrow",
        samplers.fits("PolyPlace"),
        (POLYPLACE,),
        lambda bits, centre, scale, low, high, shape: _polyplace(
            bits, centre, scale * Fraction(10, 13), low, high, shape
        ),
    ),
    Mutant(
        "PolyPlace sampler rejects instead of clamping",
        samplers.fits("PolyPlace"),
        (POLYPLACE,),
        _nearest_after_clamping,
    ),
    Mutant(
        "midpoint forgotten",
        moments_layers.moments_are_private,
        ("proxy.estimates.ratio_mean_estimate.centred",),
        lambda total, count, low, high: 2 * total,
    ),
    Mutant(
        "midpoint not added back",
        moments_layers.moments_without_noise_are_exact,
        ("proxy.estimates.ratio_mean_estimate.mean",),
        lambda moments, low, high: Fraction(moments.total, 2 * max(1, moments.count)),
    ),
    Mutant(
        "sum's sensitivity (high - low) / 2 in half steps",
        moments_layers.moments_are_private,
        ("proxy.mechanisms.ratio_mean.total_sensitivity",),
        lambda low, high, rows=1: Fraction(rows * (high - low), 2),
    ),
    Mutant(
        "epsilon not split over sum and count",
        moments_layers.moments_are_private,
        ("proxy.mechanisms.ratio_mean.split",),
        lambda loss, releases: loss,
    ),
    Mutant(
        "epsilon split in two for three moments",
        moments_layers.moments_are_private,
        ("proxy.estimates.variance.RELEASES",),
        2,
    ),
    Mutant(
        "rows of a unit not charged in the mean",
        moments_layers.moments_are_private,
        ("proxy.mechanisms.ratio_mean.scales",),
        lambda low, high, epsilon, rows=1: _mean_scales(low, high, epsilon),
    ),
    Mutant(
        "rows of a unit not charged in the variance",
        moments_layers.moments_are_private,
        ("proxy.estimates.variance.scales",),
        lambda low, high, epsilon, rows=1: _variance_scales(low, high, epsilon),
    ),
    Mutant(
        "squares not centred",
        moments_layers.moments_are_private,
        ("proxy.estimates.variance.centred_squares",),
        lambda squares, total, count, low, high: 8 * squares,
    ),
    Mutant(
        "mean not clamped",
        moments_layers.moments_are_clamped,
        ("proxy.estimates.ratio_mean_estimate.mean",),
        lambda moments, low, high: Fraction(moments.total, 2 * max(1, moments.count)) + low,
    ),
    Mutant(
        "variance below 0",
        moments_layers.moments_are_clamped,
        ("proxy.estimates.variance.population",),
        lambda moments, low, high: _population(moments, low, high) - 1,
    ),
    Mutant(
        "the centre of a mean is found for nothing",
        moments_layers.recentred_means_are_private,
        ("proxy.mechanisms.recentred_mean.allocation",),
        lambda epsilon: replace(_shares(epsilon), many=_shares(epsilon).few),
    ),
    Mutant(
        "with few rows the noisy count is free",
        moments_layers.recentred_means_are_private,
        ("proxy.mechanisms.recentred_mean.allocation",),
        lambda epsilon: replace(_shares(epsilon), few=epsilon),
    ),
    Mutant(
        "a mean about a centre has the sensitivity of one about the middle",
        moments_layers.recentred_means_are_private,
        ("proxy.mechanisms.recentred_mean.sensitivity_about",),
        lambda centre, low, high, rows=1: rows * (high - low),
    ),
    Mutant(
        "rows of a unit not charged in a mean about a centre",
        moments_layers.recentred_means_are_private,
        ("proxy.estimates.recentred_mean_estimate.release",),
        lambda total, count, low, high, epsilon, bits, rows=1: _recentred(
            total, count, low, high, epsilon, bits
        ),
    ),
    Mutant(
        "the cost of a mean forgets the count",
        moments_layers.recentred_means_are_private,
        ("proxy.mechanisms.recentred_mean.cost",),
        lambda total, count, low, high, epsilon, rows=1: _cost(total, 0, low, high, epsilon, rows),
    ),
    Mutant(
        "intervals a third as wide",
        moments_layers.intervals_hold_the_truth,
        (
            "proxy.estimates.ratio_mean_estimate.ends",
            "proxy.estimates.recentred_mean_estimate.ends",
            "proxy.estimates.variance.ends",
        ),
        _ends_of_whole_level,
    ),
    Mutant(
        "weights share epsilon, each has all of delta",
        layers.a_loss_is_shared,
        ("proxy.mechanisms.split.split_weighted",),
        lambda loss, weights: [
            Loss(share.epsilon, loss.delta) for share in _split_weighted(loss, weights)
        ],
    ),
    Mutant(
        "weights ignored",
        layers.a_loss_is_shared,
        ("proxy.mechanisms.split.split_weighted",),
        lambda loss, weights: [split.split(loss, len(weights))] * len(weights),
    ),
]
