"""The error that is stated of a sum of several noisy answers holds as often as it says, computed by the exact
distribution of the sum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from proxy.kernel.plan import LaplaceNoise
from proxy.mechanisms.discrete_laplace import half_width
from proxy.reuse.derivation import added_up

_LEVELS = (Fraction(95, 100), Fraction(975, 1000), Fraction(99, 100), 1 - Fraction(5, 6400))
_SCALES = [Fraction(n, 20) for n in (1, 2, 3, 4, 5, 7, 10, 14, 20, 24, 30, 60, 200)]


@pytest.mark.parametrize("count", (1, 2, 3, 5, 12, 24, 100))
def test_a_sum_is_within_its_interval(count: int) -> None:
    for scale in _SCALES:
        noise = added_up(LaplaceNoise(scale=scale), count)
        assert isinstance(noise, LaplaceNoise)
        reach = int(60 * scale) + 40  # of one; of the sum, so that it does not come round
        size = 2 * (reach + int(12 * count**0.5 * scale)) + 1
        steps = np.arange(-reach, reach + 1)
        ratio = float(np.exp(-1 / float(scale)))
        one = np.zeros(size)
        one[steps % size] = (1 - ratio) / (1 + ratio) * ratio ** np.abs(steps)
        added = np.real(np.fft.ifft(np.fft.fft(one) ** count))
        for level in _LEVELS:
            within = half_width(noise.scale, level)
            held = added[0] + 2 * added[1 : within + 1].sum()
            assert held >= float(level) - 1e-9, (scale, count, level)
