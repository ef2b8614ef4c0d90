"""Sentences about numbers that no exact answers have together: a part above its whole, a total that falls.

Each answer has noise of its own. Numbers are shown as they were drawn, as sums over groups would be biased else
(ADR 0101). From released numbers only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.limits import NOISY_PARTS_PER_BLOCK
from proxy.base.result_columns import IntervalEnd
from proxy.engine.advice import OR_RAISE, SO_RAISE
from proxy.engine.unit_words import aggregate_word, answer_name, counted, output_names
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.noisy_expressions import (
    AnswerOf,
    NoisyExpression,
    NoisyWindow,
    WindowSum,
    answers_in,
    parts_of,
)
from proxy.query.ir.query import NoisyComparison, RowChoice, TopList
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.relations import Scan
from proxy.release.expression_intervals import interval_of
from proxy.release.noisy_relation import NoInterval, NoisyInterval, NoisyRow, NoisyTable, NoisyValue
from proxy.release.value_ranges import Ranges, ranges_of

# Which groups a statement shows, as far as noisy numbers say: HAVING, WHERE around, ORDER BY with LIMIT.

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
    return f"{count:,} of {counted(groups, 'group')}{behind}"


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


_TOLD = 3  # columns: a pivot may have hundreds
_MOST = f" Ask for coarser groups{OR_RAISE}"
_ADDED = (
    *(AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT),
    AggregateKind.SUM,
)


def impossible_answers(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Say in one line which columns noise makes impossible, and in how many groups."""
    columns = [
        (place, name, one.expression)
        for place, (name, one) in enumerate(zip(output_names(block), block.outputs, strict=True))
        if one.expression is not None
    ]
    made = [one for one in columns if not isinstance(one[2], AnswerOf)]
    plain = [one for one in columns if isinstance(one[2], AnswerOf) and _adds_up(block, one[2])]
    if not made and not plain:
        return
    if not made and len(plain) == 1 and not _falls_below_0(plain[0], noisy):
        return  # most statements: no other number contradicts it
    ranges = ranges_of(block)
    told = [
        *_parts_above(block, noisy, plain, ranges),
        *_below_0(block, noisy, plain, ranges),
        *_beyond(block, noisy, made, plain, ranges),
    ]
    found = [f"puts {listed(told)}"] if told else []
    found += _falling(block, noisy, made, ranges)
    if found:
        yield f"Noise alone {', and '.join(found)}."


_Column = tuple[int, str, NoisyExpression]


def _adds_up(block: BlockPlan, expression: AnswerOf) -> bool:
    return block.answers[expression.number - 1].aggregate.kind in _ADDED


def _parts_above(
    block: BlockPlan, noisy: NoisyTable, plain: Sequence[_Column], ranges: Ranges
) -> Iterator[str]:
    """A column that is of a part of another one: "repeaters above buyers in 5 of 10 groups"."""
    # Of each answer once: columns may repeat a few answers hundreds of times. The last name stands for all.
    names = {answer: name for _, name, answer in sorted(plain, key=lambda one: one[1])}
    if len(names) ** 2 * len(noisy.rows) > NOISY_PARTS_PER_BLOCK:
        return
    found = {}
    for part in names:
        worst = 0, ""
        for whole, other in names.items():
            if part == whole or not ranges.is_part(part, whole):
                continue
            worst = max(worst, (sum(_is_above(row, part, whole) for row in noisy.rows), other))
        found[part] = worst
    for _, name, part in plain:
        count, other = found[part]
        if count:
            yield f"{name} above {other}{_where(block, count, noisy)}"


def _is_above(row: NoisyRow, part: NoisyExpression, whole: NoisyExpression) -> bool:
    assert isinstance(part, AnswerOf) and isinstance(whole, AnswerOf)
    one, other = row.values[part.number - 1], row.values[whole.number - 1]
    return not (one.is_missing or other.is_missing) and _number(one) > _number(other)


def _below_0(
    block: BlockPlan, noisy: NoisyTable, plain: Sequence[_Column], ranges: Ranges
) -> Iterator[str]:
    """A count, or a sum of what is not negative."""
    for _, name, answer in plain:
        assert isinstance(answer, AnswerOf)
        values = [row.values[answer.number - 1] for row in noisy.rows]
        below = sum(not one.is_missing and one.index < 0 for one in values)
        if below and ranges.of(answer).is_not_negative:
            yield f"{name} below 0{_where(block, below, noisy)}"


def _falls_below_0(column: _Column, noisy: NoisyTable) -> bool:
    """Whether a plain column is negative somewhere."""
    _, _, answer = column
    assert isinstance(answer, AnswerOf)
    return any(row.values[answer.number - 1].index < 0 for row in noisy.rows)


def _number(value: NoisyValue) -> Fraction:
    return value.index * value.grid


def _beyond(
    block: BlockPlan,
    noisy: NoisyTable,
    made: Sequence[_Column],
    plain: Sequence[_Column],
    ranges: Ranges,
) -> Iterator[str]:
    """A computed column that is beyond what it can be, unless an answer in it is told to be below 0."""
    told = {one.number for _, _, one in plain if isinstance(one, AnswerOf)}
    for place, name, expression in made:
        valid = ranges.of(expression)
        values = [_known(row, place) for row in noisy.rows]
        above = sum(
            valid.high is not None and value is not None and value > valid.high for value in values
        )
        if above and valid.high is not None:
            yield f"{name} above {decimal_text(valid.high)}{_where(block, above, noisy)}"
        below = sum(
            valid.low is not None
            and value is not None
            and value < valid.low
            and not _has_negative(answers_in(expression) & told, row)
            for value, row in zip(values, noisy.rows, strict=True)
        )
        if below and valid.low is not None:
            yield f"{name} below {decimal_text(valid.low)}{_where(block, below, noisy)}"


