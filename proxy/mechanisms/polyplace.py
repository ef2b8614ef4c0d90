"""Sample and aggregate with PolyPlace noise: the median of m partition outputs, pure epsilon-DP.

S is gamma-smooth with gamma = epsilon / c, and the noise is (S / gamma) Z, with Z symmetric and

    density of Z  proportional to  (1-z)^(c-1)          for 0 <= z <= 1/c,
                                   A (1+z)^-(c+1)       for z >= 1/c.

There is no delta, and far fewer partitions are needed than with Laplace noise. The draw is exact:
the answer is an integer, and random bits are taken until they decide it. Theorem, proof and the
closed distribution: PROOFS.md, "PolyPlace".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.smooth_sensitivity import smooth_sensitivity

DEFAULT_SHAPE = 2
SHAPES = (2, 4, 8)  # powers of two: their roots are square roots, exact in integers

# How many bins the partitions need, relative to the least number: docs/design/mechanisms.md 5.2.
KAPPA_OF_EXTREMES = 1  # MIN, MAX: more partitions drift from the ends
KAPPA_OF_MEANS = 2

_FIRST_BITS = 192


def smoothness(epsilon: Fraction, shape: int = DEFAULT_SHAPE) -> Fraction:
    """gamma = epsilon / c: how fast S may change from one list of outputs to its neighbour.

    Given    epsilon > 0; shape c = 2 (the least noise in the middle), 4 or 8 (lighter tails)
    Refuses  anything else with ValueError
    """
    if epsilon <= 0:
        raise ValueError("epsilon must be above 0")
    if shape not in SHAPES:
        raise ValueError("PolyPlace noise has shape 2, 4 or 8")
    return epsilon / shape


def private_law(
    outputs: Sequence[int], low: int, high: int, epsilon: Fraction, shape: int = DEFAULT_SHAPE
) -> tuple[int, Fraction]:
    """The exact median and the scale S/gamma of its noise. Both are secret.

    Given    an odd number of outputs, low < high
    Refuses  an even number with ValueError: the lower median has another smooth sensitivity
    """
    m = len(outputs)
    if m % 2 == 0:
        raise ValueError("the smoothed median needs an odd number of partitions")
    gamma = smoothness(epsilon, shape)
    clamped = sorted(min(max(output, low), high) for output in outputs)
    rank = (m + 1) // 2
    sensitivity = smooth_sensitivity(clamped, rank, low, high, _float_below(gamma))
    return clamped[rank - 1], noise_scale(sensitivity, gamma)


def noise_scale(sensitivity: float, gamma: Fraction) -> Fraction:
    """S / gamma, by which Z is multiplied: exact, as a float is a fraction."""
    return Fraction(sensitivity) / gamma


def release(
    outputs: Sequence[int],
    low: int,
    high: int,
    epsilon: Fraction,
    shape: int,
    bits: RandomBits,
) -> int:
    """The epsilon-DP median of partition outputs, in low .. high.

    Given    outputs of a fixed, public, odd number of partitions, as grid indices; empty partitions
             filled with a public constant; neighbours differ in one output
    Gives    the integer nearest to median + (S/gamma) Z, clamped to the bounds
    Refuses  an even number of outputs, low > high, and what smoothness refuses, with ValueError
    Source   PROOFS.md, "PolyPlace"
    """
    if low == high and len(outputs) % 2 == 1:
        return low  # the bounds are public and leave one answer
    centre, scale = private_law(outputs, low, high, epsilon, shape)
    return sample(bits, centre, scale, low, high, shape)


def sample(
    bits: RandomBits, centre: int, scale: Fraction, low: int, high: int, shape: int = DEFAULT_SHAPE
) -> int:
    """The integer nearest to centre + scale Z, clamped to low..high: one draw, exact.

    |Z| is the quantile function at a uniform real u of which only leading bits are known. They
    enclose the answer; in almost every draw 192 of them leave one integer, else more are taken.

    Given    low <= centre <= high, scale > 0
    Refuses  anything else with ValueError
    """
    if scale <= 0:
        raise ValueError("noise of scale 0 protects no one")
    if not low <= centre <= high:
        raise ValueError("the centre is not within the bounds")
    negative = bits.below(2) == 1
    distance = centre - low if negative else high - centre
    known = _FIRST_BITS
    leading = bits.below(2**known)
    while True:
        nearest = _nearest(Fraction(leading, 2**known), scale, known, shape, up=False)
        farthest = _nearest(Fraction(leading + 1, 2**known), scale, known, shape, up=True)
        least = distance if nearest is None else min(nearest, distance)
        most = distance if farthest is None else min(farthest, distance)
        if least == most:
            return centre - least if negative else centre + least
        leading = leading * 2**known + bits.below(2**known)
        known *= 2


@cache
def constants(shape: int) -> tuple[Fraction, Fraction, Fraction]:
    """N = the integral of the unnormalised density over z > 0, A = the tail's factor, and 1/c."""
    knee = Fraction(1, shape)
    normaliser = knee * (1 + 2 * knee * (1 - knee) ** (shape - 1))
    factor = (1 - knee) ** (shape - 1) * (1 + knee) ** (shape + 1)
    return normaliser, factor, knee


@cache
def core_mass(shape: int) -> Fraction:
    """P(|Z| <= 1/c)."""
    normaliser, _, knee = constants(shape)
    return (1 - (1 - knee) ** shape) / (shape * normaliser)


def _nearest(u: Fraction, scale: Fraction, known: int, shape: int, up: bool) -> int | None:
    """The integer nearest to scale |Z| at quantile u, from an enclosure's lower or upper end.

    None: infinite, at u = 1.
    """
    if u == 1:
        return None
    normaliser, _, _ = constants(shape)
    if u <= core_mass(shape):
        # 1 - |Z| = (1 - u N c)^(1/c): an upper end of |Z| needs a lower end of the root.
        root = _root(1 - u * normaliser * shape, shape, known, up=not up)
        z = 1 - root
    else:
        # 1 + |Z| = (A / (c N (1-u)))^(1/c)
        z = _root(tail_factor(shape) / (1 - u), shape, known, up=up) - 1
    return max(0, math.floor(scale * z + Fraction(1, 2)))


@cache
def tail_factor(shape: int) -> Fraction:
    normaliser, factor, _ = constants(shape)
    return factor / (shape * normaliser)


def _root(x: Fraction, shape: int, digits: int, up: bool) -> Fraction:
    """x^(1/shape) in steps of 2^-digits, rounded down, or up; shape is a power of two."""
    whole = (x.numerator << (shape * digits)) // x.denominator
    for _ in range(shape.bit_length() - 1):
        whole = math.isqrt(whole)
    return Fraction(whole + 1 if up else whole, 2**digits)


def _float_below(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)
