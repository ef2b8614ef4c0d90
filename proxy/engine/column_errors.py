"""How far each output column of one answer is off, group by group, or why that is not known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from proxy.base.instants import DAY_SECONDS
from proxy.base.sql_types import SqlType, by_oid, element_of
from proxy.engine.accuracy import Accuracy, ErrorKind, number_of, text_of, unit_of_error
from proxy.engine.advice import OR_RAISE, RAISE
from proxy.engine.answer_accuracy import AT_LEAST, AT_MOST, BEYOND, ranks_off
from proxy.engine.answer_conditions import conditions
from proxy.engine.impossible_answers import AROUND, counts_of_groups, is_behind, shown_rows
from proxy.engine.policy_limits import limit_text
from proxy.engine.unit_words import aggregate_word, counted
from proxy.kernel.plan import BlockPlan, OrderStatistic, UnitExtreme
from proxy.mechanisms import order_statistic
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyExpression, answers_in, is_of_one_row
from proxy.query.ir.query import COMPUTED_AROUND, OF_A_RANK, AggregateBlock, OutputColumn
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.noisy_relation import NoInterval, NoisyInterval, NoisyTable, NoisyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnError:
    """How far one column is off.

    place: Of the column in the result, from 1; None if it is of an inner query.
    least, most: Of the half widths of its 95 % intervals in all groups; None if no group has one.
    without: In how many of `groups` there is none. nulls: In how many of these the number is NULL. reason: Why.
    larger: In how many groups the half width is larger than the number.
    note: What else is to be known of it.
    is_behind: Whether the groups are those behind the result, as it is not known which are shown.
    type: Of the column: errors of times are days of a date and seconds of a timestamp.
    at_least: A chosen bound may cut more than the error, which would only make the numbers larger.
    at_most: What it cuts would only make them smaller.
    is_told: By it the groups that may be empty are told, so large errors are told as well.
    takes_error: dp.error() around its expression is accepted.
    """

    place: int | None
    name: str
    groups: int
    without: int
    nulls: int = 0
    least: Fraction | None = None
    most: Fraction | None = None
    reason: str = ""
    larger: int = 0
    note: str = ""
    is_behind: bool = False
    type: SqlType | None = None
    at_least: bool = False
    at_most: bool = False
    is_told: bool = False
    takes_error: bool = False

    @property
    def is_width(self) -> bool:
        """Whether its text is the width of its errors and nothing else."""
        is_one_sided = self.at_least or self.at_most
        return self.least is not None and not self.without and not is_one_sided

    def text(self) -> str:
        if self.least is None or self.most is None:
            return f"{self.name}: {'no groups' if not self.groups else self.reason}"
        is_one_sided = self.at_least or self.at_most
        found = _range_text(self.least, self.most, self.type, "" if is_one_sided else "+-")
        if self.at_least:
            found = f"at least the number less {found}"
        if self.at_most:
            found = f"at most the number plus {found}"
        return f"{self.name}: {'; '.join((found, *self._without()))}"

    def _without(self) -> Iterator[str]:
        """In how many groups there is no number, and in how many others no interval."""
        behind = " (shown or not)" if self.is_behind else ""
        if self.nulls:
            yield f"NULL in {self.nulls:,} of {counted(self.groups, 'group')}{behind}"
        others = self.without - self.nulls
        if others:
            why = "; ".join(one for one in self.reason.split("; ") if not one.startswith(_IS_NULL))
            none, where = "no interval", f"in {others:,} of {counted(self.groups, 'group')}{behind}"
            is_known = none in why and not why.startswith(none)  # its error is told in another way
            yield (
                f"{where} {why}" if is_known else f"{none} {where}: {why.removeprefix(f'{none}: ')}"
            )

    def as_json(self) -> dict[str, object]:
        return {
            "least": None if self.least is None else number_of(self.least),
            "most": None if self.most is None else number_of(self.most),
            "unit": unit_of_error(self.type),
            "no_interval": self.reason or None,
            "note": self.note,
            "at_least": self.at_least,
            "at_most": self.at_most,
        }


_MANY = Fraction(1, 4)  # of the groups: so many errors above the number are worth a line


def error_text(width: Fraction, kind: SqlType | None) -> str:
    """A half width with its unit, if it has one.

    >>> error_text(Fraction(172_800), SqlType.TIMESTAMP), error_text(Fraction(3), SqlType.DATE)
    ('2 days', '3 days')
    >>> error_text(Fraction(90), SqlType.TIMESTAMPTZ), error_text(Fraction(5, 2), SqlType.FLOAT8)
    ('90 seconds', '2.5')
    """
    unit = unit_of_error(kind)
    if unit == "seconds" and width >= 2 * DAY_SECONDS:
        width, unit = Fraction(math.ceil(10 * width / DAY_SECONDS), 10), "days"
    return text_of(width) if unit is None else f"{text_of(width)} {unit}"


def _range_text(least: Fraction, most: Fraction, kind: SqlType | None, sign: str = "+-") -> str:
    """The least and the largest half width."""
    first = sign + error_text(least, kind)
    if least is most:  # of one group
        return first
    last = sign + error_text(most, kind)
    return first if first == last else f"{first} to {last}, by group"


_OPEN = "what chosen bounds cut of answers in it may move it either way"
_ENDS = (AggregateKind.MIN, AggregateKind.MAX)
_AROUND = (COMPUTED_AROUND, OF_A_RANK)


def reported(block: AggregateBlock) -> AggregateBlock:
    """With output columns to be reported: those of the statement, else those of this inner query with noise in
    them, else its aggregates."""
    if block.outputs:
        return block
    inner = tuple(one for one in block.inner_outputs if one.expression is not None or one.reason)
    block = _with_around(block)
    if block.outer_outputs:
        is_known = all(one.reason not in _AROUND for one in block.outer_outputs)
        names = {one.name for one in block.outer_outputs}
        more = () if is_known else tuple(one for one in inner if one.name not in names)
        return replace(block, outputs=(*block.outer_outputs, *more))
    if inner:
        return replace(block, outputs=inner)
    answers = enumerate(block.aggregates, start=1)
    return replace(
        block,
        outputs=tuple(OutputColumn(one.kind.value, AnswerOf(n, one.type)) for n, one in answers),
    )


def unreported(block: AggregateBlock) -> AggregateBlock:
    """Without output columns, if no errors are to be reported."""
    return replace(_with_around(block), outputs=())


def _with_around(block: AggregateBlock) -> AggregateBlock:
    """Of an inner query that others compute with, it is not known which groups are shown.

    A query around that shows a column of it as it is, or one computed of it, has its rows.
    """
    has_its_rows = any(one.expression is not None for one in block.outer_outputs)
    if not block.grouped or block.outputs or has_its_rows:
        return block
    return replace(block, row_choices=(*block.row_choices, AROUND))


def column_errors(
    blocks: Sequence[tuple[AggregateBlock, BlockPlan, NoisyTable]],
    accuracy: Callable[[], Sequence[Accuracy]],
    result: Sequence[tuple[str, int]],
) -> tuple[ColumnError, ...]:
    """
    Given    blocks: each as it was read, as `reported` made it, and its noisy relation; accuracy: of all
             answers, asked for where one has no interval; result: name and type of each column of the
             statement's result
    Gives    one for each output column with noise in it that is a number or a time
    """
    found: list[ColumnError] = []
    names = _inner_names(blocks)
    known: list[Accuracy] = []

    def of_block(number: int) -> Sequence[Accuracy]:
        known[:] = known or accuracy()
        return [entry for entry in known if entry.block == number]

    for number, (read, planned, released) in enumerate(blocks, start=1):
        block, noisy = shown_rows(planned, released)
        placed = len(read.outputs or read.outer_outputs)
        for place, column in enumerate(block.outputs, start=1):
            if place <= placed and not _is_measured(result, place):
                continue
            if column.expression is None and not column.reason:
                continue
            one = _column(
                column,
                place,
                block,
                noisy,
                partial(of_block, number),
                takes_error=bool(read.outputs),
            )
            if column.expression is not None and _is_told_if_empty(column.expression, planned):
                one = replace(one, is_told=True)
            if one.reason == COMPUTED_AROUND and _chooses(planned):
                one = replace(one, reason=f"{one.reason}{_OF_CHOSEN}")
            if place > placed:
                one = replace(one, place=None, name=names(number, one))
            found.append(one)
        if any(column.expression is None and column.reason for column in block.outputs):
            found += _of_hidden_answers(block, noisy, partial(of_block, number))
    return (*_told_apart(tuple(_together(found))), *_outside(blocks, result))


def _told_apart(columns: Sequence[ColumnError]) -> Iterator[ColumnError]:
    """With its place behind the name of each column that shares its name with another."""
    names = Counter(one.name for one in columns)
    for one in columns:
        is_alone = names[one.name] == 1 or one.place is None
        yield one if is_alone else replace(one, name=f"{one.name} (column {one.place})")


def _of_hidden_answers(
    block: BlockPlan, noisy: NoisyTable, accuracy: Callable[[], Sequence[Accuracy]]
) -> Iterator[ColumnError]:
    """Why answers have no interval that stand in outputs of a form whose error is not known: what is said of
    min(created_at) is true of its date as well."""
    shown = [answers_in(one.expression) for one in block.outputs if one.expression is not None]
    hidden = set(range(1, len(block.answers) + 1)).difference(*shown)
    known = accuracy() if hidden and noisy.rows else ()
    for number in sorted(hidden) if known else ():
        entry = _at_bounds(known[number - 1], block, noisy, number)
        if entry.described.no_interval:
            yield ColumnError(
                place=None,
                name=aggregate_word(block.answers[number - 1].aggregate),
                groups=len(noisy.rows),
                without=len(noisy.rows),
                reason=_of_answer(entry, is_single=True),
            )


def _inner_names(
    blocks: Sequence[tuple[AggregateBlock, BlockPlan, NoisyTable]],
) -> Callable[[int, ColumnError], str]:
    """How columns of inner queries are called: with their table, if several such queries have the name."""
    inner = [number for number, (read, *_) in enumerate(blocks, start=1) if not read.outputs]
    tables = {number: ", ".join(blocks[number - 1][1].tables()) for number in inner}
    is_told = len(set(tables.values())) == len(inner)

    names = Counter(
        column.name for read, planned, _ in blocks if not read.outputs for column in planned.outputs
    )

    def name(number: int, one: ColumnError) -> str:
        if len(inner) == 1 or names[one.name] == 1:
            return one.name
        if is_told:
            return f"{one.name} of {tables[number]}"
        return f"{one.name} of query {inner.index(number) + 1}"

    return name


def _outside(
    blocks: Sequence[tuple[AggregateBlock, BlockPlan, NoisyTable]],
    result: Sequence[tuple[str, int]],
) -> Iterator[ColumnError]:
    """Columns of the result that a query around the answered ones computes."""
    if any(read.outputs or read.outer_outputs for read, *_ in blocks):
        return
    inner = {column.name for read, *_ in blocks for column in read.inner_outputs}
    for name, oid in result:
        if inner and by_oid(oid).is_number and name not in inner:
            is_chosen = any(_chooses(planned) for _, planned, _ in blocks)
            reason = f"{COMPUTED_AROUND}{_OF_CHOSEN if is_chosen else ''}"
            yield ColumnError(place=None, name=name, groups=1, without=1, reason=reason)


_OF_CHOSEN = "; noise helped to choose its rows, so it is too far to one side on average"


def _chooses(block: BlockPlan) -> bool:
    """Whether noise has a part in which groups the statement takes."""
    return block.top is not None or any(one.is_noisy for one in block.row_choices)


def large_errors(columns: Sequence[ColumnError], *, is_advised: bool = False) -> Iterator[str]:
    """Say in one line which numbers are often smaller than their errors.

    Args:
        is_advised: Another line says already what to do.
    """
    large = [
        one
        for one in columns
        if one.larger and not one.is_told and one.larger >= _MANY * one.groups
    ]
    if not large:
        return
    names = ", ".join(
        one.name if one.groups == 1 else f"{one.name} in {one.larger:,} of {one.groups:,} groups"
        for one in large
    )
    if any(one.is_behind and one.groups > 1 for one in large):
        names = f"{names}, shown or not"
    ways = [
        *(("coarser groups",) if any(one.groups > 1 for one in large) else ()),
        *(("fewer columns",) if len(columns) > 1 else ()),
    ]
    advice = f"Ask for {' or '.join(ways)}{OR_RAISE}" if ways else RAISE
    advice = "" if is_advised else f" {advice}"
    yield f"The error is larger than the number itself: {names}.{advice}"


def _together(found: Sequence[ColumnError]) -> Iterator[ColumnError]:
    """Of one column of the result once: it has several blocks where they are levels of GROUPING SETS."""
    for place in dict.fromkeys(one.place for one in found):
        own = [one for one in found if one.place == place]
        if place is None or len(own) == 1:
            yield from own
            continue
        is_open = any(one.at_least for one in own) and any(one.at_most for one in own)
        if is_open:  # of levels that differ in their direction
            yield replace(
                own[0],
                least=None,
                most=None,
                at_least=False,
                at_most=False,
                reason=f"no interval: {_OPEN}",
            )
            continue
        yield replace(
            own[0],
            groups=sum(one.groups for one in own),
            without=sum(one.without for one in own),
            nulls=sum(one.nulls for one in own),
            least=min((one.least for one in own if one.least is not None), default=None),
            most=max((one.most for one in own if one.most is not None), default=None),
            reason="; ".join(dict.fromkeys(one.reason for one in own if one.reason)),
            larger=sum(one.larger for one in own),
            at_least=any(one.at_least for one in own),
            at_most=any(one.at_most for one in own),
            is_behind=any(one.is_behind for one in own),
            note="; ".join(dict.fromkeys(one.note for one in own if one.note)),
        )


def _is_measured(result: Sequence[tuple[str, int]], place: int) -> bool:
    if place > len(result):
        return True
    _, oid = result[place - 1]
    kinds = by_oid(oid), element_of(oid)
    return any(kind.is_number or kind.is_time for kind in kinds)


def _column(
    column: OutputColumn,
    place: int,
    block: BlockPlan,
    noisy: NoisyTable,
    accuracy: Callable[[], Sequence[Accuracy]],
    *,
    takes_error: bool,
) -> ColumnError:
    """takes_error: dp.error() is accepted around an expression of one row."""
    groups = len(noisy.rows)
    if column.expression is None:
        return ColumnError(
            place=place, name=column.name, groups=groups, without=groups, reason=column.reason
        )
    takes_error = takes_error and is_of_one_row(column.expression)
    found = [row.errors[place - 1] for row in noisy.rows]
    known = [one for one in found if isinstance(one, NoisyInterval)]
    widths = [one.half_width for one in known]
    kind = column.expression.type
    note = "; ".join(conditions(block, are_all=False)) if answers_in(column.expression) else ""
    if any(one.is_open for one in known):
        of_noise = _range_text(min(widths), max(widths), kind)
        return ColumnError(
            place=place,
            name=column.name,
            groups=groups,
            without=groups,
            reason=f"noise {of_noise}, no interval: {_OPEN}",
            is_behind=is_behind(block),
            type=kind,
            note=note,
            takes_error=takes_error,
        )
    reasons: dict[NoInterval, str] = {}
    if len(known) < groups:
        none = {one for one in found if isinstance(one, NoInterval)}
        reasons = {
            one: _reason(one, column.expression, block, noisy, accuracy())
            for one in NoInterval
            if one in none
        }
    reason = "; ".join(reasons.values())
    return ColumnError(
        place=place,
        name=column.name,
        groups=groups,
        without=groups - len(widths),
        nulls=sum(found.count(one) for one, why in reasons.items() if why.startswith(_IS_NULL)),
        least=min(widths, default=None),
        most=max(widths, default=None),
        reason=reason,
        larger=0
        if kind.is_time
        else sum(abs(one.value) < width for one, width in zip(known, widths, strict=True)),
        is_behind=is_behind(block),
        type=kind,
        note=note,
        at_least=any(one.is_least for one in known) or reason.startswith(AT_LEAST),
        at_most=any(one.is_most for one in known) or reason.startswith(AT_MOST),
        takes_error=takes_error,
    )


def _is_told_if_empty(expression: NoisyExpression, block: BlockPlan) -> bool:
    """Whether it is the one count by which groups that may be empty are told."""
    return isinstance(expression, AnswerOf) and counts_of_groups(block) == (expression.number,)


def _reason(
    none: NoInterval,
    expression: NoisyExpression,
    block: BlockPlan,
    noisy: NoisyTable,
    accuracy: Sequence[Accuracy],
) -> str:
    if none is not NoInterval.OF_AN_ANSWER:
        return str(none.value)
    numbers = sorted(answers_in(expression))
    if all(any(row.values[n - 1].is_missing for n in numbers) for row in noisy.rows):
        return _IS_NULL
    missing = [
        _at_bounds(accuracy[n - 1], block, noisy, n)
        for n in numbers
        if accuracy[n - 1].described.no_interval
    ]
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


def _at_bounds(entry: Accuracy, block: BlockPlan, noisy: NoisyTable, number: int) -> Accuracy:
    """The same of a minimum or maximum, where it is the policy's own bound: nothing is seen beyond that."""
    release = block.releases[block.answers[number - 1].releases[0]]
    if isinstance(release, OrderStatistic) and release.aggregate.fraction is not None:
        return _with_ranks(entry, block, release, noisy, number)
    if not isinstance(release, OrderStatistic | UnitExtreme) or release.aggregate.kind not in _ENDS:
        return entry
    is_max = release.aggregate.kind is AggregateKind.MAX
    one = release.measured
    bound = (one.high if is_max else one.low) * one.grid
    values = [row.values[number - 1] for row in noisy.rows]
    numbers = [value.index * value.grid for value in values if not value.is_missing]
    count = numbers.count(bound)
    if not count:
        return _with_percentile(entry, block, release, values)
    end = "last" if is_max else "first"
    told = f"it is the policy's {end} value, and values beyond count as it"
    limits = (kept for _, kept in block.clamped if bound == (kept.high if is_max else kept.low))
    if (limit := next(limits, None)) is not None:
        most = "largest" if is_max else "smallest"
        at = f"this is at the policy's limit of {limit_text(bound, limit.kind)}"
        told = f"{at}: the real {most} value is not known"
    if count < len(numbers):
        told = (
            f"{entry.described.no_interval}; in {count:,} of {counted(len(values), 'group')} {told}"
        )
    return replace(entry, described=replace(entry.described, no_interval=told))


