"""Which `join_keys` a refused join names: of the first equality whose both sides can be cut by them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import TableName
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import plan
from proxy.policy.policy_model import JoinKey
from proxy.query.ir.binding import bind
from proxy.query.ir.query import Query
from tests.pipeline_world import CATALOG, KNOWN_PUBLIC, PLACES, POLICIES, read, walk
from tests.postgres_labels import POSTGRES_LABELS

_ALWAYS = "Join a public table on its key"
_ASK = "; or ask the data owner for `join_keys` in the policy: "
_WITH_PLACES = "FROM w.people p JOIN w.places q ON p.t = q.code JOIN w.events e ON"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("FROM w.people p JOIN w.events e ON p.i4 = e.i4", "i4 of w.people and i4 of w.events"),
        # Floats cannot be cut by; the next equality can.
        (
            "FROM w.people p JOIN w.events e ON p.f8 = e.f8 AND p.i4 = e.i4",
            "i4 of w.people and i4 of w.events",
        ),
        # A public table beside the protected one does not hold its rows.
        (f"{_WITH_PLACES} q.zone = e.t", None),
        (f"{_WITH_PLACES} q.zone = e.t AND p.i4 = e.i4", "i4 of w.people and i4 of w.events"),
        # The unit of lines is found through orders: no rows of it can be named.
        ("FROM (SELECT i4 FROM w.lines) p JOIN w.events e ON p.i4 = e.i4", None),
        ("FROM w.events e JOIN (SELECT i4 FROM w.lines) p ON p.i4 = e.i4", None),
        # No column of a table is behind these.
        (
            "FROM (SELECT i4 FROM w.people UNION ALL SELECT i4 FROM w.trips) p"
            " JOIN w.events e ON p.i4 = e.i4",
            None,
        ),
        ("FROM (SELECT i4 + 1 AS i4 FROM w.people) p JOIN w.events e ON p.i4 = e.i4", None),
    ],
)
def test_keys_that_would_allow_it(source: str, named: str | None) -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"SELECT count(*) {source}")
    expected = f"{_ALWAYS}{'' if named is None else _ASK + named}; or "
    assert (caught.value.hint or "").startswith(expected)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (
            "FROM w.orders o, w.members m",
            "Join on the privacy unit (uid of w.orders = uid of w.members), or a public table on its key.",
        ),
        (
            "FROM w.lines a JOIN w.calls b ON a.order_id = b.i2",
            "Join on the privacy unit (person), or",
        ),
        (
            "FROM w.orders o JOIN w.orders p ON p.t = o.t",
            "Join on the privacy unit (uid of w.orders = uid of w.orders), or a public table on its key.",
        ),
        (  # by its unit a row would meet itself
            "FROM w.members o JOIN w.members p ON p.t = o.t",
            "Join a public table on its key; or join counts of each side: SELECT a.t, a.n, b.n FROM (SELECT t,"
            " count(*) AS n FROM w.members GROUP BY t) a JOIN (SELECT t, count(*) AS n FROM w.members GROUP BY"
            " t) b ON b.t = a.t",
        ),
        (
            "FROM w.people a JOIN w.people b ON a.t = b.t",
            "Join a public table on its key; or join counts of each side: SELECT a.t, a.n, b.n FROM (SELECT t,"
            " count(*) AS n FROM w.people GROUP BY t) a JOIN (SELECT t, count(*) AS n FROM w.people GROUP BY t)"
            " b ON b.t = a.t",
        ),
        (
            "FROM w.people CROSS JOIN w.trips",
            "Join a public table on its key; or ask each side by itself: SELECT (SELECT count(*) FROM"
            " w.people), (SELECT count(*) FROM w.trips)",
        ),
        (
            "FROM w.people, w.places",
            "Join a public table on its key, equal to a column: code of w.places.",
        ),
        (
            "FROM w.people p JOIN w.rates r ON p.f8 = r.k",
            "Join a public table on its key, equal to a column: k of w.rates.",
        ),
    ],
)
def test_the_names_are_those_of_the_tables(source: str, hint: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"SELECT count(*) {source}")
    assert (caught.value.hint or "").startswith(hint)
    for statement in re.findall("SELECT .*", hint):
        walk(statement)


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("w.people a JOIN w.people b ON a.t = b.t", True),
        ("w.events a JOIN (SELECT * FROM w.events) b ON a.t = b.t", True),
        ("w.people a JOIN w.trips b ON a.t = b.t", False),
        ("w.people a JOIN w.members b ON a.t = b.t", False),
    ],
)
def test_rows_of_one_table_have_no_different_units(source: str, is_one: bool) -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"SELECT count(*) FROM {source}")
    assert ("each row of the table is a privacy unit" in caught.value.message) == is_one
    assert ("with different privacy units" in caught.value.message) == (not is_one)


_PLACES, _REGIONS = TableName("w", "places"), TableName("w", "regions")


@pytest.mark.parametrize(
    ("table", "column", "is_known", "named"),
    [
        (_PLACES, "zone", True, "zone: {keep: 2} of w.places"),
        (
            _PLACES,
            "zone",
            False,
            "zone: {keep: N} of w.places, N being the rows of one value at most",
        ),
        (
            _REGIONS,
            "t",
            False,
            "t: {keep: unique} of w.regions, by which only rows that are alone with their value are joined",
        ),
    ],
)
def test_what_a_public_table_without_that_key_needs(
    table: TableName, column: str, is_known: bool, named: str
) -> None:
    """What is named is enough: with it in the policy the same join is planned."""
    found = read(f"SELECT count(*) FROM people p JOIN {table} q ON p.t = q.{column}")
    assert found is not None
    query = Query(tuple(bind(block, {}) for block in found[1].query.blocks))
    world = POLICIES["world"]
    rows = {_PLACES: (("code", "zone"), PLACES)} if is_known else {}
    known = PlanningContext(world, CATALOG, KNOWN_PUBLIC, rows, evaluating=POSTGRES_LABELS)
    loss = world.privacy.epsilon, world.privacy.delta
    with pytest.raises(Refusal) as caught:
        plan(query, known, Loss(*loss))
    assert caught.value.hint.partition(_ASK)[2] == f"{named}."
    kept = re.search(r"keep: (\w+)", caught.value.hint)
    assert kept is not None
    declared = {"unique": None, "N": 5}.get(kept[1], 2)
    tables = {
        **world.tables,
        table: replace(world.tables[table], join_keys={column: JoinKey(declared)}),
    }
    assert plan(query, replace(known, policy=replace(world, tables=tables)), Loss(*loss)).blocks
