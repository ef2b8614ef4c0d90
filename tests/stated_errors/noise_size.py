"""Samplers whose noise is not of the size that is stated: what tests of stated errors have to find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from unittest import mock

from proxy.estimates import deviation_mean_estimate, deviation_variance_estimate
from proxy.mechanisms import deviation_mean, deviation_variance, discrete_gaussian, discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.deviation_mean import (
    PARTS,
    GroupDeviations,
    GroupRows,
    NoisyCentres,
    NoisyDeviations,
)
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.release import null_answers

NONE = Fraction(0)


@contextmanager
def noise_times(factor: Fraction) -> Iterator[None]:
    """Of discrete Laplace and Gaussian noise; factor 0: there is none, nothing is NULL for its size, and means
    of deviations are those of all rows, of which they are said to be."""
    laplace, gaussian = discrete_laplace.sample, discrete_gaussian.sample

    def of_laplace(bits: RandomBits, scale: Fraction) -> int:
        return laplace(bits, scale * factor) if factor else 0

    def of_gaussian(bits: RandomBits, sigma2: Fraction) -> int:
        return gaussian(bits, sigma2 * factor**2) if factor else 0

    with (
        _without_bounds() if not factor else nullcontext(),
        mock.patch.object(discrete_laplace, "sample", of_laplace),
        mock.patch.object(discrete_gaussian, "sample", of_gaussian),
    ):
        yield


@contextmanager
def _without_bounds() -> Iterator[None]:
    with (
        mock.patch.object(deviation_mean, "noisy", _exact_means),
        mock.patch.object(deviation_mean_estimate, "exists", lambda *_: True),
        mock.patch.object(deviation_variance, "noisy", _exact_squares),
        mock.patch.object(deviation_variance_estimate, "is_too_inexact", lambda *_: False),
        mock.patch.object(null_answers, "null_reason", lambda _: None),
    ):
        yield


def _exact_means(
    groups: Sequence[GroupRows],
    deviations: Sequence[GroupDeviations],
    units: Mapping[int, int],
    centres: NoisyCentres,
    *others: object,
) -> tuple[NoisyDeviations, ...]:
    """Of all rows of each group, whatever a bound would cut."""
    assert not centres.is_single, "deviations of units, not of rows"
    return tuple(
        NoisyDeviations(
            units=10**9,
            is_few=False,
            is_single=False,
            centre=centre,
            count=PARTS * sum(rows.rows.values()),
            total=PARTS * sum(own.sums.values()),
            rows=1,
            bound=1,
            lost_rows=0,
            lost=0,
        )
        for rows, own, centre in zip(groups, deviations, centres.centres, strict=True)
    )


def _exact_squares(
    means: Sequence[NoisyDeviations], squares: Sequence[GroupDeviations], *others: object
) -> tuple[NoisySquares, ...]:
    """Of all rows of each group."""
    return tuple(
        NoisySquares(mean=mean, total=PARTS * sum(own.sums.values()), bound=1, lost=0)
        for mean, own in zip(means, squares, strict=True)
    )
