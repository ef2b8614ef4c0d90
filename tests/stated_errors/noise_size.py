"""Samplers whose noise is not of the size that is stated: what tests of stated errors have to find."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from unittest import mock

from proxy.mechanisms import discrete_gaussian, discrete_laplace
from proxy.mechanisms.bits import RandomBits

NONE = Fraction(0)


@contextmanager
def noise_times(factor: Fraction) -> Iterator[None]:
    """Of discrete Laplace and Gaussian noise; factor 0: there is none."""
    laplace, gaussian = discrete_laplace.sample, discrete_gaussian.sample

    def of_laplace(bits: RandomBits, scale: Fraction) -> int:
        return laplace(bits, scale * factor) if factor else 0

    def of_gaussian(bits: RandomBits, sigma2: Fraction) -> int:
        return gaussian(bits, sigma2 * factor**2) if factor else 0

    with (
        mock.patch.object(discrete_laplace, "sample", of_laplace),
        mock.patch.object(discrete_gaussian, "sample", of_gaussian),
    ):
        yield
