"""R2T, race to the top: the published private truncation that our choice of bounds is compared with.

Source: Dong, Fang, Yi, Tao, Machanavajjhala, "R2T: Instance-optimal truncation for differentially private
query evaluation with foreign keys", SIGMOD 2022. A total is truncated at 2, 4, 8 .. up to a public largest one;
each result gets its share of noise and is lowered by as much as that noise seldom exceeds, so that with
probability 1 - beta none is above the truth; the largest is the answer. Floats: a reference, not the product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

BETA = 0.1


def thresholds(largest: int) -> tuple[int, ...]:
    """Powers of two from 2 to the first that is largest or more.

    >>> thresholds(10), thresholds(16)
    ((2, 4, 8, 16), (2, 4, 8, 16))
    """
    return tuple(2**j for j in range(1, _steps(largest) + 1))


def _steps(largest: int) -> int:
    return max(1, (largest - 1).bit_length())


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One result: its centre, from which what the noise seldom exceeds is taken off, and its Laplace scale."""

    centre: float
    scale: float


def candidates(
    truncated: Callable[[int], float], largest: int, epsilon: float, beta: float = BETA
) -> Sequence[Candidate]:
    """
    Given    truncated: the query's answer with each unit's total cut at a threshold; for COUNT and SUM without
             self-joins the sum of what is cut; largest: of one total, public, 2 at least
    """
    steps = _steps(largest)
    found = []
    for threshold in thresholds(largest):
        scale = steps * threshold / epsilon
        centre = truncated(threshold) - math.log(steps / beta) * scale
        found.append(Candidate(centre=centre, scale=scale))
    return found


def answer(candidates: Sequence[Candidate], noise: Callable[[float], float]) -> float:
    """
    Given    noise: of a scale to a draw of Laplace noise
    Gives    the largest of all candidates, and of 0, which is the answer truncated at 0
    """
    return max(0.0, *(one.centre + noise(one.scale) for one in candidates))
