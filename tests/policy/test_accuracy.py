"""The accuracy table against formulas worked out by hand, and against draws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.mechanisms import polyplace, recentred_mean, variance, zcdp
from proxy.policy import policy_model
from proxy.policy.accuracy import accuracy_table
from proxy.policy.accuracy_line import AccuracyAggregate, AccuracyMechanism, PolicyAccuracy
from proxy.policy.noise_proposal import noise_proposals
from proxy.policy.policy_model import MedianNoise, Noise, Policy
from tests.policy.catalogs import SHOP
from tests.policy.reading import read
from tests.seeded_bits import SeededBits

TEXT = """
tables:
  shop.visits:
    unit: UNIT
    columns:
      seconds: {bounds: [0, 120]}
      day: {bounds: [2020-01-01, 2020-12-31]}
      page: {}
  shop.products: public
"""


def lines(policy: Policy) -> dict[tuple[str, str], PolicyAccuracy]:
    return {
        (line.column, line.aggregate.value): line
        for line in accuracy_table(policy, SHOP)
        if line.table != "shop.customers"
    }


def test_which_lines_there_are() -> None:
    table = lines(read(TEXT.replace("UNIT", "row")))
    assert list(table) == [
        ("*", "count"),
        ("seconds", "count"),
        ("seconds", "sum"),
        ("seconds", "avg"),
        ("seconds", "min"),
        ("seconds", "max"),
        ("seconds", "variance"),
        ("seconds", "quantile"),
        ("day", "count"),
        ("day", "min"),
        ("day", "max"),
        ("day", "quantile"),
        ("page", "count"),
    ]


def test_row_unit_by_hand() -> None:
    table = lines(read(TEXT.replace("UNIT", "row")))
    count = table["*", "count"]
    assert count.sensitivity == count.scale == 1
    assert count.error_95 == 3
    total = table["seconds", "sum"]
    assert total.sensitivity == total.scale == 120
    # P(|noise| > t) = 2 p^(t+1) / (1+p) with p = e^(-1/120) is 5 % at about 120 ln 20 = 359.5.
    assert total.error_95 is not None
    assert abs(total.error_95 - 120 * Fraction(math.log(20))) < 1
    average = table["seconds", "avg"]
    beta = math.log(1 + 1 / (2 * math.log(2e6)))
    m = math.ceil(2 / beta * math.log(12_000)) | 1  # AVG on a grid of 0.01
    assert average.partitions == m
    assert average.units_needed == 8 * m
    assert average.sensitivity is None
    assert average.scale is None
    assert average.noise_floor == pytest.approx(2 * 0.01)
    assert average.error_95 == Fraction(6, 100)  # twice a step: half width 2 ln 20 = 6.0 steps
    least = table["seconds", "min"]
    assert least.partitions == math.ceil(2 / beta * math.log(120)) | 1
    assert least.noise_floor == pytest.approx(2)


def test_k_rows_cost_k_times() -> None:
    one, five = (lines(read(TEXT.replace("UNIT", unit))) for unit in ("row", "{rows: 5}"))
    assert five["*", "count"].scale == 5
    assert five["seconds", "sum"].sensitivity == 5 * 120
    # Group privacy: epsilon/5 and less than delta/5, so more than 5 times the partitions.
    few, many = one["seconds", "avg"].partitions, five["seconds", "avg"].partitions
    assert few is not None
    assert many is not None
    assert many > 5 * few


def test_identifier_pays_for_its_rows_in_sums_and_not_in_averages() -> None:
    text = TEXT.replace("UNIT", "{page: page}\n    max_rows_per_unit: 40").replace(
        "      page: {}\n", ""
    )
    table, by_row = lines(read(text)), lines(read(TEXT.replace("UNIT", "row")))
    assert table["*", "count"].scale == 40
    assert table["seconds", "sum"].scale == 40 * 120
    assert table["seconds", "avg"] == by_row["seconds", "avg"]


def test_a_unique_identifier_is_one_row() -> None:
    text = TEXT.replace("UNIT", "{visit: id}\n    max_rows_per_unit: 40")
    assert lines(read(text))["*", "count"].scale == 1


def test_a_unique_reference_to_the_unit_is_not_one_row_of_it() -> None:
    """One line per order, but a customer has many orders."""
    text = """
tables:
  shop.orders: {unit: {customer: customer_id}, max_rows_per_unit: 7}
  shop.order_lines:
    unit: {customer: order_id -> shop.orders.customer_id}
    max_rows_per_unit: 9
