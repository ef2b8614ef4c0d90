"""Quantiles of weighed rows: one unit moves them by no more than is paid for, whatever bound is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from proxy.audit.movement import Movement, movements
from proxy.audit.neighbour_audit import audited_bounds
from proxy.compiler import value_scan
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.kernel.plan import BlockPlan, OrderStatistic
from tests.audit.exact_results import Auditor
from tests.audit.reach import by_plan
from tests.pipeline_world import POLICIES, walk

_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)"
_TAIL = "percentile_disc(0.9) WITHIN GROUP (ORDER BY n2)"
_QUESTIONS = (
    f"SELECT {_MEDIAN} FROM orders",
    f"SELECT t, {_MEDIAN}, {_TAIL} FROM visits GROUP BY t",
    f"SELECT t, {_MEDIAN} FILTER (WHERE i2 > 0), dp.error({_TAIL}) FROM orders GROUP BY t",
    f"SELECT t, b, {_MEDIAN} FROM visits WHERE t <> 'x' GROUP BY t, b",
    f"SELECT t, b, {_MEDIAN} FROM visits GROUP BY GROUPING SETS ((t), (b), ())",
    f"SELECT t, {_MEDIAN}, variance(i4), count(*) FROM notes GROUP BY t",
    "SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY o.i4) FROM orders o JOIN visits v ON o.uid = v.uid",
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY d) FROM orders",
)
_PLACES = (0, 1, 3)  # of bounds: 1, 2 and 4 rows


def _blocks(question: str) -> Iterator[BlockPlan]:
    for place in _PLACES:
        chosen = partial(audited_bounds, place=place)
        pipeline = walk(question, POLICIES["chosen"], chosen=chosen)
        assert pipeline is not None
        yield from pipeline.plan.blocks


def _weighed(block: BlockPlan) -> bool:
    return any(isinstance(r, OrderStatistic) and r.weights for r in block.releases)


def _moved(auditor: Auditor, block: BlockPlan) -> Iterator[tuple[str, Movement]]:
    """What moves further than planned; "" for what moves as far as planned."""
    for base in auditor.bases[:2]:
        here = auditor.tables(block, base.name)
        for schema in base.without_unit:
            for one in movements(block, here, auditor.tables(block, schema)):
                if one.observed > one.planned:
                    yield schema, one
                elif one.observed == one.planned:
                    yield "", one


@pytest.mark.every(4)
@pytest.mark.parametrize("question", _QUESTIONS)
def test_neighbours_move_by_no_more_than_planned(question: str, auditor: Auditor) -> None:
    blocks = list(_blocks(question))
    assert any(map(_weighed, blocks))
    for block in blocks:
        assert [one for one in _moved(auditor, block) if one[0]] == []


def test_what_is_planned_is_met(auditor: Auditor) -> None:
    """With less noise the histogram or the size of a group would tell of a unit."""
    met = {
        one.measure.name
        for block in _blocks(_QUESTIONS[1])
        for place, one in _moved(auditor, block)
        if not place
    }
    assert {"TOTALS", "ROWS"} <= met


def test_laws_and_sizes_by_their_definitions(auditor: Auditor) -> None:
    """All rows of a unit weigh as many rows as count, and in sizes one unit, over all groups."""
    for place in _PLACES:
        chosen = partial(audited_bounds, place=place)
        pipeline = walk(_QUESTIONS[1], POLICIES["chosen"], chosen=chosen)
        assert pipeline is not None
        assert auditor.audit(pipeline.plan, auditor.bases[:2], by_plan) == []


@pytest.mark.parametrize("name", ["by group", "without"])
def test_wrong_weights_are_found(
    name: str, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights by how many rows a unit has in a group alone; all rows with the weight 1."""
    real, weights = value_scan.value_scan, value_scan._weights
    if name == "by group":

        def by_group(
            plan: BlockPlan, numbers: tuple[int, ...], sums: tuple[int, ...], binds: Binds
        ) -> BackendQuery:
            query = real(plan, numbers, sums, binds)
            text = query.sql.replace("(PARTITION BY unit) AS", "(PARTITION BY unit, k1) AS")
            assert text != query.sql
            return replace(query, sql=text)

        monkeypatch.setattr("proxy.compiler.compiling.value_scan", by_group)
    else:
        monkeypatch.setattr(
            value_scan,
            "_weights",
            lambda release, binds: ("1048576::bigint", weights(release, binds)[1]),
        )
    found = [one for block in _blocks(_QUESTIONS[1]) for one in _moved(auditor, block) if one[0]]
    assert found
