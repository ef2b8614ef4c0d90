"""Answers printed to the digits that mean something: rounded to a step far below their error. Post-processing.

Only where the scale of the noise is public, or itself released, as the interval shows it: a step that followed
from a private scale would tell of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from proxy.release.noisy_relation import NoisyValue

# 95 % of discrete Laplace noise is within 2.12 standard deviations, of which the step is a twentieth.
_STEPS_IN_HALF_WIDTH = 42
_NICE = (5, 2, 1)


def rounded(value: NoisyValue) -> NoisyValue:
    """The value at the nearest multiple of its step, its interval wider by half a step.

    A quantile stays as it was drawn: as a rule it is a value that rows have.
    """
    if value.half_width is None or value.is_missing:
        return value
    step = step_of(value.half_width)
    if step == 1:
        return value
    at = value.at
    return replace(
        value,
        index=step * ((2 * value.index + step) // (2 * step)),
        half_width=_widened(value.half_width, step),
        at=None if at is None else _wider(at, step),
    )


def step_of(half_width: int) -> int:
    """In grid steps, 1, 2 or 5 times a power of ten, within a 42nd of the half width; 1 where that is less.

    >>> [step_of(half_width) for half_width in (0, 83, 84, 300, 4200)]
    [1, 1, 2, 5, 100]
    """
    most = Fraction(half_width, _STEPS_IN_HALF_WIDTH)
    power = 1
    while 10 * power <= most:
        power *= 10
    return next((nice * power for nice in _NICE if nice * power <= most), 1)


def _wider(at: Callable[[Fraction], int], step: int) -> Callable[[Fraction], int]:
    return lambda level: _widened(at(level), step)


def _widened(half_width: int, step: int) -> int:
    return half_width + -(-step // 2)
