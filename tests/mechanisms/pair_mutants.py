"""Broken covariance, correlation and regression. See mutants.py for the idea."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proxy.estimates import pair_statistics, ratio_mean_estimate
from proxy.kernel import statistics
from proxy.kernel.statistics import Measured, Statistic
from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.estimate import Estimate
from tests.mechanisms import pair_layers
from tests.mechanisms.mutants import SAMPLE, Mutant

OF_ROW = "proxy.kernel.statistics.of_row"
COVARIANCE = "proxy.estimates.pair_statistics._covariance"
CLAMPED = "proxy.estimates.pair_statistics._clamped"
QUOTIENT = "proxy.estimates.pair_statistics._quotient"

# Kept before anything is replaced.
_sample = discrete_laplace.sample
_of_row = statistics.of_row
_ends = ratio_mean_estimate.ends
_clamped = pair_statistics._clamped


def _of_wider_side(statistic: Statistic, measured: Sequence[Measured]) -> tuple[int, int]:
    if statistic is not Statistic.PRODUCTS:
        return _of_row(statistic, measured)
    width = max(one.width for one in measured)
    return -width, width


def _about_the_middle(
    pairs: pair_statistics.Pairs, products: int, first: int, second: int, count: int
) -> Fraction:
    """Without the product of the means: right for columns whose means are in the middle of their bounds."""
    width = Fraction(pairs.first.width * pairs.second.width)
    return _clamped(Fraction(products, count), width) / 4


def _divided_by_nothing(above: Estimate, below: Estimate, reach: Fraction) -> Estimate:
    """A variance that noise has made negative is divided by as it is: by one step at least."""
    value = _clamped(above.value / max(below.value, Fraction(1, 10**6)), reach)
    return Estimate(value=value, least=value, most=value)


def _count_is_exact(result: int, scale: Fraction, level: Fraction) -> tuple[int, int]:
    return (result, result) if scale < 1 else _ends(result, scale, level)


def _narrow(bits: RandomBits, scale: Fraction) -> int:
    return _sample(bits, scale * Fraction(10, 13))


def _wide(bits: RandomBits, scale: Fraction) -> int:
    return _sample(bits, scale * Fraction(13, 10))


MUTANTS = [
    Mutant(
        "pairs: a product moves by the wider of the widths",
        pair_layers.pairs_are_private,
        (OF_ROW,),
        _of_wider_side,
    ),
    Mutant(
        "pairs: noise 30 % too small, seen by draws",
        pair_layers.pair_errors_are_the_closed_form,
        (SAMPLE,),
        _narrow,
    ),
    Mutant(
        "pairs: noise 30 % too large, seen by draws",
        pair_layers.pair_errors_are_the_closed_form,
        (SAMPLE,),
        _wide,
    ),
    Mutant(
        "pairs: covariance without the product of the means",
        pair_layers.pairs_without_noise_are_exact,
        (COVARIANCE,),
        _about_the_middle,
    ),
    Mutant(
        "pairs: not clamped",
        pair_layers.pairs_are_clamped,
        (CLAMPED,),
        lambda value, reach: value,
    ),
    Mutant(
        "pairs: a quotient by a variance of nothing",
        pair_layers.pairs_that_cannot_be_told,
        (QUOTIENT,),
        _divided_by_nothing,
    ),
    Mutant(
        "pairs: interval without the count's noise",
        pair_layers.pair_intervals_are_the_extremes,
        ("proxy.estimates.pair_statistics.ends",),
        _count_is_exact,
    ),
]
