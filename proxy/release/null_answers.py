"""NULL for answers that say nothing: AVG, MIN, MAX and quantiles of few rows, AVG with too large an error, and
variances, deviations, correlations, covariances, lines of regression and shares of a variance whose error is
half of their range.

The rule compares released numbers with public numbers. No exact count and no smooth sensitivity is read, so
NULL is post-processing. A smoothed median has a gate of its own, and the gate alone decides. Whether a mean of
deviations has rows, all counts of these together say (counted_rows.py). Whether it is too inexact: here.
"It may be empty" is said of no group of which another number says clearly that it is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.estimates import sampling_accuracy
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    Calculated,
    DeviationMean,
    DistinctCount,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
)
from proxy.kernel.statistics import Measured, Statistic
from proxy.mechanisms import order_statistic
from proxy.mechanisms.real_bounds import root_bounds
from proxy.mechanisms.recentred_mean import NoisyMeanSums
from proxy.query.ir.query_aggregates import SPREADS, AggregateKind
from proxy.release.counted_rows import ReleasedCount, counts_of, has_rows, released_count
from proxy.release.drawn_values import DrawnGroup, DrawnQuantile
from proxy.release.noisy_relation import NoisyValue, NullReason, missing
from proxy.release.noisy_values import answered, noisy_value
from proxy.release.ordering import lost_ranks

_RANKED = (
    AggregateKind.MIN,
    AggregateKind.MAX,
    AggregateKind.QUANTILE_CONT,
    AggregateKind.QUANTILE_DISC,
)
_PAIRED = (
    AggregateKind.CORR,
    AggregateKind.REGR_R2,
    AggregateKind.COVAR_POP,
    AggregateKind.COVAR_SAMP,
    AggregateKind.REGR_SLOPE,
    AggregateKind.REGR_INTERCEPT,
)
_TARGETS = 2  # ranks at which MIN and MAX aim, in a group that has enough rows for them
_HALF = Fraction(1, 2)
_DIGITS = 12  # of a root
_LN_20 = math.log(20)  # scales of Laplace noise in the half width of its 95 % interval
_RANK_ERRORS = 2  # of a quantile: its rank may be off by half of the rows at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that decides whether one answer of one group says something: released and public numbers.

    counts: Of the rows (or people) that the answer is about. They decide whether the group exists.
    reach: So many half widths of one of them are more than noise alone gives.
    sizes: Those of them that are compared with `needed`.
    needed: So many the answer takes; 0 if any number will do.
    error: The half width of the answer's 95 % interval, if it has one that counts here. Of a mean whose
        interval the bounds cut, that of a mean in the middle with the same noisy count, if that is larger:
        else a group would be shown because noise has moved its mean to an end.
    width: The public range of the answer.
    """

    counts: Sequence[ReleasedCount] = ()
    reach: float = 1.0
    sizes: Sequence[ReleasedCount] = ()
    needed: int = 0
    error: Fraction | None = None
    width: Fraction = Fraction(0)


def null_reason(evidence: Evidence) -> NullReason | None:
    """Decide whether an answer says nothing.

    Privacy: post-processing of the arguments.

    >>> few = ReleasedCount(count=40, half_width=10)
    >>> null_reason(Evidence(counts=[few], sizes=[few], needed=41))
    <NullReason.TOO_FEW: 'the noisy number of rows is too small'>
    >>> null_reason(Evidence(counts=[few], error=Fraction(5), width=Fraction(10))).name
    'TOO_INEXACT'
    >>> null_reason(Evidence(counts=[ReleasedCount(count=9, half_width=10)])).name
    'EMPTY_GROUP'
    >>> null_reason(Evidence(counts=[ReleasedCount(count=15, half_width=10)], reach=1.8)).name
    'EMPTY_GROUP'
    """
    if evidence.counts and not any(one.is_above(evidence.reach) for one in evidence.counts):
        return NullReason.EMPTY_GROUP
    if evidence.sizes and _most_exact(evidence.sizes).count < evidence.needed:
        return NullReason.TOO_FEW
    error = evidence.error
    if error is not None and 0 < evidence.width <= 2 * error:
        return NullReason.TOO_INEXACT
    return None


