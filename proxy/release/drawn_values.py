"""What was drawn, before it is written as a value: private already, and all that an answer needs beside the
plan.

Plain data that can be cached: whatever is made of it (`noisy_value`, `presenting`) is post-processing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proxy.kernel.plan import BlockPlan
from proxy.mechanisms.deviation_mean import NoisyDeviations
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.mechanisms.recentred_mean import NoisyMeanSums


@dataclass(frozen=True, slots=True)
class DrawnNumber:
    """A noisy sum or count in its finest steps, or what a median or mean of partitions gave."""

    index: int


@dataclass(frozen=True, slots=True)
class DrawnQuantile:
    """An order statistic; size: the noisy number of its rows, in parts, None of units; lost: estimated number
    of rows of its group that weights take away."""

    index: int
    size: int | None = None
    lost: int = 0


@dataclass(frozen=True, slots=True)
class DrawnNothing:
    """NULL: by a noisy number there were too few units."""


NOTHING = DrawnNothing()
Drawn = DrawnNumber | NoisyMeanSums | NoisyDeviations | NoisySquares | DrawnQuantile | DrawnNothing
Keys = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """values: by the number of their release."""

    keys: Keys
    values: tuple[Drawn, ...]


@dataclass(frozen=True, slots=True)
class DrawnBlock:
    """All that one block releases, but the choice of its bounds; groups in the order in which they show."""

    groups: tuple[DrawnGroup, ...]


def round_half_up(numerator: int, denominator: int) -> int:
    """
    >>> round_half_up(5, 2), round_half_up(-5, 2)
    (3, -2)
    """
    return (2 * numerator + denominator) // (2 * denominator)


def ordered_groups(plan: BlockPlan, displayed: Iterable[Keys]) -> Iterable[Keys]:
    """All public groups in the policy's order; of private ones those that are shown."""
    if plan.combinations is not None or plan.selection is None:
        return plan.listed_groups
    # Sorted by text: the order of the data must not show. NULL comes last, as in PostgreSQL.
    return sorted(displayed, key=lambda keys: tuple((text is None, text or "") for text in keys))
