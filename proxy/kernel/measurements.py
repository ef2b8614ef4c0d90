"""What each release costs: the noise that its sensitivity and its loss ask for is there, whatever the plan
says.

No rule takes a sensitivity of the plan: all bounds come from the `Shape` of the block and from what the
database computes of each row.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from typing_extensions import assert_never

from proxy.base import limits
from proxy.kernel.bound_choices import BoundChoice, UnitTotal, ValueChoice, WeightChoice
from proxy.kernel.key_plans import Selection
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    ClippedMean,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.kernel.price import Price, gaussian_price, laplace_price, pure_price
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.sensitivities import (
    OF_CELLS,
    OF_REPORT,
    Sensitivity,
    StepSensitivity,
    each_median,
    each_selected,
    of_distinct,
    of_gate,
    of_kept_units,
    of_series,
    of_size,
    of_step,
    of_sum,
    of_total,
    outputs_changed,
)
from proxy.kernel.shape import Shape
from proxy.kernel.statistics import LARGEST_INDEX, Counted, Measured, Statistic
from proxy.mechanisms import (
    continual,
    deviation_mean,
    deviation_variance,
    discrete_gaussian,
    order_statistic,
    partition_selection,
    polyplace,
    smooth_sensitivity,
    smoothed_median,
    zcdp,
)
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import MedianNoise
from proxy.query.ir.query_aggregates import AggregateKind

_EXTREMES = (AggregateKind.MIN, AggregateKind.MAX)
_QUANTILES = (AggregateKind.QUANTILE_CONT, AggregateKind.QUANTILE_DISC)
# SQL looks each unit up among so many bounds, and multiplies with totals in parts and with ranks. The planner's
# have four bounds in each doubling, and 15 digits of a rank.
_MOST_BOUNDS, _MOST_PARTS = 1024, 2**256
_OPERANDS = {
    Statistic.STEPS: 1,
    Statistic.CENTRED: 1,
    Statistic.SQUARES: 1,
    Statistic.PRODUCTS: 2,
}


def price_of_release(release: Release, shape: Shape, is_bounded: bool) -> Price:
    """Price a release by the rule of its kind; is_bounded: whether the bounds that a plan chooses are chosen.

    Raises:
        NotPrivate: Its noise is not enough for its loss.
    """
    match release:
        case NoisyStatistic():
            return price_of_sum(release, shape, is_bounded)
        case DistinctCount():
            return price_of_distinct_count(release, shape)
        case RecentredMean():
            return price_of_mean(release, shape)
        case DeviationMean():
            return price_of_deviation_mean(release, shape)
        case OrderStatistic():
            return price_of_order_statistic(release, shape)
        case SampleAggregate():
            return price_of_sample_aggregate(release, shape)
        case UnitExtreme():
            return price_of_unit_extreme(release, shape)
        case KeptUnits():
            return price_of_kept_units(release, shape)
        case _:
            assert_never(release)


def check_measured(measured: Iterable[Measured], rule: Rule) -> None:
    """Let operands pass whose `low` and `high` are what SQL clamps to.

    Privacy: the ends of the clamp are whole steps of a grid, so that rounding to a step does not leave them. An
    index that is stored is a whole number (`totality.check_grid_index`), which SQL clamps to the same steps.

    >>> from tests.kernel.examples import measured
    >>> check_measured([measured(0, 10)], Rule.NOISY_SUM)
    >>> check_measured([measured(0, Fraction(19, 10))], Rule.NOISY_SUM)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    for one in measured:
        ends = (one.clamp.low, one.clamp.high)
        if one.grid <= 0:
            raise NotPrivate(rule, "a grid without steps")
        if any((end / one.grid).denominator != 1 for end in ends):
            raise NotPrivate(rule, "a clamp that does not end on steps of its grid")


