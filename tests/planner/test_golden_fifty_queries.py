"""What the layers make of the fifty questions, or the refusal that names the fix. `pytest --bless`."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proxy.base.errors import Refusal
from tests.cases import Case, bless_folder, check
from tests.fifty_queries.queries import FOLDER, cases, planned
from tests.planner.test_golden_pipeline import _backend, _block
from tests.unchecked_blocks import compile_block

CASES = cases()
# Words of the hint that say what to write instead.
FIXES = {
    "rows cannot be read": "Use aggregates",
    "all rows cannot be read": "Use aggregates",
    "tables of rows cannot be joined": "join counts of each side: SELECT a.age, a.n, b.n FROM",
    "private tables not joined on the unit": "(id of shop.customers = customer_id of shop.orders)",
    "private tables beside each other": "(id of shop.customers = customer_id of shop.orders)",
    "the unit as key": "GROUP BY it in a subquery",
}


def made(case: Case) -> Mapping[str, str]:
    try:
        found = planned(case)
    except Refusal as refusal:
        where = "" if refusal.position is None else f" at {refusal.position}"
        return {
            "refused": f"-- {refusal.code.name}{where}\n-- {refusal.message}\n-- {refusal.hint}"
        }
    return {
        "plan": "\n".join(_block(block) for block in found.plan.blocks),
        "backend": "\n".join(
            _backend(query) for block in found.plan.blocks for query in compile_block(block)
        ),
        "loss": f"-- epsilon {found.plan.loss.epsilon} delta {found.plan.loss.delta}",
        "residual": found.question.reading.text,
    }


@pytest.fixture(scope="module", autouse=True)
def blessed(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--bless"):
        bless_folder(FOLDER, made)
        CASES[:] = cases()


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_golden(number: int) -> None:
    check(CASES[number], made(CASES[number]))


def test_fifty_are_answered() -> None:
    answered = [case for case in CASES if "refused" not in case.sections]
    assert len(answered) >= 50
    assert all("columns" in case.headers for case in answered)


def test_what_is_refused_is_refused_with_the_fix() -> None:
    refused = {case.name: case.sections["refused"] for case in CASES if "refused" in case.sections}
    assert refused.keys() == FIXES.keys()
    for name, words in FIXES.items():
        assert words in refused[name], name
