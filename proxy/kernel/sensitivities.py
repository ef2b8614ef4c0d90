"""How far neighbours move what gets noise, the noise that hides it, and what each group may spend.

The planner takes all of it from here, and the kernel compares with it: nothing else computes either. Means and
order statistics draw by themselves: they are told how many rows of a unit count (`measurements`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from typing_extensions import assert_never

from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    ContinualNoise,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    NoisyStatistic,
)
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.shape import Shape
from proxy.kernel.statistics import Counted, Measured, Statistic, row_sensitivity
from proxy.mechanisms import (
    continual,
    discrete_gaussian,
    discrete_laplace,
    partition_selection,
    split,
    zcdp,
)
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import PARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """l1: by so many steps in all, over all groups; squared: the squared length of that."""

    l1: int
    squared: Fraction


def of_sum(shape: Shape, statistic: Statistic, of: Counted | tuple[Measured, ...]) -> Sensitivity:
    """Of a linear sum.

    Privacy: `shape.rows` rows of a unit count, each of which moves the sum by what `row_sensitivity` says
    (PROOFS.md 10, 18 U1 to U5).

    >>> from tests.kernel.examples import measured, shape
    >>> of_sum(shape(count=5, groups=2, rows=6, rows_per_group=2), Statistic.STEPS, (measured(-3, 10),))
    Sensitivity(l1=40, squared=Fraction(800, 1))
    """
    each = row_sensitivity(statistic, () if isinstance(of, Counted) else of)
    return Sensitivity(l1=shape.rows * each, squared=shape.squared * each**2)


def of_total(total: UnitTotal) -> Sensitivity:
    """Of a sum of which what a unit adds is cut.

    Privacy: a unit adds the larger of -low and high at most, in so many parts of a step, over all groups
    (PROOFS.md 23 B3). All of it may be in one group.

    >>> of_total(UnitTotal(low=-5, high=3, parts=2, choice=None)).l1
    10
    """
    return _in_one_group(total.most * total.parts)


def of_distinct(shape: Shape, *, of_unit: bool) -> Sensitivity:
    """Of a count of distinct values, or of units.

    Privacy: a gathered unit counts once in each of its groups, so all together move by `shape.groups`
    (PROOFS.md 18 U6). Of other values the first `rows` of a unit count, over all groups, whatever a group may
    hold; rows that change have one value each. If all of them have one value of the unit's column, that is one
    more in each group at most (35 P5).

    >>> from tests.kernel.examples import shape
    >>> [of_distinct(shape(count=5, groups=2, rows=6), of_unit=one).l1 for one in (True, False)]
    [2, 6]
    """
    unit = shape.neighbours
    if of_unit and isinstance(unit, RowNeighbours) and unit.partitions == 1:
        moved = unit.partitions_of(shape.groups)
        return Sensitivity(l1=moved, squared=Fraction(moved))
    if of_unit and isinstance(shape.neighbours, UnitNeighbours):
        return Sensitivity(l1=shape.groups, squared=Fraction(shape.groups))
    return _in_one_group(shape.neighbours.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSensitivity:
    """How far a unit moves the steps of a series: each by so much at most; is_of_rows: by so much for each row,
    of which `Shape.rows` count over all steps that are read at once."""

    each: int
    is_of_rows: bool


def of_step(release: NoisyStatistic | DistinctCount, shape: Shape) -> StepSensitivity:
    """How far a unit moves one step of a series.

    Privacy: of a unit's rows in one group `rows` count, and `rows_per_group` (PROOFS.md 18 U1, U4), each of
    which moves the sum by what `row_sensitivity` says; a unit is one unit. Rows that change may all be in one
    step.

    Raises:
        NotPrivate: It is of no number of rows that is bounded, or of different values.

    >>> from tests.kernel.examples import counted, distinct_count, shape
    >>> count = counted(noise=Fraction(1))
    >>> [of_step(count, shape(count=3, groups=2, rows_per_group=most)).each for most in (None, 2)]
    [6, 2]
    >>> of_step(distinct_count(of_unit=False), shape(count=3, groups=2))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    match release:
        case NoisyStatistic(total=None, of=Counted()):
            each = rows_of_step(shape) * row_sensitivity(release.statistic, ())
            return StepSensitivity(each=each, is_of_rows=True)
        case NoisyStatistic(total=None, of=tuple() as of):
            each = rows_of_step(shape) * row_sensitivity(release.statistic, of)
            return StepSensitivity(each=each, is_of_rows=True)
        case DistinctCount(of_unit=True):
            each = 1 if isinstance(shape.neighbours, UnitNeighbours) else rows_of_step(shape)
            return StepSensitivity(each=each, is_of_rows=False)
        case _:
            raise NotPrivate(Rule.CONTINUAL, "a series of what is no count or sum of bounded rows")


