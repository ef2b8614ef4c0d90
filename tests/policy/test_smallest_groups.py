"""`min_units_per_group` and `units_about` in a policy file: read, compared, and part of what is published."""

from __future__ import annotations

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.policy.change_words import Topic
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import read_policy

_TEXT = """\
dpproxy: 1
database: shop
source: ${DSN}
privacy: {epsilon: 1, delta: 1e-8}
budgets: {total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 4, delta: 1e-6}}
publish:
  - {name: n, sql: "SELECT count(*) AS n FROM s.orders", every: 24h, epsilon: 0.1}
tables:
  s.orders: {unit: row%s}
  s.people: {unit: {person: id}}
  s.kinds: public
"""


def _policy(rest: str = "", of_orders: str = "") -> Policy:
    return read_policy(_TEXT % of_orders + rest, "shop.yaml", {"DSN": "host=db"})


_ORDERS, _PEOPLE, _KINDS = (TableName("s", name) for name in ("orders", "people", "kinds"))


def test_the_strictest_table_counts_and_public_tables_ask_for_nothing() -> None:
    policy = _policy("min_units_per_group: 11\n", ", min_units_per_group: 5")
    assert policy.fewest_units([_ORDERS]) == 5
    assert policy.fewest_units([_PEOPLE]) == policy.fewest_units([_ORDERS, _PEOPLE]) == 11
    assert policy.fewest_units([_KINDS]) == 1
    assert _policy().fewest_units([_ORDERS, _PEOPLE]) == 1


@pytest.mark.parametrize(
    "rest", ["min_units_per_group: 0", "min_units_per_group: 1.5", "units_about: many"]
)
def test_what_is_no_whole_number_is_refused(rest: str) -> None:
    with pytest.raises(PolicyErrors, match=rest.partition(":")[0]):
        _policy(f"{rest}\n")


def test_a_change_is_told_and_releases_anew() -> None:
    plain, smaller = _policy(), _policy("min_units_per_group: 11\nunits_about: 5000\n")
    told = {one.where: one for one in policy_changes(plain, smaller)}
    assert told["min_units_per_group"].topic is Topic.PROTECTION
    assert "1 -> 11" in told["min_units_per_group"].what
    assert "5000" in told["units_about"].what
    of_table = _policy("", ", min_units_per_group: 7")
    told = {one.where: one for one in policy_changes(plain, of_table)}
    assert "7" in told["tables.s.orders.min_units_per_group"].what
    assert "released anew" in told["publish.n"].what
    versions = {policy.publish[0].version for policy in (plain, smaller, of_table)}
    assert len(versions) == 3
    assert _policy("units_about: 5000\n").publish[0].version == plain.publish[0].version
