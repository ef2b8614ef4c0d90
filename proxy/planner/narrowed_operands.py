"""What is aggregated, narrowed by conditions that hold for every row of the aggregate.

A row that counts has a value where its conditions leave the column. Cutting it to the ends of these ranges
changes nothing then, and less noise is enough. The cut is what the SQL does (kernel.statistics.Measured.clamp):
what the noise hides never hangs on the condition, so a mistake here would make an answer wrong, not unsafe.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.kernel.column_types import conjuncts
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.planner.column_buckets import Stretch, buckets, compared_texts, keys_of, stretch_of
from proxy.planner.facts import ColumnFacts, Facts, typed
from proxy.planner.grids import default_grid
from proxy.planner.narrowing import narrowed
from proxy.planner.public_keys import clamped
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query import AggregateBlock
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.rebuilding import conjunction

_NEVER_LIFTED = (
    *(AggregateKind.MIN, AggregateKind.MAX),
    *(AggregateKind.QUANTILE_CONT, AggregateKind.QUANTILE_DISC),
)
# By the condition of its FILTER, the facts of what is aggregated.
OperandFacts = Mapping[Expression | None, Facts]


def operand_facts(
    block: AggregateBlock, aggregates: Sequence[Aggregate], facts: Facts, can_be_lifted: bool
) -> OperandFacts:
    """
    Given    aggregates: with their columns in backend types; can_be_lifted: whether another question may be
             drawn instead, of which some conditions are keys (lifting.py): these do not narrow
    """
    where = [] if block.where is None else list(conjuncts(typed(block.where, facts)))
    if can_be_lifted and not any(one.kind in _NEVER_LIFTED for one in aggregates):
        where = _not_lifted(block, where, facts)
    wanted = frozenset[tuple[str, str]]().union(
        *(columns(operand) for one in aggregates for operand in one.operands)
    )
    of_all = _narrowed(facts, where, wanted)
    found: dict[Expression | None, Facts] = {None: of_all}
    for one in aggregates:
        if one.condition is not None and one.condition not in found:
            found[one.condition] = _narrowed(of_all, list(conjuncts(one.condition)), wanted)
    return found


def is_much_narrower(known: ColumnFacts, clamp: Bounds) -> bool:
    """Whether values lie within half of what the policy's bounds let them be, or less."""
    if known.bounds is None:
        return False
    before = max(abs(known.bounds.low), abs(known.bounds.high))
    return 2 * max(abs(clamp.low), abs(clamp.high)) <= before


def has_fixed_bounds(neighbours: object, most_rows: int | None, facts: Facts) -> bool:
    """Whether no bound of a block may be chosen, without which nothing is lifted."""
    return most_rows is None and not (
        isinstance(neighbours, UnitNeighbours)
        and any(one.chooses_per_unit for one in facts.values())
    )


def _narrowed(
    facts: Facts, parts: Sequence[Expression], wanted: frozenset[tuple[str, str]]
) -> Facts:
    parts = [part for part in parts if columns(part) & wanted]
    if parts:
        left = narrowed(facts, conjunction(parts), wanted)
        facts = facts.instead(
            {name: replace(fact, ranges=left[name].ranges) for name, fact in facts.items()}
        )
    return facts | {name: _cut(fact) for name, fact in facts.items() if name in wanted}


def _cut(known: ColumnFacts) -> ColumnFacts:
    """Bounds as narrow as the ranges, in whole steps of the grid: what is rounded to one stays within."""
    bounds, ranges = known.bounds, known.ranges
    if bounds is None or ranges is None or known.is_unit:
        return known
    each = [clamped(bounds, one) for one in ranges]
    if not each:  # no row meets the conditions
        each = [Bounds(bounds.low, bounds.low, bounds.kind)]
    grid = known.grid or default_grid(bounds)
    low = max(bounds.low, math.floor(min(one.low for one in each) / grid) * grid)
    high = min(bounds.high, math.ceil(max(one.high for one in each) / grid) * grid)
    return replace(known, bounds=Bounds(Fraction(low), Fraction(high), bounds.kind))


def _not_lifted(
    block: AggregateBlock, parts: Sequence[Expression], facts: Facts
) -> list[Expression]:
    stretches: dict[ColumnRef, Stretch] = {}
    for part in parts:
        found = stretch_of(part)
        if found is not None:
            before = stretches.get(found[0], Stretch())
            stretches[found[0]] = before.meeting(found[1])
    lifted = {
        column for column, stretch in stretches.items() if _is_group(block, column, stretch, facts)
    }
    left = []
    for part in parts:
        found, texts = stretch_of(part), compared_texts(part)
        of_values = texts is not None and facts[texts.column.relation, texts.column.column].values
        if not of_values and (found is None or found[0] not in lifted):
            left.append(part)
    return left


def _is_group(block: AggregateBlock, column: ColumnRef, stretch: Stretch, facts: Facts) -> bool:
    """Whether the rows of a range are groups of some key."""
    keys = [typed(key.expression, facts) for key in block.keys]
    return any(
        stretch.holds(one) for key in keys for one in buckets(key, column, facts).values()
    ) or any(True for _ in keys_of(column, stretch, facts))
