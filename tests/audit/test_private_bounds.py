"""Bounds that are chosen privately: of what they are chosen by one unit changes one count, and with any bound
exact results move by no more than is paid for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from proxy.audit.movement import Measure, bounded_tables, movements
from proxy.audit.neighbour_audit import audited_bounds
from proxy.base.errors import Refusal
from proxy.compiler import bound_scan, clip_scan, unit_gathering, unit_scan
from proxy.exact.table import places
from proxy.kernel.plan import BlockPlan, DeviationMean, NoisyStatistic
from proxy.kernel.statistics import Statistic
from proxy.mechanisms import private_bound
from proxy.mechanisms.unit_means import UnitMeans
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    IdentifierUnit,
    Mechanism,
    Policy,
    ProtectedTable,
)
from tests.audit.exact_results import Auditor
from tests.pipeline_world import POLICIES, walk
from tests.unchecked_blocks import compiled

_QUESTIONS = (
    "SELECT count(*), sum(i4), sum(n2) FROM orders",
    "SELECT count(i4) FILTER (WHERE i2 > 0), sum(i8) FROM orders WHERE t <> 'x'",
    "SELECT covar_pop(i4, i4) FROM orders",
    "SELECT count(*), avg(n2), corr(n2, n2), sum(i4) FROM orders",
    "SELECT count(*), corr(n2, n2), sum(i4), covar_pop(i4, i4) FILTER (WHERE i2 > 0) FROM orders",
    "SELECT corr(i4, n2), count(DISTINCT i4) FROM visits",
    "SELECT min(i4), percentile_cont(0.5) WITHIN GROUP (ORDER BY n2) FROM orders",
    "SELECT t, count(*), sum(i4) FROM orders GROUP BY t",
    "SELECT t, count(*) FILTER (WHERE i4 > 0), sum(n2), avg(n2) FROM visits GROUP BY t",
    "SELECT s, count(*), sum(i4) FROM orders GROUP BY s",
    "SELECT s, avg(i4), max(i4) FROM orders GROUP BY s",
    "SELECT d, e, sum(i4) FROM orders GROUP BY d, e",
    "SELECT count(*), sum(o.i4) FROM orders o JOIN visits v ON o.uid = v.uid",
    "SELECT count(*), sum(i4) FROM (SELECT i4 FROM orders UNION ALL SELECT i2 + i4 FROM orders) q",
    "SELECT count(*), sum(i4), count(DISTINCT i2) FROM orders",
    "SELECT count(*), count(i4), sum(i4), sum(i8), covar_pop(i4, n2) FROM orders",
)
_PLACES = (0, 2, 4)


def chosen_by_choice(policy: Policy) -> Policy:
    """The policy with bounds on rows that are chosen, up to 50 a unit."""

    def table(one: object) -> object:
        if isinstance(one, ProtectedTable) and isinstance(one.unit, IdentifierUnit):
            return replace(one, chooses_rows=True, max_rows_per_unit=50, join_rows_at_most=4)
        return one

    tables = {name: table(one) for name, one in policy.tables.items()}
    privacy = replace(policy.privacy, mechanism=Mechanism.BEST)
    return replace(policy, tables=tables, privacy=privacy)  # type: ignore[arg-type]


def _blocks(policy: str, question: str) -> Iterator[BlockPlan]:
    for place in _PLACES:
        pipeline = walk(
            question,
            chosen_by_choice(POLICIES[policy]),
            chosen=partial(audited_bounds, place=place),
        )
        assert pipeline is not None
        assert all(block.choices for block in pipeline.plan.blocks)
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


@pytest.mark.every(16)
@pytest.mark.parametrize("question", _QUESTIONS)
@pytest.mark.parametrize("policy", ["best", "gaussian"])
def test_neighbours_move_by_no_more_than_planned(
    policy: str, question: str, auditor: Auditor
) -> None:
    for block in _blocks(policy, question):
        assert list(_moved(auditor, block)) == []


_GIVEN = (
    "SELECT count(*), dp.clipped(count(*)) FROM orders",
    "SELECT sum(i4), dp.clipped(sum(i4)) FROM orders WHERE t <> 'x'",
    "SELECT t, count(*), dp.clipped(count(*)) FROM orders GROUP BY t",
    "SELECT s, sum(i4), dp.clipped(sum(i4)) FROM orders GROUP BY s",
    "SELECT count(*), dp.clipped(count(*)) FROM orders o JOIN visits v ON o.uid = v.uid",
)


@pytest.mark.parametrize("question", _GIVEN)
def test_one_unit_is_cut_or_not_by_the_policys_bounds(question: str, auditor: Auditor) -> None:
    pipeline = walk(question, POLICIES["best"], chosen=audited_bounds)
    plain = walk(question, POLICIES["best"])
    assert pipeline is not None and plain is not None
    (block,), (before,) = pipeline.plan.blocks, plain.plan.blocks
    assert block == before, "nothing of it is chosen"
    assert not block.chooses and set(block.choices) == {None}
    assert plain.plan.loss.epsilon == POLICIES["best"].privacy.epsilon
    assert list(_moved(auditor, block)) == []
    tables = [auditor.tables(block, base.name) for base in auditor.bases]
    bands = {row.values[1] for found in tables for row in found[0].rows}
    assert bands <= {1, 2} and (2 in bands or "JOIN" in question)


def test_the_policys_bounds_do_not_cut_a_mean_of_deviations() -> None:
    """Beside a count they cut the count alone; for a mean alone nothing is counted or paid."""
    text = "SELECT avg(i4), dp.clipped(avg(i4)){} FROM orders WHERE t <> 'x'"
    for others, counted in (("", {}), (", count(*)", {None: {1}})):
        pipeline = walk(text.format(others), POLICIES["best"])
        assert pipeline is not None
        (block,) = pipeline.plan.blocks
        assert isinstance(block.releases[0], DeviationMean)
        assert {choice: block.bounded_by(choice) for choice in block.choices} == counted


@pytest.mark.parametrize("question", [_GIVEN[0], _GIVEN[2]])
def test_units_counted_by_rows_are_seen(
    question: str, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered = unit_gathering.gathered_sql

    def by_rows(*given: Any, **named: Any) -> str:
        text = gathered(*given, **named)
        return text.replace('."uid" AS unit', '."id" AS unit').replace('BY r1."uid"', 'BY r1."id"')

    monkeypatch.setattr(clip_scan, "gathered_sql", by_rows)
    pipeline = walk(question, POLICIES["best"])
    assert pipeline is not None
    moved = list(_moved(auditor, pipeline.plan.blocks[0]))
    assert any(measure is Measure.TOTALS for _, measure, _, _ in moved)


@pytest.mark.parametrize("given", [(0, 300), (5, 90), (-200, -10), (-50, 120)])
@pytest.mark.parametrize("by_choice", [True, False])
def test_sizes_of_sums_are_added_up_whatever_sign_a_given_total_has(
    given: tuple[int, int], by_choice: bool, auditor: Auditor
) -> None:
    """Values of both signs in several groups: what is bounded are the sizes, not what is left of them."""
    total = Bounds(Fraction(given[0]), Fraction(given[1]), BoundsKind.NUMBER)

    def table(one: ProtectedTable) -> ProtectedTable:
        signed = {"i8": replace(one.columns["i8"], per_unit=total)}
        wide = Bounds(Fraction(-(2**31)), Fraction(2**31 - 1), BoundsKind.NUMBER)
        signed["i4"] = replace(one.columns["i4"], bounds=wide, per_unit=total)
        return replace(one, columns={**one.columns, **signed})

    policy = chosen_by_choice(POLICIES["best"]) if by_choice else POLICIES["best"]
    tables = {
        name: table(one) if isinstance(one, ProtectedTable) else one
        for name, one in policy.tables.items()
    }
    for question in ("SELECT t, sum(i8), sum(i4) FROM orders GROUP BY t",
                     "SELECT s, sum(i8), sum(i4) FROM notes GROUP BY s",
                     "SELECT sum(i8), sum(i4) FROM orders"):  # fmt: skip
        pipeline = walk(question, replace(policy, tables=tables), chosen=audited_bounds)
        assert pipeline is not None
        (block,) = pipeline.plan.blocks
        assert list(_moved(auditor, block)) == []


@pytest.mark.parametrize("question", [_QUESTIONS[14], _QUESTIONS[7], _QUESTIONS[9]])
def test_it_is_the_cut_that_keeps_to_it(
    question: str, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def uncut(number: int, *_: object) -> str:
        return f"pg_catalog.sum(v{number}::numeric * 1024)"

    monkeypatch.setattr(unit_scan, "_clamped_total", uncut)
    moved = [found for block in _blocks("best", question) for found in _moved(auditor, block)]
    assert moved


def test_totals_that_are_not_cut_are_seen(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        private_bound.UnitTotals, "clamped", lambda self, *_: sum(self.sums.values())
    )
    moved = [found for block in _blocks("best", _QUESTIONS[0]) for found in _moved(auditor, block)]
    assert moved


@pytest.mark.parametrize("question", [_QUESTIONS[3], _QUESTIONS[4]])
def test_sums_whose_rows_are_not_limited_are_seen(
    question: str, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unlimited(self: UnitMeans, *_: object) -> tuple[int, int]:
        return sum(self.counts.values()), sum(self.sums.values())

    monkeypatch.setattr(UnitMeans, "limited", unlimited)
    moved = [found for block in _blocks("best", question) for found in _moved(auditor, block)]
    assert moved


@pytest.mark.parametrize("question", [_QUESTIONS[n] for n in (2, 3, 4, 15)])
def test_sums_of_one_scan_are_those_of_two(
    question: str, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of units above the bound the mean is rounded once, not each time."""
    blocks, base = list(_blocks("best", question)), auditor.bases[0]

    def found(block: BlockPlan) -> dict[int, tuple[int, int]]:
        tables = bounded_tables(block, auditor.tables(block, base.name))
        values = {
            number: (tables[place].rows[0].values, slots) for number, place, slots in places(tables)
        }
        return {
            number: tuple(
                (of[slot] or 0) if slot is not None else 0 for slot in (at.count, at.total)
            )  # type: ignore[misc]
            for number, (of, at) in values.items()
        }

    assert all(block.is_of_totals for block in blocks)
    once = [found(block) for block in blocks]
    monkeypatch.setattr(BlockPlan, "is_of_totals", property(lambda self: False))
    twice = [found(block) for block in blocks]
    units = 100
    for block, one, other in zip(blocks, once, twice, strict=True):
        assert one.keys() == other.keys() == {*range(len(block.releases))}
        for number, (count, total) in one.items():
            same, near = other[number]
            release = block.releases[number]
            is_count = isinstance(release, NoisyStatistic) and release.statistic is Statistic.ROWS
            off = units if number in block.sums_of_totals and not is_count else 0
            assert count == same and abs(total - near) <= off