def price_of_noise(noise: Noise, moved: Sensitivity, loss: Loss, is_open: bool = False) -> Price:
    """Price additive noise on whole numbers.

    Privacy: Laplace noise of this scale pays for epsilon (PROOFS.md 1), Gaussian noise for (epsilon, delta)
    by either conversion of its rho (5). While the bound on what moves is open, rho is that of any mechanism
    with this loss, which no bound can raise: at equal epsilon, rho of Laplace noise rises as the bound
    falls (24 Z5).

    Raises:
        NotPrivate: The noise is less.

    >>> one, moved = Loss(Fraction(1), Fraction(0)), Sensitivity(l1=3, squared=Fraction(9))
    >>> price_of_noise(LaplaceNoise(scale=Fraction(3)), moved, one).epsilon
    Fraction(1, 1)
    >>> price_of_noise(LaplaceNoise(scale=Fraction(2)), moved, one)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    match noise:
        case LaplaceNoise():
            if noise.scale * loss.epsilon < moved.l1:  # which is 1 at least
                raise NotPrivate(Rule.NOISE, "a scale below what the results move by")
            return pure_price(loss) if is_open else laplace_price(loss, moved.l1, noise.scale)
        case GaussianNoise():
            return _price_of_gaussian(noise, moved.squared, loss, is_open)
        case ContinualNoise():
            raise NotPrivate(Rule.CONTINUAL, "noise of a series on another release")
        case _:
            assert_never(noise)


def price_of_series(
    noise: ContinualNoise, shape: Shape, moved: StepSensitivity, loss: Loss
) -> Price:
    """Price the noise of a series, of all its steps together, which are the groups of its block.

    Privacy: y = R x + z is a list of whole numbers that moves by `of_series` at most, however the steps follow
    each other, and what is shown is made of it (PROOFS.md 33 C1 to C4, C6).

    Raises:
        NotPrivate: A factor that rises, or less noise.

    >>> from tests.kernel.examples import series_shape
    >>> loss, shape = Loss(Fraction(1), Fraction(1, 10**6)), series_shape(most_steps=2)
    >>> one = StepSensitivity(each=1, is_of_rows=False)
    >>> enough = Fraction(17) / (2 * zcdp.rho_of_loss(loss.epsilon, loss.delta))
    >>> price_of_series(ContinualNoise(factor=(2, 1, 1), sigma2=enough), shape, one, loss).epsilon
    Fraction(1, 1)
    >>> price_of_series(ContinualNoise(factor=(2, 1, 1), sigma2=enough / 2), shape, one, loss)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if not continual.is_factor(noise.factor) or len(noise.factor) != shape.count:
        raise NotPrivate(Rule.CONTINUAL, "a factor that rises, or of other steps")
    squared = of_series(shape, noise.factor, moved, is_at_once=noise.is_at_once)
    return _price_of_gaussian(GaussianNoise(sigma2=noise.sigma2), squared, loss, False)


def _price_of_gaussian(noise: GaussianNoise, squared: Fraction, loss: Loss, is_open: bool) -> Price:
    if loss.epsilon <= 0 or loss.delta <= 0:
        raise NotPrivate(Rule.NOISE, "Gaussian noise without delta")
    allowed = zcdp.rho_of_loss(loss.epsilon, loss.delta)
    if noise.sigma2 < discrete_gaussian.sigma2_for(squared, allowed):  # which is above 0
        raise NotPrivate(Rule.NOISE, "a sigma squared below what the results move by")
    if is_open:  # as of a result that moves by 1, with the noise that its loss buys
        return gaussian_price(loss, Fraction(1), 1 / (2 * allowed))
    return gaussian_price(loss, squared, noise.sigma2)


