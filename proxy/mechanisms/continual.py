"""Noise of a series of releases, one for each step, of which the running total has little noise.

Each step has an exact whole number x_t. R is a lower triangular Toeplitz matrix of whole numbers, `factor` its
first column. What is private is y = R x + z, with z discrete Gaussian and independent. What is shown is a
function of y: the running total of x + R^-1 z, rounded. So x_t itself gets the noise that `step_noises` makes
of z, and the noise of a total is the rounded sum of R^-1 z up to there: large parts of z cancel.

A list of steps that are all there may be drawn at once, by the same R: then it is a hierarchy over ranges of
steps, made consistent. Of Gaussian noise each such hierarchy with least squares has the law of some square R.

No float takes part in a draw. Which factor is best, and how exact the result is: estimates/series_noise.py.
Proof: PROOFS.md 33.

Source  Fichtenberger, Henzinger, Upadhyay 2023, "Constant matters" (the factor of exponent 1/2); Denisov,
        McMahan, Rush, Smith, Guha Thakurta 2022 (streams that are chosen adaptively)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

SCALE = 2**16
LARGEST_STEPS = 1100
_FINER = 48  # bits, below those of SCALE


def factor_of(steps: int, eighths: int) -> tuple[int, ...]:
    """The first column of R: the coefficients of (1 - x)^-(eighths / 8), as whole numbers of 1 / SCALE.

    At 0 the noise of each step is independent of the others'. At 4 R is the square root of the matrix of
    running totals. Rounding changes the factor, never what follows of it: the noise is made with this very
    factor.

    >>> factor_of(4, 0), factor_of(4, 4)
    ((65536, 0, 0, 0), (65536, 32768, 24576, 20480))
    """
    value, found = SCALE << _FINER, []
    for step in range(steps):
        if step:
            value = value * (8 * (step - 1) + eighths) // (8 * step)
        found.append(value >> _FINER)
    return tuple(found)


def is_factor(factor: Sequence[int]) -> bool:
    """Whether `squared_sensitivity` holds: it begins above 0, does not rise, and is never below 0.

    >>> is_factor((2, 1, 1, 0)), is_factor((1, 2)), is_factor((1, -1)), is_factor((0, 0)), is_factor(())
    (True, False, False, False, False)
    """
    falls = all(left >= right for left, right in pairwise(factor))
    return bool(factor) and factor[0] > 0 and factor[-1] >= 0 and falls


def squared_sensitivity(factor: Sequence[int], most_steps: int, each: int) -> int:
    """Bound the squared length of R d over all d that one unit can bring.

    Privacy: d is not 0 in at most `most_steps` steps, wherever these are, and within +-each there. The bound is
    the largest such length, exactly: that of `each` in the first `most_steps` steps (PROOFS.md 33 C2).

    Args:
        factor: As `is_factor` says.
        most_steps: At least 1.
        each: At least 0.

    Raises:
        ValueError: Anything else.

    >>> squared_sensitivity((1, 0, 0), 2, 3)  # independent noise: two steps of 3 each
    18
    >>> squared_sensitivity((2, 1, 1), 1, 1), squared_sensitivity((2, 1, 1), 2, 1)
    (6, 17)
    """
    if not is_factor(factor) or most_steps < 1 or each < 0:
        raise ValueError("no factor that falls, or no bound on steps")
    total, window = 0, 0
    for step, coefficient in enumerate(factor):
        window += coefficient
        if step >= most_steps:
            window -= factor[step - most_steps]
        total += window**2
    return total * each**2


def total_noises(factor: Sequence[int], drawn: Sequence[int]) -> list[int]:
    """The noise of the running total after each step, rounded to whole numbers.

    Args:
        factor: Of at least as many steps as are drawn.
        drawn: z, of each step so far.

    Returns:
        The sums of R^-1 z, exact before they are rounded. A later step changes no earlier one.

    >>> total_noises((2, 0, 0), [2, 4, -8])
    [1, 3, -1]
    >>> total_noises((2, 2, 2), [4, 4, 4])  # R^-1 z = 2, 0, 0
    [2, 2, 2]
    """
    if not is_factor(factor) or len(drawn) > len(factor):
        raise ValueError("more steps than the factor has")
    first = factor[0]
    whole = first ** len(drawn)  # w_t first^(t + 1) is a whole number
    noises: list[int] = []
    totals, total = [], 0
    for step, one in enumerate(drawn):
        earlier = sum(factor[step - at] * noise for at, noise in enumerate(noises))
        noise, rest = divmod(one * whole - earlier, first)
        assert rest == 0, "a whole number of the common denominator"
        noises.append(noise)
        total += noise
        totals.append((2 * total + whole) // (2 * whole))
    return totals


def step_noises(factor: Sequence[int], drawn: Sequence[int]) -> list[int]:
    """The noise of each step: what the noise of the running total grows by.

    >>> step_noises((2, 2, 2), [4, 4, 4])
    [2, 0, 0]
    """
    totals = total_noises(factor, drawn)
    return [right - left for left, right in zip([0, *totals], totals, strict=False)]
