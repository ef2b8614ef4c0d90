"""The accuracy table against formulas worked out by hand, and against draws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Code, Refusal
from proxy.cli.accuracy_report import (
    NoiseProposal,
    PolicyAccuracy,
    noise_proposals,
    policy_accuracy,
)
from proxy.engine.accuracy import Accuracy, ErrorKind
from proxy.estimates import recentred_mean_estimate, sampling_accuracy, variance
from proxy.mechanisms import zcdp
from proxy.planner.facts import PlanningContext, PublicContents
from proxy.policy import policy_model
from proxy.policy.check import fitted
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


def planned(policy: Policy) -> list[PolicyAccuracy]:
    return policy_accuracy(fitted(policy, SHOP), SHOP, PublicContents())


def proposals(policy: Policy) -> list[NoiseProposal]:
    return noise_proposals(PlanningContext(fitted(policy, SHOP), SHOP, {}))


def lines(policy: Policy) -> dict[tuple[str, str], Accuracy]:
    """Of what can be answered."""
    return {
        (line.column, line.aggregate): line.planned
        for line in planned(policy)
        if line.table != "shop.customers" and isinstance(line.planned, Accuracy)
    }


def error(line: Accuracy, kind: ErrorKind) -> Fraction:
    assert line.error is not None
    assert line.error.kind is kind
    return line.error.value


def test_which_lines_there_are() -> None:
    table = lines(read(TEXT.replace("UNIT", "row")))
    assert list(table) == [
        ("*", "count(*)"),
        ("seconds", "count"),
        ("seconds", "sum"),
        ("seconds", "avg"),
        ("seconds", "min"),
        ("seconds", "max"),
        ("seconds", "var_pop"),
        ("seconds", "percentile_disc"),
        ("day", "count"),
        ("day", "min"),
        ("day", "max"),
        ("day", "percentile_disc"),
        ("page", "count"),
    ]


def test_row_unit_by_hand() -> None:
    table = lines(read(TEXT.replace("UNIT", "row")))
    count = table["*", "count(*)"]
    assert count.described.change == count.described.scale == 1
    assert error(count, ErrorKind.HALF_WIDTH) == 3
    total = table["seconds", "sum"]
    assert total.described.change == total.described.scale == 120
    # P(|noise| > t) = 2 p^(t+1) / (1+p) with p = e^(-1/120) is 5 % at about 120 ln 20 = 359.5.
    assert abs(error(total, ErrorKind.HALF_WIDTH) - 120 * Fraction(math.log(20))) < 1
    average = table["seconds", "avg"]
    beta = math.log(1 + 0.95 / (2 * math.log(2e6)))  # a twentieth of epsilon is for the gate
    m = math.ceil(2 / beta * math.log(12_000)) | 1  # AVG on a grid of 0.01
    assert average.described.partitions == m
    assert average.described.units_needed is not None
    assert abs(average.described.units_needed - (8 * m + 20 * math.log(20))) < 1
    assert average.described.change is None
    assert average.described.scale is None
    # Noise of scale 2 steps of 0.01 at least: half width 2 ln 20 = 6.0 steps.
    assert error(average, ErrorKind.FLOOR) == Fraction(6, 100)
    least = table["seconds", "min"]
    assert least.described.partitions == math.ceil(2 / beta * math.log(120)) | 1
    assert error(least, ErrorKind.FLOOR) == 6


def test_the_least_noise_is_not_called_the_error() -> None:
    """Of a smoothed median the error is unknown in advance: only what it is at least."""
    reported = lines(read(TEXT.replace("UNIT", "row")))["seconds", "avg"].as_json()
    assert reported["error_95"] is None
    assert reported["floor_95"] == 0.06
    assert reported["error_times_rows"] is None
    assert reported["error_in_rank"] is None
    assert "private" in str(reported["note"])


def test_k_rows_cost_k_times() -> None:
    one, five = (lines(read(TEXT.replace("UNIT", unit))) for unit in ("row", "{rows: 5}"))
    assert five["*", "count(*)"].described.scale == 5
    assert five["seconds", "sum"].described.change == 5 * 120
    # Group privacy: epsilon/5 and less than delta/5, so more than 5 times the partitions.
    few, many = (table["seconds", "avg"].described.partitions for table in (one, five))
    assert few is not None
    assert many is not None
    assert many > 5 * few


def test_identifier_pays_for_its_rows_in_sums_and_not_in_averages() -> None:
    text = TEXT.replace("UNIT", "{page: page}\n    max_rows_per_unit: 40").replace(
        "      page: {}\n", ""
    )
    table, by_row = lines(read(text)), lines(read(TEXT.replace("UNIT", "row")))
    assert table["*", "count(*)"].described.scale == 40
    assert table["seconds", "sum"].described.scale == 40 * 120
    assert table["seconds", "avg"] == by_row["seconds", "avg"]


def test_a_unique_identifier_is_one_row() -> None:
    text = TEXT.replace("UNIT", "{visit: id}\n    max_rows_per_unit: 40")
    assert lines(read(text))["*", "count(*)"].described.scale == 1


def test_a_unique_reference_to_the_unit_is_not_one_row_of_it() -> None:
    """One line per order, but a customer has many orders."""
    text = """
