"""Neighbouring lists of partition outputs: one output substituted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

Outputs = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Universe:
    """Sorted lists of `m` outputs in low..high and pairs of them that differ in one output."""

    low: int
    high: int
    pairs: tuple[tuple[Outputs, Outputs], ...]

    @property
    def lists(self) -> list[Outputs]:
        return sorted({outputs for pair in self.pairs for outputs in pair})


def multisets(m: int, steps: int, spread: int = 1) -> list[Outputs]:
    """All multisets of m values among 0, spread, .., steps * spread."""
    return list(combinations_with_replacement(range(0, steps * spread + 1, spread), m))


def substitutions(outputs: Outputs, values: list[int]) -> Iterator[Outputs]:
    """Every list with one output replaced by one of the values, sorted, none twice."""
    seen = {outputs}
    for place in range(len(outputs)):
        for value in values:
            other = tuple(sorted((*outputs[:place], value, *outputs[place + 1 :])))
            if other not in seen:
                seen.add(other)
                yield other


def all_multiset_pairs(m: int, steps: int, spread: int = 1) -> Universe:
    values = list(range(0, steps * spread + 1, spread))
    pairs = {
        (min(a, b), max(a, b))
        for a in multisets(m, steps, spread)
        for b in substitutions(a, values)
    }
    return Universe(0, steps * spread, tuple(sorted(pairs)))


def two_point_pairs(m: int, high: int) -> Universe:
    """Lists of m outputs on two values, each beside all its substitutions by four values.

    They hold the known worst cases: straddling the median (32/33 of 65), and far from it (20/21),
    where the medians agree and only the scales differ.
    """
    pairs = set()
    for x, y in (
        (0, high),
        (0, 1),
        (high - 1, high),
        (high * 2 // 5, high * 3 // 5),
        (0, high // 2),
    ):
        for count in range(m + 1):
            outputs = (x,) * (m - count) + (y,) * count
            for other in substitutions(outputs, sorted({0, x, y, high})):
                pairs.add((min(outputs, other), max(outputs, other)))
    return Universe(0, high, tuple(sorted(pairs)))
