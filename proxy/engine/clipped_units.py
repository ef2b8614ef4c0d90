"""What is said of bounds that were chosen: how large they are, and how many units they cut, about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from proxy.engine.accuracy import number_of, text_of
from proxy.engine.advice import FEWER, MORE
from proxy.engine.unit_words import aggregate_word, one_unit, output_names, units_word
from proxy.kernel.bound_choices import ValueChoice, WeightChoice
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    DistinctCount,
    NoisyStatistic,
    OrderStatistic,
    Release,
)
from proxy.mechanisms.row_weights import WeightedRows
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.noisy_expressions import answers_in, is_rounded_answer
from proxy.query.ir.query_aggregates import SPREADS, Aggregate, AggregateKind
from proxy.release.choosing_bounds import Chosen, share_of
from proxy.release.drawn_values import DrawnBlock, DrawnQuantile

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT)
_UNNAMED = frozenset(kind.value.partition("(")[0] for kind in AggregateKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedUnits:
    """What one bound cuts.

    unit, units_word: How the policy calls one privacy unit, and several.
    aggregates: What the bound is for.
    of_rows: Whether it bounds rows, not a sum.
    most: The bound, None where there were too few units to choose one.
    units, above: Noisy numbers of units, and of those that the bound cuts. half_width: of both, at 95 %.
    needed, enough: Units for a choice, and for a good one.
    is_poor: By the noisy number there are fewer than enough.
    is_given: The policy gives the bound.
    is_largest: The bound that was chosen is the largest, so that it cuts nothing that the policy's do not.
    is_lower: What is cut can only make the answers smaller.
    place: Which of several aggregates of one name it is about.
    columns: The output columns with such aggregates in them.
    plain: The places and names of those that are such an aggregate, perhaps rounded.
    """

    block: int
    unit: str
    units_word: str
    aggregates: tuple[str, ...]
    of_rows: bool
    most: Fraction | None
    units: int
    above: int
    half_width: int
    needed: int
    enough: int
    is_poor: bool
    is_given: bool
    is_largest: bool = False
    is_lower: bool = False
    place: str = ""
    columns: tuple[str, ...] = ()
    plain: tuple[tuple[int, str], ...] = ()

    @property
    def limit(self) -> str:
        """The bound."""
        assert self.most is not None
        if self.of_rows and self.most == 1:
            return f"at most 1 row of {self.unit} counts"
        most = f"{text_of(self.most)} rows" if self.of_rows else text_of(self.most)
        return f"at most {most} of {self.unit} count"

    @property
    def named(self) -> str:
        """The columns by their names, the aggregates where a column has no name of its own."""
        is_named = self.columns and _UNNAMED.isdisjoint(self.columns)
        return ", ".join(self.columns if is_named else self.aggregates)

    def text(self) -> str:
        named = f"{self.named}{self.place}"
        if self.most is None:
            verb = "is" if len(self.aggregates) == 1 else "are"
            return (
                f"{named} {verb} NULL: it takes about {self.needed:,} {self.units_word}, and a noisy count"
                f" found too few. {FEWER}"
            )
        if self.is_given:
            return f"{named}: the policy's limits cut about {self.clipped_text()}."
        if self.is_poor:
            return (
                f"{named}: {self.limit}, and how many have more is not known: that takes about"
                f" {self.enough:,} {self.units_word}. {MORE}"
            )
        return f"{named}: {self.cut_text()}"

    def cut_text(self) -> str:
        """The bound, and how many units have more."""
        return f"{self.limit}, about {self.clipped_text()} have more{self.direction}"

    @property
    def direction(self) -> str:
        """To which side of the answer that is, if its error does not say it. What is computed of answers says
        it by itself, and may go to the other side."""
        is_told = not self.is_lower or (not self.is_largest and len(self.plain) == 1)
        return "" if is_told or self.is_computed else ", so the true number can only be larger"

    @property
    def is_computed(self) -> bool:
        """Whether an output column has more in it than such an aggregate."""
        return len(self.plain) < len(self.columns)

    def clipped_text(self) -> str:
        """How many units are cut of how many, about: both have noise."""
        above, units = self._people()
        off = f"+-{self.half_width:,}"
        return f"{above:,} {off} of {units:,} {off} {self.units_word}"

    def _people(self) -> tuple[int, int]:
        """Of units that are cut and of all: numbers with noise, neither below 0 as it is told."""
        return max(0, self.above), max(0, self.units)

    def as_json(self) -> dict[str, object]:
        above, units = self._people()
        return {
            "block": self.block,
            "aggregates": list(self.aggregates),
            "columns": list(self.columns),
            "bound": None if self.most is None or self.is_given else number_of(self.most),
            "bounds": "rows" if self.of_rows else "total",
            "chosen": not self.is_given,
            "units": units,
            "clipped": above,
            "error_95": self.half_width,
            "at_least": self.is_lower,
            "share": float(share_of(self.above, self.units)),
        }


@dataclass(frozen=True, slots=True)
class ClippedLine:
    """What a bound cuts, in words. column: That it is for, if it is for one only. named: What it is for."""

    column: str | None
    named: str
    text: str


def clipped_lines(clipped: Sequence[ClippedUnits]) -> Iterator[ClippedLine]:
    """Say what each bound cuts, in one line if several blocks have the same bound for the same columns."""
    computed = Counter(
        one.columns[0] for one in clipped if len(one.columns) == 1 and one.is_computed
    )
    several_of = {column for column, bounds in computed.items() if bounds > 1}
    alike: dict[tuple[str, str], list[ClippedUnits]] = {}
    for one in clipped:
        if one.is_poor:
            continue
        column = one.columns[0] if len(one.columns) == 1 else None
        if one.most is None or one.is_given:
            yield ClippedLine(None, "", one.text())
        elif one.place:
            alike.setdefault((one.named, one.limit), []).append(one)
        else:
            of = f"{', '.join(one.aggregates)}: " if column in several_of else ""
            yield ClippedLine(column, one.named, f"{of}{one.cut_text()}")
    for (named, limit), several in alike.items():
        if len(several) == 1:
            yield ClippedLine(None, f"{named}{several[0].place}", several[0].cut_text())
            continue
        cut = ", ".join(f"{one.clipped_text()}{one.place}" for one in several)
        direction = several[0].direction
        yield ClippedLine(None, named, f"{limit}, more have about {cut}{direction}")


def clipped_units(
    block: BlockPlan, found: Mapping[int | None, Chosen], number: int
) -> Iterator[ClippedUnits]:
    """
    Given    found: the bounds that were chosen for the block; number: of the block, from 1
    Gives    one for each, but for that of weights, which cut nobody: what they take away widens the error
    """
    for choice, chosen in found.items():
        planned = block.choices[choice]
        if isinstance(chosen, WeightedRows) or isinstance(planned, WeightChoice):
            continue
        bounded = block.bounded_by(choice)
        release = None if choice is None else block.releases[choice]
        grid = release.grid if isinstance(release, NoisyStatistic) else Fraction(1)
        of_values = block.value_choice(choice)
        if of_values is not None:
            grid = of_values.measured.grid
        numbers = [n for n, one in enumerate(block.answers, start=1) if bounded & {*one.releases}]
        columns, plain = _columns(block, frozenset(numbers))
        yield ClippedUnits(
            block=number,
            unit=one_unit(block),
            units_word=units_word(block),
            aggregates=tuple(
                dict.fromkeys(
                    _name(block.answers[n - 1].aggregate, of_column=of_values is not None)
                    for n in numbers
                )
            ),
            of_rows=release is None or (of_values is None and release.aggregate.kind in _COUNTS),
            most=None if chosen.bound is None else chosen.bound * grid,
            units=chosen.units,
            above=chosen.above,
            half_width=chosen.half_width,
            needed=chosen.needed,
            enough=chosen.enough,
            is_poor=chosen.is_poor,
            is_given=planned.is_given,
            is_largest=chosen.bound == planned.bounds[-1],
            is_lower=only_grow(block, bounded) if of_values is None else _shrinks(block, of_values),
            columns=columns,
            plain=plain,
        )


def _columns(
    block: BlockPlan, numbers: frozenset[int]
) -> tuple[tuple[str, ...], tuple[tuple[int, str], ...]]:
    """The output columns with any of these answers in them, and the places of those that are one."""
    names = output_names(block)
    found: list[str] = []
    plain: list[tuple[int, str]] = []
    for place, one in enumerate(block.outputs, start=1):
        if one.expression is None or not answers_in(one.expression) & numbers:
            continue
        found.append(names[place - 1])
        if is_rounded_answer(one.expression):
            plain.append((place, one.name))
    return tuple(found), tuple(plain)


def _name(aggregate: Aggregate, *, of_column: bool) -> str:
    name = aggregate_word(aggregate) if of_column else aggregate.kind.value
    return name if aggregate.condition is None else f"{name} FILTER"


def with_places(
    clipped: Sequence[ClippedUnits], blocks: Sequence[BlockPlan]
) -> tuple[ClippedUnits, ...]:
    """Say of which query each is, if several blocks have aggregates of one name.

    Args:
        clipped: Of all blocks of a statement.
        blocks: All of them.
    """
    several = Counter(name for one in clipped for name in {*one.aggregates})
    return tuple(
        replace(one, place=_place(blocks[one.block - 1], blocks))
        if any(several[name] > 1 for name in one.aggregates)
        else one
        for one in clipped
    )


def _place(block: BlockPlan, blocks: Sequence[BlockPlan]) -> str:
    if len({one.tables() for one in blocks}) > 1:
        return f" of {', '.join(block.tables())}"
    if len({one.keys for one in blocks}) < 2:
        return ""
    read = [sorted(column for _, column in columns(key.expression)) for key in block.keys]
    if not all(read):
        return ""
    names = dict.fromkeys(chain.from_iterable(read))
    return f" by {', '.join(names)}" if names else " in total"


def _shrinks(block: BlockPlan, of_values: ValueChoice) -> bool:
    """Whether no answer grows where sizes are cut: of values that are not below 0, and of spreads of any."""
    kinds = {one.aggregate.kind for one in block.answers if of_values.releases & {*one.releases}}
    return kinds <= SPREADS or (of_values.measured.low >= 0 and kinds <= SPREADS | GROWING)


def _with_weights(block: BlockPlan, found: Mapping[int | None, Chosen]) -> tuple[Release, ...]:
    """The releases, with what is known of the rows that their weights take away."""
    releases = list(block.releases)
    for choice, chosen in found.items():
        if isinstance(chosen, WeightedRows):
            for number in block.bounded_by(choice):
                release = block.releases[number]
                assert isinstance(release, OrderStatistic), "rows of quantiles have weights"
                releases[number] = replace(release, weights=chosen)
    return tuple(releases)


def with_lost_rows(block: BlockPlan, drawn: DrawnBlock) -> BlockPlan:
    """The block, its quantiles with the rows that weights take away in one group, at most."""
    if not block.weighted:
        return block
    releases = list(block.releases)
    for number in block.weighted:
        release = block.releases[number]
        assert isinstance(release, OrderStatistic) and release.weights is not None
        values = (group.values[number] for group in drawn.groups)
        lost = max((one.lost for one in values if isinstance(one, DrawnQuantile)), default=0)
        releases[number] = replace(release, weights=replace(release.weights, lost=lost))
    return replace(block, releases=tuple(releases))


def bounds_of(block: BlockPlan, found: Mapping[int | None, Chosen]) -> dict[int | None, int]:
    """Of each choice. Where there were too few units the least one, so that the statements run all the same."""
    return {
        choice: block.choices[choice].bounds[0] if chosen.bound is None else chosen.bound
        for choice, chosen in found.items()
    }


def _least_answers(block: BlockPlan, found: Mapping[int | None, Chosen]) -> Iterator[int]:
    """The answers of which a chosen bound may cut more than their errors say, in one direction.

    The noisy number of units beyond a bound does not tell how much is cut: it is off by more units than the
    noise of the answer is in bounds, at any epsilon (docs/reference/accuracy.md). Only the largest bound cuts
    nothing.
    """
    for choice, chosen in found.items():
        planned = block.choices[choice]
        if isinstance(chosen, WeightedRows) or isinstance(planned, WeightChoice):
            continue
        if planned.is_given or chosen.bound in (None, planned.bounds[-1]):
            continue
        for number, answer in enumerate(block.answers, start=1):
            if grows_where_cut(block, answer, choice):
                yield number


def with_chosen(block: BlockPlan, found: Mapping[int | None, Chosen]) -> BlockPlan:
    """The block, with what the choice of its bounds says of its answers."""
    none = [block.bounded_by(choice) for choice, chosen in found.items() if chosen.bound is None]
    poor = [
        block.bounded_by(choice)
        for choice, chosen in found.items()
        if chosen.bound is not None and chosen.is_poor
    ]
    clipped = tuple(
        (release, chosen.share)
        for choice, chosen in found.items()
        # else nothing is answered of which a share could be cut, or nobody is
        if not isinstance(chosen, WeightedRows) and chosen.bound is not None
        for release in sorted(block.bounded_by(choice))
    )
    return replace(
        block,
        releases=_with_weights(block, found),
        withheld=frozenset().union(*none),
        unstated=frozenset().union(*poor),
        clipped=clipped,
        least_answers=frozenset(_least_answers(block, found)),
    )


# Whether what a bound cuts would make an answer larger, smaller, or one of both. By the statement alone.


GROWING = {
    *(AggregateKind.SUM, AggregateKind.AVG),
    *(AggregateKind.QUANTILE_CONT, AggregateKind.QUANTILE_DISC),
}
_RANKED = {AggregateKind.MIN, AggregateKind.MAX}


def only_grow(block: BlockPlan, cut: Collection[int]) -> bool:
    """Say whether no answer grows where rows or sums of a unit are cut.

    Numbers of rows or values do not, nor sums of what is not below 0.

    Args:
        cut: The releases of which they are cut.
    """
    kinds = {one.aggregate.kind for one in block.answers if not {*one.releases}.isdisjoint(cut)}
    releases = [block.releases[number] for number in cut]
    return kinds <= {*_COUNTS, AggregateKind.COUNT_DISTINCT, AggregateKind.SUM} and all(
        isinstance(one, DistinctCount) or (isinstance(one, NoisyStatistic) and not one.is_signed)
        for one in releases
    )


def grows_where_cut(block: BlockPlan, answer: Answer, choice: int | None) -> bool:
    """Say whether what a bound that was chosen cuts would only make an answer larger.

    Args:
        choice: The bound, as `BlockPlan.choices` names it.
    """
    if block.bounded_by(choice).isdisjoint(answer.releases):
        return False
    kind = answer.aggregate.kind
    of_values = block.value_choice(choice)
    if of_values is not None:
        return kind in SPREADS or (kind in GROWING and of_values.measured.low >= 0)
    if kind is AggregateKind.SUM and answer.calculated is not None:
        return answer.calculated.measured[0].low >= 0
    return kind in {*_COUNTS, AggregateKind.COUNT_DISTINCT, AggregateKind.SUM} and all(
        isinstance(one, DistinctCount) or (isinstance(one, NoisyStatistic) and not one.is_signed)
        for one in (block.releases[number] for number in answer.releases)
    )


def is_cut_below(aggregate: Aggregate, kept: Bounds) -> bool:
    """Say whether the policy's bounds on a total of a unit only make an answer smaller.

    A total within bounds is nearer to each other one, so that spreads shrink.
    """
    is_plain = isinstance(aggregate.operand, ColumnRef) and aggregate.second is None
    only_above = kept.low >= 0 and aggregate.kind in GROWING | _RANKED
    return is_plain and (only_above or aggregate.kind in SPREADS)


def are_cut_below(block: BlockPlan) -> bool:
    """Say whether the policy's bounds on values only make answers smaller: spreads of plain columns."""
    named = {column for column, _ in block.clamped}
    found = [one.aggregate for one in block.answers if _is_of(one.aggregate, named)]
    is_plain = all(isinstance(one.operand, ColumnRef) and one.second is None for one in found)
    return is_plain and {one.kind for one in found} <= SPREADS


def _is_of(aggregate: Aggregate, named: Collection[str]) -> bool:
    """Whether it may be of one of the columns. Counts are not cut by bounds on values."""
    if aggregate.kind in (*_COUNTS, AggregateKind.COUNT_DISTINCT):
        return False
    operand = aggregate.operand
    return not isinstance(operand, ColumnRef) or operand.column in named
