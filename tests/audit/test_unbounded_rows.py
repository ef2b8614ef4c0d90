"""Rows of a unit that are declared unbounded: neighbours differ in units of up to a thousand rows, and what is
released moves by no more than planned."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.audit.movement import movements
from proxy.policy.policy_model import Mechanism
from tests.audit.exact_results import Auditor
from tests.pipeline_world import walk
from tests.planner.test_unbounded_rows import unbounded

_QUESTIONS = (
    "SELECT avg(i4), min(n2), max(f8) FROM orders",
    "SELECT t, avg(i4), max(i2), count(DISTINCT uid) FROM orders GROUP BY t",
    "SELECT avg(o.i4) FROM orders o JOIN members m ON m.uid = o.uid",
    "SELECT s, avg(i4) FROM orders GROUP BY s",
)


def _moved(question: str, mechanism: Mechanism, auditor: Auditor) -> Iterator[tuple[bool, object]]:
    pipeline = walk(question, unbounded(mechanism))
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    for base in auditor.bases[:2]:
        here = auditor.tables(block, base.name)
        for schema in base.without_unit:
            for found in movements(block, here, auditor.tables(block, schema)):
                yield found.observed > 0, found if found.observed > found.planned else None


@pytest.mark.every(2)
@pytest.mark.parametrize("mechanism", [Mechanism.AUTO, Mechanism.CLIPPED_MEAN])
@pytest.mark.parametrize("question", _QUESTIONS)
def test_neighbours_move_by_no_more_than_planned(
    question: str, mechanism: Mechanism, auditor: Auditor
) -> None:
    found = list(_moved(question, mechanism, auditor))
    assert [wrong for _, wrong in found if wrong is not None] == []
    assert any(moves for moves, _ in found)