def _with_ranks(
    entry: Accuracy, block: BlockPlan, release: OrderStatistic, noisy: NoisyTable, number: int
) -> Accuracy:
    """Say between which percentiles a quantile lies; of one group between which of those asked beside it."""
    if entry.error is None:
        return entry
    found = [row.values[number - 1] for row in noisy.rows]
    rows = [one.among for one in found if one.among and not one.is_missing]
    if not rows:
        return entry
    off, rank = entry.error.value / min(rows), release.aggregate.rank
    low, high = max(0, math.floor(100 * (rank - off))), min(100, math.ceil(100 * (rank + off)))
    smallest = ", in the smallest group" if len(noisy.rows) > 1 else ""
    told = f"it lies between about p{low} and p{high}{smallest}"
    ends = _neighbours(block, noisy, number)
    if ends is not None:
        told = f"{told}: between {text_of(ends[0])} and {text_of(ends[1])}, by the others"
    return replace(entry, described=replace(entry.described, no_interval=told))


def _neighbours(
    block: BlockPlan, noisy: NoisyTable, number: int
) -> tuple[Fraction, Fraction] | None:
    """Two answers of lower and higher percentiles between which the exact one of this lies, at 95 %.

    Each of both is on its side with 97.5 %: the error of its rank, at that level, does not reach this rank.
    """
    if len(noisy.rows) > 1:
        return None
    own, low, high = block.answers[number - 1].aggregate, None, None
    near = Fraction(0), Fraction(1)
    for answer, value in zip(block.answers, noisy.rows[0].values, strict=True):
        one, release = answer.aggregate, block.releases[answer.releases[0]]
        if replace(one, kind=own.kind, fraction=own.fraction) != own or one.type is not own.type:
            continue
        if not isinstance(release, OrderStatistic) or value.is_missing or not value.among:
            continue
        off = Fraction(ranks_off(release, _EACH_SIDE), value.among)
        if near[0] <= one.rank and one.rank + off <= own.rank:
            low, near = value.index * value.grid, (one.rank, near[1])
        elif one.rank <= near[1] and one.rank - off >= own.rank:
            high, near = value.index * value.grid, (near[0], one.rank)
    return None if low is None or high is None or low > high else (low, high)


