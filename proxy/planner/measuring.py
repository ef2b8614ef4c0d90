"""What a release is about: whose rows count, how many, and what the database computes of each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import partial

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.session_settings import how_to_reset, how_to_set
from proxy.kernel.known_values import Value
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.kernel.shape import Shape
from proxy.kernel.statistics import LARGEST_INDEX, Measured, factors_of
from proxy.mechanisms.loss import Loss
from proxy.planner import grids
from proxy.planner.bounds import bounded, condition
from proxy.planner.facts import ColumnFacts, Facts
from proxy.planner.narrowed_operands import OperandFacts, is_much_narrower
from proxy.planner.open_values import OpenValue, cut_to_kept, kept_facts
from proxy.planner.series import SeriesTerms
from proxy.policy.policy_model import Bounds, Mechanism, Privacy
from proxy.query.ir.expressions import ColumnRef, Expression, Is, Not
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.rebuilding import conjunction

_ROUTED = (AggregateKind.AVG, AggregateKind.MIN, AggregateKind.MAX)
_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT)
_EXTREMES = (AggregateKind.MIN, AggregateKind.MAX)
SPREADS = (
    AggregateKind.VAR_POP,
    AggregateKind.VAR_SAMP,
    AggregateKind.STDDEV_POP,
    AggregateKind.STDDEV_SAMP,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureContext:
    """What planning a block needs to know of all its releases."""

    facts: Facts
    shape: Shape  # whose rows count, how many, in how many groups
    privacy: Privacy
    wanted: Loss  # of the statement as a whole
    has_private_keys: bool = False  # groups are chosen when it runs
    most_rows: int | None = (
        None  # where the rows of a unit are bounded by choice: the largest bound
    )
    chosen: Mapping[int | None, int] = field(
        default_factory=dict
    )  # bounds, by release; None: on rows

    mechanism: Mechanism | None = (
        None  # what the session has chosen for AVG, MIN and MAX; None: as the policy says
    )
    operands: OperandFacts = field(
        default_factory=dict
    )  # facts of what is aggregated, narrowed by conditions

    weight_bound: int | None = None  # of rows that quantiles weigh, once it is chosen

    series: SeriesTerms | None = None  # all releases are drawn step by step

    # Of operands whose range follows from how many rows a unit may have.
    open_values: Mapping[Expression, OpenValue] = field(default_factory=dict)

    def facts_of(self, aggregate: Aggregate) -> Facts:
        """Of what it aggregates. Conditions are computed with `facts`."""
        return kept_facts(self.operands.get(aggregate.condition, self.facts))

    @property
    def neighbours(self) -> Neighbours:
        return self.shape.neighbours

    @property
    def has_units(self) -> bool:
        """Whether rows are of identified units, so that each has a minimum of its own; not pairs of units."""
        match self.neighbours:
            case RowNeighbours():
                return self.neighbours.not_null is not None
            case UnitNeighbours():
                return True
            case _:
                assert_never(self.neighbours)

    @property
    def is_unbounded(self) -> bool:
        """Whether the policy declares the rows of a unit unbounded."""
        return isinstance(self.neighbours, UnitNeighbours) and self.neighbours.is_unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """What planning one release needs to know. loss: all that it may spend; number: of the release; is_shared:
    other answers are made of it too, so that its rows are cut as theirs are; square_share: of a mean of
    deviations, what is for squares."""

    context: MeasureContext
    loss: Loss
    number: int = 0
    is_shared: bool = False
    square_share: Fraction = Fraction(0)


def column_facts(aggregate: Aggregate, context: MeasureContext) -> ColumnFacts | None:
    """Of the column that is aggregated; None of an expression."""
    operand = aggregate.operand
    if not isinstance(operand, ColumnRef):
        return None
    return context.facts[operand.relation, operand.column]


def has_total(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether a SUM has a bound of its own on what a unit adds."""
    if aggregate.kind is not AggregateKind.SUM or not isinstance(
        context.neighbours, UnitNeighbours
    ):
        return False
    column = column_facts(aggregate, context)
    own = column is not None and (column.per_unit is not None or column.chooses_per_unit)
    return own or context.most_rows is not None


