"""Which aggregates of a block share noisy results, and what each noisy result weighs.

COUNT, SUM, AVG and variances of one column with one FILTER are made of a few sums (planner/formulas.py): the
number of rows, the sum, the squares. Means and variances of units with several rows share one release about
noisy centres (mechanisms.deviation_variance). Others share their sums where none of them gets less exact by it
(estimates.shared_moments.pooled; measured by tests/mechanisms/test_shared_moments.py). What is made of sums
and shares them with nobody is the case of one user; counts, sums and means that gain nothing are releases of
their own. Smoothed medians, order statistics and counts of distinct values never share. By statement, policy
and catalogue only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.errors import Refusal
from proxy.estimates.shared_moments import pooled
from proxy.kernel.formula_model import Formula
from proxy.kernel.statistics import Measured, Statistic
from proxy.mechanisms import deviation_variance
from proxy.planner.formulas import formula_of, weighed
from proxy.planner.measuring import (
    SPREADS,
    MeasureContext,
    has_total,
    is_of_deviations,
    mechanism_of,
    never_null,
    operands_of,
)
from proxy.planner.order_statistics import ValuedRows, unit_weights, weights_of_choice
from proxy.policy.policy_model import Noise
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT)
# The rows that are counted: those in which no operand is NULL that could be, by FILTER.
CountedRows = tuple[frozenset[Expression], Expression | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStatistic:
    """A noisy sum. measured: none for the number of rows, which columns that are never NULL have in common."""

    statistic: Statistic
    rows: CountedRows
    measured: tuple[Measured, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeOf:
    """statistics: in the order of the formula's needs."""

    formula: Formula
    statistics: tuple[SharedStatistic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAllocation:
    """independent: weights of aggregates that are releases of their own, by number; statistics: weights of the
    sums that formulas take; made_of: the sums of each other aggregate; alias_of: of counts, the earlier one
    that counts the same, and of answers about the same centres, the first one; units: weights of the numbers of
    units that minima and maxima are of; square_shares: of releases about centres, the part for squares; choice:
    weight of the histogram by which quantiles choose how to weigh rows, 0 without one."""

    independent: Mapping[int, Fraction]
    statistics: Mapping[SharedStatistic, Fraction]
    made_of: Mapping[int, MadeOf]
    alias_of: Mapping[int, int]
    units: Mapping[ValuedRows, Fraction]
    square_shares: Mapping[int, Fraction]
    choice: Fraction

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """Of everything that gets noise."""
        of_choice = (self.choice,) if self.choice else ()
        drawn = (*self.independent.values(), *self.statistics.values(), *self.units.values())
        return (*drawn, *of_choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """An aggregate that could share."""

    number: int
    aggregate: Aggregate
    weight: Fraction
    made_of: MadeOf

    @property
    def kind(self) -> AggregateKind:
        return self.aggregate.kind

    @property
    def rows(self) -> CountedRows:
        return self.made_of.statistics[0].rows

    @property
    def needs(self) -> Mapping[SharedStatistic, Fraction]:
        """The least weights with which it is as exact as alone."""
        return dict.fromkeys(self.made_of.statistics, self.weight * self.made_of.formula.each)


def allocation(aggregates: Sequence[Aggregate], context: MeasureContext) -> BudgetAllocation:
    """
    Given    aggregates: of one block, with their columns in backend types
    Gives    a weight for everything that gets noise; together at most the weights of the distinct aggregates
    Refuses  what measuring an operand refuses (NO_BOUNDS, UNSUPPORTED), at its position
    """
    privacy = context.privacy
    weights = [privacy.weight(weighed(aggregate.kind)) for aggregate in aggregates]
    worth_it = any(_begins_sharing(aggregate, context) for aggregate in aggregates)
    candidates = [
        _candidate(n, a, weights[n], context) if worth_it or a.kind in _COUNTS else None
        for n, a in enumerate(aggregates)
    ]
    alias_of: dict[int, int] = {}
    counts: dict[SharedStatistic, _Candidate] = {}
    for candidate in candidates:
        if candidate is not None and candidate.kind in _COUNTS:
            (statistic,) = candidate.made_of.statistics
            if statistic in counts:
                alias_of[candidate.number] = counts[statistic].number
            else:
                counts[statistic] = candidate
    statistics: dict[SharedStatistic, Fraction] = {}
    made_of: dict[int, MadeOf] = {}
    # A sum with a bound of its own would be less exact by as many rows of the largest values.
    found = [
        one
        for one in candidates
        if one is not None and one.number not in alias_of and not has_total(one.aggregate, context)
    ]
    means = _about_centres(aggregates, context)
    for rows in dict.fromkeys(one.rows for one in found):
        group = [one for one in found if one.rows == rows]
        averaged = frozenset(operands for operands, counted in means if counted == rows)
        together = _together(group, averaged, can_add=privacy.noise is Noise.LAPLACE)
        if together:
            shared = _pooled(together)
            assert shared is not None
            statistics.update(shared)
            made_of.update({one.number: one.made_of for one in together})
    square_shares = {}
    for first, *others in means.values():
        alias_of.update(dict.fromkeys(others, first))
        kinds = [(aggregates[n].kind, weights[n]) for n in (first, *others)]
        weights[first], square_shares[first] = _weight_about_centres(kinds)
    independent = {n: w for n, w in enumerate(weights) if n not in made_of and n not in alias_of}
    independent, units = unit_weights(aggregates, independent, context)
    independent, choice = weights_of_choice(aggregates, independent, context)
    return BudgetAllocation(
        independent=independent,
        statistics=statistics,
        made_of=made_of,
        alias_of=alias_of,
        units=units,
        square_shares=square_shares,
        choice=choice,
    )


def _about_centres(
    aggregates: Sequence[Aggregate], context: MeasureContext
) -> Mapping[tuple[tuple[Expression, ...], CountedRows], list[int]]:
    """The numbers of means, variances and deviations by operand and rows: each list shares one release."""
    found: dict[tuple[tuple[Expression, ...], CountedRows], list[int]] = {}
    for number, one in enumerate(aggregates):
        if is_of_deviations(one, context):
            found.setdefault((one.operands, _counted(one, context)), []).append(number)
    return found


def _weight_about_centres(
    kinds: Sequence[tuple[AggregateKind, Fraction]],
) -> tuple[Fraction, Fraction]:
    """The weight of a release about centres, and the part of it for squares: 0 of a mean alone."""
    whole = sum((weight for _, weight in kinds), Fraction(0))
    spread = sum((weight for kind, weight in kinds if kind in SPREADS), Fraction(0))
    return whole, deviation_variance.share_of_squares(whole - spread, spread)


def _formula(aggregate: Aggregate, context: MeasureContext) -> Formula | None:
    return formula_of(aggregate.kind, mechanism_of(aggregate, context))


def _begins_sharing(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Sums alone gain nothing from each other, nor from counts."""
    if aggregate.kind in (*_COUNTS, AggregateKind.SUM):
        return False
    # A mean of deviations shares nothing, but a SUM beside it is then of the rows that COUNT counts.
    return _formula(aggregate, context) is not None


def _candidate(
    number: int, aggregate: Aggregate, weight: Fraction, context: MeasureContext
) -> _Candidate | None:
    try:
        made_of = _made_of(aggregate, context)
    except Refusal as refusal:
        raise refusal if refusal.position is not None else refusal.at(aggregate.position) from None
    if made_of is None:
        return None
    return _Candidate(number=number, aggregate=aggregate, weight=weight, made_of=made_of)


def _made_of(aggregate: Aggregate, context: MeasureContext) -> MadeOf | None:
    """None: it never shares."""
    if is_of_deviations(aggregate, context):
        return None
    formula = _formula(aggregate, context)
    is_count = aggregate.kind in _COUNTS
    # Of an expression it is not proven that it is NULL just where its grid index is.
    if formula is None or (is_count and not isinstance(aggregate.operand, ColumnRef | None)):
        return None
    measured = () if is_count else operands_of(aggregate, context)
    rows = _counted(aggregate, context)
    statistics = tuple(
        SharedStatistic(
            statistic=need.statistic,
            rows=rows,
            measured=tuple(sorted((measured[place] for place in need.of), key=repr)),
        )
        for need in formula.needs
    )
    return MadeOf(formula=formula, statistics=statistics)


def _counted(aggregate: Aggregate, context: MeasureContext) -> CountedRows:
    operands = (statistic for statistic in aggregate.operands if not never_null(statistic, context))
    return frozenset(operands), aggregate.condition


def _together(
    group: Sequence[_Candidate], averaged: frozenset[tuple[Expression, ...]], can_add: bool
) -> list[_Candidate]:
    """Those of the candidates about the same rows that share. averaged: operands of which there is a mean of
    deviations; can_add: whether COUNT and SUM have the noise of shared sums, which is Laplace noise.

    Column by column the largest choice by which nobody loses. What is left out is as exact as alone.
    """
    counts = [one for one in group if one.kind in _COUNTS and can_add]
    found, columns = list(counts), 0
    others = [one for one in group if one.kind not in _COUNTS]
    for operands in dict.fromkeys(one.aggregate.operands for one in others):
        own = [one for one in others if one.aggregate.operands == operands]
        for choice in _choices(own, can_add, has_mean=operands in averaged):
            if _pooled([*found, *choice]) is not None:
                found, columns = [*found, *choice], columns + 1
                break
    if columns == 0:
        return []
    gains = len(found) > 1 or found[0].made_of.formula.is_affordable
    return found if gains else []


def _choices(
    own: Sequence[_Candidate], can_add: bool, has_mean: bool
) -> Iterator[list[_Candidate]]:
    """Larger ones first. A sum alone gains nothing, but it agrees with a mean beside it."""
    sums = [a for a in own if a.kind is AggregateKind.SUM and can_add]
    means = [a for a in own if a.kind is AggregateKind.AVG]
    spreads = [a for a in own if a.kind not in (AggregateKind.SUM, AggregateKind.AVG)]
    for choice in (
        [*sums, *means, *spreads],
        [*means, *spreads],
        [*sums, *means],
        [*sums, *spreads],
        means,
        spreads,
    ):
        if any(one.kind is not AggregateKind.SUM for one in choice):
            yield choice
    if has_mean and sums:
        yield sums


def _pooled(candidates: Sequence[_Candidate]) -> dict[SharedStatistic, Fraction] | None:
    weight = sum((one.weight for one in candidates), Fraction(0))
    return pooled([one.needs for one in candidates], weight)
