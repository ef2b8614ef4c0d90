"""The reference R2T on cases that were computed by hand."""

from __future__ import annotations

import math

import pytest

from tests.mechanisms.r2t import answer, candidates, thresholds

_TOTALS = (1, 3, 3, 10)


def _truncated(threshold: int) -> float:
    return sum(min(total, threshold) for total in _TOTALS)


def _none(scale: float) -> float:
    return 0.0


def test_thresholds_are_powers_of_two_up_to_the_largest_total() -> None:
    assert thresholds(2) == (2,)
    assert thresholds(17) == (2, 4, 8, 16, 32)
    assert len(thresholds(1_000_000)) == 20 and thresholds(1_000_000)[-1] == 2**20


def test_each_candidate_pays_its_part() -> None:
    """Largest 16: four thresholds, so each spends a quarter of epsilon; ln(4 / 0.1) is 3.689."""
    found = candidates(_truncated, 16, 8.0)
    assert [one.scale for one in found] == [1, 2, 4, 8]
    cut = [1 + 2 + 2 + 2, 1 + 3 + 3 + 4, 1 + 3 + 3 + 8, 1 + 3 + 3 + 10]
    less = math.log(40)
    assert [one.centre for one in found] == pytest.approx(
        [7 - less, 11 - 2 * less, 15 - 4 * less, 17 - 8 * less]
    )
    assert sum(2**j / one.scale for j, one in enumerate(found, 1)) == pytest.approx(8.0)
    assert cut == [_truncated(tau) for tau in thresholds(16)]


def test_the_largest_candidate_is_the_answer() -> None:
    exact = candidates(_truncated, 16, 8.0)
    assert answer(exact, _none) == pytest.approx(11 - 2 * math.log(40))
    assert answer(exact, lambda scale: 100.0 if scale == 8 else 0.0) == pytest.approx(
        117 - 8 * math.log(40)
    )
    precise = candidates(_truncated, 16, 1e9)
    assert answer(precise, _none) == pytest.approx(17)


def test_it_is_never_below_nothing() -> None:
    assert answer(candidates(_truncated, 16, 0.01), _none) == 0


def test_it_is_seldom_above_the_truth() -> None:
    """P(Laplace > t s) = e^-t / 2, so that four of them exceed what is taken off with 0.05 in all."""
    above = sum(
        math.exp(-(17 - one.centre) / one.scale) / 2 for one in candidates(_truncated, 16, 8.0)
    )
    assert above <= 0.05