def price_of_sum(release: NoisyStatistic, shape: Shape, is_bounded: bool) -> Price:
    """Price a noisy linear sum.

    Privacy: `sensitivities.of_sum`; where the total of a unit is bounded instead, `price_of_total`.

    Raises:
        NotPrivate: The noise is less, or it is of another number of operands.

    >>> from tests.kernel.examples import counted, shape
    >>> price_of_sum(counted(noise=Fraction(6)), shape(count=5, groups=None, rows=6), False).epsilon
    Fraction(1, 1)
    >>> price_of_sum(counted(noise=Fraction(5)), shape(count=5, groups=None, rows=6), False)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    measured = () if isinstance(release.of, Counted) else release.of
    wanted = _OPERANDS.get(release.statistic)
    is_of_nothing = not measured and not isinstance(release.of, Counted)
    if is_of_nothing or (wanted is not None and len(measured) != wanted):
        raise NotPrivate(Rule.NOISY_SUM, "a sum of another number of operands")
    check_measured(measured, Rule.NOISY_SUM)
    if release.total is not None:
        return price_of_total(release, release.total, shape, is_bounded)
    if isinstance(release.noise, ContinualNoise):
        return price_of_series(release.noise, shape, of_step(release, shape), release.loss)
    moved = of_sum(shape, release.statistic, release.of)
    return price_of_noise(release.noise, moved, release.loss, shape.is_open)


def price_of_total(
    release: NoisyStatistic, total: UnitTotal, shape: Shape, is_bounded: bool
) -> Price:
    """Price a sum of which what a unit adds is cut, not its rows, without the choice of the cut.

    Privacy: `sensitivities.of_total`. The bound may still be chosen: any one has the same epsilon, and at most
    the rho of a pure mechanism.

    Raises:
        NotPrivate: Rows by themselves, a cut that is inside out, a bound that is none of those to choose
            from, or less noise.

    >>> from tests.kernel.examples import counted, shape
    >>> total, units = UnitTotal(low=0, high=4, parts=2, choice=None), shape(count=5, groups=None)
    >>> price_of_total(counted(noise=Fraction(8)), total, units, False).epsilon
    Fraction(1, 1)
    >>> price_of_total(counted(noise=Fraction(7)), total, units, False)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if not isinstance(shape.neighbours, UnitNeighbours):
        raise NotPrivate(Rule.TOTAL, "rows by themselves have no total")
    if not total.low <= 0 <= total.high or not 1 <= total.parts <= _MOST_PARTS // total.most:
        raise NotPrivate(Rule.TOTAL, "a cut that is inside out, or in too many parts")
    moved = of_total(total)
    if total.choice is None:
        return price_of_noise(release.noise, moved, release.loss)
    if total.choice.is_given or total.most not in total.choice.bounds:
        raise NotPrivate(Rule.TOTAL, "a bound that is none of those to choose from")
    if total.choice.loss.epsilon >= release.loss.epsilon:
        raise NotPrivate(Rule.TOTAL, "nothing is left for noise")
    return price_of_noise(release.noise, moved, release.noise_loss, is_open=not is_bounded)


def price_of_choice(choice: BoundChoice) -> Price:
    """Price a walk over bounds, and the report of how many units are above the one that is chosen.

    Privacy: one unit more raises each count of units by 0 or 1, whatever its rows (PROOFS.md 23 B1); the
    walk costs its epsilon (B2), two counts with noise of scale 2/epsilon cost theirs (B5, B7). Bounds that
    are given are not walked.

    Raises:
        NotPrivate: Bounds do not rise from 1, or are too many, or the report has less noise.

    >>> from dataclasses import replace
    >>> from tests.kernel.examples import value_choice
    >>> choice = value_choice(Fraction(1)).choice
    >>> price_of_choice(choice).epsilon
    Fraction(1, 1)
    >>> price_of_choice(replace(choice, report_scale=choice.report_scale / 2))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if not choice.bounds or list(choice.bounds) != sorted(set(choice.bounds)):
        raise NotPrivate(Rule.CHOSEN_BOUND, "bounds that do not rise")
    if choice.bounds[0] < 1 or len(choice.bounds) > _MOST_BOUNDS:
        raise NotPrivate(Rule.CHOSEN_BOUND, "a bound below 1, or too many bounds")
    if choice.report_scale * choice.report.epsilon < OF_REPORT.l1:
        raise NotPrivate(Rule.CHOSEN_BOUND, "a report with less noise than it pays for")
    report = laplace_price(choice.report, OF_REPORT.l1, choice.report_scale)
    if choice.is_given:
        return report
    if choice.walk.epsilon <= 0:
        raise NotPrivate(Rule.CHOSEN_BOUND, "a walk that pays nothing")
    return pure_price(choice.walk) + report


def price_of_value_choice(chosen: ValueChoice, shape: Shape) -> Price:
    """Price a walk over bounds on the values of units.

    Privacy: a unit is counted by the largest size of its values, in one band: rows are gathered by the unit, or
        each unit has one. So one unit more raises each count by 0 or 1 (PROOFS.md 23 B9). Whatever bound is
        chosen, each release is priced by the clamp that it has then.

    Raises:
        NotPrivate: Several rows by themselves change, each of which is counted; nothing is walked, or a bound
            that is none of those to choose from.

    >>> from tests.kernel.examples import row_shape, value_choice
    >>> price_of_value_choice(value_choice(Fraction(1)), row_shape(changed=1)).epsilon
    Fraction(1, 1)
    >>> price_of_value_choice(value_choice(Fraction(1)), row_shape(changed=2))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_measured([chosen.measured], Rule.CHOSEN_VALUE)
    if isinstance(shape.neighbours, RowNeighbours) and shape.neighbours.rows != 1:
        raise NotPrivate(Rule.CHOSEN_VALUE, "several rows change, each of which is counted")
    if chosen.choice.is_given:
        raise NotPrivate(Rule.CHOSEN_VALUE, "nothing is walked")
    if chosen.bound is not None and chosen.bound not in chosen.choice.bounds:
        raise NotPrivate(Rule.CHOSEN_VALUE, "a bound that is none of those to choose from")
    return price_of_choice(chosen.choice)


