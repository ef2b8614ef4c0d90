"""Which aggregates of a block share noisy results, and what each noisy result weighs.

COUNT, SUM, AVG and variances of one column with one FILTER are made of a few sums: the number of rows, the
sum, the squares. They share them where none of them gets less exact by it (mechanisms.shared_moments.pooled;
measured by tests/mechanisms/test_shared_moments.py); else each stays a release of its own. Smoothed medians,
order statistics and counts of distinct values never share. By statement, policy and catalogue only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.errors import Refusal
from proxy.mechanisms.shared_moments import pooled
from proxy.planner.measuring import Context, measured_of, mechanism_of, never_null
from proxy.planner.plan import Measured, Moment
from proxy.policy.model import Mechanism, Noise, Weighed
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT)
_VARIANCES = (
    AggregateKind.VAR_POP,
    AggregateKind.VAR_SAMP,
    AggregateKind.STDDEV_POP,
    AggregateKind.STDDEV_SAMP,
)
_OF_SUMS = (Mechanism.BEST, Mechanism.SUM_OVER_COUNT)
# The rows that are counted: those in which the operand (None: whatever it is) is not NULL, by FILTER.
Rows = tuple[Expression | None, Expression | None]


@dataclass(frozen=True, slots=True)
class Part:
    """A noisy sum. measured: None for the number of rows, which columns that are never NULL have in common."""

    moment: Moment
    rows: Rows
    measured: Measured | None


@dataclass(frozen=True, slots=True)
class Shares:
    """alone: weights of aggregates that are releases of their own, by number; parts: weights of shared sums;
    made_of: the sums of each aggregate that shares; same: of counts, the earlier one that counts the same."""

    alone: Mapping[int, Fraction]
    parts: Mapping[Part, Fraction]
    made_of: Mapping[int, tuple[Part, ...]]
    same: Mapping[int, int]


def weighed(kind: AggregateKind) -> Weighed:
    """Under which name the policy weighs an aggregate."""
    match kind:
        case AggregateKind.COUNT_ROWS | AggregateKind.COUNT | AggregateKind.COUNT_DISTINCT:
            return Weighed.COUNT
        case AggregateKind.VAR_POP | AggregateKind.VAR_SAMP:
            return Weighed.VARIANCE
        case AggregateKind.STDDEV_POP | AggregateKind.STDDEV_SAMP:
            return Weighed.STDDEV
        case AggregateKind.QUANTILE_CONT | AggregateKind.QUANTILE_DISC:
            return Weighed.PERCENTILE
        case _:
            return Weighed(kind.value)


@dataclass(frozen=True, slots=True)
class _Asker:
    """An aggregate that could share. needs: the least weights with which it is as exact as alone."""

    number: int
    aggregate: Aggregate
    weight: Fraction
    needs: Mapping[Part, Fraction]

    @property
    def kind(self) -> AggregateKind:
        return self.aggregate.kind


def shares(aggregates: Sequence[Aggregate], context: Context) -> Shares:
    """
    Given    aggregates: of one block, with their columns in backend types
    Gives    a weight for everything that gets noise; together at most the weights of the distinct aggregates
    Refuses  what measuring an operand refuses (NO_BOUNDS, UNSUPPORTED), at its position
    """
    privacy = context.privacy
    weights = [privacy.weight(weighed(aggregate.kind)) for aggregate in aggregates]
    worth_it = any(_begins_sharing(aggregate, context) for aggregate in aggregates)
    askers = [
        _asker(n, a, weights[n], context) if worth_it or a.kind in _COUNTS else None
        for n, a in enumerate(aggregates)
    ]
    same: dict[int, int] = {}
    counts: dict[Part, _Asker] = {}
    for asker in askers:
        if asker is not None and asker.kind in _COUNTS:
            (part,) = asker.needs
            if part in counts:
                same[asker.number] = counts[part].number
            else:
                counts[part] = asker
    parts: dict[Part, Fraction] = {}
    made_of: dict[int, tuple[Part, ...]] = {}
    found = [asker for asker in askers if asker is not None and asker.number not in same]
    for rows in dict.fromkeys(_rows(asker) for asker in found):
        group = [asker for asker in found if _rows(asker) == rows]
        together = _together(group, can_add=privacy.noise is Noise.LAPLACE)
        if together:
            shared = _pooled(together)
            assert shared is not None
            parts.update(shared)
            made_of.update({asker.number: tuple(asker.needs) for asker in together})
    alone = {n: weight for n, weight in enumerate(weights) if n not in made_of and n not in same}
    return Shares(alone, parts, made_of, same)


def _begins_sharing(aggregate: Aggregate, context: Context) -> bool:
    """Sums alone gain nothing from each other, nor from counts."""
    if aggregate.kind is AggregateKind.AVG:
        return mechanism_of(aggregate, context) in _OF_SUMS
    return aggregate.kind in _VARIANCES


def _rows(asker: _Asker) -> Rows:
    return next(iter(asker.needs)).rows


def _asker(number: int, aggregate: Aggregate, weight: Fraction, context: Context) -> _Asker | None:
    try:
        needs = _needs(aggregate, weight, context)
    except Refusal as refusal:
        raise refusal if refusal.position is not None else refusal.at(aggregate.position) from None
    return None if needs is None else _Asker(number, aggregate, weight, needs)


def _needs(
    aggregate: Aggregate, weight: Fraction, context: Context
) -> Mapping[Part, Fraction] | None:
    """None: it never shares.

    A mean alone is a noisy sum at nearly all of its epsilon (mechanisms.recentred_mean), a sum at all of it;
    made of two sums that have its whole weight each, neither is less exact. The three sums of a variance, and
    the two of a plain sum over a count, have an even part of the weight when they are alone.
    """
    kind, operand = aggregate.kind, aggregate.operand
    if kind in _COUNTS:
        # Of an expression it is not proven that it is NULL just where its grid index is.
        if operand is not None and not isinstance(operand, ColumnRef):
            return None
        return {Part(Moment.ROWS, _counted(aggregate, context), None): weight}
    if kind not in (AggregateKind.SUM, AggregateKind.AVG, *_VARIANCES):
        return None
    chosen = mechanism_of(aggregate, context)
    if kind is AggregateKind.AVG and chosen not in _OF_SUMS:
        return None
    measured, rows = measured_of(aggregate, context), _counted(aggregate, context)
    count = Part(Moment.ROWS, rows, None)
    steps = Part(Moment.STEPS, rows, measured)
    centred = Part(Moment.CENTRED, rows, measured)
    if kind in _VARIANCES:
        squares = Part(Moment.SQUARES, rows, measured)
        return dict.fromkeys((count, centred, squares), weight / 3)
    if chosen is not Mechanism.SUM_OVER_COUNT:
        return {count: weight, centred: weight}
    if kind is AggregateKind.SUM:
        return {steps: weight}
    return {count: weight / 2, steps: weight / 2}


def _counted(aggregate: Aggregate, context: Context) -> Rows:
    operand = aggregate.operand
    if operand is not None and never_null(operand, context):
        operand = None
    return operand, aggregate.condition


def _together(group: Sequence[_Asker], can_add: bool) -> list[_Asker]:
    """Those of the askers about the same rows that share. can_add: whether COUNT and SUM have the noise of
    shared sums, which is Laplace noise.

    Column by column the largest choice by which nobody loses. What is left out is as exact as alone.
    """
    counts = [asker for asker in group if asker.kind in _COUNTS and can_add]
    found, columns = list(counts), 0
    others = [asker for asker in group if asker.kind not in _COUNTS]
    for operand in dict.fromkeys(asker.aggregate.operand for asker in others):
        own = [asker for asker in others if asker.aggregate.operand == operand]
        for choice in _choices(own, can_add):
            if _pooled([*found, *choice]) is not None:
                found, columns = [*found, *choice], columns + 1
                break
    if columns == 0:
        return []
    alone = len(found) == 1 and not any(part.moment is Moment.STEPS for part in found[0].needs)
    return [] if alone else found


def _choices(own: Sequence[_Asker], can_add: bool) -> Iterator[list[_Asker]]:
    """Larger ones first. A sum alone gains nothing."""
    sums = [a for a in own if a.kind is AggregateKind.SUM and can_add]
    means = [a for a in own if a.kind is AggregateKind.AVG]
    spreads = [a for a in own if a.kind in _VARIANCES]
    for choice in (
        [*sums, *means, *spreads],
        [*means, *spreads],
        [*sums, *means],
        [*sums, *spreads],
        means,
        spreads,
    ):
        if any(asker.kind is not AggregateKind.SUM for asker in choice):
            yield choice


def _pooled(askers: Sequence[_Asker]) -> dict[Part, Fraction] | None:
    weight = sum((asker.weight for asker in askers), Fraction(0))
    return pooled([asker.needs for asker in askers], weight)
