"""What a privacy loss means as odds: how sure an attacker can become that a unit is in the data.

Proof: PROOFS.md, "Odds".
"""

from __future__ import annotations

from fractions import Fraction

from proxy.mechanisms.real_bounds import exp_bounds

_LARGEST_EPSILON = 700  # beyond, the bound is 1 in all digits that anybody prints


def largest_posterior(prior: Fraction, epsilon: Fraction) -> Fraction:
    """Bound how sure somebody can become who had this prior: that a unit is in the data, or that it is not.

    Args:
        prior: What they believed before any release, from 0 to 1; whatever they know of other units.
        epsilon: Of an (epsilon, delta)-DP release, or of all of them together; at least 0.

    Returns:
        p e^epsilon / (1 - p + p e^epsilon), rounded up. With delta above 0 it holds but for an event of
        probability delta at most, in which nothing is promised, and which does not depend on the data.

    Raises:
        ValueError: prior or epsilon is out of range.

    Source: Bayes' rule; for delta Kairouz, Oh, Viswanath 2015, theorem 3.1.

    >>> [round(float(1 / largest_posterior(Fraction(1, 100), Fraction(e))), 2) for e in (0, 1, 2)]
    [100.0, 37.42, 14.4]
    """
    if not 0 <= prior <= 1 or epsilon < 0:
        raise ValueError("a prior is from 0 to 1, an epsilon at least 0")
    if epsilon > _LARGEST_EPSILON:
        return Fraction(1) if prior else Fraction(0)
    _, factor = exp_bounds(epsilon)
    return prior * factor / (1 - prior + prior * factor)
