"""Which groups a statement shows, as far as noisy numbers say: HAVING, WHERE around, ORDER BY with LIMIT."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.base.limits import NOISY_PARTS_PER_BLOCK
from proxy.base.result_columns import IntervalEnd
from proxy.engine.advice import SO_RAISE
from proxy.engine.unit_words import plural
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.noisy_expressions import answers_in, parts_of
from proxy.query.ir.query import NoisyComparison, RowChoice, TopList
from proxy.release.expression_intervals import interval_of
from proxy.release.noisy_interval import NoInterval, NoisyInterval
from proxy.release.noisy_relation import NoisyRow, NoisyTable
from proxy.release.value_ranges import Ranges, ranges_of

_COMPARED: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
_CHOSEN = (
    "Noise has a part in which rows are shown: the numbers that chose them are biased, and off by more than"
    " their error more often than 1 in 20."
)
_UNKNOWN = (RowChoice(clause="", is_noisy=False),)
# A query around shows other groups, or some: all groups pass this, and nobody knows which are shown.
AROUND = RowChoice(clause="", is_noisy=False, comparisons=())


@dataclass(frozen=True, slots=True)
class _Passing:
    """Of one group. certain, possible: whether all, or some, numbers of the intervals pass."""

    passes: bool
    certain: bool
    possible: bool


def shown_rows(block: BlockPlan, noisy: NoisyTable) -> tuple[BlockPlan, NoisyTable]:
    """The block with the groups that the statement shows. Where these are not known it has all of them, and
    `is_behind` of the block is true."""
    if not block.row_choices and block.top is None:
        return block, noisy
    found = _passing_choices(block, noisy)
    rows: Sequence[NoisyRow] | None = None
    if found is not None:
        rows = [row for row, one in zip(noisy.rows, found, strict=True) if one.passes]
        rows = rows if block.top is None else _first_rows(block, block.top, rows)
    if rows is None:
        return replace(block, row_choices=_UNKNOWN), noisy
    left = _UNKNOWN if AROUND in block.row_choices else ()
    return replace(block, row_choices=left), replace(noisy, rows=tuple(rows))


def is_behind(block: BlockPlan) -> bool:
    """Whether the groups of a block that `shown_rows` gave may be others than those that are shown."""
    return bool(block.row_choices)


def groups_phrase(block: BlockPlan, count: int, groups: int) -> str:
    """Count some of the groups of a block that `shown_rows` gave: "2 of 9 groups, shown or not"."""
    behind = ", shown or not" if is_behind(block) else ""
    return f"{count:,} of {groups:,} {plural('group')}{behind}"


def is_null(block: BlockPlan, row: NoisyRow, output: int) -> bool:
    """Whether an output column, which has no interval in a row, is NULL there."""
    expression = block.outputs[output - 1].expression
    if row.errors[output - 1] is NoInterval.DIVIDED_BY_0:
        return True
    return expression is not None and any(
        row.values[number - 1].is_missing for number in answers_in(expression)
    )


def choice_notices(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Say that noise has a part in which groups pass a condition, and how many of them clearly do."""
    noisy_choices = [one for one in block.row_choices if one.is_noisy]
    if not noisy_choices or not noisy.rows:
        return
    clauses = " and ".join(dict.fromkeys(one.clause for one in noisy_choices))
    read = replace(block, row_choices=tuple(noisy_choices))
    found = _passing_choices(read, noisy)
    if found is None:
        yield (
            f"{clauses}: {_CHOSEN[0].lower()}{_CHOSEN[1:]} Rows that belong to them may be missing."
        )
        return
    passing = [one for one in found if one.passes]
    certain = sum(one.certain for one in passing)
    if _are_of_ends(noisy_choices):
        if certain < len(passing):
            yield "".join(_told_of_ends(clauses, len(passing), len(passing) - certain))
        return
    others = sum(one.possible and not one.passes for one in found)
    if certain < len(passing) or others:
        yield "".join(_told(clauses, len(passing), certain, others))


def _are_of_ends(choices: Sequence[RowChoice]) -> bool:
    return all(one.end is not None for choice in choices for one in choice.comparisons or ())


def _told_of_ends(clauses: str, passing: int, near: int) -> Iterator[str]:
    """Of dp.low() and dp.high(): of groups that are just at the number noise lets 1 in 40 pass."""
    groups = "group that passes" if passing == 1 else "groups that pass"
    yield f"{clauses}: {near:,} of the {passing:,} {groups} would not with twice the error. {_CHOSEN}"


