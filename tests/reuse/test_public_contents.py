"""What public tables hold is a part of the questions that hang on it, and of no others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import TableName
from proxy.kernel.plan import PrivatePlan
from proxy.planner.facts import PlanningContext
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.reuse.block_question import ReliedOn
from tests import pipeline_world
from tests.pipeline_world import CATALOG, KNOWN_HELD, KNOWN_PUBLIC, POLICIES, PUBLIC, SCHEMA, walk
from tests.planner.test_golden_pipeline import golden_pipeline, planned_cases

_EACH = 24  # of the golden statements


def _parts_of(plan: PrivatePlan, policy: Policy = POLICIES["world"]) -> frozenset[str]:
    """Names of the public tables whose contents are a part of the questions of a plan."""

    def questions(changed: str | None) -> list[str]:
        rows = {name: (("a",), ((str(name.name == changed),),)) for name in PUBLIC}
        known = PlanningContext(policy, CATALOG, KNOWN_PUBLIC, rows, KNOWN_HELD)
        relied_on = ReliedOn(known)
        return list(map(relied_on.text, plan.blocks))

    before = questions(None)
    return frozenset(one.name for one in PUBLIC if questions(one.name) != before)


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        ("SELECT count(*) FROM visits", set()),
        (
            "SELECT z.zone, count(*) FROM people p JOIN places z ON p.t = z.code GROUP BY 1",
            {"places"},
        ),
        ("SELECT count(*) FROM people WHERE t IN (SELECT code FROM places)", {"places"}),
        ("SELECT count(*) FROM people p JOIN rates r ON r.k = p.i4 WHERE r.fee > 1", {"rates"}),
    ],
)
def test_they_are_those_that_are_read(statement: str, tables: set[str]) -> None:
    found = walk(statement)
    assert found is not None
    assert _parts_of(found.plan) == tables


def test_keys_of_a_table_that_a_column_refers_to_are_among_them() -> None:
    policy = POLICIES["world"]
    people, places = TableName(SCHEMA, "people"), TableName(SCHEMA, "places")
    table = policy.tables[people]
    assert isinstance(table, ProtectedTable)
    referring = replace(table.columns["t"], values=None, references=(places, "code"))
    table = replace(table, columns={**table.columns, "t": referring})
    found = walk("SELECT count(*) FROM people")
    assert found is not None
    assert _parts_of(found.plan, replace(policy, tables={**policy.tables, people: table})) == {
        "places"
    }


def test_a_plan_hangs_on_what_no_other_table_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planned without the contents of the other public tables it is the same."""
    compared = read = 0
    for case in planned_cases()[::_EACH]:
        if case.headers.get("policy", "world") != "world":
            continue
        try:
            found = golden_pipeline(case)
        except Refusal:
            continue
        tables = _parts_of(found.plan)
        with monkeypatch.context() as patch:
            for name, contents in (("KNOWN_PUBLIC", KNOWN_PUBLIC), ("KNOWN_HELD", KNOWN_HELD)):
                kept = {key: one for key, one in contents.items() if key[0].name in tables}
                patch.setattr(pipeline_world, name, kept)
            again = golden_pipeline(case)
        assert again.plan == found.plan, case.statement
        compared += 1
        read += bool(tables)
    assert compared > 10 and read > 0
