"""Privacy loss as the ledger keeps it: decimals of fixed length, charges rounded up, limits down.

Rounding only ever costs the analyst, and less than one part in 10^18: the ledger's sum is never
below the sum of the exact losses.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from proxy.mechanisms.loss import Loss
from proxy.mechanisms.zcdp import rho_of_loss

EPSILON_DECIMALS = 18
DELTA_DECIMALS = 30
RHO_DECIMALS = 30
_EXACT = Context(prec=400)


class Amount(NamedTuple):
    """A sum of losses, in whole steps of the ledger. Unlike a `Loss`, delta may exceed 1."""

    epsilon: Fraction
    delta: Fraction

    def fits(self, limit: Amount) -> bool:
        return self.epsilon <= limit.epsilon and self.delta <= limit.delta


def charge(loss: Loss) -> Amount:
    """
    >>> charge(Loss(Fraction(1, 3), Fraction(0))).epsilon > Fraction(1, 3)
    True
    """
    return Amount(_ceil(loss.epsilon, EPSILON_DECIMALS), _ceil(loss.delta, DELTA_DECIMALS))


def rho_charge(rho: Fraction) -> Fraction:
    """Rounded up, as all charges are."""
    return _ceil(rho, RHO_DECIMALS)


def limit(loss: Loss) -> Amount:
    """
    >>> limit(Loss(Fraction(1, 3), Fraction(0))).epsilon < Fraction(1, 3)
    True
    """
    return Amount(_floor(loss.epsilon, EPSILON_DECIMALS), _floor(loss.delta, DELTA_DECIMALS))


def rho_limit(of: Amount) -> Fraction | None:
    """What the rho of a limit may add up to, in whole steps, where half of its delta is for the conversion.

    Gives    None where zCDP admits nothing: it needs a delta
    Source   PROOFS.md 25

    >>> found = rho_limit(limit(Loss(Fraction(100), Fraction(1, 10**4))))
    >>> found is not None and float(found)  # doctest: +ELLIPSIS
    55.26...
    """
    if of.epsilon == 0 or of.delta == 0:
        return None
    return _floor(rho_of_loss(of.epsilon, of.delta / 2), RHO_DECIMALS)


def _floor(number: Fraction, decimals: int) -> Fraction:
    return Fraction(number.numerator * 10**decimals // number.denominator, 10**decimals)


def _ceil(number: Fraction, decimals: int) -> Fraction:
    """Most losses are in whole steps, and stay what they are."""
    if 10**decimals % number.denominator == 0:
        return number
    return -_floor(-number, decimals)


@lru_cache(maxsize=1024)
def decimal(number: Fraction) -> Decimal:
    """Exact, for numbers in whole steps.

    >>> decimal(Fraction(1, 4))
    Decimal('0.25')
    """
    whole, rest = divmod(number.numerator * 10**DELTA_DECIMALS, number.denominator)
    assert rest == 0, "amounts are in whole steps of the ledger"
    return Decimal(whole).scaleb(-DELTA_DECIMALS, context=_EXACT).normalize(_EXACT)


def text(number: Fraction) -> str:
    """For messages: 12 significant digits, cut off, never rounded up.

    >>> text(Fraction(5, 2)), text(Fraction(1, 10**6)), text(Fraction(100))
    ('2.5', '0.000001', '100')
    """
    if number == 0:
        return "0"
    rounded = Context(prec=12, rounding="ROUND_DOWN").create_decimal(decimal(number)).normalize()
    plain = f"{rounded:f}"
    short = f"{rounded:e}".replace("e+", "e")
    return plain if len(plain) <= 8 or abs(rounded) >= Decimal("0.001") else short


@lru_cache(maxsize=256)
def charged_text(number: Fraction) -> str:
    """For messages: 6 significant digits, rounded up. The last digits of the ledger do not count.

    >>> [charged_text(of) for of in (Fraction(1, 3), Fraction(1, 2) + Fraction(1, 10**18), Fraction(0))]
    ['0.333334', '0.5', '0']
    """
    if number == 0:
        return "0"
    plain = Context(prec=12, rounding="ROUND_DOWN").create_decimal(
        decimal(_ceil(number, EPSILON_DECIMALS))
    )
    return f"{Context(prec=6, rounding='ROUND_UP').create_decimal(plain).normalize():f}"
