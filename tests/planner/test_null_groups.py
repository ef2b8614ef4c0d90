"""No group of NULL where there can be none: columns that are NOT NULL, joins along enforced references."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.catalog.catalog_model import Catalog, ForeignKey, Table, TableName
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext, PublicValues
from proxy.planner.planning import plan
from proxy.policy.policy_model import JoinKey, Policy
from tests.pipeline_world import CATALOG, KNOWN_PUBLIC, POLICIES, read
from tests.postgres_labels import POSTGRES_LABELS

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
    sql: str,
    catalog: Catalog,
    policy: Policy = POLICIES["world"],
    public: PublicValues = KNOWN_PUBLIC,
) -> tuple[str | None, ...]:
    found = read(sql)
    assert found is not None
    planned = plan(
        found[1].query,
        PlanningContext(policy, catalog, public, evaluating=POSTGRES_LABELS),
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


def _related(*, nullable: bool = False) -> Catalog:
    """calls.i2 and lines.order_id refer to orders.id, calls.uid to members.uid, places to regions."""
    tables = dict(CATALOG.tables)
    for name, column in (("calls", "i2"), ("calls", "uid"), ("lines", "order_id"), ("people", "t")):
        table = tables[TableName("w", name)]
        columns = tuple(
            replace(c, nullable=nullable) if c.name == column else c for c in table.columns
        )
        tables[table.name] = replace(table, columns=columns)
    regions = tables[TableName("w", "regions")]
    tables[regions.name] = replace(regions, primary_key=("t",))
    places = tables[_PLACES]
    columns = tuple(replace(c, nullable=False) for c in places.columns)
    tables[_PLACES] = replace(places, columns=columns)
    orders, members = TableName("w", "orders"), TableName("w", "members")
    for name, *keys in (
        ("calls", ForeignKey(("i2",), orders, ("id",)), ForeignKey(("uid",), members, ("uid",))),
        ("lines", ForeignKey(("order_id",), orders, ("id",))),
        ("people", _REFERENCE),
        ("places", ForeignKey(("zone",), regions.name, ("t",))),
    ):
        table = tables[TableName("w", name)]
        tables[table.name] = replace(table, foreign_keys=tuple(keys))
    return Catalog(tables)


_FAR = (
    "SELECT r.t, count(*) FROM people p LEFT JOIN places q ON p.t = q.code"
    " LEFT JOIN regions r ON q.zone = r.t GROUP BY 1"
)


@pytest.mark.parametrize(
    "sql",
    [
        # protected tables of one unit: along a foreign key, along the reference to the unit, on the unit
        "SELECT o.b, count(*) FROM calls LEFT JOIN orders o ON calls.i2 = o.id GROUP BY 1",
        "SELECT o.b, count(*) FROM orders o RIGHT JOIN calls ON calls.i2 = o.id GROUP BY 1",
        "SELECT o.b, count(*) FROM lines LEFT JOIN orders o ON order_id = o.id GROUP BY 1",
        "SELECT m.b, count(*) FROM calls LEFT JOIN members m ON calls.uid = m.uid GROUP BY 1",
        # from one public table to the next
        _FAR,
    ],
)
def test_of_protected_tables_and_on_from_public_ones(sql: str) -> None:
    public = {**KNOWN_PUBLIC, (TableName("w", "regions"), "t"): ("north", "south")}
    assert None not in _values(sql, _related(), public=public)
    assert None in _values(sql, _related(nullable=True), public=public)


@pytest.mark.parametrize(
    "sql",
    [
        # rows are truncated, or may have none for another reason
        "SELECT o.b, count(*) FROM calls LEFT JOIN orders o ON calls.uid = o.uid AND calls.i2 = o.id"
        " GROUP BY 1",
        "SELECT o.b, count(*) FROM calls LEFT JOIN orders o ON calls.i2 = o.id AND o.i4 > 3 GROUP BY 1",
        "SELECT o.b, count(*) FROM calls LEFT JOIN (SELECT * FROM orders WHERE i4 > 3) o"
        " ON calls.i2 = o.id GROUP BY 1",
        "SELECT calls.b, count(*) FROM orders o LEFT JOIN calls ON calls.i2 = o.id GROUP BY 1",
    ],
)
def test_a_protected_table_of_which_rows_may_be_left_out(sql: str) -> None:
    assert None in _values(sql, _related())