def _most_exact(counts: Sequence[ReleasedCount]) -> ReleasedCount:
    return min(counts, key=lambda one: (one.half_width, one.count))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRule:
    """What the plan says about one answer. counts: the releases that count its rows; sizes: those that count
    rows and not people; reach, needed, width: as of Evidence; to_the_end: with fewer rows the error of a rank
    reaches the first or last of them."""

    position: int
    counts: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    reach: float = 1.0
    needed: int = 0
    width: Fraction = Fraction(0)
    has_error_limit: bool = False
    to_the_end: int = 0


def answer_rules(plan: BlockPlan, groups: int = 1) -> tuple[AnswerRule, ...]:
    """The rules of those answers that can be NULL, from public numbers.

    Args:
        plan: The block.
        groups: How many are drawn.
    """
    return tuple(
        _answer_rule(plan, position, answer, groups)
        for position, answer in enumerate(plan.answers)
        if answer.aggregate.kind in (AggregateKind.AVG, *_RANKED, *_PAIRED, *SPREADS)
        and not isinstance(plan.releases[answer.releases[0]], SampleAggregate)
    )


def with_nulls(
    plan: BlockPlan, rules: Sequence[AnswerRule], group: DrawnGroup, values: Sequence[NoisyValue]
) -> tuple[NoisyValue, ...]:
    """Replace the answers of one group that say nothing by NULL.

    Args:
        rules: As `answer_rules` gives it for this plan.
        group: What was drawn.
        values: The noisy answers, by position.
    """
    shown = list(values)
    for rule in rules:
        value = values[rule.position]
        reason = None
        if not value.is_missing:
            reason = _reason(plan, rule, group, value)
        if reason is not None:
            shown[rule.position] = replace(missing(value.grid, value.type), null_reason=reason)
        elif rule.to_the_end and not value.is_missing:
            rows = _rows(plan, rule, group)
            is_open = rows is not None and rows < _to_the_end(plan, rule, group)
            shown[rule.position] = replace(value, is_open=is_open, among=rows)
    if any(one.null_reason is NullReason.EMPTY_GROUP for one in shown) and has_rows(plan, group):
        return tuple(map(_of_unclear_rows, shown))
    return tuple(shown)


def _reason(
    plan: BlockPlan, rule: AnswerRule, group: DrawnGroup, value: NoisyValue
) -> NullReason | None:
    answer = plan.answers[rule.position]
    if answer.aggregate.kind not in (*_PAIRED, *SPREADS):
        return null_reason(_evidence(plan, rule, group, value))
    if value.half_width is None:
        return None
    error = value.half_width * value.grid
    if says_nothing(answer, value.index * value.grid, error):
        return NullReason.TOO_WIDE
    is_noise = answer.aggregate.kind in SPREADS and not value.index and (error or value.is_least)
    return NullReason.ALL_NOISE if is_noise else None


def has_range(answer: Answer) -> bool:
    """Say whether it is NULL where its error is half of its range, as `says_nothing` decides."""
    return answer.aggregate.kind in (*_PAIRED, *SPREADS) and answer.calculated is not None


