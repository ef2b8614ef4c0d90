"""`policy check` and EXPLAIN say the same of each column and aggregate, field by field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.cli.accuracy_report import (
    accuracy_json,
    accuracy_report,
    odds_report,
    policy_accuracy,
    smallest_groups,
)
from proxy.cli.explain_command import explanation
from proxy.cli.loading import CheckedPolicy, contents_of
from proxy.cli.running import run
from proxy.engine.accuracy import Accuracy
from proxy.kernel.plan import LaplaceNoise
from proxy.planner.facts import PublicContents
from proxy.policy.check import fitted
from proxy.policy.policy_model import (
    Accounting,
    Bounds,
    Mechanism,
    MedianNoise,
    Noise,
    Policy,
    ProtectedTable,
)
from proxy.release.small_groups import reach_of
from tests.pipeline_world import CATALOG, POLICIES
from tests.policy.catalogs import SHOP
from tests.policy.reading import read
from tests.samples import ALL_SAMPLES, checked_sample

_ERRORS = (*("error_95", "floor_95", "error_times_rows", "error_in_rank", "error_times_bound"),)
_EXPLAINED = frozenset(
    ("block", "aggregate", "mechanism", "sensitivity", "scale", *_ERRORS, "partitions")
) | {"units_needed", "note", "no_interval", "condition", "epsilon", "delta", "share"}
_SHOP = """
tables:
  shop.visits:
    unit: UNIT
    columns:
      seconds: {bounds: [-10, 120]}
      day: {bounds: [2020-01-01, 2020-12-31]}
      page: {}
  shop.products: public
