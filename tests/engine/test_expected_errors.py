"""What EXPLAIN says of errors is what comes for values that fill a third of their bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from statistics import median

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.expected_errors import ExpectedError, expected_error
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic, PrivatePlan
from proxy.mechanisms import discrete_laplace
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.presenting import presented
from tests.pipeline_world import POLICIES, walk
from tests.seeded_bits import SeededBits

_PAIRS = ("corr", "regr_slope", "regr_intercept", "regr_r2", "covar_pop", "covar_samp")
_SPREADS = ("variance", "stddev", "var_pop", "stddev_pop")
_FORMULAS = {
    **{kind: f"SELECT {kind}(i4, f8) FROM people" for kind in _PAIRS},
    **{kind: f"SELECT {kind}(i4) FROM people" for kind in _SPREADS},
}


def _plan(sql: str, policy: Policy) -> PrivatePlan:
    found = walk(sql, policy)
    assert found is not None
    return found.plan


def _expected(plan: PrivatePlan) -> ExpectedError:
    (block,), (entry,) = plan.blocks, accuracies(plan)
    return expected_error(block, 0, entry)


def _exact(release: NoisyStatistic, part: float, rows: int) -> int:
    """Of rows whose values are spread evenly over the lowest part of their bounds, each beside each other."""
    of = release.of if isinstance(release.of, tuple) else ()
    steps = 40
    places = [
        [one.low + (one.high - one.low) * part * n / (steps - 1) for n in range(steps)]
        for one in of
    ]
    total = 0.0
    for first in places[0] if places else [0.0]:
        for second in places[1] if len(places) > 1 else [0.0]:
            centred = [
                2 * i - one.low - one.high for i, one in zip((first, second), of, strict=False)
            ]
            match release.statistic.name:
                case "ROWS":
                    total += 1
                case "STEPS":
                    total += first
                case "CENTRED":
                    total += centred[0]
                case "SQUARES":
                    total += 2 * centred[0] ** 2 - of[0].width ** 2
                case "PRODUCTS":
                    total += centred[0] * centred[1]
    number = max(1, len(places[0]) if places else 1) * max(
        1, len(places[1]) if len(places) > 1 else 1
    )
    return round(rows * total / number)


def _came(block: BlockPlan, part: float, rows: int) -> list[float | None]:
    """Stated errors of 15 draws."""
    found: list[float | None] = []
    for seed in range(15):
        bits, drawn = SeededBits(seed), []
        for release in block.releases:
            assert isinstance(release, NoisyStatistic) and isinstance(release.noise, LaplaceNoise)
            noise = discrete_laplace.sample(bits, release.noise.scale)
            drawn.append(DrawnNumber(_exact(release, part, rows) + noise))
        table = presented(block, DrawnBlock((DrawnGroup((), tuple(drawn)),)))
        value = table.rows[0].values[0]
        found.append(None if value.half_width is None else float(value.half_width * value.grid))
    return found


@pytest.mark.every(6)
@pytest.mark.parametrize("kind", _FORMULAS)
def test_errors_of_formulas_are_those_that_come(kind: str) -> None:
    plan = _plan(_FORMULAS[kind], POLICIES["best"])
    for example in _expected(plan).examples:
        assert example.number is not None
        came = _came(plan.blocks[0], 1 / 3, example.number)
        known = [one for one in came if one is not None]
        if example.error is None:
            assert len(known) < 10
        else:
            assert len(known) > 10
            assert median(known) / 2 < example.error < 2 * median(known)


def test_of_a_null_it_is_said_how_much_values_have_to_fill() -> None:
    """As it comes: with values that fill so much there is an answer, with those of a third there is none."""
    policy = replace(
        POLICIES["best"], privacy=replace(POLICIES["best"].privacy, epsilon=Fraction(1, 30))
    )
    plan = _plan("SELECT corr(i4, f8) FROM people", policy)
    expected = _expected(plan)
    assert [one.error for one in expected.examples] == [None] * 3
    (words, *_) = expected.remarks
    part = float(words.partition("at least about ")[2].partition(" %")[0]) / 100
    assert (
        words.startswith("for 100,000 NULL unless values fill at least about") and 0.4 <= part <= 1
    )
    assert sum(one is None for one in _came(plan.blocks[0], part, 100_000)) < 5
    assert sum(one is None for one in _came(plan.blocks[0], 1 / 3, 100_000)) > 10


def test_nothing_is_promised_that_cannot_be() -> None:
    policy = replace(
        POLICIES["best"], privacy=replace(POLICIES["best"].privacy, epsilon=Fraction(1, 3000))
    )
    expected = _expected(_plan("SELECT corr(i4, f8) FROM people", policy))
    assert expected.remarks[0] == "for 100,000 NULL even if values fill their bounds"


def _of_visits(sql: str) -> ExpectedError:
    name, policy = TableName("w", "visits"), POLICIES["best"]
    table = policy.tables[name]
    assert isinstance(table, ProtectedTable)
    chosen = replace(
        table,
        max_rows_per_unit=1_000_000,
        chooses_rows=True,
        max_groups_per_unit=None,
        max_rows_per_group_per_unit=None,
    )
    return _expected(_plan(sql, replace(policy, tables={**policy.tables, name: chosen})))


def test_a_mean_of_people_in_several_groups_has_a_part_of_each() -> None:
    whole = _of_visits("SELECT avg(i4) FROM visits")
    groups = _of_visits("SELECT avg(i4) FROM visits GROUP BY t")
    many = _of_visits("SELECT avg(i4) FROM visits GROUP BY date_trunc('month', d)")
    last, of_groups, of_many = (one.examples[-1].error for one in (whole, groups, many))
    assert last is not None and of_groups == 4 * last and of_many == 10 * last
    assert "and rows in 4 groups each" in groups.assumptions[0]
    assert "groups" not in whole.assumptions[0]


def test_bounds_that_are_chosen_are_larger_than_what_most_have() -> None:
    found = _of_visits("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM visits")
    assert "has 50 at most" in found.assumptions[0]


def test_the_number_of_units_that_a_policy_says_is_the_example() -> None:
    """By public groups. It stands in the same text as the error."""
    plan = _plan("SELECT t, avg(i4) FROM people GROUP BY t", POLICIES["best"])
    (block,), (entry,) = plan.blocks, accuracies(plan)
    groups = block.groups()
    assert groups
    found = expected_error(block, 0, entry, 40_000 * groups)
    assert [one.number for one in found.examples] == [4_000, 40_000]
    usual = expected_error(block, 0, entry)
    assert [one.number for one in usual.examples] == [1_000, 10_000, 100_000]
    assert found.usual_text().endswith(" for 40,000 rows")
    assert usual.usual_text().endswith(" for 10,000 rows")
    known = [one.error for one in found.examples if one.error is not None]
    assert known[-1] == Fraction(usual.examples[1].error or 0) / 4


def test_a_rounded_answer_has_the_error_that_its_page_shows() -> None:
    best = POLICIES["best"]
    plan = _plan("SELECT sum(n2) FROM people", best)
    (block,) = plan.blocks
    exact = expected_error(block, 0, accuracies(plan)[0]).examples[0].error
    shown = (
        expected_error(replace(block, is_rounded=True), 0, accuracies(plan)[0]).examples[0].error
    )
    assert exact is not None and shown is not None and exact < shown < exact * Fraction(103, 100)


def test_a_quantile_is_told_by_percentiles() -> None:
    told = _expected(
        _plan(
            "SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY i4) FROM people", POLICIES["best"]
        )
    )
    error = told.examples[1].error
    assert error is not None
    low, high = math.floor(90 - error), min(100, math.ceil(90 + error))
    assert told.usual_text() == f"p{low} to p{high} for 10,000 rows"