def says_nothing(answer: Answer, value: Fraction, error: Fraction) -> bool:
    """Say whether this error is at least half of the range of a correlation, covariance, share of a variance,
    or deviation, which is half of the width of its column. A variance is judged by its root, as about centres.
    A slope is taken to be within the two diagonals of the bounds, as it is of columns that fill equal parts of
    theirs: if the error of such a slope is half of that range, so is that of the correlation.

    By the bounds of its columns alone.
    """
    calculated = answer.calculated
    if not has_range(answer) or calculated is None:
        return False
    match answer.aggregate.kind:
        case AggregateKind.STDDEV_POP | AggregateKind.STDDEV_SAMP:
            width = calculated.measured[0].width * calculated.measured[0].grid * _HALF
        case AggregateKind.VAR_POP | AggregateKind.VAR_SAMP:
            width = calculated.measured[0].width * calculated.measured[0].grid * _HALF
            root, least, most = (
                root_bounds(max(Fraction(0), one), _DIGITS)[0]
                for one in (value, value - error, value + error)
            )
            error = max(root - least, most - root)
        case AggregateKind.CORR:
            width = Fraction(2)
        case AggregateKind.REGR_R2:
            width = Fraction(1)
        case AggregateKind.REGR_SLOPE | AggregateKind.REGR_INTERCEPT:
            width = _width_of_lines(calculated, answer.aggregate.kind)
        case _:  # from -w v / 4 to w v / 4, where w and v are the widths of the columns
            width = math.prod((one.width * one.grid for one in calculated.measured), start=_HALF)
    return 0 < width <= 2 * error


def _width_of_lines(calculated: Calculated, kind: AggregateKind) -> Fraction:
    """The range of slopes within the diagonals of the bounds, or of what such lines have at 0."""
    above, along = calculated.measured
    height, length = above.width * above.grid, along.width * along.grid
    if not length:
        return Fraction(0)
    steepest = height / length
    if kind is AggregateKind.REGR_SLOPE:
        return 2 * steepest
    farthest = max(abs(along.low), abs(along.high)) * along.grid
    return height + 2 * steepest * farthest


def _rows(plan: BlockPlan, rule: AnswerRule, group: DrawnGroup) -> int | None:
    """How many rows an answer is about, by the most exact noisy number of them."""
    found = (released_count(plan.releases[n], group.values[n]) for n in rule.sizes)
    sizes = [one for one in found if one is not None]
    return _most_exact(sizes).count if sizes else None


def _to_the_end(plan: BlockPlan, rule: AnswerRule, group: DrawnGroup) -> int:
    """With fewer rows the error of a rank reaches the first or last of them."""
    lost = _lost_ranks(plan, rule, group)
    if not lost:
        return rule.to_the_end
    rank = plan.answers[rule.position].aggregate.rank
    return rule.to_the_end + math.ceil(lost / min(rank, 1 - rank))