def price_of_weight_choice(chosen: WeightChoice, shape: Shape) -> Price:
    """Price the histogram by which a bound on the rows of a unit is chosen.

    Privacy: a unit is in one cell, by how many rows it has in the block, so one unit moves one cell by 1
        (PROOFS.md 29 W2). The bound is a function of the noisy cells. Whatever it is, each quantile is priced
        by the weights that its own bound gives.

    Raises:
        NotPrivate: Rows by themselves, bounds that do not rise from 1 or are too many, or less noise.

    >>> from tests.kernel.examples import shape, weight_choice
    >>> price_of_weight_choice(weight_choice(scale=Fraction(10)), shape(count=5, groups=None)).epsilon
    Fraction(1, 10)
    >>> price_of_weight_choice(weight_choice(scale=Fraction(9)), shape(count=5, groups=None))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if not isinstance(shape.neighbours, UnitNeighbours):
        raise NotPrivate(Rule.CHOSEN_WEIGHTS, "rows by themselves are in several cells")
    if list(chosen.bounds) != sorted({1, *chosen.bounds}) or min(chosen.bounds) < 1:
        raise NotPrivate(Rule.CHOSEN_WEIGHTS, "bounds that do not rise from 1")
    if len(chosen.bounds) > _MOST_BOUNDS:
        raise NotPrivate(Rule.CHOSEN_WEIGHTS, "too many bounds")
    return price_of_noise(LaplaceNoise(scale=chosen.scale), OF_CELLS, chosen.cells)


def price_of_distinct_count(release: DistinctCount, shape: Shape) -> Price:
    """Price a count of distinct values, or of units.

    Privacy: `sensitivities.of_distinct`. Units of rows by themselves are counted by the column that sends rows
    to partitions, of which `check_rows` has said how many values change.

    Raises:
        NotPrivate: The noise is less, or other values are counted than those of the unit.

    >>> from tests.kernel.examples import distinct_count, shape
    >>> price_of_distinct_count(distinct_count(of_unit=True), shape(count=1, groups=None)).epsilon
    Fraction(1, 1)
    >>> price_of_distinct_count(distinct_count(of_unit=False), shape(count=1, groups=None))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    unit = shape.neighbours
    by = unit.hashed_by if isinstance(unit, RowNeighbours) and unit.partitions == 1 else None
    if release.of_unit and by is not None and by != (release.operand,):
        raise NotPrivate(Rule.NOISE, "other values are counted than units")
    if isinstance(release.noise, ContinualNoise):
        return price_of_series(release.noise, shape, of_step(release, shape), release.loss)
    moved = of_distinct(shape, of_unit=release.of_unit)
    return price_of_noise(release.noise, moved, release.loss, shape.is_open)


