"""No group of NULL where there can be none: columns that are NOT NULL, joins along enforced references."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.catalog.catalog_model import Catalog, ForeignKey, Table, TableName
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import plan
from proxy.policy.policy_model import JoinKey, Policy
from tests.pipeline_world import CATALOG, KNOWN_PUBLIC, POLICIES, read

_PEOPLE, _PLACES = TableName("w", "people"), TableName("w", "places")
_REFERENCE = ForeignKey(("t",), _PLACES, ("code",))
_JOINED = "SELECT zone, count(*) FROM people LEFT JOIN places ON t = code GROUP BY zone"


def _catalog(nullable: bool, *keys: ForeignKey) -> Catalog:
    people = CATALOG.tables[_PEOPLE]
    columns = tuple(replace(c, nullable=nullable) if c.name == "t" else c for c in people.columns)
    changed: dict[TableName, Table] = {
        **CATALOG.tables,
        _PEOPLE: replace(people, columns=columns, foreign_keys=keys),
    }
    return Catalog(changed)


def _values(
    sql: str, catalog: Catalog, policy: Policy = POLICIES["world"]
) -> tuple[str | None, ...]:
    found = read(sql)
    assert found is not None
    planned = plan(
        found[1].query,
        PlanningContext(policy, catalog, KNOWN_PUBLIC),
        Loss(policy.privacy.epsilon, policy.privacy.delta),
    )
    values = planned.blocks[0].keys[0].values
    assert values is not None
    return values


def test_a_column_that_is_never_null() -> None:
    """The policy lists null; a policy for such a column is refused, but keys of a reference can have one."""
    sql = "SELECT t, count(*) FROM people GROUP BY t"
    assert None in _values(sql, _catalog(True))
    assert None not in _values(sql, _catalog(False))
    inner = "SELECT t, count(*) FROM (SELECT t FROM people) q GROUP BY t"
    assert None not in _values(inner, _catalog(False))


def test_a_case_over_it() -> None:
    sql = "SELECT CASE WHEN t = 'x' THEN 'a' WHEN t <> 'x' THEN 'b' END, count(*) FROM people GROUP BY 1"
    assert _values(sql, _catalog(True)) == ("a", "b", None)
    assert _values(sql, _catalog(False)) == ("a", "b")


def test_an_enforced_reference_has_a_partner() -> None:
    assert _values(_JOINED, _catalog(False, _REFERENCE)) == ("north", "south")


@pytest.mark.parametrize(
    "sql, catalog",
    [
        (_JOINED, _catalog(False)),
        (_JOINED, _catalog(True, _REFERENCE)),
        (_JOINED, _catalog(False, replace(_REFERENCE, target=TableName("w", "regions")))),
        (_JOINED, _catalog(False, replace(_REFERENCE, columns=("s",)))),
        (_JOINED.replace("= code", "= code AND zone = 'north'"), _catalog(False, _REFERENCE)),
    ],
)
def test_without_it_some_rows_have_none(sql: str, catalog: Catalog) -> None:
    assert None in _values(sql, catalog)


def test_a_table_that_is_truncated_may_lack_the_partner() -> None:
    places = POLICIES["world"].tables[_PLACES]
    cut = replace(places, join_keys={"code": JoinKey(1)})
    policy = replace(POLICIES["world"], tables={**POLICIES["world"].tables, _PLACES: cut})
    assert None in _values(_JOINED, _catalog(False, _REFERENCE), policy)
