"""The layers of verification, each a function that raises AssertionError when something is wrong.

The tests run them on the real code; test_mutants.py runs them on broken code, which they must not
accept. So they look up every product function through its module, where a mutant replaces it.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from proxy.estimates import sampling_accuracy
from proxy.mechanisms import discrete_laplace, smooth_sensitivity, smoothed_median, split
from proxy.mechanisms.loss import Loss
from tests.mechanisms.laplace_law import INFINITY, LaplaceLaw, hockey_stick
from tests.mechanisms.neighbours import Universe, all_multiset_pairs, two_point_pairs
from tests.mechanisms.reference_sensitivity import DefinitionOfSmoothSensitivity
from tests.seeded_bits import SeededBits

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(4))
DELTAS = (Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 10))
MILLIONTH = Fraction(1, 10**6)

_ROUNDING = 1e-12  # of the auditor's own sums


@cache
def universes() -> tuple[Universe, ...]:
    # With a spread of 1 the floor of one grid step is at work; with 1000 it never is.
    small = [all_multiset_pairs(*size) for size in ((3, 5), (5, 4), (7, 3))]
    wide = [all_multiset_pairs(*size, spread=1000) for size in ((3, 5), (5, 4), (7, 3))]
    return (*small, *wide, two_point_pairs(65, 1000))


def worst_delta(epsilon: Fraction, delta: Fraction, universe: Universe) -> float:
    """The smoothed median's exact delta at epsilon, over all neighbours of a universe."""
    laws = {
        outputs: LaplaceLaw.of(
            smoothed_median.private_law(outputs, universe.low, universe.high, epsilon, delta)
        )
        for outputs in universe.lists
    }
    at = float(epsilon)
    return max(
        max(hockey_stick(laws[a], laws[b], at), hockey_stick(laws[b], laws[a], at))
        for a, b in universe.pairs
    )


def the_median_is_private() -> None:
    """Exact auditor: no event tells two neighbouring lists apart by more than (epsilon, delta)."""
    for universe in universes():
        for epsilon in EPSILONS:
            for delta in DELTAS:
                worst = worst_delta(epsilon, delta, universe)
                assert worst <= float(delta) + _ROUNDING, (
                    f"epsilon {epsilon}, delta {delta}: exact delta {worst}"
                )


def a_sum_is_private() -> None:
    """Exact auditor: integer results that differ by the sensitivity, with pure epsilon."""
    for sensitivity in (1, 7, Fraction(5, 2)):
        for epsilon in EPSILONS:
            scale = discrete_laplace.scale_for(sensitivity, epsilon)
            for shift in range(1, math.floor(sensitivity) + 1):
                p, q = LaplaceLaw.of((0, scale)), LaplaceLaw.of((shift, scale))
                worst = hockey_stick(p, q, float(epsilon))
                assert worst <= _ROUNDING, f"shift {shift}, epsilon {epsilon}: {worst}"


def a_statement_is_private() -> None:
    """Exact auditor of a statement: k counts that one unit moves by 1 each, answered together.

    The log ratio of one count is +1/scale for results up to 0 and -1/scale above, so how many of
    the k independent results are on either side is all that an event can use.
    """
    for releases in (1, 2, 3, 10):
        for epsilon in EPSILONS:
            each = split.split(Loss(epsilon, Fraction(0)), releases)
            scale = discrete_laplace.scale_for(1, each.epsilon)
            p, q = LaplaceLaw.of((0, scale)), LaplaceLaw.of((1, scale))
            # P(result <= 0) with and without the unit.
            up, down = 1 - p.mass(1, INFINITY), q.mass(-INFINITY, 0)
            worst = 0.0
            for count in range(releases + 1):
                ways = math.comb(releases, count)
                on_p = up**count * (1 - up) ** (releases - count)
                on_q = down**count * (1 - down) ** (releases - count)
                worst += ways * max(0.0, on_p - math.exp(float(epsilon)) * on_q)
            assert worst <= _ROUNDING, f"{releases} releases, epsilon {epsilon}: delta {worst}"


def a_loss_is_shared() -> None:
    """Accounting: shares add up to the loss, and group privacy gives no more than the loss back."""
    loss = Loss(Fraction(1), MILLIONTH)
    for k in (1, 2, 3, 7, 40):
        shares = [split.split(loss, k)] * k
        assert sum((share.epsilon for share in shares), Fraction(0)) == loss.epsilon
        assert sum((share.delta for share in shares), Fraction(0)) == loss.delta
        assert split.per_group(loss, k) == split.split(loss, k)
    weights: list[int | Fraction] = [1, 2, Fraction(5, 2), Fraction(1, 3)]
    weighted = split.split_weighted(loss, weights)
    assert sum((share.epsilon for share in weighted), Fraction(0)) == loss.epsilon
    assert sum((share.delta for share in weighted), Fraction(0)) == loss.delta
    assert [share.epsilon / weighted[0].epsilon for share in weighted] == weights
    assert split.split_weighted(loss, [7, 7]) == [split.split(loss, 2)] * 2
    for epsilon in (*EPSILONS, Fraction(300)):
        for k in (1, 2, 3, 10, 100):
            row = split.per_unit(Loss(epsilon, MILLIONTH), k)
            with localcontext() as context:
                context.prec = 200
                growth = _decimal(row.epsilon * (k - 1)).exp()
                back = k * growth * _decimal(row.delta)
                assert row.epsilon * k == epsilon
                assert back <= _decimal(MILLIONTH), f"{k} rows at epsilon {epsilon}: {back}"
                assert back >= _decimal(MILLIONTH) * (1 - Decimal(10) ** -9)


