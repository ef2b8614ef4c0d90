"""How far each output column of one answer is off, group by group, or why that is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from proxy.base.sql_types import by_oid
from proxy.engine.accuracy import Accuracy, number_of, text_of
from proxy.engine.answer_conditions import conditions
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyExpression, answers_in
from proxy.query.ir.query import AggregateBlock, OutputColumn
from proxy.release.noisy_interval import NoInterval, NoisyInterval
from proxy.release.noisy_relation import NoisyTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnError:
    """place: of the column in the result, from 1; None where it is an aggregate of an inner query. least, most:
    of the half widths of its 95 % intervals in all groups, None where no group has one; without: in how many of
    `groups` there is none; reason: why; note: what else is to be known of it."""

    place: int | None
    name: str
    groups: int
    without: int
    least: Fraction | None = None
    most: Fraction | None = None
    reason: str = ""
    note: str = ""

    def text(self) -> str:
        if self.least is None or self.most is None:
            return f"{self.name}: {'no groups' if not self.groups else self.reason}"
        found = f"+-{text_of(self.least)}"
        if self.least != self.most:
            found = f"{found} to +-{text_of(self.most)}, by group"
        if self.without:
            found = f"{found}; in {self.without} of {self.groups} groups {self.reason}"
        return f"{self.name}: {found}"

    def as_json(self) -> dict[str, object]:
        return {
            "least": None if self.least is None else number_of(self.least),
            "most": None if self.most is None else number_of(self.most),
            "no_interval": self.reason or None,
            "note": self.note,
        }


def reported(block: AggregateBlock) -> AggregateBlock:
    """With output columns to be reported: those of the statement, else the aggregates of this inner query."""
    if block.outputs:
        return block
    answers = enumerate(block.aggregates, start=1)
    columns = (OutputColumn(one.kind.value, AnswerOf(n, one.type)) for n, one in answers)
    return replace(block, outputs=tuple(columns))


def column_errors(
    blocks: Sequence[tuple[AggregateBlock, BlockPlan, NoisyTable]],
    accuracy: Callable[[], Sequence[Accuracy]],
    result_oids: Sequence[int],
) -> tuple[ColumnError, ...]:
    """
    Given    blocks: each as it was read, as `reported` made it, and its noisy relation; accuracy: of all
             answers, asked for where one has no interval; result_oids: of the statement's output columns
    Gives    one for each output column with noise in it that is a number or a time
    """
    found: list[ColumnError] = []
    known: list[Accuracy] = []

    def of_block(number: int) -> Sequence[Accuracy]:
        known[:] = known or accuracy()
        return [entry for entry in known if entry.block == number]

    for number, (read, block, noisy) in enumerate(blocks, start=1):
        for place, column in enumerate(block.outputs, start=1):
            if read.outputs and not _is_measured(result_oids, place):
                continue
            if column.expression is None and not column.reason:
                continue
            one = _column(column, place, block, noisy, partial(of_block, number))
            found.append(one if read.outputs else replace(one, place=None))
    return tuple(_together(found))


def _together(found: Sequence[ColumnError]) -> Iterator[ColumnError]:
    """Of one column of the result once: it has several blocks where they are levels of GROUPING SETS."""
    for place in dict.fromkeys(one.place for one in found):
        own = [one for one in found if one.place == place]
        if place is None or len(own) == 1:
            yield from own
            continue
        yield replace(
            own[0],
            groups=sum(one.groups for one in own),
            without=sum(one.without for one in own),
            least=min((one.least for one in own if one.least is not None), default=None),
            most=max((one.most for one in own if one.most is not None), default=None),
            reason="; ".join(dict.fromkeys(one.reason for one in own if one.reason)),
            note="; ".join(dict.fromkeys(one.note for one in own if one.note)),
        )


def _is_measured(oids: Sequence[int], place: int) -> bool:
    kind = by_oid(oids[place - 1]) if place <= len(oids) else None
    return kind is None or kind.is_number or kind.is_time


def _column(
    column: OutputColumn,
    place: int,
    block: BlockPlan,
    noisy: NoisyTable,
    accuracy: Callable[[], Sequence[Accuracy]],
) -> ColumnError:
    groups = len(noisy.rows)
    if column.expression is None:
        return ColumnError(
            place=place, name=column.name, groups=groups, without=groups, reason=column.reason
        )
    found = [row.errors[place - 1] for row in noisy.rows]
    widths = [one.half_width for one in found if isinstance(one, NoisyInterval)]
    none = {one for one in found if isinstance(one, NoInterval)}
    reasons = (
        _reason(one, column.expression, noisy, accuracy()) for one in NoInterval if one in none
    )
    return ColumnError(
        place=place,
        name=column.name,
        groups=groups,
        without=groups - len(widths),
        least=min(widths, default=None),
        most=max(widths, default=None),
        reason="; ".join(reasons),
        note="; ".join(conditions(block)) if answers_in(column.expression) else "",
    )


def _reason(
    none: NoInterval,
    expression: NoisyExpression,
    noisy: NoisyTable,
    accuracy: Sequence[Accuracy],
) -> str:
    if none is not NoInterval.OF_AN_ANSWER:
        return str(none.value)
    numbers = sorted(answers_in(expression))
    missing = [accuracy[n - 1] for n in numbers if accuracy[n - 1].described.no_interval]
    if not missing:
        return _FEW_UNITS if _is_unstated(noisy, numbers) else _IS_NULL
    return "; ".join(
        dict.fromkeys(_of_answer(one, isinstance(expression, AnswerOf)) for one in missing)
    )


_IS_NULL = "NULL"
_FEW_UNITS = "too few units for an error"


def _is_unstated(noisy: NoisyTable, numbers: Sequence[int]) -> bool:
    """Whether there are answers without an error, as rough means are (release/drawn_values.py)."""
    found = (row.values[n - 1] for row in noisy.rows for n in numbers)
    return any(one.half_width is None and not one.is_missing for one in found)


def _of_answer(entry: Accuracy, is_single: bool) -> str:
    """What is known of an answer without an interval, and why it has none."""
    known = "" if entry.error is None else f"{entry.error.text()}, "
    named = "" if is_single else f"of {entry.aggregate} "
    return f"{named}{known}no interval: {entry.described.no_interval}"
