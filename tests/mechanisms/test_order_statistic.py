"""Private order statistics: edges, refusals, errors. Privacy is in order_statistic_layers.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from numpy.typing import NDArray

from proxy.mechanisms import exact_choice, order_statistic
from proxy.mechanisms.exact_choice import Weight
from proxy.mechanisms.order_statistic import ValueCount
from tests.mechanisms.finite_law import p_value
from tests.mechanisms.order_statistic_layers import worst_log_ratio
from tests.mechanisms.samplers import FALSE_ALARM
from tests.mechanisms.simulation import ADULT, adult_column, synthetic_ages
from tests.seeded_bits import SeededBits

ONE = Fraction(1)
HALF = Fraction(1, 2)


def _runs(values: NDArray[np.int64]) -> list[ValueCount]:
    return [ValueCount(value, count) for value, count in sorted(Counter(values.tolist()).items())]


def test_the_auditor_finds_tables_that_use_epsilon_up() -> None:
    """Else it could not see a rate that is a little too large."""
    assert worst_log_ratio("quantile 1/2", HALF) > 0.999
    assert worst_log_ratio("quantile 1/4", Fraction(4)) > 0.999
    assert worst_log_ratio("minimum", Fraction(4)) > 0.999


def test_an_empty_table_gives_any_grid_point() -> None:
    bits = SeededBits(1)
    for draw in (
        lambda: order_statistic.minimum([], 5, 8, ONE, bits),
        lambda: order_statistic.maximum([], 5, 8, ONE, bits),
        lambda: order_statistic.quantile([], HALF, 5, 8, ONE, bits),
    ):
        law = np.full(4, 0.25)
        assert p_value(draw, law, 5, 2000) > FALSE_ALARM


def test_values_beyond_the_bounds_count_as_the_bounds() -> None:
    wild = [ValueCount(-9, 2), ValueCount(-1, 3), ValueCount(4, 1), ValueCount(99, 7)]
    tame = [ValueCount(0, 5), ValueCount(4, 1), ValueCount(9, 7)]
    assert order_statistic.minimum_law(wild, 0, 9, ONE) == order_statistic.minimum_law(
        tame, 0, 9, ONE
    )
    assert order_statistic.quantile_law(wild, HALF, 0, 9, ONE) == order_statistic.quantile_law(
        tame, HALF, 0, 9, ONE
    )
    assert order_statistic.minimum(wild, 3, 3, ONE, SeededBits(0)) == 3


def test_a_value_that_many_share_is_its_quantile() -> None:
    """The atom from rank 0.2 n to 0.6 n holds the median, and its neighbour to the right not."""
    values = [ValueCount(10, 200), ValueCount(20, 400), ValueCount(900, 400)]
    bits = SeededBits(2)
    answers = {order_statistic.quantile(values, HALF, 0, 1000, ONE, bits) for _ in range(100)}
    assert answers == {20}


class _Tie(SeededBits):
    """First bits that lie on the border of two outcomes, so that more must be taken."""

    asked = 0

    def below(self, n: int) -> int:
        self.asked += 1
        return n // 2 if self.asked == 1 else super().below(n)


def test_more_bits_are_taken_until_they_decide() -> None:
    # Weights 1 - 1/e^2 + ... : sums 1, 2, with a border at exactly a half of the total
    bits = _Tie(3)
    chosen = exact_choice.choose(bits, [Weight(1, 3), Weight(1, 3)], ONE)
    assert chosen == 1
    assert bits.asked == 1  # u = 1/2 exactly begins the second outcome: no more is needed
    bits = _Tie(3)
    weights = [Weight(1, 0), Weight(3, 1), Weight(3, 1), Weight(1, 0)]
    assert exact_choice.choose(bits, weights, ONE) in (1, 2)
    assert bits.asked > 1  # e^-1 is known to within bounds only


@pytest.mark.parametrize(
    ("values", "low", "high", "epsilon", "rows"),
    [
        ([ValueCount(2, 1), ValueCount(1, 1)], 0, 9, ONE, 1),
        ([ValueCount(2, 1), ValueCount(2, 1)], 0, 9, ONE, 1),
        ([ValueCount(2, 0)], 0, 9, ONE, 1),
        ([ValueCount(2, 1)], 9, 0, ONE, 1),
        ([ValueCount(2, 1)], 0, 9, Fraction(0), 1),
        ([ValueCount(2, 1)], 0, 9, ONE, 0),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(
    values: list[ValueCount], low: int, high: int, epsilon: Fraction, rows: int
) -> None:
    bits = SeededBits(0)
    refused: list[Callable[[], int]] = [
        lambda: order_statistic.minimum(values, low, high, epsilon, bits, rows),
        lambda: order_statistic.maximum(values, low, high, epsilon, bits, rows),
        lambda: order_statistic.quantile(values, HALF, low, high, epsilon, bits, rows),
    ]
    for draw in refused:
        with pytest.raises(ValueError, match=r"ascending|bound|epsilon|row"):
            draw()


def test_quantiles_beyond_their_limits_are_refused() -> None:
    values = [ValueCount(2, 5)]
    for q in (Fraction(-1, 2), Fraction(3, 2)):
        with pytest.raises(ValueError, match=r"0\.\.1"):
            order_statistic.quantile(values, q, 0, 9, ONE, SeededBits(0))
    for below, above in ((3, 0), (0, 3)):
        with pytest.raises(ValueError, match="missing"):
            order_statistic.quantile(values, HALF, 0, 9, ONE, SeededBits(0), 1, below, above)
    for weights in ([], [Weight(0, 1)]):
        with pytest.raises(ValueError, match="positive weight"):
            exact_choice.choose(SeededBits(0), weights, ONE)


def _median_errors(values: NDArray[np.int64], epsilon: Fraction) -> tuple[float, float, float]:
    """Median absolute errors of MIN, MAX and MEDIAN within 0..125."""
    runs, bits = _runs(values), SeededBits(8)
    truth = int(values.min()), int(values.max()), float(np.median(values))
    draws = [
        (
            order_statistic.minimum(runs, 0, 125, epsilon, bits),
            order_statistic.maximum(runs, 0, 125, epsilon, bits),
            order_statistic.quantile(runs, HALF, 0, 125, epsilon, bits),
        )
        for _ in range(101)
    ]
    low, high, middle = (median(abs(draw[i] - truth[i]) for draw in draws) for i in range(3))
    return low, high, middle


@pytest.mark.skipif(not ADULT.exists(), reason="the census data is not beside this repository")
@pytest.mark.parametrize(("epsilon", "of_max"), [("1/10", 14), ("1/2", 2), ("1", 0)])
def test_the_error_on_the_census_is_the_measured_one(epsilon: str, of_max: float) -> None:
    """docs/design/mechanisms.md 6.1: MIN is exact, MAX is 14 years low at epsilon 1/10, 2 at 1/2."""
    low, high, middle = _median_errors(adult_column("age"), Fraction(epsilon))
    assert low == 0
    assert abs(high - of_max) <= 2 if of_max else high == 0
    assert middle == 0


def test_the_error_on_synthetic_ages() -> None:
    low, _, middle = _median_errors(synthetic_ages(1), ONE)
    assert low <= 1
    assert middle <= 1


def test_secret_values_have_no_text_form() -> None:
    values = [ValueCount(31337, 4242)]
    law = order_statistic.minimum_law(values, 31337, 31338, ONE)
    for secret in (*values, *law.runs, law):
        assert repr(secret) == str(secret) == f"{type(secret).__name__}(hidden)"
    assert "31337" not in repr(values) + repr(law.runs)