def smooth_sensitivity_is_its_definition() -> None:
    """Brute force: the fast formula against breadth-first search over all lists, every rank."""
    spread = 1000  # so that the floor of one grid step does not hide a small S*
    for m, steps in ((3, 5), (5, 4), (7, 3)):
        definition = _definition(m, steps)
        for rank in range(1, m + 1):
            for beta in (0.01, 0.1, 0.5, 1.0, 3.0):
                expected = np.maximum(definition.of_all(rank, beta) * spread, 1.0)
                found = [
                    smooth_sensitivity.smooth_sensitivity(
                        [a * spread for a in outputs], rank, 0, steps * spread, beta
                    )
                    for outputs in definition.lists
                ]
                np.testing.assert_allclose(found, expected, rtol=1e-10)


@cache
def _definition(m: int, steps: int) -> DefinitionOfSmoothSensitivity:
    return DefinitionOfSmoothSensitivity(m, steps)


def formulas_are_golden() -> None:
    """docs/design/mechanisms.md 2 to 5 by hand; the logarithms again in 60 digits."""
    rule = [
        ("1/10", 12_500, 5485), ("1/2", 12_500, 1105), ("1", 12_500, 557), ("2", 12_500, 285),
        ("1/10", 125, 2807), ("1/2", 125, 567), ("1", 125, 287), ("2", 125, 145),
        ("1/10", 10**5, 6693), ("1/2", 10**5, 1349), ("1", 10**5, 681), ("2", 10**5, 347),
        ("1/10", 10**7, 9371), ("1/2", 10**7, 1887), ("1", 10**7, 953), ("2", 10**7, 485),
        ("1000", 125, 17), ("1/1000", 10**7, 65537), ("1", 0, 17), ("1", 1, 17),
    ]  # fmt: skip
    for text, steps, m in rule:
        found = sampling_accuracy.laplace_partitions(Fraction(text), MILLIONTH, steps)
        assert found == m, f"epsilon {text}, {steps} steps: m = {found}, not {m}"

    for epsilon, delta in ((e, d) for e in (*EPSILONS, Fraction(1, 100)) for d in DELTAS):
        with localcontext() as context:
            context.prec = 60
            exact = (1 + _decimal(epsilon) / (2 * _decimal(2 / delta).ln())).ln()
            found_beta = Decimal(smoothed_median.beta(epsilon, delta))
            assert exact * (1 - Decimal(10) ** -13) <= found_beta <= exact, (epsilon, delta)
    assert round(smoothed_median.beta(Fraction(1), MILLIONTH), 4) == 0.0339
    assert round(smoothed_median.beta(Fraction(1, 10), MILLIONTH), 4) == 0.0034

    for b, t in ((1, 3), (2, 6), (10, 30), (100, 300)):
        assert discrete_laplace.half_width(Fraction(b)) == t

    # Three outputs by hand: S* = max(5, 10 e^-beta), scale 2 S*/epsilon.
    centre, scale = smoothed_median.private_law([0, 5, 10], 0, 10, Fraction(1), MILLIONTH)
    beta = math.log(1 + 1 / (2 * math.log(2e6)))
    assert centre == 5
    assert math.isclose(scale, 20 * math.exp(-beta), rel_tol=1e-10)
    assert smoothed_median.private_law([7] * 1001, 0, 10, Fraction(1), MILLIONTH)[1] > 2


def the_scale_is_opendps() -> None:
    """An independent library's privacy map: noise of our scale costs epsilon, no more, no less."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    for sensitivity in (1, 3, 125, 17_500):
        for epsilon in (Fraction(1, 10), *EPSILONS):
            scale = float(discrete_laplace.scale_for(sensitivity, epsilon))
            oracle: Any = dp.m.make_laplace(*space, scale=scale)
            assert abs(oracle.map(sensitivity) - float(epsilon)) <= 1e-12, (sensitivity, epsilon)
            assert abs(oracle.map(1) - 1 / scale) <= 1e-12


def releases_are_the_law_within_bounds() -> None:
    """A release is the median of private_law plus one draw at its scale, clamped to the bounds."""
    for seed in range(200):
        chooser = SeededBits(seed)
        high = 1 + chooser.below(300)
        outputs = [chooser.below(high + 1) for _ in range(2 * chooser.below(40) + 1)]
        loss = Fraction(1, 1 + seed % 5), MILLIONTH
        answer = smoothed_median.release(outputs, 0, high, *loss, SeededBits(seed))
        centre, scale = smoothed_median.private_law(outputs, 0, high, *loss)
        noise = discrete_laplace.sample(SeededBits(seed), scale)
        assert centre == sorted(outputs)[len(outputs) // 2]
        assert type(answer) is int
        assert 0 <= answer <= high
        assert answer == min(max(centre + noise, 0), high)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
