"""Broken choices: partition selection and order statistics. See mutants.py for the idea."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proxy.mechanisms import bernoulli, exact_choice, order_statistic, partition_selection
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.order_statistic import GridRun, Law, ValueCount
from tests.mechanisms import order_statistic_layers, samplers, selection_layers
from tests.mechanisms.mutants import Mutant

CHANCE = "proxy.mechanisms.partition_selection.release_probability"
PER_GROUP = "proxy.mechanisms.partition_selection.per_group"
TARGET = "proxy.mechanisms.order_statistic.target_rank"
NEEDED = "proxy.mechanisms.order_statistic.values_needed"
MINIMUM_LAW = "proxy.mechanisms.order_statistic.minimum_law"
QUANTILE_LAW = "proxy.mechanisms.order_statistic.quantile_law"

# Kept before anything is replaced.
_chance = partition_selection.release_probability
_per_group = partition_selection.per_group
_minimum_law = order_statistic.minimum_law
_quantile_law = order_statistic.quantile_law
_minimum = order_statistic.minimum
_choose = exact_choice.choose


def _closed_after_the_first_half(units: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The rising half of the curve only, until it is 1."""
    half = next(n for n in range(10**6) if _chance(n, epsilon, delta) > Fraction(1, 2))
    return _chance(units, epsilon, delta) if units < half else Fraction(1)


def _one_step_of_the_law(
    values: Sequence[ValueCount], low: int, high: int, epsilon: Fraction, rows: int = 1
) -> Law:
    """Each run weighs as one grid point would: its size is forgotten."""
    law = _minimum_law(values, low, high, epsilon, rows)
    return Law(tuple(GridRun(run.first, run.first, run.distance) for run in law.runs), law.rate)


def _balanced_score(
    values: Sequence[ValueCount],
    q: Fraction,
    low: int,
    high: int,
    epsilon: Fraction,
    rows: int = 1,
    below: int = 0,
    above: int = 0,
) -> Law:
    """|(1-q) #below - q #above|: as private, but not the best that there is."""
    n = sum(value.count for value in values)
    runs, under = [], 0
    counts = {value.value: value.count for value in values}
    for c in range(low, high + 1):
        at = counts.get(c, 0)
        off = abs((1 - q) * under - q * (n - under - at)) * q.denominator
        runs.append(GridRun(c, c, int(off)))
        under += at
    return Law(tuple(runs), epsilon / (2 * rows * max(q, 1 - q) * q.denominator))


def _faster(law: Law, factor: Fraction) -> Law:
    return Law(law.runs, law.rate * factor)


