"""Blocks at random on relations at random, with just the noise that the shape of the block asks for.

Bounds, keys (listed and private) and releases of all kinds: sums and counts, totals, distinct values,
means, order statistics, medians and clipped means; bounds that are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.kernel.attribution import relation_of
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.fixed_columns import fixed_columns, most_groups
from proxy.kernel.key_plans import KeyPlan, Selection
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.owners import Known, OfUnit, Rows
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
    DeviationMean,
    DistinctCount,
    Gate,
    GaussianNoise,
    GroupSize,
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
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.shape import Shape, shape_of
from proxy.kernel.statistics import Counted, Measured, Statistic, row_sensitivity
from proxy.kernel.world import World
from proxy.mechanisms import discrete_gaussian, partition_selection, row_weights, split, zcdp
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import WeightedRows
from proxy.planner.neighbours import PARTS, choice_of
from proxy.policy.policy_model import Bounds, MedianNoise
from proxy.query.ir.expressions import Clamped, ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Relation
from tests.kernel.made_relations import COUNT, POLICY, RelationMaker, shown_by
from tests.pipeline_world import CATALOG, walk

WORLD = World(POLICY, CATALOG)
_LOSS = Loss(Fraction(4), Fraction(1, 1000))
_PURE = Loss(Fraction(4), Fraction(0))
_PARTITIONS = 5


def _template() -> BlockPlan:
    found = walk("SELECT count(*) FROM visits")
    assert found is not None
    return found.plan.blocks[0]


TEMPLATE = _template()


@dataclass(slots=True)
class BlockMaker:
    """maker: of relations, and of chance; world: whose rules say what a block needs."""

    maker: RelationMaker
    world: World = WORLD

    def block(self) -> BlockPlan | None:
        """A block; None where nothing bounds its rows, or no rule accepts its relation."""
        random = self.maker.random
        relation = self.maker.relation(random.choice((1, 2, 2, 3)))
        try:
            known = relation_of(relation, self.world)
            neighbours = self._neighbours(known)
        except NotPrivate:
            return None
        if neighbours is None:
            return None
        numbers = [c for c in shown_by(relation) if c.type.is_integer]
        keys, selection = self._keys(numbers), None
        where = self.maker.condition(relation) if random.random() < 0.2 else None
        plan = replace(
            TEMPLATE,
            source=relation,
            neighbours=neighbours,
            where=where,
            keys=keys,
            grouped=bool(keys),
            answers=(),
            releases=(),
            combinations=None,
            rows_choice=None,
            sub_partitions=0,
            reach=most_groups(keys, None, fixed_columns(known)),
        )
        shape = shape_of(plan)
        try:
            if any(key.values is None for key in keys):
                selection = self._selection(shape)
            releases = tuple(self._releases(shape, relation, numbers))
        except NotPrivate:
            return None
        has_medians = any(isinstance(one, SampleAggregate) for one in releases)
        return replace(
            plan,
            releases=releases,
            selection=selection,
            sub_partitions=_PARTITIONS if has_medians else 0,
        )

    def _neighbours(self, known: Known) -> Neighbours | None:
        random = self.maker.random
        match known.owner:
            case OfUnit(columns=columns, alone=alone) if columns:
                name = random.choice(sorted(columns))
                unit = ColumnRef(name[1], known.types[name], None, name[0])
                if alone and random.random() < 0.4:
                    return RowNeighbours(rows=1, hashed_by=(unit,), not_null=unit)
                return UnitNeighbours(
                    column=unit,
                    rows=random.choice((1, 2, 3)),
                    groups=random.choice((None, 1, 2)),
                    rows_per_group=random.choice((None, None, 1, 2)),
                    is_summed=random.random() < 0.7,
                )
            case Rows() as rows:
                key = next((k for k, _ in rows.touched if k <= rows.filled), frozenset())
                hashed = tuple(ColumnRef(n[1], known.types[n], None, n[0]) for n in sorted(key))
                partitions = min((m for k, m in rows.touched if key and key <= k), default=None)
                return RowNeighbours(
                    rows=rows.changed, hashed_by=hashed, not_null=None, partitions=partitions
                )
            case _:
                return None

    def _keys(self, numbers: list[ColumnRef]) -> tuple[KeyPlan, ...]:
        random = self.maker.random
        count = min(len(numbers), random.choice((0, 1, 1, 2)))
        is_private = random.random() < 0.3
        return tuple(
            KeyPlan(
                expression=column,
                type=column.type,
                type_name=column.type.sql,
                values=None
                if is_private and number == 0
                else tuple(random.sample(("1", "2", "3", None), random.randint(1, 4))),
                is_long=False,
            )
            for number, column in enumerate(random.sample(numbers, count))
        )

    def _selection(self, shape: Shape) -> Selection:
        if isinstance(shape.neighbours, RowNeighbours):
            return Selection(loss=_LOSS, each=split.per_unit(_LOSS, shape.neighbours.rows))
        return Selection(loss=_LOSS, each=partition_selection.per_group(_LOSS, shape.groups))

    def _noise(self, l1: int, squared: Fraction) -> Noise:
        if self.maker.random.random() < 0.6:
            return LaplaceNoise(scale=Fraction(l1) / _LOSS.epsilon)
        rho = zcdp.rho_of_loss(_LOSS.epsilon, _LOSS.delta)
        return GaussianNoise(sigma2=discrete_gaussian.sigma2_for(squared, rho))

    def _releases(
        self, shape: Shape, relation: Relation, numbers: list[ColumnRef]
    ) -> Iterator[Release]:
        random = self.maker.random
        is_unit = isinstance(shape.neighbours, UnitNeighbours)
        counted = Counted(operand=None, condition=None, never_null=False)
        yield NoisyStatistic(
            aggregate=COUNT,
            statistic=Statistic.ROWS,
            of=counted,
            noise=self._noise(shape.rows, shape.squared),
            loss=_LOSS,
        )
        if not numbers:
            return
        column = random.choice(numbers)
        low, high = sorted(random.sample((-2, -1, 0, 1, 2, 3), 2))
        measured = _measured(column, low, high, shape.neighbours.rows)
        yield self._sum(shape, measured)
        if is_unit and random.random() < 0.5:
            yield self._total(shape, measured)
        yield self._distinct(shape, column, is_unit)
        if random.random() < 0.3:
            mean = replace(measured, rows=shape.rows)
            yield RecentredMean(
                aggregate=_of(AggregateKind.AVG, column),
                measured=mean,
                output_grid=Fraction(1),
                loss=_PURE,
            )
        if is_unit and shape.count is not None and random.random() < 0.5:
            yield DeviationMean(
                aggregate=_of(AggregateKind.AVG, column),
                measured=measured,
                output_grid=Fraction(1),
                declared=random.choice((None, 1, 2)),
                loss=_PURE,
            )
        if random.random() < 0.4:
            quantile = random.choice((None, Fraction(1, 2), Fraction(1, 4)))
            kinds = (AggregateKind.MIN, AggregateKind.MAX)
            kind = random.choice(kinds) if quantile is None else AggregateKind.QUANTILE_DISC
            aggregate = replace(_of(kind, column), fraction=quantile)
            yield self._ordered(shape, measured, aggregate)
        if random.random() < 0.4:
            yield from self._extremes(shape, measured, column)
        if random.random() < 0.4:
            yield self._sample(shape, measured, column)

    def _ordered(self, shape: Shape, measured: Measured, aggregate: Aggregate) -> OrderStatistic:
        """By rank, of quantiles with weights now and then, of fewer rows than a unit may have."""
        is_of_units = isinstance(shape.neighbours, UnitNeighbours) and shape.count is not None
        weights, moved = None, measured.rows
        if is_of_units and aggregate.fraction is not None and self.maker.random.random() < 0.7:
            rows = self.maker.random.choice((1, 2, 3))
            weights = WeightedRows(bound=rows, units=0, rows=0, lost=0)
            moved = row_weights.PARTS
            measured = replace(measured, rows=rows)
        of_size = Loss(_PURE.epsilon / 4, Fraction(0))
        scale = moved / of_size.epsilon
        return OrderStatistic(
            aggregate=aggregate,
            measured=measured,
            needed=None,
            loss=_PURE,
            size=GroupSize(noise=LaplaceNoise(scale=scale), loss=of_size),
            weights=weights,
        )

    def _extremes(self, shape: Shape, measured: Measured, column: ColumnRef) -> Iterator[Release]:
        """MIN and MAX of units, and the number of units that they are of."""
        keeps_one_group = self.maker.random.random() < 0.6
        moved = shape.values(keeps_one_group)
        measured = replace(measured, rows=moved)
        for kind in (AggregateKind.MIN, AggregateKind.MAX):
            yield UnitExtreme(
                aggregate=_of(kind, column),
                measured=measured,
                keeps_one_group=keeps_one_group,
                loss=_PURE,
            )
        yield KeptUnits(
            aggregate=_of(AggregateKind.MIN, column),
            measured=measured,
            keeps_one_group=keeps_one_group,
            noise=LaplaceNoise(scale=Fraction(moved) / _PURE.epsilon),
            loss=_PURE,
        )

    def _sum(self, shape: Shape, measured: Measured) -> NoisyStatistic:
        kinds = (Statistic.STEPS, Statistic.CENTRED, Statistic.SQUARES, Statistic.PRODUCTS)
        statistic = self.maker.random.choice(kinds)
        of = (measured, measured) if statistic is Statistic.PRODUCTS else (measured,)
        each = row_sensitivity(statistic, of)
        return NoisyStatistic(
            aggregate=COUNT,
            statistic=statistic,
            of=of,
            noise=self._noise(shape.rows * each, shape.squared * each**2),
            loss=_LOSS,
        )

    def _total(self, shape: Shape, measured: Measured) -> NoisyStatistic:
        """Of which what a unit adds is cut."""
        random = self.maker.random
        most, is_centred = random.choice((1, 2, 4)), random.random() < 0.5
        parts = PARTS if shape.is_spread else 1
        total = UnitTotal(
            low=-most if is_centred or measured.low < 0 else 0,
            high=most if is_centred or measured.high > 0 else 0,
            parts=parts,
            choice=None,
        )
        l1 = total.most * parts
        return NoisyStatistic(
            aggregate=COUNT,
            statistic=Statistic.CENTRED if is_centred else Statistic.STEPS,
            of=(measured,),
            noise=self._noise(l1, Fraction(l1**2)),
            loss=_LOSS,
            total=total,
        )

    def _distinct(self, shape: Shape, column: ColumnRef, is_unit: bool) -> DistinctCount:
        of_unit = is_unit and self.maker.random.random() < 0.4
        moved = shape.groups if of_unit else shape.neighbours.rows
        operand = column
        if of_unit:
            assert isinstance(shape.neighbours, UnitNeighbours)
            operand = shape.neighbours.column
        return DistinctCount(
            aggregate=_of(AggregateKind.COUNT_DISTINCT, column),
            operand=operand,
            condition=None,
            of_unit=of_unit,
            noise=self._noise(moved, Fraction(moved if of_unit else moved**2)),
            loss=_LOSS,
            is_long=False,
        )

    def _sample(self, shape: Shape, measured: Measured, column: ColumnRef) -> SampleAggregate:
        """A median or clipped mean of partitions, of all that is left after its gate."""
        neighbours, groups = shape.neighbours, shape.groups
        if isinstance(neighbours, UnitNeighbours):
            changed, counted = groups, groups
        else:
            changed, counted = neighbours.partitions_of(groups), neighbours.rows
        gate_loss = Loss(Fraction(1), Fraction(0))
        left = Loss(_LOSS.epsilon - gate_loss.epsilon, _LOSS.delta)
        is_median = self.maker.random.random() < 0.6
        is_of_units = isinstance(neighbours, UnitNeighbours)
        each = (split.per_group if is_of_units else split.per_unit)(left, changed)
        kinds = (AggregateKind.AVG, AggregateKind.MIN, AggregateKind.MAX)
        return SampleAggregate(
            aggregate=_of(self.maker.random.choice(kinds), column),
            measured=measured,
            output_grid=Fraction(1),
            low=measured.low,
            high=measured.high,
            fill=measured.low,
            partitions=_PARTITIONS,
            mechanism=SmoothedMedian(noise=MedianNoise.LAPLACE, each=each)
            if is_median
            else ClippedMean(changed=changed, loss=Loss(left.epsilon, Fraction(0))),
            gate=Gate(
                noise=LaplaceNoise(scale=Fraction(counted) / gate_loss.epsilon),
                least=1,
                loss=gate_loss,
            ),
            loss=_LOSS,
        )


def _measured(column: ColumnRef, low: int, high: int, rows: int) -> Measured:
    clamp = Bounds(Fraction(low), Fraction(high))
    return Measured(
        operand=Clamped(column, clamp.low, clamp.high, column.type),
        condition=None,
        clamp=clamp,
        grid=Fraction(1),
        rows=rows,
    )


def _of(kind: AggregateKind, column: ColumnRef) -> Aggregate:
    return Aggregate(kind, column, None, SqlType.INT8)


def with_chosen_bounds(block: BlockPlan, bound: int) -> BlockPlan | None:
    """The counts and totals of the block with bounds that are chosen, and the one that was."""
    found: list[Release] = []
    for release in block.releases:
        if isinstance(release, NoisyStatistic) and release.total is not None:
            found.append(_with_choice(release, release.total, bound))
    return replace(block, releases=tuple(found)) if found else None


def with_chosen_rows(block: BlockPlan) -> BlockPlan | None:
    """The sums of a block without keys, of which a bound on rows is chosen: they may follow from its totals."""
    if block.keys or not isinstance(block.neighbours, UnitNeighbours):
        return None
    sums = tuple(
        one
        for one in block.releases
        if isinstance(one, NoisyStatistic) and one.statistic is not Statistic.STEPS
    )
    return replace(block, releases=sums, rows_choice=choice_of(Loss(Fraction(2), Fraction(0)), 4))


def _with_choice(release: NoisyStatistic, total: UnitTotal, bound: int) -> NoisyStatistic:
    choice = choice_of(Loss(Fraction(2), Fraction(0)), 4)
    cut = replace(
        total,
        low=-bound if total.low else 0,
        high=bound if total.high else 0,
        choice=choice,
    )
    left = Loss(release.loss.epsilon - choice.loss.epsilon, release.loss.delta)
    noise = LaplaceNoise(scale=Fraction(cut.most * cut.parts) / left.epsilon)
    return replace(release, total=cut, noise=noise)
