"""Each condition of a measurement refuses what breaks it alone, in its own words.

Without the condition the rule lets it through, or something else refuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.kernel import measurements, proposal_check
from proxy.kernel.bound_choices import BoundChoice, UnitTotal
from proxy.kernel.key_plans import Selection
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import (
    ClippedMean,
    ContinualNoise,
    Gate,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    RecentredMean,
    SampleAggregate,
    SmoothedMedian,
)
from proxy.kernel.price import laplace_price, pure_price
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.sensitivities import Sensitivity, StepSensitivity, of_step
from proxy.kernel.shape import Shape
from proxy.kernel.statistics import Measured, Statistic
from proxy.kernel.world import World
from proxy.mechanisms import deviation_mean as mean_of_deviations
from proxy.mechanisms import deviation_variance, order_statistic
from proxy.mechanisms.deviation_mean import NoisyCentres
from proxy.mechanisms.deviation_variance import SquareShares
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.smoothed_median import MOST_PARTITIONS
from proxy.planner.neighbours import choice_of
from proxy.policy.policy_model import Bounds, MedianNoise
from proxy.query.ir.expressions import ColumnRef, Constant, Is, Quotient
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Subquery
from tests.kernel.examples import (
    deviation_mean,
    distinct_count,
    kept_units,
    maximum,
    measured,
    of_table,
    quantile,
    row_shape,
    scan,
    series_shape,
    shape,
    value_choice,
    weight_choice,
)
from tests.pipeline_world import CATALOG, POLICIES

_ONE = Loss(Fraction(1), Fraction(0))
_TWO = Loss(Fraction(2), Fraction(0))
_WITH_DELTA = Loss(Fraction(1), Fraction(1, 10**6))
_NOTHING = Loss(Fraction(0), Fraction(0))
_MOVED = Sensitivity(l1=1, squared=Fraction(1))
_UNITS = shape(count=5, groups=None)
_CHOICE = choice_of(_ONE, 100)
_AGGREGATE = Aggregate(AggregateKind.AVG, measured(0, 10).operand, None, SqlType.INT4)


def _sum(loss: Loss, total: UnitTotal | None = None, operands: int = 1) -> NoisyStatistic:
    return NoisyStatistic(
        aggregate=_AGGREGATE,
        statistic=Statistic.STEPS,
        of=(measured(0, 10),) * operands,
        noise=LaplaceNoise(scale=Fraction(10**6)),
        loss=loss,
        total=total,
    )


def _total(
    choice: BoundChoice | None,
    *,
    low: int = 0,
    high: int = 100,
    parts: int = 1,
    loss: Loss = _TWO,
    shape: Shape = _UNITS,
) -> Callable[[], object]:
    total = UnitTotal(low=low, high=high, parts=parts, choice=choice)
    return lambda: measurements.price_of_total(_sum(loss, total), total, shape, False)


def _choice(choice: BoundChoice) -> Callable[[], object]:
    return lambda: measurements.price_of_choice(choice)


def _mean(loss: Loss) -> RecentredMean:
    many = replace(measured(0, 10), rows=100)
    return RecentredMean(aggregate=_AGGREGATE, measured=many, output_grid=Fraction(1), loss=loss)


def _centres(
    low: int,
    high: int,
    declared: int | None,
    *,
    is_single: bool = False,
    rows: int | None = 2,
    weights: tuple[int, ...] = (1,),
    sums: tuple[int, ...] = (0,),
    centres: tuple[int, ...] = (0,),
) -> Callable[[], object]:
    found = NoisyCentres(
        units=9,
        is_few=False,
        is_single=is_single,
        rows=rows,
        lost_rows=0,
        weights=weights,
        sums=sums,
        centres=centres,
    )
    release = replace(deviation_mean(low, high, Fraction(1)), declared=declared, centres=found)
    return lambda: measurements.check_centres(release, 1)


def _partitions(
    mechanism: SmoothedMedian | ClippedMean | None = None,
    *,
    gate: Loss = _ONE,
    grid: int = 1,
    partitions: int = 3,
    gate_scale: Fraction = Fraction(1),
    fill: int = 5,
    low: int = 0,
    high: int = 10,
    of: Measured = measured(0, 10),  # noqa: B008  it is frozen
) -> Callable[[], object]:
    release = SampleAggregate(
        aggregate=_AGGREGATE,
        measured=of,
        output_grid=Fraction(grid),
        low=low,
        high=high,
        fill=fill,
        partitions=partitions,
        mechanism=mechanism or ClippedMean(changed=1, loss=_ONE),
        gate=Gate(noise=LaplaceNoise(scale=gate_scale), least=1, loss=gate),
        loss=_TWO,
    )
    return lambda: measurements.price_of_sample_aggregate(release, row_shape(changed=1))


def _median(each: Loss) -> SmoothedMedian:
    return SmoothedMedian(noise=MedianNoise.POLYPLACE, each=each)


# The least and the largest epsilon of a median of which sensitivities are computed.
_JUST_SMOOTH = (Fraction(1, 2**29), Fraction(32))


def _as_smooth(epsilon: Fraction) -> Callable[[], object]:
    median = _median(Loss(epsilon, Fraction(0)))
    return lambda: measurements.check_median(median, 3)


def _of_noise(noise: Noise, loss: Loss) -> Callable[[], object]:
    return lambda: measurements.price_of_noise(noise, _MOVED, loss)


_GAUSSIAN = GaussianNoise(sigma2=Fraction(10**6))
_MAXIMUM = maximum(keeps_one_group=True)
_TENTH = Loss(Fraction(1, 10), Fraction(0))
_MANY = shape(count=5, groups=None, rows=101)
_STEPS = series_shape(most_steps=2)
_FARTHEST = 10 * mean_of_deviations.fineness(0, 10)
_NO_STEPS = replace(measured(0, 10), grid=Fraction(0))
# Each release has what it measures looked at.
_WITHOUT_STEPS: tuple[Callable[[], object], ...] = (
    lambda: measurements.price_of_kept_units(
        replace(kept_units(keeps_one_group=True), measured=_NO_STEPS), _UNITS
    ),
    lambda: measurements.price_of_unit_extreme(replace(_MAXIMUM, measured=_NO_STEPS), _UNITS),
    lambda: measurements.price_of_order_statistic(
        replace(quantile(rows=6, weights=False), measured=_NO_STEPS), _UNITS
    ),
    lambda: measurements.price_of_mean(replace(_mean(_ONE), measured=_NO_STEPS), _UNITS),
    lambda: measurements.price_of_deviation_mean(
        replace(deviation_mean(0, 10, Fraction(1)), measured=_NO_STEPS), _UNITS
    ),
    lambda: measurements.price_of_value_choice(
        replace(value_choice(Fraction(1)), measured=_NO_STEPS), row_shape(changed=1)
    ),
    _partitions(of=_NO_STEPS),
)


def _of_steps(*factor: int, shape: Shape = _STEPS) -> Callable[[], object]:
    noise, moved = (
        ContinualNoise(factor=factor, sigma2=Fraction(10**6)),
        StepSensitivity(each=1, is_of_rows=False),
    )
    return lambda: measurements.price_of_series(noise, shape, moved, _WITH_DELTA)


def _of_measured(**other: object) -> Callable[[], object]:
    one = replace(measured(0, 10), **other)  # type: ignore[arg-type]
    return lambda: measurements.check_measured([one], Rule.MEAN)


def _value_choice(changed: int) -> Callable[[], object]:
    return lambda: measurements.price_of_value_choice(
        value_choice(Fraction(1)), row_shape(changed=changed)
    )


def _weights_of(bounds: tuple[int, ...], shape: Shape = _UNITS) -> Callable[[], object]:
    chosen = replace(weight_choice(scale=Fraction(10)), bounds=bounds)
    return lambda: measurements.price_of_weight_choice(chosen, shape)


def _deviations(shape: Shape, **other: object) -> Callable[[], object]:
    release = replace(deviation_mean(0, 10, Fraction(1)), **other)  # type: ignore[arg-type]
    return lambda: measurements.price_of_deviation_mean(release, shape)


def _ordered(
    *,
    rows: int = 6,
    weights: bool = False,
    shape: Shape = _UNITS,
    size: Fraction = Fraction(1),
    needed: int | None = None,
    loss: Loss = _ONE,
    **of: object,
) -> Callable[[], object]:
    """A median, or another aggregate; size: how much of the noise of its size is there."""
    one = quantile(rows=rows, weights=weights)
    aggregate = replace(one.aggregate, **of)  # type: ignore[arg-type]
    noise = LaplaceNoise(scale=one.size.noise.scale * size)
    one = replace(one, aggregate=aggregate, needed=needed, loss=loss)
    one = replace(one, size=replace(one.size, noise=noise))
    return lambda: measurements.price_of_order_statistic(one, shape)


def _laplace_median(delta: Fraction) -> Callable[[], object]:
    median = SmoothedMedian(noise=MedianNoise.LAPLACE, each=Loss(Fraction(1), delta))
    return lambda: measurements.check_median(median, 3)


def _by_unit(column: ColumnRef) -> Shape:
    """Of rows by themselves, of which one unit is counted by this column."""
    rows = RowNeighbours(rows=3, hashed_by=(column,), not_null=None, partitions=1)
    return replace(row_shape(changed=3), neighbours=rows)


# So many values a maximum of 0 .. 10 looks at, of 6 rows of a unit.
_FROM_AN_END = order_statistic.values_needed(10, Fraction(9, 10), 6)
_LET_THROUGH: tuple[Callable[[], object], ...] = (
    _of_noise(_GAUSSIAN, _WITH_DELTA),
    lambda: measurements.price_of_sum(_sum(_ONE), _UNITS, False),
    _total(_CHOICE),
    _choice(_CHOICE),
    _choice(replace(_CHOICE, bounds=tuple(range(1, 1025)))),
    _weights_of(tuple(range(1, 1025))),
    _ordered(fraction=Fraction(1, 10**15)),
    lambda: measurements.price_of_mean(_mean(_ONE), _UNITS),
    _centres(0, 10, 2),
    _centres(0, 10, None, rows=None),
    _partitions(),
    _partitions(_median(_ONE)),
    _partitions(partitions=MOST_PARTITIONS),
    *map(_as_smooth, _JUST_SMOOTH),
    _of_steps(2, 1, 1),
    _of_measured(index=of_table("r1", "people", "i4"), index_steps=2**19),
    _value_choice(changed=1),
    _weights_of((1, 2)),
    _deviations(_UNITS, declared=1),
    _centres(0, 10, None, centres=(_FARTHEST,)),
    _centres(0, 10, 1, is_single=True, rows=1),
    _ordered(),
    _ordered(fraction=Fraction(0)),
    _ordered(fraction=Fraction(1)),
    _ordered(kind=AggregateKind.MAX, fraction=None),
    _ordered(weights=True, rows=1),
    _partitions(fill=0),
    _partitions(fill=10),
    _partitions(high=2**52),
    _partitions(low=-(2**52)),
    _ordered(kind=AggregateKind.MAX, fraction=None, needed=_FROM_AN_END),
    lambda: measurements.price_of_value_choice(
        replace(value_choice(Fraction(1)), bound=100), row_shape(changed=1)
    ),
    # One row is one unit, whatever it is counted by.
    lambda: measurements.price_of_distinct_count(
        distinct_count(of_unit=True), row_shape(changed=1)
    ),
    _laplace_median(Fraction(1, 2**1000)),
    _laplace_median(Fraction(73575, 100000)),
    lambda: measurements.price_of_distinct_count(
        distinct_count(of_unit=True), _by_unit(of_table("r1", "people", "i4"))
    ),
)
_REFUSED: tuple[tuple[str, Callable[[], object]], ...] = (
    (
        "a grid without steps",
        lambda: measurements.check_measured(
            [replace(measured(0, 10), grid=Fraction(0))], Rule.MEAN
        ),
    ),
    ("a scale below what the results move by", _of_noise(LaplaceNoise(scale=Fraction(0)), _ONE)),
    (
        "noise of a series on another release",
        _of_noise(ContinualNoise(factor=(1,), sigma2=Fraction(10**6)), _WITH_DELTA),
    ),
    (
        "a sigma squared below what the results move by",
        _of_noise(GaussianNoise(sigma2=Fraction(0)), _WITH_DELTA),
    ),
    ("Gaussian noise without delta", _of_noise(_GAUSSIAN, _ONE)),
    ("Gaussian noise without delta", _of_noise(_GAUSSIAN, Loss(Fraction(0), Fraction(1, 10)))),
    (
        "a sum of another number of operands",
        lambda: measurements.price_of_sum(_sum(_ONE, operands=2), _UNITS, False),
    ),
    ("a cut that is inside out, or in too many parts", _total(None, parts=0)),
    ("a cut that is inside out, or in too many parts", _total(None, low=1)),
    ("a cut that is inside out, or in too many parts", _total(None, high=-1)),
    ("a cut that is inside out, or in too many parts", _total(None, high=2, parts=2**255 + 1)),
    (
        "a sum of another number of operands",
        lambda: measurements.price_of_sum(
            replace(_sum(_ONE, operands=0), statistic=Statistic.ROWS), _UNITS, False
        ),
    ),
    ("a scale below what the results move by", _total(None, high=2, parts=2**255)),
    ("a bound that is none of those to choose from", _total(replace(_CHOICE, is_given=True))),
    ("a bound that is none of those to choose from", _total(_CHOICE, high=101)),
    ("nothing is left for noise", _total(_CHOICE, loss=_ONE)),
    ("bounds that do not rise", _choice(replace(_CHOICE, bounds=()))),
    ("bounds that do not rise", _choice(replace(_CHOICE, bounds=(1, 3, 2)))),
    ("bounds that do not rise", _choice(replace(_CHOICE, bounds=(1, 1, 2)))),
    ("a bound below 1, or too many bounds", _choice(replace(_CHOICE, bounds=(0, 1)))),
    (
        "a bound below 1, or too many bounds",
        _choice(replace(_CHOICE, bounds=tuple(range(1, 1026)))),
    ),
    (
        "a report with less noise than it pays for",
        _choice(replace(_CHOICE, report_scale=_CHOICE.report_scale / 2)),
    ),
    ("a walk that pays nothing", _choice(replace(_CHOICE, walk=_NOTHING))),
    (
        "nothing is walked",
        lambda: measurements.price_of_value_choice(
            replace(value_choice(Fraction(1)), choice=replace(_CHOICE, is_given=True)),
            row_shape(changed=1),
        ),
    ),
    (
        "a bound that is none of those to choose from",
        lambda: measurements.price_of_value_choice(
            replace(value_choice(Fraction(1)), bound=101), row_shape(changed=1)
        ),
    ),
    (
        "drawn for fewer rows than count",
        lambda: measurements.price_of_mean(_mean(_NOTHING), _UNITS),
    ),
    (
        "no loss, or no rows that count",
        lambda: measurements.price_of_deviation_mean(deviation_mean(0, 10, Fraction(0)), _UNITS),
    ),
    ("centres of a constant", _centres(10, 10, None)),
    ("a bound below 1", _centres(0, 10, None, rows=0)),
    ("another bound than the policy's", _centres(0, 10, 3)),
    ("single rows of a unit with several", _centres(0, 10, 2, is_single=True)),
    ("nothing is left for the answer", _partitions(gate=_TWO)),
    ("a grid without steps", _partitions(grid=0)),
    ("no partitions, or too many", _partitions(partitions=0)),
    ("no partitions, or too many", _partitions(partitions=MOST_PARTITIONS + 1)),
    (
        "a mean of fewer outputs than change",
        _partitions(ClippedMean(changed=1, loss=_TWO)),
    ),
    (
        "a mean of fewer outputs than change",
        _partitions(ClippedMean(changed=1, loss=_NOTHING)),
    ),
    ("a median of fewer outputs than change", _partitions(_median(_NOTHING))),
    ("a smoothness that is not computed", _as_smooth(_JUST_SMOOTH[0] / 2)),
    ("a smoothness that is not computed", _as_smooth(_JUST_SMOOTH[1] + 1)),
    (
        "a clamp that does not end on steps of its grid",
        _of_measured(clamp=Bounds(Fraction(0), Fraction(19, 2))),
    ),
    (
        "a sigma squared below what the results move by",
        _of_noise(GaussianNoise(sigma2=Fraction(1, 100)), _WITH_DELTA),
    ),
    ("rows by themselves have no total", _total(None, shape=row_shape(changed=1))),
    ("several rows change, each of which is counted", _value_choice(changed=2)),
    ("rows by themselves are in several cells", _weights_of((1, 2), row_shape(changed=1))),
    ("bounds that do not rise from 1", _weights_of((2, 3))),
    ("bounds that do not rise from 1", _weights_of((1, 3, 2))),
    ("bounds that do not rise from 1", _weights_of((0, 1))),
    ("too many bounds", _weights_of(tuple(range(1, 1026)))),
    ("drawn for fewer rows than count", lambda: measurements.price_of_mean(_mean(_ONE), _MANY)),
    ("rows by themselves have no deviations of units", _deviations(row_shape(changed=1))),
    ("groups that are not public", _deviations(shape(count=None, groups=2))),
    ("no loss, or no rows that count", _deviations(_UNITS, declared=0)),
    ("squares that pay nothing", _deviations(_UNITS, square_share=Fraction(-2, 5))),
    ("centres of other groups", _centres(0, 10, None, centres=())),
    ("centres of other groups", _centres(0, 10, None, weights=(1, 1))),
    ("centres of other groups", _centres(0, 10, None, sums=(0, 0))),
    ("a centre outside of the range", _centres(0, 10, None, centres=(_FARTHEST + 1,))),
    ("a centre outside of the range", _centres(0, 10, None, centres=(-_FARTHEST - 1,))),
    ("drawn for fewer rows than change", _ordered(rows=5)),
    ("a size with less noise than it pays for", _ordered(size=Fraction(1, 2))),
    ("nothing is left for the answer", _ordered(loss=_TENTH)),
    ("fewer values than its caps look at", _ordered(needed=1)),
    (
        "fewer values than its caps look at",
        _ordered(kind=AggregateKind.MAX, fraction=None, needed=_FROM_AN_END - 1),
    ),
    ("an aggregate that has no rank", _ordered(kind=AggregateKind.AVG)),
    ("an aggregate that has no rank", _ordered(kind=AggregateKind.AVG, fraction=None)),
    ("an aggregate that has no rank", _ordered(kind=AggregateKind.MAX)),
    ("an aggregate that has no rank", _ordered(fraction=None)),
    ("an aggregate that has no rank", _ordered(fraction=Fraction(-1, 9))),
    ("an aggregate that has no rank", _ordered(fraction=Fraction(10, 9))),
    ("a rank of too many digits", _ordered(fraction=Fraction(1, 10**15 + 1))),
    ("weights of rows by themselves", _ordered(weights=True, shape=row_shape(changed=1))),
    (
        "weights in groups that are not public",
        _ordered(weights=True, shape=shape(count=None, groups=2)),
    ),
    ("weights of no rows, or of what is no quantile", _ordered(weights=True, rows=0)),
    (
        "weights of no rows, or of what is no quantile",
        _ordered(weights=True, kind=AggregateKind.MAX, fraction=None),
    ),
    (
        "drawn for fewer values of a unit than change",
        lambda: measurements.price_of_unit_extreme(
            replace(_MAXIMUM, keeps_one_group=False), _UNITS
        ),
    ),
    ("a gate with less noise than it pays for", _partitions(gate_scale=Fraction(9, 10))),
    ("a fill that is outside", _partitions(fill=-1)),
    ("a fill that is outside", _partitions(fill=11)),
    ("outputs that floats do not hold", _partitions(high=2**52 + 1)),
    ("outputs that floats do not hold", _partitions(low=-(2**52) - 1)),
    ("a mean of fewer outputs than change", _partitions(ClippedMean(changed=0, loss=_ONE))),
    (
        "a median of fewer outputs than change",
        _partitions(_median(Loss(Fraction(101, 100), Fraction(0)))),
    ),
    ("a median of an even number of outputs", _partitions(_median(_ONE), partitions=4)),
    ("a delta that the theorem does not have", _laplace_median(Fraction(0))),
    ("a delta that the theorem does not have", _laplace_median(Fraction(3, 4))),
    (
        "a decision that spends more than its part",
        lambda: measurements.price_of_selection(
            Selection(loss=_WITH_DELTA, each=_WITH_DELTA), shape(count=None, groups=2)
        ),
    ),
    ("a unit in any number of steps", _of_steps(2, 1, 1, shape=shape(count=3, groups=None))),
    (
        "a series of what is no count or sum of bounded rows",
        lambda: of_step(distinct_count(of_unit=False), series_shape(most_steps=2)),
    ),
    ("a factor that rises, or of other steps", _of_steps(1, 2, 2)),
    ("a factor that rises, or of other steps", _of_steps(2, 1)),
    (
        "other values are counted than units",
        lambda: measurements.price_of_distinct_count(
            distinct_count(of_unit=True), _by_unit(of_table("r1", "people", "id"))
        ),
    ),
    *(("a grid without steps", one) for one in _WITHOUT_STEPS),
    (
        "an aggregate that is no extreme",
        lambda: measurements.price_of_unit_extreme(
            replace(_MAXIMUM, aggregate=replace(_AGGREGATE, fraction=Fraction(1, 2))), _UNITS
        ),
    ),
    (
        "nothing is left for the answer",
        lambda: measurements.price_of_unit_extreme(replace(_MAXIMUM, loss=_NOTHING), _UNITS),
    ),
    (
        "a decision that no curve makes",
        lambda: measurements.price_of_selection(
            Selection(loss=_ONE, each=_ONE), shape(count=None, groups=1)
        ),
    ),
)


@pytest.mark.parametrize("number", range(len(_LET_THROUGH)))
def test_as_they_are_they_pass(number: int) -> None:
    _LET_THROUGH[number]()


@pytest.mark.parametrize(
    ("where", "priced"), _REFUSED, ids=[f"{n} {one}" for n, (one, _) in enumerate(_REFUSED)]
)
def test_one_condition_refuses(where: str, priced: Callable[[], object]) -> None:
    with pytest.raises(NotPrivate) as refused:
        priced()
    assert refused.value.where == where


def test_shares_that_are_more_than_their_loss_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = mean_of_deviations.shares

    def more(epsilon: Fraction, **given: bool) -> object:
        return real(epsilon * 2, **given)

    monkeypatch.setattr(mean_of_deviations, "shares", more)
    with pytest.raises(NotPrivate) as refused:
        measurements.price_of_deviation_mean(deviation_mean(0, 10, Fraction(1)), _UNITS)
    assert refused.value.where == "shares above the loss"


@pytest.mark.parametrize("name", ["cells", "squares"])
def test_squares_of_which_one_part_pays_nothing_are_seen(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {"cells": Fraction(1, 10), "squares": Fraction(1, 10), name: Fraction(0)}
    monkeypatch.setattr(deviation_variance, "shares", lambda _: SquareShares(**parts))
    with pytest.raises(NotPrivate) as refused:
        _deviations(_UNITS, square_share=Fraction(2, 5))()
    assert refused.value.where == "squares that pay nothing"


def test_gaussian_noise_for_an_open_bound_has_the_rho_of_its_loss() -> None:
    """The noise is more than the loss buys, which says how far a unit moves the result."""
    is_open, is_bounded = (
        measurements.price_of_noise(_GAUSSIAN, _MOVED, _WITH_DELTA, is_open=is_open)
        for is_open in (True, False)
    )
    assert is_open.rho > is_bounded.rho
    assert is_open.loss == is_bounded.loss == _WITH_DELTA


_WORLD = World(POLICIES["best"], CATALOG)
_UID = of_table("r1", "orders", "uid")
_I4, _TEXT = of_table("r1", "orders", "i4"), of_table("r1", "orders", "t")


def _bound(what: Proposed = Proposed.ROWS, **other: object) -> ProposedBound:
    return replace(ProposedBound(what=what, choice=_CHOICE, times=1), **other)  # type: ignore[arg-type]


def _proposed(bound: ProposedBound, **other: object) -> TableProposals:
    """A bound of the orders, whose rows are gathered by the person."""
    found = TableProposals(
        table=scan("r1", "orders").table,
        relation=scan("r1", "orders"),
        unit=_UID,
        not_null=_UID,
        keys=(_TEXT,),
        bounds=(bound,),
    )
    return replace(found, **other)  # type: ignore[arg-type]


def _of_rows(bound: ProposedBound, **other: object) -> TableProposals:
    """A bound of the trips, of which three are a unit."""
    none: dict[str, object] = {"unit": None, "not_null": None, "keys": ()}
    return _proposed(
        bound, table=scan("r1", "trips").table, relation=scan("r1", "trips"), **{**none, **other}
    )


_OF_TRIPS = _bound(Proposed.HIGH, column=of_table("r1", "trips", "i4"), times=3)
_PROPOSED_ANYHOW = (
    _proposed(_bound()),
    _proposed(_bound(Proposed.GROUPS)),
    _proposed(_bound(Proposed.HIGH, column=_I4)),
    _proposed(_bound(Proposed.HIGH, column=of_table("r1", "orders", "d"))),
    _of_rows(_OF_TRIPS),
    _proposed(
        _bound(Proposed.HIGH, column=of_table("r1", "members", "i4")),
        table=scan("r1", "members").table,
        relation=scan("r1", "members"),
        unit=None,
        not_null=of_table("r1", "members", "uid"),
    ),
)
_BY_0 = Quotient(
    Constant(Fraction(1), SqlType.INT4), Constant(Fraction(0), SqlType.INT4), False, SqlType.NUMERIC
)
_RAISING = Subquery(
    "r1",
    scan("r2", "orders"),
    Is(_BY_0, None),
    tuple((name, of_table("r2", "orders", name)) for name in ("uid", "t")),
)
_NEVER_PROPOSED: tuple[tuple[str, TableProposals], ...] = (
    ("rows of nobody", _proposed(_bound(), not_null=None)),
    ("rows of nobody", _proposed(_bound(), not_null=_I4)),
    (
        "rows that are not gathered by their unit",
        _proposed(_bound(Proposed.HIGH, column=_I4), unit=None),
    ),
    ("gathered by a column that does not hold the unit", _proposed(_bound(), unit=_I4)),
    (
        "rows by themselves that are gathered",
        _of_rows(_OF_TRIPS, unit=of_table("r1", "trips", "i4")),
    ),
    ("more rows change", _of_rows(replace(_OF_TRIPS, times=2))),
    ("more rows change", _proposed(_bound(times=0))),
    ("a bound that is given", _proposed(_bound(choice=replace(_CHOICE, is_given=True)))),
    ("a walk that may fail", _proposed(_bound(choice=replace(_CHOICE, walk=_WITH_DELTA)))),
    ("a grid without steps", _proposed(_bound(step=Fraction(0)))),
    ("a bound on the values of no column", _proposed(_bound(Proposed.LOW))),
    (
        "a bound on values that have no order",
        _proposed(_bound(Proposed.LOW, column=_TEXT)),
    ),
    ("rows that are not gathered by their unit", _of_rows(_bound(times=3))),
    (
        "rows that are not gathered by their unit",
        _of_rows(_bound(Proposed.GROUPS, times=3), keys=(of_table("r1", "trips", "t"),)),
    ),
    (
        "rows that are not gathered by their unit",
        _proposed(_bound(Proposed.GROUPS), keys=()),
    ),
    (
        "a report with less noise than it pays for",
        _proposed(_bound(choice=replace(_CHOICE, report_scale=_CHOICE.report_scale / 2))),
    ),
    ("a column of another type", _proposed(_bound(), unit=replace(_UID, type=SqlType.TEXT))),
    ("a column of another type", _proposed(_bound(), not_null=replace(_UID, type=SqlType.TEXT))),
    ("a column of another type", _proposed(_bound(), keys=(replace(_I4, type=SqlType.TEXT),))),
    (
        "a column of another type",
        _proposed(_bound(Proposed.HIGH, column=replace(_I4, type=SqlType.TEXT))),
    ),
    (
        "a text of a value of an unknown type, or of any length",
        _proposed(_bound(), keys=(of_table("r1", "orders", "j"),)),
    ),
    ("a part of another type", _proposed(_bound(most=0.5))),
    ("a divisor that may be 0", _proposed(_bound(), relation=_RAISING)),
)


@pytest.mark.parametrize("number", range(len(_PROPOSED_ANYHOW)))
def test_proposals_pass(number: int) -> None:
    proposal_check.check_proposals([_PROPOSED_ANYHOW[number]], _WORLD)


@pytest.mark.parametrize(
    ("where", "proposed"),
    _NEVER_PROPOSED,
    ids=[f"{n} {one}" for n, (one, _) in enumerate(_NEVER_PROPOSED)],
)
def test_one_condition_refuses_proposals(where: str, proposed: TableProposals) -> None:
    with pytest.raises(NotPrivate) as refused:
        proposal_check.check_proposals([proposed], _WORLD)
    assert refused.value.where == where


def test_rows_that_are_protected_together_pay_for_each() -> None:
    plan = proposal_check.check_proposals([_of_rows(_OF_TRIPS)], _WORLD)
    walk, report = _CHOICE.walk.epsilon * 3, Loss(_CHOICE.report.epsilon * 3, Fraction(0))
    wanted = pure_price(Loss(walk, Fraction(0))) + laplace_price(report, 6, _CHOICE.report_scale)
    assert plan.price == wanted
    assert plan.loss.epsilon == 3


def test_a_table_is_proposed_for_once() -> None:
    one = _PROPOSED_ANYHOW[0]
    with pytest.raises(NotPrivate) as refused:
        proposal_check.check_proposals([one, one], _WORLD)
    assert refused.value.where == "a table that is charged once and read twice"


def test_rows_of_nobody_have_no_price() -> None:
    """`check_scans` lets no such table through before."""
    public = replace(_of_rows(_OF_TRIPS), relation=scan("r1", "rates"))
    with pytest.raises(NotPrivate) as refused:
        proposal_check.price_of_table(public, _WORLD)
    assert refused.value.where == "rows of nobody"
