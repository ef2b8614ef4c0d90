"""A question about some groups as one about all of them: what `column = constant` leaves is one of the groups
of that column, whose answer costs the same and is as exact. So slices of one table are one question.

Both plans are made by the planner, and the lifted one serves only where it releases the very same: equal
sensitivities, noise and losses. A unit is in as many of its rows' groups as before, and its rows are in one
group each. Where a unit has more rows than a policy says that it has, they are cut before the slice is taken.

Source  docs/design/reuse.md 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan, together
from proxy.kernel.column_types import conjuncts
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic, RecentredMean
from proxy.mechanisms.loss import Loss
from proxy.planner.column_buckets import (
    Stretch,
    buckets,
    clamped_below,
    clamped_to_bounds,
    keys_of,
    slice_of,
    stretch_of,
)
from proxy.planner.facts import Facts, Values, typed
from proxy.planner.planning import Planned, planned
from proxy.query.ir.expressions import Clamped, ColumnRef, Expression
from proxy.query.ir.query import AggregateBlock, Key, Query, uses_answers
from proxy.query.ir.rebuilding import conjunction

_FLAT = (NoisyStatistic, DistinctCount, RecentredMean)
# A key of the lifted block: which key of the question, or the value that all groups of the question have there.
_From: TypeAlias = "int | str"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """checked: what is drawn; origins: of each of its keys, a key of the question or the constant it equals."""

    checked: CheckedBlock
    origins: tuple[_From, ...]

    @property
    def block(self) -> BlockPlan:
        return self.checked.block

    def group_of(self, keys: Values) -> Values:
        """Where the answer of a group of the question stands."""
        return tuple(keys[one] if isinstance(one, int) else one for one in self.origins)


def lifted(query: Query, found: Planned, wanted: Loss) -> tuple[Lift | None, ...]:
    """
    Given    query, wanted: of which `found` is the plan
    Gives    for each block what is drawn instead of it; None: the block itself
    """
    facts = [draft.context.facts for draft in found.drafts]
    none: tuple[Lift | None, ...] = (None,) * len(query.blocks)
    before: list[_Wider | None] = []
    for has_ranges in (True, False):
        wider = [
            _wider(block, of, has_ranges) for block, of in zip(query.blocks, facts, strict=True)
        ]
        lifts = none if wider == before else _lifts(query, found, wanted, wider)
        if any(lifts):
            return lifts
        before = wider
    return none


def _lifts(
    query: Query, found: Planned, wanted: Loss, wider: Sequence[_Wider | None]
) -> tuple[Lift | None, ...]:
    none: tuple[Lift | None, ...] = (None,) * len(query.blocks)
    if not any(wider):
        return none
    blocks = tuple(
        block if more is None else more.block
        for block, more in zip(query.blocks, wider, strict=True)
    )
    try:
        other = planned(replace(query, blocks=blocks), found.known, wanted).checked
    except Refusal:
        return none
    if other.loss != found.checked.loss:
        return none
    if other.tables != found.checked.tables:  # more blocks of time would be read, and charged
        return none
    return tuple(
        None if more is None else _lift(block, more, of)
        for block, more, of in zip(found.private.blocks, wider, other.blocks, strict=True)
    )


def with_lifts(plan: CheckedPlan, lifts: Sequence[Lift | None]) -> CheckedPlan:
    """What is drawn for a plan."""
    if not any(lifts):
        return plan
    pairs = zip(plan.blocks, lifts, strict=True)
    return together([one if lift is None else lift.checked for one, lift in pairs])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wider:
    """A block without its conditions on single public values. among: what each key has to be in the groups of
    the question, by number; clamped: what some have to be computed of."""

    block: AggregateBlock
    origins: tuple[_From, ...]
    among: Mapping[int, frozenset[str]]
    clamped: Mapping[int, Clamped | None]


def _wider(block: AggregateBlock, facts: Facts, has_ranges: bool) -> _Wider | None:
    if block.where is None or block.is_summed or uses_answers(block):
        return None
    numbers = {
        (key.expression.relation, key.expression.column): number
        for number, key in enumerate(block.keys)
        if isinstance(key.expression, ColumnRef)
    }
    keys, origins = list(block.keys), list[_From](range(len(block.keys)))
    among: dict[int, frozenset[str]] = {}
    left: list[Expression] = []
    stretches: dict[ColumnRef, _Stretched] = {}
    for part in conjuncts(block.where):
        bounded = stretch_of(typed(part, facts)) if has_ranges else None
        if bounded is not None:
            known = stretches.setdefault(bounded[0], _Stretched(Stretch(), ()))
            stretches[bounded[0]] = known.within(bounded[1], part)
            continue
        found = slice_of(typed(part, facts), facts)
        place = None if found is None else (found[0].relation, found[0].column)
        number = None if place is None else numbers.get(place)
        if found is None or (number is None and len(found[1]) != 1):
            left.append(part)
        elif number is not None:
            among[number] = among.get(number, found[1]) & found[1]
        else:
            column, (text,) = found
            assert place is not None
            among[len(keys)], numbers[place] = found[1], len(keys)
            keys.append(Key(column, column.type, column.type.sql))
            origins.append(text)
    clamped: dict[int, Clamped | None] = {}
    for ranged, stretched in stretches.items():
        place_of = _bucketed(keys, ranged, stretched.stretch, facts)
        if place_of is None:
            left += stretched.parts
            continue
        number, key, texts = place_of
        if number == len(keys):
            keys.append(Key(key, ranged.type, ranged.type.sql))
            origins += texts
        among[number] = among.get(number, texts) & texts
        clamped[number] = clamped_to_bounds(ranged, facts)
    if not among:
        return None
    if any(isinstance(one, str) and among[n] != {one} for n, one in enumerate(origins)):
        return None  # two different constants: no row
    wider = replace(block, where=conjunction(left), keys=tuple(keys), grouped=True)
    return _Wider(block=wider, origins=tuple(origins), among=among, clamped=clamped)


@dataclass(frozen=True, slots=True)
class _Stretched:
    """Where conditions together leave a column."""

    stretch: Stretch
    parts: tuple[Expression, ...]

    def within(self, other: Stretch, part: Expression) -> _Stretched:
        return _Stretched(self.stretch.meeting(other), (*self.parts, part))


def _bucketed(
    keys: Sequence[Key], column: ColumnRef, stretch: Stretch, facts: Facts
) -> tuple[int, Expression, frozenset[str]] | None:
    """A key by its number, which may be that of a new one, and which of its groups are the rows of a range."""
    for number, key in enumerate(keys):
        known = typed(key.expression, facts)
        within = {text for text, one in buckets(known, column, facts).items() if stretch.holds(one)}
        if within:
            return number, known, frozenset(within)
    for new, text in keys_of(column, stretch, facts):
        return len(keys), new, frozenset((text,))
    return None


def _lift(block: BlockPlan, wider: _Wider, checked: CheckedBlock) -> Lift | None:
    """The lifted block, if it answers the same."""
    of = checked.block
    is_same = (
        (block.source, block.unowned, block.releases, block.answers)
        == (of.source, of.unowned, of.releases, of.answers)
        and all(isinstance(release, _FLAT) for release in of.releases)
        and not (block.choices or of.choices)
        and are_truncated_alike(block.neighbours, of.neighbours)
    )
    groups = of.groups()
    if not is_same or groups is None or groups > limits.GROUPS_PER_STATEMENT:
        return None
    if any(clamped_below(of.keys[n].expression) != one for n, one in wider.clamped.items()):
        return None
    lift = Lift(checked=checked, origins=wider.origins)
    return lift if _holds(block, wider, lift) else None


def are_truncated_alike(one: Neighbours, other: Neighbours) -> bool:
    """Whether what counts of a unit does not depend on the groups that are asked for."""
    match one, other:
        case RowNeighbours(), RowNeighbours():
            return one == other
        case UnitNeighbours(), UnitNeighbours():
            return (one.column, one.rows, one.is_unbounded) == (
                *(other.column, other.rows, other.is_unbounded),
            ) and not (_truncates_groups(one) or _truncates_groups(other))
        case _:
            return False


def _truncates_groups(units: UnitNeighbours) -> bool:
    """Beyond what its bound on rows does."""
    return units.rows_per_group is not None or units.groups not in (None, units.rows)


def _holds(block: BlockPlan, wider: _Wider, lift: Lift) -> bool:
    """Whether each group of the question is one of the lifted block, in which its conditions are true."""
    keys = lift.block.keys
    wanted = [
        (frozenset((origin,)) if isinstance(origin, str) else {*(block.keys[origin].values or ())})
        for origin in lift.origins
    ]
    if any(not wanted[number] <= texts for number, texts in wider.among.items()):
        return False
    if lift.block.combinations is None:
        pairs = zip(wanted, keys, strict=True)
        return all(texts <= {*(key.values or ())} for texts, key in pairs)
    there = {*lift.block.combinations}
    groups = block.combinations
    if groups is None and not block.keys:
        groups = ((),)
    return groups is not None and all(lift.group_of(group) in there for group in groups)
