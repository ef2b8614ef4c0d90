"""The releases and answers of a block: what stands alone and what is made of shared sums, each at its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from proxy.base.errors import Refusal
from proxy.kernel.plan import Answer, BlockPlan, Calculated, LaplaceNoise, NoisyStatistic, Release
from proxy.mechanisms.loss import Loss
from proxy.planner.budget_allocation import BudgetAllocation, MadeOf, SharedStatistic
from proxy.planner.measuring import MeasureContext, Priced, is_unit_extreme, operands_of
from proxy.planner.order_statistics import ValuedRows, kept_units, valued_rows
from proxy.planner.release_choice import plan_release, shared_statistic
from proxy.query.ir.query_aggregates import Aggregate


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What each independent release, by its aggregate's number, each shared sum, and each number of units may
    spend."""

    independent: Mapping[int, Loss]
    statistics: Mapping[SharedStatistic, Loss]
    units: Mapping[ValuedRows, Loss]


def block_releases(
    aggregates: Sequence[Aggregate],
    context: MeasureContext,
    allocation: BudgetAllocation,
    spent: Spent,
) -> tuple[tuple[Release, ...], tuple[Answer, ...]]:
    """
    Given    allocation: of these aggregates
    Gives    releases in the order of the aggregates, then sums that several aggregates are made of, then
             numbers of units
    Refuses  as planner.release_choice.plan_release, at the aggregate's position
    """
    drawing = _Drawing(aggregates=aggregates, context=context, allocation=allocation, spent=spent)
    for number in range(len(aggregates)):
        drawing.place(number)
    drawing.place_rest()
    drawing.place_units()
    answers: list[Answer] = []
    for number, aggregate in enumerate(aggregates):
        if number in allocation.alias_of:
            first = answers[allocation.alias_of[number]]
            answers.append(Answer(aggregate=aggregate, releases=first.releases))
        elif number in allocation.made_of:
            answers.append(drawing.made(aggregate, allocation.made_of[number]))
        else:
            answers.append(Answer(aggregate=aggregate, releases=drawing.releases_of(number)))
    return tuple(drawing.releases), tuple(answers)


@dataclass(slots=True, kw_only=True)
class _Drawing:
    """Releases as they are laid out. own, places: the number of an independent release, and of each part."""

    aggregates: Sequence[Aggregate]
    context: MeasureContext
    allocation: BudgetAllocation
    spent: Spent
    releases: list[Release] = field(default_factory=list)
    own: dict[int, int] = field(default_factory=dict)
    places: dict[SharedStatistic, int] = field(default_factory=dict)
    units: dict[ValuedRows, int] = field(default_factory=dict)

    def place(self, number: int) -> None:
        """What one aggregate brings of its own."""
        aggregate, allocation = self.aggregates[number], self.allocation
        if number in allocation.alias_of:
            return
        made_of = allocation.made_of.get(number)
        if made_of is None:
            loss = self.spent.independent[number]
            square_share = allocation.square_shares.get(number, Fraction(0))
            self.own[number] = self._placed(aggregate, loss, square_share=square_share)
        elif made_of.formula.of is None:
            (statistic,) = made_of.statistics
            if statistic not in self.places:
                loss = self.spent.statistics[statistic]
                self.places[statistic] = self._placed(aggregate, loss, is_shared=True)
        elif all(self._users(statistic) == [number] for statistic in made_of.statistics):
            for statistic in dict.fromkeys(
                made_of.statistics
            ):  # a pair of one and the same has equal ones
                self._add(statistic, aggregate)

    def place_rest(self) -> None:
        for statistic in self.allocation.statistics:
            if statistic not in self.places:
                self._add(statistic, self.aggregates[self._users(statistic)[0]])

    def place_units(self) -> None:
        """The numbers of units of which minima and maxima are."""
        for number in self.own:
            aggregate = self.aggregates[number]
            if not is_unit_extreme(aggregate, self.context):
                continue
            rows = valued_rows(aggregate, self.context)
            if rows not in self.units:
                self.units[rows] = len(self.releases)
                self.releases.append(kept_units(aggregate, self.context, self.spent.units[rows]))

    def releases_of(self, number: int) -> tuple[int, ...]:
        """Of an aggregate that is a release of its own, and what says whether it is shown."""
        aggregate = self.aggregates[number]
        if not is_unit_extreme(aggregate, self.context):
            return (self.own[number],)
        return self.own[number], self.units[valued_rows(aggregate, self.context)]

    def made(self, aggregate: Aggregate, made_of: MadeOf) -> Answer:
        places = tuple(self.places[statistic] for statistic in made_of.statistics)
        if made_of.formula.of is None:
            return Answer(aggregate=aggregate, releases=places)
        measured = operands_of(aggregate, self.context)
        calculated = Calculated(
            formula=made_of.formula,
            measured=measured,
            output_grid=made_of.formula.output_grid(measured),
        )
        return Answer(aggregate=aggregate, releases=places, calculated=calculated)

    def _users(self, statistic: SharedStatistic) -> list[int]:
        made_of = self.allocation.made_of
        return [number for number in sorted(made_of) if statistic in made_of[number].statistics]

    def _placed(
        self,
        aggregate: Aggregate,
        loss: Loss,
        is_shared: bool = False,
        square_share: Fraction = Fraction(0),
    ) -> int:
        number, context = len(self.releases), self.context
        priced = Priced(
            context=context,
            loss=loss,
            number=number,
            is_shared=is_shared,
            square_share=square_share,
        )
        try:
            release = plan_release(aggregate, priced)
        except Refusal as refusal:
            raise (
                refusal if refusal.position is not None else refusal.at(aggregate.position)
            ) from None
        self.releases.append(release)
        return len(self.releases) - 1

    def _add(self, statistic: SharedStatistic, first: Aggregate) -> None:
        measured = statistic.measured or operands_of(first, self.context)
        loss = self.spent.statistics[statistic]
        self.places[statistic] = len(self.releases)
        self.releases.append(
            shared_statistic(first, statistic.statistic, measured, self.context, loss)
        )


# --- The noise of what an answer is calculated from.


def scales_of(plan: BlockPlan, answer: Answer) -> tuple[Fraction, ...]:
    """The scales of the noisy sums that an answer is made of: Laplace noise always
    (planner/release_choice.py)."""
    return tuple(_scale(plan.releases[number]) for number in answer.releases)


def _scale(release: Release) -> Fraction:
    assert isinstance(release, NoisyStatistic)
    assert isinstance(release.noise, LaplaceNoise)
    return release.noise.scale
