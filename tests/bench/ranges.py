"""Error of ranges of published days beside independent noise of each day, at equal rho, by exact variances.

`python -m tests.bench.ranges` prints, for 365 days and a unit in some of them, how many times less the error
is: of the factor that `ranges: day` takes, of that of a series, of trees of days with least squares; and the
most that any factor could gain on average. Rounding to whole numbers, of a variance below 1/6, is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from proxy.estimates import series_noise

_DAYS = 365
_LENGTHS = (1, 7, 30, 91)
_ROUNDS = 20
_GAPS = (1, 2, 3, 5, 7, 14, 30)


def _toeplitz(factor: tuple[int, ...]) -> np.ndarray:
    found = np.zeros((_DAYS, _DAYS))
    for day in range(_DAYS):
        found[day:, day] = factor[: _DAYS - day]
    return found / factor[0]


def _tree(branches: int, exponent: float) -> np.ndarray:
    """A row for each node of each level, whose weight is a power of its days."""
    rows, size = [], 1
    while True:
        for begin in range(0, _DAYS, size):
            row = np.zeros(_DAYS)
            row[begin : begin + size] = size**exponent
            rows.append(row)
        if size >= _DAYS:
            return np.array(rows)
        size *= branches


def _of_all_windows(gram: np.ndarray, days: int) -> float:
    """The squared sensitivity, of days in a row, which are the worst: neighbouring days share most nodes."""
    sums = np.pad(gram.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    begins = np.arange(_DAYS - days + 1)
    ends = begins + days
    corners = sums[ends, ends] - sums[begins, ends] - sums[ends, begins] + sums[begins, begins]
    return float(corners.max())


def _of_ranges(gram: np.ndarray) -> np.ndarray:
    """The variance of each range by its ends, for z of variance 1: least squares have the inverse."""
    sums = np.pad(np.linalg.inv(gram).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    squares = np.diag(sums)
    found: np.ndarray = squares[:, None] + squares[None, :] - 2 * sums
    return found


def _gains(gram: np.ndarray, days: int) -> list[float]:
    """The worst range, all ranges on average, and ranges of some lengths: independent noise over this one."""
    variances = _of_ranges(gram) * _of_all_windows(gram, days)
    first, last = np.triu_indices(_DAYS + 1, 1)
    every, alone = variances[first, last], days * (last - first)
    lengths = (days * one / np.diag(variances, one).mean() for one in _LENGTHS)
    found = [alone.max() / every.max(), alone.mean() / every.mean(), *lengths]
    return [float(one) ** 0.5 for one in found]


def _root(of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The square root of a matrix, and its inverse."""
    values, vectors = np.linalg.eigh(of)
    roots = np.sqrt(np.maximum(values, 1e-12))
    return (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T


def most_gain(days: int) -> float:
    """What no factor exceeds, on average over all ranges.

    The sensitivity is at least the mean over any mixture of sets of days, so each mixture bounds the error from
    below; the mixture is improved in steps. Sets are days in a row, days with gaps, and all others alike.
    """
    place = np.arange(_DAYS)
    wanted = (np.minimum.outer(place, place) + 1.0) * (_DAYS - np.maximum.outer(place, place))
    wanted /= _DAYS * (_DAYS + 1) / 2
    sets = []
    for gap in _GAPS:
        for begin in range(_DAYS - (days - 1) * gap):
            row = np.zeros(_DAYS)
            row[begin : begin + (days - 1) * gap + 1 : gap] = 1
            sets.append(row)
    share = days / _DAYS
    paired = share * (days - 1) / (_DAYS - 1)
    others = np.eye(_DAYS) * (share - paired) + paired
    of_sets, weights, best = np.array(sets), np.ones(len(sets) + 1) / (len(sets) + 1), 0.0
    for _ in range(_ROUNDS):
        mixed = (of_sets.T * weights[:-1]) @ of_sets + weights[-1] * others + 1e-9 * np.eye(_DAYS)
        root, inverse = _root(mixed)
        inner, _ = _root(root @ wanted @ root)
        best = max(best, float(np.trace(inner)) ** 2)
        gram = inverse @ inner @ inverse
        moved = np.einsum("ij,ij->i", of_sets @ gram, of_sets)
        weights *= np.append(moved, (others * gram).sum()) ** 0.7
        weights /= weights.sum()
    return float((days * np.trace(wanted) / best) ** 0.5)


def lines() -> Iterator[str]:
    """A table in Markdown."""
    names = [
        "worst range",
        "all ranges",
        *(f"{one} days" if one > 1 else "a day" for one in _LENGTHS),
    ]
    yield f"| days a unit | noise | {' | '.join(names)} |"
    yield f"|{'---|' * (len(names) + 2)}"
    for days in (1, 7, 30):
        square = series_noise.best_range_factor(_DAYS, days), series_noise.best_factor(_DAYS, days)
        ranges, series = map(_toeplitz, square)
        strategies = {
            "`ranges: day`": ranges,
            "`continual`": series,
            "binary tree": _tree(2, 0),
            "binary tree, weighted": _tree(2, -0.25 if days < 30 else -0.5),
            "tree of 16 branches": _tree(16, 0),
        }
        for name, rows in strategies.items():
            texts = (f"{one:.2f}" for one in _gains(rows.T @ rows, days))
            yield f"| {days} | {name} | {' | '.join(texts)} |"
        yield f"| {days} | no factor gains more |  | {most_gain(days):.2f} |{'  |' * len(_LENGTHS)}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lines())