def _lost_ranks(plan: BlockPlan, rule: AnswerRule, group: DrawnGroup) -> int:
    """By how many rows more a rank of this group is off, as rows weigh less than one."""
    number = plan.answers[rule.position].releases[0]
    release, drawn = plan.releases[number], group.values[number]
    if not isinstance(release, OrderStatistic) or not isinstance(drawn, DrawnQuantile):
        return 0
    return -(-lost_ranks(release, drawn.lost) // release.parts) if drawn.lost else 0


def _of_unclear_rows(value: NoisyValue) -> NoisyValue:
    """Some other number says clearly that the group is not empty."""
    if value.null_reason is not NullReason.EMPTY_GROUP:
        return value
    return replace(value, null_reason=NullReason.UNCLEAR_ROWS)


def _evidence(plan: BlockPlan, rule: AnswerRule, group: DrawnGroup, value: NoisyValue) -> Evidence:
    def counts(numbers: Sequence[int]) -> list[ReleasedCount]:
        found = (released_count(plan.releases[n], group.values[n]) for n in numbers)
        return [one for one in found if one is not None]

    return Evidence(
        counts=counts(rule.counts),
        reach=rule.reach,
        sizes=counts(rule.sizes),
        needed=rule.needed,
        error=_error(plan, rule, group, value) if rule.has_error_limit else None,
        width=rule.width,
    )


def _error(
    plan: BlockPlan, rule: AnswerRule, group: DrawnGroup, value: NoisyValue
) -> Fraction | None:
    if value.half_width is None:
        return None
    middle = _in_the_middle(plan, plan.answers[rule.position], group)
    found = value.half_width * value.grid
    if middle is None or middle.half_width is None:
        return found
    return max(found, middle.half_width * middle.grid)


def _in_the_middle(plan: BlockPlan, answer: Answer, group: DrawnGroup) -> NoisyValue | None:
    """The mean with the noisy count that it has, and a noisy sum of the middle of its bounds; None: its
    interval is not cut by bounds."""
    if answer.calculated is None:
        number = answer.releases[0]
        release, drawn = plan.releases[number], group.values[number]
        if isinstance(drawn, NoisyMeanSums):
            return noisy_value(replace(drawn, total=0), release)
        return None
    (one,) = answer.calculated.measured
    values = {n: noisy_value(group.values[n], plan.releases[n]) for n in answer.releases}
    count, total = answer.releases
    _, need = answer.calculated.formula.needs
    of_middle = 0
    if need.statistic is Statistic.STEPS:
        of_middle = values[count].index * (one.low + one.high) // 2
    values[total] = replace(values[total], index=of_middle)
    return answered(answer, plan, values)


def _answer_rule(plan: BlockPlan, position: int, answer: Answer, groups: int) -> AnswerRule:
    if answer.aggregate.kind in (*_PAIRED, *SPREADS):
        return AnswerRule(position=position)
    counts, first = tuple(counts_of(plan, answer)), answer.releases[0]
    release = plan.releases[first]
    if isinstance(release, OrderStatistic):
        counts = (first, *counts)
    measured = _measured(answer, release)
    return AnswerRule(
        position=position,
        counts=counts,
        sizes=tuple(n for n in counts if not isinstance(plan.releases[n], DistinctCount)),
        reach=_reach(plan, groups) if answer.aggregate.kind in _RANKED else 1.0,
        needed=rows_needed(release) if isinstance(release, OrderStatistic) else 0,
        width=Fraction(0) if measured is None else measured.width * measured.grid,
        has_error_limit=answer.aggregate.kind is AggregateKind.AVG,
        to_the_end=rows_to_the_end(release) if isinstance(release, OrderStatistic) else 0,
    )


def _reach(plan: BlockPlan, groups: int) -> float:
    """So many half widths are passed in one of 40 results by the noise of any of the groups.

    What is drawn by rank has no interval that says how little it may mean. If 1 of 40 groups without rows were
    answered, a result of 300 would have several values that are noise. Keys that were selected have rows.

    >>> round(1 + math.log(40) / _LN_20, 2)
    2.23
    """
    return 1.0 if plan.selection is not None else 1 + math.log(max(1, groups)) / _LN_20


def rows_to_the_end(release: OrderStatistic) -> int:
    """How many rows a quantile takes so that the error of its rank reaches neither the first nor the last; 0 of
    what has no such rank."""
    rank, measured = release.aggregate.rank, release.measured
    is_end = release.aggregate.kind in (AggregateKind.MIN, AggregateKind.MAX)
    if is_end or not measured.width or not 0 < rank < 1:
        return 0
    error = sampling_accuracy.error_in_rank(
        measured.width, release.own_loss.epsilon, measured.rows, q=rank
    )
    return math.ceil(error / min(rank, 1 - rank))


def rows_needed(release: OrderStatistic) -> int:
    """How many rows an order statistic takes to say something: a multiple of the error of its rank."""
    measured, epsilon = release.measured, release.own_loss.epsilon
    if not measured.width:
        return 0
    if release.aggregate.kind in (AggregateKind.MIN, AggregateKind.MAX):
        return _TARGETS * order_statistic.target_rank(measured.width, epsilon, measured.rows)
    rank = release.aggregate.rank
    return _RANK_ERRORS * sampling_accuracy.error_in_rank(
        measured.width, epsilon, measured.rows, q=rank
    )


def _measured(answer: Answer, release: Release) -> Measured | None:
    if answer.calculated is not None:
        return answer.calculated.measured[0]
    if isinstance(release, OrderStatistic | RecentredMean | DeviationMean):
        return release.measured
    return None