"""
_UNITS = {"row": "row", "rows": "{rows: 4}", "identifier": "{page: page}\n    max_rows_per_unit: 9"}


def test_it_says_what_epsilon_means_as_odds() -> None:
    policy = fitted(read(_SHOP.replace("UNIT", "row"), epsilon="2"), SHOP)
    statement, total = odds_report(policy)
    assert statement.startswith(
        "One statement: someone who guesses 1 in 100 that a row is in the data"
    )
    assert "can at most come to 1 in 14" in statement
    assert "All answers together, within budgets.total" in total and "certainty" in total
    (*_, of_rho) = odds_report(replace(policy, accounting=Accounting.ZCDP))
    assert "half of that delta is for the conversion of rho" in of_rho
    told = accuracy_json(policy, [], [])["odds"]
    assert told["statement"]["text"] in statement and told["total"]["text"] in total


def test_it_says_from_how_many_units_on_groups_are_shown() -> None:
    nothing = PublicContents(values={}, rows={}, bounds={})
    assert not list(smallest_groups(POLICIES["world"], CATALOG, nothing))
    found = {one.table: one for one in smallest_groups(POLICIES["smallest"], CATALOG, nothing)}
    people, orders = found["w.people"], found["w.orders"]
    # One unit moves the count by 1 at epsilon 8: 11 and what noise of scale 1/8 reaches.
    assert people.fewest == 11 and people.public_half == 11 + reach_of(
        LaplaceNoise(scale=Fraction(1, 8))
    )
    assert people.private_half is not None and people.private_half >= 11
    assert "w.people: no group of fewer than 11 rows is shown, by public keys half" in people.text()
    assert orders.units == "people" and orders.public_half is not None and orders.public_half > 11


def _policies() -> Iterator[tuple[str, Policy, Catalog]]:
    """Every mechanism and noise, for each kind of unit; too little epsilon; columns of every type."""
    for unit, epsilon in product(_UNITS, ("1.0", "0.01")):
        text = _SHOP.replace("UNIT", _UNITS[unit])
        if unit == "identifier":
            text = text.replace("      page: {}\n", "")
        policy = fitted(read(text, epsilon=epsilon), SHOP)
        for mechanism, noise, median in product(Mechanism, Noise, MedianNoise):
            if epsilon == "0.01" and noise is Noise.GAUSSIAN:
                continue
            privacy = replace(policy.privacy, mechanism=mechanism, noise=noise, median_noise=median)
            name = f"{unit}, {epsilon}, {mechanism.value}, {noise.value}, {median.value}"
            yield name, replace(policy, privacy=privacy), SHOP
    for name in ("world", "pure"):  # the latter without a delta: no smoothed median at all
        policy = POLICIES[name]
        few = {
            table: policy.tables[table]
            for table in policy.tables
            if table.name in ("people", "orders", "lines")
        }
        yield name, replace(policy, tables=few), CATALOG


# With too little epsilon a unit of one row is in every run, the others at night.
_CASES = [
    pytest.param(
        case,
        id=case[0],
        marks=[pytest.mark.long] * (", 0.01," in case[0] and not case[0].startswith("row,")),
    )
    for case in _policies()
]


@pytest.mark.every(18)
@pytest.mark.parametrize("case", _CASES)
def test_policy_check_and_explain_say_the_same(case: tuple[str, Policy, Catalog]) -> None:
    _, policy, catalog = case
    _compare(CheckedPolicy(policy, catalog), PublicContents())


@pytest.mark.every(6)
@pytest.mark.postgres
@pytest.mark.parametrize("name", [sample.name for sample in ALL_SAMPLES])
def test_of_the_sample_policies_too(name: str) -> None:
    checked = checked_sample(name)
    _compare(checked, contents_of(checked))


def _compare(checked: CheckedPolicy, public: PublicContents) -> None:
    lines = policy_accuracy(checked.policy, checked.catalog, public)
    reported = accuracy_json(checked.policy, lines, [])["accuracy"]
    assert {entry["table"] for entry in reported} == {
        str(table.name) for table in checked.policy.protected()
    }
    text = "\n".join(accuracy_report(checked.policy, lines, []))
    statements = [f"SELECT {_call(entry)} FROM {entry['table']}" for entry in reported]
    for entry, sql, plan in zip(
        reported, statements, run(_explained(checked, public, statements)), strict=True
    ):
        if isinstance(plan, Refusal):
            assert entry["feasible"] is False, sql
            assert [entry[name] for name in _ERRORS] == [None] * len(_ERRORS)
            assert entry["note"] == f"{plan.message}. {plan.hint}"
            assert plan.message in text
            continue
        assert plan is not None
        (explained,) = json.loads(plan)["aggregates"]
        assert set(explained) == _EXPLAINED | {"name", "written", "columns", "expected"}
        assert set(entry) == _EXPLAINED | {"table", "column", "feasible"}
        assert entry["feasible"] is True
        for field in _EXPLAINED - {"sensitivity"}:
            assert entry[field] == explained[field], (sql, field)
        assert entry["sensitivity"] == _number(explained), sql
        # Of people whose values share places no rank is stated (accuracy.md 7). How exact a mean or a
        # variance of deviations is follows from the bounds that it chooses, and its note says so.
        is_of_places = entry["units_needed"] and entry["mechanism"] == "exponential mechanism"
        chooses = entry["note"].endswith("is stated with the answer")
        assert chooses == entry["mechanism"].endswith("of units about noisy centres"), sql
        stated = sum(entry[name] is not None for name in _ERRORS)
        assert stated == 1 or (stated == 0 and (is_of_places or chooses)), sql
        smoothed = entry["mechanism"].startswith("smoothed median")
        assert (entry["floor_95"] is not None) == smoothed, sql


async def _explained(
    checked: CheckedPolicy, public: PublicContents, statements: list[str]
) -> list[str | Refusal | None]:
    """All in one event loop: making one takes longer than a plan."""
    found: list[str | Refusal | None] = []
    for sql in statements:
        try:
            found.append(await explanation(checked, public, sql, as_json=True))
        except Refusal as refusal:
            found.append(refusal)
    return found


def _call(entry: dict[str, Any]) -> str:
    """As an analyst writes it."""
    match entry["aggregate"]:
        case "count(*)":
            return "count(*)"
        case "percentile_disc":
            return f'percentile_disc(0.5) WITHIN GROUP (ORDER BY "{entry["column"]}")'
        case aggregate:
            return f'{aggregate}("{entry["column"]}")'


def _number(explained: dict[str, Any]) -> object:
    """EXPLAIN's text of the sensitivity as policy check's number. Of an exponential mechanism it is one of
    ranks, not of values, and policy check has none."""
    found = re.match(r"[\d.]+(e[+-]\d+)?", explained["sensitivity"])
    if found is None or explained["mechanism"] == "exponential mechanism":
        return None
    return pytest.approx(float(found[0]), rel=1e-5)


@pytest.mark.every(13)
@pytest.mark.parametrize("digits", [100, 160, 200, 300, 320])
@pytest.mark.parametrize("name", ["best", "world", "gaussian", "clipped", "ratio"])
def test_bounds_beyond_a_double_are_reported(name: str, digits: int) -> None:
    """An answer is charged before its accuracy is written: that may not fail, however large the bounds are."""
    people = TableName("w", "people")
    table = POLICIES[name].tables[people]
    assert isinstance(table, ProtectedTable)
    column = replace(
        table.columns["n"],
        bounds=Bounds(Fraction(0), Fraction(10**digits)),
        grid=None,
    )
    wide = replace(table, columns={**table.columns, "n": column})
    policy = replace(POLICIES[name], tables={people: wide})
    found = policy_accuracy(policy, CATALOG, PublicContents())
    assert any(isinstance(line.planned, Accuracy) for line in found)
    for line in found:
        if isinstance(line.planned, Accuracy):
            json.loads(json.dumps(line.planned.as_json()))
            if line.planned.error is not None:
                assert line.planned.error.text()
    assert json.dumps(accuracy_json(policy, found, ())) and [*accuracy_report(policy, found, ())]
