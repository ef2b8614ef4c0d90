"""`max_rows_per_unit: none`: answers that no number of rows of a unit spoils, and refusals of all others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.base.errors import Code, Refusal
from proxy.engine.explain_text import explain_lines
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.policy.policy_model import (
    ROWS_AT_MOST,
    Bounds,
    IdentifierUnit,
    Mechanism,
    Policy,
    ProtectedTable,
)
from tests.kernel.examples import l1
from tests.pipeline_world import POLICIES, walk


def unbounded(mechanism: Mechanism = Mechanism.AUTO) -> Policy:
    """The world's policy, with the rows of every identifier declared unbounded."""
    policy = POLICIES["world"]

    def table(one: object) -> object:
        if isinstance(one, ProtectedTable) and isinstance(one.unit, IdentifierUnit):
            return replace(
                one,
                chooses_rows=True,
                is_unbounded=True,
                max_rows_per_unit=ROWS_AT_MOST,
                max_rows_per_group_per_unit=None,
                join_rows_at_most=4,
            )
        return one

    tables = {name: table(one) for name, one in policy.tables.items()}
    privacy = replace(policy.privacy, mechanism=mechanism)
    return replace(policy, tables=tables, privacy=privacy)  # type: ignore[arg-type]


def _block(question: str, policy: Policy) -> BlockPlan:
    pipeline = walk(question, policy)
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    assert not block.choices
    return block


@pytest.mark.parametrize("source", ["orders", "visits", "notes", "lines"])
@pytest.mark.parametrize("aggregate", ["avg(i4)", "min(i4)", "max(i4)"])
def test_auto_is_the_smoothed_median(aggregate: str, source: str) -> None:
    policy = unbounded()
    (release,) = _block(f"SELECT {aggregate} FROM {source}", policy).releases
    assert isinstance(release, SampleAggregate) and isinstance(release.mechanism, SmoothedMedian)


def test_what_needs_no_bound_is_answered() -> None:
    policy = unbounded()
    assert l1(_block("SELECT count(DISTINCT uid) FROM orders", policy)) == 1
    (release,) = _block("SELECT avg(i4) FROM orders", unbounded(Mechanism.CLIPPED_MEAN)).releases
    assert isinstance(release, SampleAggregate) and isinstance(release.mechanism, ClippedMean)
    # A unit of one row, by a key, has nothing to bound; nor have rows that are units.
    for source in ("members", "people", "trips"):
        block = _block(f"SELECT count(*), avg(i4), max(i4) FROM {source}", policy)
        extreme = [UnitExtreme, KeptUnits] if source == "members" else [OrderStatistic]
        kinds = [NoisyStatistic, RecentredMean, *extreme]
        assert [type(release) for release in block.releases] == kinds, source


@pytest.mark.parametrize("source", ["orders", "visits", "notes", "lines"])
@pytest.mark.parametrize("aggregate", ["min(i4)", "max(i4) FILTER (WHERE b)"])
def test_extremes_of_units_are_by_rank_on_request(aggregate: str, source: str) -> None:
    """Each unit has one value, however many rows it has."""
    block = _block(f"SELECT {aggregate} FROM {source}", unbounded(Mechanism.BEST))
    assert [type(release) for release in block.releases] == [UnitExtreme, KeptUnits]
    assert block.rows_choice is None


def test_a_sum_with_a_bound_on_its_total() -> None:
    policy = unbounded()

    def bounded(table: object) -> object:
        if not isinstance(table, ProtectedTable) or "i4" not in table.columns:
            return table
        if not isinstance(table.unit, IdentifierUnit):
            return table
        column = replace(table.columns["i4"], per_unit=Bounds(-500, 700))  # type: ignore[arg-type]
        return replace(table, columns={**table.columns, "i4": column})

    tables = {name: bounded(table) for name, table in policy.tables.items()}
    for question in ("SELECT sum(i4) FROM orders", "SELECT t, sum(i4) FROM orders GROUP BY t"):
        block = _block(question, replace(policy, tables=tables))  # type: ignore[arg-type]
        (release,) = block.releases
        assert isinstance(release, NoisyStatistic) and release.total is not None
        assert l1(block) == 700 * release.total.parts


_REFUSED = (
    *("count(*)", "count(i4)", "sum(i4)", "count(DISTINCT i4)", "variance(i4)", "stddev(i4)"),
    *("percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)", "corr(i4, i2)", "regr_slope(i4, i2)"),
)


@pytest.mark.parametrize("mechanism", list(Mechanism))
@pytest.mark.parametrize("aggregate", _REFUSED)
def test_what_needs_a_bound_is_refused(aggregate: str, mechanism: Mechanism) -> None:
    with pytest.raises(Refusal) as refused:
        walk(f"SELECT avg(i2), {aggregate} FROM orders", unbounded(mechanism))
    assert refused.value.code is Code.NO_BOUNDS
    assert "max_rows_per_unit: auto" in refused.value.hint
    assert refused.value.position is not None


@pytest.mark.parametrize("mechanism", [Mechanism.BEST, Mechanism.SUM_OVER_COUNT])
def test_a_mechanism_that_needs_a_bound_is_refused(mechanism: Mechanism) -> None:
    for source in ("orders", "(SELECT i4 FROM orders UNION ALL SELECT i4 FROM visits) q"):
        with pytest.raises(Refusal) as refused:
            walk(f"SELECT avg(i4) FROM {source}", unbounded(mechanism))
        assert refused.value.code in (Code.NO_BOUNDS, Code.UNSUPPORTED), source


def test_it_stays_unbounded_in_joins_and_unions() -> None:
    policy = unbounded()
    for source in (
        "orders o JOIN members m ON m.uid = o.uid",
        "(SELECT uid, i4 FROM orders UNION ALL SELECT uid, i4 FROM calls) o",
        "(SELECT * FROM orders WHERE i4 > 0) o",
    ):
        (release,) = _block(f"SELECT avg(o.i4) FROM {source}", policy).releases
        assert isinstance(release, SampleAggregate), source
        with pytest.raises(Refusal) as refused:
            walk(f"SELECT count(*) FROM {source}", policy)
        assert refused.value.code is Code.NO_BOUNDS


def test_explain_says_that_all_rows_count() -> None:
    pipeline = walk("SELECT avg(i4) FROM visits", unbounded())
    assert pipeline is not None
    text = "\n".join(explain_lines(pipeline.plan, [""]))
    assert "the unit in uid is protected, all its rows count" in text
    assert str(ROWS_AT_MOST) not in text
