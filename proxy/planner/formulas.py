"""Formulas: answers made of noisy sums, each one entry of a table.

What it needs, what it gives (clamped to what is possible, with its 95 % interval), on which grid.
Post-processing: nothing exact takes part, so it is free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from typing_extensions import assert_never

from proxy.estimates import (
    pair_statistics,
    ratio_mean_estimate,
    shared_moments,
    sum_over_count,
    variance,
)
from proxy.kernel.formula_model import Bounded, Formula, Need, NoisySums
from proxy.kernel.statistics import Statistic
from proxy.mechanisms import ratio_mean
from proxy.mechanisms.estimate import Estimate
from proxy.planner import grids
from proxy.policy.grid import AVERAGE_STEPS, power_of_ten
from proxy.policy.policy_model import Mechanism, Weighed
from proxy.query.ir.query_aggregates import AggregateKind


def formula_of(kind: AggregateKind, mechanism: Mechanism) -> Formula | None:
    """None: the aggregate is not made of sums."""
    return FORMULAS.get(kind, {}).get(mechanism)


def weighed(kind: AggregateKind) -> Weighed:
    """Under which name the policy weighs an aggregate."""
    match kind:
        case AggregateKind.COUNT_ROWS | AggregateKind.COUNT | AggregateKind.COUNT_DISTINCT:
            return Weighed.COUNT
        case AggregateKind.SUM:
            return Weighed.SUM
        case AggregateKind.AVG:
            return Weighed.AVG
        case AggregateKind.MIN:
            return Weighed.MIN
        case AggregateKind.MAX:
            return Weighed.MAX
        case AggregateKind.STDDEV_POP | AggregateKind.STDDEV_SAMP:
            return Weighed.STDDEV
        case AggregateKind.QUANTILE_CONT | AggregateKind.QUANTILE_DISC:
            return Weighed.PERCENTILE
        case (
            AggregateKind.VAR_POP
            | AggregateKind.VAR_SAMP
            | AggregateKind.COVAR_POP
            | AggregateKind.COVAR_SAMP
            | AggregateKind.CORR
            | AggregateKind.REGR_SLOPE
            | AggregateKind.REGR_INTERCEPT
            | AggregateKind.REGR_R2
        ):
            return Weighed.VARIANCE
        case _:
            assert_never(kind)


def _fine_grid(measured: Bounded) -> Fraction:
    (one,) = measured
    return grids.of_average(one.grid, one.clamp) / 1000


def _square_grid(measured: Bounded) -> Fraction:
    (one,) = measured
    return grids.of_squares(one.grid, one.clamp) / 1000


def _own_grid(measured: Bounded) -> Fraction:
    return measured[0].grid if measured else Fraction(1)


def _total(noisy: NoisySums) -> Estimate:
    (one,) = noisy.measured
    count, total = noisy.sums
    value = shared_moments.total_of(total, count, one.low, one.high) * one.grid
    half_width = _total_error(noisy)
    return Estimate(value=value, least=value - half_width, most=value + half_width)


def _total_error(noisy: NoisySums) -> Fraction:
    (one,) = noisy.measured
    of_count, of_total = noisy.scales
    half_width = shared_moments.total_half_width(of_total, of_count, one.low, one.high, noisy.level)
    return half_width * one.grid


def _mean(noisy: NoisySums) -> Estimate:
    (one,) = noisy.measured
    count, total = noisy.sums
    of_count, of_total = noisy.scales
    moments = ratio_mean.NoisySumAndCount(total=total, count=count)
    found = ratio_mean_estimate.mean(moments, one.low, one.high)
    noise = ratio_mean.RatioScales(total=of_total, count=of_count)
    least, most = ratio_mean_estimate.interval(moments, noise, one.low, one.high, noisy.level)
    return Estimate(value=found, least=least, most=most).times(one.grid)


def _mean_error(noisy: NoisySums) -> Fraction:
    (one,) = noisy.measured
    of_count, of_total = noisy.scales
    noise = ratio_mean.RatioScales(total=of_total, count=of_count)
    return ratio_mean_estimate.error_times_rows(noise, one.low, one.high) * one.grid


def _plain_mean(noisy: NoisySums) -> Estimate:
    (one,) = noisy.measured
    count, total = noisy.sums
    of_count, of_total = noisy.scales
    sums = ratio_mean.NoisySumAndCount(total=total, count=count)
    found = sum_over_count.mean(sums, one.low, one.high)
    noise = ratio_mean.RatioScales(total=of_total, count=of_count)
    least, most = sum_over_count.interval(sums, noise, one.low, one.high, noisy.level)
    return Estimate(value=found, least=least, most=most).times(one.grid)


def _plain_mean_error(noisy: NoisySums) -> Fraction:
    (one,) = noisy.measured
    of_count, of_total = noisy.scales
    noise = ratio_mean.RatioScales(total=of_total, count=of_count)
    return sum_over_count.error_times_rows(noise, one.low, one.high) * one.grid


def _variance(*, of_sample: bool, is_root: bool) -> Callable[[NoisySums], Estimate]:
    def of(noisy: NoisySums) -> Estimate:
        (one,) = noisy.measured
        (count, total, squares), (of_count, of_total, of_squares) = noisy.sums, noisy.scales
        moments = variance.NoisyMoments(squares=squares, total=total, count=count)
        noise = variance.VarianceScales(squares=of_squares, total=of_total, count=of_count)
        estimator = variance.sample_variance if of_sample else variance.population
        value = estimator(moments, one.low, one.high)
        least, most = variance.population_interval(moments, noise, one.low, one.high, noisy.level)
        unit = one.grid**2
        if is_root:
            least, value, most = map(variance.deviation, (least, value, most))
            unit = one.grid
        return Estimate(value=value, least=least, most=most).times(unit)

    return of


def _variance_error(noisy: NoisySums) -> Fraction:
    (one,) = noisy.measured
    of_count, of_total, of_squares = noisy.scales
    noise = variance.VarianceScales(squares=of_squares, total=of_total, count=of_count)
    return variance.error_times_rows(noise, one.low, one.high) * one.grid**2


_ROWS = Need(statistic=Statistic.ROWS, of=())
_STEPS = Need(statistic=Statistic.STEPS)
_CENTRED = Need(statistic=Statistic.CENTRED)
_SQUARES = Need(statistic=Statistic.SQUARES)
_ONE = Fraction(1)

_COUNT = Formula(needs=(_ROWS,), each=_ONE, of=None, output_grid=_own_grid)
_PLAIN_TOTAL = Formula(needs=(_STEPS,), each=_ONE, of=None, output_grid=_own_grid)
# A mean alone is a noisy sum at nearly all of its epsilon (mechanisms.recentred_mean), a sum at all of it; made
# of two sums that have its whole weight each, neither is less exact.
_TOTAL = Formula(
    needs=(_ROWS, _CENTRED), each=_ONE, of=_total, output_grid=_own_grid, error=_total_error
)
_MEAN = Formula(
    needs=(_ROWS, _CENTRED),
    each=_ONE,
    of=_mean,
    output_grid=_fine_grid,
    error_times_rows=_mean_error,
)
_PLAIN_MEAN = Formula(
    needs=(_ROWS, _STEPS),
    each=_ONE / 2,
    of=_plain_mean,
    output_grid=_fine_grid,
    error_times_rows=_plain_mean_error,
)


def _spread(*, of_sample: bool, is_root: bool) -> Formula:
    found = _variance(of_sample=of_sample, is_root=is_root)
    needs = (_ROWS, _CENTRED, _SQUARES)
    return Formula(
        needs=needs,
        each=_ONE / 3,
        of=found,
        output_grid=_fine_grid if is_root else _square_grid,
        error_times_rows=None if is_root else _variance_error,
    )


_FIRST, _SECOND = _CENTRED, Need(statistic=Statistic.CENTRED, of=(1,))
_PRODUCTS = Need(statistic=Statistic.PRODUCTS, of=(0, 1))
_SQUARES_OF_SECOND = Need(statistic=Statistic.SQUARES, of=(1,))
_COVARIANCE = (_ROWS, _FIRST, _SECOND, _PRODUCTS)
_REGRESSION = (*_COVARIANCE, _SQUARES_OF_SECOND)
_CORRELATION = (*_REGRESSION, _SQUARES)


def _pairs(noisy: NoisySums) -> pair_statistics.Pairs:
    """Its sums are the first ones of _CORRELATION."""
    results = [
        pair_statistics.NoisySum(value=value, scale=scale)
        for value, scale in zip(noisy.sums, noisy.scales, strict=True)
    ]
    count, first, second, products, *squares = results
    of_second, of_first = (*squares, None, None)[:2]
    y, x = noisy.measured
    return pair_statistics.Pairs(
        count=count,
        first=pair_statistics.Side(low=y.low, high=y.high, total=first, squares=of_first),
        second=pair_statistics.Side(low=x.low, high=x.high, total=second, squares=of_second),
        products=products,
        of=len(results),
        level=noisy.level,
    )


def _intercept(noisy: NoisySums) -> Estimate:
    y, x = noisy.measured
    return pair_statistics.intercept(_pairs(noisy), y.grid, x.grid)


def _of_pairs(
    needs: tuple[Need, ...],
    estimator: Callable[[pair_statistics.Pairs], Estimate],
    unit: Callable[[Fraction, Fraction], Fraction],
) -> Formula:
    """unit: of the answer, from those of the operands; of their grid steps, and of their widths."""

    def of(noisy: NoisySums) -> Estimate:
        y, x = noisy.measured
        return estimator(_pairs(noisy)).times(unit(y.grid, x.grid))

    return Formula(
        needs=needs, each=_ONE / len(needs), of=of, output_grid=lambda m: _grid_of_pairs(m, unit)
    )


def _grid_of_pairs(measured: Bounded, unit: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
    """A ten-millionth of the answer's scale, as of a mean."""
    widths = (max(one.width, 1) * one.grid for one in measured)
    return power_of_ten(unit(*widths) / AVERAGE_STEPS) / 1000


