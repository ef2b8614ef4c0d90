"""What epsilon and delta mean as odds, in words for people who sign: public numbers only."""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.mechanisms.loss import Loss
from proxy.mechanisms.real_bounds import exp_bounds

GUESS = Fraction(1, 100)
_CERTAIN = Fraction(1, 10**6)  # what is left of doubt
_PLAIN = 10**12


def odds_text(loss: Loss, one: str = "a person") -> str:
    """Say how far a guess can get, with what delta adds. Each number is rounded so that the sentence holds.

    >>> odds_text(Loss(Fraction(2), Fraction(0)))
    'someone who guesses 1 in 100 that a person is in the data can at most come to 1 in 14'
    >>> odds_text(Loss(Fraction(10), Fraction(1, 10**5))).partition(" can ")[2]
    'at most come to 99.56 %, but for a chance of 1 in 100,000 (delta), in which nothing is promised'
    """
    text = f"someone who guesses 1 in 100 that {one} is in the data can at most come to {reached(loss.epsilon)}"
    if not loss.delta:
        return text
    chance = _at_most(loss.delta)
    return f"{text}, but for a chance of {chance} (delta), in which nothing is promised"


def judged_text(loss: Loss, one: str = "a person") -> str:
    """Say how far a guess can get, and whether that is little or much. For readers who know nothing of epsilon.

    >>> judged_text(Loss(Fraction(1, 2), Fraction(0)), "a customer").partition(" can ")[2]
    'at most come to 1 in 61. That hardly helps them.'
    >>> judged_text(Loss(Fraction(20), Fraction(0))).partition(" can ")[2][:60]
    'at most come to certainty. At worst they know: so large a bu'
    """
    posterior = largest_posterior(GUESS, loss.epsilon)
    return f"{odds_text(loss, one)}. {next(text for most, text in _JUDGED if posterior <= most)}"


_JUDGED = (
    (2 * GUESS, "That hardly helps them."),
    (10 * GUESS, "That helps them, but they are still most likely wrong."),
    (Fraction(1, 2), "That helps them much, but they are still no surer than with a coin."),
    (
        Fraction(1),
        "At worst they know: so large a budget promises little by itself. The worst case is someone who knows"
        " everybody else in the data and spends all of it on one person.",
    ),
)


def reached(epsilon: Fraction, guess: Fraction = GUESS) -> str:
    """Where a guess can get, at most.

    >>> [reached(Fraction(e)) for e in (0, 1, 4, 8, 20)]
    ['1 in 100', '1 in 37', '1 in 2', '96.8 %', 'certainty']
    >>> reached(Fraction(1, 2), Fraction(1, 2))
    '63 %'
    """
    posterior = largest_posterior(guess, epsilon)
    if posterior <= Fraction(1, 2):
        return _at_most(posterior)
    doubt = 1 - posterior
    if doubt < _CERTAIN:
        return "certainty"
    places = 1 - math.floor(math.log10(doubt))  # two digits of the doubt, rounded down
    left = Fraction(math.floor(doubt * 10**places), 10**places)
    return f"{float(100 - 100 * left):.{max(0, places - 2)}f} %"


def odds_json(loss: Loss, one: str = "a person") -> dict[str, object]:
    """The same as numbers: of a guess, where it can get, and the chance in which nothing is promised."""
    posterior = largest_posterior(GUESS, loss.epsilon)
    above = min(1.0, math.nextafter(float(posterior), 2.0))
    numbers = {"guess": float(GUESS), "at_most": above, "but_for": float(loss.delta)}
    return {**numbers, "text": odds_text(loss, one), "judged": judged_text(loss, one)}


def _at_most(chance: Fraction) -> str:
    """A chance that is not below the one given.

    >>> _at_most(Fraction(1, 10**8)), _at_most(Fraction(3, 10**20)), _at_most(Fraction(2, 29))
    ('1 in 100,000,000', '1 in 10^19', '1 in 14')
    """
    of = math.floor(1 / chance)
    return f"1 in {of:,}" if of < _PLAIN else f"1 in 10^{len(str(of)) - 1}"


# --- What a privacy loss means as odds: how sure an attacker can become that a unit is in the data.
#
# Proof: PROOFS.md, "Odds".


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
