"""Sharing a loss: refusals and edges. That shares add up is layers.a_loss_is_shared."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from proxy.mechanisms import split
from proxy.mechanisms.loss import Loss

LOSS = Loss(Fraction(1), Fraction(1, 10**6))


@pytest.mark.parametrize("share", [split.split, split.per_unit, split.per_group])
@pytest.mark.parametrize("k", [0, -1])
def test_fewer_than_one_is_refused(share: Callable[[Loss, int], Loss], k: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        share(LOSS, k)


@pytest.mark.parametrize("share", [split.split, split.per_unit, split.per_group])
def test_one_is_the_whole(share: Callable[[Loss, int], Loss]) -> None:
    assert share(LOSS, 1) == LOSS


def test_rows_of_a_unit_pay_the_growth_of_delta() -> None:
    row = split.per_unit(LOSS, 3)
    assert row.epsilon == Fraction(1, 3)
    # 1e-6 / (3 e^(2/3)), and a short decimal fraction for the ledger
    assert float(row.delta) == pytest.approx(1.7113903967753061e-07, rel=1e-9)
    assert 10**30 % row.delta.denominator == 0


def test_pure_loss_stays_pure() -> None:
    assert split.per_unit(Loss(Fraction(2), Fraction(0)), 4) == Loss(Fraction(1, 2), Fraction(0))


def test_a_delta_that_would_vanish_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        split.per_unit(Loss(Fraction(1500), Fraction(1, 2)), 2)
