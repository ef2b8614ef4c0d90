"""The private plan: what will be computed exactly, and how each result becomes private. Plain data.

All numbers here are public: they depend on the statement, the policy and the catalogue, never on rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from proxy.base.result_columns import IntervalColumn
from proxy.base.sql_types import SqlType
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.policy.model import Bounds
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Relation, scans


@dataclass(frozen=True, slots=True)
class RowNeighbours:
    """Neighbours differ in `rows` rows. hashed_by: the columns whose hash sends a row to its partition (the
    primary key, a unit column that is unique, ctid); empty: a random partition per row. not_null: a unit
    column that is unique: rows without a unit are excluded. partitions: those rows are in so many partitions
    of a group at most (None: each in its own), because rows of one value of hashed_by are together."""

    rows: int
    hashed_by: tuple[ColumnRef, ...]
    not_null: ColumnRef | None
    partitions: int | None = None

    @property
    def is_random(self) -> bool:
        """Whether partitions are no function of what rows hold, so that two databases cannot be compared."""
        return all(column.is_place for column in self.hashed_by)

    @property
    def partitions_of_a_group(self) -> int:
        return self.rows if self.partitions is None else min(self.rows, self.partitions)

    def partitions_of(self, groups: int) -> int:
        """So many outputs of partitions change at most, over all of so many groups."""
        return min(self.rows, groups * self.partitions_of_a_group)


@dataclass(frozen=True, slots=True)
class UnitNeighbours:
    """Neighbours differ in all rows of one unit, so rows are gathered and bounded per unit first.

    rows: at most so many rows of a unit count; groups: at most so many groups of a unit count (None:
    the groups are few enough that nothing needs to be cut); rows_per_group: within each of them.
    """

    column: ColumnRef
    rows: int
    groups: int | None
    rows_per_group: int | None


Neighbours = RowNeighbours | UnitNeighbours


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """A GROUP BY key. values: public ones, all of which are answered, also empty ones, others are in no
    group; None: private keys, which appear only if the selection keeps their group. is_long: a text that can
    have more than limits.KEY_CHARACTERS characters."""

    expression: Expression
    type: SqlType
    type_name: str
    values: tuple[str | None, ...] | None
    is_long: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """Private keys: a group appears with the optimal probability for its number of units.

    loss: of the selection as a whole; each: what one group's decision may spend of it.
    """

    loss: Loss
    each: Loss


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Discrete Laplace noise of this scale, in grid steps. gaussian: sigma squared of the discrete Gaussian
    noise that the same share would have bought, where it is smaller; it is proposed, not used."""

    scale: Fraction
    gaussian: Fraction | None = None


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Discrete Gaussian noise of this sigma squared, in squared grid steps."""

    sigma2: Fraction


Noise = LaplaceNoise | GaussianNoise


@dataclass(frozen=True, slots=True)
class Measured:
    """What the database computes of each row for one release: a grid index of the operand, clamped.

    clamp: multiples of the grid; low, high: the clamp in grid steps; rows: at most so many rows of one unit
    count, over all groups; on_grid: the column's type holds only grid steps; least: nothing below it.
    """

    operand: Expression
    condition: Expression | None
    clamp: Bounds
    grid: Fraction
    rows: int
    on_grid: bool = False
    least: Fraction | None = None

    @property
    def low(self) -> int:
        return int(self.clamp.low / self.grid)

    @property
    def high(self) -> int:
        return int(self.clamp.high / self.grid)


@dataclass(frozen=True, slots=True)
class NoisyCount:
    """Number of rows for which `operand` is not NULL (None: of all rows), plus noise."""

    aggregate: Aggregate
    operand: Expression | None
    condition: Expression | None
    sensitivity: int  # L1, in rows
    noise: Noise
    loss: Loss
    never_null: bool  # the operand, by the catalogue: all rows count


@dataclass(frozen=True, slots=True)
class NoisyDistinct:
    """Number of distinct values (of_unit: of units that have any row), plus noise. is_long: of texts that
    can have more than limits.KEY_CHARACTERS characters, of which the first ones count."""

    aggregate: Aggregate
    operand: Expression
    condition: Expression | None
    of_unit: bool
    sensitivity: int
    noise: Noise
    loss: Loss
    is_long: bool


@dataclass(frozen=True, slots=True)
class NoisySum:
    """Sum of grid indices of the clamped operand, plus noise, times the grid."""

    aggregate: Aggregate
    measured: Measured
    sensitivity: int  # L1, in grid steps
    noise: Noise
    loss: Loss


class Moment(Enum):
    """What is added up over rows whose operand is not NULL. y = 2 i - (low + high), D = high - low."""

    ROWS = "rows"  # 1
    STEPS = "sum"  # i, the grid index
    CENTRED = "centred sum"  # y
    SQUARES = "centred squares"  # 2 y^2 - D^2


@dataclass(frozen=True, slots=True)
class NoisyMoment:
    """A noisy sum that is nobody's answer and part of several. It stands after the answers of its block.

    aggregate: the first that it is part of; sensitivity: L1
    """

    aggregate: Aggregate
    measured: Measured
    moment: Moment
    sensitivity: int
    noise: LaplaceNoise
    loss: Loss


@dataclass(frozen=True, slots=True)
class FromMoments:
    """SUM, AVG, variance or deviation made of noisy results of this block: post-processing, free.

    rows, total, squares: their numbers among the block's releases; centred: whether total is of y.
    """

    aggregate: Aggregate
    measured: Measured
    output_grid: Fraction
    rows: int
    total: int
    squares: int | None
    centred: bool

    @property
    def loss(self) -> Loss:
        return NOTHING


@dataclass(frozen=True, slots=True)
class Same:
    """The answer of another release of this block: of the same rows by the catalogue, or the same question."""

    aggregate: Aggregate
    other: int

    @property
    def loss(self) -> Loss:
        return NOTHING


@dataclass(frozen=True, slots=True)
class NoisyMean:
    """AVG as a noisy sum about the middle of the bounds over a noisy count (`mechanism: best`)."""

    aggregate: Aggregate
    measured: Measured
    output_grid: Fraction
    loss: Loss


@dataclass(frozen=True, slots=True)
class NoisyVariance:
    """Variances and deviations from three noisy sums about the middle of the bounds."""

    aggregate: Aggregate
    measured: Measured
    output_grid: Fraction
    loss: Loss


@dataclass(frozen=True, slots=True)
class OrderStatistic:
    """MIN, MAX (`mechanism: best`) and quantiles: the exponential mechanism over the grid.

    needed: so many of the extreme values are fetched; of a quantile, the values so many rows to either side
    of its rank; None: all distinct values.
    """

    aggregate: Aggregate
    measured: Measured
    needed: int | None
    loss: Loss


@dataclass(frozen=True, slots=True)
class SmoothedMedian:
    """Sample-and-aggregate: the operand's AVG, MIN or MAX in each of `partitions` partitions (fixed, odd,
    keyed by unit), empty ones filled with a public constant, then the smoothed median of them.

    grid: of the operand; output_grid: of the partitions' results and of the answer.
    loss: of the release as a whole; mechanism_loss: what each group's median may spend of it.
    """

    aggregate: Aggregate
    measured: Measured
    output_grid: Fraction
    low: int  # in output grid steps
    high: int
    fill: int
    partitions: int
    polyplace: bool
    loss: Loss
    mechanism_loss: Loss

    @property
    def kind(self) -> AggregateKind:
        return self.aggregate.kind


@dataclass(frozen=True, slots=True)
class ClippedMean:
    """Sample-and-aggregate: the operand's AVG in each of `partitions` partitions, as for SmoothedMedian, then
    the mean of them plus noise (`mechanism: clipped_mean`). moved: one unit changes so many of them at most."""

    aggregate: Aggregate
    measured: Measured
    output_grid: Fraction
    low: int  # in output grid steps
    high: int
    fill: int
    partitions: int
    moved: int
    loss: Loss

    @property
    def kind(self) -> AggregateKind:
        return self.aggregate.kind


Release = (
    NoisyCount
    | NoisyDistinct
    | NoisySum
    | NoisyMoment
    | FromMoments
    | Same
    | ClippedMean
    | NoisyMean
    | NoisyVariance
    | OrderStatistic
    | SmoothedMedian
)


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """releases: one for each aggregate of the question, in its order, then the moments that some of them share.
    cells: number of the partitions that the database forms (0: none needed); each median's partitions
    are unions of them. tables: what the block reads, for those who are told."""

    source: Relation
    neighbours: Neighbours
    where: Expression | None
    keys: tuple[KeyPlan, ...]
    grouped: bool
    releases: tuple[Release, ...]
    cells: int
    intervals: frozenset[IntervalColumn]
    selection: Selection | None

    def answers(self) -> int:
        """How many of the releases are answers of their own."""
        return sum(not isinstance(release, NoisyMoment) for release in self.releases)

    def tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(scan.table) for scan in scans(self.source)))

    def groups(self) -> int | None:
        """How many groups are answered; None where that is private."""
        count = 1
        for key in self.keys:
            if key.values is None:
                return None
            count *= len(key.values)
        return count


@dataclass(frozen=True, slots=True)
class PrivatePlan:
    """The plan of a whole statement. loss: what it costs, all blocks together."""

    blocks: tuple[BlockPlan, ...]
    loss: Loss


def scale_of(plan: BlockPlan, number: int) -> Fraction:
    """The scale of a noisy result that answers are made of: Laplace noise always (planner.sharing)."""
    release = plan.releases[number]
    assert isinstance(release, NoisyCount | NoisySum | NoisyMoment)
    assert isinstance(release.noise, LaplaceNoise)
    return release.noise.scale
