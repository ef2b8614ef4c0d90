"""Sentences about answers that are NULL, adjusted, or without a useful interval. From released numbers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from proxy.base.decimals import decimal_text
from proxy.base.result_columns import IntervalEnd
from proxy.base.written_names import written_name
from proxy.engine.accuracy import text_of, unit_of_error
from proxy.engine.advice import BEST, MORE, OR_RAISE
from proxy.engine.impossible_answers import (
    choice_notices,
    empty_groups,
    groups_phrase,
    impossible_answers,
    is_behind,
    is_null,
    shown_rows,
)
from proxy.engine.policy_limits import no_group, small_groups
from proxy.engine.unit_words import aggregate_word, answer_name, counted, output_names, units_word
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.statistics import Measured
from proxy.policy.policy_model import BoundsKind, Mechanism
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import Choose, ColumnRef, Expression, Quotient
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyArithmetic, NoisyOperator
from proxy.query.ir.query import TopList
from proxy.query.ir.query_aggregates import SPREADS, Aggregate, AggregateKind
from proxy.query.ir.relations import Scan, scans
from proxy.release.noisy_relation import (
    NoInterval,
    NoisyInterval,
    NoisyTable,
    NoisyValue,
    NullReason,
)
from proxy.release.null_answers import rows_needed
from proxy.release.small_groups import number_needed
from proxy.release.spread_values import units_needed

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT)
_REASONS = (
    *(NullReason.EMPTY_GROUP, NullReason.UNCLEAR_ROWS),
    *(NullReason.TOO_INEXACT, NullReason.TOO_WIDE, NullReason.ALL_NOISE),
)


def answer_notices(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Say which answers of a block are not what the statement asks for, a line each."""
    nothing = no_group(block, noisy)
    if nothing is not None:
        yield nothing
    yield from _of_values(*shown_rows(block, noisy))
    yield from empty_groups(block, noisy)
    yield from choice_notices(block, noisy)
    yield from _uncertain_list(block, noisy)
    yield from _unsettled_order(*shown_rows(block, noisy))
    yield from _counted_nulls(block)
    missing = small_groups(block, noisy)
    if missing is not None:
        yield missing


