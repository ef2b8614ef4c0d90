"""Layers of verification of PolyPlace noise: see layers.py for the idea."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from proxy.estimates import sampling_accuracy
from proxy.mechanisms import polyplace
from tests.mechanisms import layers
from tests.mechanisms.finite_law import Law, log_ratio
from tests.mechanisms.neighbours import Universe
from tests.seeded_bits import SeededBits

SHAPES = (2, 4, 8)
_ROUNDING = 1e-9


def _constants(c: int) -> tuple[float, float]:
    """The density's normaliser on z > 0, by its formula, and the tail's factor: in floats."""
    factor = (1 - 1 / c) ** (c - 1) * (1 + 1 / c) ** (c + 1)
    return (1 + (2 / c) * (1 - 1 / c) ** (c - 1)) / c, factor


def density(z: NDArray[np.float64], c: int) -> NDArray[np.float64]:
    """Of Z at z >= 0, docs/design/mechanisms.md 5.4."""
    normaliser, factor = _constants(c)
    core = np.maximum(1 - z, 0) ** (c - 1)
    value: NDArray[np.float64] = np.where(z <= 1 / c, core, factor * (1 + z) ** -(c + 1.0))
    return value / (2 * normaliser)


def mass(a: NDArray[np.float64], b: NDArray[np.float64], c: int) -> NDArray[np.float64]:
    """P(a <= Z <= b) for 0 <= a <= b: integrals of the density, without differences of equals."""
    normaliser, factor = _constants(c)
    knee = 1 / c
    core = (1 - np.minimum(a, knee)) ** c - (1 - np.minimum(b, knee)) ** c
    with np.errstate(over="ignore"):
        tail = (1 + np.maximum(a, knee)) ** -float(c) - (1 + np.maximum(b, knee)) ** -float(c)
    value: NDArray[np.float64] = (core + factor * tail) / (2 * c * normaliser)
    return value


def output_law(centre: int, scale: float, low: int, high: int, c: int) -> Law:
    """P(k) for k = low .. high: the nearest integer to centre + scale Z, clamped."""

    def side(reach: int) -> Law:  # P(distance = 0, 1, .. reach) on one side, the last one open
        edges = np.append(np.arange(reach + 1) - 0.5, math.inf)
        edges[0] = 0.0
        return mass(edges[:-1] / scale, edges[1:] / scale, c)

    below, above = side(centre - low), side(high - centre)
    law = np.zeros(high - low + 1)
    law[: centre - low + 1] += below[::-1]
    law[centre - low :] += above
    return law


def worst_log_ratio(epsilon: Fraction, c: int, universe: Universe) -> float:
    """The largest |ln P/Q| of answers over all neighbours of a universe, in units of epsilon."""
    low, high = universe.low, universe.high
    laws = {}
    for outputs in universe.lists:
        centre, scale = polyplace.private_law(outputs, low, high, epsilon, c)
        laws[outputs] = output_law(centre, float(scale), low, high, c)
    return max(log_ratio(laws[a], laws[b]) for a, b in universe.pairs) / float(epsilon)


def polyplace_is_private() -> None:
    """Exact auditor: no answer tells two neighbouring lists apart by more than epsilon."""
    for universe in layers.universes():
        for epsilon, c in (
            (Fraction(1, 2), 2),
            (Fraction(1), 2),
            (Fraction(1), 4),
            (Fraction(4), 8),
        ):
            worst = worst_log_ratio(epsilon, c, universe)
            assert worst <= 1 + _ROUNDING, f"epsilon {epsilon}, c = {c}: log ratio {worst} epsilon"


def the_density_uses_epsilon_up() -> None:
    """The continuous law: the largest log ratio over shifts and dilations is 1.000 epsilon."""
    for epsilon, c in ((1.0, 2), (1.0, 4), (1.0, 8), (0.1, 2)):
        gamma = float(polyplace.smoothness(Fraction(epsilon), c))
        x = np.concatenate([np.linspace(-4, 6, 40_001), [0, 1 / c, -1 / c], np.geomspace(6, 1e6)])
        worst = 0.0
        for wider in (0.0, gamma / 2, gamma):
            for shift in (0.0, gamma / 2, gamma):  # in units of S/gamma, S the smaller one
                here = np.log(density(np.abs(x), c))
                there = np.log(density(np.abs(x - shift) * math.exp(-wider), c)) - wider
                worst = max(worst, float(np.abs(here - there).max()))
        assert worst <= epsilon * (1 + _ROUNDING), (epsilon, c, worst)
        assert worst >= epsilon * 0.999, (epsilon, c, worst)


def polyplace_formulas_are_golden() -> None:
    """docs/design/mechanisms.md 5.2 and 5.4."""
    quantiles = {
        2: (1.00, 2.24, 4.71, 7.49, 19.2),
        4: (0.83, 1.74, 3.22, 4.59, 8.84),
        8: (0.76, 1.55, 2.71, 3.68, 6.28),
    }
    for c, expected in quantiles.items():
        for level, value in zip(("1/2", "3/4", "9/10", "19/20", "99/100"), expected, strict=True):
            found = c * sampling_accuracy.polyplace_quantile(
                Fraction(level), c
            )  # in units of S/epsilon
            assert abs(found - value) <= 0.005 * max(1, value / 4), (c, level, found)
            both_sides = 2 * mass(np.zeros(1), np.array([found / c]), c)
            assert math.isclose(both_sides[0], Fraction(level), rel_tol=1e-12)
    means, extremes = polyplace.KAPPA_OF_MEANS, polyplace.KAPPA_OF_EXTREMES
    rule = [
        (12_500, means, (755, 151, 77, 39)), (125, extremes, (195, 39, 21, 17)),
        (10**5, means, (923, 185, 93, 47)), (10**7, means, (1291, 259, 129, 65)),
    ]  # fmt: skip
    for steps, kappa, row in rule:
        for epsilon, m in zip(("1/10", "1/2", "1", "2"), row, strict=True):
            found_m = sampling_accuracy.polyplace_partitions(Fraction(epsilon), steps, kappa)
            assert found_m == m, f"epsilon {epsilon}, {steps} steps: m = {found_m}, not {m}"
    # Three outputs by hand: S* = max(5, 10 e^-gamma), scale S*/gamma, gamma = 1/2.
    centre, scale = polyplace.private_law([0, 5, 10], 0, 10, Fraction(1))
    assert centre == 5
    assert math.isclose(scale, 20 * math.exp(-0.5), rel_tol=1e-10)
    assert polyplace.private_law([7] * 101, 0, 10, Fraction(1), 4)[1] >= 4


def polyplace_releases_its_law() -> None:
    """A release is one draw of `sample` at private_law, within the bounds."""
    for seed in range(200):
        chooser = SeededBits(seed)
        high = 1 + chooser.below(300)
        outputs = [chooser.below(high + 1) for _ in range(2 * chooser.below(40) + 1)]
        epsilon, shape = Fraction(1, 1 + seed % 5), SHAPES[seed % 3]
        answer = polyplace.release(outputs, 0, high, epsilon, shape, SeededBits(seed))
        centre, scale = polyplace.private_law(outputs, 0, high, epsilon, shape)
        assert centre == sorted(outputs)[len(outputs) // 2]
        assert type(answer) is int
        assert answer == polyplace.sample(SeededBits(seed), centre, scale, 0, high, shape)
        assert 0 <= answer <= high


LAYERS = [
    polyplace_is_private,
    the_density_uses_epsilon_up,
    polyplace_formulas_are_golden,
    polyplace_releases_its_law,
]
