"""GROUP BY the privacy unit, and by further keys: rows of one unit become one row for each value of the keys.

However many rows the unit has, so many come of it at most: neighbours that differ in a unit differ in its rows
alone, before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.kernel.fixed_columns import fixed_columns, fixed_times, is_fixed, most_groups
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.owners import NO_COLUMNS, ColumnNames, FixedTimes
from proxy.planner import grids
from proxy.planner.bounds import bounded, condition
from proxy.planner.computed_columns import computed_column
from proxy.planner.facts import (
    ColumnFacts,
    Facts,
    PlanningContext,
    RelationWithUnit,
    UnitRows,
    Untruncated,
    Values,
    typed,
)
from proxy.planner.narrowing import key_values, narrowed
from proxy.planner.open_values import kept_range, open_rows
from proxy.planner.possible_truth import listed_value
from proxy.planner.unit_truncation import with_condition
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import GroupByUnit, Relation

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT)
_DAY = 86_400
_ADDED = (*_COUNTS, AggregateKind.SUM)


def per_unit(
    grouped: GroupByUnit, source: RelationWithUnit, context: PlanningContext
) -> RelationWithUnit:
    """
    Refuses  UNSUPPORTED: rows that are no identifier's; aggregates and keys that are not available per unit
    """
    ownership = source.ownership
    if not isinstance(ownership, UnitRows):
        _refuse(
            "GROUP BY here can only be on the privacy unit of a table",
            "Rows that are units by themselves need no GROUP BY: aggregate them directly.",
        )
    where = None
    if grouped.where is not None:
        where = condition(typed(grouped.where, source.facts), source.facts)
    facts: dict[tuple[str, str], ColumnFacts] = {
        (grouped.alias, UNIT_COLUMN): ColumnFacts(ownership.column.type, is_unit=True)
    }
    own = None if grouped.where is None else typed(grouped.where, source.facts)
    public = narrowed(source.facts, own)
    keys: list[Expression] = []
    for number, key in enumerate(grouped.keys, start=1):
        planned_key, known = _key(typed(key, source.facts), public, own)
        keys.append(planned_key)
        facts[grouped.alias, key_column(number)] = known
    is_one_row = are_fixed(keys, source, context)
    aggregates: list[Aggregate] = []
    for number, aggregate in enumerate(grouped.aggregates, start=1):
        if grouped.is_compared:
            planned, known = _compared_end(aggregate, source.facts)
        else:
            started = _first_start(aggregate, source.facts, public, own)
            planned, known = started or unit_aggregate(aggregate, ownership, source.facts)
        if not is_one_row and aggregate.kind in _ADDED:
            known = _added_by_keys(known)
        aggregates.append(planned)
        facts[grouped.alias, aggregate_column(number)] = known
    below, where = with_condition(source.relation, where)
    relation = replace(
        grouped,
        source=below,
        where=where,
        unit=ownership.column,
        aggregates=tuple(aggregates),
        rows=ownership.rows,
        keys=tuple(keys),
    )
    unit = ColumnRef(UNIT_COLUMN, ownership.column.type, None, grouped.alias)
    return RelationWithUnit(
        relation, source.facts.instead(facts), _gathered(grouped, ownership, unit, is_one_row)
    )


def _added_by_keys(known: ColumnFacts) -> ColumnFacts:
    """What is added up by keys adds up to no more over all rows of a unit than without keys."""
    if known.open_rows is not None:
        return replace(known, chooses_per_unit=True)
    return replace(known, per_unit=known.kept or known.bounds)


def _gathered(
    grouped: GroupByUnit, ownership: UnitRows, unit: ColumnRef, is_one_row: bool
) -> UnitRows:
    """One row, unless there are keys that the unit does not fix: then as many as the unit had at most, to be
    cut below a join again."""
    if is_one_row:
        return replace(
            ownership,
            column=unit,
            rows=1,
            named_by=(),
            untruncated=(),
            formed=1,
            is_chosen=False,
            is_unbounded=False,
        )
    again = (Untruncated(grouped.alias, unit, ownership.joined),) if ownership.untruncated else ()
    formed = ownership.joined if again else ownership.formed
    return replace(ownership, column=unit, named_by=(), untruncated=again, formed=formed)


def _key(key: Expression, facts: Facts, where: Expression | None) -> tuple[Expression, ColumnFacts]:
    """
    Refuses  UNSUPPORTED: a type that may have no equality, which raises once there is a row
    """
    if key.type is None or key.type is SqlType.OTHER or key.type.is_compound:
        _refuse(
            "GROUP BY a column of this type is not available on a protected table",
            "Group by a number, a text, a date, a timestamp, a boolean or a uuid.",
        )
    planned, known = computed_column(key, facts, where)
    if known.is_unit:
        return planned, known
    return planned, replace(known, per_unit=None, chooses_per_unit=False)


def _compared_end(aggregate: Aggregate, facts: Facts) -> tuple[Aggregate, ColumnFacts]:
    """Nothing is said of it, so that it can be compared, as a column without bounds can, and nothing else."""
    assert aggregate.operand is not None
    operand = typed(aggregate.operand, facts)
    assert operand.type is not None
    kind = operand.type if operand.type.is_time else SqlType.NUMERIC
    return replace(aggregate, operand=operand), ColumnFacts(kind)


def _first_start(
    aggregate: Aggregate, facts: Facts, public: Facts, where: Expression | None
) -> tuple[Aggregate, ColumnFacts] | None:
    """min(date_trunc('month', d)): of times that are listed, it is one; None for anything else."""
    operand = None if aggregate.operand is None else typed(aggregate.operand, facts)
    if aggregate.kind not in (AggregateKind.MIN, AggregateKind.MAX) or operand is None:
        return None
    if operand.type is None or not operand.type.is_time:
        return None
    if isinstance(operand, ColumnRef):
        known = facts[operand.relation, operand.column]
        if known.bounds is not None and (known.is_clamped or known.values is None):
            return None
    values = key_values(operand, public, where)
    times = [listed_value(value, operand.type) for value in values or ()]
    seconds = [time for time in times if isinstance(time, Fraction)]
    if not seconds or len(seconds) < len(times):
        return None
    is_date = operand.type is SqlType.DATE
    scale, kind = (_DAY, BoundsKind.DATE) if is_date else (1, BoundsKind.TIMESTAMP)
    span = Bounds(min(seconds) / scale, max(seconds) / scale, kind)
    only = None
    if aggregate.condition is not None:
        only = condition(typed(aggregate.condition, facts), facts)
    planned = replace(aggregate, operand=condition(operand, facts), condition=only)
    return planned, ColumnFacts(operand.type, span, Fraction(1), values)


def unit_aggregate(
    aggregate: Aggregate, ownership: UnitRows, facts: Facts
) -> tuple[Aggregate, ColumnFacts]:
    """An aggregate over the rows of one unit, with its bounds; more than `rows` rows never count."""
    only = None
    if aggregate.condition is not None:
        only = condition(typed(aggregate.condition, facts), facts)
    kind = aggregate.kind
    if kind in _COUNTS:
        operand = aggregate.operand
        if operand is not None:
            operand = condition(typed(operand, facts), facts)
        span = Bounds(Fraction(0), Fraction(ownership.rows))
        values = None
        if (
            ownership.rows < limits.GROUPS_PER_STATEMENT
        ):  # a join's rows may be a product of large numbers
            # A group has a row, but not each of its rows meets a FILTER or has a value.
            least = int(kind is AggregateKind.COUNT_ROWS and only is None)
            values = tuple(str(n) for n in range(least, ownership.rows + 1))
        rows = ownership.rows if ownership.is_chosen else None
        known = ColumnFacts(SqlType.INT8, span, Fraction(1), values, open_rows=rows)
        return replace(aggregate, operand=operand, condition=only), known
    if kind not in (AggregateKind.SUM, AggregateKind.AVG, AggregateKind.MIN, AggregateKind.MAX):
        _refuse(f"{kind.value} per unit is not available", "Use count, sum, avg, min or max.")
    assert aggregate.operand is not None
    found = bounded(typed(aggregate.operand, facts), facts)
    interval = found.interval or Bounds(Fraction(0), Fraction(0))
    grid = grids.of_expression(found.expression, interval, facts)
    operand = typed(aggregate.operand, facts)
    rows, kept = open_rows(operand, facts), kept_range(operand, facts)
    if kind is AggregateKind.SUM:
        total = _total(operand, interval, ownership, facts)
        interval, rows, kept = total.bounds or interval, total.open_rows, total.kept
    elif kind is AggregateKind.AVG:
        grid = grids.of_average(grid, interval)
    of = aggregate.operand.type
    times = of is not None and of.is_time
    number = of if of is not None and times else SqlType.NUMERIC
    known = ColumnFacts(number, interval, grid, open_rows=rows, kept=kept)
    return replace(aggregate, operand=found.expression, condition=only), known


def _total(operand: Expression, each: Bounds, ownership: UnitRows, facts: Facts) -> ColumnFacts:
    """Describe the sum over the rows of a unit.

    Args:
        operand: What is added up.
        each: What one row adds.
        ownership: Of the rows.
        facts: Of their columns.

    Returns:
        Its bounds, which are those of as many rows as count. A bound that the policy gives on what a unit adds
        is kept in answers alone: conditions and groups see the total.
    """
    rows = ownership.rows
    bounds = Bounds(rows * min(each.low, Fraction(0)), rows * max(each.high, Fraction(0)))
    column = None
    if isinstance(operand, ColumnRef):
        column = facts.get((operand.relation, operand.column))
    given, chooses = (None, False) if column is None else (column.per_unit, column.chooses_per_unit)
    kept = None
    if given is not None:
        kept = Bounds(
            max(bounds.low, min(given.low, Fraction(0))),
            min(bounds.high, max(given.high, Fraction(0))),
        )
    is_of_open = open_rows(operand, facts) is not None
    is_open = chooses or is_of_open or (ownership.is_chosen and given is None)
    return ColumnFacts(SqlType.NUMERIC, bounds, open_rows=rows if is_open else None, kept=kept)


def _refuse(message: str, hint: str) -> NoReturn:
    raise Refusal(Code.UNSUPPORTED, message, hint)


# Keys that a privacy unit fixes, as the kernel sees it: the unit has one value of them, in all of its rows.


def reach_of(
    source: RelationWithUnit,
    keys: Sequence[KeyPlan],
    combinations: Sequence[Values] | None,
    context: PlanningContext,
) -> int | None:
    """Bound the groups in which one unit has rows, by the keys that the unit fixes.

    Args:
        source: Where the rows are from.
        keys: The keys of the block.
        combinations: The groups that are answered; None: all combinations of the values of keys.
        context: Policy and catalogue.

    Returns:
        The bound of the kernel; None where it knows none.
    """
    if not keys or not isinstance(source.ownership, UnitRows):
        return None
    return most_groups(keys, combinations, *_fixed(source.relation, context))


def are_fixed(
    keys: Sequence[Expression], source: RelationWithUnit, context: PlanningContext
) -> bool:
    """Say whether a unit has one value of all keys, so that it has one row by unit and keys."""
    fixed = _fixed(source.relation, context)
    return all(is_fixed(key, *fixed) for key in keys)


def _fixed(relation: Relation, context: PlanningContext) -> tuple[ColumnNames, FixedTimes]:
    """Nothing of a relation that the kernel refuses: it refuses the plan, too."""
    found = context.attributed(relation)
    if found is None:
        return NO_COLUMNS, frozenset()
    return fixed_columns(found), fixed_times(found)