def test_totals_of_groups_instead_of_units_are_seen(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit in several groups would be in several bands."""
    gathered = unit_gathering.gathered_sql

    def by_rows(*given: Any, **named: Any) -> str:
        text = gathered(*given, **named)
        return text.replace('."uid" AS unit', '."id" AS unit').replace('BY r1."uid"', 'BY r1."id"')

    monkeypatch.setattr(bound_scan, "gathered_sql", by_rows)
    block = next(_blocks("best", _QUESTIONS[0]))
    assert compiled(block)[0].sql.count('"id"') >= 1
    assert any(measure is Measure.TOTALS for _, measure, _, _ in _moved(auditor, block))


def test_private_keys_need_a_bound_on_groups() -> None:
    policy = chosen_by_choice(POLICIES["best"])
    tables = {
        name: replace(one, max_groups_per_unit=None) if isinstance(one, ProtectedTable) else one
        for name, one in policy.tables.items()
    }
    with pytest.raises(Refusal, match="bound on the groups") as refused:
        walk(_QUESTIONS[9], replace(policy, tables=tables))
    assert "max_groups_per_unit" in refused.value.hint


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(i4), corr(i4, i4), covar_pop(i4, i4) FROM orders",
        "SELECT s, count(i4), variance(i4) FROM orders GROUP BY s",
    ],
)
def test_the_count_that_a_variance_is_made_of_is_cut_as_its_sum_is(question: str) -> None:
    """With a bound of its own the squares of one's rows would be divided by more or fewer than are added up."""
    pipeline = walk(question, chosen_by_choice(POLICIES["best"]))
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    count, mean, *_ = block.answers
    assert set(count.releases) < set(mean.releases)
    assert set(block.choices) == {None}
    assert block.bounded_by(None) == {*range(len(block.releases))}
