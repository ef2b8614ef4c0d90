"""How exact COUNT and SUM are with bounds that are chosen privately: the table of docs/reference/accuracy.md.

    python -m tests.mechanisms.bound_accuracy

Beside the best fixed bound in hindsight, which knows the data and spends all of epsilon on noise, and beside
R2T. Errors are mean absolute ones. Ours is computed, not drawn: the law of the choice, times the error with
each bound. R2T's is the mean of draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import default_rng  # noqa: TID251  draws of a reference, not noise

from proxy.kernel.bound_choices import BoundChoice
from proxy.mechanisms import discrete_laplace, private_bound
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.private_bound import UnitTotals
from proxy.planner.neighbours import chosen_total, noise_loss
from tests.mechanisms.r2t import candidates
from tests.mechanisms.unit_sizes import MOST_ROWS, Sizes, UnitSizes, invented, real
from tests.mechanisms.walk_law import chosen_law

EPSILON = Fraction(8, 10)
_ENOUGH = 4  # times the units that a choice needs: below that there is a NOTICE
_TOP, _TENTH = 100, 0.1
_R2T_RUNS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """top: the part of the sum that the hundred largest units hold; best, ours, r2t: mean absolute errors;
    r2t_median: the median one, since its mean is made by a few runs in a hundred; enough: whether there are so
    many units that no NOTICE says that there are few; answered: how probable an answer is."""

    sizes: UnitSizes
    exact: int
    top: float
    best: float
    ours: float
    r2t: float
    r2t_median: float
    enough: bool
    answered: float

    @property
    def allowed(self) -> int:
        """So many times the best one, at most, is what we want to be."""
        return 3 if self.top < _TENTH else 8

    @property
    def holds(self) -> bool:
        return self.ours <= self.allowed * self.best and self.ours < self.r2t


def totals_in_bands(totals: Sizes, bounds: Sequence[int]) -> UnitTotals:
    """What the product's statement returns, for totals of 0 and more."""
    ordered = np.sort(totals[totals > 0])
    ends = np.append(np.searchsorted(ordered, bounds, side="right"), len(ordered))
    units = np.diff(ends, prepend=0)
    added = np.concatenate([[0], np.cumsum(ordered)])
    sums = np.diff(added[ends], prepend=0)
    return UnitTotals(
        units={band: int(n) for band, n in enumerate(units, 1) if n},
        sums={band: int(s) for band, s in enumerate(sums, 1) if units[band - 1]},
    )


def error(bias: int, scale: Fraction) -> float:
    """E |bias + discrete Laplace|, in closed form: |b| + 2 p^(|b| + 1) / (1 - p^2)."""
    off, b = abs(bias), float(scale)
    return off + 2 * math.exp(-(off + 1) / b) / -math.expm1(-2 / b)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """bounded: the choice that a COUNT or SUM by itself has; scale: of the noise, for a bound of 1."""

    choice: BoundChoice
    scale: Fraction


def chosen(sizes: UnitSizes, loss: Loss) -> Chosen:
    total = chosen_total(loss, (0, sizes.most), MOST_ROWS, 1, None)
    assert total.choice is not None
    noise = noise_loss(loss)
    return Chosen(choice=total.choice, scale=discrete_laplace.scale_for(1, noise.epsilon))


def accuracy(sizes: UnitSizes) -> Accuracy:
    loss = Loss(EPSILON, Fraction(0))
    found = chosen(sizes, loss)
    bounds = found.choice.bounds
    walk = private_bound.walk(found.choice.walk.epsilon)
    bands = totals_in_bands(sizes.totals, bounds)
    exact = int(sizes.totals.sum())
    biases = [exact - bands.clamped(place, bound) for place, bound in enumerate(bounds)]
    law = chosen_law(bands, bounds, walk)
    answered = 1 - law.pop(None)
    ours = sum(
        probability * error(biases[place], found.scale * bounds[place])
        for place, probability in law.items()
        if place is not None
    )
    whole = zip(biases, bounds, strict=True)
    largest = np.sort(sizes.totals)[-_TOP:]
    r2t, r2t_median = _r2t_errors(sizes, exact)
    return Accuracy(
        sizes=sizes,
        exact=exact,
        top=float(largest.sum()) / exact,
        best=min(error(bias, bound / EPSILON) for bias, bound in whole),
        ours=ours / answered,
        r2t=r2t,
        r2t_median=r2t_median,
        enough=len(sizes.totals) >= _ENOUGH * walk.needed,
        answered=answered,
    )


def _r2t_errors(sizes: UnitSizes, exact: int) -> tuple[float, float]:
    """Mean and median of absolute errors."""

    def truncated(threshold: int) -> float:
        return float(np.minimum(sizes.totals, threshold).sum())

    found = candidates(truncated, MOST_ROWS * sizes.most, float(EPSILON))
    drawn = default_rng(3).laplace(0, [one.scale for one in found], (_R2T_RUNS, len(found)))
    answers = np.maximum(0, (drawn + [one.centre for one in found]).max(1))
    errors = np.abs(answers - exact)
    return float(errors.mean()), float(np.median(errors))


def lines(found: Iterable[Accuracy]) -> Iterator[str]:
    """A table in Markdown."""
    yield "| units add | to | units | top 100 | best | ours | R2T | R2T's median | |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in found:
        sizes = one.sizes
        ratios = [_times(error / one.best) for error in (one.ours, one.r2t, one.r2t_median)]
        yield (
            f"| {sizes.name} | {sizes.aggregate} | {len(sizes.totals):,} | {one.top:.1%} | "
            f"{one.best / one.exact:.2g} | {' | '.join(ratios)} | {_verdict(one)} |"
        )


def _verdict(one: Accuracy) -> str:
    if one.answered < 0.99:
        return f"few units: NULL in {1 - one.answered:.0%}"
    if not one.enough:
        return "few units"
    return "" if one.holds else f"over {one.allowed}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 100 else f"{float(f'{ratio:.2g}'):,.0f}"


def main() -> None:
    sets = [*invented(), *real()]
    for line in lines(map(accuracy, sets)):
        print(line, flush=True)
    if not any(real()):
        print("\nReal data is not beside the repository: its rows are left out.")


if __name__ == "__main__":
    main()
