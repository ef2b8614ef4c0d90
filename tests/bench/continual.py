"""Error of a published series beside independent noise of each day, at equal rho.

`python -m tests.bench.continual` draws both by the product's samplers, and prints a table. Independent noise is
what one release of all days would have. No data is read: the error is that of the noise, which does not depend
on it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from proxy.estimates import series_noise
from proxy.mechanisms import continual, discrete_gaussian, zcdp
from tests.seeded_bits import SeededBits

_DAYS, _MONTH = 365, 30
_EPSILON, _DELTA = Fraction(2), Fraction(1, 10**6)
_SERIES = 100
_SUMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "one day": lambda days: days,
    "30 days in a row": lambda days: days[:, : _DAYS // _MONTH * _MONTH].reshape(-1, _MONTH).sum(1),
    "running total, on average": lambda days: days.cumsum(1),
    "all 365 days": lambda days: days.sum(1),
}
_RANGES = ("any range, on average", "the worst range")


def errors(factor: tuple[int, ...], most_days: int, bits: SeededBits) -> Sequence[float]:
    """The root of the mean square error of each sum, of a count to which a unit adds 1 a day."""
    rho = zcdp.rho_of_loss(_EPSILON, _DELTA)
    moved = continual.squared_sensitivity(factor, most_days, 1)
    sigma2 = discrete_gaussian.sigma2_for(moved, rho)
    drawn = (
        continual.step_noises(factor, [discrete_gaussian.sample(bits, sigma2) for _ in factor])
        for _ in range(_SERIES)
    )
    days = np.array(list(drawn), float)
    found = [math.sqrt((of(days) ** 2).mean()) for of in _SUMS.values()]
    totals = np.pad(days.cumsum(1), ((0, 0), (1, 0)))
    size = totals.shape[1]
    pairs = size * (totals**2).sum(1) - totals.sum(1) ** 2  # of (T_j - T_i)^2, over all i < j
    found.append(math.sqrt(pairs.mean() / (size * (size - 1) / 2)))
    found.append(math.sqrt(series_noise.largest_sum_sigma2(factor, sigma2)))  # by its formula
    return found


def lines() -> Iterator[str]:
    """A table in Markdown."""
    names = [*_SUMS, *_RANGES]
    yield f"| days a unit | noise | {' | '.join(names)} |"
    yield f"|{'---|' * (len(names) + 2)}"
    for most_days in (1, 7, 30, 90):
        alone = errors(continual.factor_of(_DAYS, 0), most_days, SeededBits(most_days))
        chosen = series_noise.best_factor(_DAYS, most_days)
        series = errors(chosen, most_days, SeededBits(most_days + 1))
        yield f"| {most_days} | independent | {' | '.join(f'{one:.1f}' for one in alone)} |"
        ratios = zip(series, alone, strict=True)
        shown = (f"{one:.1f} ({other / one:.1f} times less)" for one, other in ratios)
        yield f"| {most_days} | series | {' | '.join(shown)} |"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lines())
