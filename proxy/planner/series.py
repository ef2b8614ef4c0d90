"""Statements that are released step by step, under one charge: their noise, and why a statement is no series.

Source  PROOFS.md 33, docs/how-to/publish.md 5
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.kernel.continual_rules import only_grows
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, ContinualNoise, DistinctCount, NoisyStatistic
from proxy.kernel.sensitivities import of_series, of_step, series
from proxy.kernel.shape import Shape
from proxy.mechanisms import continual
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Policy

BY_THE_DAY = (
    "Group by the day alone, such as created_at::date AS day, and give WHERE the first day and the last"
    " one; continual is the number of these days."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesTerms:
    """What the policy says of a series: its steps, and in how many of them a unit is at most."""

    steps: int
    most_steps: int


def in_order(neighbours: Neighbours, terms: SeriesTerms) -> Neighbours:
    """As neighbours are, of whose groups the first ones count.

    Raises:
        Refusal: Rows are units, which are in one day, or several of them are.
    """
    match neighbours:
        case UnitNeighbours():
            return replace(neighbours, groups=terms.most_steps, is_in_order=True)
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


def series_noise(
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
    if shape.count != terms.steps:
        count = "an unknown number of" if shape.count is None else str(shape.count)
        raise no_series(f"has {count} groups, and continual: {terms.steps} days", BY_THE_DAY)
    if isinstance(release, DistinctCount) and not release.of_unit:
        raise no_series(
            "counts different values, which a day does not add to another",
            "Count rows, or COUNT(DISTINCT) the privacy unit.",
        )
    factor = continual.best_factor(terms.steps, terms.most_steps)
    return series(of_series(shape, factor, of_step(release, shape)), factor, loss)


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
    if len(block.keys) != 1 or block.combinations is not None or block.groups() != terms.steps:
        count = block.groups()
        shown = "private" if count is None else count
        raise no_series(f"has {shown} groups, and continual: {terms.steps} days", BY_THE_DAY)
    if block.fewest is not None:
        raise no_series(
            "would show NULL for small groups, and its days would not add up",
            "Publish it without continual, or leave min_units_per_group out for its table.",
        )
    if block.choices:
        raise no_series(
            "reports how many units a bound cuts, which would be counted each day",
            "Leave dp.clipped(...) out.",
        )
    if not only_grows(block, policy):
        raise no_series(
            "reads rows that may change when others come",
            "Read protected tables with plain conditions and inner joins: no window, GROUP BY in a subquery,"
            " EXISTS, OUTER JOIN or public table, and no row that is cut.",
        )


def sums_of_days(noise: ContinualNoise) -> tuple[Fraction, Fraction, Fraction]:
    """Sigma squared of one day, of the worst sum of days in a row, and of all days."""
    return (
        continual.step_sigma2(noise.factor, noise.sigma2),
        continual.largest_sum_sigma2(noise.factor, noise.sigma2),
        continual.total_sigma2(noise.factor, noise.sigma2),
    )


def no_series(why: str, hint: str) -> Refusal:
    """The refusal of a statement that cannot be released day by day."""
    return Refusal(Code.UNSUPPORTED, f"a published series that {why} cannot be released", hint)
