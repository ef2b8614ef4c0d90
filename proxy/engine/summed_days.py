"""Blocks that are answered from published days: any range of these, as the sum of its days.

The noise of neighbouring days cancels in their sum, so its variance is that of the sum, not the sum of theirs.

Source  docs/design/reuse.md 6, PROOFS.md 33
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from itertools import accumulate

from proxy.engine.derived_answers import DerivedBlock
from proxy.engine.explain_text import beyond_bound
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    GaussianNoise,
    NoisyStatistic,
)
from proxy.mechanisms.continual import range_sigma2
from proxy.planner.facts import Values
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.cached_block import CachedBlock, cached_numbers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber, ordered_groups
from proxy.reuse.day_ranges import DayRanges
from proxy.reuse.derivation import variance

# What is shown as it is released. Others are made of several releases, by formulas for independent noise.
_ADDED_UP = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.SUM)
_Days = Mapping[Values, tuple[int, int]]


def summed_days(
    text: str,
    source: BlockPlan,
    order: Sequence[int],
    days: DayRanges,
    block: BlockPlan,
    wanted: DayRanges,
    accepted: Fraction,
    as_of: datetime,
    published: str,
) -> DerivedBlock | None:
    """Answer a block from published days.

    Args:
        text: What was released of `source`.
        source: The block of the published statement.
        order: Its releases, as they stand in the text.
        days: Its groups.
        block: What is asked.
        wanted: As it is read.
        accepted: Standard errors may be so many times those of a fresh answer.
        as_of, published: As of DerivedBlock.

    Returns:
        None if it cannot be made of these days, or less exactly than accepted.
    """
    if any(answer.aggregate.kind not in _ADDED_UP for answer in block.answers):
        return None
    ranges = wanted.made_up_of(days)
    if ranges is None:
        return None
    places, noises = [], []
    for number, release in enumerate(block.releases):
        if not isinstance(release, NoisyStatistic) or release.total is not None:
            return None
        best = _best(wanted.names[number], source, days, ranges)
        if best is None or best[1].sigma2 > accepted**2 * variance(release.noise):
            return None
        places.append(order.index(best[0]))
        noises.append(best[1])
    numbers = cached_numbers(text)
    listed = [numbers[keys] for keys in days.stretches]
    totals = [[0, *accumulate(row[place] for row in listed)] for place in places]
    drawn = tuple(
        DrawnGroup(keys, tuple(DrawnNumber(one[end] - one[begin]) for one in totals))
        for keys in ordered_groups(block, ())
        for begin, end in [ranges[keys]]
    )
    return DerivedBlock(
        block=CachedBlock(chosen={}, drawn=DrawnBlock(drawn), noises=tuple(noises)),
        made_of=_words(ranges, source, published),
        variance=sum((noise.sigma2 for noise in noises), Fraction(0)),
        as_of=as_of,
        is_as_shown=False,
        published=published,
    )


def _best(
    name: str, source: BlockPlan, days: DayRanges, ranges: _Days
) -> tuple[int, GaussianNoise] | None:
    """The release of the least noise that measures the same, and its noise in the worst of the ranges."""
    found = []
    latest: dict[int, int] = {}  # by length: of the last of equal ones the noise is most
    for begin, end in ranges.values():
        latest[end - begin] = max(begin, latest.get(end - begin, 0))
    for number, release in enumerate(source.releases):
        if days.names[number] == name and isinstance(release, NoisyStatistic):
            assert isinstance(release.noise, ContinualNoise), "as the kernel has it"
            factor, sigma2 = release.noise.factor, release.noise.sigma2
            worst = max(
                range_sigma2(factor, sigma2, begin, begin + length)
                for length, begin in latest.items()
            )
            found.append((number, GaussianNoise(sigma2=worst)))
    return min(found, key=lambda one: one[1].sigma2, default=None)


def _words(ranges: _Days, source: BlockPlan, published: str) -> str:
    most = max(end - begin for begin, end in ranges.values())
    text = f"made of {published}, {most} days added up"
    units = source.neighbours
    if isinstance(units, UnitNeighbours):
        text += f"; a unit counts on {units.groups} of its days at most"
    return text + beyond_bound(source, "in a fresh answer")
