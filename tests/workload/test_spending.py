"""A workload spends what docs/explanation/budgets.md says, and no answer is less exact than a fresh one."""

from __future__ import annotations

import asyncio

import pytest

from tests.samples import DEMO_POLICIES
from tests.servers_fixture import servers
from tests.workload.__main__ import DOCUMENT, QUESTIONS, lines
from tests.workload.questions import questions
from tests.workload.spending import (
    DERIVED,
    EXACT,
    GAUSSIAN,
    INSTEAD,
    LIFTED,
    NOTHING,
    SETTINGS,
    Spending,
    Workload,
)

_FEW = 50
_ROUNDING = 1e-6  # of a scale that is rounded up


def _is_as_exact(spent: Spending) -> bool:
    return max(spent.noise) <= 1 + _ROUNDING and max(spent.stated) <= 1 + _ROUNDING


@pytest.mark.parametrize("found", INSTEAD)
def test_what_is_changed_is_in_the_policies_of_the_demo(found: str) -> None:
    assert any(found in path.read_text(encoding="utf-8") for path in DEMO_POLICIES.values())


@pytest.mark.long
def test_the_first_questions() -> None:
    """Of so few most are asked for the first time."""
    wanted = [one for one in questions(5 * _FEW) if one.database == "census"][:_FEW]
    spent = asyncio.run(Workload(servers()).spending(LIFTED, wanted))
    assert _is_as_exact(spent)
    assert spent.total <= 0.6 * _FEW
    assert spent.total <= sum(spent.own.values())


@pytest.mark.long
def test_all_of_them() -> None:
    workload, wanted = Workload(servers()), questions(QUESTIONS)
    found = {one: asyncio.run(workload.spending(one, wanted)) for one in SETTINGS}
    assert all(_is_as_exact(spent) for spent in found.values())
    assert found[NOTHING].total == pytest.approx(QUESTIONS)
    assert found[NOTHING].total > found[EXACT].total > found[DERIVED].total > found[LIFTED].total
    assert found[LIFTED].total <= QUESTIONS / 6
    assert found[GAUSSIAN].total <= QUESTIONS / 10
    table = "\n".join(lines({one.name: spent for one, spent in found.items()}))
    assert f"{table}\n" in DOCUMENT.read_text(encoding="utf-8")
