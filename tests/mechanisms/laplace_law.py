"""The law of a centre plus discrete Laplace noise, and the exact divergence of two such laws.

Independent of the product's sampler: closed forms of the geometric series only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class LaplaceLaw:
    """P(k) = tanh(1/2b) e^(-|k - centre|/b) on the integers."""

    centre: int
    scale: float

    @classmethod
    def of(cls, law: tuple[int, Fraction]) -> LaplaceLaw:
        centre, scale = law
        return cls(centre, float(scale))

    def log_probability(self, k: int) -> float:
        return math.log(math.tanh(1 / (2 * self.scale))) - abs(k - self.centre) / self.scale

    def probability(self, k: int) -> float:
        return math.exp(self.log_probability(k))

    def tail(self, t: int) -> float:
        """P(|k - centre| > t), t >= 0."""
        p = math.exp(-1 / self.scale)
        return 2 * math.exp(-(t + 1) / self.scale) / (1 + p)

    def mass(self, first: float, last: float) -> float:
        """P(first <= k <= last) of an interval on one side of the centre, or from it."""
        if first > last:
            return 0.0
        near, far = first - self.centre, last - self.centre
        if near < 0:
            assert far <= 0
            near, far = -far, -near
        count = far - near + 1
        p = math.exp(-1 / self.scale)
        return math.exp(-near / self.scale) * -math.expm1(-count / self.scale) / (1 + p)


def hockey_stick(p: LaplaceLaw, q: LaplaceLaw, epsilon: float) -> float:
    """The least delta with P(E) <= e^epsilon Q(E) + delta for every event E.

    It is the sum of P(k) - e^epsilon Q(k) where positive. The log ratio is linear between the
    centres and beyond them, so on each of three pieces the positive part is one interval.
    """
    low, high = min(p.centre, q.centre), max(p.centre, q.centre)
    pieces: list[tuple[float, float, int]] = [
        (-INFINITY, low - 1, low - 1),
        (low, high - 1, low),
        (high, INFINITY, high),
    ]
    delta = 0.0
    for first, last, start in pieces:
        if first > last:
            continue
        at_start = p.log_probability(start) - q.log_probability(start)
        step = -1 if first == -INFINITY else 1  # walk away from the start, into the piece
        slope = _slope(p, start, step) - _slope(q, start, step)
        length = last - first
        begin, end = _where_above(at_start - epsilon, slope, length)
        if begin > end:
            continue
        a, b = start + step * begin, start + step * end
        a, b = min(a, b), max(a, b)
        delta += p.mass(a, b) - math.exp(epsilon) * q.mass(a, b)
    return max(0.0, delta)


def _slope(law: LaplaceLaw, start: int, step: int) -> float:
    """Change of the log probability per step from start, within a piece."""
    away = start >= law.centre if step > 0 else start <= law.centre
    return -1 / law.scale if away else 1 / law.scale


def _where_above(value: float, slope: float, length: float) -> tuple[float, float]:
    """The t of 0..length with value + slope t > 0, as an interval (empty: begin > end)."""
    if slope == 0:
        return (0, length) if value > 0 else (1, 0)
    root = -value / slope
    if slope > 0:
        return max(0, math.floor(root) + 1), length
    return 0, min(length, math.ceil(root) - 1)