def _of_values(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Of the groups that are shown, as far as these are known."""
    yield from _small_groups(block, noisy)
    for position, answer in enumerate(block.answers):
        release = block.releases[answer.releases[0]]
        if isinstance(release, NoisyStatistic):
            continue
        values = [row.values[position] for row in noisy.rows]
        if isinstance(release, SampleAggregate):
            yield from _closed_gates(block, position + 1, release, values)
        if isinstance(release, DeviationMean):
            yield from _rough_means(block, position + 1, release, values)
        if isinstance(release, OrderStatistic):
            yield from _too_few(block, position + 1, release, values)
            yield from _open_ranks(block, position + 1, release, values)
        if isinstance(release, UnitExtreme):
            yield from _too_few_units(block, position + 1, release, values)
    if any(one.null_reason or one.is_adjusted for row in noisy.rows for one in row.values):
        for reason in _REASONS:
            yield from _nulls(block, noisy, reason)
        yield from _adjusted(block, noisy)
    yield from _capped(block, noisy)
    yield from impossible_answers(block, noisy)
    yield from _zero_divisions(block, noisy)
    yield from wide_quotients(block, noisy)
    yield from _unknown_clipped(block, noisy)
    yield from _spans(block)


def _small_groups(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """One line for all groups that the policy does not show."""
    gate = block.fewest
    if gate is None or not block.answers:
        return
    first = [row.values[0] for row in noisy.rows]
    missing = sum(value.null_reason is NullReason.TOO_FEW_UNITS for value in first)
    if missing:
        where = f" in {missing:,} of {counted(len(first), 'group')}" if block.keys else ""
        yield (
            f"NULL{where}: too few {units_word(block)}. The policy shows no group of fewer than {gate.units:,},"
            f" by a noisy number that has to be {number_needed(block):,} or more. Use fewer or larger groups."
        )


def _closed_gates(
    block: BlockPlan, number: int, release: SampleAggregate, values: Sequence[NoisyValue]
) -> Iterator[str]:
    missing = sum(value.is_missing and value.null_reason is None for value in values)
    if missing:
        units = units_word(block)
        if isinstance(block.neighbours, RowNeighbours) and not block.unit_name:
            units = "rows"
        yield (
            f"{answer_name(block, number)} is NULL{_where(block, missing, values)}: it takes about"
            f" {release.gate.least:,} {units}, and a noisy count found fewer. {_better(release)}"
        )


def _better(release: SampleAggregate) -> str:
    """What takes fewer units than partitions do: no other advice helps as much, if the policy allows it."""
    if release.may_be_best:
        return BEST
    return f"Ask the data owner for `mechanism: {Mechanism.BEST.value}`{OR_RAISE}"


def _rough_means(
    block: BlockPlan, number: int, release: DeviationMean, values: Sequence[NoisyValue]
) -> Iterator[str]:
    """Of means and variances where too few units were found to bound what each adds."""
    name, units = answer_name(block, number), units_word(block)
    missing = sum(value.null_reason is NullReason.TOO_FEW for value in values)
    unstated = sum(value.half_width is None and not value.is_missing for value in values)
    if missing:
        needed = units_needed(release, block.answers[number - 1].aggregate)
        yield (
            f"{name} is NULL{_where(block, missing, values)}: it takes about {needed:,} {units}, and a noisy"
            f" count found too few. {MORE}"
        )
    if unstated and number not in block.uncertain_answers:
        where = _where(block, unstated, values)
        yield f"{name}: the error is not known{where}, as too few {units} were found. {MORE}"
    is_cut = any(value.is_least and value.half_width is not None for value in values)
    if is_cut and block.answers[number - 1].aggregate.kind in SPREADS:
        yield (
            f"{name}: what {units} far from the mean add is cut at a bound chosen from the data, which would"
            " only make it larger."
        )


def _too_few(
    block: BlockPlan, number: int, release: OrderStatistic, values: Sequence[NoisyValue]
) -> Iterator[str]:
    missing = sum(value.null_reason is NullReason.TOO_FEW for value in values)
    if missing:
        yield (
            f"{answer_name(block, number)} is NULL{_where(block, missing, values)}: it takes about"
            f" {counted(rows_needed(release), 'row')}, and the noisy count is lower. {MORE}"
        )


def _open_ranks(
    block: BlockPlan, number: int, release: OrderStatistic, values: Sequence[NoisyValue]
) -> Iterator[str]:
    """Of quantiles that may be as far off as the rows go."""
    found = sum(value.is_open for value in values)
    if found:
        from_middle = 2 * release.aggregate.rank - 1
        off = "too large" if from_middle > 0 else "too small" if from_middle < 0 else "off"
        yield (
            f"{answer_name(block, number)}{_where(block, found, values)}: the error of its rank reaches the"
            f" last of the rows, so it may be far {off} there. {MORE}"
        )


def _too_few_units(
    block: BlockPlan, number: int, release: UnitExtreme, values: Sequence[NoisyValue]
) -> Iterator[str]:
    missing = sum(value.is_missing and value.null_reason is None for value in values)
    if missing:
        yield (
            f"{answer_name(block, number)} is NULL{_where(block, missing, values)}: it takes about"
            f" {release.least:,} {units_word(block)} with a value, and a noisy count found fewer. {MORE}"
        )


def _nulls(block: BlockPlan, noisy: NoisyTable, reason: NullReason) -> Iterator[str]:
    """One line for all columns that are NULL in as many groups."""
    columns: dict[int, list[str]] = {}
    for position in range(len(block.answers)):
        missing = sum(row.values[position].null_reason is reason for row in noisy.rows)
        if missing:
            columns.setdefault(missing, []).append(answer_name(block, position + 1))
    for missing, several in columns.items():
        names = list(dict.fromkeys(several))
        verb = "is" if len(names) == 1 else "are"
        where = _where(block, missing, noisy.rows)
        few = " It may be empty." if reason is NullReason.EMPTY_GROUP and block.keys else ""
        yield f"{', '.join(names)} {verb} NULL{where}: {reason.value}.{few} {MORE}"


def _adjusted(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    names = [
        answer_name(block, position + 1)
        for position in range(len(block.answers))
        if any(row.values[position].is_adjusted for row in noisy.rows)
    ]
    rows = sum(any(value.is_adjusted for value in row.values) for row in noisy.rows)
    if names:
        where = _where(block, rows, noisy.rows)
        yield f"{', '.join(dict.fromkeys(names))}: adjusted{where} to agree with the other columns."


def _capped(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Of numbers of different values that were above the number of all of them."""
    for number, most in block.most_values:
        count = sum(row.values[number - 1].is_capped for row in noisy.rows)
        if count:
            name, where = answer_name(block, number), _where(block, count, noisy.rows)
            yield f"{name}: cut to {most:,}{where}, as there are no more different values by the policy."


def _zero_divisions(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    for position, name in enumerate(output_names(block)):
        count = sum(row.errors[position] is NoInterval.DIVIDED_BY_0 for row in noisy.rows)
        if count:
            where = _where(block, count, noisy.rows)
            yield f"{name} is NULL{where}: it divides by a noisy 0."


def _spans(block: BlockPlan) -> Iterator[str]:
    """Of dp.error() of times, which is a plain number."""
    for column in sorted(block.intervals, key=lambda one: one.number):
        if column.end is IntervalEnd.ERROR and column.number <= len(block.answers):
            aggregate = block.answers[column.number - 1].aggregate
            if aggregate.type.is_time:
                unit = unit_of_error(aggregate.type)
                yield f"dp.error({aggregate_word(aggregate)}) is a number of {unit}."


def _unknown_clipped(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Of dp.clipped() without an answer, though what it is about has one."""
    for column in sorted(block.intervals, key=lambda one: one.number):
        if column.end is not IntervalEnd.CLIPPED or not noisy.rows:
            continue
        values = [row.values[column.number - 1] for row in noisy.rows]
        if all(one.clipped is None and not one.is_missing for one in values):
            aggregate = block.answers[column.number - 1].aggregate
            name, instead = aggregate_word(aggregate), "; ".join(cut_questions(block, aggregate))
            hint = f" To see it ask: {instead}." if instead else ""
            yield f"dp.clipped({name}) is NULL: how much is cut of {name} is not counted.{hint}"


def _uncertain_list(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Of a list that LIMIT cuts in a noisy order: how many of its rows belong to it whatever the noise is."""
    top = block.top
    if top is None or len(noisy.rows) <= (top.rows or 1):
        return
    if top.rows is None or top.output is None:
        yield (
            "ORDER BY with LIMIT: noise has a part in which rows are in the list, and the numbers by which they"
            f" were chosen are too {_side(top)} on average."
        )
        if top.nulls_first and any(one.is_missing for row in noisy.rows for one in row.values):
            yield "NULL comes first in this order. Write NULLS LAST to have it behind all numbers."
        return
    intervals = [row.errors[top.output - 1] for row in noisy.rows] if block.outputs else []
    known = [one for one in intervals if isinstance(one, NoisyInterval)]
    nulls = sum(is_null(block, row, top.output) for row in noisy.rows) if block.outputs else 0
    if len(known) + nulls < len(intervals):
        return
    rows = top.rows
    if nulls and top.nulls_first:
        rows = max(0, rows - nulls)
        yield (
            f"ORDER BY {output_names(block)[top.output - 1]} LIMIT {top.rows:,}: NULL comes first, in"
            f" {top.rows - rows:,} of the {counted(top.rows, 'row')}. Write NULLS LAST to have it behind"
            " all numbers."
        )
    if not rows or len(known) <= rows:
        return
    if top.is_descending:
        ends = sorted(((one.value, one.low, one.high) for one in known), reverse=True)
    else:
        ends = sorted((-one.value, -one.high, -one.low) for one in known)[::-1]
    shown, others = ends[:rows], ends[rows:]
    best = max(high for _, _, high in others)
    certain = sum(low > best for _, low, _ in shown)
    if certain < len(shown):
        name = output_names(block)[top.output - 1]
        is_open = any(one.is_least or one.is_most for one in known)
        by_noise = "by the noise alone " if is_open else ""
        yield (
            f"ORDER BY {name} LIMIT {top.rows:,}: {by_noise}{certain:,} of the {counted(len(shown), 'row')}"
            " clearly belong to the list. Noise has a part in which others are in it, and their numbers are too"
            f" {_side(top)} on average."
        )


def _counted_nulls(block: BlockPlan) -> Iterator[str]:
    """Of `count(*) - count(x)`: one count has the noise of one."""
    for column in block.outputs if isinstance(block.source, Scan) else ():
        match column.expression:
            case NoisyArithmetic(
                operator=NoisyOperator.SUBTRACT, left=AnswerOf() as left, right=AnswerOf() as right
            ):
                rows, values = (block.answers[one.number - 1].aggregate for one in (left, right))
                kinds = (rows.kind, values.kind)
                are_all = rows.condition is None and values.condition is None
                if kinds == _COUNTS and are_all and isinstance(values.operand, ColumnRef):
                    counted = written_name(values.operand.column)
                    yield f"{column.name}: count(*) FILTER (WHERE {counted} IS NULL) has less noise."
            case _:
                pass


def _unsettled_order(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Of rows in the order of a noisy column, none of which LIMIT leaves out: which neighbours may swap."""
    for place, column in enumerate(block.outputs):
        if not column.is_order:
            continue
        found = ((row.errors[place], row.keys) for row in noisy.rows)
        known = sorted(
            ((one, keys) for one, keys in found if isinstance(one, NoisyInterval)),
            key=lambda one: one[0].value,
            reverse=True,
        )
        pairs = [
            f"{_key_text(keys)} and {_key_text(others)}"
            for (one, keys), (other, others) in pairwise(known)
            if other.high >= one.low
        ]
        if pairs:
            more = len(pairs) - _PAIRS
            told = ", ".join(pairs[: _PAIRS if more > 1 else None])
            told = f"{told} and {more:,} more pairs" if more > 1 else told
            if is_behind(block):  # other rows than those that are shown
                told = f"{len(pairs):,} pairs of neighbours"
            yield f"ORDER BY {output_names(block)[place]}: the errors do not settle the order of {told}."


_PAIRS = 4


def _key_text(keys: Sequence[str | None]) -> str:
    return "/".join("NULL" if one is None else one for one in keys)


def _side(top: TopList) -> str:
    if top.is_descending is None:
        return "far to one side"
    return "high" if top.is_descending else "low"


def _where(block: BlockPlan, count: int, values: Sequence[object]) -> str:
    return f" in {groups_phrase(block, count, len(values))}" if block.keys else ""


# Means and spreads of quotients, whose range by the bounds of their columns is far wider than they are.


_FAR = 20  # times the answer: so wide a range
_LARGE = 10  # an error of such a part of the answer


def wide_quotients(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Say what makes a mean of quotients inexact, and what to write instead. Bounds of sums are chosen."""
    for number, answer in enumerate(block.answers, start=1):
        measured = _measured(block, number)
        is_mean = answer.aggregate.kind in (AggregateKind.AVG, *SPREADS)
        if measured is None or not is_mean or not _is_open(answer.aggregate.operand):
            continue
        largest = max(abs(measured.clamp.low), abs(measured.clamp.high))
        values = (row.values[number - 1] for row in noisy.rows)
        if any(_is_far_below(value, measured) for value in values):
            yield (
                f"{answer_name(block, number)}: by the bounds of its columns the quotient can be"
                f" {text_of(largest)}. Bounded as in avg(least(a / b, 100)) it has less noise."
            )


def _measured(block: BlockPlan, number: int) -> Measured | None:
    answer = block.answers[number - 1]
    if answer.calculated is not None:
        return answer.calculated.measured[0]
    release = block.releases[answer.releases[0]]
    return release.measured if isinstance(release, DeviationMean | RecentredMean) else None


def _is_open(expression: Expression | None) -> bool:
    """Whether columns are divided by each other, and no least() or greatest() is around."""
    if expression is None or isinstance(expression, Choose):
        return False
    if (
        isinstance(expression, Quotient)
        and not expression.remainder
        and columns(expression.divisor)
    ):
        return True
    return any(map(_is_open, children(expression)))


def _is_far_below(value: NoisyValue, measured: Measured) -> bool:
    """Whether it is NULL, or inexact and far below the range."""
    if value.is_missing or value.half_width is None:
        return value.null_reason is not None
    width = measured.width * measured.grid
    number = abs(value.index * value.grid)
    return _LARGE * value.half_width * value.grid >= number and width >= _FAR * number


# What an analyst can ask where it is not counted how much the policy's bounds cut.


def cut_questions(block: BlockPlan, aggregate: Aggregate) -> Iterator[str]:
    """Give questions that count the values and the units that the policy's bounds cut of an aggregate.

    Where the name of a column or table is not that of the statement, or several columns have the name, nothing
    is given.
    """
    named = {name for operand in aggregate.operands for name in columns(operand)}
    for column, bounds in block.clamped:
        relations = [relation for relation, one in named if one == column]
        is_one = [one for one, _ in block.clamped].count(column) == len(relations) == 1
        if is_one and bounds.kind is BoundsKind.NUMBER:
            unit = _unit(block, relations[0])
            counted = "count(*)" if unit is None else f"count(DISTINCT {unit})"
            low, high = decimal_text(bounds.low), decimal_text(bounds.high)
            yield f"{counted} with WHERE {written_name(column)} < {low} OR {written_name(column)} > {high}"
    yield from _of_total(block, aggregate)


def _of_total(block: BlockPlan, aggregate: Aggregate) -> Iterator[str]:
    operand = aggregate.operand
    if aggregate.kind is not AggregateKind.SUM or not isinstance(operand, ColumnRef):
        return
    unit = _unit(block, operand.relation)
    tables = list(dict.fromkeys(scan.table for scan in scans(block.source)))
    is_of_some = block.where is not None or aggregate.condition is not None
    if unit is None or len(tables) != 1 or is_of_some:
        return
    table = f"{written_name(tables[0].schema)}.{written_name(tables[0].name)}"
    for answer in block.answers:
        release = block.releases[answer.releases[0]]
        if answer.aggregate != aggregate or not isinstance(release, NoisyStatistic):
            continue
        if release.total is None or release.total.choice is not None:
            continue
        most = decimal_text(release.total.most * release.grid)
        test = f"t < -{most} OR t > {most}" if release.is_signed else f"t > {most}"
        yield (
            f"SELECT count(*) FROM (SELECT {unit}, sum({written_name(operand.column)}) AS t FROM {table}"  # noqa: S608
            f" GROUP BY {unit}) q WHERE {test}"
        )


def _unit(block: BlockPlan, relation: str | None) -> str | None:
    """The column of the unit, if it is one of this table."""
    if not isinstance(block.neighbours, UnitNeighbours):
        return None
    column = block.neighbours.column
    is_there = column.relation == relation and any(
        scan.alias == relation for scan in scans(block.source)
    )
    return written_name(column.column) if is_there else None
