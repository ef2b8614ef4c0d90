"""PolyPlace: public numbers, edges, refusals, errors. Its privacy is in polyplace_layers.py."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator  # noqa: TID251  data for tests, not noise
from numpy.typing import NDArray

from proxy.estimates import sampling_accuracy
from proxy.mechanisms import polyplace
from tests.mechanisms.simulation import ADULT, Aggregate, Question, adult_column
from tests.seeded_bits import SeededBits

ONE = Fraction(1)


class _NarrowBits(SeededBits):
    """Random bits that begin with a u that leaves two answers: more must be taken."""

    def __init__(self, first: int) -> None:
        super().__init__(4)
        self._answers = [0, first]
        self.asked = 0

    def below(self, n: int) -> int:
        self.asked += 1
        return self._answers.pop(0) if self._answers else super().below(n)


def test_more_bits_are_taken_until_they_decide() -> None:
    # scale 4, c = 2: |Z| = 1/8, a noise of 1/2, at 1 - (7/8)^2 = 15/64 of u N c = 3u/2: u = 5/32.
    bits = _NarrowBits(5 * 2**192 // 32 - 1)
    answer = polyplace.sample(bits, 0, Fraction(4), -100, 100)
    assert answer in (0, 1)
    assert bits.asked >= 3
    # The last u of all may be infinitely far: the clamp decides it.
    bits = _NarrowBits(2**192 - 1)
    assert polyplace.sample(bits, 0, Fraction(4), -100, 100) == 100
    assert bits.asked == 2


@given(
    epsilon=st.fractions(Fraction(1, 50), 8),
    steps=st.integers(1, 10**9),
    shape=st.sampled_from(polyplace.SHAPES),
    data=st.data(),
)
def test_no_data_has_less_noise_than_the_floor(
    epsilon: Fraction, steps: int, shape: int, data: st.DataObject
) -> None:
    m = 2 * data.draw(st.integers(0, 40)) + 1
    outputs = data.draw(st.lists(st.integers(0, steps), min_size=m, max_size=m))
    _, scale = polyplace.private_law(outputs, 0, steps, epsilon, shape)
    assert float(scale) >= sampling_accuracy.polyplace_noise_floor(steps, m, epsilon, shape) * (
        1 - 1e-12
    )


@given(epsilon=st.fractions(Fraction(1, 10**4), 100), steps=st.integers(0, 10**15))
def test_partitions_are_odd_and_few_enough(epsilon: Fraction, steps: int) -> None:
    m = sampling_accuracy.polyplace_partitions(epsilon, steps)
    assert m % 2 == 1
    assert 17 <= m <= 65_537
    assert m >= sampling_accuracy.polyplace_partitions(epsilon, steps, polyplace.KAPPA_OF_EXTREMES)


def test_feasible_knows_starved_and_drowned_partitions() -> None:
    assert sampling_accuracy.polyplace_feasible(12_500, 77, ONE)
    assert not sampling_accuracy.polyplace_feasible(12_500, 5, ONE)
    assert sampling_accuracy.polyplace_expected_floor(12_500, 77, ONE) == 8  # 2 steps, times 3.74


def test_one_possible_answer_needs_no_noise() -> None:
    assert polyplace.release([3, 3, 3], 3, 3, ONE, 2, SeededBits(0)) == 3


def test_what_the_theorem_does_not_cover_is_refused() -> None:
    bits = SeededBits(0)
    for high in (9, 0):
        with pytest.raises(ValueError, match="odd"):
            polyplace.release([1, 2], 0, high, ONE, 2, bits)
    with pytest.raises(ValueError, match="epsilon"):
        polyplace.release([1], 0, 9, Fraction(0), 2, bits)
    for shape in (0, 1, 3, 16):
        with pytest.raises(ValueError, match="shape"):
            polyplace.release([1], 0, 9, ONE, shape, bits)
    with pytest.raises(ValueError, match="bound"):
        polyplace.release([1], 9, 0, ONE, 2, bits)
    with pytest.raises(ValueError, match="bound"):
        sampling_accuracy.polyplace_partitions(ONE, -1)
    with pytest.raises(ValueError, match="kappa"):
        sampling_accuracy.polyplace_partitions(ONE, 9, 0)
    with pytest.raises(ValueError, match="scale"):
        polyplace.sample(bits, 0, Fraction(0), 0, 9)
    with pytest.raises(ValueError, match="centre"):
        polyplace.sample(bits, 10, ONE, 0, 9)


@dataclass(frozen=True, slots=True)
class _WithPolyPlace(Question):
    @property
    def partitions(self) -> int:
        mean = self.aggregate is Aggregate.AVG
        kappa = polyplace.KAPPA_OF_MEANS if mean else polyplace.KAPPA_OF_EXTREMES
        return sampling_accuracy.polyplace_partitions(self.epsilon, self.steps, kappa)

    def answer(self, values: NDArray[np.int64], generator: Generator, bits: SeededBits) -> float:
        partition = generator.integers(0, self.partitions, len(values))
        index = polyplace.release(
            self.outputs(np.clip(values, self.low, self.high), partition),
            int(self.low / self.grid),
            int(self.high / self.grid),
            self.epsilon,
            polyplace.DEFAULT_SHAPE,
            bits,
        )
        return float(index * self.grid)


_EPSILONS = ("1/10", "1/2", "1", "2")
# The rule of docs/design/mechanisms.md 5.2, census of 32,561 rows: partitions, median absolute error. Of
# 150 repetitions two were off by more than 20 %: MIN at 2, where the table has m = 17, and capital_gain at 2.
_RULE = {
    (Aggregate.AVG, "age"): ((755, 0.57), (151, 0.099), (77, 0.058), (39, 0.048)),
    (Aggregate.MIN, "age"): ((195, 11.4), (39, 2.2), (21, 1.1), (17, 0.48)),
    (Aggregate.MAX, "age"): ((195, 15), (39, 1.8), (21, 1.1), (17, 0.52)),
    (Aggregate.AVG, "capital_gain"): ((923, 459), (185, 72), (93, 52), (47, 29.3)),
}
_NEEDS_ADULT = pytest.mark.skipif(
    not ADULT.exists(), reason="the census data is not beside this repository"
)


def _error(cell: tuple[Aggregate, str], number: int, runs: int) -> tuple[float, float]:
    """As found and as in the table, where the number of partitions is the table's."""
    aggregate, column = cell
    grid = Fraction(1, 100) if aggregate is Aggregate.AVG and column == "age" else Fraction(1)
    high = 125 if column == "age" else 10**5
    epsilon = Fraction(_EPSILONS[number])
    question = _WithPolyPlace(aggregate, 0, high, grid, epsilon, Fraction(1, 10**6))
    partitions, error = _RULE[cell][number]
    assert question.partitions == partitions
    return question.median_error(adult_column(column), runs, seed=2), error


@pytest.mark.every(3)
@_NEEDS_ADULT
@pytest.mark.parametrize("cell", list(_RULE)[:3], ids=lambda cell: f"{cell[0].value} {cell[1]}")
def test_the_error_on_the_census_is_the_measured_one(cell: tuple[Aggregate, str]) -> None:
    found, error = _error(cell, 2, 400)
    assert abs(found - error) <= 0.25 * error, found


@_NEEDS_ADULT
@pytest.mark.long
@pytest.mark.parametrize("number", range(4), ids=_EPSILONS)
@pytest.mark.parametrize("cell", _RULE, ids=lambda cell: f"{cell[0].value} {cell[1]}")
def test_all_cells_of_the_table(cell: tuple[Aggregate, str], number: int) -> None:
    found, error = _error(cell, number, 1000)
    print(f"{cell[0].value}({cell[1]}) at {_EPSILONS[number]}: {found:.4g}, table {error}")
    assert abs(found - error) <= 0.2 * error
