"""Plans that are changed, and then repaired: each release has as little noise as the kernel accepts.

A plan of the planner has its noise for its own shape, so that most exchanged parts are refused for their noise
alone. Here the noise follows what was changed, and the kernel has to judge the change itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from random import Random  # noqa: TID251  the same plans for the same seed

from proxy.kernel.attribution import relation_of
from proxy.kernel.fixed_columns import fixed_columns, fixed_times, most_groups
from proxy.kernel.key_plans import KeyPlan, Selection
from proxy.kernel.measurements import _values_looked_at
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    GroupSize,
    KeptUnits,
    LaplaceNoise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.kernel.sensitivities import (
    each_median,
    each_selected,
    gaussian,
    laplace,
    of_gate,
    of_series,
    of_size,
    of_step,
    outputs_changed,
    sensitivity_of,
    series,
)
from proxy.kernel.shape import Shape, shape_of
from proxy.kernel.statistics import Statistic
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import WeightedRows
from proxy.query.ir.expressions import ColumnRef

_LOSS = Loss(Fraction(4), Fraction(1, 1000))
_PURE = Loss(Fraction(4), Fraction(0))
_OF_SIZE = Loss(Fraction(1), Fraction(0))
_LISTS: tuple[tuple[str | None, ...] | None, ...] = (
    *(None, ("1", "2"), ("1", "2", "3", None), ("x", "y", None), ("1.00", "1.0")),
    *(("true", "false"), ("2",), ("a", "b", "x")),
)
_MOST_COMBINATIONS = 6


@dataclass(slots=True, kw_only=True)
class Repairer:
    """random: what chooses; world: of the plans."""

    random: Random
    world: World

    def changed(self, block: BlockPlan) -> BlockPlan:
        """With another shape or another release."""
        change = self.random.choices(
            (self._neighbours, self._keys, self._combinations, self._read, self._release),
            (35, 25, 20, 10, 10),
        )[0]
        return change(block)

    def repaired(self, block: BlockPlan) -> BlockPlan:
        """With the noise that its shape needs, and no more. Nothing is left to be chosen.

        Raises:
            NotPrivate, ValueError: No noise hides a release, or a decision about a group.
        """
        shape = shape_of(block)
        selection = None
        if block.combinations is None and any(key.values is None for key in block.keys):
            each, fewest = each_selected(shape, _LOSS), self.random.choice((1, 3))
            selection = Selection(loss=_LOSS, each=each, fewest=fewest)
        return replace(
            block,
            selection=selection,
            releases=tuple(self._with_least_noise(one, shape) for one in block.releases),
            rows_choice=None,
            weight_choice=None,
            fewest=None,
            value_choices=(),
            withheld=frozenset(),
        )

    def _columns(self, block: BlockPlan) -> list[ColumnRef]:
        types = relation_of(block.source, self.world).types
        return [ColumnRef(column, kind, None, alias) for (alias, column), kind in types.items()]

    def _neighbours(self, block: BlockPlan) -> BlockPlan:
        any_of, column = self.random.choice, self.random.choice(self._columns(block))
        old, rows = block.neighbours, any_of((1, 2, 3, block.neighbours.rows))
        if isinstance(old, UnitNeighbours) and self.random.random() < 0.85:
            return replace(
                block,
                neighbours=replace(
                    old,
                    column=any_of((column, *[old.column] * 6)),
                    rows=any_of((rows, old.rows)),
                    groups=any_of((None, 1, 2, 3)),
                    rows_per_group=any_of((None, 1, 2)),
                    is_summed=any_of((True, False)),
                    is_in_order=any_of((True, False, False)),
                ),
            )
        if isinstance(old, UnitNeighbours):
            old = RowNeighbours(
                rows=rows, hashed_by=(old.column,), not_null=old.column, partitions=None
            )
        return replace(
            block,
            neighbours=replace(
                old,
                rows=rows,
                hashed_by=any_of((old.hashed_by, (), (column,))),
                not_null=any_of((old.not_null, old.not_null, old.not_null, None, column)),
                partitions=any_of((old.partitions, None, 1, 2)),
            ),
        )

    def _keys(self, block: BlockPlan) -> BlockPlan:
        column, values = self.random.choice(self._columns(block)), self.random.choice(_LISTS)
        assert column.type is not None
        is_long = column.type.is_text or values is None
        key = KeyPlan(
            expression=column,
            type=column.type,
            type_name=column.type.sql,
            values=values,
            is_long=is_long,
        )
        place = self.random.randrange(len(block.keys) + 1)
        rest = block.keys[place + self.random.choice((0, 1)) :]
        keys = (*block.keys[:place], *self.random.choice(((key,), (key,), ())), *rest)
        return replace(block, keys=keys, grouped=bool(keys), combinations=None, reach=None)

    def _combinations(self, block: BlockPlan) -> BlockPlan:
        combinations, lists = None, [key.values for key in block.keys if key.values is not None]
        if block.keys and len(lists) == len(block.keys) and self.random.random() < 0.8:
            every = list(islice(product(*lists), 400))
            count = self.random.randint(1, min(len(every), _MOST_COMBINATIONS))
            combinations = tuple(self.random.sample(every, count))
        source = relation_of(block.source, self.world)
        reach = most_groups(block.keys, combinations, fixed_columns(source), fixed_times(source))
        reach = self.random.choice((reach, reach, None))
        return replace(block, combinations=combinations, reach=reach)

    def _read(self, block: BlockPlan) -> BlockPlan:
        if self.random.random() < 0.3:
            return replace(block, where=None)
        return replace(block, sub_partitions=self.random.choice((1, 3, 7, 20)))

    def _release(self, block: BlockPlan) -> BlockPlan:
        number = self.random.randrange(len(block.releases))
        new = self._another(block.releases[number], self._columns(block))
        releases = (*block.releases[:number], new, *block.releases[number + 1 :])
        return replace(block, releases=releases)

    def _another(self, release: Release, columns: Sequence[ColumnRef]) -> Release:
        any_of = self.random.choice
        match release:
            case UnitExtreme() | KeptUnits():
                return replace(release, keeps_one_group=not release.keeps_one_group)
            case NoisyStatistic(total=None, of=tuple()):
                return replace(release, statistic=any_of(list(Statistic)))
            case NoisyStatistic(total=total) if total is not None:
                low, high, parts = any_of((0, -1, -3)), any_of((0, 1, 4)), any_of((1, 2, 1024))
                return replace(release, total=replace(total, low=low, high=high, parts=parts))
            case DistinctCount():
                return replace(release, of_unit=not release.of_unit, operand=any_of(columns))
            case DeviationMean():
                share = any_of((Fraction(0), Fraction(1, 5)))
                return replace(release, declared=any_of((None, 1, 2)), square_share=share)
            case _:
                return release

    def _with_least_noise(self, release: Release, shape: Shape) -> Release:
        match release:
            case NoisyStatistic() | DistinctCount():
                return self._number(release, shape)
            case KeptUnits():
                noise = laplace(sensitivity_of(release, shape), _PURE.epsilon)
                return replace(release, loss=_PURE, noise=noise)
            case RecentredMean():
                measured = replace(release.measured, rows=shape.rows)
                return replace(release, measured=measured, loss=_PURE)
            case DeviationMean():
                return replace(release, loss=_PURE, centres=None)
            case UnitExtreme():
                rows = shape.values(release.keeps_one_group)
                return replace(release, measured=replace(release.measured, rows=rows), loss=_PURE)
            case OrderStatistic():
                return self._order_statistic(release, shape)
            case SampleAggregate():
                return self._aggregate(release, shape)
            case _:
                raise AssertionError("another release")

    def _number(self, release: NoisyStatistic | DistinctCount, shape: Shape) -> Release:
        old = release.noise
        if isinstance(old, ContinualNoise):
            moved = of_series(shape, old.factor, of_step(release, shape), is_at_once=old.is_at_once)
            new = series(moved, old.factor, _LOSS, is_at_once=old.is_at_once)
            return replace(release, loss=_LOSS, noise=new)
        if isinstance(release, NoisyStatistic) and release.total is not None:
            release = replace(release, total=replace(release.total, choice=None))
        moved_by = sensitivity_of(release, shape)
        noise: LaplaceNoise | GaussianNoise = gaussian(moved_by, _LOSS)
        if self.random.random() < 0.6:
            noise = laplace(moved_by, _LOSS.epsilon)
        return replace(release, loss=_LOSS, noise=noise)

    def _order_statistic(self, release: OrderStatistic, shape: Shape) -> Release:
        weights, rows = release.weights, shape.neighbours.rows
        is_of_units = isinstance(shape.neighbours, UnitNeighbours)
        if is_of_units and release.aggregate.fraction is not None and self.random.random() < 0.3:
            weights = WeightedRows(bound=2, units=0, rows=0, lost=0)
        if weights is not None:
            rows = self.random.choice((1, 2))
        size = of_size(rows, is_weighted=weights is not None)
        release = replace(
            release,
            weights=weights,
            measured=replace(release.measured, rows=rows),
            loss=_PURE,
            size=GroupSize(noise=LaplaceNoise(scale=Fraction(size.l1)), loss=_OF_SIZE),
        )
        return replace(release, needed=self.random.choice((None, _values_looked_at(release))))

    def _aggregate(self, release: SampleAggregate, shape: Shape) -> Release:
        left = Loss(_LOSS.epsilon - _OF_SIZE.epsilon, _LOSS.delta)
        mechanism: SmoothedMedian | ClippedMean
        if isinstance(release.mechanism, SmoothedMedian):
            mechanism = replace(release.mechanism, each=each_median(shape, left))
        else:
            of_mean = Loss(left.epsilon, Fraction(0))
            mechanism = ClippedMean(changed=outputs_changed(shape), loss=of_mean)
        noise = LaplaceNoise(scale=Fraction(of_gate(shape).l1))
        return replace(
            release,
            partitions=self.random.choice((max(1, release.partitions) | 1, 1, 3, 5, 17)),
            mechanism=mechanism,
            gate=replace(release.gate, noise=noise, loss=_OF_SIZE),
            loss=_LOSS,
        )
