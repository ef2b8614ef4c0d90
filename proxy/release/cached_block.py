"""What was drawn for a block as a text that can be cached, and back, for whichever plan asks the same.

Keys and releases are in the order of the question, not of a plan; bounds that were chosen are part of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from typing_extensions import assert_never

from proxy.kernel.plan import BlockPlan, DistinctCount, Noise, NoisyStatistic, Release
from proxy.mechanisms.deviation_mean import NoisyDeviations
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.mechanisms.recentred_mean import NoisyMeanSums
from proxy.mechanisms.row_weights import WeightedRows
from proxy.planner.lifting import Lift
from proxy.release.choosing_bounds import Chosen, ChosenBound
from proxy.release.drawn_values import (
    NOTHING,
    Drawn,
    DrawnBlock,
    DrawnGroup,
    DrawnNothing,
    DrawnNumber,
    DrawnQuantile,
    Keys,
    ordered_groups,
)

VERSION = 1
_DEVIATIONS = tuple(one.name for one in fields(NoisyDeviations))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """keys, releases: those of a plan, by number, in the order of its question."""

    keys: tuple[int, ...]
    releases: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedBlock:
    """chosen: bounds by the release that each is for, None: of rows; empty where none is chosen. noises: of the
    releases, where they are not those of the plan; releases: as they were drawn, in the plan's order, where
    they are other ones throughout."""

    chosen: Mapping[int | None, Chosen]
    drawn: DrawnBlock
    noises: tuple[Noise, ...] = ()
    releases: tuple[Release, ...] = ()


def cached_text(cached: CachedBlock, order: Order) -> str:
    places = {number: place for place, number in enumerate(order.releases)}
    document = {
        "v": VERSION,
        "chosen": [
            [None if number is None else places[number], *_chosen_numbers(one)]
            for number, one in cached.chosen.items()
        ],
        "groups": [
            [
                [group.keys[number] for number in order.keys],
                [_written(group.values[number]) for number in order.releases],
            ]
            for group in cached.drawn.groups
        ],
    }
    return json.dumps(document, separators=(",", ":"))


def cached_block(text: str, order: Order, plan: BlockPlan) -> CachedBlock:
    """
    Given    text: of the same question and terms; plan: before its bounds are chosen
    Refuses  ValueError for what this version did not write
    """
    document = _document(text)
    chosen: dict[int | None, Chosen] = {}
    for place, *numbers in document["chosen"]:
        number = None if place is None else _named(plan, order.releases[place])
        chosen[number] = _chosen(numbers)
    groups: dict[Keys, tuple[Drawn, ...]] = {}
    for keys, values in document["groups"]:
        groups[_put_back(keys, order.keys)] = _put_back(list(map(_read, values)), order.releases)
    found = tuple(DrawnGroup(keys, groups[keys]) for keys in ordered_groups(plan, groups))
    if len(found) != len(groups):
        raise ValueError("groups of another question")
    return CachedBlock(chosen=chosen, drawn=DrawnBlock(found))


def _chosen_numbers(one: Chosen) -> tuple[int | None, ...]:
    if isinstance(one, WeightedRows):
        return one.bound, one.units, one.rows, one.lost
    return one.bound, one.units, one.above, one.half_width, one.needed


def _chosen(numbers: Sequence[Any]) -> Chosen:
    if len(numbers) == 4:
        bound, units, rows, lost = numbers
        return WeightedRows(bound=bound, units=units, rows=rows, lost=lost)
    bound, units, above, half_width, needed = numbers
    return ChosenBound(bound=bound, units=units, above=above, half_width=half_width, needed=needed)


def _named(plan: BlockPlan, release: int) -> int:
    """The name that a bound has in this plan. Another question named it by another release that it is for."""
    weighed = () if plan.weight_choice is None else (plan.weight_choice,)
    choices = (*plan.value_choices, *weighed)
    names = [one.number for one in choices if release in one.releases]
    return names[0] if names else release


def lifted_groups(cached: CachedBlock, lift: Lift, plan: BlockPlan) -> CachedBlock:
    """The groups of a question, of those that were drawn for it."""
    values = {group.keys: group.values for group in cached.drawn.groups}
    groups = ordered_groups(plan, ())
    found = tuple(DrawnGroup(keys, values[lift.group_of(keys)]) for keys in groups)
    return replace(cached, drawn=DrawnBlock(found))


def as_shown(block: BlockPlan, cached: CachedBlock) -> BlockPlan:
    """The plan with the releases that its numbers are of."""
    if cached.noises:
        block = with_noises(block, cached.noises)
    return with_releases(block, cached.releases) if cached.releases else block


def with_noises(block: BlockPlan, noises: Sequence[Noise]) -> BlockPlan:
    """The plan as exact as what is shown for it."""
    releases = (
        replace(release, noise=noise)
        if isinstance(release, NoisyStatistic | DistinctCount)
        else release
        for release, noise in zip(block.releases, noises, strict=True)
    )
    return replace(block, releases=tuple(releases))


def with_releases(block: BlockPlan, releases: Sequence[Release]) -> BlockPlan:
    """As with_noises, of whatever kind the releases are."""
    found = (
        replace(other, aggregate=own.aggregate)
        for own, other in zip(block.releases, releases, strict=True)
    )
    return replace(block, releases=tuple(found))


def cached_numbers(text: str) -> Mapping[Keys, tuple[int, ...]]:
    """Keys and releases in the order of the question.

    Given    text: of noisy sums and counts alone
    Refuses  ValueError for anything else
    """
    found = {}
    for keys, values in _document(text)["groups"]:
        if not all(type(value) is int for value in values):
            raise ValueError("more than sums and counts")
        found[tuple(keys)] = tuple(values)
    return found


def _document(text: str) -> Any:
    document = json.loads(text)
    if document["v"] != VERSION:
        raise ValueError("an answer that another version has cached")
    return document


def _put_back(values: Sequence[Any], order: Sequence[int]) -> tuple[Any, ...]:
    if len(values) != len(order):
        raise ValueError("an answer of another question")
    back: list[Any] = [None] * len(values)
    for value, number in zip(values, order, strict=True):
        back[number] = value
    return tuple(back)


def _written(value: Drawn) -> object:
    match value:
        case DrawnNumber():
            return value.index
        case NoisyMeanSums():
            return ["mean", value.total, value.count, value.centre]
        case NoisyDeviations():
            return ["deviations", *_numbers(value)]
        case NoisySquares():
            return ["squares", value.total, value.bound, value.lost, *_numbers(value.mean)]
        case DrawnQuantile():
            return ["quantile", value.index, value.size, value.lost]
        case DrawnNothing():
            return None
        case _:
            assert_never(value)


def _numbers(mean: NoisyDeviations) -> list[object]:
    return [getattr(mean, name) for name in _DEVIATIONS]


def _deviations(numbers: Sequence[Any]) -> NoisyDeviations:
    return NoisyDeviations(**dict(zip(_DEVIATIONS, numbers, strict=True)))


def _read(value: Any) -> Drawn:
    match value:
        case None:
            return NOTHING
        case int():
            return DrawnNumber(value)
        case ["mean", total, count, centre]:
            return NoisyMeanSums(total=total, count=count, centre=centre)
        case ["deviations", *numbers]:
            return _deviations(numbers)
        case ["squares", total, bound, lost, *numbers]:
            return NoisySquares(mean=_deviations(numbers), total=total, bound=bound, lost=lost)
        case [
            "quantile",
            index,
            *_,
            size,
            lost,
        ]:  # earlier versions had ends of an interval between them
            return DrawnQuantile(index, size, lost)
        case _:
            raise ValueError("a value that this version does not know")
