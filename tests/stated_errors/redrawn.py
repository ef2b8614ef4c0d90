"""A statement whose exact results are read once, and released any number of times.

Plan, compiled SQL, choice of bounds and release are the product's, in the order of
proxy/drawing/drawer.py. Of each choice of bounds the statements run once. What an interval has to hold is
the same release without noise: the exact answer at the bounds that were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from proxy.base.result_columns import IntervalEnd
from proxy.compiler.backend_query import BackendQuery
from proxy.drawing.compiled_blocks import CompiledBlock
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.clipped_units import bounds_of, with_chosen
from proxy.engine.column_errors import ColumnError, column_errors
from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan, with_centres
from proxy.mechanisms.bits import RandomBits
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.release.choosing_bounds import ChosenBound, Totals, clamped_totals, totals_of
from proxy.release.expression_intervals import BlockIntervals
from proxy.release.noisy_relation import NoisyInterval, NoisyRow, NoisyTable
from proxy.release.window_intervals import WindowGroups
from tests.centre_scans import centre_scan
from tests.seeded_bits import SeededBits
from tests.stated_errors.noise_size import NONE, noise_times
from tests.stated_errors.public_engine import PublicEngine
from tests.unchecked_blocks import (
    choose_bounds,
    compile_block,
    compiled_block,
    drawn_centres,
    release_block,
)

Keys = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """What is stated of one number. is_column: of a column of the statement, as HTTP does; else dp.low and
    dp.high of an aggregate. place: of either, from 1. exact: the answer at the bounds that were chosen."""

    is_column: bool
    place: int
    keys: Keys
    value: Fraction
    low: Fraction
    high: Fraction
    exact: Fraction

    @property
    def holds(self) -> bool:
        return self.low <= self.exact <= self.high

    @property
    def error(self) -> Fraction:
        return max(self.value - self.low, self.high - self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is said of a bound that was chosen, and the exact numbers of units."""

    stated: ChosenBound
    units: int
    above: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One block, once: with noise, and with the same bounds without."""

    block: BlockPlan
    noisy: NoisyTable
    exact: Mapping[Keys, NoisyRow]
    chosen: Mapping[int | None, Chosen]

    @property
    def clips(self) -> bool:
        """Whether any unit has more than a bound that was chosen."""
        return any(one.above for one in self.chosen.values())

    def numbers(self) -> Iterator[Number]:
        exact_rows = [self.exact[row.keys] for row in self.noisy.rows]
        exact_intervals = without_noise(self.block, exact_rows)
        for number, row in enumerate(self.noisy.rows):
            exact = exact_rows[number]
            pairs = zip(row.values, exact.values, strict=True)
            for place, (value, truth) in enumerate(pairs, start=1):
                if value.is_missing or value.half_width is None:
                    continue
                assert not truth.is_missing, "NULL is no number to hold"
                both = replace(
                    value, is_least=False
                )  # what a bound cuts is cut of the exact one, too
                yield Number(
                    is_column=False,
                    place=place,
                    keys=row.keys,
                    value=Fraction(value.text() or ""),
                    low=Fraction(both.interval(IntervalEnd.LOW)),
                    high=Fraction(both.interval(IntervalEnd.HIGH)),
                    exact=truth.index * truth.grid,
                )
            outputs = zip(self.block.outputs, row.errors, strict=True)
            for place, (output, found) in enumerate(outputs, start=1):
                if output.expression is None or not isinstance(found, NoisyInterval):
                    continue
                of_noise = replace(found, is_least=False, is_most=False)
                error = Fraction(of_noise.json(IntervalEnd.ERROR))
                yield Number(
                    is_column=True,
                    place=place,
                    keys=row.keys,
                    value=found.value,
                    low=found.value - error,
                    high=found.value + error,
                    exact=exact_value(output.expression, exact_intervals, number),
                )


def without_noise(block: BlockPlan, exact: Sequence[NoisyRow]) -> BlockIntervals:
    """The answers of all groups as points: windows are over all of them."""
    points = [
        [replace(value, half_width=0, at=lambda _: 0) for value in row.values] for row in exact
    ]
    groups = WindowGroups([row.keys for row in exact], [key.type for key in block.keys])
    return BlockIntervals(points, groups)


def exact_value(expression: NoisyExpression, exact: BlockIntervals, row: int) -> Fraction:
    """Of an expression over answers without noise, in one group."""
    found = exact.interval(expression, row)
    assert isinstance(found, NoisyInterval) and found.low == found.high, (expression, found)
    return found.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounded:
    """A block with bounds that were chosen, its exact results, and its release without noise. queries: of the
    last tables; centring: what the centres of its means are released by."""

    block: BlockPlan
    queries: tuple[BackendQuery, ...]
    tables: list[ExactTable]
    exact: Mapping[Keys, NoisyRow]
    centring: ExactTable | None


class Redrawn:
    """
    Refuses  as the engine does
    """

    def __init__(self, public: PublicEngine, sql: str, **settings: str) -> None:
        self._public = public
        self.question = public.read(sql)
        wanted = {"dp.notice": "on", **settings}
        found = public.engine._planned(self.question, (), wanted)
        self.private, self._bounded = found.private, found.bounded
        self._compiled = tuple(map(compiled_block, self.private.blocks))
        self._totals: dict[int, Totals] = {}
        self._known: dict[tuple[object, ...], _Bounded] = {}

    def run(self, bits: RandomBits) -> tuple[list[Release], list[ColumnError]]:
        """One release of each block, and what is said of the statement's columns."""
        answers: dict[ScalarAnswer, str | None] = {}
        releases = []
        query = self.question.reading.query
        for number, compiled in enumerate(self._compiled):
            releases.append(self._released(number, compiled, answers, bits))
            for scalar in query.scalars:
                if scalar.block == number:
                    answers[scalar.answer] = releases[-1].noisy.rows[0].values[0].text()
        plan = replace(self.private, blocks=tuple(one.block for one in releases))
        described = [
            (read, one.block, one.noisy) for read, one in zip(query.blocks, releases, strict=True)
        ]
        columns = column_errors(described, partial(accuracies, plan), self.question.result_columns)
        return releases, list(columns)

    def _released(
        self,
        number: int,
        compiled: CompiledBlock,
        answers: Mapping[ScalarAnswer, str | None],
        bits: RandomBits,
    ) -> Release:
        block = self.private.blocks[number]
        used = tuple(answers.values()) if block.uses_answers else ()
        if compiled.choosing is None:
            found = self._with_bounds(number, None, used, answers)
            block, tables = self._centred(found, answers, bits)
            noisy = release_block(block, tables, bits)
            return Release(block=block, noisy=noisy, exact=found.exact, chosen={})
        if block.uses_answers or number not in self._totals:
            (table,) = self._public.tables([compiled.choosing], answers)
            self._totals[number] = totals_of(block, table)
        totals = self._totals[number]
        choice = choose_bounds(block, totals, bits)
        found = self._with_bounds(number, bounds_of(block, choice), used, answers)
        block, tables = self._centred(found, answers, bits)
        with_choice = with_chosen(block, choice)
        noisy = release_block(with_choice, tables, bits)
        chosen = {
            release: _chosen(block, release, totals, stated)
            for release, stated in choice.items()
            if isinstance(stated, ChosenBound)
        }
        return Release(block=with_choice, noisy=noisy, exact=found.exact, chosen=chosen)

    def _with_bounds(
        self,
        number: int,
        bounds: Mapping[int | None, int] | None,
        used: tuple[str | None, ...],
        answers: Mapping[ScalarAnswer, str | None],
    ) -> _Bounded:
        """used: answers with which rows of the block are compared."""
        place = (number, None if bounds is None else tuple(bounds.values()), used)
        if place not in self._known:
            block = self.private.blocks[number]
            if bounds is not None:
                block = self._bounded(number, bounds).block
            tables = []
            if bounds is not None and block.is_of_totals:
                tables.append(clamped_totals(block, self._totals[number]))
            queries = compile_block(block)
            tables += self._public.tables(queries, answers)
            centring = self._centring(block, answers)
            self._known[place] = _Bounded(
                block=block,
                queries=queries,
                tables=tables,
                exact=_without_noise(about_the_middle(block, centring), tables),
                centring=centring,
            )
        return self._known[place]

    def _centring(
        self, block: BlockPlan, answers: Mapping[ScalarAnswer, str | None]
    ) -> ExactTable | None:
        if not block.deviation_means:
            return None
        return self._public.tables([centre_scan(block)], answers)[0]

    def _centred(
        self, found: _Bounded, answers: Mapping[ScalarAnswer, str | None], bits: RandomBits
    ) -> tuple[BlockPlan, list[ExactTable]]:
        """About centres that are drawn here: what depends on them is read again."""
        if found.centring is None:
            return found.block, found.tables
        block = with_centres(found.block, drawn_centres(found.block, found.centring, bits))
        tables, before = list(found.tables), len(found.tables) - len(found.queries)
        for place, (query, planned) in enumerate(
            zip(compile_block(block), found.queries, strict=True), start=before
        ):
            if query != planned:
                (tables[place],) = self._public.tables([query], answers)
        return block, tables


def _chosen(block: BlockPlan, release: int | None, totals: Totals, stated: ChosenBound) -> Chosen:
    of_it, bounds = totals.choices[release], block.choices[release].bounds
    place = 0 if stated.bound is None else bounds.index(stated.bound)
    return Chosen(stated=stated, units=of_it.above(-1), above=of_it.above(place))


def about_the_middle(block: BlockPlan, centring: ExactTable | None) -> BlockPlan:
    """As the scan of a block without centres reads it."""
    if centring is None:
        return block
    drawn = drawn_centres(block, centring, SeededBits(1))
    middles = {
        number: replace(one, is_single=False, centres=(0,) * len(one.centres))
        for number, one in drawn.items()
    }
    return with_centres(block, middles)


def _without_noise(block: BlockPlan, tables: list[ExactTable]) -> Mapping[Keys, NoisyRow]:
    """Of all groups that there are, private ones too."""
    whole = [replace(table, selected=True) for table in tables]
    with noise_times(NONE):
        exact = release_block(replace(block, is_rounded=False), whole, SeededBits(1))
    return {row.keys: row for row in exact.rows}
