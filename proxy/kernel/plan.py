"""The private plan: what will be computed exactly, and how each result becomes private. Plain data.

All numbers here are public: they depend on the statement, the policy and the catalogue, never on rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import product

from proxy.base.node_parts import nodes
from proxy.base.result_columns import IntervalColumn
from proxy.catalog.catalog_model import TableName
from proxy.kernel.bound_choices import BoundChoice, UnitTotal, ValueChoice, WeightChoice
from proxy.kernel.formula_model import Formula
from proxy.kernel.key_plans import FewestUnits, KeyPlan, Selection
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.statistics import Counted, Measured, Statistic, of_row
from proxy.mechanisms.deviation_mean import NoisyCentres
from proxy.mechanisms.growing_places import Places
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import PARTS, WeightedRows
from proxy.policy.policy_model import Bounds, IdentifierUnit, MedianNoise, Policy, ProtectedTable
from proxy.query.ir.expressions import Expression
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query import OutputColumn, RowChoice, TopList
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Relation, Scan, tables_of_rows

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceNoise:
    """Discrete Laplace noise of this scale, in grid steps. gaussian: sigma squared of the discrete Gaussian
    noise that the same share would have bought, where it is smaller; it is proposed, not used."""

    scale: Fraction
    gaussian: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNoise:
    """Discrete Gaussian noise of this sigma squared, in squared grid steps."""

    sigma2: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinualNoise:
    """Noise of a series: the groups are its steps, each of which is drawn once, under one charge for all
    (mechanisms.continual). factor: of so many steps; sigma2: of z, in squared grid steps of 1 / its scale;
    is_at_once: all steps are read and drawn together, so that sums of steps in a row have little noise."""

    factor: tuple[int, ...]
    sigma2: Fraction
    is_at_once: bool = False


Noise = LaplaceNoise | GaussianNoise | ContinualNoise


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyStatistic:
    """A noisy linear sum over rows: a COUNT or a SUM by itself, or what several answers are made of.

    aggregate: the first that it is part of; of: its rows, or operands; total: where not the rows of a unit are
    bounded but what they add, and the noise is in the parts of a grid step that it has. loss: with that of
    choosing the total.
    """

    aggregate: Aggregate
    statistic: Statistic
    of: Counted | tuple[Measured, ...]
    noise: Noise
    loss: Loss
    total: UnitTotal | None = None

    @property
    def choice(self) -> BoundChoice | None:
        return None if self.total is None else self.total.choice

    @property
    def noise_loss(self) -> Loss:
        """Without what choosing the total costs."""
        if self.choice is None:
            return self.loss
        return Loss(self.loss.epsilon - self.choice.loss.epsilon, self.loss.delta)

    @property
    def is_signed(self) -> bool:
        """Whether what a row adds can be below 0, whatever a bound on the total lets count."""
        return of_row(self.statistic, () if isinstance(self.of, Counted) else self.of)[0] < 0

    @property
    def parts(self) -> int:
        """Of a grid step, in which the noise is."""
        return 1 if self.total is None else self.total.parts

    @property
    def grid(self) -> Fraction:
        """Of the sum as an answer."""
        if self.statistic is not Statistic.STEPS or isinstance(self.of, Counted):
            return _ONE
        return self.of[0].grid


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctCount:
    """Number of distinct values (of_unit: of units that have any row), plus noise. is_long: of texts that
    can have more than limits.KEY_CHARACTERS characters, of which the first ones count."""

    aggregate: Aggregate
    operand: Expression
    condition: Expression | None
    of_unit: bool
    noise: Noise
    loss: Loss
    is_long: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentredMean:
    """AVG as a noisy sum about a noisy centre over a noisy count (`mechanism: best`): an adaptive sequence,
    more exact alone than the ratio of two shared sums."""

    aggregate: Aggregate
    measured: Measured
    output_grid: Fraction
    loss: Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviationMean:
    """AVG, VARIANCE and STDDEV of units with several rows (`mechanism: best`): noisy deviations from noisy
    centres.

    Attributes:
        declared: So many rows of a unit count, by the policy. None: that is chosen when it runs.
        never_null: Whether no value is NULL, so that a count of all rows counts its rows. For accuracy only.
        square_share: The part of epsilon for squared distances from the centres, of which variances are made.
            0: there are none, and only the mean is answered.
        centres: What the first scan has released, for the groups in the order of the plan. None before that.
    """

    aggregate: Aggregate
    measured: Measured
    output_grid: Fraction
    declared: int | None
    loss: Loss
    never_null: bool = False
    square_share: Fraction = Fraction(0)
    centres: NoisyCentres | None = None

    @property
    def has_squares(self) -> bool:
        """Whether variances can be made of it."""
        return self.square_share > 0

    @property
    def epsilon_of_mean(self) -> Fraction:
        """What is left for centres, rows and deviations."""
        return self.loss.epsilon * (1 - self.square_share)

    @property
    def epsilon_of_squares(self) -> Fraction:
        return self.loss.epsilon * self.square_share


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSize:
    """The noisy number of rows that an order statistic is of, in each group. It is NULL for too few of them.

    Where rows have weights, units are counted instead, each divided over the groups of its rows.

    Attributes:
        noise: In parts of a row, or of a unit.
        loss: Of all groups together.
    """

    noise: LaplaceNoise
    loss: Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderStatistic:
    """MIN, MAX (`mechanism: best`) of rows, and quantiles: the exponential mechanism over the grid.

    needed: so many of the extreme values are fetched; of a quantile, the values so many rows (in parts) to
    either side of its rank; None: all distinct values. loss: with that of its size. weights:
    where rows of a unit with more than `measured.rows` rows count as so many together, each as much as the
    others (None: so many of them count, chosen by a keyed hash), and what is known of that: nothing before the
    bound is chosen.
    """

    aggregate: Aggregate
    measured: Measured
    needed: int | None
    loss: Loss
    size: GroupSize
    weights: WeightedRows | None = None

    @property
    def own_loss(self) -> Loss:
        """Without what its size costs."""
        return Loss(self.loss.epsilon - self.size.loss.epsilon, self.loss.delta)

    @property
    def parts(self) -> int:
        """Of a row, in which rows are counted."""
        return 1 if self.weights is None else PARTS

    @property
    def moved(self) -> int:
        """So many parts of rows one unit moves, over all groups."""
        return self.measured.rows * self.parts


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitExtreme:
    """MIN or MAX of units (`mechanism: best`): the exponential mechanism over public places
    (mechanisms.growing_places), of one value for each unit and group.

    measured: `rows` is how many values of a unit count, over all groups; keeps_one_group: whether SQL keeps
    one group of each unit, by a keyed hash of unit and key, whatever its rows hold; is_open: the bound at its
    end is that of as many rows as a unit may have, so that it is no end of an interval.
    """

    aggregate: Aggregate
    measured: Measured
    keeps_one_group: bool
    loss: Loss
    is_open: bool = False

    @property
    def own_loss(self) -> Loss:
        """As of an order statistic of rows: nothing else is in it."""
        return self.loss

    @property
    def places(self) -> Places:
        """Where it may be answered."""
        one = self.measured
        return Places(one.low, one.high, self.aggregate.kind is AggregateKind.MIN)

    @property
    def least(self) -> int:
        """So many units a group must have, by a noisy number, for its answer to be shown."""
        return self.places.units_needed(self.loss.epsilon, self.measured.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptUnits:
    """The noisy number of units that have a value for MIN or MAX in a group, as these count them.

    aggregate: the first that it is for.
    """

    aggregate: Aggregate
    measured: Measured
    keeps_one_group: bool
    noise: LaplaceNoise
    loss: Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The noisy number of units (of rows, where neighbours differ in rows) whose values a group has. Below
    `least` the partitions say nothing of them, and the answer is NULL."""

    noise: LaplaceNoise
    least: int
    loss: Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothedMedian:
    """each: what each group's median may spend of the release's loss."""

    noise: MedianNoise
    each: Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedMean:
    """changed: one unit changes at most so many partitions. loss: of the release, without its gate."""

    changed: int
    loss: Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleAggregate:
    """The operand's AVG, MIN or MAX in each of `partitions` partitions (fixed, odd, keyed by unit), empty ones
    filled with a public constant, then their median or mean by the mechanism.

    output_grid: of the partitions' results and of the answer; low, high, fill: in its steps. loss: with that of
    the gate. may_be_best: whether the session may choose `best` for it instead, which states its error.
    """

    aggregate: Aggregate
    measured: Measured
    output_grid: Fraction
    low: int
    high: int
    fill: int
    partitions: int
    mechanism: SmoothedMedian | ClippedMean
    gate: Gate
    loss: Loss
    may_be_best: bool = field(default=False, compare=False)

    @property
    def kind(self) -> AggregateKind:
        return self.aggregate.kind


