"""Where the other noise would be smaller: for queries whose groups one unit can be in several of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proxy.base.sql_types import SqlType
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import LaplaceNoise, NoisyStatistic
from proxy.kernel.shape import Shape
from proxy.mechanisms import discrete_gaussian
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import Facts, PlanningContext, UnitRows
from proxy.planner.measuring import MeasureContext, Priced
from proxy.planner.release_choice import plan_release
from proxy.planner.tracking import track
from proxy.policy.policy_model import Noise, Privacy, ProtectedTable
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Scan
from proxy.release.noisy_values import (
    noise_half_width,
)

_COUNT = Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseProposal:
    """With `noise: gaussian` a COUNT by keys of `groups` groups or more is within gaussian_95 in 95 of 100
    answers, with Laplace noise within laplace_95; a SUM in the same proportion. One group alone gets alone_95
    instead of alone_now_95: what the choice costs other statements."""

    table: str
    groups: int
    laplace_95: int
    gaussian_95: int
    alone_95: int
    alone_now_95: int


def noise_proposals(known: PlanningContext) -> list[NoiseProposal]:
    """One for each table whose counts by many groups Gaussian noise would make more exact.

    Given    a policy for which `check` finds nothing, fitted
    Source   docs/design/mechanisms.md 3.2: L1 grows with the number of groups, L2 with its root, if
             max_rows_per_group_per_unit bounds the rows within each
    """
    if known.policy.privacy.noise is not Noise.LAPLACE:
        return []
    found = (_proposal(table, known) for table in known.policy.protected())
    return [proposal for proposal in found if proposal is not None]


def _proposal(table: ProtectedTable, known: PlanningContext) -> NoiseProposal | None:
    """By a count that is planned as if its groups were as many as a unit can be in."""
    rows = track(Scan("t", table.name), known)
    unit = rows.ownership
    if not isinstance(unit, UnitRows) or unit.rows_per_group is None:
        return None  # all rows of a unit may be in one group
    if unit.is_chosen:
        return (
            None  # its bound is chosen when a statement runs: the largest says nothing of the noise
        )
    groups = min(unit.rows, unit.groups or unit.rows)
    release = _count(unit, rows.facts, known.policy.privacy, groups)
    if not isinstance(release.noise, LaplaceNoise) or release.noise.gaussian is None:
        return None
    other = replace(known.policy.privacy, noise=Noise.GAUSSIAN)
    return NoiseProposal(
        table=str(table.name),
        groups=groups,
        laplace_95=noise_half_width(release.noise),
        gaussian_95=discrete_gaussian.half_width(release.noise.gaussian),
        alone_95=noise_half_width(_count(unit, rows.facts, other, 1).noise),
        alone_now_95=noise_half_width(_count(unit, rows.facts, known.policy.privacy, 1).noise),
    )


def _count(unit: UnitRows, facts: Facts, privacy: Privacy, groups: int) -> NoisyStatistic:
    """A COUNT whose groups one unit is in so many of."""
    assert unit.rows_per_group is not None
    neighbours = UnitNeighbours(
        column=unit.column,
        rows=unit.rows,
        groups=groups,
        rows_per_group=unit.rows_per_group,
        is_summed=unit.rows < groups * unit.rows_per_group,
    )
    context = MeasureContext(
        facts=facts,
        shape=Shape(neighbours=neighbours, count=None, is_spread=True),
        privacy=privacy,
        wanted=Loss(privacy.epsilon, privacy.delta),
    )
    release = plan_release(_COUNT, Priced(context=context, loss=context.wanted))
    assert isinstance(release, NoisyStatistic)
    return release
