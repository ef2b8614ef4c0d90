"""Every aggregate by every mechanism, with and without groups: its answers have an interval, or the reason why
they have none is reported. Neither both nor nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.base.slots import Slots
from proxy.compiler.backend_query import BackendQuery
from proxy.engine.answer_accuracy import accuracies
from proxy.exact.table import ExactRow, ExactTable
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.drawn_values import ordered_groups
from proxy.release.noisy_relation import NoisyTable
from tests.pipeline_world import POLICIES, Pipeline, walk
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import release_block

_PAIR = "(i4, i2)"
_WITHIN = "(0.9) WITHIN GROUP (ORDER BY i4)"
AGGREGATES = (
    *("count(*)", "count(i4)", "count(DISTINCT i4)", "sum(i4)", "sum(n2)", "avg(i4)", "avg(f8)"),
    *("min(i4)", "max(i4)", "min(d)", "max(ts)"),
    *("var_pop(i4)", "var_samp(i4)", "variance(i4)", "stddev_pop(i4)", "stddev_samp(i4)"),
    *(f"{name}{_PAIR}" for name in ("covar_pop", "covar_samp", "corr")),
    *(f"{name}{_PAIR}" for name in ("regr_slope", "regr_intercept", "regr_r2")),
    *(f"{name}{_WITHIN}" for name in ("percentile_cont", "percentile_disc")),
)
_MANY = 10**7
_GROUPS = {"all": "", "public": " GROUP BY t", "private": " GROUP BY s"}
# Those without an interval, by mechanism; all else has one.
_QUANTILES = {f"{name}{_WITHIN}" for name in ("percentile_cont", "percentile_disc")}
_EXTREMES = {"min(i4)", "max(i4)", "min(d)", "max(ts)"}
_MEANS = {"avg(i4)", "avg(f8)"}
_WITHOUT: dict[str, set[str]] = {
    "world": {*_EXTREMES, *_QUANTILES, *_MEANS},
    "gaussian": {*_EXTREMES, *_QUANTILES, *_MEANS},
    "clipped": {*_EXTREMES, *_QUANTILES, *_MEANS},
    "best": {*_EXTREMES, *_QUANTILES},
    "weighted": {*_EXTREMES, *_QUANTILES},
    "ratio": {*_EXTREMES, *_QUANTILES},
    "polyplace": {*_EXTREMES, *_QUANTILES, *_MEANS},
}


def _kinds() -> Iterator[AggregateKind]:
    for aggregate in AGGREGATES:
        pipeline = walk(f"SELECT {aggregate} FROM people", POLICIES["best"])
        assert pipeline is not None
        yield pipeline.plan.blocks[0].answers[0].aggregate.kind


def released(pipeline: Pipeline) -> NoisyTable:
    """Of many rows in each group: of few an answer can be NULL."""
    (block,), (queries,) = pipeline.plan.blocks, pipeline.queries
    tables = [ExactTable(_rows(pipeline, query), query.slots, query.releases) for query in queries]
    return release_block(block, tables, SeededBits(1))


def _rows(pipeline: Pipeline, query: BackendQuery) -> tuple[ExactRow, ...]:
    (block,) = pipeline.plan.blocks
    groups = [("s",)] if block.selection is not None else list(ordered_groups(block, ()))
    width = 1 + max((n for slots in query.slots for n in _places(slots)), default=0)
    return tuple(ExactRow(keys, 0, (_MANY,) * width, _MANY) for keys in groups)


def _places(slots: Slots) -> list[int]:
    return [n for n in (slots.count, slots.total, slots.extreme, slots.units) if n is not None]


def test_every_kind_is_here() -> None:
    assert set(_kinds()) == set(AggregateKind)


@pytest.mark.every(3)
@pytest.mark.parametrize("groups", _GROUPS)
@pytest.mark.parametrize("policy", _WITHOUT)
def test_an_interval_or_a_reason(policy: str, groups: str) -> None:
    for aggregate in AGGREGATES:
        pipeline = walk(
            f"SELECT {aggregate}, dp.error({aggregate}) FROM people{_GROUPS[groups]}",
            POLICIES[policy],
        )
        assert pipeline is not None
        (accuracy,) = accuracies(pipeline.plan)
        found = released(pipeline)
        assert found.rows
        intervals = {row.values[0].half_width is not None for row in found.rows}
        reason = accuracy.described.no_interval
        assert intervals == {not reason}, aggregate
        assert bool(reason) == (aggregate in _WITHOUT[policy]), aggregate
        assert accuracy.as_json()["no_interval"] == (reason or None)
        # Of a minimum or maximum the farther of its two certain ends is known.
        is_null = bool(reason) and all(row.values[0].certain is None for row in found.rows)
        shown = found.json(pipeline.plan.blocks[0].intervals, with_errors=False)
        assert ('"e1":null' in shown) == is_null


def test_what_bounds_alone_decide_has_the_error_0() -> None:
    pipeline = walk(
        "SELECT avg(i4 * 0 + 7), dp.error(avg(i4 * 0 + 7)) FROM people", POLICIES["best"]
    )
    assert pipeline is not None
    (row,) = released(pipeline).rows
    assert (row.values[0].text(), row.values[0].half_width) == ("7.000", 0)
