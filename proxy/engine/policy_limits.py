"""What the policy's own numbers leave out of an answer, as rules. How much that is is not looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proxy.base.decimals import decimal_text
from proxy.engine.accuracy import text_of
from proxy.engine.answer_conditions import left_out_rows
from proxy.engine.cut_directions import (
    LEFT_OUT,
    LEFT_OUT_BELOW,
    left_out_of_total,
    left_out_of_values,
    only_grow,
)
from proxy.engine.unit_words import aggregate_word, one_unit
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    PrivatePlan,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.query.ir.relations import Join, Relation, Scan, Subquery, Truncate, scans


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRules:
    """Sentences that are told with the answers of a plan. groups: what does not fit into the groups; limits:
    what the policy's own numbers leave out."""

    groups: tuple[str, ...]
    limits: tuple[str, ...]


def policy_rules(plan: PrivatePlan) -> PolicyRules:
    """Say each rule by which a plan leaves rows out, once."""
    groups = dict.fromkeys(rule for block in plan.blocks for rule in left_out_rows(block))
    limits = dict.fromkeys(limit for block in plan.blocks for limit in policy_limits(block))
    return PolicyRules(
        groups=tuple(f"{rule[0].upper()}{rule[1:]}." for rule in groups), limits=tuple(limits)
    )


def policy_limits(block: BlockPlan) -> Iterator[str]:
    """Say each limit of the policy that can leave rows out of an answer, a sentence each."""
    unit = one_unit(block)
    yield from _limits_on_rows(block, unit)
    for release in block.releases:
        if isinstance(release, NoisyStatistic) and release.total and not release.total.choice:
            most = text_of(release.total.most * release.grid)
            left = LEFT_OUT if release.is_signed else LEFT_OUT_BELOW
            yield f"{aggregate_word(release.aggregate)}: at most {most} of {unit} count. {left}"
    for aggregate, kept in block.kept_totals:
        most = text_of(max(abs(kept.low), abs(kept.high)))
        left = left_out_of_total(aggregate, kept)
        yield f"{aggregate_word(aggregate)}: at most {most} of {unit} count. {left}"
    if block.clamped:
        ranges = ", ".join(_range(column, bounds) for column, bounds in block.clamped)
        left = left_out_of_values(block)
        yield f"Values beyond the policy's bounds count as the nearest bound: {ranges}. {left}"
    told = block.neighbours.column.column if isinstance(block.neighbours, UnitNeighbours) else ""
    yield from dict.fromkeys(_limits_on_joins(block.source, told))


def _range(column: str, bounds: Bounds) -> str:
    if bounds.kind is not BoundsKind.NUMBER:
        return column
    return f"{column} {decimal_text(bounds.low)} .. {decimal_text(bounds.high)}"


def _limits_on_rows(block: BlockPlan, unit: str) -> Iterator[str]:
    neighbours = block.neighbours
    if not isinstance(neighbours, UnitNeighbours) or neighbours.is_unbounded:
        return
    is_of_all_groups = all(isinstance(one, DeviationMean) for one in block.releases)
    if neighbours.groups is not None and not is_of_all_groups:
        left = LEFT_OUT_BELOW if only_grow(block, range(len(block.releases))) else LEFT_OUT
        yield f"At most {neighbours.groups:,} groups of {unit} count. {left}"
    bounded = [n for n, release in enumerate(block.releases) if _is_bounded(block, n, release)]
    if not bounded:
        return
    left = LEFT_OUT_BELOW if only_grow(block, bounded) else LEFT_OUT
    if neighbours.rows_per_group is not None and not neighbours.is_summed:
        yield f"At most {neighbours.rows_per_group:,} rows of {unit} count in each group. {left}"
    elif neighbours.is_summed and not block.chooses_rows:
        yield f"At most {neighbours.rows:,} rows of {unit} count. {left}"


def _is_bounded(block: BlockPlan, number: int, release: Release) -> bool:
    """Whether an answer takes the rows that the limit leaves."""
    is_of_all_rows = isinstance(release, UnitExtreme | KeptUnits | DeviationMean | SampleAggregate)
    if is_of_all_rows or number in block.choices:
        return False
    if isinstance(release, NoisyStatistic) and release.total is not None:
        return False
    return not (isinstance(release, DistinctCount) and release.of_unit)


def _limits_on_joins(relation: Relation, told: str) -> Iterator[str]:
    """told: the column of the unit, if its limit is told already."""
    match relation:
        case Truncate():
            column = "" if relation.by is None else relation.by.column
            if column not in ("", told) and relation.most is not None and not relation.below_join:
                table = next(scans(relation)).table.name
                yield f"At most {relation.most:,} rows of each {column} in {table} are joined."
            yield from _limits_on_joins(relation.source, told)
        case Join():
            yield from _limits_on_joins(relation.left, told)
            yield from _limits_on_joins(relation.right, told)
        case Subquery():
            yield from _limits_on_joins(relation.source, told)
        case Scan() | _:
            return
