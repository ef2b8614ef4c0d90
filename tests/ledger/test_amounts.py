"""Rounding never favours the analyst; text never shows more than is left."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from proxy.accounting.amounts import Amount, charge, decimal, limit, text
from proxy.mechanisms.loss import Loss

losses = st.builds(
    Loss,
    st.fractions(min_value=0, max_value=1000),
    st.fractions(min_value=0, max_value=Fraction(999_999, 1_000_000)),
)
STEP = Amount(Fraction(1, 10**18), Fraction(1, 10**30))


@given(losses)
def test_charges_are_rounded_up_limits_down_by_less_than_a_step(loss: Loss) -> None:
    up, down = charge(loss), limit(loss)
    for exact, above, below, step in (
        (loss.epsilon, up.epsilon, down.epsilon, STEP.epsilon),
        (loss.delta, up.delta, down.delta, STEP.delta),
    ):
        assert below <= exact <= above
        assert above - exact < step
        assert exact - below < step
        assert (above / step).denominator == 1
        assert (below / step).denominator == 1


@given(losses)
def test_decimals_are_exact(loss: Loss) -> None:
    amount = charge(loss)
    for number in amount:
        assert Fraction(decimal(number)) == number


def test_a_long_decimal_keeps_every_digit() -> None:
    number = Fraction(123456789012345678901234567890) + Fraction(1, 10**30)
    assert decimal(number) == Decimal(
        "123456789012345678901234567890.000000000000000000000000000001"
    )


@given(st.integers(min_value=0, max_value=10**40))
def test_text_is_never_more_than_there_is(steps: int) -> None:
    number = Fraction(steps, 10**30)
    shown = Fraction(text(number))
    assert shown <= number
    assert number - shown <= number / 10**11