def rows_of_step(shape: Shape) -> int:
    """Bound the rows of a unit that count in one step.

    Privacy: as for `Shape.rows`: SQL keeps so many of a group, or has their number over all groups below `rows`
    (PROOFS.md 18 U2, U4). `rows` alone stands in no SQL.

    Raises:
        NotPrivate: SQL keeps to neither.

    >>> from dataclasses import replace
    >>> from tests.kernel.examples import shape
    >>> units = shape(count=3, groups=2, rows=6)
    >>> rows_of_step(units)
    6
    >>> rows_of_step(replace(units, neighbours=replace(units.neighbours, is_summed=False)))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    unit = shape.neighbours
    if not isinstance(unit, UnitNeighbours):
        return unit.rows
    if unit.rows_per_group is not None:
        return min(unit.rows, unit.rows_per_group)
    if not unit.is_summed:
        raise NotPrivate(Rule.GROUPS, "rows of a unit without a bound")
    return unit.rows


def steps_of(shape: Shape, moved: StepSensitivity, *, is_at_once: bool) -> int:
    """Bound the steps that a unit moves by all that it may move one.

    Privacy: a unit is in `groups` steps at most, which SQL sees to (`check_series`); rows that change are a sum
    of vectors of one step each (PROOFS.md 33 C2). Of steps that are read at once its rows are `Shape.rows` over
    all of them: it moves none further than one that fills so many steps and leaves the others out (C6).

    >>> from tests.kernel.examples import shape
    >>> units = shape(count=9, groups=5, rows=6, rows_per_group=2)
    >>> moved = StepSensitivity(each=2, is_of_rows=True)
    >>> steps_of(units, moved, is_at_once=False), steps_of(units, moved, is_at_once=True)
    (5, 3)
    """
    unit = shape.neighbours
    steps = unit.groups if isinstance(unit, UnitNeighbours) else 1
    if steps is None:
        raise NotPrivate(Rule.CONTINUAL, "a unit in any number of steps")
    if is_at_once and moved.is_of_rows:
        return -(-shape.rows // rows_of_step(shape))
    return steps


def of_series(
    shape: Shape, factor: Sequence[int], moved: StepSensitivity, *, is_at_once: bool
) -> Fraction:
    """How far a unit moves R x, squared.

    Privacy: it moves `steps_of` steps, each by what `of_step` says: the first ones are the worst (PROOFS.md 33
    C2).

    >>> from tests.kernel.examples import series_shape
    >>> moved = StepSensitivity(each=3, is_of_rows=True)
    >>> [str(of_series(series_shape(most), (1, 0, 0), moved, is_at_once=False)) for most in (1, 2)]
    ['9', '18']
    """
    steps = steps_of(shape, moved, is_at_once=is_at_once)
    return Fraction(continual.squared_sensitivity(factor, steps, moved.each))


def of_kept_units(shape: Shape, *, keeps_one_group: bool) -> Sensitivity:
    """Of the number of units of which MIN and MAX are.

    Privacy: a unit counts once in each group in which it has a value (PROOFS.md 18 U8).

    >>> from tests.kernel.examples import shape
    >>> [of_kept_units(shape(count=5, groups=2), keeps_one_group=one).l1 for one in (True, False)]
    [1, 5]
    """
    return _in_one_group(shape.values(keeps_one_group))


def of_gate(shape: Shape) -> Sensitivity:
    """Of the numbers of units in each group, or of rows (PROOFS.md 4 "Gate").

    >>> from tests.kernel.examples import row_shape, shape
    >>> of_gate(shape(count=5, groups=2)).l1, of_gate(row_shape(changed=3)).l1
    (2, 3)
    """
    match shape.neighbours:
        case UnitNeighbours():
            return _in_one_group(shape.groups)
        case RowNeighbours():
            return _in_one_group(shape.neighbours.rows)
        case _:
            assert_never(shape.neighbours)


def outputs_changed(shape: Shape) -> int:
    """So many outputs of partitions change: one in each group of a unit, or those of the rows that change.

    Privacy: a unit is in one partition of each of its groups (PROOFS.md 18 U6); of rows that change as many are
        as `RowNeighbours.partitions_of` says (17 "Medians").

    >>> from tests.kernel.examples import row_shape, shape
    >>> outputs_changed(shape(count=5, groups=2)), outputs_changed(row_shape(changed=3))
    (2, 3)
    """
    match shape.neighbours:
        case UnitNeighbours():
            return shape.groups
        case RowNeighbours():
            return shape.neighbours.partitions_of(shape.groups)
        case _:
            assert_never(shape.neighbours)


def of_size(rows: int, *, is_weighted: bool) -> Sensitivity:
    """Of the sizes of all groups of an order statistic, of so many rows of a unit.

    Privacy: each row moves one size by 1 (PROOFS.md 9). Rows of a unit that have weights weigh 1 together, in
    parts (29 W3).

    >>> of_size(3, is_weighted=False).l1, of_size(3, is_weighted=True).l1 == PARTS
    (3, True)
    """
    return _in_one_group(PARTS if is_weighted else rows)


# A unit is in one cell of a histogram, which it moves by 1 (PROOFS.md 29 W2). Of a report it moves two counts
# by 1 each (23 B5).
OF_CELLS = Sensitivity(l1=1, squared=Fraction(1))
OF_REPORT = Sensitivity(l1=2, squared=Fraction(2))


def each_selected(shape: Shape, loss: Loss) -> Loss:
    """What the decision about each private group may spend.

    Privacy: each group of a unit is decided by itself, of at most `shape.groups` of them, or of so many
    rows one after the other (PROOFS.md 7 "Groups of a unit", 16).

    >>> from tests.kernel.examples import shape
    >>> each_selected(shape(count=None, groups=2), Loss(Fraction(1), Fraction(1, 10))).epsilon
    Fraction(1, 2)
    """
    match shape.neighbours:
        case RowNeighbours():
            return split.per_unit(loss, shape.neighbours.rows)
        case UnitNeighbours():
            return partition_selection.per_group(loss, shape.groups)
        case _:
            assert_never(shape.neighbours)


def each_median(shape: Shape, loss: Loss) -> Loss:
    """What the median of each group may spend.

    Privacy: so many medians change with a unit, or with rows, and what these spend adds up (PROOFS.md 4
        "Theorem", 16).

    >>> from tests.kernel.examples import row_shape, shape
    >>> whole = Loss(Fraction(1), Fraction(0))
    >>> [str(each_median(one, whole).epsilon) for one in (shape(count=5, groups=2), row_shape(changed=3))]
    ['1/2', '1/3']
    """
    is_of_units = isinstance(shape.neighbours, UnitNeighbours)
    return (split.per_group if is_of_units else split.per_unit)(loss, outputs_changed(shape))


def sensitivity_of(
    release: NoisyStatistic | DistinctCount | KeptUnits, shape: Shape
) -> Sensitivity:
    """Of a release that is a number with noise."""
    match release:
        case NoisyStatistic(total=None):
            return of_sum(shape, release.statistic, release.of)
        case NoisyStatistic(total=UnitTotal() as total):
            return of_total(total)
        case DistinctCount():
            return of_distinct(shape, of_unit=release.of_unit)
        case KeptUnits():
            return of_kept_units(shape, keeps_one_group=release.keeps_one_group)
        case _:
            raise AssertionError("a number with noise")


def laplace(sensitivity: Sensitivity, epsilon: Fraction) -> LaplaceNoise:
    """Discrete Laplace noise that hides it (PROOFS.md 1).

    >>> [str(laplace(Sensitivity(l1=one, squared=Fraction(1)), Fraction(1, 2)).scale) for one in (1, 2)]
    ['2', '4']
    """
    return LaplaceNoise(scale=discrete_laplace.scale_for(sensitivity.l1, epsilon))


def gaussian(sensitivity: Sensitivity, loss: Loss) -> GaussianNoise:
    """Discrete Gaussian noise that hides it (PROOFS.md 5).

    >>> loss = Loss(Fraction(1), Fraction(1, 10))
    >>> once, twice = (gaussian(Sensitivity(l1=1, squared=Fraction(one)), loss).sigma2 for one in (1, 2))
    >>> twice / once
    Fraction(2, 1)
    """
    rho = zcdp.rho_of_loss(loss.epsilon, loss.delta)
    return GaussianNoise(sigma2=discrete_gaussian.sigma2_for(sensitivity.squared, rho))


def series(
    moved: Fraction, factor: tuple[int, ...], loss: Loss, *, is_at_once: bool
) -> ContinualNoise:
    """The noise of a series that hides it (PROOFS.md 33).

    >>> loss = Loss(Fraction(1), Fraction(1, 10))
    >>> once, twice = (series(Fraction(one), (1, 0), loss, is_at_once=False).sigma2 for one in (1, 2))
    >>> twice / once
    Fraction(2, 1)
    """
    rho = zcdp.rho_of_loss(loss.epsilon, loss.delta)
    sigma2 = discrete_gaussian.sigma2_for(moved, rho)
    return ContinualNoise(factor=factor, sigma2=sigma2, is_at_once=is_at_once)


def _in_one_group(moved: int) -> Sensitivity:
    return Sensitivity(l1=moved, squared=Fraction(moved**2))
