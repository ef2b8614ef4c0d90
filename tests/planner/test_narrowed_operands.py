"""What is aggregated is cut to where the statement's own conditions leave it, and the noise is of that cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.statistics import Measured
from proxy.kernel.world import World
from proxy.policy.policy_model import Bounds, Policy, ProtectedTable, Reuse
from tests.kernel.examples import l1
from tests.pipeline_world import CATALOG, POLICIES, walk

_BEST = POLICIES["best"]


def _block(text: str, policy: Policy = _BEST) -> BlockPlan:
    pipeline = walk(text, policy)
    assert pipeline is not None
    return pipeline.plan.blocks[0]


def _measured(block: BlockPlan) -> Measured:
    release = block.releases[0]
    match release:
        case NoisyStatistic(of=(Measured() as one, *_)):
            return one
        case (
            RecentredMean(measured=one)
            | DeviationMean(measured=one)
            | OrderStatistic(measured=one)
            | UnitExtreme(measured=one)
            | SampleAggregate(measured=one)
        ):
            return one
        case _:
            raise AssertionError(release)


def _clamp(text: str, policy: Policy = _BEST) -> Bounds:
    return _measured(_block(text, policy)).clamp


def _from(low: str, high: str) -> Bounds:
    return Bounds(Fraction(low), Fraction(high))


def _sum(text: str, policy: Policy = _BEST) -> NoisyStatistic:
    release = _block(text, policy).releases[0]
    assert isinstance(release, NoisyStatistic)
    return release


def _with(policy: Policy, table: str, **changed: object) -> Policy:
    """The policy with something else said of n2."""
    tables = dict(policy.tables)
    (name,) = (one for one in tables if one.name == table)
    found = tables[name]
    assert isinstance(found, ProtectedTable)
    column = replace(found.columns["n2"], **changed)  # type: ignore[arg-type]
    tables[name] = replace(found, columns={**found.columns, "n2": column})
    return replace(policy, tables=tables)


_NARROWED: Mapping[str, tuple[str, str]] = {
    "sum(n2) FROM visits WHERE n2 BETWEEN 0 AND 10": ("0", "10"),
    "sum(n2) FROM visits WHERE n2 < 10 AND b": ("0", "9.99"),
    "sum(n2) FROM visits WHERE n2 IN (3, 7.5)": ("3", "7.5"),
    "sum(n2) FROM visits WHERE n2 = 3 OR n2 = 5": ("3", "5"),
    "sum(n2) FILTER (WHERE n2 < 10) FROM visits": ("0", "9.99"),
    "sum(n2) FILTER (WHERE n2 < 10) FROM visits WHERE n2 > 2": ("2.01", "9.99"),
    "avg(n2) FROM visits WHERE n2 < 3": ("0", "2.99"),
    "min(n2) FROM visits WHERE n2 > 20": ("20.01", "175"),
    "max(n2) FROM visits WHERE n2 > 20": ("20.01", "175"),
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY n2) FROM visits WHERE n2 <= 3": ("0", "3"),
    "sum(n2 * 2) FROM visits WHERE n2 <= 3": ("0", "6"),
    "sum(n2) FROM (SELECT n2 FROM visits WHERE n2 < 5) q": ("0", "4.99"),
    "sum(n2) FROM (SELECT n2, uid FROM visits) q WHERE n2 < 5": ("0", "4.99"),
    "sum(n) FROM visits WHERE n > 0.123456789": ("0.12345", "7.5"),  # outwards to the grid
    "sum(n2) FROM visits WHERE n2 > 500": ("175", "175"),  # as values beyond the bounds are cut
    "sum(n2) FROM visits WHERE n2 < 3 AND n2 > 5": ("0", "0"),
}
_KEPT = (
    "sum(n2) FROM visits",
    "sum(n2) FROM visits WHERE n2 < 3 OR b",
    "sum(n2) FROM visits WHERE n < 3",
    "sum(n2) FROM visits WHERE i4 < 3",
    "sum(n2) FILTER (WHERE i4 < 3) FROM visits",
)


@pytest.mark.parametrize("text", _NARROWED)
def test_conditions_narrow_the_clamp(text: str) -> None:
    low, high = _NARROWED[text]
    assert _clamp(f"SELECT {text}") == _from(low, high)


@pytest.mark.parametrize("text", _KEPT)
def test_what_does_not_hold_for_each_row_does_not(text: str) -> None:
    assert _clamp(f"SELECT {text}") == _from("0", "175")


def test_each_aggregate_has_its_own_filter() -> None:
    block = _block(
        "SELECT sum(n2) FILTER (WHERE n2 < 3), sum(n2) FILTER (WHERE n2 < 9) FROM visits"
    )
    clamps = [release.of[0].clamp.high for release in block.releases
              if isinstance(release, NoisyStatistic) and isinstance(release.of, tuple)]  # fmt: skip
    assert clamps == [Fraction("2.99"), Fraction("8.99")]


@pytest.mark.parametrize("table", ["people", "events", "visits", "orders", "members"])
def test_the_noise_is_that_of_the_same_cut_by_hand(table: str) -> None:
    where = f"FROM {table} WHERE n2 BETWEEN 0 AND 10"
    narrowed = _sum(f"SELECT sum(n2) {where}")
    by_hand = _sum(f"SELECT sum(least(greatest(n2, 0), 10)) {where}")
    assert narrowed.noise == by_hand.noise
    whole = _block(f"SELECT sum(n2) FROM {table}")
    assert l1(_block(f"SELECT sum(n2) {where}")) * 17 < l1(whole)


@pytest.mark.parametrize("text", [text for text in _NARROWED if text.startswith("sum(n2) ")])
def test_the_kernel_takes_the_clamp_and_not_the_condition(text: str) -> None:
    block, world = _block(f"SELECT {text}"), World(_BEST, CATALOG)
    price = price_of_block(block, world)
    assert price_of_block(replace(block, where=None), world) == price
    release = block.releases[0]
    assert isinstance(release, NoisyStatistic) and isinstance(release.of, tuple)
    (one,) = release.of
    if one.clamp.high == 175:
        return
    wide = replace(release, of=(replace(one, clamp=Bounds(Fraction(0), Fraction(175))),))
    with pytest.raises(NotPrivate):
        price_of_block(replace(block, releases=(wide, *block.releases[1:])), world)


_LIFTED = replace(_BEST, reuse=Reuse(seconds=3600))


def test_a_condition_that_reuse_makes_a_key_does_not_narrow() -> None:
    """i4 from 30 to 39 is a group of i4 / 10, which is drawn instead."""
    text = "SELECT sum(i4) FROM visits WHERE i4 BETWEEN 30 AND 39"
    assert _clamp(text, _LIFTED) == _from("0", "100")
    assert _clamp(text) == _from("30", "39")
    assert _clamp("SELECT sum(i4) FROM visits WHERE i4 BETWEEN 31 AND 39", _LIFTED) == _from(
        "31", "39"
    )
    assert _clamp("SELECT sum(i2) FROM visits WHERE i2 = 2", _LIFTED) == _from("-5", "10")
    assert _clamp("SELECT sum(n2) FROM visits WHERE n2 < 10", _LIFTED) == _from("0", "9.99")
    # Of these no other question is drawn.
    assert _clamp("SELECT max(i4) FROM visits WHERE i4 BETWEEN 30 AND 39", _LIFTED) == _from(
        "30", "39"
    )


def test_a_given_total_gives_way_where_another_bound_is_smaller() -> None:
    policy = _with(_BEST, "visits", per_unit=Bounds(Fraction(0), Fraction(400)))
    whole = _sum("SELECT sum(n2) FROM visits", policy)
    assert whole.total is not None and whole.total.choice is None and whole.total.high == 40_000
    text = "SELECT sum(n2) FROM visits WHERE n2 <= 10"  # five rows of ten
    assert _sum(text, policy).total is None and l1(_block(text, policy)) == 5_000
    chosen = _sum("SELECT sum(n2) FROM visits WHERE n2 <= 87", policy)
    assert chosen.total is not None and chosen.total.choice is not None
    assert chosen.total.most <= 40_000
    kept = _sum("SELECT sum(n2) FROM visits WHERE n2 <= 100", policy)
    assert kept.total == whole.total
