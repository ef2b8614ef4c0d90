"""Smooth sensitivity of an order statistic, in O(m log m).

S*(a) = max over datasets y of LS(y) e^(-beta d(a,y)), with d the number of substituted outputs.
For the r-th smallest of m outputs, padded by a_0 = low and a_(m+1) = high, this is

    max over 0 <= i <= r <= j <= m+1, i < j  of  (a_j - a_i) e^(-beta (j-i-1)).

Proof of the formula, of the algorithm and of its rounding: PROOFS.md 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Grid indices up to here are exact as floats, and so are their differences.
LARGEST_INDEX = 2**52

# What rounding may do to a product (a_j - a_i) e^(-beta k), relative, is below 2^-46 (PROOFS.md).
# Betas of real budgets are well within these limits: epsilon 1e-6 gives 2e-8, epsilon 1e6 gives 10.
SMALLEST_BETA = 2.0**-30
LARGEST_BETA = 16.0
_BETA_MARGIN = 2.0**-40
_VALUE_MARGIN = 1 + 2.0**-40
_TIE = 1 - 2.0**-44

_BLOCK = 16384  # cells of a block that numpy finishes faster than two more cuts would
_FEW_ROWS = 8


def smooth_sensitivity(
    outputs: Sequence[int], rank: int, low: int, high: int, beta: float, floor: float = 1.0
) -> float:
    """A beta-smooth upper bound on the local sensitivity of the rank-th smallest output.

    Given    outputs in low..high (clamped again here), any order; 1 <= rank <= len(outputs)
    Gives    max(S*, floor), rounded so that it is beta-smooth and no local sensitivity exceeds it;
             the floor, one grid step, keeps the scale above 0 when all outputs are equal
    Refuses  a rank, bounds, beta or floor out of range with ValueError
    Source   Nissim, Raskhodnikova, Smith 2007, section 3.1; re-derived in PROOFS.md

    >>> round(smooth_sensitivity([0, 5, 10], 2, 0, 10, 0.5), 6)
    6.065307
    """
    m = len(outputs)
    if not 1 <= rank <= m:
        raise ValueError("the rank is not one of the outputs'")
    if not -LARGEST_INDEX <= low < high <= LARGEST_INDEX:
        raise ValueError("bounds need low < high within 2^52 grid steps")
    if not SMALLEST_BETA <= beta <= LARGEST_BETA:
        raise ValueError("beta is out of range")
    if not floor >= 1:
        raise ValueError("the floor is at least one grid step")

    # Neighbouring weights differ by less than e^beta even after rounding: that is smoothness.
    steeper = beta - max(1.0, beta) * _BETA_MARGIN
    weight = np.exp(-steeper * np.arange(m + 1))
    padded = np.empty(m + 2)
    padded[0], padded[-1] = low, high
    padded[1:-1] = np.sort(np.clip(np.asarray(outputs, dtype=np.int64), low, high))

    lefts, rights = _candidates(padded, rank)
    best = max(floor, _lower_bound(padded, lefts, rights, rank, weight))
    # With j-i-1 = k no product exceeds (high-low) e^(-beta k): far pairs cannot win.
    distance = int(math.log((high - low) / best) / steeper) + 2 if best < high - low else 2
    lefts = lefts[lefts >= rank - distance]
    rights = rights[rights <= rank + distance]
    return max(best, _greatest_product(padded, lefts, rights, weight)) * _VALUE_MARGIN


def _candidates(
    padded: NDArray[np.float64], rank: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices i <= rank and j >= rank worth trying: of equal values the one nearest to the rank."""
    left, right = padded[: rank + 1], padded[rank:]
    lefts = np.flatnonzero(np.append(left[1:] > left[:-1], True))
    rights = rank + np.flatnonzero(np.append(True, right[1:] > right[:-1]))
    return lefts, rights


def _lower_bound(
    padded: NDArray[np.float64],
    lefts: NDArray[np.intp],
    rights: NDArray[np.intp],
    rank: int,
    weight: NDArray[np.float64],
) -> float:
    """The best pair with one end at the rank, or nearly symmetric about it: cheap, often close."""
    from_rank = _products(padded, np.full_like(rights, rank), rights, weight).max()
    to_rank = _products(padded, lefts, np.full_like(lefts, rank), weight).max()
    mirrored = np.minimum(2 * rank - lefts, len(padded) - 1)
    symmetric = _products(padded, lefts, mirrored, weight).max()
    return float(max(from_rank, to_rank, symmetric))


def _greatest_product(
    padded: NDArray[np.float64],
    lefts: NDArray[np.intp],
    rights: NDArray[np.intp],
    weight: NDArray[np.float64],
) -> float:
    """Divide and conquer over the rows i: the best column j does not decrease as i grows.

    (a_j - a_i) e^(-beta j) is, for each j, a line in a_i that falls less steeply the larger j is.
    Rounding can only confuse columns whose products are equal up to 2^-44, so both halves keep all
    of those: no pair is lost to rounding.
    """
    best = 0.0
    stack = [(0, len(lefts) - 1, 0, len(rights) - 1)]
    while stack:
        row_low, row_high, column_low, column_high = stack.pop()
        if row_low > row_high:
            continue
        columns = rights[column_low : column_high + 1]
        rows = row_high - row_low + 1
        if rows * len(columns) <= _BLOCK or rows < _FEW_ROWS:
            block = lefts[row_low : row_high + 1, None]
            best = max(best, float(_products(padded, block, columns[None, :], weight).max()))
            continue
        middle = (row_low + row_high) // 2
        products = _products(padded, lefts[middle], columns, weight)
        top = float(products.max())
        best = max(best, top)
        ties = np.flatnonzero(products >= top * _TIE)
        stack.append((row_low, middle - 1, column_low, column_low + int(ties[-1])))
        stack.append((middle + 1, row_high, column_low + int(ties[0]), column_high))
    return best


def _products(
    padded: NDArray[np.float64],
    i: NDArray[np.intp] | np.intp,
    j: NDArray[np.intp],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(a_j - a_i) e^(-beta (j-i-1)); 0 where i = j, whatever the weight."""
    product: NDArray[np.float64] = (padded[j] - padded[i]) * weight[np.maximum(j - i - 1, 0)]
    return product
