"""What a session may choose for AVG, MIN and MAX: what the policy gives, and always the smoothed median."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_notices import answer_notices
from proxy.engine.policy_statements import allowed_mechanisms
from proxy.engine.settings import read_settings
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    NoisyStatistic,
    PrivatePlan,
    RecentredMean,
    SampleAggregate,
    UnitExtreme,
)
from proxy.mechanisms.loss import NOTHING
from proxy.policy.policy_model import Mechanism, Policy, ProtectedTable
from proxy.release.noisy_relation import NoisyRow, NoisyTable, missing
from proxy.reuse.block_question import question_of
from tests.pipeline_world import POLICIES, walk


def _block(sql: str, policy: Policy | str, mechanism: str | None = None) -> BlockPlan:
    settings = {} if mechanism is None else {"dp.mechanism": mechanism}
    found = walk(sql, POLICIES[policy] if isinstance(policy, str) else policy, settings=settings)
    assert found is not None
    (block,) = found.plan.blocks
    return block


def _with_column(policy: Policy, mechanism: Mechanism) -> Policy:
    """One column by another mechanism."""
    name = TableName("w", "orders")
    table = policy.tables[name]
    assert isinstance(table, ProtectedTable)
    column = replace(table.columns["i4"], mechanism=mechanism)
    changed = replace(table, columns={**table.columns, "i4": column})
    return replace(policy, tables={**policy.tables, name: changed})


@pytest.mark.parametrize("table", ["orders", "visits", "members"])
@pytest.mark.parametrize("aggregate", ["avg", "min", "max"])
def test_the_smoothed_median_is_always_allowed(table: str, aggregate: str) -> None:
    sql = f"SELECT {aggregate}(i4) FROM {table}"
    for policy in ("best", "ratio", "clipped", "world"):
        (release,) = _block(sql, policy, "smooth_median").releases
        assert isinstance(release, SampleAggregate)


def test_an_answer_without_an_error_names_the_mechanism_that_has_one() -> None:
    """Where a session may choose it, and it changes something."""
    sql = "SELECT avg(i4), min(i4), max(i4) FROM orders"
    column = _with_column(POLICIES["best"], Mechanism.SMOOTH_MEDIAN)
    for policy, mechanism in ((column, None), (POLICIES["best"], "smooth_median")):
        block = _block(sql, policy, mechanism)
        assert all("SET dp.mechanism = best" in told for told in _told(block))
        assert not any(
            isinstance(one, SampleAggregate) for one in _block(sql, policy, "best").releases
        )
    for of_policy in ("clipped", "world"):
        block = _block(sql, of_policy, "smooth_median")
        assert all("SET dp.mechanism" not in told for told in _told(block))


def _told(block: BlockPlan) -> Iterator[str]:
    """Why there is no interval, and what to do where the answer is NULL."""
    for entry in accuracies(PrivatePlan(blocks=(block,), loss=NOTHING)):
        assert "not known" in entry.described.no_interval
        yield entry.described.no_interval
    values = tuple(missing(Fraction(1), SqlType.FLOAT8) for _ in block.answers)
    noisy = NoisyTable((NoisyRow(keys=(), values=values, errors=(None,) * len(block.outputs)),))
    told = [line for line in answer_notices(block, noisy) if "NULL: it takes about" in line]
    assert len(told) == len(values)
    yield from told


def test_a_refusal_for_too_small_an_epsilon_advises_the_mechanism_alone() -> None:
    """A larger epsilon is the advice only where the session may not choose `best`."""
    sql = "SELECT avg(i4), min(i4), max(i4), stddev(i4) FROM orders"
    small = {"dp.epsilon": "0.001"}
    column = _with_column(POLICIES["best"], Mechanism.SMOOTH_MEDIAN)
    smooth = {"dp.mechanism": "smooth_median"}
    for policy, given in ((column, {}), (column, smooth), (POLICIES["best"], smooth)):
        with pytest.raises(Refusal) as refused:
            walk(sql, policy, settings={**small, **given})
        assert refused.value.code is Code.INFEASIBLE
        assert re.fullmatch(
            r"SET dp\.mechanism = best \(over HTTP .*\) answers it at any epsilon\."
            r"|RESET dp\.mechanism .* for the mechanism of the policy\.",
            refused.value.hint,
        )
        advised = {} if refused.value.hint.startswith("RESET") else {"dp.mechanism": "best"}
        assert walk(sql, policy, settings={**small, **advised}) is not None
    with pytest.raises(Refusal) as refused:
        walk(sql, POLICIES["world"], settings=small)
    assert refused.value.hint.startswith("SET dp.epsilon = ")
    assert "SET dp.mechanism" not in refused.value.hint


def test_other_aggregates_are_as_before() -> None:
    sql = "SELECT count(*), sum(i4), variance(i4), percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM orders"
    assert _block(sql, "best", "smooth_median") == _block(sql, "best")


def test_what_the_policy_gives_is_what_it_would_be() -> None:
    sql = "SELECT avg(i4), max(i4) FROM orders"
    for given in ("best", "policy"):
        assert _block(sql, "best", given) == _block(sql, "best")
    assert _block(sql, "world", "smooth_median") == _block(sql, "world")


def test_a_column_of_another_mechanism_can_have_that_of_all_columns() -> None:
    policy = _with_column(POLICIES["best"], Mechanism.SMOOTH_MEDIAN)
    assert isinstance(_block("SELECT avg(i4) FROM orders", policy).releases[0], SampleAggregate)
    found = _block("SELECT avg(i4) FROM orders", policy, "best").releases[0]
    assert isinstance(found, DeviationMean | RecentredMean)


def test_the_mechanism_of_one_column_is_not_that_of_others() -> None:
    policy = _with_column(POLICIES["best"], Mechanism.SUM_OVER_COUNT)
    assert Mechanism.SUM_OVER_COUNT in allowed_mechanisms(policy)
    found = _block("SELECT avg(i4) FROM orders", policy, "sum_over_count")
    assert all(isinstance(release, NoisyStatistic) for release in found.releases)
    with pytest.raises(Refusal) as refused:
        _block("SELECT avg(n2) FROM orders", policy, "sum_over_count")
    assert refused.value.code is Code.SETTING
    assert refused.value.hint.startswith("RESET dp.mechanism")
    in_hint = re.search(r"SET dp\.mechanism = (\w+)", refused.value.hint)
    assert in_hint is not None
    _block("SELECT avg(n2) FROM orders", policy, in_hint[1])


def test_extremes_follow_a_mechanism_of_means() -> None:
    policy = _with_column(POLICIES["best"], Mechanism.CLIPPED_MEAN)
    mean, least = _block("SELECT avg(i4), min(i4) FROM orders", policy, "clipped_mean").releases
    assert isinstance(mean, SampleAggregate) and isinstance(least, SampleAggregate)
    assert isinstance(_block("SELECT min(i4) FROM orders", policy, "best").releases[0], UnitExtreme)


@pytest.mark.parametrize("aggregate", ["avg", "min", "max"])
def test_it_is_another_question(aggregate: str) -> None:
    """What is kept of one mechanism never answers for the other."""
    sql = f"SELECT {aggregate}(i4) FROM orders"
    found = [question_of(_block(sql, "best", one)) for one in ("policy", "smooth_median")]
    assert None not in found
    assert len({one.question for one in found if one is not None}) == 2


@pytest.mark.parametrize("word", ["median", "auto", "clipped_mean", ""])
def test_what_is_not_allowed_names_what_is(word: str) -> None:
    policy = POLICIES["best"]
    with pytest.raises(Refusal) as refused:
        read_settings({"dp.mechanism": word}, policy.privacy, allowed_mechanisms(policy))
    listed = re.search(r"Allowed are ([\w, ]+)\.", refused.value.hint)
    assert listed is not None
    for allowed in listed[1].split(", "):
        given = {"dp.mechanism": allowed}
        read_settings(given, policy.privacy, allowed_mechanisms(policy))


def test_where_it_cannot_be_planned_the_hint_leads_back() -> None:
    policy = POLICIES["best"]
    sql = "SELECT avg(i4) FROM orders"
    few = {"dp.mechanism": "smooth_median", "dp.epsilon": "0.0001"}
    with pytest.raises(Refusal) as refused:
        walk(sql, policy, settings=few)
    assert "RESET dp.mechanism" in refused.value.hint
    assert walk(sql, policy, settings={"dp.epsilon": "0.0001"}) is not None