MUTANTS = [
    Mutant(
        "a group of one unit is shown",
        selection_layers.selection_is_private,
        (CHANCE,),
        lambda units, epsilon, delta: Fraction(min(units, 1)),
    ),
    Mutant(
        "a group of no unit is shown",
        selection_layers.selection_is_private,
        (CHANCE,),
        lambda units, epsilon, delta: _chance(units + 1, epsilon, delta),
    ),
    Mutant(
        "the curve skips a unit",
        selection_layers.selection_is_private,
        (CHANCE,),
        lambda units, epsilon, delta: _chance(units + (units > 1), epsilon, delta),
    ),
    Mutant(
        "delta one percent too large",
        selection_layers.selection_is_private,
        (CHANCE,),
        lambda units, epsilon, delta: _chance(units, epsilon, delta * Fraction(101, 100)),
    ),
    Mutant(
        "epsilon one percent too large",
        selection_layers.selection_is_private,
        (CHANCE,),
        lambda units, epsilon, delta: _chance(units, epsilon * Fraction(101, 100), delta),
    ),
    Mutant(
        "the second half of the curve is 1",
        selection_layers.selection_is_private,
        (CHANCE,),
        _closed_after_the_first_half,
    ),
    Mutant(
        "the curve of a unit less",
        selection_layers.selection_is_optimal_and_golden,
        (CHANCE,),
        lambda units, epsilon, delta: _chance(max(0, units - 1), epsilon, delta),
    ),
    Mutant(
        "delta not split over groups",
        selection_layers.groups_of_one_unit_are_private,
        (PER_GROUP,),
        lambda loss, groups: Loss(loss.epsilon / groups, loss.delta),
    ),
    Mutant(
        "epsilon not split over groups",
        selection_layers.groups_of_one_unit_are_private,
        (PER_GROUP,),
        lambda loss, groups: Loss(loss.epsilon, _per_group(loss, groups).delta),
    ),
    Mutant(
        "selection at the curve of a scale 30 % too small",
        selection_layers.selections_follow_the_curve,
        ("proxy.mechanisms.partition_selection.selector",),
        lambda bits, epsilon, delta: (
            lambda units: (
                bits.below(10**30) < 10**30 * _chance(units, epsilon * Fraction(13, 10), delta)
            )
        ),
    ),
    Mutant(
        "coins: large exponents cut to 1",
        selection_layers.coins_have_their_bias,
        ("proxy.mechanisms.bernoulli.bernoulli_exp",),
        lambda bits, exponent, kept=bernoulli.bernoulli_exp: kept(bits, min(exponent, Fraction(1))),
    ),
    Mutant(
        "tau = 0",
        order_statistic_layers.order_formulas_are_golden,
        (TARGET,),
        lambda steps, epsilon, rows=1: 0,
    ),
    Mutant(
        "counts capped before tau is reached",
        order_statistic_layers.laws_are_their_definition,
        (NEEDED,),
        lambda steps, epsilon, rows=1: order_statistic.target_rank(steps, epsilon, rows) - 1,
    ),
    Mutant(
        "cap ignored",
        order_statistic_layers.the_rest_need_not_be_fetched,
        (MINIMUM_LAW,),
        lambda values, low, high, epsilon, kept=order_statistic._runs: Law(
            kept(values, low, high, 0, lambda below, below_or_at: max(below - 20, 0)), epsilon / 2
        ),
    ),
    Mutant(
        "exponent epsilon instead of epsilon / 2 in the minimum",
        order_statistic_layers.order_statistics_are_private,
        (MINIMUM_LAW,),
        lambda *arguments: _faster(_minimum_law(*arguments), Fraction(2)),
    ),
    Mutant(
        "minimum's exponent 30 % too large",
        order_statistic_layers.order_statistics_are_private,
        (MINIMUM_LAW,),
        lambda *arguments: _faster(_minimum_law(*arguments), Fraction(13, 10)),
    ),
    Mutant(
        "quantile's exponent 30 % too large",
        order_statistic_layers.order_statistics_are_private,
        (QUANTILE_LAW,),
        lambda *arguments: _faster(_quantile_law(*arguments), Fraction(13, 10)),
    ),
    Mutant(
        "sensitivity of the median for every quantile",
        order_statistic_layers.order_statistics_are_private,
        (QUANTILE_LAW,),
        lambda values, q, low, high, epsilon, rows=1: _faster(
            _quantile_law(values, q, low, high, epsilon, rows), 2 * max(q, 1 - q)
        ),
    ),
    Mutant(
        "rows of a unit not charged in the minimum",
        order_statistic_layers.units_of_rows_are_private,
        (MINIMUM_LAW,),
        lambda values, low, high, epsilon, rows=1: _minimum_law(values, low, high, epsilon),
    ),
    Mutant(
        "rows of a unit not charged in the quantile",
        order_statistic_layers.units_of_rows_are_private,
        (QUANTILE_LAW,),
        lambda values, q, low, high, epsilon, rows=1: _quantile_law(values, q, low, high, epsilon),
    ),
    Mutant(
        "the balanced score, which shuns values that many share",
        order_statistic_layers.laws_are_their_definition,
        (QUANTILE_LAW,),
        _balanced_score,
    ),
    Mutant(
        "maximum is the minimum",
        samplers.fits("maximum"),
        ("proxy.mechanisms.order_statistic.maximum",),
        lambda values, low, high, epsilon, bits: _minimum(values, low, high, epsilon, bits),
    ),
    Mutant(
        "sizes of runs forgotten",
        samplers.fits("minimum"),
        (MINIMUM_LAW,),
        _one_step_of_the_law,
    ),
    Mutant(
        "choice at a rate 30 % too large",
        samplers.fits("minimum"),
        ("proxy.mechanisms.order_statistic.choose",),
        lambda bits, weights, rate: _choose(bits, weights, rate * Fraction(13, 10)),
    ),
]
