"""The layers of verification accept the real mechanisms, and the auditor itself is right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest

from tests.mechanisms import (
    gaussian_layers,
    growing_places_layers,
    layers,
    moments_layers,
    order_statistic_layers,
    pair_layers,
    polyplace_layers,
    rho_layers,
    selection_layers,
    shared_layers,
)
from tests.mechanisms.laplace_law import INFINITY, LaplaceLaw, hockey_stick
from tests.mechanisms.neighbours import all_multiset_pairs, two_point_pairs
from tests.seeded_bits import SeededBits

LAYERS = [
    layers.a_sum_is_private,
    layers.a_statement_is_private,
    layers.the_median_is_private,
    layers.a_loss_is_shared,
    layers.smooth_sensitivity_is_its_definition,
    layers.formulas_are_golden,
    layers.the_scale_is_opendps,
    layers.releases_are_the_law_within_bounds,
    *gaussian_layers.LAYERS,
    *polyplace_layers.LAYERS,
    *selection_layers.LAYERS,
    *order_statistic_layers.LAYERS,
    *growing_places_layers.LAYERS,
    *moments_layers.LAYERS,
    *shared_layers.LAYERS,
    *pair_layers.LAYERS,
    *rho_layers.LAYERS,
]


# That errors are as stated, by many draws, and what takes seconds: after a change in mechanisms all are run.
_AT_NIGHT = (
    layers.the_median_is_private,
    moments_layers.recentred_means_are_private,
    polyplace_layers.polyplace_is_private,
    pair_layers.pair_errors_are_the_closed_form,
    pair_layers.pair_intervals_hold_the_truth,
)


@pytest.mark.every(12)
@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(one, id=one.__name__, marks=[pytest.mark.long] * (one in _AT_NIGHT))
        for one in LAYERS
    ],
)
def test_the_real_code_is_accepted(layer: Callable[[], None]) -> None:
    layer()


def test_hockey_stick_is_the_sum_of_positive_differences() -> None:
    bits = SeededBits(0)
    positive = 0
    for _ in range(500):
        p = LaplaceLaw(bits.below(20), (1 + bits.below(60)) / 10)
        q = LaplaceLaw(bits.below(20), (1 + bits.below(60)) / 10)
        epsilon = bits.below(20) / 10
        expected = math.fsum(
            max(0.0, p.probability(k) - math.exp(epsilon) * q.probability(k))
            for k in range(-300, 320)
        )
        assert math.isclose(hockey_stick(p, q, epsilon), expected, rel_tol=1e-9, abs_tol=1e-13)
        positive += expected > 1e-6
    assert positive > 250  # else the comparison would be of zeros


def test_the_law_is_a_probability() -> None:
    for scale in (0.1, 1.0, 7.3, 1e6):
        law = LaplaceLaw(5, scale)
        assert math.isclose(law.mass(-INFINITY, 4) + law.mass(5, INFINITY), 1)
        assert math.isclose(law.mass(5, 5), law.probability(5))
        assert math.isclose(law.tail(3), law.mass(-INFINITY, 1) + law.mass(9, INFINITY))


def test_the_auditor_looks_at_thousands_of_pairs() -> None:
    assert sum(len(universe.pairs) for universe in layers.universes()) > 3_000
    for universe in layers.universes():
        for a, b in universe.pairs:
            assert (Counter(a) - Counter(b)).total() == 1
            assert len(a) == len(b)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", ["1/100", "1/10", "1/2", "1", "2", "8", "16"])
def test_the_median_is_private_on_larger_universes(epsilon: str) -> None:
    universes = [
        all_multiset_pairs(5, 6, spread=1000),
        all_multiset_pairs(9, 3, spread=1000),
        two_point_pairs(65, 10**6),
        two_point_pairs(257, 10**6),
    ]
    for universe in universes:
        for delta in ("1/2", "1/10", "1/1000", "1/1000000", "1/1000000000"):
            worst = layers.worst_delta(Fraction(epsilon), Fraction(delta), universe)
            assert worst <= float(Fraction(delta)) + 1e-12, (epsilon, delta, worst)
