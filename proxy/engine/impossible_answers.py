"""Sentences about numbers that no exact answers have together: a part above its whole, a total that falls.

Each answer has noise of its own. Numbers are shown as they were drawn, as sums over groups would be biased else
(ADR 0101). From released numbers only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.limits import NOISY_PARTS_PER_BLOCK
from proxy.engine.advice import OR_RAISE
from proxy.engine.shown_rows import groups_phrase, is_behind, shown_rows
from proxy.engine.unit_words import aggregate_word, answer_name
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.noisy_expressions import (
    AnswerOf,
    NoisyExpression,
    NoisyWindow,
    WindowSum,
    answers_in,
    parts_of,
)
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.relations import Scan
from proxy.release.expression_intervals import interval_of
from proxy.release.noisy_interval import NoisyInterval
from proxy.release.noisy_relation import NoisyRow, NoisyTable, NoisyValue
from proxy.release.value_ranges import Ranges, ranges_of

_TOLD = 3  # columns: a pivot may have hundreds
_MOST = f" Ask for coarser groups{OR_RAISE}"
_ADDED = (
    *(AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT),
    AggregateKind.SUM,
)


def impossible_answers(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Say in one line which columns noise makes impossible, and in how many groups."""
    columns = [
        (place, one.name, one.expression)
        for place, one in enumerate(block.outputs)
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
    empty = sum(all(_may_be_0(row.values[n - 1]) for n in numbers) for row in noisy.rows)
    if empty:
        different = list(dict.fromkeys(answer_name(block, number) for number in numbers))
        names = listed(different)
        where = f"{groups_phrase(block, empty, len(noisy.rows))}{',' if is_behind(block) else ''}"
        more = _MOST if 2 * empty > len(noisy.rows) else ""
        if _is_of_some_rows(block, numbers[0]):
            counted = f"{names} {'counts' if len(numbers) == 1 else 'count'}"
            if len(different) < len(numbers):
                counted = "any FILTER lets pass"
            yield f"{where} may have no rows that {counted}, as public keys have all groups.{more}"
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