_PAIRS: Mapping[AggregateKind, Formula] = {
    AggregateKind.COVAR_POP: _of_pairs(_COVARIANCE, pair_statistics.covariance, lambda y, x: y * x),
    AggregateKind.COVAR_SAMP: _of_pairs(
        _COVARIANCE, pair_statistics.sample_covariance, lambda y, x: y * x
    ),
    AggregateKind.REGR_SLOPE: _of_pairs(_REGRESSION, pair_statistics.slope, lambda y, x: y / x),
    AggregateKind.REGR_INTERCEPT: Formula(
        needs=_REGRESSION,
        each=_ONE / len(_REGRESSION),
        of=_intercept,
        output_grid=lambda measured: _fine_grid(measured[:1]),
    ),
    AggregateKind.CORR: _of_pairs(_CORRELATION, pair_statistics.correlation, lambda y, x: _ONE),
    AggregateKind.REGR_R2: _of_pairs(
        _CORRELATION, pair_statistics.determination, lambda y, x: _ONE
    ),
}


def _always(formula: Formula) -> Mapping[Mechanism, Formula]:
    return dict.fromkeys(Mechanism, formula)


FORMULAS: Mapping[AggregateKind, Mapping[Mechanism, Formula]] = {
    AggregateKind.COUNT_ROWS: _always(_COUNT),
    AggregateKind.COUNT: _always(_COUNT),
    AggregateKind.SUM: {**_always(_TOTAL), Mechanism.SUM_OVER_COUNT: _PLAIN_TOTAL},
    AggregateKind.AVG: {Mechanism.BEST: _MEAN, Mechanism.SUM_OVER_COUNT: _PLAIN_MEAN},
    AggregateKind.VAR_POP: _always(_spread(of_sample=False, is_root=False)),
    AggregateKind.VAR_SAMP: _always(_spread(of_sample=True, is_root=False)),
    AggregateKind.STDDEV_POP: _always(_spread(of_sample=False, is_root=True)),
    AggregateKind.STDDEV_SAMP: _always(_spread(of_sample=True, is_root=True)),
    **{kind: _always(formula) for kind, formula in _PAIRS.items()},
}