def has_range(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether an aggregate takes its noise from the range of its operands.

    Counts do not, nor do sums with a bound of their own. MIN and MAX find their range by places that grow
    (mechanisms.growing_places).
    """
    if aggregate.kind in (*_COUNTS, *_EXTREMES):
        return False
    return not has_total(aggregate, context)


def chooses_total(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether a SUM has a bound of its own that is chosen, by the policy of its column."""
    column = column_facts(aggregate, context)
    return (
        has_total(aggregate, context)
        and column is not None
        and (column.chooses_per_unit or given_total(aggregate, context) is GivenTotal.CHOSEN)
    )


class GivenTotal(Enum):
    """What becomes of a bound that the policy gives on what a unit adds to a SUM."""

    KEPT = "kept"
    ROWS = "rows"  # as many rows as count, of the largest values, add no more
    CHOSEN = (
        "chosen"  # conditions leave small values alone, so that a chosen one is mostly far below
    )


def given_total(aggregate: Aggregate, context: MeasureContext) -> GivenTotal | None:
    """None: the policy gives none. By the statement, the policy and the catalogue only."""
    column, operand = column_facts(aggregate, context), aggregate.operand
    if column is None or column.per_unit is None or not isinstance(operand, ColumnRef):
        return None
    clamp = context.facts_of(aggregate)[operand.relation, operand.column].bounds
    if context.is_unbounded or clamp is None:
        return GivenTotal.KEPT
    given = max(-column.per_unit.low, column.per_unit.high)
    rows = context.shape.rows if context.most_rows is None else None
    if rows is not None and rows * max(abs(clamp.low), abs(clamp.high)) < given:
        return GivenTotal.ROWS
    return GivenTotal.CHOSEN if is_much_narrower(cut_to_kept(column), clamp) else GivenTotal.KEPT


def is_of_deviations(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether a mean, a variance or a standard deviation is made of deviations from noisy centres, which choose
    their own bounds on what a unit adds: of units with several rows, in groups that are public."""
    return (
        aggregate.kind in (AggregateKind.AVG, *SPREADS)
        and isinstance(context.neighbours, UnitNeighbours)
        and not context.is_unbounded
        and not context.has_private_keys
        and mechanism_of(aggregate, context) is Mechanism.BEST
    )


def needs_rows(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether an aggregate that is a release of its own depends on how many rows of a unit count."""
    match aggregate.kind:
        case AggregateKind.COUNT_ROWS | AggregateKind.COUNT | AggregateKind.SUM:
            return False  # bounded by their totals
        case AggregateKind.AVG:
            is_best = mechanism_of(aggregate, context) is Mechanism.BEST
            return is_best and not is_of_deviations(aggregate, context)
        case AggregateKind.MIN | AggregateKind.MAX:
            is_best = mechanism_of(aggregate, context).of_extremes is Mechanism.BEST
            return is_best and not context.has_units
        case AggregateKind.COUNT_DISTINCT:
            column = column_facts(aggregate, context)
            return column is None or not column.is_unit
        case _:
            return not (is_of_deviations(aggregate, context) or is_weighted(aggregate, context))


def is_weighted(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether a quantile weighs rows by how many their unit has, with a bound of its own: of units with several
    rows whose number is bounded by choice, in groups that are public.

    Of totals of units with a range by choice the rows are cut as those of other aggregates are.
    """
    return (
        aggregate.kind in (AggregateKind.QUANTILE_CONT, AggregateKind.QUANTILE_DISC)
        and context.most_rows is not None
        and not context.has_private_keys
        and not any(operand in context.open_values for operand in aggregate.operands)
    )


def is_unit_extreme(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether MIN or MAX is of one value for each unit and group."""
    if aggregate.kind not in (AggregateKind.MIN, AggregateKind.MAX) or not context.has_units:
        return False
    return mechanism_of(aggregate, context).of_extremes is Mechanism.BEST


def condition_of(aggregate: Aggregate, context: MeasureContext) -> Expression | None:
    if aggregate.condition is None:
        return None
    return condition(aggregate.condition, context.facts)


def mechanism_of(aggregate: Aggregate, context: MeasureContext) -> Mechanism:
    """Choose the mechanism: the session's for AVG, MIN and MAX, else the column's, else the policy's.

    Never AUTO, which is BEST where the rows of a unit are bounded, publicly or by choice, and else the smoothed
    median.

    Raises:
        Refusal: SETTING, the session has chosen what the policy does not give to this column.
    """
    own = _by_policy(aggregate, context)
    wanted = context.mechanism
    if wanted is None or aggregate.kind not in _ROUTED:
        return own
    if wanted not in (own, Mechanism.SMOOTH_MEDIAN, mechanism_of_all(context)):
        raise Refusal(
            Code.SETTING,
            f"dp.mechanism = {wanted.value} is not allowed for this {aggregate.kind.value}: the policy gives it"
            " neither to the column nor to all columns",
            f"{how_to_reset('dp.mechanism')}, or {how_to_set('dp.mechanism', 'smooth_median')}.",
        )
    return wanted


def mechanism_of_all(context: MeasureContext) -> Mechanism:
    """What the policy says for columns of which it says nothing else; never AUTO."""
    return _resolved(context.privacy.mechanism, context)


def may_be_best(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether a session may choose `best` for this AVG, MIN or MAX, and is answered then."""
    allowed = (_by_policy(aggregate, context), mechanism_of_all(context))
    return Mechanism.BEST in allowed and not context.is_unbounded


def is_best_by_policy(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether it is answered by `best` if the session chooses no mechanism."""
    return _by_policy(aggregate, context) is Mechanism.BEST and not context.is_unbounded


def _by_policy(aggregate: Aggregate, context: MeasureContext) -> Mechanism:
    operand, chosen = aggregate.operand, context.privacy.mechanism
    if isinstance(operand, ColumnRef):
        chosen = context.facts[operand.relation, operand.column].mechanism or chosen
    return _resolved(chosen, context)


def _resolved(mechanism: Mechanism, context: MeasureContext) -> Mechanism:
    if mechanism is not Mechanism.AUTO:
        return mechanism
    return Mechanism.SMOOTH_MEDIAN if context.is_unbounded else Mechanism.BEST


def check_has_bounds(aggregate: Aggregate, context: MeasureContext) -> None:
    """Refuses  NO_BOUNDS: it needs a bound on what a unit adds, and its rows are declared unbounded"""
    if not context.is_unbounded:
        return
    column = column_facts(aggregate, context)
    match aggregate.kind:
        case AggregateKind.COUNT_ROWS | AggregateKind.COUNT:
            is_bounded = False
        case AggregateKind.SUM:
            is_bounded = column is not None and column.per_unit is not None
        case AggregateKind.AVG if mechanism_of(aggregate, context) is Mechanism.SUM_OVER_COUNT:
            is_bounded = False
        case _:
            is_bounded = not needs_rows(aggregate, context)
    if not is_bounded:
        raise Refusal(
            Code.NO_BOUNDS,
            f"{aggregate.kind.value} needs a bound on the rows of a privacy unit, which the policy declares"
            " unbounded",
            "Ask for avg, min or max by smooth_median, or count(DISTINCT unit), or ask the data owner for"
            " max_rows_per_unit: auto.",
            aggregate.position,
        )


def operands_of(aggregate: Aggregate, context: MeasureContext) -> tuple[Measured, ...]:
    """Each operand of an aggregate of sums. Of a pair only rows count where both are not NULL."""
    only = condition_of(aggregate, context)
    found = []
    for operand in aggregate.operands:
        others = [part for part in aggregate.operands if part is not operand]
        there = [_is_not_null(part, context) for part in others if not never_null(part, context)]
        found.append(_measured(operand, aggregate, _all_of(only, *there), context))
    return tuple(found)


def measured_of(
    aggregate: Aggregate, context: MeasureContext, steps: int | None = None
) -> Measured:
    """The one operand, its clamp at the aggregate (whole grid steps inside its bounds) and its grid.

    steps: no more of them, of a size that fits; None: as many as the grid gives.
    """
    (operand,) = aggregate.operands
    return _measured(operand, aggregate, condition_of(aggregate, context), context, steps)


def _is_not_null(operand: Expression, context: MeasureContext) -> Expression:
    return Not(Is(condition(operand, context.facts), None))


def _all_of(*parts: Expression | None) -> Expression | None:
    return conjunction([part for part in parts if part is not None])


def _measured(
    operand: Expression,
    aggregate: Aggregate,
    only: Expression | None,
    context: MeasureContext,
    steps: int | None = None,
) -> Measured:
    kind = operand.type
    if kind is not None and kind.is_time and not isinstance(operand, ColumnRef):
        raise Refusal(
            Code.UNSUPPORTED,
            f"{aggregate.kind.value} of an expression of {kind.sql} is not available",
            "Name it in a subquery: SELECT max(t) FROM (SELECT created::date AS t FROM table) q.",
        )
    facts = context.facts_of(aggregate)
    found = bounded(operand, facts)
    interval = found.interval or Bounds(Fraction(0), Fraction(0))
    open_value = context.open_values.get(operand) if has_range(aggregate, context) else None
    if open_value is None or found.expression not in open_value.operands:
        grid = grids.of_expression(found.expression, interval, facts)
    else:
        interval, grid = open_value.within(interval), open_value.grid
    farthest = max(abs(interval.low), abs(interval.high))
    while steps is not None and (
        (interval.high - interval.low) / grid > steps or farthest / grid > LARGEST_INDEX
    ):
        grid *= 10
    low, high = math.ceil(interval.low / grid), math.floor(interval.high / grid)
    if low > high:  # bounds within one step: the nearest step, so that something can be said
        low = high = round(interval.low / grid)
    check_size(low, high)
    index, index_steps = _stored_index(operand, grid, context)
    return Measured(
        operand=found.expression,
        condition=only,
        clamp=Bounds(low * grid, high * grid),
        grid=grid,
        rows=context.shape.rows,
        on_grid=_on_grid(operand, grid, context),
        least=_least(operand, context),
        is_of_mean=aggregate.kind in (AggregateKind.SUM, AggregateKind.AVG)
        and mechanism_of(aggregate, context) is Mechanism.SUM_OVER_COUNT,
        factors=()
        if isinstance(operand, ColumnRef)
        else factors_of(found.expression, partial(_stored, facts=facts)),
        index=index,
        index_steps=index_steps,
    )


def _stored(column: ColumnRef, facts: Facts) -> Value:
    known = facts[column.relation, column.column]
    return Value(step=known.step, least=known.least)


def _stored_index(
    operand: Expression, grid: Fraction, context: MeasureContext
) -> tuple[ColumnRef | None, int]:
    """The column that holds the index, and how many of its steps one is. A subquery does not carry it up."""
    if not isinstance(operand, ColumnRef):
        return None, 1
    facts = context.facts[operand.relation, operand.column]
    index, steps = facts.index, None if facts.grid is None else grid / facts.grid
    if index is None or index.relation != operand.relation:
        return None, 1
    if steps is None or steps.denominator != 1:
        return None, 1
    return index, steps.numerator


def _on_grid(operand: Expression, grid: Fraction, context: MeasureContext) -> bool:
    if not isinstance(operand, ColumnRef):
        return False
    step = context.facts[operand.relation, operand.column].step
    return step is not None and (step / grid).denominator == 1


def _least(operand: Expression, context: MeasureContext) -> Fraction | None:
    if not isinstance(operand, ColumnRef):
        return None
    return context.facts[operand.relation, operand.column].least


def never_null(operand: Expression, context: MeasureContext) -> bool:
    if not isinstance(operand, ColumnRef):
        return False
    return not context.facts[operand.relation, operand.column].nullable


def check_size(low: int, high: int) -> None:
    if max(abs(low), abs(high)) > LARGEST_INDEX:
        raise Refusal(
            Code.UNSUPPORTED,
            "the values of this expression are too large for its grid",
            "Scale the expression down, or ask the data owner for a coarser grid.",
        )
