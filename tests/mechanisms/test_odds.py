"""Odds: the bound is met by randomised response, and no mechanism of a finite table goes beyond it."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

from proxy.mechanisms.loss import Loss
from proxy.policy.odds_words import largest_posterior, odds_text, reached

_PRIORS = [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)]
_EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(2), Fraction(20)]


@pytest.mark.parametrize("prior", _PRIORS)
@pytest.mark.parametrize("epsilon", _EPSILONS)
def test_randomised_response_meets_it_and_does_not_pass(prior: Fraction, epsilon: Fraction) -> None:
    told = 1 / (1 + math.exp(-epsilon))  # the truth, with this probability
    exact = float(prior) * told / (float(prior) * told + float(1 - prior) * (1 - told))
    bound = float(largest_posterior(prior, epsilon))
    assert exact <= bound * (1 + 1e-12)
    assert bound == pytest.approx(exact, rel=1e-9)


def test_noisy_counts_stay_within_it() -> None:
    """Of discrete Laplace noise, whose law is proportional to e^(-epsilon |x|)."""
    epsilon, prior = Fraction(2), Fraction(1, 100)
    bound = float(largest_posterior(prior, epsilon))
    posteriors = []
    for seen in range(-5, 7):
        with_unit, without = (math.exp(-2.0 * abs(seen - n)) for n in (1, 0))
        joint = float(prior) * with_unit
        posteriors.append(joint / (joint + float(1 - prior) * without))
    assert max(posteriors) == pytest.approx(bound)
    assert max(posteriors) <= bound + 1e-12


def test_no_prior_is_moved_by_nothing_and_certainties_stay() -> None:
    for prior in _PRIORS:
        assert largest_posterior(prior, Fraction(0)) == prior
    for epsilon in (Fraction(1), Fraction(10**9)):
        assert largest_posterior(Fraction(0), epsilon) == 0
        assert largest_posterior(Fraction(1), epsilon) == 1
    for prior, epsilon in ((Fraction(2), Fraction(1)), (Fraction(1, 2), Fraction(-1))):
        with pytest.raises(ValueError, match="prior"):
            largest_posterior(prior, epsilon)


@pytest.mark.parametrize("hundredths", range(1, 2500, 7))
def test_what_is_said_is_not_below_what_is_proven(hundredths: int) -> None:
    epsilon = Fraction(hundredths, 100)
    said, proven = reached(epsilon), largest_posterior(Fraction(1, 100), epsilon)
    ratio = re.fullmatch(r"1 in ([\d,]+)", said)
    if ratio is not None:
        assert Fraction(1, int(ratio[1].replace(",", ""))) >= proven
    elif said != "certainty":
        assert Fraction(said.removesuffix(" %")) / 100 >= proven


def test_delta_is_said_with_it() -> None:
    pure, approximate = (
        odds_text(Loss(Fraction(2), delta)) for delta in (Fraction(0), Fraction(3, 10**9))
    )
    assert "delta" not in pure
    assert "1 in 333,333,333 (delta)" in approximate