def _told(clauses: str, passing: int, certain: int, others: int) -> Iterator[str]:
    groups = "group that passes" if passing == 1 else "groups that pass"
    if passing:
        meet = "meets" if passing == 1 else "meet"
        yield f"{clauses}: {certain:,} of the {passing:,} {groups} clearly {meet} the condition"
    else:
        yield f"{clauses}: no group passes"
    if others:
        yield f"; {others:,} that {'does' if others == 1 else 'do'} not pass may meet it"
    yield f". {_CHOSEN}"
    if certain < passing:
        here = f"{certain:,} here" if certain else SO_RAISE
        yield f" With dp.low(...) > (or dp.high(...) <) in each condition only clear ones are shown: {here}."


def _passing_choices(block: BlockPlan, noisy: NoisyTable) -> list[_Passing] | None:
    """Of each group, None if it is not known."""
    comparisons: list[NoisyComparison] = []
    for one in block.row_choices:
        if one.comparisons is None:
            return None
        comparisons += one.comparisons
    work = len(noisy.rows) * sum(1 for one in comparisons for _ in parts_of(one.left))
    if work > NOISY_PARTS_PER_BLOCK:
        return None
    found, ranges = [], ranges_of(block)
    for row in noisy.rows:
        each = [_compared(one, row, ranges) for one in comparisons]
        if any(one is None for one in each):
            return None
        known = [one for one in each if one is not None]
        found.append(
            _Passing(
                passes=all(one.passes for one in known),
                certain=all(one.certain for one in known),
                possible=all(one.possible for one in known),
            )
        )
    return found


def _compared(comparison: NoisyComparison, row: NoisyRow, ranges: Ranges) -> _Passing | None:
    """What is NULL does not pass, and may be anything."""
    if any(row.values[number - 1].is_missing for number in answers_in(comparison.left)):
        return _Passing(passes=False, certain=False, possible=True)
    interval = interval_of(comparison.left, row.values)
    if interval is NoInterval.DIVIDED_BY_0:
        return _Passing(passes=False, certain=False, possible=True)
    if isinstance(interval, NoInterval):
        return None
    if comparison.end is not None:
        return _end_compared(comparison, comparison.end, interval, ranges)
    compare, number = _COMPARED[comparison.comparator], comparison.number
    is_above, is_below = comparison.comparator in (">", ">="), comparison.comparator in ("<", "<=")
    low = is_below if interval.is_most else compare(interval.low, number)
    high = is_above if interval.is_least else compare(interval.high, number)
    is_within = (interval.is_most or interval.low <= number) and (
        interval.is_least or number <= interval.high
    )
    is_point = interval.low == interval.high and not (interval.is_least or interval.is_most)
    match comparison.comparator:
        case "=":
            certain, possible = is_within and is_point, is_within
        case "<>":
            certain, possible = not is_within, not (is_within and is_point)
        case _:
            certain, possible = low and high, low or high
    return _Passing(passes=compare(interval.value, number), certain=certain, possible=possible)


def _end_compared(
    comparison: NoisyComparison, end: IntervalEnd, interval: NoisyInterval, ranges: Ranges
) -> _Passing:
    """certain: It would pass with twice the error as well, so that noise has hardly a part in it."""
    compare, number = _COMPARED[comparison.comparator], comparison.number
    text = interval.json(end, ranges.of(comparison.left))
    passes = text != "null" and compare(Fraction(text), number)
    if end is IntervalEnd.ERROR:
        return _Passing(passes=passes, certain=passes, possible=passes)
    value = interval.value
    low, high = (value + 2 * (side - value) for side in (interval.low, interval.high))
    certain = passes and compare(low, number) and compare(high, number)
    return _Passing(passes=passes, certain=certain, possible=passes)


def _first_rows(
    block: BlockPlan, top: TopList, rows: Sequence[NoisyRow]
) -> Sequence[NoisyRow] | None:
    """Those that are in a list, None if it is not known."""
    if top.rows is None or top.output is None:
        return None
    if len(rows) <= top.rows:
        return rows
    if len(block.outputs) < top.output:
        return None
    known: list[tuple[Fraction, NoisyRow]] = []
    nulls: list[NoisyRow] = []
    for row in rows:
        interval = row.errors[top.output - 1]
        if isinstance(interval, NoisyInterval):
            known.append((interval.value, row))
        elif is_null(block, row, top.output):
            nulls.append(row)
        else:
            return None
    known.sort(key=lambda one: one[0], reverse=bool(top.is_descending))
    ordered = [row for _, row in known]
    return ([*nulls, *ordered] if top.nulls_first else [*ordered, *nulls])[: top.rows]