def price_of_mean(release: RecentredMean, shape: Shape) -> Price:
    """Price a mean about a noisy centre: one adaptive chain of noisy sums, for its loss (PROOFS.md 11).

    Raises:
        NotPrivate: It is drawn as for fewer rows of a unit than count.

    >>> from tests.kernel.examples import recentred_mean, shape
    >>> price_of_mean(recentred_mean(rows=6), shape(count=5, groups=None, rows=6)).epsilon
    Fraction(1, 1)
    >>> price_of_mean(recentred_mean(rows=5), shape(count=5, groups=None, rows=6))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_measured([release.measured], Rule.MEAN)
    if release.measured.rows < shape.rows or release.loss.epsilon <= 0:
        raise NotPrivate(Rule.MEAN, "drawn for fewer rows than count")
    return pure_price(release.loss)


def price_of_deviation_mean(release: DeviationMean, shape: Shape) -> Price:
    """Price a mean of deviations: one adaptive chain, for its loss.

    Privacy: the bounds on a unit's rows and deviations are applied where the noise is drawn, whatever a plan
    says of rows (PROOFS.md 28 D1 to D4, D8). So the only claims of a plan are whose rows are gathered, which
    groups are answered, and the range. All shares of each branch add up to the loss (D5).

    Raises:
        NotPrivate: Rows by themselves, groups that are not public, shares above the loss, or centres that no
            first scan of these groups releases.

    >>> from tests.kernel.examples import deviation_mean, shape
    >>> price_of_deviation_mean(deviation_mean(0, 10, Fraction(1)), shape(count=5, groups=None)).epsilon
    Fraction(1, 1)
    >>> from dataclasses import replace
    >>> spread = replace(deviation_mean(0, 10, Fraction(1)), square_share=Fraction(2, 5))
    >>> price_of_deviation_mean(spread, shape(count=5, groups=None)).epsilon
    Fraction(1, 1)
    >>> spread = replace(spread, square_share=Fraction(-2, 5))  # a mean for more than the loss
    >>> price_of_deviation_mean(spread, shape(count=5, groups=None))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    >>> price_of_deviation_mean(deviation_mean(0, 10, Fraction(1)), shape(count=None, groups=2))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_measured([release.measured], Rule.DEVIATION_MEAN)
    if not isinstance(shape.neighbours, UnitNeighbours):
        raise NotPrivate(Rule.DEVIATION_MEAN, "rows by themselves have no deviations of units")
    if shape.count is None:
        raise NotPrivate(Rule.DEVIATION_MEAN, "groups that are not public")
    epsilon, is_declared = release.loss.epsilon, release.declared is not None
    if epsilon <= 0 or (release.declared is not None and release.declared < 1):
        raise NotPrivate(Rule.DEVIATION_MEAN, "no loss, or no rows that count")
    for is_few, is_single in product((False, True), repeat=2):
        spent = deviation_mean.shares(
            release.epsilon_of_mean, is_few=is_few, is_declared=is_declared, is_single=is_single
        )
        total = spent.total + _spent_on_squares(release)
        if total > epsilon or spent.least <= 0:
            raise NotPrivate(Rule.DEVIATION_MEAN, "shares above the loss")
    check_centres(release, shape.count)
    return pure_price(release.loss)


def _spent_on_squares(release: DeviationMean) -> Fraction:
    """What histogram and sums of squares cost; both are drawn if there are any."""
    if release.square_share == 0:
        return Fraction(0)
    spent = deviation_variance.shares(release.epsilon_of_squares)
    if min(spent.cells, spent.squares) <= 0:
        raise NotPrivate(Rule.DEVIATION_MEAN, "squares that pay nothing")
    return spent.cells + spent.squares