Release = (
    NoisyStatistic
    | DistinctCount
    | RecentredMean
    | DeviationMean
    | OrderStatistic
    | SampleAggregate
    | UnitExtreme
    | KeptUnits
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculated:
    """From noisy sums, on the output grid: post-processing, free."""

    formula: Formula
    measured: tuple[Measured, ...]
    output_grid: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Of one aggregate. releases: what it is made of, by number, in the formula's order; without a formula it
    is the first release itself, and the second, if there is one, says whether there are enough units for it to
    be shown. Equal questions have the same release."""

    aggregate: Aggregate
    releases: tuple[int, ...]
    calculated: Calculated | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """One block of a statement: the rows that are read, what is drawn of them, and what is said of it.

    Rules, SQL and draws go by these:
        source, where: Which rows are read. neighbours: How two databases differ in them (`check_neighbours`).
        keys: Of GROUP BY. combinations: Of public keys, the groups that are answered. None: all.
        selection: How private groups are chosen. reach: A unit has rows in so many groups at most, as it fixes
            the other keys (`check_reach`). None: nothing is said of it.
        releases: Everything that gets noise. withheld: Those for whose bound there were too few units. They are
            not drawn, and their answers are NULL. fewest: What a public group has to have to be shown.
        sub_partitions: How many the database forms (0: none). Each median's partitions are unions of them.
        rows_choice: Chooses the bound on the rows of a unit, of all releases that have none of their own. Until
            then it is the largest. value_choices: Choose bounds on what a subquery computes of all rows of a
            unit. weight_choice: Chooses the bound on rows by which quantiles weigh them.
        compared: Answers, by number from 1, of which rows are compared with noisy answers of earlier blocks. 0:
            the groups of a block without answers (`check_answers`). present: The day that bounds end with, for
            the receipt.

    Post-processing goes by these:
        answers: One for each aggregate of the question, in its order. expressions: Over the answers, of which
            intervals are asked. outputs: Columns whose error is reported. is_rounded: Answers are printed to
            the digits that mean something. is_summed, has_truths, top: As of the AggregateBlock.

    Notices, stated errors and EXPLAIN go by these. They change no SQL and no draw:
        unstated: Releases whose bound was chosen from few units: what is cut may be far above the noise.
        clipped: Of releases with a bound that was chosen, the noisy share of units above it.
        least_answers: By number from 1, those that only grow with what a chosen bound cuts, which may be much.
        most_values: By number from 1, answers that count different values, and how many there are at most.
        unowned: Columns that name the unit of a row and can be null. unit_name: As the policy calls the unit.
        most_stored: So many rows of a unit are read of a table, by a cut in `source`. None: all.
        text_characters: So many of each text that a join repeats. None: all.
        beyond, clamped, kept_totals: Columns that the condition computes with, that are aggregated, and totals
            of units, of which values beyond the policy's bounds are taken for these.
        coarse: Quantiles whose answers are below a step of their grid.
    """

    source: Relation
    neighbours: Neighbours
    where: Expression | None
    keys: tuple[KeyPlan, ...]
    grouped: bool
    releases: tuple[Release, ...]
    answers: tuple[Answer, ...]
    sub_partitions: int
    intervals: frozenset[IntervalColumn]
    selection: Selection | None
    expressions: tuple[NoisyExpression, ...] = ()
    outputs: tuple[OutputColumn, ...] = ()
    compared: frozenset[int] = frozenset()
    is_summed: bool = False
    has_truths: bool = False
    combinations: tuple[tuple[str | None, ...], ...] | None = None
    rows_choice: BoundChoice | None = None
    value_choices: tuple[ValueChoice, ...] = ()
    weight_choice: WeightChoice | None = None
    withheld: frozenset[int] = frozenset()
    unstated: frozenset[int] = frozenset()
    clipped: tuple[tuple[int, Fraction], ...] = ()
    least_answers: frozenset[int] = frozenset()
    is_rounded: bool = False
    unowned: tuple[str, ...] = ()
    most_stored: int | None = None
    present: str | None = None
    text_characters: int | None = None
    beyond: tuple[str, ...] = ()
    clamped: tuple[tuple[str, Bounds], ...] = ()
    kept_totals: tuple[tuple[Aggregate, Bounds], ...] = ()
    coarse: frozenset[int] = frozenset()
    unit_name: str = ""
    top: TopList | None = None
    row_choices: tuple[RowChoice, ...] = ()
    reach: int | None = None
    most_values: tuple[tuple[int, int], ...] = ()
    fewest: FewestUnits | None = None

    @property
    def drawn_releases(self) -> tuple[tuple[int, Release], ...]:
        """The releases that are priced, read and drawn, with their numbers: all that are not withheld."""
        numbered = enumerate(self.releases)
        return tuple(one for one in numbered if one[0] not in self.withheld)

    @property
    def read_apart(self) -> tuple[tuple[int, ...], ...]:
        """What needs values themselves, so that it is read by a statement of its own, by number.

        Together are order statistics that one list of values serves: of equal values of equal rows, of which as
        many of a unit count, cut or weighed alike. Distinct values of several units do not add up.
        """
        found = defaultdict[object, list[int]](list)
        by_unit = isinstance(self.neighbours, UnitNeighbours)
        for number, one in self.drawn_releases:
            match one:
                case OrderStatistic():
                    found[one.measured, one.parts].append(number)
                case DistinctCount() if not one.of_unit if by_unit else self.sub_partitions > 0:
                    found[number].append(number)
                case _:
                    pass
        return tuple(map(tuple, found.values()))

    def looks_at_ends(self, numbers: Sequence[int]) -> bool:
        """Whether these order statistics look at the rows with the least and largest values of a whole table.

        A quantile needs the number of all rows, weights need all rows of a unit. Where too few rows are found,
        all are read (compiler/value_ends.py): with keys or conditions whoever asks could choose rows of which
        one decides that.
        """
        found = [self.releases[number] for number in numbers]
        is_whole = isinstance(self.source, Scan) and self.where is None and not self.keys
        return (
            is_whole
            and isinstance(self.neighbours, RowNeighbours)
            and all(
                isinstance(one, OrderStatistic)
                and one.aggregate.kind in (AggregateKind.MIN, AggregateKind.MAX)
                and one.measured.condition is None
                and one.needed is not None
                and one.weights is None
                for one in found
            )
        )

    @property
    def continual(self) -> dict[int, ContinualNoise]:
        """The noise of releases that are a series, by number: of all or none (kernel/continual_rules.py)."""
        return {
            number: one.noise
            for number, one in enumerate(self.releases)
            if isinstance(one, NoisyStatistic | DistinctCount)
            and isinstance(one.noise, ContinualNoise)
        }

    @property
    def is_stepwise(self) -> bool:
        """Whether its groups are read one after the other, as the steps of a series."""
        return any(not noise.is_at_once for noise in self.continual.values())

    @property
    def uses_answers(self) -> bool:
        """Whether anything is compared with noisy answers of earlier blocks."""
        return bool(self.compared)

    @property
    def uncertain_answers(self) -> frozenset[int]:
        """Those of which nobody knows how many rows count that would not by an exact answer, or the other way
        round.

        Then no error is stated. Truths are read from their error, which is of the rows that count.
        """
        return frozenset() if self.has_truths else self.compared

    @property
    def choices(self) -> dict[int | None, BoundChoice | WeightChoice]:
        """By the number of the release that a bound is for, or is named by; None: that on rows."""
        found: dict[int | None, BoundChoice | WeightChoice] = {**self.total_choices}
        found.update((one.number, one.choice) for one in self.value_choices)
        if self.weight_choice is not None:
            found[self.weight_choice.number] = self.weight_choice
        return found

    @property
    def total_choices(self) -> dict[int | None, BoundChoice]:
        """Of bounds on what a unit adds, by the release; None: of that on rows, for all others."""
        found: dict[int | None, BoundChoice] = {}
        if self.rows_choice is not None:
            found[None] = self.rows_choice
        for number, release in enumerate(self.releases):
            if isinstance(release, NoisyStatistic) and release.choice is not None:
                found[number] = release.choice
        return found

    def value_choice(self, choice: int | None) -> ValueChoice | None:
        """The bound on values that is named so."""
        return next((one for one in self.value_choices if one.number == choice), None)

    def bounded_by(self, choice: int | None) -> frozenset[int]:
        """The releases that a choice is for."""
        of_values = self.value_choice(choice)
        if of_values is not None:
            return of_values.releases
        if self.is_of_weights(choice):
            return self.weighted
        if choice is not None:
            return frozenset({choice})
        totals = self.total_choices
        return frozenset(
            number
            for number, release in enumerate(self.releases)
            if number not in totals
            and number not in self.weighted
            and not isinstance(release, SampleAggregate | UnitExtreme | KeptUnits | DeviationMean)
            and not (isinstance(release, DistinctCount) and release.of_unit)
        )

    @property
    def weighted(self) -> frozenset[int]:
        """The quantiles whose rows have weights by a bound that is chosen."""
        return frozenset() if self.weight_choice is None else self.weight_choice.releases

    def is_of_weights(self, choice: int | None) -> bool:
        """Whether the bound that is named so is that of weights of rows."""
        return self.weight_choice is not None and self.weight_choice.number == choice

    @property
    def sums_of_totals(self) -> tuple[int, ...]:
        """The shared sums that follow from what bounds are chosen by, if all else that is released does, but
        means of deviations."""
        if self.value_choices or self.weight_choice is not None:
            return ()  # they are of values within bounds that are not known yet, or of all rows
        left = [
            number
            for number in range(len(self.releases))
            if number not in self.choices and number not in self.deviation_means
        ]
        follow = all(_is_of_means(self.releases[n]) for n in left)
        return tuple(left) if follow and not self.keys and self.chooses_rows else ()

    @property
    def deviation_means(self) -> dict[int, DeviationMean]:
        """The means that have a scan for their centres, by number."""
        return {
            number: release
            for number, release in enumerate(self.releases)
            if isinstance(release, DeviationMean)
        }

    @property
    def chooses_rows(self) -> bool:
        """Whether the bound on the rows of a unit is chosen."""
        return self.rows_choice is not None and not self.rows_choice.is_given

    @property
    def chooses(self) -> bool:
        """Whether any bound is chosen."""
        return any(not choice.is_given for choice in self.choices.values())

    @property
    def is_of_totals(self) -> bool:
        """Whether all releases but means of deviations follow from the totals of units by which bounds are
        chosen."""
        chosen = self.choices
        of_totals = len(chosen) - (None in chosen) + len(self.sums_of_totals)
        other = len(self.releases) - len(self.deviation_means)
        others = bool(self.keys or self.value_choices) or self.weight_choice is not None
        return bool(chosen) and not others and of_totals == other

    def tables(self) -> tuple[str, ...]:
        return tuple(map(str, tables_of_rows(self.source)))

    @property
    def listed_groups(self) -> tuple[tuple[str | None, ...], ...]:
        """The groups that are answered, in their order, if all keys are public."""
        if self.combinations is not None:
            return self.combinations
        return tuple(product(*(key.values or () for key in self.keys)))

    def groups(self) -> int | None:
        """How many groups are answered; None where that is private."""
        if self.combinations is not None:
            return len(self.combinations)
        count = 1
        for key in self.keys:
            if key.values is None:
                return None
            count *= len(key.values)
        return count


def _is_of_means(release: Release) -> bool:
    """Whether a unit with more rows than count adds its mean so many times: numbers of rows, and what is added
    up about the middle of its bounds (compiler.unit_scan). A sum with a bound on its own total is cut by that
    bound, not by the one on rows, so it does not follow from rows (PROOFS.md 23 B6)."""
    if not isinstance(release, NoisyStatistic) or release.total is not None:
        return False
    return release.statistic is Statistic.ROWS or release.statistic.is_centred


def with_centres(block: BlockPlan, centres: Mapping[int, NoisyCentres]) -> BlockPlan:
    """Put released centres into the means of a block, by the numbers of these."""
    releases = list(block.releases)
    for number, found in centres.items():
        releases[number] = replace(block.deviation_means[number], centres=found)
    return replace(block, releases=tuple(releases))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePlan:
    """The plan of a whole statement. loss: what it costs, all blocks together; losses: each of them."""

    blocks: tuple[BlockPlan, ...]
    loss: Loss
    losses: tuple[Loss, ...] = ()


def read_tables(block: BlockPlan, policy: Policy) -> frozenset[TableName]:
    """Collect the tables that the statements of a block read.

    Args:
        block: Its relations and conditions name tables: in FROM, and as lists in conditions.
        policy: That it was planned by: a unit can be found through another table.
    """
    found = frozenset(_named(block))
    units = (
        table.unit for name in found if isinstance(table := policy.tables.get(name), ProtectedTable)
    )
    paths = (unit.path for unit in units if isinstance(unit, IdentifierUnit))
    return found.union(path.table for path in paths if path is not None)


def _named(block: BlockPlan) -> Iterator[TableName]:
    for node in nodes(block):
        yield from (
            part
            for part in (getattr(node, one.name) for one in fields(node))
            if isinstance(part, TableName)
        )