_EACH_SIDE = Fraction(39, 40)


def _with_percentile(
    entry: Accuracy,
    block: BlockPlan,
    release: OrderStatistic | UnitExtreme,
    values: Sequence[NoisyValue],
) -> Accuracy:
    """Say how many units lie beyond a minimum or maximum, if these are more than few: then it is rather a
    percentile, if each unit has one row.

    Of the group with the fewest units, by their noisy numbers.
    """
    units = [one.among for one in values if one.among is not None and not one.is_missing]
    if not isinstance(release, UnitExtreme) or not units:
        return entry
    steps, epsilon = release.places.last, release.own_loss.epsilon
    beyond = order_statistic.target_rank(steps, epsilon, release.measured.rows)
    share = Fraction(beyond, max(min(units), beyond))
    if share <= _FEW_BEYOND:
        return entry
    told = f"{float(100 * share):.2g} % of those{' of one group' if len(values) > 1 else ''}"
    if block.neighbours.rows == 1:
        is_max = release.aggregate.kind is AggregateKind.MAX
        told = f"{told}: rather percentile_disc({float(1 - share if is_max else share):.2f})"
    reason = entry.described.no_interval.replace(BEYOND, f"{BEYOND}, {told}")
    return replace(entry, described=replace(entry.described, no_interval=reason))


_FEW_BEYOND = Fraction(1, 100)


def _of_answer(entry: Accuracy, is_single: bool) -> str:
    """What is known of an answer without an interval, and why it has none."""
    is_known = entry.error is not None and entry.error.kind is not ErrorKind.FLOOR
    known = f"{entry.error.text()}, " if entry.error is not None and is_known else ""
    named = "" if is_single else f"of {entry.aggregate} "
    reason = entry.described.no_interval
    if reason.startswith((AT_LEAST, AT_MOST)):
        return f"{named}{reason}"
    return f"{named}{known}no interval: {reason}"