def check_centres(release: DeviationMean, groups: int) -> None:
    """Let a mean pass whose centres are those of its groups.

    Privacy: any centres do, as they were released before (PROOFS.md 28 D3). The noise follows from them, so
    there is one for each group, within the range; a unit has at least one row.

    Raises:
        NotPrivate: There are others.

    >>> from dataclasses import replace
    >>> from tests.kernel.examples import centres, deviation_mean
    >>> mean = replace(deviation_mean(0, 10, Fraction(1)), centres=centres(-3, 4))
    >>> check_centres(mean, 2)
    >>> check_centres(mean, 1)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    centres, one = release.centres, release.measured
    if centres is None:
        return
    per_group = (centres.centres, centres.weights, centres.sums)
    if any(len(numbers) != groups for numbers in per_group):
        raise NotPrivate(Rule.DEVIATION_MEAN, "centres of other groups")
    if one.low >= one.high:
        raise NotPrivate(Rule.DEVIATION_MEAN, "centres of a constant")
    farthest = (one.high - one.low) * deviation_mean.fineness(one.low, one.high)
    if any(abs(centre) > farthest for centre in centres.centres):
        raise NotPrivate(Rule.DEVIATION_MEAN, "a centre outside of the range")
    if centres.rows is not None and centres.rows < 1:
        raise NotPrivate(Rule.DEVIATION_MEAN, "a bound below 1")
    if release.declared is not None and centres.rows != release.declared:
        raise NotPrivate(Rule.DEVIATION_MEAN, "another bound than the policy's")
    if centres.is_single and centres.rows != 1:
        raise NotPrivate(Rule.DEVIATION_MEAN, "single rows of a unit with several")


def price_of_order_statistic(release: OrderStatistic, shape: Shape) -> Price:
    """Price MIN, MAX or a quantile by the exponential mechanism, and its size.

    Privacy: `measured.rows` rows of a unit are looked at, over all groups, or so many rows change; each
    moves each distance by 1 row at most (PROOFS.md 9), and the sizes of all groups together by 1. With weights
    all rows of a unit together weigh `measured.rows` at most, whatever else the plan says, and in sizes 1
    (29 W1, W3). As many values are fetched as the caps of distances look at: fewer would let one row decide
    which others are seen.

    Raises:
        NotPrivate: Drawn for fewer rows than change, of fewer values than its caps look at, a size with less
            noise, or one that leaves nothing; weights of what is no quantile, of rows by themselves, or in
            groups that are not public.

    >>> from tests.kernel.examples import quantile, shape
    >>> price_of_order_statistic(quantile(rows=2, weights=True), shape(count=5, groups=None, rows=6)).epsilon
    Fraction(1, 1)
    >>> price_of_order_statistic(quantile(rows=2, weights=False), shape(count=5, groups=None, rows=6))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    measured = release.measured
    check_measured([measured], Rule.ORDER_STATISTIC)
    _check_rank(release)
    if release.weights is not None:
        _check_weights(release, shape)
    elif measured.rows < shape.neighbours.rows:
        raise NotPrivate(Rule.ORDER_STATISTIC, "drawn for fewer rows than change")
    size = of_size(measured.rows, is_weighted=release.weights is not None)
    if release.size.noise.scale * release.size.loss.epsilon < size.l1:
        raise NotPrivate(Rule.ORDER_STATISTIC, "a size with less noise than it pays for")
    if release.own_loss.epsilon <= 0:
        raise NotPrivate(Rule.ORDER_STATISTIC, "nothing is left for the answer")
    if release.needed is not None and release.needed < _values_looked_at(release):
        raise NotPrivate(Rule.ORDER_STATISTIC, "fewer values than its caps look at")
    return pure_price(release.own_loss) + pure_price(release.size.loss)


def _check_weights(release: OrderStatistic, shape: Shape) -> None:
    """SQL weighs the rows of each unit by how many it has, in all groups that are listed."""
    if not isinstance(shape.neighbours, UnitNeighbours):
        raise NotPrivate(Rule.ORDER_STATISTIC, "weights of rows by themselves")
    if shape.count is None:
        raise NotPrivate(Rule.ORDER_STATISTIC, "weights in groups that are not public")
    if release.aggregate.fraction is None or release.measured.rows < 1:
        raise NotPrivate(Rule.ORDER_STATISTIC, "weights of no rows, or of what is no quantile")


