"""Means of deviations: one unit moves what they take by no more than is paid for, about any centres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from proxy.audit.movement import Measure, bounded_tables, movements
from proxy.audit.neighbour_audit import audited_bounds
from proxy.compiler import deviation_scan
from proxy.kernel.checked_plan import check_centred
from proxy.kernel.plan import BlockPlan, DeviationMean, with_centres
from proxy.mechanisms.deviation_mean import NoisyCentres, fineness
from proxy.policy.policy_model import Policy
from tests.audit.exact_results import Auditor
from tests.audit.test_private_bounds import chosen_by_choice
from tests.pipeline_world import POLICIES, walk
from tests.unchecked_blocks import unchecked

_QUESTIONS = (
    "SELECT avg(i4) FROM orders",
    "SELECT count(*), avg(n2), variance(n2), sum(i4) FROM orders",
    "SELECT avg(n2), avg(i4) FILTER (WHERE i2 > 0) FROM orders WHERE t <> 'x'",
    "SELECT t, avg(n2), avg(i8) FROM visits GROUP BY t",
    "SELECT t, sum(i4), avg(f8) FROM orders GROUP BY t",
    "SELECT t, b, avg(i4) FROM visits GROUP BY t, b",
    "SELECT avg(o.i4) FROM orders o JOIN visits v ON o.uid = v.uid",
    "SELECT avg(i4) FROM (SELECT i4 FROM orders UNION ALL SELECT i2 + i4 FROM orders) q",
    "SELECT t, stddev(i4), avg(i4) FROM orders GROUP BY t",
    "SELECT variance(f8), avg(n2) FROM visits WHERE i2 > 0",
    "SELECT t, avg(CASE WHEN i2 > 0 THEN i4 END) FROM visits GROUP BY GROUPING SETS ((t), ())",
)
_SPREAD = "SELECT t, stddev(i4) FROM orders GROUP BY t"
_POLICIES = {"declared": POLICIES["best"], "chosen": chosen_by_choice(POLICIES["best"])}


def _block(policy: Policy, question: str) -> Iterator[BlockPlan]:
    """With centres at different places, and as of units with hardly more than one row."""
    pipeline = walk(question, policy, chosen=audited_bounds)
    assert pipeline is not None
    for block in pipeline.plan.blocks:
        if not block.deviation_means:
            continue
        yield block
        for is_single in (False, True):
            found = {
                number: _centres(release, len(block.listed_groups), is_single)
                for number, release in block.deviation_means.items()
            }
            centred = with_centres(block, found)
            if all(one.declared in (None, 1) for one in found_means(centred)) or not is_single:
                check_centred(found, unchecked(block))
            yield centred


def found_means(block: BlockPlan) -> Iterator[DeviationMean]:
    yield from block.deviation_means.values()


def _centres(release: DeviationMean, groups: int, is_single: bool) -> NoisyCentres:
    low, high = release.measured.low, release.measured.high
    whole = (high - low) * fineness(low, high)
    places = [(whole, -whole // 3, whole // 7, 0)[number % 4] for number in range(groups)]
    return NoisyCentres(
        units=100,
        is_few=False,
        is_single=is_single,
        rows=1 if is_single else release.declared or 2,
        lost_rows=0,
        weights=(2**20,) * groups,
        sums=(0,) * groups,
        centres=tuple(places),
    )


def _moved(auditor: Auditor, block: BlockPlan) -> Iterator[tuple[str, object, object]]:
    """What moves further than planned."""
    for base in auditor.bases[:2]:
        here = auditor.tables(block, base.name)
        for schema in base.without_unit:
            there = auditor.tables(block, schema)
            for movement in movements(block, here, there):
                if movement.observed > movement.planned:
                    yield schema, movement.planned, movement.observed


def _largest(auditor: Auditor, block: BlockPlan) -> float:
    """The largest share of its epsilon that a mean tells neighbours apart by."""
    found = [0.0]
    for base in auditor.bases[:2]:
        here = auditor.tables(block, base.name)
        for schema in base.without_unit:
            there = auditor.tables(block, schema)
            found += [
                float(one.observed / one.planned)
                for one in movements(block, here, there)
                if one.measure is Measure.LOSS
            ]
    return max(found)


@pytest.mark.every(16)
@pytest.mark.parametrize("question", _QUESTIONS)
@pytest.mark.parametrize("policy", ["declared", "chosen"])
def test_neighbours_move_by_no_more_than_planned(
    policy: str, question: str, auditor: Auditor
) -> None:
    blocks = list(_block(_POLICIES[policy], question))
    assert blocks
    for block in blocks:
        assert list(_moved(auditor, block)) == []


def test_nearly_all_of_it_is_used(auditor: Auditor) -> None:
    used = [_largest(auditor, block) for block in _block(_POLICIES["chosen"], _QUESTIONS[0])]
    assert max(used) > 0.9


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda self, value, of, kind: f"({value} * 1048576)::numeric", id="no shares"),
        pytest.param(lambda self, value, of, kind: f"(2 * {value} * 1048576 / {of})", id="twice"),
    ],
)
@pytest.mark.parametrize("question", [_QUESTIONS[0], _QUESTIONS[4]])
def test_shares_that_add_up_to_more_are_seen(
    question: str, broken: object, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deviation_scan._Columns, "_share", broken)
    moved = [
        one for block in _block(_POLICIES["chosen"], question) for one in _moved(auditor, block)
    ]
    assert moved


def test_totals_of_groups_instead_of_units_are_seen(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit in several groups would be counted in each, with all of its bound."""

    def by_group(self: deviation_scan._Columns, number: str, kind: str) -> str:
        """As if each group were all that a unit has."""
        return f"({number})::{kind}"

    monkeypatch.setattr(deviation_scan._Columns, "_in_all", by_group)
    blocks = _block(_POLICIES["chosen"], _QUESTIONS[4])
    assert [one for block in blocks for one in _moved(auditor, block)]


def test_extents_of_groups_instead_of_units_are_seen(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The squares of a unit in several groups would count with all of their bound in each."""
    real = deviation_scan._Columns._in_all

    def by_group(self: deviation_scan._Columns, number: str, kind: str) -> str:
        return number if "abs(q" in number else real(self, number, kind)

    monkeypatch.setattr(deviation_scan._Columns, "_in_all", by_group)
    blocks = _block(_POLICIES["chosen"], _SPREAD)
    assert [one for block in blocks for one in _moved(auditor, block)]


def test_squares_that_are_not_bounded_are_seen(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All units would be in the band of the smallest squares, where nothing is cut."""
    monkeypatch.setattr(deviation_scan, "square_bounds", lambda *_, is_single: (10**30,))
    blocks = _block(_POLICIES["chosen"], _SPREAD)
    assert [one for block in blocks for one in _moved(auditor, block)]


def test_most_of_a_variance_is_used(auditor: Auditor) -> None:
    used = [_largest(auditor, block) for block in _block(_POLICIES["chosen"], _SPREAD)]
    assert max(used) > 0.85


def test_a_scan_alone_says_what_the_centres_are_released_of(auditor: Auditor) -> None:
    """The rows of the first scan are those of the second."""
    for block in _block(_POLICIES["chosen"], _QUESTIONS[3]):
        base = auditor.bases[0]
        *_, second = bounded_tables(block, auditor.tables(block, base.name))
        rows = {row for row in map(_parts, second.rows) if row[1][0] % 2 == 0}
        assert rows
        whole = replace(block, releases=tuple(block.releases))
        assert whole == block


def _parts(row: object) -> tuple[object, tuple[int, ...]]:
    return row.keys, row.values  # type: ignore[attr-defined]
