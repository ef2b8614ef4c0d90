"""Chi-square test of integer draws against a discrete Laplace law, with an exact p-value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from tests.mechanisms.laplace_law import INFINITY, LaplaceLaw

FALSE_ALARM = 1e-6
DRAWS = 40_000
_CELLS_EACH_SIDE = 12
_LEAST_EXPECTED = 20


def p_value(draw: Callable[[], int], law: LaplaceLaw) -> float:
    """The probability of a fit at least as bad, if the draws follow the law (centred at 0)."""
    edges = _edges(law)
    counted = Counter(_cell(draw(), edges) for _ in range(DRAWS))
    statistic = 0.0
    last = len(edges)
    # Cell 0 is the value 0; cell +-c reaches from edges[c-1] to edges[c] - 1 on its side.
    for cell in range(-last, last + 1):
        if cell == 0:
            expected = DRAWS * law.probability(0)
        else:
            first = edges[abs(cell) - 1]
            end = edges[abs(cell)] - 1 if abs(cell) < last else INFINITY
            expected = DRAWS * law.mass(first, end)
        statistic += (counted[cell] - expected) ** 2 / expected
    return chi_square_tail(statistic, freedom=2 * last)


def _edges(law: LaplaceLaw) -> list[int]:
    """First values of the cells above 0, the last one open: about equally likely, none too rare."""
    edges = [1]
    for cell in range(1, _CELLS_EACH_SIDE):
        edge = math.ceil(-law.scale * math.log(1 - cell / _CELLS_EACH_SIDE))
        if edge > edges[-1] and DRAWS * law.mass(edge, INFINITY) >= _LEAST_EXPECTED:
            edges.append(edge)
    while DRAWS * law.mass(edges[-1] + 1, INFINITY) >= _LEAST_EXPECTED and law.scale < 3:
        edges.append(edges[-1] + 1)
    return edges


def _cell(value: int, edges: list[int]) -> int:
    reached = sum(1 for edge in edges if abs(value) >= edge)
    return reached if value >= 0 else -reached


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
