"""The sample policies as a privacy officer reads them: limits of budgets, exceptions, features."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from proxy.cli.policy_commands import variable_of
from proxy.cli.sample_policies import SamplePolicy, sample_policies
from proxy.policy.policy_model import (
    Accounting,
    BoundsKind,
    IdentifierUnit,
    Noise,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
)
from proxy.policy_file.policy_yaml import policy_text, read_policy

_SAMPLES = sample_policies()
_MOST_EPSILON, _MOST_DELTA = 20, Fraction(1, 100_000)
_FEWEST_STATEMENTS = 24


def _policy(sample: SamplePolicy) -> Policy:
    environment = {variable_of(sample.name): "host=db"}
    return read_policy(policy_text(sample.policy_file), sample.policy_file.name, environment)


_each = pytest.mark.parametrize("sample", _SAMPLES, ids=lambda sample: sample.name)


@_each
def test_a_sample_is_complete(sample: SamplePolicy) -> None:
    files = {"policy.yaml", "schema.sql", "rows.sql", "queries.sql"}
    assert {path.name for path in sample.folder.iterdir()} == files
    assert sample.queries
    assert all("error_95" in query for query in sample.queries)
    assert _policy(sample).database == sample.name
    assert sample.summary.endswith(".")


@_each
def test_budgets_can_be_signed(sample: SamplePolicy) -> None:
    policy = _policy(sample)
    budgets = policy.budgets
    for budget in (
        budgets.total,
        budgets.default,
        *budgets.analysts.values(),
        *budgets.groups.values(),
        *budgets.tables.values(),
    ):
        assert 0 < budget.limit.epsilon <= _MOST_EPSILON
        assert 0 < budget.limit.delta <= _MOST_DELTA
    assert budgets.default.limit.epsilon < budgets.total.limit.epsilon
    assert policy.privacy.epsilon <= policy.privacy.max_epsilon <= 1
    assert policy.privacy.delta <= Fraction(1, 10**8)


@_each
def test_a_total_lasts_for_dozens_of_statements(sample: SamplePolicy) -> None:
    privacy, total = _policy(sample).privacy, _policy(sample).budgets.total.limit
    assert total.epsilon / privacy.epsilon >= _FEWEST_STATEMENTS
    assert total.delta / privacy.delta >= _FEWEST_STATEMENTS


@_each
def test_no_finding_is_accepted_without_a_sentence(sample: SamplePolicy) -> None:
    assert all(len(one.reason.split()) >= 5 for one in _policy(sample).accepted)


def _protected(policy: Policy) -> tuple[ProtectedTable, ...]:
    return policy.protected()


_FEATURES: dict[str, Callable[[Policy], bool]] = {
    "a row is the unit, and no join": lambda policy: all(
        isinstance(table.unit, RowUnit) and not table.join_keys for table in _protected(policy)
    ),
    "identified units, bounds chosen privately, public tables": lambda policy: (
        any(
            isinstance(table.unit, IdentifierUnit) and table.chooses_rows
            for table in _protected(policy)
        )
        and any(isinstance(table, PublicTable) for table in policy.tables.values())
    ),
    "a unit through a reference, private keys with a bound on groups": lambda policy: (
        any(
            isinstance(table.unit, IdentifierUnit) and table.unit.path is not None
            for table in _protected(policy)
        )
        and any(table.max_groups_per_unit for table in _protected(policy))
        and len(_protected(policy)) >= 3
    ),
    "time keys and published tables": lambda policy: (
        len(policy.publish) > 0
        and any(
            column.bounds is not None and column.bounds.kind is not BoundsKind.NUMBER
            for table in _protected(policy)
            for column in table.columns.values()
        )
    ),
    "joins by truncation": lambda policy: (
        sum(bool(table.join_keys) for table in _protected(policy)) >= 2
    ),
    "zCDP, Gaussian noise, groups of analysts": lambda policy: (
        policy.accounting is Accounting.ZCDP
        and policy.privacy.noise is Noise.GAUSSIAN
        and len(policy.budgets.groups) >= 2
    ),
}


@pytest.mark.parametrize("feature", _FEATURES)
def test_a_sample_shows_each_feature(feature: str) -> None:
    shown = [sample.name for sample in _SAMPLES if _FEATURES[feature](_policy(sample))]
    assert shown, feature


@_each
def test_the_page_of_the_samples_names_each(sample: SamplePolicy) -> None:
    page = (sample.folder.parent / "README.md").read_text(encoding="utf-8")
    assert f"| [{sample.name}]({sample.name}/policy.yaml) |" in page
