"""The smoothed median's public numbers and refusals. Its privacy is in test_layers.py."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.estimates import sampling_accuracy
from proxy.mechanisms import smoothed_median
from tests.seeded_bits import SeededBits

ONE = Fraction(1)
MILLIONTH = Fraction(1, 10**6)


@given(
    epsilon=st.fractions(Fraction(1, 10**4), 100),
    delta=st.fractions(Fraction(1, 10**12), Fraction(7, 10)),
    steps=st.integers(0, 10**15),
)
def test_partitions_are_odd_and_few_enough(epsilon: Fraction, delta: Fraction, steps: int) -> None:
    m = sampling_accuracy.laplace_partitions(epsilon, delta, steps)
    assert m % 2 == 1
    assert 17 <= m <= 65_537


@given(
    epsilon=st.fractions(Fraction(1, 50), 8),
    steps=st.integers(1, 10**9),
    data=st.data(),
)
def test_no_data_has_less_noise_than_the_floor(
    epsilon: Fraction, steps: int, data: st.DataObject
) -> None:
    m = 2 * data.draw(st.integers(0, 40)) + 1
    outputs = data.draw(st.lists(st.integers(0, steps), min_size=m, max_size=m))
    _, scale = smoothed_median.private_law(outputs, 0, steps, epsilon, MILLIONTH)
    floor = sampling_accuracy.laplace_noise_floor(steps, m, epsilon, MILLIONTH)
    assert float(scale) >= floor * (1 - 1e-12)


def test_the_floor_is_reached_by_outputs_that_all_say_the_middle() -> None:
    _, scale = smoothed_median.private_law([500] * 101, 0, 1000, ONE, MILLIONTH)
    floor = sampling_accuracy.laplace_noise_floor(1000, 101, ONE, MILLIONTH)
    assert float(scale) == pytest.approx(floor, rel=1e-9)
    wide = sampling_accuracy.laplace_noise_floor(12_500, 557, ONE, MILLIONTH)
    assert wide == pytest.approx(2.0)  # the adopted rule reaches one grid step


def test_expected_floor_is_the_noise_at_the_floor_within_the_range() -> None:
    assert sampling_accuracy.laplace_expected_floor(12_500, 557, ONE, MILLIONTH) == 6
    assert sampling_accuracy.laplace_expected_floor(12_500, 17, ONE, MILLIONTH) == 12_500


def test_feasible_knows_starved_and_drowned_partitions() -> None:
    assert sampling_accuracy.laplace_feasible(12_500, 557, ONE, MILLIONTH)
    assert not sampling_accuracy.laplace_feasible(12_500, 65, ONE, MILLIONTH)


def test_one_possible_answer_needs_no_noise() -> None:
    assert smoothed_median.release([3, 3, 3], 3, 3, ONE, MILLIONTH, SeededBits(0)) == 3


def test_an_output_beyond_the_bounds_counts_as_a_bound() -> None:
    slipped = smoothed_median.private_law([-(10**30), 4, 10**30], 0, 9, ONE, MILLIONTH)
    assert slipped == smoothed_median.private_law([0, 4, 9], 0, 9, ONE, MILLIONTH)


@pytest.mark.parametrize("outputs", [[], [1, 2], [1] * 64])
@pytest.mark.parametrize("high", [5, 0])
def test_an_even_number_of_partitions_is_refused(outputs: list[int], high: int) -> None:
    with pytest.raises(ValueError, match="odd"):
        smoothed_median.release(outputs, 0, high, ONE, MILLIONTH, SeededBits(0))


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (Fraction(0), MILLIONTH),
        (Fraction(-1), MILLIONTH),
        (ONE, Fraction(0)),
        (ONE, Fraction(3, 4)),
        (ONE, Fraction(1, 2**1001)),
    ],
)
def test_a_loss_that_the_theorem_does_not_cover_is_refused(
    epsilon: Fraction, delta: Fraction
) -> None:
    with pytest.raises(ValueError, match=r"epsilon|2\^-1000"):
        smoothed_median.release([1, 2, 3], 0, 9, epsilon, delta, SeededBits(0))


def test_bounds_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValueError, match="bound"):
        smoothed_median.release([1, 2, 3], 9, 0, ONE, MILLIONTH, SeededBits(0))
    with pytest.raises(ValueError, match="bound"):
        sampling_accuracy.laplace_partitions(ONE, MILLIONTH, -1)
