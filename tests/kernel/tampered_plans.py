"""Plans broken on purpose: each kind alters a plan in one place, or gives None where it has none such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar, cast

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.bound_choices import UnitTotal, WeightChoice
from proxy.kernel.fewest_units import counted_by
from proxy.kernel.fixed_columns import fixed_columns, most_groups
from proxy.kernel.join_rules import on_one_unit
from proxy.kernel.key_plans import FewestUnits
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.owners import OfUnit, Owner, Public, Rows, name
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
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
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.kernel.world import World
from proxy.mechanisms.deviation_mean import NoisyCentres, fineness
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import PARTS, WeightedRows
from proxy.policy.policy_model import Bounds, MedianNoise, PublicTable
from proxy.query.ir.expressions import ColumnRef, Connective, Expression, InPublic, Not
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
    WindowFunction,
    scans,
)

Tampering = Callable[["Tampered"], BlockPlan | None]
KINDS: dict[str, Tampering] = {}
_ZERO = Fraction(0)

N = TypeVar("N", bound=Relation)
R = TypeVar("R", bound=Release)


def kind(tampering: Tampering) -> Tampering:
    KINDS[tampering.__name__] = tampering
    return tampering


@dataclass(frozen=True, slots=True, kw_only=True)
class Tampered:
    """A plan, and what changes of it are made with. A change gives None where it does not apply."""

    block: BlockPlan
    world: World

    def owner(self, relation: Relation) -> Owner:
        return relation_of(relation, self.world).owner

    def release(self, of: type[R], change: Callable[[R], R | None]) -> BlockPlan | None:
        """The first release of a kind changed."""
        block = self.block
        for number, release in enumerate(block.releases):
            changed = change(release) if isinstance(release, of) else None
            if changed is not None:
                releases = (*block.releases[:number], changed, *block.releases[number + 1 :])
                return replace(block, releases=releases)
        return None

    def noise(self, change: Callable[[Any], Any]) -> BlockPlan | None:
        """The first release with additive noise changed."""
        found = self.release(NoisyStatistic, change)
        return self.release(DistinctCount, change) if found is None else found

    def sum(self, change: Callable[[Measured], Measured]) -> BlockPlan | None:
        """The operands of the first sum over rows changed."""

        def changed(release: NoisyStatistic) -> NoisyStatistic | None:
            is_of_rows = release.statistic is Statistic.ROWS or release.total is not None
            if isinstance(release.of, Counted) or is_of_rows:
                return None
            return replace(release, of=tuple(map(change, release.of)))

        return self.release(NoisyStatistic, changed)

    def total(self, change: Callable[[UnitTotal], UnitTotal]) -> BlockPlan | None:
        def changed(release: NoisyStatistic) -> NoisyStatistic | None:
            return None if release.total is None else replace(release, total=change(release.total))

        return self.release(NoisyStatistic, changed)

    @property
    def has_sums_of_rows(self) -> bool:
        return any(isinstance(r, NoisyStatistic) and not r.total for r in self.block.releases)

    @property
    def has_answers_of_units(self) -> bool:
        return any(
            isinstance(release, SampleAggregate)
            or (isinstance(release, DistinctCount) and release.of_unit)
            for release in self.block.releases
        )

    def units(self, change: Callable[[UnitNeighbours], UnitNeighbours | None]) -> BlockPlan | None:
        if not isinstance(self.block.neighbours, UnitNeighbours):
            return None
        changed = change(self.block.neighbours)
        return None if changed is None else replace(self.block, neighbours=changed)

    def rows(self, change: Callable[[RowNeighbours], RowNeighbours | None]) -> BlockPlan | None:
        if not isinstance(self.block.neighbours, RowNeighbours):
            return None
        changed = change(self.block.neighbours)
        return None if changed is None else replace(self.block, neighbours=changed)

    def below(self, of: type[N], change: Callable[[N], Relation | None]) -> BlockPlan | None:
        """The first node of a kind changed for which the change gives something."""
        source = _somewhere(self.block.source, of, change)
        return None if source is None else replace(self.block, source=source)


def _somewhere(
    relation: Relation, of: type[N], change: Callable[[N], Relation | None]
) -> Relation | None:
    if isinstance(relation, of):
        found = change(relation)
        if found is not None:
            return found
    match relation:
        case Join():
            left = _somewhere(relation.left, of, change)
            if left is not None:
                return replace(relation, left=left)
            right = _somewhere(relation.right, of, change)
            return None if right is None else replace(relation, right=right)
        case Subquery() | GroupByUnit() | Truncate():
            source = _somewhere(relation.source, of, change)
            return None if source is None else replace(relation, source=cast(Any, source))
        case UnionAll():
            for number, part in enumerate(relation.parts):
                found = _somewhere(part, of, change)
                if isinstance(found, Subquery):
                    parts = (*relation.parts[:number], found, *relation.parts[number + 1 :])
                    return replace(relation, parts=parts)
    return None


def _quieter(noise: Noise) -> Noise:
    if isinstance(noise, LaplaceNoise):
        return replace(noise, scale=noise.scale / 2)
    return replace(noise, sigma2=noise.sigma2 / 2)


def _column(like: ColumnRef, column: str, kind_: SqlType) -> ColumnRef:
    return replace(like, column=column, type=kind_)


# Noise and what is paid for it.


@kind
def noise_halved(of: Tampered) -> BlockPlan | None:
    return of.noise(lambda release: replace(release, noise=_quieter(release.noise)))


@kind
def loss_halved(of: Tampered) -> BlockPlan | None:
    return of.noise(lambda r: replace(r, loss=Loss(r.loss.epsilon / 2, r.loss.delta)))


@kind
def delta_of_gaussian_noise_tiny(of: Tampered) -> BlockPlan | None:
    def change(release: NoisyStatistic) -> NoisyStatistic | None:
        if not isinstance(release.noise, GaussianNoise):
            return None
        return replace(release, loss=Loss(release.loss.epsilon, release.loss.delta / 10**6))

    return of.release(NoisyStatistic, change)


@kind
def wider_clamp_of_a_sum(of: Tampered) -> BlockPlan | None:
    def wider(one: Measured) -> Measured:
        low, high = one.clamp.low * 3 - one.grid, one.clamp.high * 3 + one.grid
        return replace(one, clamp=Bounds(low, high, one.clamp.kind))

    return of.sum(wider)


@kind
def clamp_off_the_grid(of: Tampered) -> BlockPlan | None:
    def off(one: Measured) -> Measured:
        high = one.clamp.high + one.grid * Fraction(9, 10)
        return replace(one, clamp=Bounds(one.clamp.low, high, one.clamp.kind))

    return of.sum(off)


@kind
def finer_grid(of: Tampered) -> BlockPlan | None:
    return of.sum(lambda one: replace(one, grid=one.grid / 10))


@kind
def one_operand_too_many(of: Tampered) -> BlockPlan | None:
    def change(release: NoisyStatistic) -> NoisyStatistic | None:
        if isinstance(release.of, Counted) or release.statistic is Statistic.ROWS:
            return None
        return replace(release, of=(*release.of, release.of[0]))

    return of.release(NoisyStatistic, change)


@kind
def larger_total(of: Tampered) -> BlockPlan | None:
    return of.total(lambda total: replace(total, high=total.high * 2 + 1))


@kind
def more_parts(of: Tampered) -> BlockPlan | None:
    return of.total(lambda total: replace(total, parts=total.parts * 2))


@kind
def total_inside_out(of: Tampered) -> BlockPlan | None:
    return of.total(lambda total: replace(total, low=-1, high=-total.most - 5))


@kind
def total_where_rows_change(of: Tampered) -> BlockPlan | None:
    if not isinstance(of.block.neighbours, RowNeighbours):
        return None
    total = UnitTotal(low=0, high=1, parts=1, choice=None)
    return of.release(NoisyStatistic, lambda release: replace(release, total=total))


@kind
def mean_of_more_rows(of: Tampered) -> BlockPlan | None:
    return of.release(RecentredMean, _of_fewer_rows)


@kind
def deviations_of_rows(of: Tampered) -> BlockPlan | None:
    if not isinstance(of.block.neighbours, RowNeighbours):
        return None

    def change(release: RecentredMean) -> DeviationMean:
        return DeviationMean(
            aggregate=release.aggregate,
            measured=release.measured,
            output_grid=release.output_grid,
            declared=None,
            loss=release.loss,
        )

    return of.release(RecentredMean, cast(Any, change))


@kind
def deviations_of_groups_by_choice(of: Tampered) -> BlockPlan | None:
    """Groups that a selection shows, with means whose first scan tells of all."""
    if of.block.selection is None or not isinstance(of.block.neighbours, UnitNeighbours):
        return None

    def change(release: RecentredMean) -> DeviationMean:
        return DeviationMean(
            aggregate=release.aggregate,
            measured=release.measured,
            output_grid=release.output_grid,
            declared=None,
            loss=release.loss,
        )

    return of.release(RecentredMean, cast(Any, change))


@kind
def deviations_of_no_rows(of: Tampered) -> BlockPlan | None:
    return of.release(DeviationMean, lambda release: replace(release, declared=0))


@kind
def deviations_for_nothing(of: Tampered) -> BlockPlan | None:
    return of.release(DeviationMean, lambda release: replace(release, loss=Loss(_ZERO, _ZERO)))


@kind
def squares_on_credit(of: Tampered) -> BlockPlan | None:
    """The mean has what squares owe."""
    share = Fraction(-1, 2)
    return of.release(DeviationMean, lambda release: replace(release, square_share=share))


@kind
def squares_for_all_of_it(of: Tampered) -> BlockPlan | None:
    """Nothing is left for rows and deviations."""
    share = Fraction(1)
    return of.release(DeviationMean, lambda release: replace(release, square_share=share))


@kind
def squares_for_more_than_it_has(of: Tampered) -> BlockPlan | None:
    share = Fraction(3, 2)
    return of.release(DeviationMean, lambda release: replace(release, square_share=share))


@kind
def deviations_between_steps(of: Tampered) -> BlockPlan | None:
    def change(release: DeviationMean) -> DeviationMean:
        clamp = Bounds(release.measured.clamp.low - release.measured.grid / 3, Fraction(2**40))
        return replace(release, measured=replace(release.measured, clamp=clamp))

    return of.release(DeviationMean, change)


@kind
def deviations_withheld(of: Tampered) -> BlockPlan | None:
    """They would be read with the others, and not priced."""
    means = of.block.deviation_means
    return replace(of.block, withheld=frozenset(means)) if means else None


def _with_centres(of: Tampered, change: Callable[[NoisyCentres], NoisyCentres]) -> BlockPlan | None:
    groups = of.block.groups()

    def changed(release: DeviationMean) -> DeviationMean | None:
        if groups is None or release.measured.low == release.measured.high:
            return None
        centres = NoisyCentres(
            units=100,
            is_few=False,
            is_single=False,
            rows=release.declared or 4,
            lost_rows=0,
            weights=(1,) * groups,
            sums=(0,) * groups,
            centres=(0,) * groups,
        )
        return replace(release, centres=change(centres))

    return of.release(DeviationMean, changed)


@kind
def centres_of_more_groups(of: Tampered) -> BlockPlan | None:
    return _with_centres(of, lambda one: replace(one, centres=(*one.centres, 0)))


@kind
def weights_of_fewer_groups(of: Tampered) -> BlockPlan | None:
    return _with_centres(of, lambda one: replace(one, weights=one.weights[1:]))


@kind
def centre_beyond_the_range(of: Tampered) -> BlockPlan | None:
    found = [one for one in of.block.releases if isinstance(one, DeviationMean)]
    if not found or not of.block.groups():
        return None
    low, high = found[0].measured.low, found[0].measured.high
    if low == high:
        return None
    beyond = -(high - low) * fineness(low, high) - 1
    return _with_centres(of, lambda one: replace(one, centres=(beyond, *one.centres[1:])))


@kind
def centres_with_no_rows(of: Tampered) -> BlockPlan | None:
    return _with_centres(of, lambda one: replace(one, rows=0))


@kind
def single_rows_of_several(of: Tampered) -> BlockPlan | None:
    return _with_centres(of, lambda one: replace(one, is_single=True, rows=max(2, one.rows or 0)))


@kind
def ranks_of_more_rows(of: Tampered) -> BlockPlan | None:
    return of.release(OrderStatistic, _of_fewer_rows)


M = TypeVar("M", RecentredMean, OrderStatistic)


def _of_fewer_rows(release: M) -> M | None:
    """Of weighed rows fewer are as private: SQL weighs them by the number that the plan says."""
    is_weighed = isinstance(release, OrderStatistic) and release.weights is not None
    if release.measured.rows == 1 or is_weighed:
        return None
    return replace(release, measured=replace(release.measured, rows=release.measured.rows - 1))


@kind
def one_value_fetched(of: Tampered) -> BlockPlan | None:
    return of.release(
        OrderStatistic, lambda r: replace(r, needed=1) if r.needed and r.needed > 1 else None
    )


@kind
def size_for_all_of_the_loss(of: Tampered) -> BlockPlan | None:
    def change(release: OrderStatistic) -> OrderStatistic:
        return replace(release, size=replace(release.size, loss=release.loss), needed=None)

    return of.release(OrderStatistic, change)


@kind
def extreme_with_a_rank(of: Tampered) -> BlockPlan | None:
    def change(release: OrderStatistic) -> OrderStatistic | None:
        if release.aggregate.fraction is not None:
            return None
        return replace(release, aggregate=replace(release.aggregate, fraction=Fraction(1, 2)))

    return of.release(OrderStatistic, change)


@kind
def size_with_less_noise(of: Tampered) -> BlockPlan | None:
    def change(release: OrderStatistic) -> OrderStatistic:
        noise = replace(release.size.noise, scale=release.size.noise.scale / 2)
        return replace(release, size=replace(release.size, noise=noise))

    return of.release(OrderStatistic, change)


@kind
def size_of_a_unit_for_one_row(of: Tampered) -> BlockPlan | None:
    """As if rows that are cut were units that are divided over their rows."""

    def change(release: OrderStatistic) -> OrderStatistic | None:
        if release.weights is not None or release.measured.rows == 1:
            return None
        noise = replace(release.size.noise, scale=1 / release.size.loss.epsilon)
        return replace(release, size=replace(release.size, noise=noise))

    return of.release(OrderStatistic, change)


def _with_weights(release: OrderStatistic) -> OrderStatistic | None:
    """As a quantile of weighed rows, with the noise that it has then."""
    if release.weights is not None:
        return None
    weights = WeightedRows(bound=release.measured.rows, units=0, rows=0, lost=0)
    noise = replace(release.size.noise, scale=PARTS / release.size.loss.epsilon)
    size = replace(release.size, noise=noise)
    return replace(release, weights=weights, size=size, needed=None)


@kind
def weights_of_rows_by_themselves(of: Tampered) -> BlockPlan | None:
    if isinstance(of.block.neighbours, UnitNeighbours):
        return None
    return of.release(
        OrderStatistic,
        lambda one: None if one.aggregate.fraction is None else _with_weights(one),
    )


@kind
def weights_in_private_groups(of: Tampered) -> BlockPlan | None:
    if of.block.groups() is not None or not isinstance(of.block.neighbours, UnitNeighbours):
        return None
    return of.release(
        OrderStatistic,
        lambda one: None if one.aggregate.fraction is None else _with_weights(one),
    )


@kind
def weights_of_an_extreme(of: Tampered) -> BlockPlan | None:
    def change(release: OrderStatistic) -> OrderStatistic | None:
        if release.weights is None:
            return None
        aggregate = replace(release.aggregate, kind=AggregateKind.MIN, fraction=None)
        return replace(release, aggregate=aggregate, needed=None)

    return of.release(OrderStatistic, change)


@kind
def weights_of_no_rows(of: Tampered) -> BlockPlan | None:
    def change(release: OrderStatistic) -> OrderStatistic | None:
        if release.weights is None:
            return None
        return replace(release, measured=replace(release.measured, rows=0), needed=None)

    return of.release(OrderStatistic, change)


def _weighed(of: Tampered, change: Callable[[WeightChoice], WeightChoice]) -> BlockPlan | None:
    chosen = of.block.weight_choice
    return None if chosen is None else replace(of.block, weight_choice=change(chosen))


@kind
def cells_with_less_noise(of: Tampered) -> BlockPlan | None:
    return _weighed(of, lambda one: replace(one, scale=one.scale / 2))


@kind
def cells_for_nothing(of: Tampered) -> BlockPlan | None:
    return _weighed(of, lambda one: replace(one, cells=Loss(_ZERO, _ZERO)))


@kind
def weights_by_bounds_that_fall(of: Tampered) -> BlockPlan | None:
    return _weighed(of, lambda one: replace(one, bounds=one.bounds[::-1]))


@kind
def weights_by_bounds_above_one(of: Tampered) -> BlockPlan | None:
    return _weighed(of, lambda one: replace(one, bounds=one.bounds[1:]))


@kind
def weights_by_a_bound_of_no_rows(of: Tampered) -> BlockPlan | None:
    return _weighed(of, lambda one: replace(one, bounds=(0, *one.bounds)))


@kind
def weights_chosen_of_rows_by_themselves(of: Tampered) -> BlockPlan | None:
    if isinstance(of.block.neighbours, UnitNeighbours):
        return None
    loss = Loss(Fraction(1), _ZERO)
    chosen = WeightChoice(
        number=0, releases=frozenset(), bounds=(1, 2), cells=loss, scale=Fraction(1)
    )
    return replace(of.block, weight_choice=chosen)


E = TypeVar("E", UnitExtreme, KeptUnits)


def _of_all_groups(of: Tampered, release: E) -> E | None:
    if not release.keeps_one_group or of.block.groups() == 1:
        return None
    return replace(release, keeps_one_group=False)


@kind
def extreme_of_all_groups(of: Tampered) -> BlockPlan | None:
    return of.release(UnitExtreme, lambda release: _of_all_groups(of, release))


@kind
def units_of_an_extreme_in_all_groups(of: Tampered) -> BlockPlan | None:
    return of.release(KeptUnits, lambda release: _of_all_groups(of, release))


@kind
def extreme_drawn_for_no_value(of: Tampered) -> BlockPlan | None:
    def change(release: UnitExtreme) -> UnitExtreme:
        return replace(release, measured=replace(release.measured, rows=0))

    return of.release(UnitExtreme, change)


@kind
def extreme_that_is_a_quantile(of: Tampered) -> BlockPlan | None:
    def change(release: UnitExtreme) -> UnitExtreme:
        return replace(release, aggregate=replace(release.aggregate, fraction=Fraction(1, 2)))

    return of.release(UnitExtreme, change)


@kind
def extreme_between_steps(of: Tampered) -> BlockPlan | None:
    def change(release: UnitExtreme) -> UnitExtreme:
        one = release.measured
        high = one.clamp.high + one.grid * Fraction(9, 10)
        clamp = Bounds(one.clamp.low, high, one.clamp.kind)
        return replace(release, measured=replace(one, clamp=clamp))

    return of.release(UnitExtreme, change)


@kind
def extreme_without_a_loss(of: Tampered) -> BlockPlan | None:
    return of.release(UnitExtreme, lambda one: replace(one, loss=Loss(_ZERO, _ZERO)))


@kind
def units_of_an_extreme_with_less_noise(of: Tampered) -> BlockPlan | None:
    def change(release: KeptUnits) -> KeptUnits:
        return replace(release, noise=LaplaceNoise(scale=release.noise.scale / 2))

    return of.release(KeptUnits, change)


@kind
def units_of_an_extreme_between_steps(of: Tampered) -> BlockPlan | None:
    def change(release: KeptUnits) -> KeptUnits:
        return replace(release, measured=replace(release.measured, grid=_ZERO))

    return of.release(KeptUnits, change)


@kind
def extreme_not_gathered_by_unit(of: Tampered) -> BlockPlan | None:
    if not any(isinstance(release, UnitExtreme) for release in of.block.releases):
        return None
    if not isinstance(of.block.neighbours, UnitNeighbours):
        return None
    unit = of.block.neighbours.column
    return replace(of.block, neighbours=RowNeighbours(rows=1, hashed_by=(unit,), not_null=unit))


@kind
def distinct_values_as_units(of: Tampered) -> BlockPlan | None:
    neighbours = of.block.neighbours
    if not isinstance(neighbours, RowNeighbours) or neighbours.rows == 1:
        return None

    def change(release: DistinctCount) -> DistinctCount | None:
        noise = LaplaceNoise(scale=1 / release.loss.epsilon)
        return None if release.of_unit else replace(release, of_unit=True, noise=noise)

    return of.release(DistinctCount, change)


def _median(of: Tampered, change: Callable[[Loss], Loss | None]) -> BlockPlan | None:
    def changed(release: SampleAggregate) -> SampleAggregate | None:
        if not isinstance(release.mechanism, SmoothedMedian):
            return None
        each = change(release.mechanism.each)
        if each is None:
            return None
        return replace(release, mechanism=replace(release.mechanism, each=each))

    return of.release(SampleAggregate, changed)


@kind
def median_sees_more(of: Tampered) -> BlockPlan | None:
    return _median(of, lambda each: Loss(each.epsilon * 2, each.delta))


@kind
def median_with_more_delta(of: Tampered) -> BlockPlan | None:
    return _median(of, lambda each: Loss(each.epsilon, each.delta * 2) if each.delta else None)


def _is_laplace(release: SampleAggregate) -> bool:
    mechanism = release.mechanism
    return isinstance(mechanism, SmoothedMedian) and mechanism.noise is MedianNoise.LAPLACE


@kind
def median_without_delta(of: Tampered) -> BlockPlan | None:
    """Of Laplace noise: the theorem has none of delta 0."""

    def change(release: SampleAggregate) -> SampleAggregate | None:
        if not _is_laplace(release):
            return None
        assert isinstance(release.mechanism, SmoothedMedian)
        each = Loss(release.mechanism.each.epsilon, _ZERO)
        return replace(release, mechanism=replace(release.mechanism, each=each))

    return of.release(SampleAggregate, change)


@kind
def median_with_delta_above_its_theorem(of: Tampered) -> BlockPlan | None:
    """It is paid: the release has as much."""
    most = Fraction(3, 4)

    def change(release: SampleAggregate) -> SampleAggregate | None:
        mechanism = release.mechanism
        if not _is_laplace(release) or not isinstance(mechanism, SmoothedMedian):
            return None
        if mechanism.each.delta != release.loss.delta:
            return None
        each = Loss(mechanism.each.epsilon, most)
        return replace(
            release,
            loss=Loss(release.loss.epsilon, most),
            mechanism=replace(mechanism, each=each),
        )

    return of.release(SampleAggregate, change)


@kind
def median_of_even_partitions(of: Tampered) -> BlockPlan | None:
    def change(release: SampleAggregate) -> SampleAggregate | None:
        if not isinstance(release.mechanism, SmoothedMedian):
            return None
        return replace(release, partitions=release.partitions + 1)

    return of.release(SampleAggregate, change)


@kind
def median_of_a_smoothness_that_is_not_computed(of: Tampered) -> BlockPlan | None:
    return _median(of, lambda each: Loss(each.epsilon / 2**40, each.delta))


@kind
def gate_too_quiet(of: Tampered) -> BlockPlan | None:
    def change(release: SampleAggregate) -> SampleAggregate:
        noise = replace(release.gate.noise, scale=release.gate.noise.scale / 2)
        return replace(release, gate=replace(release.gate, noise=noise))

    return of.release(SampleAggregate, change)


@kind
def gate_for_nothing(of: Tampered) -> BlockPlan | None:
    def change(release: SampleAggregate) -> SampleAggregate:
        loss = Loss(release.gate.loss.epsilon / 2, _ZERO)
        return replace(release, gate=replace(release.gate, loss=loss))

    return of.release(SampleAggregate, change)


@kind
def fill_outside(of: Tampered) -> BlockPlan | None:
    return of.release(SampleAggregate, lambda release: replace(release, fill=release.high + 1000))


@kind
def outputs_beyond_floats(of: Tampered) -> BlockPlan | None:
    return of.release(SampleAggregate, lambda release: replace(release, high=2**53))


@kind
def no_sub_partitions(of: Tampered) -> BlockPlan | None:
    return replace(of.block, sub_partitions=0) if of.block.sub_partitions else None


@kind
def clipped_mean_of_fewer_outputs(of: Tampered) -> BlockPlan | None:
    def change(release: SampleAggregate) -> SampleAggregate | None:
        if not isinstance(release.mechanism, ClippedMean):
            return None
        fewer = replace(release.mechanism, changed=release.mechanism.changed - 1)
        return replace(release, mechanism=fewer)

    return of.release(SampleAggregate, change)


# Bounds of units, and rows that change.


@kind
def more_rows_counted(of: Tampered) -> BlockPlan | None:
    if not of.has_sums_of_rows:
        return None
    return of.units(lambda unit: replace(unit, rows=unit.rows * 2) if unit.is_summed else None)


@kind
def more_rows_per_group(of: Tampered) -> BlockPlan | None:
    def change(unit: UnitNeighbours) -> UnitNeighbours | None:
        if unit.rows_per_group is None:
            return None
        return replace(unit, rows_per_group=unit.rows_per_group * 9, is_summed=False)

    return of.units(change) if of.has_sums_of_rows else None


@kind
def rows_per_group_without_groups(of: Tampered) -> BlockPlan | None:
    block, unit = of.block, of.block.neighbours
    is_of_counts = all(
        isinstance(release, NoisyStatistic)
        and isinstance(release.of, Counted)
        and release.total is None
        for release in block.releases
    )
    if not isinstance(unit, UnitNeighbours) or unit.rows == 1 or not block.releases:
        return None
    if block.groups() != 1 or not is_of_counts:
        return None
    quiet = tuple(
        replace(release, noise=LaplaceNoise(scale=1 / release.loss.epsilon))
        for release in block.releases
        if isinstance(release, NoisyStatistic)
    )
    return replace(block, neighbours=replace(unit, rows_per_group=1), releases=quiet)


@kind
def more_groups(of: Tampered) -> BlockPlan | None:
    count = of.block.groups()

    def change(unit: UnitNeighbours) -> UnitNeighbours | None:
        if unit.groups is None or count == 1 or (count or 99) <= unit.groups:
            return None
        return replace(unit, groups=unit.groups * 2)

    return of.units(change) if of.has_answers_of_units else None


@kind
def groups_not_cut(of: Tampered) -> BlockPlan | None:
    if of.block.groups() is not None:
        return None
    return of.units(lambda unit: replace(unit, groups=None) if unit.groups else None)


@kind
def no_groups(of: Tampered) -> BlockPlan | None:
    if of.block.groups() != 1 or not of.has_answers_of_units:
        return None
    return of.units(lambda unit: replace(unit, groups=0))


@kind
def rows_not_summed(of: Tampered) -> BlockPlan | None:
    if (of.block.groups() or 2) == 1 or not of.has_sums_of_rows:
        return None

    def change(unit: UnitNeighbours) -> UnitNeighbours | None:
        is_alone = unit.is_summed and unit.rows_per_group is None
        return replace(unit, is_summed=False) if is_alone else None

    return of.units(change)


@kind
def fewer_rows_believed(of: Tampered) -> BlockPlan | None:
    return of.rows(lambda rows: replace(rows, rows=rows.rows - 1) if rows.rows > 1 else None)


@kind
def gathered_by_another_column(of: Tampered) -> BlockPlan | None:
    return of.units(lambda unit: replace(unit, column=_column(unit.column, "i4", SqlType.INT4)))


@kind
def unit_taken_for_one_row(of: Tampered) -> BlockPlan | None:
    has_totals = any(isinstance(r, NoisyStatistic) and r.total for r in of.block.releases)
    unit = of.block.neighbours
    if not isinstance(unit, UnitNeighbours) or has_totals or of.block.rows_choice:
        return None
    row = RowNeighbours(rows=1, hashed_by=(unit.column,), not_null=unit.column)
    return replace(of.block, neighbours=row)


@kind
def rows_of_nobody_counted(of: Tampered) -> BlockPlan | None:
    return of.rows(lambda rows: replace(rows, not_null=None) if rows.not_null else None)


@kind
def fewer_partitions(of: Tampered) -> BlockPlan | None:
    def change(rows: RowNeighbours) -> RowNeighbours | None:
        if rows.partitions is None or rows.partitions >= rows.rows:
            return None
        return replace(rows, partitions=rows.partitions - 1)

    return of.rows(change)


@kind
def no_partitions(of: Tampered) -> BlockPlan | None:
    return of.rows(lambda rows: replace(rows, partitions=0))


@kind
def partitions_by_more(of: Tampered) -> BlockPlan | None:
    def change(rows: RowNeighbours) -> RowNeighbours | None:
        if not rows.hashed_by or rows.partitions is None or rows.partitions >= rows.rows:
            return None
        more = _column(rows.hashed_by[0], "i4", SqlType.INT4)
        return replace(rows, hashed_by=(*rows.hashed_by, more))

    return of.rows(change)


@kind
def partitions_by_another_type(of: Tampered) -> BlockPlan | None:
    def other(column: ColumnRef) -> ColumnRef:
        is_float = column.type is SqlType.FLOAT8
        return replace(column, type=SqlType.INT4 if is_float else SqlType.FLOAT8)

    return of.rows(
        lambda rows: (
            replace(rows, hashed_by=tuple(map(other, rows.hashed_by))) if rows.hashed_by else None
        )
    )


# Groups.


@kind
def selection_for_nothing(of: Tampered) -> BlockPlan | None:
    selection = of.block.selection
    if selection is None:
        return None
    each = Loss(selection.each.epsilon * 2, selection.each.delta)
    return replace(of.block, selection=replace(selection, each=each))


@kind
def selection_of_smaller_groups(of: Tampered) -> BlockPlan | None:
    selection = of.block.selection
    if selection is None or selection.fewest == 1:
        return None
    return replace(of.block, selection=replace(selection, fewest=selection.fewest - 1))


@kind
def decision_without_epsilon(of: Tampered) -> BlockPlan | None:
    """It raises at the first group, and so says that there is one."""
    selection = of.block.selection
    if selection is None:
        return None
    nothing = Loss(Fraction(0), selection.each.delta)
    return replace(of.block, selection=replace(selection, each=nothing))


@kind
def decision_without_delta(of: Tampered) -> BlockPlan | None:
    selection = of.block.selection
    if selection is None:
        return None
    nothing = Loss(selection.each.epsilon, Fraction(0))
    return replace(of.block, selection=replace(selection, each=nothing))


@kind
def smallest_group_forgotten(of: Tampered) -> BlockPlan | None:
    return None if of.block.fewest is None else replace(of.block, fewest=None)


def _fewest(of: Tampered, change: Callable[[FewestUnits], FewestUnits | None]) -> BlockPlan | None:
    changed = None if of.block.fewest is None else change(of.block.fewest)
    return None if changed is None else replace(of.block, fewest=changed)


@kind
def smallest_group_of_fewer_units(of: Tampered) -> BlockPlan | None:
    return _fewest(of, lambda one: replace(one, units=one.units - 1, counted=one.counted - 1))


@kind
def smallest_group_of_fewer_rows(of: Tampered) -> BlockPlan | None:
    return _fewest(of, lambda one: replace(one, counted=one.counted - 1))


@kind
def smallest_group_by_what_is_not_there(of: Tampered) -> BlockPlan | None:
    return _fewest(of, lambda one: replace(one, release=-1))


@kind
def smallest_group_by_rows_of_units(of: Tampered) -> BlockPlan | None:
    """By a number that says nothing of units."""
    for number, release in enumerate(of.block.releases):
        if counted_by(release, 2, of.block.neighbours) is None:
            return _fewest(of, lambda one, number=number: replace(one, release=number))  # type: ignore[misc]
    return None


@kind
def private_keys_shown(of: Tampered) -> BlockPlan | None:
    return None if of.block.selection is None else replace(of.block, selection=None)


@kind
def group_answered_twice(of: Tampered) -> BlockPlan | None:
    block = of.block
    if not block.keys or not block.keys[0].values or block.combinations:
        return None
    first = block.keys[0].values
    return replace(block, keys=(replace(block.keys[0], values=first + first), *block.keys[1:]))


# Relations.


@kind
def join_loses_the_unit(of: Tampered) -> BlockPlan | None:
    def change(join: Join) -> Join | None:
        a, b = of.owner(join.left), of.owner(join.right)
        if not isinstance(a, OfUnit) or not isinstance(b, OfUnit):
            return None
        kept = tuple(p for p in join.equal if not on_one_unit(a, b, [(name(p[0]), name(p[1]))]))
        return replace(join, equal=kept) if len(kept) < len(join.equal) else None

    return of.below(Join, change)


@kind
def key_of_another_side(of: Tampered) -> BlockPlan | None:
    """A key that the unit fixes becomes a column of a table of many rows a unit."""
    context = relation_of(of.block.source, of.world)
    fixed = fixed_columns(context)
    if not isinstance(context.owner, OfUnit) or not of.has_answers_of_units:
        return None
    others = [column for column in context.types if column not in fixed and column[1] != "ctid"]
    is_spread = most_groups(of.block.keys, of.block.combinations, frozenset()) != 1
    is_fixed_now = most_groups(of.block.keys, of.block.combinations, fixed) == 1
    if not others or not is_spread or not is_fixed_now:
        return None
    alias, column = others[0]
    moved = ColumnRef(column, context.types[others[0]], None, alias)
    keys = (replace(of.block.keys[0], expression=moved), *of.block.keys[1:])
    return replace(of.block, keys=keys)


@kind
def public_join_without_key(of: Tampered) -> BlockPlan | None:
    def change(join: Join) -> Join | None:
        a, b = of.owner(join.left), of.owner(join.right)
        if not isinstance(a, Rows) or not isinstance(b, Public):
            return None
        equal = tuple(
            (x, replace(y, column="zone") if y.column == "code" else y) for x, y in join.equal
        )
        return replace(join, equal=equal) if equal != join.equal else None

    return of.below(Join, change)


@kind
def keys_without_a_seed(of: Tampered) -> BlockPlan | None:
    """Keys that a person chooses would be hashed as everybody can compute it."""

    def change(join: Join) -> Join | None:
        sides = of.owner(join.left), of.owner(join.right)
        is_public = any(isinstance(owner, Public) for owner in sides)
        return replace(join, is_seeded=False) if join.is_seeded and not is_public else None

    return of.below(Join, change)


@kind
def column_compared_with_itself(of: Tampered) -> BlockPlan | None:
    """All rows of one side would have a partner, or none."""

    def change(join: Join) -> Join | None:
        return replace(join, equal=tuple((x, x) for x, _ in join.equal))

    return of.below(Join, change)


@kind
def join_on_what_is_not_hashed(of: Tampered) -> BlockPlan | None:
    """PostgreSQL would compute one side only if the other one has a row."""

    def change(join: Join) -> Join | None:
        return replace(join, equal=()) if join.equal else None

    return of.below(Join, change)


def _made_outer(of: Tampered, applies: Callable[[Join], bool]) -> BlockPlan | None:
    def change(join: Join) -> Join | None:
        return replace(join, left_outer=True) if not join.left_outer and applies(join) else None

    return of.below(Join, change)


@kind
def public_side_stays(of: Tampered) -> BlockPlan | None:
    def applies(join: Join) -> bool:
        left, right = of.owner(join.left), of.owner(join.right)
        return isinstance(left, Public) and not isinstance(right, Public)

    return _made_outer(of, applies)


@kind
def rows_without_their_unit_stay(of: Tampered) -> BlockPlan | None:
    def applies(join: Join) -> bool:
        owner = of.owner(join.left)
        return isinstance(owner, OfUnit) and not owner.columns

    return _made_outer(of, applies)


@kind
def truncated_join_made_outer(of: Tampered) -> BlockPlan | None:
    def applies(join: Join) -> bool:
        is_cut = isinstance(join.right, Truncate) and join.right.most is not None
        is_public = isinstance(of.owner(join.right), Public)
        return isinstance(of.owner(join), Rows) and not is_public and not is_cut

    return _made_outer(of, applies)


@kind
def cut_by_a_key_dropped(of: Tampered) -> BlockPlan | None:
    def change(cut: Truncate) -> Relation | None:
        is_of_rows = isinstance(of.owner(cut), Rows) and cut.by is not None
        return cut.source if is_of_rows and not cut.below_join else None

    return of.below(Truncate, change)


def _keeps_more(of: Tampered, applies: Callable[[Truncate], bool]) -> BlockPlan | None:
    def change(cut: Truncate) -> Truncate | None:
        return replace(cut, most=cut.most * 2) if cut.most and applies(cut) else None

    return of.below(Truncate, change)


@kind
def cut_by_a_key_keeps_more(of: Tampered) -> BlockPlan | None:
    def applies(cut: Truncate) -> bool:
        return cut.by is not None and isinstance(of.owner(cut), Rows | Public)

    return _keeps_more(of, applies)


@kind
def cut_of_a_unit_keeps_more(of: Tampered) -> BlockPlan | None:
    return _keeps_more(of, lambda cut: not cut.below_join and isinstance(of.owner(cut), OfUnit))


@kind
def cut_by_another_key(of: Tampered) -> BlockPlan | None:
    def change(cut: Truncate) -> Truncate | None:
        if cut.by is None or cut.by.column == "i8" or "i8" not in cut.columns:
            return None
        if isinstance(of.owner(cut), Public):
            return None
        return replace(cut, by=ColumnRef("i8", SqlType.INT8, None, cut.alias))

    return of.below(Truncate, change)


@kind
def cut_in_no_order(of: Tampered) -> BlockPlan | None:
    def change(cut: Truncate) -> Truncate | None:
        if cut.by is None or not cut.most or isinstance(of.owner(cut), Public):
            return None
        return replace(cut, ordered_by=(cut.by,))

    return of.below(Truncate, change)


@kind
def cut_keeps_rows_of_nobody(of: Tampered) -> BlockPlan | None:
    def change(cut: Truncate) -> Truncate | None:
        owner = of.owner(cut)
        is_of_few = isinstance(owner, OfUnit) and owner.rows is not None and not cut.below_join
        return replace(cut, present=()) if is_of_few and cut.present else None

    return of.below(Truncate, change)


@kind
def number_over_the_unit(of: Tampered) -> BlockPlan | None:
    def change(cut: Truncate) -> Truncate | None:
        if cut.by is None or not isinstance(of.owner(cut), OfUnit):
            return None
        left = tuple(column for column in cut.columns if column != cut.by.column)
        return replace(cut, columns=left, place=cut.by.column)

    return of.below(Truncate, change)


@kind
def number_over_a_column(of: Tampered) -> BlockPlan | None:
    """The server would say that a name is ambiguous, after the charge."""
    return of.below(Truncate, lambda cut: replace(cut, place=cut.columns[0]) if cut.by else None)


def _windows(
    of: Tampered,
    applies: Callable[[WindowColumn], bool],
    change: Callable[[WindowColumn], WindowColumn],
) -> BlockPlan | None:
    def changed(subquery: Subquery) -> Subquery | None:
        if not any(map(applies, subquery.windows)):
            return None
        windows = tuple(change(one) if applies(one) else one for one in subquery.windows)
        return replace(subquery, windows=windows)

    return of.below(Subquery, changed)


@kind
def window_over_all(of: Tampered) -> BlockPlan | None:
    def is_window(window: WindowColumn) -> bool:
        return window.function is not WindowFunction.ROW_NAME

    return _windows(of, is_window, lambda window: replace(window, partition=()))


@kind
def window_without_ties(of: Tampered) -> BlockPlan | None:
    def has_ties(window: WindowColumn) -> bool:
        return window.depends_on_ties and bool(window.ties)

    return _windows(of, has_ties, lambda window: replace(window, ties=()))


@kind
def window_by_another_column(of: Tampered) -> BlockPlan | None:
    def other(part: Expression) -> Expression:
        return _column(part, "i4", SqlType.INT4) if isinstance(part, ColumnRef) else part

    return _windows(
        of,
        lambda window: bool(window.partition),
        lambda window: replace(window, partition=tuple(map(other, window.partition))),
    )


@kind
def window_by_the_unit_last(of: Tampered) -> BlockPlan | None:
    """The compiler prints the first column of PARTITION BY whole, and the beginnings of others."""
    return _windows(
        of,
        lambda window: len(window.partition) > 1,
        lambda window: replace(window, partition=window.partition[::-1]),
    )


@kind
def rank_for_a_row_number(of: Tampered) -> BlockPlan | None:
    if not isinstance(of.block.neighbours, RowNeighbours):
        return None
    return _windows(
        of,
        lambda window: window.function is WindowFunction.ROW_NUMBER,
        lambda window: replace(window, function=WindowFunction.RANK, ties=()),
    )


@kind
def grouped_by_another_column(of: Tampered) -> BlockPlan | None:
    return of.below(
        GroupByUnit,
        lambda grouped: replace(grouped, unit=_column(grouped.unit, "i4", SqlType.INT4)),
    )


@kind
def lookup_grouped_by_more(of: Tampered) -> BlockPlan | None:
    """One more key than is compared: several rows of a unit, said to be one."""
    if not isinstance(of.block.neighbours, RowNeighbours):
        return None

    def with_more(grouped: GroupByUnit) -> GroupByUnit:
        alias = next(iter(scans(grouped.source))).alias
        more = ColumnRef("i4", SqlType.INT4, None, alias)
        return replace(grouped, keys=(*grouped.keys, more))

    def change(join: Join) -> Join | None:
        right = _somewhere(join.right, GroupByUnit, with_more) if join.is_lookup else None
        return None if right is None else replace(join, right=right)

    return of.below(Join, change)


@kind
def another_column_called_as_the_unit(of: Tampered) -> BlockPlan | None:
    def change(subquery: Subquery) -> Subquery | None:
        if not isinstance(subquery.source, Scan):
            return None
        owner, alias = of.owner(subquery.source), subquery.source.alias
        if not isinstance(owner, OfUnit):
            return None
        other = ColumnRef("i8", SqlType.INT8, None, alias)
        outputs = tuple(
            (n, other if isinstance(e, ColumnRef) and name(e) in owner.columns else e)
            for n, e in subquery.outputs
        )
        return None if outputs == subquery.outputs else replace(subquery, outputs=outputs)

    return of.below(Subquery, change)


@kind
def part_of_a_union_shifted(of: Tampered) -> BlockPlan | None:
    def change(union: UnionAll) -> UnionAll | None:
        if len(union.parts) < 2 or not isinstance(of.owner(union), OfUnit):
            return None
        first, second, *others = union.parts
        if len(second.outputs) < 2:
            return None
        shifted = replace(second, outputs=(*second.outputs[-1:], *second.outputs[:-1]))
        return replace(union, parts=(first, shifted, *others))

    return of.below(UnionAll, change)


def _lists(of: Tampered, changed: Callable[[InPublic], InPublic]) -> BlockPlan | None:
    def change(node: Expression) -> Expression:
        match node:
            case InPublic():
                return changed(node)
            case Connective():
                return replace(node, operands=tuple(map(change, node.operands)))
            case Not():
                return replace(node, operand=change(node.operand))
            case _:
                return node

    where = of.block.where
    return None if where is None else replace(of.block, where=change(where))


@kind
def list_of_a_protected_table(of: Tampered) -> BlockPlan | None:
    def changed(node: InPublic) -> InPublic:
        output = ColumnRef("i4", SqlType.INT4, None, node.alias)
        return replace(node, table=TableName("w", "visits"), output=output, condition=None)

    return _lists(of, changed)


@kind
def list_with_a_further_table(of: Tampered) -> BlockPlan | None:
    """An alias is printed as it is."""

    def changed(node: InPublic) -> InPublic:
        alias = "r8 CROSS JOIN w.visits AS r9"
        output = replace(node.output, relation=alias)
        return replace(node, alias=alias, output=output, condition=None)

    return _lists(of, changed)


@kind
def aggregate_of_an_unknown_column(of: Tampered) -> BlockPlan | None:
    """The compiler reads the columns of an aggregate as it was written, too."""

    def changed(release: NoisyStatistic) -> NoisyStatistic:
        column = ColumnRef("hidden", SqlType.INT4, None, "r1")
        return replace(release, aggregate=replace(release.aggregate, operand=column))

    return of.release(NoisyStatistic, changed)


@kind
def sum_of_no_operand(of: Tampered) -> BlockPlan | None:
    def changed(release: NoisyStatistic) -> NoisyStatistic | None:
        return None if isinstance(release.of, Counted) else replace(release, of=())

    return of.release(NoisyStatistic, changed)


@kind
def rows_taken_for_public_ones(of: Tampered) -> BlockPlan | None:
    def change(scan: Scan) -> Scan | None:
        is_public = isinstance(of.world.policy.tables[scan.table], PublicTable)
        is_of_labels = is_public and scan.table.name == "moods"
        return replace(scan, table=TableName("w", "people")) if is_of_labels else None

    return of.below(Scan, change)
