"""Released numbers of the rows of a group: which releases count them, and what several counts say together.

Released and public numbers alone: all of it is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.estimates import deviation_mean_estimate, recentred_mean_estimate
from proxy.estimates.deviation_mean_estimate import NoisyRows, averaged, own_rows
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.statistics import Counted, Statistic
from proxy.mechanisms import deviation_mean
from proxy.mechanisms.deviation_mean import NoisyDeviations
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.mechanisms.recentred_mean import NoisyMeanSums
from proxy.query.ir.expressions import Expression
from proxy.release.drawn_values import Drawn, DrawnGroup, DrawnNumber, DrawnQuantile
from proxy.release.noisy_values import noise_half_width

_REACH = math.log(20)  # the half width of the 95 % interval of Laplace noise, in scales
# Of a count: the part that its bound on the rows of a unit may have cut, which nobody knows. So a count with
# little noise does not outweigh the number of rows of the mean, whose bound is chosen to cut less.
_CUT = 0.1
# Operand (None: NULL or not) and FILTER of rows.
_RowsOf = tuple[Expression | None, Expression | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedCount:
    """A released number of rows or people. half_width: of its 95 % interval."""

    count: int
    half_width: int

    @property
    def is_clearly_positive(self) -> bool:
        return self.is_above(1.0)

    def is_above(self, reach: float) -> bool:
        """Say whether it is more than so many half widths."""
        return self.count > reach * self.half_width


def counts_of_means(plan: BlockPlan) -> Mapping[int, tuple[int, ...]]:
    """List the releases that count the very rows of each mean of deviations, or their units.

    Returns:
        By the number of the mean's release, without that itself; means without any are left out.
    """
    found = {}
    for number, release in plan.deviation_means.items():
        counts = tuple(
            other
            for other, counted in enumerate(plan.releases)
            if other != number
            and isinstance(counted, NoisyStatistic | DeviationMean | DistinctCount)
            and other not in plan.withheld | plan.unstated
            and _rows_counted(counted) == _rows_counted(release)
        )
        if counts:
            found[number] = counts
    return found


def better_rows(
    plan: BlockPlan, counts: Mapping[int, tuple[int, ...]], group: DrawnGroup
) -> dict[int, NoisyRows]:
    """Average what counts the rows of each mean of deviations with its own number of rows.

    Args:
        plan: The block.
        counts: As `counts_of_means` gives it for the block.
        group: What was drawn.

    Returns:
        By the number of the mean's release; nothing of means whose own number counts units.
    """
    found = {}
    for number, others in counts.items():
        known = [_noisy_rows(plan.releases[n], group.values[n]) for n in (number, *others)]
        own, *more = known
        rows = [one for one in more if one is not None]
        least = max(_least_rows(plan.releases[n], group.values[n]) for n in others)
        if own is not None and (rows or least > 0):
            found[number] = replace(averaged([own, *rows]), least=least)
    return found


def _least_rows(release: Release, drawn: Drawn) -> float:
    """So many rows there are at least, clearly: each unit that is counted has one. 0: nothing is clear."""
    if not isinstance(release, DistinctCount) or not isinstance(drawn, DrawnNumber):
        return 0.0
    return max(0.0, float(drawn.index - noise_half_width(release.noise)))


def _noisy_rows(release: Release, drawn: Drawn) -> NoisyRows | None:
    match release, drawn:
        case NoisyStatistic(), DrawnNumber():
            number = drawn.index / release.parts
            of_noise = noise_half_width(release.noise) / _REACH / release.parts
            return NoisyRows(number=number, scale=math.hypot(of_noise, _CUT * number))
        case DeviationMean(), NoisyDeviations() | NoisySquares():
            mean = drawn.mean if isinstance(drawn, NoisySquares) else drawn
            if mean.bound is None:  # a rough mean counts units
                return None
            return own_rows(mean, release.epsilon_of_mean, release.declared)
        case _:
            return None


def has_rows(plan: BlockPlan, group: DrawnGroup) -> bool:
    """Say whether a released number of the group is clearly not that of an empty group.

    All of its numbers say so: those of rows with a FILTER and sums, too. Of an empty group each of them is 0.
    """
    return any(map(_is_clear, plan.releases, group.values))


def _is_clear(release: Release, drawn: Drawn) -> bool:
    match release, drawn:
        case NoisyStatistic() | KeptUnits(), DrawnNumber():
            return abs(drawn.index) > noise_half_width(release.noise)
        case _:
            found = released_count(release, drawn)
            return found is not None and found.is_clearly_positive


def counts_of(plan: BlockPlan, answer: Answer) -> Iterator[int]:
    """Releases that count the rows of an answer; where there are none, those that count more rows than that."""
    wanted = _rows_of_answer(plan, answer)
    own, wider = [], []
    for number, release in enumerate(plan.releases):
        match _rows_counted(release):
            case None:
                continue
            case operand, condition:
                if (operand, condition) == wanted:
                    own.append(number)
                elif operand is None and condition in (None, wanted[1]):
                    wider.append(number)
    yield from own or wider


def _rows_of_answer(plan: BlockPlan, answer: Answer) -> _RowsOf:
    release = plan.releases[answer.releases[0]]
    if isinstance(release, DeviationMean):
        return _rows_of_mean(release)
    return answer.aggregate.operand, answer.aggregate.condition


def _rows_of_mean(release: DeviationMean) -> _RowsOf:
    operand = None if release.never_null else release.aggregate.operand
    return operand, release.aggregate.condition


def _rows_counted(release: Release) -> _RowsOf | None:
    """Operand and FILTER of the rows that a release counts; operand None: all rows; None: it counts none.

    A new kind of release that counts rows or people is named here and in `released_count`.
    """
    match release:
        case NoisyStatistic():
            return _of_statistic(release)
        case RecentredMean():
            return release.aggregate.operand, release.aggregate.condition
        case DeviationMean():
            return _rows_of_mean(release)
        case DistinctCount():
            return (None, release.aggregate.condition) if release.of_unit else None
        case OrderStatistic():  # its size says something of its own answer only
            return None
        case SampleAggregate():
            return None
        case UnitExtreme() | KeptUnits():  # of one value of each unit, with a gate of their own
            return None
        case _:
            assert_never(release)


def _of_statistic(release: NoisyStatistic) -> _RowsOf | None:
    """As `_rows_counted`. A count of a pair is of other rows than that of either operand."""
    aggregate = release.aggregate
    if release.statistic is not Statistic.ROWS or len(aggregate.operands) > 1:
        return None
    is_of_all = isinstance(release.of, Counted) and release.of.never_null
    return None if is_of_all else aggregate.operand, aggregate.condition


def released_count(release: Release, drawn: Drawn) -> ReleasedCount | None:
    match release, drawn:
        case NoisyStatistic(), DrawnNumber():
            half_width = noise_half_width(release.noise)
            return ReleasedCount(
                count=drawn.index // release.parts, half_width=-(-half_width // release.parts)
            )
        case DistinctCount(), DrawnNumber():
            return ReleasedCount(count=drawn.index, half_width=noise_half_width(release.noise))
        case RecentredMean(measured=measured), NoisyMeanSums():
            return ReleasedCount(
                count=drawn.count,
                half_width=recentred_mean_estimate.count_half_width(
                    drawn, measured.low, measured.high, release.loss.epsilon, measured.rows
                ),
            )
        case OrderStatistic(), DrawnQuantile(size=int() as size):
            return _size(release, size)
        case DeviationMean(), NoisyDeviations() | NoisySquares():
            return _count_of_deviations(release, drawn)
        case _:
            return None


def _size(release: OrderStatistic, size: int) -> ReleasedCount:
    """With weights by what the rows of a unit weigh on average, as units are counted."""
    each = Fraction(1, release.parts)
    if release.weights is not None:
        each *= release.weights.rows_of_unit
    half_width = noise_half_width(release.size.noise)
    return ReleasedCount(count=math.floor(size * each), half_width=math.ceil(half_width * each))


def _count_of_deviations(
    release: DeviationMean, drawn: NoisyDeviations | NoisySquares
) -> ReleasedCount | None:
    """A rough mean counts units, each divided over its groups. That is compared with nothing."""
    mean = drawn.mean if isinstance(drawn, NoisySquares) else drawn
    if mean.bound is None:
        return None
    return ReleasedCount(
        count=mean.count // deviation_mean.PARTS,
        half_width=deviation_mean_estimate.count_half_width(
            mean, release.epsilon_of_mean, release.declared
        ),
    )
