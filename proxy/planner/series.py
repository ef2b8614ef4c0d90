"""Statements whose days have noise that cancels in sums: series, released day by day under one charge, and
days that are released together, whose ranges are asked for. Their noise, and why a statement is none of them.

Source  PROOFS.md 33, docs/how-to/publish.md 5
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.estimates import series_noise
from proxy.kernel.continual_rules import only_grows
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    DistinctCount,
    GaussianNoise,
    NoisyStatistic,
)
from proxy.kernel.sensitivities import of_series, of_step, series, steps_of
from proxy.kernel.shape import Shape
from proxy.mechanisms import continual
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Policy

BY_DAYS = (
    "Group by the day alone, such as created_at::date AS day, and give WHERE the first day and the last"
    " one."
)
BY_THE_DAY = (
    "Group by the day alone, such as created_at::date AS day, and give WHERE the first day and the last"
    " one; continual is the number of these days."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesTerms:
    """What the policy says of a series: its steps, and in how many of them a unit is at most.

    Attributes:
        steps: None: as many as the statement has groups, all of which are drawn at once (`ranges: day`).
    """

    steps: int | None
    most_steps: int

    @property
    def is_at_once(self) -> bool:
        return self.steps is None

    def has_steps(self, groups: int | None) -> bool:
        """Whether so many groups can be its steps."""
        if self.steps is not None:
            return groups == self.steps
        return groups is not None and max(2, self.most_steps) <= groups <= continual.LARGEST_STEPS


def in_order(neighbours: Neighbours, terms: SeriesTerms) -> Neighbours:
    """As neighbours are, of whose groups so many count: the first ones, if the steps are read one by one.

    Raises:
        Refusal: Rows are units, which are in one day, or several of them are.
    """
    match neighbours:
        case UnitNeighbours():
            if not terms.is_at_once:
                return replace(neighbours, groups=terms.most_steps, is_in_order=True)
            per_group = neighbours.rows_per_group
            is_summed = per_group is None or neighbours.rows < terms.most_steps * per_group
            return replace(neighbours, groups=terms.most_steps, is_summed=is_summed)
        case RowNeighbours(rows=1) if terms.most_steps == 1:
            return neighbours
        case RowNeighbours(rows=1):
            raise no_series(
                "has max_days_per_unit above 1, and here each unit is one row",
                "Write max_days_per_unit: 1.",
            )
        case _:
            raise no_series(
                "is of several rows that are protected together",
                "Publish a series of a table whose unit is an identifier or one row.",
            )


def noise_of_series(
    release: NoisyStatistic | DistinctCount, shape: Shape, terms: SeriesTerms, loss: Loss
) -> ContinualNoise:
    """The noise of a series, for all its steps: of the factor that is best for so many.

    Args:
        release: A count or a sum, whatever its noise.
        shape: Of its block.
        terms: As the policy says.
        loss: Of the whole series.

    Raises:
        Refusal: A delta of 0, groups that are not the steps, or different values.
    """
    if loss.delta <= 0:
        raise no_series(
            "has Gaussian noise, which needs a delta above 0", "Give it one, such as delta: 1e-6."
        )
    if not terms.has_steps(shape.count):
        count = "an unknown number of" if shape.count is None else str(shape.count)
        raise _other_groups(count, terms)
    if isinstance(release, DistinctCount) and not release.of_unit:
        raise no_series(
            "counts different values, which a day does not add to another",
            "Count rows, or COUNT(DISTINCT) the privacy unit.",
        )
    assert shape.count is not None, "as terms.has_steps says"
    moved, is_at_once = of_step(release, shape), terms.is_at_once
    best = series_noise.best_range_factor if is_at_once else series_noise.best_factor
    factor = best(shape.count, steps_of(shape, moved, is_at_once=is_at_once))
    squared = of_series(shape, factor, moved, is_at_once=is_at_once)
    return series(squared, factor, loss, is_at_once=is_at_once)


def of_no_series() -> Refusal:
    """The refusal of an aggregate that is neither a count nor a sum."""
    return no_series(
        "has another aggregate than COUNT and SUM",
        "Publish SUM and COUNT as the series. Averages follow from them: sum(s) / sum(n) of the days.",
    )


def without_row_bound() -> Refusal:
    """The refusal of rows that have no bound of the policy's."""
    return Refusal(
        Code.NO_BOUNDS,
        "a published series needs max_rows_per_unit as a number: another bound would be chosen each day",
        "Give the table max_rows_per_unit, and max_rows_per_group_per_unit for the rows of one day, or count"
        " people: COUNT(DISTINCT) of the privacy unit.",
    )


def refuse_no_series(blocks: tuple[BlockPlan, ...], policy: Policy, terms: SeriesTerms) -> None:
    """
    Refuses  Refusal: a statement that cannot be released step by step, as the kernel would
    """
    if len(blocks) != 1:
        raise no_series("has several parts", "Publish each part as a series of its own.")
    (block,) = blocks
    count = block.groups()
    if len(block.keys) != 1 or block.combinations is not None or not terms.has_steps(count):
        raise _other_groups("private" if count is None else str(count), terms)
    if block.fewest is not None:
        key = "ranges" if terms.is_at_once else "continual"
        raise no_series(
            "would show NULL for small groups, and its days would not add up",
            f"Publish it without {key}, or leave min_units_per_group out for its table.",
        )
    if block.choices:
        raise no_series(
            "reports how many units a bound cuts, which would be counted each day",
            "Leave dp.clipped(...) out.",
        )
    if not terms.is_at_once and not only_grows(block, policy):
        raise no_series(
            "reads rows that may change when others come",
            "Read protected tables with plain conditions and inner joins: no window, GROUP BY in a subquery,"
            " EXISTS, OUTER JOIN or public table, and no row that is cut.",
        )


def _other_groups(groups: str, terms: SeriesTerms) -> Refusal:
    if terms.steps is not None:
        return no_series(f"has {groups} groups, and continual: {terms.steps} days", BY_THE_DAY)
    least, most = max(2, terms.most_steps), continual.LARGEST_STEPS
    return no_series(
        f"has {groups} groups, where ranges: day needs {least} to {most} days", BY_DAYS
    )


def noise_of_a_step(noise: ContinualNoise) -> GaussianNoise:
    """About what a single step has. For accuracy only: nothing is drawn by it."""
    return GaussianNoise(sigma2=series_noise.step_sigma2(noise.factor, noise.sigma2))


def sums_of_days(noise: ContinualNoise) -> tuple[Fraction, Fraction, Fraction]:
    """Sigma squared of one day, of the worst sum of days in a row, and of all days."""
    return (
        series_noise.step_sigma2(noise.factor, noise.sigma2),
        series_noise.largest_sum_sigma2(noise.factor, noise.sigma2),
        series_noise.total_sigma2(noise.factor, noise.sigma2),
    )


def no_series(why: str, hint: str) -> Refusal:
    """The refusal of a statement that cannot be released day by day."""
    return Refusal(Code.UNSUPPORTED, f"a published series that {why} cannot be released", hint)
