"""A noisy answer made more exact: what is missing is drawn once more, and the two are weighed.

rho of Gaussian noise is D^2 / (2 sigma2), so that rho and precision, 1 / sigma2, add up alike: two independent
answers of sigma2 s and t, weighed by their precision, are one of s t / (s + t), and cost together what that one
would. What is shown is a whole number again, so a little more is bought than is missing: ROUNDING.

*Privacy.* The mean is a function of two releases and of a coin, each release with its own rho.

*Error.* Let x, y be the two noises, a = t / (s + t) the weight of x, w = a x + (1 - a) y, r = w rounded to the
nearest whole number, of two equally near ones either by a coin, d = r - w. All laws are symmetric, so r is, and
is not biased. E w^2 <= s t / (s + t), as discrete Gaussian noise has at most its sigma2 as variance. d hangs on
a (x - y) alone, which is uncorrelated with w: E w d is 0, but for e^(-2 pi^2 sigma2). By the Fourier series of
d^2, E d^2 = 1/12 + sum over k >= 1 of (-1)^k f(2 pi k) / (pi k)^2, where f, the characteristic function of w,
is in [0, 1]: at most 1/12 + 1/24 = 1/8, which it is where a = 1/2. So E r^2 <= s t / (s + t) + 1/8; exact sums
of the laws say so for all that is tried (tests/mechanisms/test_topping_up.py).

Source  PROOFS.md 26; docs/adr/0077-missing-precision-is-bought.md
"""

from __future__ import annotations

from fractions import Fraction

from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.real_bounds import short_below

ROUNDING = Fraction(1, 8)  # of the variance, for rounding to whole steps
LEAST = Fraction(1, 2)  # sigma2 below which laws on whole numbers are not like the continuous ones


def missing_sigma2(wanted: Fraction, given: Fraction) -> Fraction | None:
    """The sigma2 of what is to be drawn beside an answer of sigma2 `given`, so that the weighted mean of both,
    rounded, has at most the variance `wanted`.

    Gives    None where that is no help: the answer is as exact already, or hardly any noise is wanted
    Refuses  what is not above 0 with ValueError

    >>> float(missing_sigma2(Fraction(25), Fraction(100)))
    33.11148086522462
    >>> missing_sigma2(Fraction(25), Fraction(20)) is None
    True
    """
    if wanted <= 0 or given <= 0:
        raise ValueError("noise has a variance above 0")
    if wanted < LEAST or given <= wanted:
        return None
    found = short_below(1 / (1 / (wanted - ROUNDING) - 1 / given))
    return found if found > wanted else None


def weighted_mean(
    bits: RandomBits, given: int, given_sigma2: Fraction, bought: int, bought_sigma2: Fraction
) -> int:
    """Two answers about the same, each weighed by its precision, as the nearest whole number.

    Given    two releases with independent noise of at most these variances

    >>> class Heads:
    ...     def below(self, n: int) -> int:
    ...         return 1
    >>> weighted_mean(Heads(), 10, Fraction(3), 20, Fraction(1))  # 17.5
    18
    >>> weighted_mean(Heads(), 10, Fraction(1), 20, Fraction(2))  # 13 1/3
    13
    """
    if given_sigma2 <= 0 or bought_sigma2 <= 0:
        raise ValueError("noise has a variance above 0")
    mean = (given * bought_sigma2 + bought * given_sigma2) / (given_sigma2 + bought_sigma2)
    below, rest = divmod(mean.numerator, mean.denominator)
    is_above = 2 * rest > mean.denominator
    if 2 * rest == mean.denominator:
        is_above = bits.below(2) == 1
    return below + is_above
