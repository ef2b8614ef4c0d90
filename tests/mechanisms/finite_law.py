"""Laws on finitely many outcomes: their exact divergences, and a chi-square test of draws.

Independent of the product: arrays of probabilities only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Law = NDArray[np.float64]

_LEAST_EXPECTED = 20


def log_ratio(p: Law, q: Law) -> float:
    """max |ln p/q|: the least epsilon of pure privacy; infinite where only one is possible."""
    possible = (p > 0) | (q > 0)
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(p[possible]) - np.log(q[possible])).max())


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    """The least delta with P(E) <= e^epsilon Q(E) + delta for every event E."""
    return math.fsum(np.maximum(p - math.exp(epsilon) * q, 0))


def p_value(draw: Callable[[], int], law: Law, first: int, draws: int) -> float:
    """The probability of a fit at least as bad, if the draws follow the law on first, first+1, .."""
    return fit_of(Counter(draw() for _ in range(draws)), law, first)


def fit_of(drawn: Counter[int], law: Law, first: int) -> float:
    """As `p_value`, of outcomes that were counted."""
    draws = drawn.total()
    counted = Counter({outcome - first: number for outcome, number in drawn.items()})
    if counted and not 0 <= min(counted) <= max(counted) < len(law):
        return 0.0
    cells = _cells(law * draws)
    assert len(cells) >= 3, "one cell fits everything"
    statistic = 0.0
    for begin, end in cells:
        expected = float(law[begin:end].sum()) * draws
        observed = sum(counted[k] for k in range(begin, end))
        statistic += (observed - expected) ** 2 / expected
    return chi_square_tail(statistic, freedom=len(cells) - 1)


def _cells(expected: Law) -> list[tuple[int, int]]:
    """Ranges of outcomes, each expected often enough; an odd number of them."""
    cells: list[tuple[int, int]] = []
    begin, inside = 0, 0.0
    for k, value in enumerate(expected):
        inside += value
        if inside >= _LEAST_EXPECTED:
            cells.append((begin, k + 1))
            begin, inside = k + 1, 0.0
    cells[-1] = (cells[-1][0], len(expected))
    if len(cells) % 2 == 0:  # the tail's closed form is for even degrees of freedom
        cells[-2:] = [(cells[-2][0], cells[-1][1])]
    return cells


def normalised(weights: Sequence[float] | Law) -> Law:
    values = np.asarray(weights, dtype=np.float64)
    law: Law = values / values.sum()
    return law


def chi_square_tail(statistic: float, freedom: int) -> float:
    """P(chi-square > statistic) in closed form for even degrees of freedom."""
    assert freedom % 2 == 0
    half = statistic / 2
    if half > 700:
        return 0.0
    term = total = math.exp(-half)
    for i in range(1, freedom // 2):
        term *= half / i
        total += term
    return total