"""
    found = {line.table: line.scale for line in accuracy_table(read(text), SHOP)}
    assert found == {"shop.orders": 7, "shop.order_lines": 9}


def chosen(**choices: object) -> dict[tuple[str, str], PolicyAccuracy]:
    policy = read(TEXT.replace("UNIT", "{rows: 2}"))
    return lines(replace(policy, privacy=replace(policy.privacy, **choices)))  # type: ignore[arg-type]


def test_gaussian_noise_has_the_sigma_of_rho() -> None:
    table = chosen(noise=Noise.GAUSSIAN)
    count, total = table["*", "count"], table["seconds", "sum"]
    rho = float(zcdp.rho_of_loss(Fraction(1), Fraction(1, 10**6)))
    assert count.mechanism is AccuracyMechanism.GAUSSIAN
    assert count.scale is not None
    assert total.scale is not None
    assert total.error_95 is not None
    assert float(count.scale) == pytest.approx(2 / math.sqrt(2 * rho))  # two rows move a count by 2
    assert float(total.scale) == pytest.approx(120 * float(count.scale))
    assert float(total.error_95) == pytest.approx(1.96 * float(total.scale), rel=1e-3)


def test_polyplace_partitions_by_hand() -> None:
    table = chosen(median_noise=MedianNoise.POLYPLACE)
    gamma = 0.5 / 2  # two rows: half of epsilon each; shape 2
    average, least = table["seconds", "avg"], table["seconds", "min"]
    assert average.mechanism is AccuracyMechanism.POLYPLACE
    assert average.partitions == math.ceil(2 * 2 / gamma * math.log(12_000)) | 1
    assert least.partitions == math.ceil(2 / gamma * math.log(120)) | 1
    assert least.noise_floor == pytest.approx(1 / gamma)
    # Half of |Z| is above 1/2; the 95 % point of Z is 7.49 / 2 (docs/design/mechanisms.md 5.4).
    assert least.error_95 == math.ceil(1 / gamma * polyplace.quantile(0.95))


def test_best_mechanisms_say_what_their_error_depends_on() -> None:
    table = chosen(mechanism=policy_model.Mechanism.BEST)
    average, least = table["seconds", "avg"], table["seconds", "min"]
    assert (average.error_95, average.partitions, least.error_95) == (None, None, None)
    # Noise of scale 2 * 2 * 120 / (23/25) in half seconds about the farthest mean, missed by 5 %.
    assert average.error_times_rows is not None
    expected = 480 / 0.92 / 2 * math.log(20)
    assert float(average.error_times_rows) == pytest.approx(expected, rel=0.02)
    assert least.error_in_rank == math.ceil(2 * 2 * math.log(121 / 0.05))
    assert table["day", "quantile"].error_in_rank == math.ceil(2 * 2 * math.log(366 / 0.05))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_moments_stay_within_what_the_table_says(share: float) -> None:
    """Columns of 0 and 120 only, which have the farthest means and the largest variances."""
    table = chosen(mechanism=policy_model.Mechanism.BEST)
    rows = 200_000
    tops = int(share * rows)
    exact_mean, exact_variance = 120 * share, 120**2 * share * (1 - share)
    bits = SeededBits(5)
    misses = [0, 0]
    for _ in range(200):
        y = 240 * tops - 120 * rows
        means = recentred_mean.release(y, rows, 0, 120, Fraction(1), bits, 2).value
        moments = variance.release(120**2 * tops, 120 * tops, rows, 0, 120, Fraction(1), bits, 2)
        variances = variance.population(moments, 0, 120)
        for index, (found, exact, aggregate) in enumerate(
            ((means, exact_mean, "avg"), (variances, exact_variance, "variance"))
        ):
            allowed = table["seconds", aggregate].error_times_rows
            assert allowed is not None
            misses[index] += abs(float(found) - exact) > 1.01 * float(allowed) / rows
    assert max(misses) <= 20  # 10 expected at the very most; 21 has probability 1e-3


def test_every_line_has_an_error_of_one_kind() -> None:
    for mechanism in policy_model.Mechanism:
        for line in chosen(mechanism=mechanism).values():
            errors = (line.error_95, line.error_times_rows, line.error_in_rank)
            assert sum(error is not None for error in errors) == 1, line


def test_epsilon_and_partitions_of_the_policy_are_used() -> None:
    text = TEXT.replace("UNIT", "row").replace("120]", "120], partitions: 101, grid: 10")
    table = lines(read(text, epsilon="0.5"))
    assert table["*", "count"].scale == 2
    assert table["seconds", "sum"].scale == 240
    average = table["seconds", "avg"]
    assert (average.partitions, average.units_needed) == (101, 808)
    # m = 101 is far below the rule at epsilon 0.5: the floor is that of the range, not of the grid.
    beta = math.log(1 + 0.5 / (2 * math.log(2e6)))
    assert average.noise_floor == pytest.approx(2 * 60 * math.exp(-beta * 50) / 0.5, rel=1e-6)
    assert not average.feasible
    assert average.error_95 is not None
    assert average.error_95 <= 120


def test_average_in_the_middle_of_nowhere_is_infeasible_and_said_so() -> None:
    table = lines(read(TEXT.replace("UNIT", "row"), epsilon="0.001"))
    assert not table["day", "max"].feasible
    assert table["*", "count"].feasible


def test_a_policy_that_does_not_fit_has_no_accuracy() -> None:
    policy = read(TEXT.replace("UNIT", "row"))
    with pytest.raises(ValueError, match="does not fit"):
        accuracy_table(policy, replace(SHOP, encoding="LATIN1"))


def test_enumerations_print() -> None:
    aggregates = ["count", "sum", "avg", "min", "max", "variance", "quantile"]
    assert [member.value for member in AccuracyAggregate] == aggregates
    assert {member.value for member in AccuracyMechanism} == {
        "discrete laplace",
        "discrete gaussian",
        "smoothed median",
        "smoothed median, polyplace",
        "noisy sums over noisy count",
        "noisy sum over noisy count",
        "mean of clipped means",
        "exponential mechanism",
    }


def _with(policy: Policy, mechanism: policy_model.Mechanism) -> Policy:
    return replace(policy, privacy=replace(policy.privacy, mechanism=mechanism))


def test_a_clipped_mean_by_hand() -> None:
    policy = read(TEXT.replace("UNIT", "{rows: 2}"))
    average = lines(_with(policy, policy_model.Mechanism.CLIPPED_MEAN))["seconds", "avg"]
    assert average.mechanism is AccuracyMechanism.CLIPPED_MEAN
    m = math.ceil(2 * math.log(20) * 100) | 1  # two rows move two of m means: 600
    assert average.partitions == m == 601
    assert average.scale == Fraction(2 * 120, m)
    assert (
        average.error_95 is not None
    )  # Lap(2 * 12000 / epsilon) / m steps of 0.01, and half a step
    assert abs(float(average.error_95) - 2 * 120 * math.log(20) / m) < 0.02
    assert (
        lines(_with(policy, policy_model.Mechanism.CLIPPED_MEAN))["seconds", "min"]
        == (lines(policy)["seconds", "min"])
    )


def test_a_sum_over_a_count_by_hand() -> None:
    policy = read(TEXT.replace("UNIT", "row"))
    average = lines(_with(policy, policy_model.Mechanism.SUM_OVER_COUNT))["seconds", "avg"]
    assert average.mechanism is AccuracyMechanism.SUM_OVER_COUNT
    # Each half width at epsilon/2 and 97.5 %: 2 ln 40 rows, 2 * 120 ln 40 seconds; the farthest mean is 120.
    assert average.error_times_rows is not None
    assert abs(float(average.error_times_rows) - 4 * 120 * math.log(40)) < 130


def test_gaussian_noise_is_proposed_where_it_is_smaller() -> None:
    text = """
tables:
  shop.orders:
    unit: {customer: customer_id}
    max_rows_per_unit: 40
    max_groups_per_unit: GROUPS
    PER_GROUP
"""
    per_group = "max_rows_per_group_per_unit: 2"
    many = read(text.replace("GROUPS", "20").replace("PER_GROUP", per_group))
    (found,) = noise_proposals(many, SHOP)
    assert (found.table, found.groups) == ("shop.orders", 20)
    rho = float(zcdp.rho_of_loss(many.privacy.epsilon, many.privacy.delta))
    assert abs(found.gaussian_95 - 1.96 * math.sqrt(20 * 4 / (2 * rho))) <= 1
    assert abs(found.laplace_95 - 40 * math.log(20)) <= 1
    assert found.gaussian_95 < found.laplace_95
    few = read(text.replace("GROUPS", "10").replace("PER_GROUP", per_group))
    loose = read(text.replace("GROUPS", "20").replace("PER_GROUP", ""))
    already = replace(many, privacy=replace(many.privacy, noise=Noise.GAUSSIAN))
    for policy in (few, loose, already):
        assert noise_proposals(policy, SHOP) == []