tables:
  shop.orders: {unit: {customer: customer_id}, max_rows_per_unit: 7}
  shop.order_lines:
    unit: {customer: order_id -> shop.orders.customer_id}
    max_rows_per_unit: 9
"""
    found = {
        line.table: line.planned.described.scale
        for line in planned(read(text))
        if isinstance(line.planned, Accuracy)
    }
    assert found == {"shop.orders": 7, "shop.order_lines": 9}


def chosen(**choices: object) -> dict[tuple[str, str], Accuracy]:
    policy = read(TEXT.replace("UNIT", "{rows: 2}"))
    return lines(replace(policy, privacy=replace(policy.privacy, **choices)))  # type: ignore[arg-type]


def test_gaussian_noise_has_the_sigma_of_rho() -> None:
    table = chosen(noise=Noise.GAUSSIAN)
    count, total = table["*", "count(*)"], table["seconds", "sum"]
    rho = float(zcdp.rho_of_loss(Fraction(1), Fraction(1, 10**6)))
    assert count.described.mechanism == "discrete Gaussian"
    assert count.described.scale is not None
    assert total.described.scale is not None
    scale = float(count.described.scale)
    assert scale == pytest.approx(2 / math.sqrt(2 * rho))  # two rows move a count by 2
    assert float(total.described.scale) == pytest.approx(120 * scale)
    half_width = float(error(total, ErrorKind.HALF_WIDTH))
    assert half_width == pytest.approx(1.96 * 120 * scale, rel=1e-3)


def test_polyplace_partitions_by_hand() -> None:
    table = chosen(median_noise=MedianNoise.POLYPLACE)
    gamma = 0.95 * 0.5 / 2  # two rows: half of epsilon each, without the gate's; shape 2
    average, least = table["seconds", "avg"], table["seconds", "min"]
    assert average.described.mechanism == "smoothed median, PolyPlace noise"
    assert average.described.partitions == math.ceil(2 * 2 / gamma * math.log(12_000)) | 1
    assert least.described.partitions == math.ceil(2 / gamma * math.log(120)) | 1
    # Half of |Z| is above 1/2; the 95 % point of Z is 7.49 / 2 (docs/design/mechanisms.md 5.4).
    expected = math.ceil(1 / gamma * sampling_accuracy.polyplace_quantile(0.95))
    assert error(least, ErrorKind.FLOOR) == expected


def test_best_mechanisms_say_what_their_error_depends_on() -> None:
    table = chosen(mechanism=policy_model.Mechanism.BEST)
    average, least = table["seconds", "avg"], table["seconds", "min"]
    assert average.described.partitions is None
    # Noise of scale 2 * 2 * 120 / (23/25) in half seconds about the farthest mean, missed by 5 %.
    expected = 480 / 0.92 / 2 * math.log(20)
    assert float(error(average, ErrorKind.TIMES_ROWS)) == pytest.approx(expected, rel=0.02)
    # 6 % of epsilon is for the number of rows.
    assert error(least, ErrorKind.IN_RANK) == math.ceil(2 * 2 / 0.94 * math.log(121 / 0.05))
    of_day = error(table["day", "percentile_disc"], ErrorKind.IN_RANK)
    # A row on the farther side of a median moves its distance by a half.
    assert of_day == math.ceil(2 * 2 / 2 / 0.94 * math.log(366 / 0.05))


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
        means = recentred_mean_estimate.release(y, rows, 0, 120, Fraction(1), bits, 2).value
        moments = variance.release(120**2 * tops, 120 * tops, rows, 0, 120, Fraction(1), bits, 2)
        variances = variance.population(moments, 0, 120)
        for index, (found, exact, aggregate) in enumerate(
            ((means, exact_mean, "avg"), (variances, exact_variance, "var_pop"))
        ):
            allowed = error(table["seconds", aggregate], ErrorKind.TIMES_ROWS)
            misses[index] += abs(float(found) - exact) > 1.01 * float(allowed) / rows
    assert max(misses) <= 20  # 10 expected at the very most; 21 has probability 1e-3


def test_every_line_has_an_error_of_one_kind() -> None:
    for mechanism in policy_model.Mechanism:
        for line in chosen(mechanism=mechanism).values():
            reported = line.as_json()
            assert sum(reported[kind.value] is not None for kind in ErrorKind) == 1, line


def test_epsilon_and_partitions_of_the_policy_are_used() -> None:
    text = TEXT.replace("UNIT", "row").replace("120]", "120], partitions: 101, grid: 10")
    table = lines(read(text, epsilon="0.5"))
    assert table["*", "count(*)"].described.scale == 2
    assert table["seconds", "sum"].described.scale == 240
    refused = {line.aggregate: line.planned for line in planned(read(text, epsilon="0.5"))}
    # m = 101 is far below the rule at epsilon 0.5: the floor is that of the range, not of the grid.
    assert isinstance(refused["avg"], Refusal)
    average = lines(read(text, epsilon="4"))["seconds", "avg"]
    assert average.described.partitions == 101
    assert average.described.units_needed == 808 + 15  # noise of scale 5: 5 ln 20
    floor = sampling_accuracy.laplace_expected_floor(
        12_000, 101, Fraction(38, 10), Fraction(1, 10**6)
    )
    assert error(average, ErrorKind.FLOOR) == Fraction(floor, 100)


def test_what_cannot_be_answered_is_refused_as_explain_refuses_it() -> None:
    text = read(TEXT.replace("UNIT", "row"), epsilon="0.001")
    found = {(line.column, line.aggregate): line.planned for line in planned(text)}
    refused = found["day", "max"]
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INFEASIBLE
    assert isinstance(found["*", "count(*)"], Accuracy)


def _with(policy: Policy, mechanism: policy_model.Mechanism) -> Policy:
    return replace(policy, privacy=replace(policy.privacy, mechanism=mechanism))


def test_a_clipped_mean_by_hand() -> None:
    policy = read(TEXT.replace("UNIT", "{rows: 2}"))
    average = lines(_with(policy, policy_model.Mechanism.CLIPPED_MEAN))["seconds", "avg"]
    m = math.ceil(2 * math.log(20) * 100 / 0.95) | 1  # two rows move two of m means: 631
    assert average.described.mechanism == "mean of 631 clipped means"
    assert average.described.partitions == m == 631
    assert average.described.change == Fraction(2 * 120, m)
    assert average.described.scale == average.described.change / Fraction(95, 100)
    # Lap(2 * 12000 / epsilon) / m steps of 0.01, and half a step
    half_width = float(error(average, ErrorKind.HALF_WIDTH))
    assert abs(half_width - 2 * 120 / 0.95 * math.log(20) / m) < 0.02
    assert (
        lines(_with(policy, policy_model.Mechanism.CLIPPED_MEAN))["seconds", "min"]
        == (lines(policy)["seconds", "min"])
    )


def test_a_sum_over_a_count_by_hand() -> None:
    policy = read(TEXT.replace("UNIT", "row"))
    average = lines(_with(policy, policy_model.Mechanism.SUM_OVER_COUNT))["seconds", "avg"]
    assert average.described.mechanism == "made of noisy count, noisy sum"
    # Each half width at epsilon/2 and 97.5 %: 2 ln 40 rows, 2 * 120 ln 40 seconds; the farthest mean is 120.
    allowed = float(error(average, ErrorKind.TIMES_ROWS))
    assert abs(allowed - 4 * 120 * math.log(40)) < 130


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
    (found,) = proposals(many)
    assert (found.table, found.groups) == ("shop.orders", 20)
    rho = float(zcdp.rho_of_loss(many.privacy.epsilon, many.privacy.delta))
    assert abs(found.gaussian_95 - 1.96 * math.sqrt(20 * 4 / (2 * rho))) <= 1
    assert abs(found.laplace_95 - 40 * math.log(20)) <= 1
    assert found.gaussian_95 < found.laplace_95
    few = read(text.replace("GROUPS", "10").replace("PER_GROUP", per_group))
    loose = read(text.replace("GROUPS", "20").replace("PER_GROUP", ""))
    already = replace(many, privacy=replace(many.privacy, noise=Noise.GAUSSIAN))
    for policy in (few, loose, already):
        assert proposals(policy) == []
