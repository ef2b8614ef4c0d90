"""Who states bounds, values and public tables, and when: read strictly, and reported."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from proxy.cli.accuracy_report import said_report
from proxy.engine.policy_report import policy_report
from proxy.policy.change_words import ForPeople
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_model import Policy, ProtectedTable, Said
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_schema import policy_schema
from proxy.policy_file.policy_yaml import read_policy
from tests.policy.schema_judge import as_editors_read, complaints

_TEXT = """\
dpproxy: 1
database: shop
source: host=db
privacy: {epsilon: 1, delta: 1e-8}
tables:
  shop.stores: {unit: public, said_by: Otto, said_on: 2026-11-01}
  shop.customers:
    unit: {customer: id}
    max_rows_per_unit: 1
    columns:
      age: {bounds: [0, 120], said_by: Ida, said_on: 2026-11-20}
      state: {values: [CA, TX], said_by: the statistics office}
      born: {bounds: [1900-01-01, now]}
budgets: {total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 2, delta: 1e-6}}
"""
_AGE = "bounds: [0, 120], said_by: Ida, said_on: 2026-11-20"


def _read(old: str = "", new: str = "") -> Policy:
    return read_policy(_TEXT.replace(old, new) if old else _TEXT, "p.yaml", {})


def test_it_is_read_and_in_every_report() -> None:
    policy = _read()
    (table,) = (one for one in policy.tables.values() if isinstance(one, ProtectedTable))
    assert table.columns["age"].said == Said("Ida", date(2026, 11, 20))
    assert table.columns["state"].said == Said("the statistics office")
    assert table.columns["born"].said == Said()
    (public,) = (
        one
        for one in policy_report(policy, None, "1", datetime.now(timezone.utc)).sections
        if one.key == "public"
    )
    assert {(row[0], row[3], row[4]) for row in public.rows} == {
        ("shop.stores", "Otto", "2026-11-01"),
        ("shop.customers.age", "Ida", "2026-11-20"),
        ("shop.customers.state", "the statistics office", "-"),
        ("shop.customers.born", "-", "-"),
    }
    assert list(said_report(policy)) == [
        "As public: shop.stores, said by Otto on 2026-11-01.",
        "As public: shop.customers.age, said by Ida on 2026-11-20.",
        "As public: shop.customers.state, said by the statistics office.",
    ]
    assert list(complaints(as_editors_read(_TEXT), policy_schema())) == []


@pytest.mark.parametrize("new", ["Kim", "Ida, said_on: 2026-11-21"])
def test_a_change_is_told_and_weakens_nothing(new: str) -> None:
    old = "Ida, said_on: 2026-11-20" if "said_on" in new else "Ida"
    (change,) = policy_changes(_read(), _read(old, new))
    assert (change.where, change.people) == (
        "tables.shop.customers.columns.age.said_by",
        ForPeople.SAME,
    )
    (change,) = policy_changes(_read(), _read("Otto", "Kim"))
    assert (change.where, change.people) == ("tables.shop.stores.said_by", ForPeople.SAME)


@pytest.mark.parametrize(
    ("age", "message", "hint"),
    [
        (
            "bounds: [0, 120], said_on: 2026-13-01",
            "said_on of column 'age' must be a date",
            "2026-",
        ),
        ("bounds: [0, 120], said_on: soon", "must be a date", "write it as 2026-11-27"),
        ("bounds: [0, 120], said_on: 20261127", "must be a date", "write it as 2026-11-27"),
        (
            "bounds: [0, 120], said_by: ''",
            "said_by of column 'age' has no value",
            "take the key out",
        ),
        (
            "bounds: [0, 120], said_by: ' 1 '",
            "said_by of column 'age' must be a name",
            "the office",
        ),
        ("bounds: [0, 120], said_by: TODO", "must be a name", "write the name or the office"),
        (
            'bounds: [0, 120], said_by: "a\\nb"',
            "must be a name, in one line",
            "write the name or the office",
        ),
        (
            f"bounds: [0, 120], said_by: {'x' * 1001}",
            "must be a name, in one line",
            "the name or the office",
        ),
        ("bounds: [0, 120], said_by: [Ida]", "said_by of column 'age'", ""),
        ("bounds: [0, 120], said_by: null", "must be a name", "the office"),
        ("bounds: [0, 120], said: Ida", "unknown key 'said'", "said_"),
        ("said_by: Ida", "said_by has no effect without bounds or values", "or take said_by out"),
        ("said_on: 2026-11-20", "said_on has no effect without bounds", "or take said_on out"),
    ],
)
def test_a_mistake_is_refused_with_a_hint(age: str, message: str, hint: str) -> None:
    with pytest.raises(PolicyErrors) as refused:
        _read(_AGE, age)
    assert message in str(refused.value) and hint in str(refused.value)


def test_a_public_column_and_a_protected_table_have_none() -> None:
    for old, new in (
        ("unit: public,", "unit: public, columns: {id: {said_by: Ida}},"),
        ("max_rows_per_unit: 1", "said_by: Ida"),
    ):
        with pytest.raises(PolicyErrors):
            _read(old, new)