def _known(row: NoisyRow, place: int) -> Fraction | None:
    found = row.errors[place]
    return found.value if isinstance(found, NoisyInterval) else None


def _has_negative(numbers: frozenset[int], row: NoisyRow) -> bool:
    return any(row.values[number - 1].index < 0 for number in numbers)


def _falling(
    block: BlockPlan, noisy: NoisyTable, made: Sequence[_Column], ranges: Ranges
) -> list[str]:
    """Running totals of what cannot be below 0: they fall where it is."""
    falling: dict[NoisyExpression, list[str]] = {}
    for _, name, expression in made:
        operands = dict.fromkeys(
            part.operand
            for part in parts_of(expression)
            if isinstance(part, NoisyWindow) and _is_running(part)
        )
        for operand in operands:
            if ranges.of(operand).is_not_negative:
                falling.setdefault(operand, []).append(name)
    found = []
    for operand, names in falling.items():
        count = sum(_is_below_0(operand, row) for row in noisy.rows)
        if count:
            shown = listed(list(dict.fromkeys(names)))
            found.append(f"lets {shown} fall{_where(block, count, noisy)}")
    return found


def _is_running(window: NoisyWindow) -> bool:
    is_to_here = window.start is None and window.end == 0
    return window.function is WindowSum.SUM and is_to_here and bool(window.order)


def _is_below_0(operand: NoisyExpression, row: NoisyRow) -> bool:
    found = interval_of(operand, row.values)
    return isinstance(found, NoisyInterval) and found.value < 0


def listed(found: Sequence[str]) -> str:
    """Name the first of several columns, and the number of the others."""
    more = len(found) - _TOLD
    if more > 1:
        found = [*found[:_TOLD], f"{more:,} more columns"]
    *others, last = found
    return f"{', '.join(others)} and {last}" if others else last


def _where(block: BlockPlan, count: int, noisy: NoisyTable) -> str:
    return f" in {groups_phrase(block, count, len(noisy.rows))}" if block.keys else ""


def empty_groups(planned: BlockPlan, released: NoisyTable) -> Iterator[str]:
    """Say how many public groups may have no rows: by the counts of all their rows or values, and without such
    by those of some of their rows."""
    numbers = counts_of_groups(planned)
    if not numbers or not planned.outputs:
        return
    block, noisy = shown_rows(planned, released)
    if len(noisy.rows) < 2:
        return
    counts = [[row.values[n - 1] for n in numbers] for row in noisy.rows]
    # Of a group whose counts are all NULL another line says why.
    known = [row for row in counts if not all(one.is_missing for one in row)]
    empty = sum(all(map(_may_be_0, row)) for row in known)
    if empty:
        different = list(dict.fromkeys(answer_name(block, number) for number in numbers))
        names = listed(different)
        where = f"{groups_phrase(block, empty, len(noisy.rows))}{',' if is_behind(block) else ''}"
        more = _MOST if 2 * empty > len(noisy.rows) else ""
        if _is_of_some_rows(block, numbers[0]):
            count = f"{names} {'counts' if len(numbers) == 1 else 'count'}"
            yield f"{where} may have no rows that {count}, as public keys have all groups.{more}"
            return
        are = "is below its error" if len(numbers) == 1 else "are below their errors"
        yield (
            f"{where} may be empty, as public keys have all groups: {names} {are}."
            f"{_without(block, numbers)}{more}"
        )


def counts_of_groups(block: BlockPlan) -> tuple[int, ...]:
    """The numbers of the answers by which a public group may be empty: they count all of its rows or values, or
    else those that a FILTER lets pass. Of HAVING none is told."""
    if not block.keys or block.selection is not None:
        return ()
    if any(one.clause == "HAVING" for one in block.row_choices):
        return ()
    counts = [
        number
        for number, answer in enumerate(block.answers, start=1)
        if answer.aggregate.kind in _ADDED and answer.aggregate.kind is not AggregateKind.SUM
    ]
    whole = [number for number in counts if not _is_of_some_rows(block, number)]
    return tuple(whole or counts)


def _is_of_some_rows(block: BlockPlan, number: int) -> bool:
    return block.answers[number - 1].aggregate.condition is not None


_ALL_ROWS = "count(*)"
_LEFT_OUT = (
    " HAVING dp.low({}) > 0 leaves out all but about 1 in 40 of the empty ones,"
    " and small groups with them."
)


def _may_be_0(value: NoisyValue) -> bool:
    return value.is_missing or value.index <= (value.half_width or 0)


def _without(block: BlockPlan, numbers: Sequence[int]) -> str:
    """A condition that leaves out such groups. It has to name one of the counts as SQL: a column of several
    tables may need a name in front of it, which only the statement knows."""
    aggregates = [block.answers[number - 1].aggregate for number in numbers]
    for aggregate in aggregates:
        word = aggregate_word(aggregate)
        if word == _ALL_ROWS or ("(" in word and isinstance(block.source, Scan)):
            return _LEFT_OUT.format(word)
    for column in block.outputs:
        shown = column.expression
        if column.written and isinstance(shown, AnswerOf) and shown.number in numbers:
            return _LEFT_OUT.format(column.written)
    return (
        " A condition on the low end of that count leaves out all but about 1 in 40 of the empty ones,"
        " and small groups with them."
    )
