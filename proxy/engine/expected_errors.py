"""How exact an answer will be, in the units of its column: public numbers only, for round numbers of rows.

EXPLAIN shows this before anything is read. Numbers of rows are round examples, so the text is the same on
every database. What depends on a bound that is chosen when the statement runs is told for round bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.engine.accuracy import Accuracy, AnswerError, ErrorKind, number_of
from proxy.engine.clipped_units import grows_where_cut
from proxy.engine.unit_words import aggregate_word, one_unit, units_word
from proxy.kernel.formula_model import NoisySums
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    Calculated,
    DeviationMean,
    NoisyStatistic,
    OrderStatistic,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.statistics import Measured, Statistic
from proxy.mechanisms import deviation_mean, deviation_variance, order_statistic
from proxy.planner.shared_releases import scales_of
from proxy.query.ir.query_aggregates import SPREADS, AggregateKind
from proxy.release.null_answers import has_range, rows_needed, says_nothing
from proxy.release.presenting import step_of
from proxy.release.spread_values import units_needed

EXAMPLES = (1_000, 10_000, 100_000)
_USUAL = 10_000
_ROWS_OF_A_UNIT = (10, 100)  # examples of a bound that is not chosen yet
# Beside numbers of rows. Bounds that are chosen leave out few units, so they are far above the mean.
_MOST_ROWS = Fraction(50)
_GROUPS_OF_A_UNIT = 10  # of many groups
_REACH = Fraction(-math.log(0.05))  # of Laplace noise, in scales
_OF_RANGE = Fraction(2, 5)  # by so much, the example says, the rows of a unit are off the mean
_DEVIATION = Fraction(1, 10)  # of the range: the standard deviation of most numbers is no larger
# Of their bounds: values from the lowest on, so that their deviation is about a tenth of the range.
_FILLED = Fraction(1, 3)
_FILLED_PARTS = tuple(Fraction(part, 100) for part in (40, 50, 60, 75, 100))
_VALUE = Fraction(
    1_000
)  # example of a bound on values that is not chosen yet, of totals in a subquery
_SPREAD = 10  # a bound on sums, in largest values
_SECONDS = {86400: "days", 3600: "hours", 60: "minutes", 1: "seconds"}
_RANKS = "% of ranks"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorExample:
    """The 95 % error of an answer for a round number of rows.

    Attributes:
        number: Of rows or units in the group; None if the error does not depend on it.
        of: What is counted: "rows", "customers".
        bound: A round bound on what one unit adds; None if no bound is chosen.
        error: In the unit of the answer; None: the answer is NULL.
    """

    number: int | None
    of: str
    bound: Fraction | None
    error: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedError:
    """What is known in advance.

    Attributes:
        unit: Of the errors: "" for that of the column.
        rank: Of a quantile, whose errors are in percent of the rows in their order; else None.
        is_least: Whether errors are the least ones, whatever the data is.
        bound_of: What a bound in the examples is about.
        remarks: What else is to be known of this answer, a phrase each.
        assumptions: What the examples take for granted, a phrase each.
    """

    examples: tuple[ErrorExample, ...] = ()
    unit: str = ""
    rank: Fraction | None = None
    is_least: bool = False
    bound_of: str = ""
    remarks: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    def text(self) -> str:
        """Describe the error in one line, without the assumptions."""
        shown = [
            self._error(one, place) + self._condition(one, place)
            for place, one in enumerate(self.examples)
        ]
        return "; ".join(filter(None, (", ".join(shown), *self.remarks)))

    def usual_text(self) -> str:
        """Describe one example with its condition: of 10,000 rows, or of the most, or of the least bound.

        >>> examples = [ErrorExample(number=n, of="rows", bound=None, error=Fraction(n)) for n in (10, 20)]
        >>> ExpectedError(examples=tuple(examples)).usual_text()
        '+-20 for 20 rows'
        """
        if not self.examples:
            return self.remarks[0] if self.remarks else ""
        usual = next((one for one in self.examples if one.number == _USUAL), self.examples[-1])
        if usual.number is None:
            usual = self.examples[0]
        only = replace(self, examples=(usual,), remarks=())
        return only.text()

    def as_json(self) -> dict[str, object]:
        """The same facts as fields."""
        return {
            "text": self.text(),
            "usual": self.usual_text(),
            "unit": self.unit or None,
            "at_least": self.is_least,
            "bound_of": self.bound_of or None,
            "examples": [
                {
                    "number": one.number,
                    "counted": one.of or None,
                    "bound": None if one.bound is None else number_of(one.bound),
                    "error_95": None if one.error is None else number_of(one.error),
                }
                for one in self.examples
            ],
            "remarks": list(self.remarks),
            "assumptions": list(self.assumptions),
        }

    def _error(self, one: ErrorExample, place: int) -> str:
        if one.error is None:
            return "NULL"
        if self.rank is not None:
            low, high = (100 * self.rank + sign * one.error for sign in (-1, 1))
            return f"p{max(0, math.floor(low))} to p{min(100, math.ceil(high))}"
        least = "at least " if self.is_least and place == 0 else ""
        is_first = all(before.error is None for before in self.examples[:place])
        unit = f" {self.unit}" if self.unit and is_first else ""
        return f"{least}+-{short_number(one.error)}{unit}"

    def _condition(self, one: ErrorExample, place: int) -> str:
        if one.number is not None:
            of = f" {one.of}" if place == 0 else ""
            return f" for {one.number:,}{of}"
        if one.bound is not None:
            of = f" {one.of}" if one.of and place == 0 else ""
            words = self.bound_of if place == 0 else "for"
            return f" {words} {short_number(one.bound)}{of}"
        return ""


def expected_error(
    block: BlockPlan, place: int, entry: Accuracy, about: int | None = None
) -> ExpectedError:
    """Say how exact the answer at this place will be.

    Args:
        block: As planned, no bound chosen.
        place: Of the answer in the block.
        entry: As `accuracies` describes this answer.
        about: So many units there are, by public knowledge. None: nobody says it.
    """
    found, most = _expected(block, place, entry, about), dict(block.most_values).get(place + 1)
    return found if most is None else _capped(found, most)


def _capped(found: ExpectedError, most: int) -> ExpectedError:
    """Of a number of different values, which is cut to the largest possible one."""
    examples = (
        one if one.error is None else replace(one, error=min(one.error, Fraction(most)))
        for one in found.examples
    )
    return replace(
        found,
        examples=tuple(examples),
        remarks=(*found.remarks, f"at most {most:,}, as no more values are possible"),
    )


def _numbers(block: BlockPlan, about: int | None, *, of_units: bool) -> Sequence[int]:
    """Examples of how many rows, or units, one group has: by the policy's number of units, if it says one."""
    rows = isinstance(block.neighbours, RowNeighbours) and block.neighbours.rows == 1
    groups = block.groups() if block.keys else 1
    if about is None or not groups or not (of_units or rows):
        return EXAMPLES
    each = int(float(f"{about / groups:.3g}"))
    return [number for number in (each // 10, each) if number]


def _expected(block: BlockPlan, place: int, entry: Accuracy, about: int | None) -> ExpectedError:
    answer = block.answers[place]
    numbers = _numbers(block, about, of_units=False)
    release = block.releases[answer.releases[0]]
    if answer.calculated is None and isinstance(release, DeviationMean):
        units = _numbers(block, about, of_units=True)
        found = _of_deviations(block, answer, release, units)
        return _with_needed(found, block, entry, also_above=True)
    if answer.calculated is None and isinstance(release, UnitExtreme):
        return _with_needed(_of_extreme(block, release), block, entry)
    if entry.error is None:
        is_open = _has_open_values(block, answer)
        if answer.calculated is not None and not entry.described.no_interval and not is_open:
            return _of_formula(block, answer, answer.calculated, numbers)
        reason = entry.described.no_interval or "its error is stated with the answer"
        return ExpectedError(remarks=(reason,))
    found = _of_error(block, answer, entry.error, numbers)
    if isinstance(release, SampleAggregate):
        found = replace(
            found,
            remarks=(f"plus what {release.partitions:,} parts of the {units_word(block)} differ",),
        )
    return _with_needed(found, block, entry)


def short_number(value: Fraction) -> str:
    """Write a number with three digits.

    >>> [short_number(Fraction(text)) for text in ("0.012345", "46", "12345", "1e9")]
    ['0.0123', '46', '12,300', '1,000,000,000']
    """
    number = Decimal(f"{float(value):.3g}") if abs(value) < 10**300 else Decimal(round(value))
    text = f"{number:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _with_needed(
    found: ExpectedError, block: BlockPlan, entry: Accuracy, *, also_above: bool = False
) -> ExpectedError:
    """also_above: noise may put a few units into far bands, which makes one draw in some worse than others."""
    needed = entry.described.units_needed
    if needed is None:
        return found
    more = ", now and then also above" if also_above else ""
    return replace(
        found,
        remarks=(*found.remarks, f"NULL below about {needed:,} {units_word(block)}{more}"),
    )


def _of_error(
    block: BlockPlan, answer: Answer, error: AnswerError, numbers: Sequence[int]
) -> ExpectedError:
    match error.kind:
        case ErrorKind.HALF_WIDTH | ErrorKind.FLOOR:
            shown = _as_shown(block, answer, error.value)
            one = ErrorExample(number=None, of="", bound=None, error=shown)
            is_least = error.kind is ErrorKind.FLOOR
            remarks = ("how much more is not known",) if is_least else ()
            found = ExpectedError(examples=(one,), is_least=is_least, remarks=remarks)
        case ErrorKind.TIMES_ROWS:
            found = _over_rows(block, answer, error.value, numbers)
        case ErrorKind.IN_RANK:
            return _in_ranks(block, answer, error.value, Fraction(1), numbers)
        case ErrorKind.TIMES_BOUND:
            return _times_bound(block, answer, error, numbers)
        case _:
            assert_never(error.kind)
    return _in_time(found, answer.aggregate.type)


def _as_shown(block: BlockPlan, answer: Answer, error: Fraction) -> Fraction:
    """With half of the step to which it is rounded; in three digits, rounded up as the console does."""
    release = block.releases[answer.releases[0]]
    if not block.is_rounded or not isinstance(release, NoisyStatistic) or answer.calculated:
        return error
    grid = release.grid / release.parts
    wide = error + step_of(int(error / grid)) // 2 * grid
    digits = 10 ** max(0, len(str(int(wide))) - 3)
    return wide if wide < 1_000 else Fraction(-(-wide // digits) * digits)


def _over_rows(
    block: BlockPlan, answer: Answer, times_rows: Fraction, numbers: Sequence[int]
) -> ExpectedError:
    """The error of a mean or a variance; a mean with one of half of its range is NULL."""
    one, is_mean = _measured(block, answer), answer.aggregate.kind is AggregateKind.AVG
    most = one.width * one.grid / 2
    errors = ((number, times_rows / number) for number in numbers)
    return ExpectedError(
        examples=tuple(
            ErrorExample(
                number=number,
                of="rows",
                bound=None,
                error=None if is_mean and error >= most else error,
            )
            for number, error in errors
        )
    )


def _in_ranks(
    block: BlockPlan, answer: Answer, ranks: Fraction, scale: Fraction, numbers: Sequence[int]
) -> ExpectedError:
    """In percent of the rows: what is 40 ranks of 1,000 rows is 4 % of them.

    Args:
        ranks: The error.
        scale: Of the bound on rows in the example, to that of the plan.
    """
    release = block.releases[answer.releases[0]]
    needed = rows_needed(release) * scale if isinstance(release, OrderStatistic) else Fraction(0)
    return ExpectedError(
        examples=tuple(
            ErrorExample(
                number=number,
                of="rows",
                bound=None,
                error=None if number < needed else 100 * ranks / number,
            )
            for number in numbers
        ),
        unit=_RANKS,
        rank=release.aggregate.rank if isinstance(release, OrderStatistic) else None,
    )


def _times_bound(
    block: BlockPlan, answer: Answer, error: AnswerError, numbers: Sequence[int]
) -> ExpectedError:
    """The bound is chosen when the statement runs."""
    if _has_open_values(block, answer):
        return _of_open_values(block, answer, error, numbers)
    choice = _choice_of(block, answer)
    if error.of in (ErrorKind.TIMES_ROWS, ErrorKind.IN_RANK):
        rows = _MOST_ROWS
        whole = error.value * rows
        if error.of is ErrorKind.IN_RANK:
            release = block.releases[answer.releases[0]]
            assert isinstance(release, OrderStatistic), "ranks are of rows"
            found = _in_ranks(block, answer, whole, rows / release.measured.rows, numbers)
        else:
            found = _over_rows(block, answer, whole, numbers)
        return replace(found, assumptions=(_if_few_rows(block, rows),))
    of = "rows" if choice is None or _is_count(block, choice) else ""
    examples = [(bound, error.value * bound) for bound in _round_bounds(block, answer, choice)]
    found = ExpectedError(
        examples=tuple(
            ErrorExample(number=None, of=of, bound=bound, error=value) for bound, value in examples
        ),
        bound_of=_bound_words(block, choice),
        assumptions=(_LEAST if grows_where_cut(block, answer, choice) else _CHOSEN,),
    )
    return _in_time(found, answer.aggregate.type)


_CHOSEN = "how much one adds at most is chosen when the statement runs"
_NO_LESS = "the truth is at least the answer less this error"
_LEAST = f"{_CHOSEN}; what is more is cut, so {_NO_LESS}"


def _has_open_values(block: BlockPlan, answer: Answer) -> bool:
    """Whether a bound on its values is chosen when it runs."""
    return any(one.releases & set(answer.releases) for one in block.value_choices)


def _of_open_values(
    block: BlockPlan, answer: Answer, error: AnswerError, numbers: Sequence[int]
) -> ExpectedError:
    """For values up to a round number."""
    whole = error.value * _VALUE
    if error.of is ErrorKind.TIMES_ROWS:
        found = _over_rows(block, answer, whole, numbers)
    else:
        one = ErrorExample(number=None, of="", bound=_VALUE, error=whole)
        found = ExpectedError(examples=(one,), bound_of="for values up to")
    return replace(found, assumptions=(_OPEN_VALUES,))


_OPEN_VALUES = "values: if few are above 1,000; the error grows in proportion"


def _if_few_rows(block: BlockPlan, rows: Fraction) -> str:
    return f"rows: if {one_unit(block)} has {rows} at most; the error grows in proportion"


def _bound_words(block: BlockPlan, choice: int | None) -> str:
    is_rows = choice is None or _is_count(block, choice)
    what = "has up to" if is_rows else "adds up to"
    return f"if {one_unit(block)} {what}"


def _is_count(block: BlockPlan, choice: int) -> bool:
    release = block.releases[choice]
    return isinstance(release, NoisyStatistic) and release.statistic is Statistic.ROWS


def _choice_of(block: BlockPlan, answer: Answer) -> int | None:
    own = (number for number in answer.releases if number in block.choices)
    return next(own, None)


def _round_bounds(block: BlockPlan, answer: Answer, choice: int | None) -> Sequence[Fraction]:
    """Round examples of a bound: of rows, or of sums, as many times the largest value."""
    if choice is None or _is_count(block, choice):
        return [Fraction(rows) for rows in _ROWS_OF_A_UNIT]
    clamp = _measured(block, answer).clamp
    largest = max(abs(clamp.low), abs(clamp.high))
    return [largest, largest * _SPREAD]


def _measured(block: BlockPlan, answer: Answer) -> Measured:
    if answer.calculated is not None:
        return answer.calculated.measured[0]
    release = block.releases[answer.releases[0]]
    if isinstance(release, NoisyStatistic):
        assert isinstance(release.of, tuple)
        return release.of[0]
    found = getattr(release, "measured", None)
    assert isinstance(found, Measured), "what is divided by rows has an operand"
    return found


def _of_deviations(
    block: BlockPlan, answer: Answer, release: DeviationMean, numbers: Sequence[int]
) -> ExpectedError:
    """Of units whose rows are off the mean by a round part of the range, on average, each in several groups."""
    one, kind = release.measured, answer.aggregate.kind
    is_open = any(block.releases.index(release) in each.releases for each in block.value_choices)
    size = _VALUE if is_open else one.width * one.grid * _OF_RANGE
    needed = units_needed(release, answer.aggregate)

    groups = _groups_of_a_unit(block)

    def error(number: int) -> Fraction | None:
        if number < needed:
            return None
        noise = _noise_about_centres(release, kind, number, size)
        found = _REACH * noise * groups / number
        return found if 2 * found < one.width * one.grid or is_open or kind in _VARIANCES else None

    examples = tuple(
        ErrorExample(number=number, of=units_word(block), bound=None, error=error(number))
        for number in numbers
    )
    assumed = (
        f"{aggregate_word(answer.aggregate)}: if {units_word(block)} have about as many rows each, with values"
        f" {short_number(size)} from the mean"
    )
    if kind in SPREADS:
        assumed = (
            f"{assumed} at most, with a deviation of {short_number(_typical(size))}; {_NO_LESS}"
        )
    if groups > 1:
        assumed = f"{assumed}; and rows in {groups:,} groups each"
    return ExpectedError(examples=examples, assumptions=(assumed,))


_VARIANCES = (AggregateKind.VAR_POP, AggregateKind.VAR_SAMP)


def _groups_of_a_unit(block: BlockPlan) -> int:
    """In so many groups the rows of a unit are, the example says. Its part in each is as much smaller."""
    known = (block.groups() if block.keys else 1, block.reach, _GROUPS_OF_A_UNIT)
    return max(1, min(one for one in known if one is not None))


def _typical(size: Fraction) -> Fraction:
    """The standard deviation of values that are off their mean by so much at most."""
    return size * _DEVIATION / _OF_RANGE


def _noise_about_centres(
    release: DeviationMean, kind: AggregateKind, units: int, size: Fraction
) -> Fraction:
    """Scale of the noise in the answer, if there were one row: of units whose rows are off the mean by `size`
    at most."""
    spent = deviation_mean.typical_shares(release.epsilon_of_mean, units)
    if kind is AggregateKind.AVG:
        return size / spent.deviations
    of_squares, deviation = deviation_variance.shares(release.epsilon_of_squares), _typical(size)
    squares = Fraction(math.hypot(size**2 / of_squares.squares, deviation**2 / spent.rows))
    return squares if kind in _VARIANCES else squares / (2 * deviation)


def _of_extreme(block: BlockPlan, release: UnitExtreme) -> ExpectedError:
    """Not the very end, and never how far from it in the column: the place among units is public."""
    target = order_statistic.target_rank(
        release.places.last, release.own_loss.epsilon, release.measured.rows
    )
    ends = "smaller" if release.aggregate.kind is AggregateKind.MIN else "larger"
    return ExpectedError(remarks=(f"about {target:,} {units_word(block)} have a {ends} value",))


def _of_formula(
    block: BlockPlan, answer: Answer, calculated: Calculated, numbers: Sequence[int]
) -> ExpectedError:
    """Of values that fill a part of their bounds, as most do. The less they fill, the larger is the error of
    what is divided by their variance."""
    choice = block.rows_choice
    scales: Sequence[Fraction] = scales_of(block, answer)
    assumptions = [
        "variances, deviations and pairs: if values fill the lowest third of their bounds"
    ]
    if choice is not None and not choice.is_given:
        scales = [scale * _MOST_ROWS / choice.bounds[-1] for scale in scales]
        assumptions.append(_if_few_rows(block, _MOST_ROWS))
    examples = tuple(
        ErrorExample(
            number=number,
            of="rows",
            bound=None,
            error=_error_of_filled(answer, calculated, scales, number, _FILLED),
        )
        for number in numbers
    )
    remarks = ("NULL where its error is half of its range",) if has_range(answer) else ()
    if has_range(answer) and examples[-1].error is None:
        remarks = (_takes_filled(answer, calculated, scales, numbers[-1]), *remarks)
    return ExpectedError(examples=examples, remarks=remarks, assumptions=tuple(assumptions))


def _takes_filled(
    answer: Answer, calculated: Calculated, scales: Sequence[Fraction], most: int
) -> str:
    """How much of their bounds values have to fill, so that so many rows have an answer."""
    for part in _FILLED_PARTS:
        error = _error_of_filled(answer, calculated, scales, most, part)
        if error is not None:
            return (
                f"for {most:,} NULL unless values fill at least about {short_number(100 * part)} % of their"
                f" bounds: then +-{short_number(error)}"
            )
    return f"for {most:,} NULL even if values fill their bounds"


def _error_of_filled(
    answer: Answer,
    calculated: Calculated,
    scales: Sequence[Fraction],
    number: int,
    part: Fraction,
) -> Fraction | None:
    """Of so many rows whose values are spread evenly over a part of their bounds, from the lowest on; None: the
    answer is NULL."""
    assert calculated.formula.of is not None
    sums = tuple(
        round(number * _on_average(need.statistic, [calculated.measured[n] for n in need.of], part))
        for need in calculated.formula.needs
    )
    found = calculated.formula.of(
        NoisySums(sums=sums, scales=tuple(scales), measured=calculated.measured)
    )
    error = max(found.most - found.value, found.value - found.least)
    return None if says_nothing(answer, found.value, error) else error


def _on_average(statistic: Statistic, of: Sequence[Measured], part: Fraction) -> Fraction:
    """What a row adds on average, if values are spread evenly over a part of their bounds, from the lowest on.

    Of values about the middle, in half steps: they are -D .. -D + 2 part D, where D is the width.
    """
    means = [-one.width * (1 - part) for one in of]
    match statistic:
        case Statistic.ROWS:
            return Fraction(1)
        case Statistic.STEPS:
            return of[0].low + of[0].width * part / 2
        case Statistic.CENTRED | Statistic.PRODUCTS:
            return math.prod(means, start=Fraction(1))
        case Statistic.SQUARES:
            square = means[0] ** 2 + (of[0].width * part) ** 2 / 3
            return 2 * square - of[0].width ** 2
        case _:
            assert_never(statistic)


def _in_time(found: ExpectedError, kind: SqlType) -> ExpectedError:
    """Errors of dates and timestamps in the largest unit that fits them."""
    if not kind.is_time:
        return found
    step = 86400 if kind is SqlType.DATE else 1
    known = [one.error for one in found.examples if one.error is not None]
    least = min(known, default=Fraction(0)) * step
    unit = next((one for one in _SECONDS if least >= one), 1)
    examples = tuple(
        replace(one, error=None if one.error is None else one.error * step / unit)
        for one in found.examples
    )
    return replace(found, examples=examples, unit=_SECONDS[unit])