def price_of_unit_extreme(release: UnitExtreme, shape: Shape) -> Price:
    """Price MIN or MAX of units by the exponential mechanism over public places.

    That the aggregate is MIN or MAX is judged before (`totality.check_aggregate`), as of all that is printed.

    Privacy: a unit, or a row that changes, has one value in each group in which it counts, so one unit moves
    the distances of all groups together by `shape.values` (PROOFS.md 9 "Places", 18 U8). Which values a unit
    has decides nothing else: all places are public.

    Raises:
        NotPrivate: A quantile, or an aggregate that is drawn for fewer values of a unit than change.

    >>> from tests.kernel.examples import maximum, shape
    >>> one = shape(count=5, groups=None)
    >>> price_of_unit_extreme(maximum(keeps_one_group=True), one).epsilon
    Fraction(1, 1)
    >>> price_of_unit_extreme(maximum(keeps_one_group=False), one)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_measured([release.measured], Rule.UNIT_EXTREME)
    if release.aggregate.fraction is not None:
        raise NotPrivate(Rule.UNIT_EXTREME, "an aggregate that is no extreme")
    if release.measured.rows < shape.values(release.keeps_one_group):
        raise NotPrivate(Rule.UNIT_EXTREME, "drawn for fewer values of a unit than change")
    if release.loss.epsilon <= 0:
        raise NotPrivate(Rule.UNIT_EXTREME, "nothing is left for the answer")
    return pure_price(release.loss)


def price_of_kept_units(release: KeptUnits, shape: Shape) -> Price:
    """Price the number of units of which MIN and MAX are.

    Privacy: `sensitivities.of_kept_units`.

    Raises:
        NotPrivate: The noise is less.

    >>> from tests.kernel.examples import kept_units, shape
    >>> one = shape(count=5, groups=None)
    >>> price_of_kept_units(kept_units(keeps_one_group=True), one).epsilon
    Fraction(1, 1)
    >>> price_of_kept_units(kept_units(keeps_one_group=False), one)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_measured([release.measured], Rule.UNIT_EXTREME)
    moved = of_kept_units(shape, keeps_one_group=release.keeps_one_group)
    return price_of_noise(release.noise, moved, release.loss)


def _check_rank(release: OrderStatistic) -> None:
    """MIN and MAX need values from one end, quantiles fewer around their rank: a fraction says which it is."""
    kind, fraction = release.aggregate.kind, release.aggregate.fraction
    is_extreme = kind in _EXTREMES and fraction is None
    is_quantile = kind in _QUANTILES and fraction is not None and 0 <= fraction <= 1
    if not is_extreme and not is_quantile:
        raise NotPrivate(Rule.ORDER_STATISTIC, "an aggregate that has no rank")
    if release.aggregate.rank.denominator > 10**limits.FRACTION_DIGITS:
        raise NotPrivate(Rule.ORDER_STATISTIC, "a rank of too many digits")


def _values_looked_at(release: OrderStatistic) -> int:
    """So many values the mechanisms look at: from an end, or to each side of the rank."""
    epsilon, rows, width = release.own_loss.epsilon, release.moved, release.measured.width
    if release.aggregate.fraction is None:
        return order_statistic.values_needed(width, epsilon, rows)
    return order_statistic.quantile_half_width(width, epsilon, release.aggregate.rank, rows)


