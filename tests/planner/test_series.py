"""Statements that are published as a series of days: what is refused, and that what the hint says is not."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Refusal
from proxy.engine import publishing
from proxy.engine.publishing import errors_of_ranges, errors_of_series, series_of
from proxy.estimates.series_noise import best_range_factor
from proxy.kernel.plan import ContinualNoise, DistinctCount
from proxy.mechanisms.continual import factor_of
from proxy.mechanisms.loss import Loss
from proxy.planner.series import SeriesTerms
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.policy.publication import Continual, DaySums, Publication
from tests.kernel.examples import policy_of_fewest
from tests.pipeline_world import POLICIES, Pipeline, walk

_WHERE = "d >= '2010-01-01' AND d < '2010-01-06'"
_GOOD = f"SELECT d, count(*), sum(i4), count(DISTINCT uid) FROM visits WHERE {_WHERE} GROUP BY d"
_TERMS = SeriesTerms(steps=5, most_steps=2)
_ROWS = replace(_TERMS, most_steps=1)
_OF_ROWS = f"SELECT d, count(*) FROM people WHERE {_WHERE} GROUP BY d"
_WORLD = POLICIES["world"]
_PUBLISHED = Publication(
    name="one",
    sql=_GOOD,
    seconds=86_400,
    offset=0,
    loss=Loss(Fraction(1), Fraction(1, 10**6)),
    continual=Continual(days=5, most_days=2),
)


def _series(text: str, terms: SeriesTerms = _TERMS, policy: Policy = _WORLD) -> Pipeline:
    found = walk(text, policy, settings={"dp.delta": "1e-6"}, series=terms)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (_GOOD, _TERMS),
        (_OF_ROWS, _ROWS),
        (
            f"SELECT d, sum(i4) / 2 + 1 FROM visits WHERE {_WHERE} AND b GROUP BY d ORDER BY 1",
            _TERMS,
        ),
        (f"SELECT d, count(*) FILTER (WHERE b) FROM visits WHERE {_WHERE} GROUP BY d", _TERMS),
        (
            "SELECT v.d, count(*) FROM visits v JOIN members m ON m.uid = v.uid"
            f" WHERE v.{_WHERE.replace('AND d', 'AND v.d')} GROUP BY v.d",
            _TERMS,
        ),
        (
            f"SELECT d, count(*) FROM (SELECT d, uid FROM visits WHERE b) q WHERE {_WHERE} GROUP BY d",
            _TERMS,
        ),
    ],
)
def test_it_is_a_series(text: str, terms: SeriesTerms) -> None:
    (block,) = _series(text, terms).plan.blocks
    assert len(block.continual) == len(block.releases) > 0
    assert all(isinstance(noise, ContinualNoise) for noise in block.continual.values())


_AT_ONCE = replace(_TERMS, steps=None)


@pytest.mark.parametrize(
    "text",
    [
        _GOOD,
        f"SELECT d, count(*) FROM visits v WHERE {_WHERE} AND NOT EXISTS (SELECT 1 FROM orders o WHERE"
        " o.uid = v.uid) GROUP BY d",
        f"SELECT d, count(*) FROM visits WHERE {_WHERE} AND i4 IN (SELECT k FROM rates) GROUP BY d",
        "SELECT d, count(*) FROM (SELECT d, row_number() OVER (PARTITION BY uid ORDER BY d DESC) AS n FROM"
        f" visits) q WHERE n <= 3 AND {_WHERE} GROUP BY d",
    ],
)
def test_days_at_once_may_be_of_rows_that_change(text: str) -> None:
    (block,) = _series(text, _AT_ONCE).plan.blocks
    noises = block.continual.values()
    assert len(noises) == len(block.releases) and not block.is_stepwise
    for release, noise in zip(block.releases, noises, strict=True):
        days = 2 if isinstance(release, DistinctCount) else 1  # all rows of a person may be in one
        assert noise.factor == best_range_factor(5, days)


@pytest.mark.parametrize("most", [2, 6])
@pytest.mark.parametrize("where", ["", "WHERE d = '2010-01-01'", f"WHERE {_WHERE}"])
def test_other_groups_than_days_of_a_range(where: str, most: int) -> None:
    text = f"SELECT {'d' if most == 2 else 'b'}, count(*) FROM visits {where} GROUP BY 1"
    if "-06" in where and most == 2:
        _series(text, replace(_AT_ONCE, most_steps=most))
        return
    with pytest.raises(
        Refusal, match=r"groups, where ranges: day needs \d to 1100 days"
    ) as refused:
        _series(text, replace(_AT_ONCE, most_steps=most))
    assert refused.value.hint.startswith("Group by the day alone")


_REFUSED = {
    "average": (f"SELECT d, avg(i4) FROM visits WHERE {_WHERE} GROUP BY d", "another aggregate"),
    "variance": (
        f"SELECT d, stddev(i4) FROM visits WHERE {_WHERE} GROUP BY d",
        "another aggregate",
    ),
    "largest": (f"SELECT d, max(i4) FROM visits WHERE {_WHERE} GROUP BY d", "another aggregate"),
    "median": (
        f"SELECT d, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FROM visits WHERE {_WHERE} GROUP BY d",
        "another aggregate",
    ),
    "values": (
        f"SELECT d, count(DISTINCT i4) FROM visits WHERE {_WHERE} GROUP BY d",
        "different values",
    ),
    "no days": (f"SELECT count(*) FROM visits WHERE {_WHERE}", "groups, and continual: 5 days"),
    "other days": (_GOOD.replace("-06", "-07"), "has 6 groups, and continual: 5 days"),
    "two keys": (
        f"SELECT d, b, count(*) FROM visits WHERE {_WHERE} GROUP BY d, b",
        "groups, and continual",
    ),
    "two parts": (
        f"SELECT d, count(*) FROM visits WHERE i4 > (SELECT avg(i4) FROM visits) AND {_WHERE} GROUP BY d",
        "",
    ),
    "a window": (
        "SELECT d, count(*) FROM (SELECT d, row_number() OVER (PARTITION BY uid ORDER BY d DESC) AS n FROM"
        f" visits) q WHERE n <= 3 AND {_WHERE} GROUP BY d",
        "may change when others come",
    ),
    "without others": (
        f"SELECT d, count(*) FROM visits v WHERE {_WHERE} AND NOT EXISTS (SELECT 1 FROM orders o WHERE"
        " o.uid = v.uid) GROUP BY d",
        "may change when others come",
    ),
    "public rows": (
        f"SELECT d, count(*) FROM visits WHERE {_WHERE} AND i4 IN (SELECT k FROM rates) GROUP BY d",
        "may change when others come",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_what_is_none_is_refused(name: str) -> None:
    text, why = _REFUSED[name]
    with pytest.raises(Refusal) as refused:
        _series(text)
    assert refused.value.message.startswith("a published series") and why in refused.value.message
    assert refused.value.hint


def test_the_last_row_of_a_person_is_another_one_each_day() -> None:
    text = _REFUSED["a window"][0].replace("n <= 3", "n = 1")
    with pytest.raises(Refusal, match="may change when others come"):
        _series(text, _ROWS)


def test_rows_are_in_one_day() -> None:
    with pytest.raises(Refusal, match="each unit is one row") as refused:
        _series(_OF_ROWS)
    assert refused.value.hint == "Write max_days_per_unit: 1."
    _series(_OF_ROWS, _ROWS)


def test_bounds_that_are_chosen_are_none() -> None:
    """Each day would choose its own. People are counted without any."""
    tables = {
        name: replace(table, chooses_rows=True, max_rows_per_unit=1000)
        if isinstance(table, ProtectedTable) and name.name == "visits"
        else table
        for name, table in _WORLD.tables.items()
    }
    policy = replace(_WORLD, tables=tables)
    with pytest.raises(Refusal, match="needs max_rows_per_unit as a number"):
        _series(_GOOD, policy=policy)
    _series(f"SELECT d, count(DISTINCT uid) FROM visits WHERE {_WHERE} GROUP BY d", policy=policy)


def test_small_groups_that_are_hidden_do_not_add_up() -> None:
    with pytest.raises(Refusal, match="would show NULL for small groups"):
        _series(_GOOD, policy=policy_of_fewest(5))


def test_without_delta_there_is_no_series() -> None:
    """Under either accounting the noise is Gaussian, whatever `privacy.noise` says."""
    with pytest.raises(Refusal, match="needs a delta above 0"):
        walk(_GOOD, settings={"dp.delta": "0"}, series=_TERMS)


def test_where_people_come_each_day_noise_is_independent() -> None:
    """The plan takes summed noisy days where these are better."""
    every_day = _series(_GOOD, replace(_TERMS, most_steps=5)).plan.blocks[0]
    one_day = _series(_GOOD, replace(_TERMS, most_steps=1)).plan.blocks[0]
    assert {noise.factor for noise in every_day.continual.values()} == {factor_of(5, 0)}
    assert all(noise.factor[1] > 0 for noise in one_day.continual.values())


def test_stated_errors_of_ranges_beside_the_statement_without() -> None:
    """Of people who come on some days: a range gains. Of one row each: Laplace noise of each day is less."""
    where = "d >= '2010-01-01' AND d < '2010-06-01'"
    people = f"SELECT d, count(DISTINCT uid) FROM visits WHERE {where} GROUP BY d"
    of = replace(_PUBLISHED, continual=None, ranges=DaySums(most_days=3))
    alone = walk(people, settings={"dp.delta": "1e-6"})
    assert alone is not None
    plan = _series(people, replace(_AT_ONCE, most_steps=3)).plan
    line = errors_of_ranges(of, plan, alone.plan)
    begin = "published.one: 95 % errors, in brackets without ranges: count(distinct) a day +-"
    assert line.startswith(begin) and "leave it out" not in line
    pairs = [tuple(map(int, one)) for one in re.findall(r"\+-(\d+) \((\d+)\)", line)]
    (day, of_a_day), (month, of_a_month), (worst, of_all) = pairs
    assert of_a_day < day < month <= of_a_month and worst < 0.7 * of_all
    assert abs(of_all - of_a_month * (151 / 30) ** 0.5) < 2
    rows = walk(_OF_ROWS, settings={"dp.delta": "1e-6"})
    assert rows is not None
    plan = _series(_OF_ROWS, replace(_AT_ONCE, most_steps=1)).plan
    assert errors_of_ranges(of, plan, rows.plan).endswith("gains nothing here: leave it out")


def test_stated_errors_are_those_of_the_noise() -> None:
    """Of independent noise a sum of five days has the error of one, times the root of 5."""
    text = errors_of_series(_PUBLISHED, _series(_GOOD, replace(_TERMS, most_steps=5)).plan)
    assert text.startswith("published.one: 5 days for epsilon 1 in all; 95 % errors: count(*) +-")
    numbers = [int(one) for one in re.findall(r"\+-(\d+)", text)]
    assert len(numbers) == 9
    for day, longest, all_days in (numbers[:3], numbers[3:6], numbers[6:]):
        assert longest == all_days and abs(all_days - day * 5**0.5) < 3
    series = errors_of_series(_PUBLISHED, _series(_GOOD, replace(_TERMS, most_steps=1)).plan)
    day, longest, all_days = (int(one) for one in re.findall(r"\+-(\d+)", series)[:3])
    assert day < all_days < longest < day * 5**0.5, "noise cancels"


def test_what_another_version_reads_otherwise_is_another_series(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A person may be on other days by it: those that were drawn count by the version before."""
    plan = _series(_GOOD).plan
    one = series_of(plan)
    assert series_of(plan) == one
    monkeypatch.setattr(publishing, "SEMANTICS", 2)
    assert series_of(plan).plan != one.plan
