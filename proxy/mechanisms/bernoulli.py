"""Coins of exact bias e^(-x), for a rational x.

Only uniform integers are used, so the bias is exact. Proof: PROOFS.md, "Coins".
"""

from __future__ import annotations

from fractions import Fraction

from proxy.mechanisms.bits import RandomBits


def bernoulli_exp(bits: RandomBits, exponent: Fraction) -> bool:
    """True with probability e^(-exponent), for any exponent >= 0.

    Refuses  a negative exponent with ValueError
    Source   Canonne, Kamath, Steinke 2020, algorithm 1: e^(-x) = e^(-1) .. e^(-1) e^(-rest)
    """
    if exponent < 0:
        raise ValueError("e^(-x) is a probability for x >= 0 only")
    wholes, rest = divmod(exponent.numerator, exponent.denominator)
    for _ in range(wholes):
        if not bernoulli_exp_ratio(bits, 1, 1):
            return False  # so a large exponent costs no more than a few coins
    return bernoulli_exp_ratio(bits, rest, exponent.denominator)


def bernoulli_exp_ratio(bits: RandomBits, numerator: int, denominator: int) -> bool:
    """True with probability e^(-numerator/denominator), for 0 <= numerator <= denominator.

    Source   Canonne, Kamath, Steinke 2020, algorithm 1: the first k at which a Bernoulli(x/k)
             fails is odd with probability e^(-x).
    """
    k = 1
    while bits.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
