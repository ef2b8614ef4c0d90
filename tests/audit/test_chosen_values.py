"""Bounds on totals of units that a subquery computes: one unit changes one count of the choice, and with any
bound exact results move by no more than is paid for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from proxy.audit.movement import Measure, movements
from proxy.audit.neighbour_audit import audited_bounds
from proxy.compiler import aggregate_sql, bound_scan, unit_gathering
from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import numeric_sql
from proxy.kernel.plan import BlockPlan
from proxy.policy.policy_model import Mechanism, Policy
from proxy.query.ir.expressions import Clamped
from tests.audit.exact_results import Auditor
from tests.audit.test_private_bounds import chosen_by_choice
from tests.pipeline_world import POLICIES, walk

_TOTALS = "(SELECT uid, sum(i4) AS t, count(*) AS n, sum(i8) AS m FROM orders GROUP BY uid) q"
_BY_KEY = "(SELECT uid, t AS k, sum(i4) AS t, count(*) AS n FROM orders GROUP BY uid, t) q"
_QUESTIONS = (
    f"SELECT avg(t), stddev(n), sum(m) FROM {_TOTALS}",
    f"SELECT corr(t, n), avg(t / 7) FROM {_TOTALS}",
    f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t), count(*) FROM {_TOTALS} WHERE n > 1",
    f"SELECT n > 2, sum(t), avg(m) FILTER (WHERE t > 0) FROM {_TOTALS} GROUP BY n > 2",
    f"SELECT avg(t), sum(n), percentile_disc(0.9) WITHIN GROUP (ORDER BY n) FROM {_BY_KEY}",
    f"SELECT k, avg(t), count(*) FROM {_BY_KEY} GROUP BY k",
    "SELECT avg(w) FROM (SELECT sum(i4) OVER (PARTITION BY uid) AS w FROM visits) q",
)
_PLACES = (0, 3, 6)


def _policy(name: str) -> Policy:
    if name != "smoothed":
        return chosen_by_choice(POLICIES[name])
    policy = chosen_by_choice(POLICIES["best"])
    smoothed = replace(policy.privacy, mechanism=Mechanism.SMOOTH_MEDIAN)
    return replace(policy, privacy=smoothed)


def _blocks(policy: str, question: str) -> Iterator[BlockPlan]:
    for place in _PLACES:
        chosen = partial(audited_bounds, place=place)
        pipeline = walk(question, _policy(policy), chosen=chosen)
        assert pipeline is not None
        assert all(block.value_choices for block in pipeline.plan.blocks)
        yield from pipeline.plan.blocks


def _moved(auditor: Auditor, block: BlockPlan) -> Iterator[tuple[str, Measure, object, object]]:
    """What moves further than planned."""
    for base in auditor.bases[:2]:
        here = auditor.tables(block, base.name)
        for schema in base.without_unit:
            there = auditor.tables(block, schema)
            for movement in movements(block, here, there):
                if movement.observed > movement.planned:
                    yield schema, movement.measure, movement.planned, movement.observed


@pytest.mark.every(32)
@pytest.mark.parametrize("question", _QUESTIONS)
@pytest.mark.parametrize("policy", ["best", "gaussian", "smoothed"])
def test_neighbours_move_by_no_more_than_planned(
    policy: str, question: str, auditor: Auditor
) -> None:
    for block in _blocks(policy, question):
        assert list(_moved(auditor, block)) == []


def test_values_counted_by_rows_are_seen(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit with several rows would be in several bands."""
    gathered = unit_gathering.gathered_sql

    def by_rows(*given: Any, **named: Any) -> str:
        text = gathered(*given, **named)
        head, _, by = text.rpartition(" GROUP BY ")
        return f"{head} GROUP BY {by}, pg_catalog.gen_random_uuid()"

    monkeypatch.setattr(bound_scan, "gathered_sql", by_rows)
    block = next(_blocks("best", _QUESTIONS[4]))
    assert any(measure is Measure.TOTALS for _, measure, _, _ in _moved(auditor, block))


@pytest.mark.parametrize("question", [_QUESTIONS[0], _QUESTIONS[3]])
def test_values_that_are_not_cut_are_seen(
    question: str, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the clamp of each release that keeps to the bound."""
    monkeypatch.setattr(aggregate_sql, "within_sql", lambda value, *_: value)
    monkeypatch.setattr(aggregate_sql, "clamped_sql", _unclamped)
    moved = [found for block in _blocks("best", question) for found in _moved(auditor, block)]
    assert moved


def _unclamped(clamped: Clamped, binds: Binds) -> str:
    return numeric_sql(clamped.operand, binds)
