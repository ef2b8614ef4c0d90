"""Two ways of doing the same, timed in turn: what else runs on the machine hits both alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """Of ours: at most so many times the plain one, or so many milliseconds more."""

    ratio: float | None = None
    added_ms: float | None = None

    def __str__(self) -> str:
        if self.ratio is not None:
            return f"<= {self.ratio:g}x"
        return "" if self.added_ms is None else f"< +{self.added_ms:g} ms"


@dataclass(frozen=True)
class Comparison:
    what: str
    plain: Callable[[], object]
    ours: Callable[[], object]
    bound: Bound = Bound()


@dataclass(frozen=True)
class Measured:
    """Milliseconds."""

    what: str
    plain: float
    ours: float
    bound: Bound

    @property
    def ratio(self) -> float:
        return self.ours / self.plain

    @property
    def holds(self) -> bool | None:
        if self.bound.ratio is not None:
            return self.ratio <= self.bound.ratio
        if self.bound.added_ms is not None:
            return self.ours - self.plain < self.bound.added_ms
        return None


def measure(
    comparisons: Sequence[Comparison],
    rounds: int,
    warm: int,
    of_rounds: Callable[[Sequence[float]], float] = statistics.median,
) -> list[Measured]:
    """All of them in turn, in each round; `warm` rounds are not counted."""
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in comparisons]
    for number in range(warm + rounds):
        for comparison, (plain, ours) in zip(comparisons, times, strict=True):
            pair = (_timed(comparison.plain), _timed(comparison.ours))
            if number >= warm:
                plain.append(pair[0])
                ours.append(pair[1])
    return [
        Measured(c.what, of_rounds(plain), of_rounds(ours), c.bound)
        for c, (plain, ours) in zip(comparisons, times, strict=True)
    ]


def table(found: Sequence[Measured], names: tuple[str, str] = ("plain", "ours")) -> str:
    """
    Given    names: of what is compared
    """
    one, other = (f"{name} ms" for name in names)
    width = max(len(m.what) for m in found)
    lines = [f"{'':{width}}  {one:>9}  {other:>9}  {'added':>8}  {'ratio':>6}  bound"]
    for m in found:
        verdict = {True: "  holds", False: "  MISSED", None: ""}[m.holds]
        lines.append(
            f"{m.what:{width}}  {m.plain:9.2f}  {m.ours:9.2f}  {m.ours - m.plain:8.2f}"
            f"  {m.ratio:5.2f}x  {m.bound}{verdict}"
        )
    return "\n".join(line.rstrip() for line in lines)


def _timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1000
