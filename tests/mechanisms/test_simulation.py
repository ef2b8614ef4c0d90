"""Sample and aggregate as adopted shows the error that was measured for it.

The table below is of 150 repetitions a cell, so its figures are themselves off by up to 25 % for
AVG. Our own figures, from 400 partitions and the exact law of the noise: AVG 0.162, MIN 1.39,
MAX 13.7 at epsilon 1. A median of 200 runs spreads by 18 %, of 1,000 by 8 % (95 %).
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.mechanisms.simulation import ADULT, Aggregate, Question, adult_column, synthetic_ages

HUNDREDTH = Fraction(1, 100)


def _age(aggregate: Aggregate, grid: Fraction | int, epsilon: str = "1") -> Question:
    return Question(aggregate, 0, 125, Fraction(grid), Fraction(epsilon), Fraction(1, 10**6))


needs_adult = pytest.mark.skipif(
    not ADULT.exists(), reason="the census data is not beside this repository"
)


@pytest.mark.every(3)
@needs_adult
@pytest.mark.parametrize(
    ("question", "m", "error", "runs"),
    [
        (_age(Aggregate.AVG, HUNDREDTH), 557, 0.162, 1000),
        (_age(Aggregate.MIN, 1), 287, 1.4, 400),
        (_age(Aggregate.MAX, 1), 287, 13.3, 200),
    ],
    ids=["avg", "min", "max"],
)
def test_the_error_on_the_census_is_the_measured_one(
    question: Question, m: int, error: float, runs: int
) -> None:
    assert question.partitions == m
    found = question.median_error(adult_column("age"), runs, seed=1)
    assert abs(found - error) <= 0.2 * error


_EPSILONS = ("1/10", "1/2", "1", "2")
# The rule of docs/design/mechanisms.md 5.2; 32,561 rows: partitions and median absolute error.
_RULE = {
    (Aggregate.AVG, "age"): ((5485, 4.8), (1105, 0.415), (557, 0.162), (285, 0.0746)),
    (Aggregate.MIN, "age"): ((2807, 13.8), (567, 2.7), (287, 1.4), (145, 0.71)),
    (Aggregate.MAX, "age"): ((2807, 31), (567, 17.5), (287, 13.3), (145, 9.4)),
    (Aggregate.AVG, "capital_gain"): ((6693, 1080), (1349, 501), (681, 410), (347, 283)),
}


@needs_adult
@pytest.mark.long
@pytest.mark.parametrize("number", range(4), ids=_EPSILONS)
@pytest.mark.parametrize("cell", _RULE, ids=lambda cell: f"{cell[0].value} {cell[1]}")
def test_all_cells_of_the_table(cell: tuple[Aggregate, str], number: int) -> None:
    """Within 20 %. Of 150 repetitions two of AVG(age) were off by more, so those are our own of 2,000."""
    aggregate, column = cell
    grid = HUNDREDTH if aggregate is Aggregate.AVG and column == "age" else Fraction(1)
    high = 125 if column == "age" else 10**5
    epsilon = Fraction(_EPSILONS[number])
    question = Question(aggregate, 0, high, grid, epsilon, Fraction(1, 10**6))
    partitions, error = _RULE[cell][number]
    assert question.partitions == partitions
    found = question.median_error(adult_column(column), 1000, seed=1)
    print(f"{aggregate.value}({column}) at {epsilon}: {found:.4g}, table {error}")
    assert abs(found - error) <= 0.2 * error


@pytest.mark.parametrize(
    ("aggregate", "grid", "least", "most"),
    [
        # Noise scale 0.22, and 1.25 * 13.6 / sqrt(32561) = 0.09 of sampling error.
        (Aggregate.AVG, HUNDREDTH, 0.12, 0.24),
        # The scale is at its floor of 2 steps: median |noise| 2 ln 2 = 1.39.
        (Aggregate.MIN, 1, 1.0, 2.0),
    ],
)
def test_the_error_on_synthetic_ages(
    aggregate: Aggregate, grid: Fraction | int, least: float, most: float
) -> None:
    found = _age(aggregate, grid).median_error(synthetic_ages(1), 200, seed=2)
    assert least <= found <= most


def test_too_few_partitions_are_useless_as_measured() -> None:
    """sqrt(n) partitions, as one would guess: an error of years instead of months (table: 13)."""

    class SquareRoot(Question):
        @property
        def partitions(self) -> int:
            return 181

    question = SquareRoot(Aggregate.AVG, 0, 125, HUNDREDTH, Fraction(1), Fraction(1, 10**6))
    assert 5 <= question.median_error(synthetic_ages(1), 200, seed=3) <= 25
