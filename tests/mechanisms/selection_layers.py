"""Layers of verification of partition selection: see layers.py for the idea."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np

from proxy.mechanisms import bernoulli, partition_selection
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.real_bounds import exp_bounds
from tests.mechanisms.finite_law import Law, chi_square_tail, hockey_stick
from tests.seeded_bits import SeededBits

MILLIONTH = Fraction(1, 10**6)
LOSSES = [
    (epsilon, delta)
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4))
    for delta in (MILLIONTH, Fraction(1, 1000), Fraction(1, 10))
]
FALSE_ALARM = 1e-6
_ROUNDING = 1e-12


def selection_is_private() -> None:
    """Exact auditor, in fractions: a unit more or less changes what is shown within the loss.

    Both events, both directions, every size of group up to where all are shown. 0 tolerance.
    """
    for epsilon, delta in LOSSES:
        growth, _ = exp_bounds(epsilon)  # below e^epsilon: stricter
        units, here = 0, partition_selection.release_probability(0, epsilon, delta)
        assert here == 0, "a group without units is shown"
        while here < 1:
            units += 1
            there = partition_selection.release_probability(units, epsilon, delta)
            for p, q in (
                (here, there),
                (there, here),
                (1 - here, 1 - there),
                (1 - there, 1 - here),
            ):
                assert p <= growth * q + delta, f"epsilon {epsilon}, delta {delta}, n = {units}"
            here = there


def groups_of_one_unit_are_private() -> None:
    """Exact auditor: a unit in G groups, each of n other units, all shown or hidden together.

    Only how many of the equal groups are shown tells anything, so the law is binomial.
    """
    for epsilon, delta in LOSSES:
        for groups in (1, 2, 5, 20):
            each = partition_selection.per_group(Loss(epsilon, delta), groups)
            assert each.epsilon * groups == epsilon
            assert (1 - each.delta) ** groups >= 1 - delta
            assert (1 - each.delta) ** groups <= (1 - delta) * (1 + delta * Fraction(1, 10**12))
            laws = [
                _binomial(groups, partition_selection.release_probability(n, *_of(each)))
                for n in range(60)
            ]
            for p, q in pairwise(laws):
                worst = max(hockey_stick(p, q, float(epsilon)), hockey_stick(q, p, float(epsilon)))
                assert worst <= float(delta) + _ROUNDING, (epsilon, delta, groups, worst)


def _of(loss: Loss) -> tuple[Fraction, Fraction]:
    return loss.epsilon, loss.delta


def _binomial(n: int, probability: Fraction) -> Law:
    p = float(probability)
    return np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


def selection_is_optimal_and_golden() -> None:
    """docs/design/mechanisms.md 4.2; the curve against its closed form; nothing is given away."""
    for text, half in (("1/10", 109), ("1/2", 26), ("1", 14), ("2", 8)):
        chances = [
            partition_selection.release_probability(n, Fraction(text), MILLIONTH)
            for n in (half - 1, half)
        ]
        assert chances[0] < Fraction(1, 2) <= chances[1], (text, chances)
    for epsilon, delta in LOSSES:
        for units in range(0, 320, 3):
            found = partition_selection.release_probability(units, epsilon, delta)
            with localcontext() as context:
                context.prec = 60
                exact = closed_form(units, _decimal(epsilon), _decimal(delta))
                assert exact - Decimal(10) ** -30 <= _decimal(found) <= exact


def _first_half(epsilon: Decimal, delta: Decimal) -> int:
    """n1 of docs/design/mechanisms.md 4.2, which is a ceiling but where the quotient is whole."""
    q = epsilon.exp()
    return 1 + math.floor(((q + 2 * delta - 1) / (delta * (q + 1))).ln() / epsilon)


def closed_form(n: int, epsilon: Decimal, delta: Decimal) -> Decimal:
    """pi_n without the recursion (Desfontaines, Voss, Gipson, Mandayam 2022, theorem 1)."""
    q = epsilon.exp()
    n1 = _first_half(epsilon, delta)

    def rising(m: int) -> Decimal:
        return delta * ((m * epsilon).exp() - 1) / (q - 1)

    if n <= n1:
        return min(rising(n), Decimal(1))
    n2 = n1 + math.floor((1 + (q - 1) * (1 - rising(n1)) / delta).ln() / epsilon)
    if n > n2:
        return Decimal(1)
    left = (-(n - n1) * epsilon).exp()
    return min((1 - left) * (1 + delta / (q - 1)) + left * rising(n1), Decimal(1))


def selections_follow_the_curve() -> None:
    """Sampling: how often groups are shown by `keep`, against the curve.

    Chi-square over group sizes with one degree of freedom each; a false alarm once in a million.
    """
    epsilon, delta = Fraction(1, 2), Fraction(1, 10)
    draws = 3000
    bits = SeededBits(7)
    kept = 0.0
    is_selected = partition_selection.selector(bits, epsilon, delta)
    sizes = range(1, 9)
    for units in sizes:
        chance = float(partition_selection.release_probability(units, epsilon, delta))
        shown = sum(is_selected(units) for _ in range(draws))
        kept += _cell(shown, draws, chance)
    assert chi_square_tail(kept, len(sizes)) > FALSE_ALARM
    for _ in range(300):
        assert not is_selected(0)
        assert is_selected(10**9)


def _cell(shown: int, draws: int, chance: float) -> float:
    spread = draws * chance * (1 - chance)
    if spread == 0:
        assert shown == draws * chance
        return 0.0
    return (shown - draws * chance) ** 2 / spread


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def coins_have_their_bias() -> None:
    """Sampling: exact coins, over exponents below and above 1; a false alarm once in a million."""
    bits = SeededBits(11)
    draws = 5000
    statistic = 0.0
    for text in ("0", "1/7", "1", "3/2", "3"):
        chance = math.exp(-Fraction(text))
        heads = sum(bernoulli.bernoulli_exp(bits, Fraction(text)) for _ in range(draws))
        statistic += _cell(heads, draws, chance)
    assert chi_square_tail(statistic, 4) > FALSE_ALARM


LAYERS = [
    selection_is_private,
    groups_of_one_unit_are_private,
    selection_is_optimal_and_golden,
    selections_follow_the_curve,
    coins_have_their_bias,
]