def price_of_sample_aggregate(release: SampleAggregate, shape: Shape) -> Price:
    """Price a median or mean of the results of partitions, and the gate before it.

    Privacy: `sensitivities.outputs_changed` (PROOFS.md 4 "Theorem", 14; 18 U6). Outputs are cut to low .. high,
    and an empty partition has the fill, which is between them. The gate counts units, or rows (4 "Gate"). Both
    together cost the loss (16).

    Raises:
        NotPrivate: A fill outside, no partitions or too many, less noise than so many outputs ask for, or a
            median of which no theorem holds.

    >>> from tests.kernel.examples import partition_means, row_shape
    >>> price_of_sample_aggregate(partition_means(changed=2), row_shape(changed=2)).epsilon
    Fraction(2, 1)
    >>> price_of_sample_aggregate(partition_means(changed=1), row_shape(changed=2))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_measured([release.measured], Rule.SAMPLE_AGGREGATE)
    _check_outputs(release)
    if release.gate.noise.scale * release.gate.loss.epsilon < of_gate(shape).l1:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "a gate with less noise than it pays for")
    left = release.loss.epsilon - release.gate.loss.epsilon
    if left <= 0:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "nothing is left for the answer")
    _check_mechanism(release, shape, Loss(left, release.loss.delta))
    return pure_price(release.loss)


def _check_outputs(release: SampleAggregate) -> None:
    if release.output_grid <= 0:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "a grid without steps")
    if not release.low <= release.fill <= release.high:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "a fill that is outside")
    if max(abs(release.low), abs(release.high)) > LARGEST_INDEX:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "outputs that floats do not hold")
    if not 1 <= release.partitions <= smoothed_median.MOST_PARTITIONS:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "no partitions, or too many")


def _check_mechanism(release: SampleAggregate, shape: Shape, left: Loss) -> None:
    match release.mechanism:
        case ClippedMean(changed=believed, loss=loss):
            if believed < outputs_changed(shape) or not left.covers(loss) or loss.epsilon <= 0:
                raise NotPrivate(Rule.SAMPLE_AGGREGATE, "a mean of fewer outputs than change")
        case SmoothedMedian(each=each):
            if not each_median(shape, left).covers(each) or each.epsilon <= 0:
                raise NotPrivate(Rule.SAMPLE_AGGREGATE, "a median of fewer outputs than change")
            check_median(release.mechanism, release.partitions)
        case _:
            assert_never(release.mechanism)


def check_median(median: SmoothedMedian, partitions: int) -> None:
    """Let a median pass for which the theorem of its noise holds.

    Privacy: the number of outputs is odd, and Laplace noise has 0 < delta <= 2/e (PROOFS.md 4, 6). The
    smoothness is one for which sensitivities are computed (3). The mechanism refuses the same, but after the
    charge.

    Raises:
        NotPrivate: One of these conditions does not hold.

    >>> median = SmoothedMedian(noise=MedianNoise.LAPLACE, each=Loss(Fraction(1), Fraction(1, 10**6)))
    >>> check_median(median, 17)
    >>> check_median(median, 18)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if partitions % 2 == 0:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "a median of an even number of outputs")
    epsilon, delta = median.each.epsilon, median.each.delta
    match median.noise:
        case MedianNoise.LAPLACE:
            if not smoothed_median.SMALLEST_DELTA <= delta <= smoothed_median.LARGEST_DELTA:
                raise NotPrivate(Rule.SAMPLE_AGGREGATE, "a delta that the theorem does not have")
            smoothness = Fraction(smoothed_median.beta(epsilon, delta))
        case MedianNoise.POLYPLACE:
            smoothness = polyplace.smoothness(epsilon)
        case _:
            assert_never(median.noise)
    if not smooth_sensitivity.SMALLEST_BETA <= smoothness <= smooth_sensitivity.LARGEST_BETA:
        raise NotPrivate(Rule.SAMPLE_AGGREGATE, "a smoothness that is not computed")


def price_of_selection(selection: Selection, shape: Shape) -> Price:
    """Price the choice of private groups that are shown.

    Privacy: `sensitivities.each_selected`; what follows is drawn for the groups that are shown (PROOFS.md 21
    G1). Each decision has a curve of chances: else the first group would raise, which says that there is one.

    Raises:
        NotPrivate: A group's decision spends more than its part, or has no curve.

    >>> from tests.kernel.examples import row_shape
    >>> whole = Loss(Fraction(1), Fraction(1, 10**6))
    >>> price_of_selection(Selection(loss=whole, each=whole), row_shape(changed=1)).epsilon
    Fraction(1, 1)
    >>> nothing = Loss(Fraction(0), Fraction(0))
    >>> price_of_selection(Selection(loss=whole, each=nothing), row_shape(changed=1))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    each = selection.each
    try:
        most = each_selected(shape, selection.loss)
        partition_selection.release_probability(1, each.epsilon, each.delta, selection.fewest)
    except ValueError:
        raise NotPrivate(Rule.SELECTION, "a decision that no curve makes") from None
    if not most.covers(each):
        raise NotPrivate(Rule.SELECTION, "a decision that spends more than its part")
    return pure_price(selection.loss)
