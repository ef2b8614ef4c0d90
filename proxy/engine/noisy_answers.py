"""From a charged plan to noisy relations: each block is run, released and written as JSON."""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import Protocol

from proxy.base.errors import Fault
from proxy.base.result_columns import IntervalColumn, subquery_name
from proxy.compiler.backend_query import CHOICES, OTHERS, BackendQuery
from proxy.compiler.compiling import compile_block, compile_centres, compile_choices
from proxy.compiler.deviation_scan import CentredScan, centres_text
from proxy.engine.accuracy import Accuracy
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_notices import advised_once, answer_notices
from proxy.engine.clipped_units import (
    ClippedUnits,
    bounds_of,
    clipped_units,
    with_chosen,
    with_lost_rows,
    with_places,
)
from proxy.engine.column_errors import (
    ColumnError,
    column_errors,
    large_errors,
    with_lower_ends,
)
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.ports import ProtectedSession
from proxy.engine.public_lists import Lists, values_of
from proxy.engine.threads import AT_ONCE, beside, in_thread
from proxy.engine.undelivered_answers import UndeliveredAnswer
from proxy.engine.unit_words import MORE
from proxy.exact.table import ExactTable
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan, check_centred, refuse_unpaid
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from proxy.planner.lifting import Lift
from proxy.query.ir.noisy_expressions import NoisyExpression, parts_of
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.release.adding_noise import drawn_block, group_selector
from proxy.release.cached_block import CachedBlock, lifted_groups, with_noises, with_releases
from proxy.release.choosing_bounds import (
    Chosen,
    choose_bounds,
    clamped_totals,
    totals_of,
)
from proxy.release.coarse_quantiles import with_coarse
from proxy.release.deviation_means import drawn_centres, with_centres
from proxy.release.noisy_relation import NoisyTable, relation_json
from proxy.release.presenting import presented

_SEED_BITS = 63
_ADDING_UP = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.SUM)


class BoundsOfBlocks(Protocol):
    """Checks a block with bounds that were chosen for it, by its number."""

    def __call__(
        self,
        number: int,
        chosen: Mapping[int | None, int],
        told: Callable[[BlockPlan], BlockPlan] = ...,
    ) -> CheckedBlock:
        """
        Given    told: puts what else is known of the choice
        """
        ...


# Numbers that take as long as the interval of one value, and as one part of an expression over several values.
_PER_INTERVAL, _PER_PART = 20, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldOfAnswer:
    """withheld: what is NULL, has no group, or an interval that is no help, because too few units were there,
    and what to do, for the analyst; columns: the errors of what is returned, where these are wanted."""

    withheld: tuple[str, ...]
    columns: tuple[ColumnError, ...]


@dataclass(frozen=True, slots=True)
class NoisyAnswer:
    """relation: JSON for the rewritten statement's parameter; receipt None where nothing was charged; plan: as
    it was run, None where nothing was planned to be run; published: the released tables that it is made of;
    outlasts_timeout: whether it is charged, and may have taken longer than its statement_timeout; is_reused:
    whether a later statement has the same values; is_repeated: whether its noise is that of earlier answers;
    keep: makes what is kept if the statement around it fails, None where nothing was charged; times: how times
    of the statement were rounded; limits: what the policy's own numbers leave out, as rules; told: makes what
    is said of the answer, which takes a while, so that the relation can go first; more: what else is said."""

    relation: str
    loss: Loss
    remaining: Loss | None
    receipt: str | None
    plan: PrivatePlan | None
    notice: bool
    more: tuple[str, ...] = ()
    told: Callable[[], ToldOfAnswer] | None = None
    clipped: tuple[ClippedUnits, ...] = ()
    published: tuple[str, ...] = ()
    outlasts_timeout: bool = False
    is_reused: bool = False
    is_repeated: bool = False
    keep: Callable[[], UndeliveredAnswer | None] | None = None
    times: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    @property
    def withheld(self) -> tuple[str, ...]:
        return self.more if self.told is None else (*self.told().withheld, *self.more)

    @property
    def columns(self) -> tuple[ColumnError, ...]:
        return () if self.told is None else self.told().columns

    @property
    def undelivered(self) -> UndeliveredAnswer | None:
        """What is kept after an error. It is measured here, as most statements do not fail. None: nothing was
        charged, or the answer is too large."""
        return None if self.keep is None else self.keep()

    @property
    def is_charged(self) -> bool:
        """Whether there is a receipt of this answer, of now or of an earlier statement that failed."""
        return self.receipt is not None or self.keep is not None

    @property
    def charged_receipt(self) -> str | None:
        """Of the charge for this answer, now or in an earlier statement that failed."""
        kept = self.undelivered
        return self.receipt if kept is None else kept.receipt

    @property
    def charged_hint(self) -> str | None:
        """For an error that comes after the charge. It holds no released value."""
        receipt = self.charged_receipt
        if receipt is None:
            return None
        then = "Another statement is charged again."
        if self.undelivered is not None:
            then = (
                "It is kept for an hour: the next statement with the same aggregates, conditions, groups and"
                " settings costs nothing."
            )
        if self.is_reused:
            then = (
                "A corrected statement with the same aggregates, conditions and groups costs nothing while the"
                " answer is reused."
            )
        return f"The answer is paid (receipt {receipt}). {then}"

    @property
    def accuracy(self) -> tuple[Accuracy, ...]:
        """Of each answer. Computed for those who ask for it: the wire does not."""
        return () if self.plan is None else accuracies(self.plan)


@dataclass(frozen=True, slots=True)
class NoisyRelation:
    """json: for the rewritten statement; told: of the answers, as of NoisyAnswer; plan: with the bounds that
    were chosen; clipped: what they cut; drawn: of each block."""

    json: str
    told: Callable[[], ToldOfAnswer]
    plan: PrivatePlan
    clipped: tuple[ClippedUnits, ...]
    drawn: tuple[CachedBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledBlock:
    """block: of which they are; choosing: what bounds are chosen by, which runs first; centring: what means of
    deviations are released by, with their centres in its first part, which runs next, or instead where that has
    the choices as well; queries: what is released. What centring gives stands for those of them that read the
    same."""

    block: CheckedBlock
    choosing: BackendQuery | None
    centring: CentredScan | None
    queries: tuple[BackendQuery, ...]

    @property
    def all(self) -> tuple[BackendQuery, ...]:
        """What is run, in its order."""
        found = [] if self.choosing is None else [self.choosing]
        if self.centring is None:
            return (*found, *self.queries)
        if self.centring.has_choices:
            found = []
        stands_for = {self.centring.query.releases, *filter(None, (self.centring.others,))}
        others = (one for one in self.queries if one.releases not in stands_for)
        return (*found, self.centring.query, *others)


def compiled_block(block: CheckedBlock, *, is_bounded: bool = False) -> CompiledBlock:
    """is_bounded: its bounds are chosen"""
    return CompiledBlock(
        block=block,
        choosing=None if is_bounded else compile_choices(block),
        centring=compile_centres(block),
        queries=compile_block(block),
    )


class BlockStore(Protocol):
    """What is cached of the blocks of one statement, by number."""

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock | None:
        """What stands already; None: it is to be drawn."""
        ...

    async def to_draw(self, number: int, block: CheckedBlock) -> CheckedBlock:
        """The block with the noise that it is drawn with."""
        ...

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        """What is to be shown, once it is cached: another may have drawn the same before."""
        ...


class NoCache:
    """Each statement draws for itself."""

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock | None:
        return None

    async def to_draw(self, number: int, block: CheckedBlock) -> CheckedBlock:
        return block

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        return drawn


async def noisy_relation(
    question: ProtectedQuery,
    plan: CheckedPlan,
    lifts: Sequence[Lift | None],
    bounded: BoundsOfBlocks,
    compiled: Sequence[CompiledBlock],
    charged: CheckedPlan | None,
    session: ProtectedSession | None,
    lists: Lists,
    bits: RandomBits,
    store: BlockStore,
) -> NoisyRelation:
    """The relation of the rewritten statement. Only public keys and what is cached are there where session is
    None.

    Given    lifts: what is drawn instead of blocks, if of any; bounded: a block with bounds that were chosen;
             compiled: the statements of what is drawn; charged: what was paid, durably
    Refuses  Fault: what would be drawn is not charged
    """
    private = plan.private
    tables: dict[str, tuple[NoisyTable, frozenset[IntervalColumn]]] = {}
    work = 0
    # Of earlier blocks, for those that compare with them.
    answers: dict[ScalarAnswer, str | None] = {}
    clipped: list[ClippedUnits] = []
    blocks = list(private.blocks)
    shown: list[CachedBlock] = []

    async def read(query: BackendQuery, select: Callable[[int], bool] | None) -> ExactTable:
        values = {**_values(query, answers, bits), **values_of(query, lists)}
        assert session is not None, "a statement that reads is charged"
        return await session.run(query, values, select)

    async def read_in_two_parts(query: BackendQuery, between: Between) -> ExactTable:
        values = {**_values(query, answers, bits), **values_of(query, lists)}
        assert session is not None, "a statement that reads is charged"
        return await session.run_in_two_parts(query, values, between)

    for number, checked in enumerate(plan.blocks):
        lift = lifts[number] if lifts else None
        wanted, planned = checked if lift is None else lift.checked, checked.block
        cached, bounded_here = await store.ready(number, wanted.block), None
        if cached is None:
            to_draw = await store.to_draw(number, wanted)
            refuse_unpaid(to_draw, charged)
            statements = compiled[number]
            if statements.block is not to_draw:
                statements = await in_thread(compiled_block, to_draw)
            reads = _Reads(at_once=read, in_two_parts=read_in_two_parts)
            drawn, bounded_here = await _drawn(statements, number, bounded, reads, bits)
            cached = await store.stored(number, wanted.block, drawn)
            if cached.chosen is not drawn.chosen:  # another has drawn it before
                bounded_here = None
        if lift is not None:
            cached = await beside(len(cached.drawn.groups), lifted_groups, cached, lift, planned)
        shown.append(cached)
        block = planned
        if cached.chosen:
            if bounded_here is None:
                bounded_here = await in_thread(_bounded, planned, number, cached.chosen, bounded)
            block = bounded_here.block
            clipped += clipped_units(block, cached.chosen, number + 1)
        if cached.noises:
            block = with_noises(block, cached.noises)
        if cached.releases:
            block = with_releases(block, cached.releases)
        work += _displayed(block, cached)
        noisy = await beside(work, presented, block, cached.drawn)
        block = with_coarse(with_lost_rows(block, cached.drawn), noisy)
        blocks[number] = block
        tables[subquery_name(number + 1)] = (noisy, block.intervals)
        for scalar in question.reading.query.scalars:
            if scalar.block == number:
                answers[scalar.answer] = noisy.rows[0].values[0].text()
    if any(map(operator.is_not, blocks, private.blocks)):
        private = replace(private, blocks=tuple(blocks))
    with_errors = bool(question.reading.error_columns)
    json = await beside(work, relation_json, tables, with_errors=with_errors)
    known = with_places(clipped, blocks) if len(clipped) > 1 else tuple(clipped)
    told = cache(partial(_told, question, private, tables, known))
    if work > AT_ONCE:
        await in_thread(told)
    return NoisyRelation(json, told, private, known, tuple(shown))


def _told(
    question: ProtectedQuery,
    private: PrivatePlan,
    tables: Mapping[str, tuple[NoisyTable, frozenset[IntervalColumn]]],
    clipped: Sequence[ClippedUnits],
) -> ToldOfAnswer:
    columns = _columns(question, private, tables)
    if any(one.is_lower and one.cuts_visibly for one in clipped):
        columns = with_lower_ends(columns, clipped)
    noisy = (table for table, _ in tables.values())
    lines = [
        *chain.from_iterable(map(answer_notices, private.blocks, noisy)),
        *(one.text() for one in clipped if one.is_poor),
    ]
    is_advised = any(line.endswith(MORE) for line in lines)
    lines += (*_levels(question), *large_errors(columns, is_advised=is_advised))
    return ToldOfAnswer(withheld=tuple(advised_once(lines)), columns=columns)


Between = Callable[[ExactTable], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reads:
    """How statements are read, and those of two parts."""

    at_once: Callable[[BackendQuery, Callable[[int], bool] | None], Awaitable[ExactTable]]
    in_two_parts: Callable[[BackendQuery, Between], Awaitable[ExactTable]]


async def _drawn(
    compiled: CompiledBlock,
    number: int,
    bounded: BoundsOfBlocks,
    reads: _Reads,
    bits: RandomBits,
) -> tuple[CachedBlock, CheckedBlock | None]:
    """One block is read and drawn, once it is known that it is charged.

    Gives    what is drawn; the block with its bounds, if it was drawn about no centres
    """
    planned = compiled.block

    def with_bounds(table: ExactTable) -> _BoundedBlock:
        return _with_bounds(planned, number, table, bounded, bits)

    choice = _BoundedBlock(block=planned, exact=[], chosen={})
    centring = compiled.centring
    if compiled.choosing is not None and not (centring is not None and centring.has_choices):
        table = await reads.at_once(compiled.choosing, None)
        # In a thread: of many aggregates the walks take long, of many groups the plan does.
        choice = await in_thread(with_bounds, table)
        compiled = await in_thread(partial(compiled_block, is_bounded=True), choice.block)
    found: dict[tuple[int, ...], ExactTable] = {}
    if compiled.centring is not None:
        choice, found = await _with_centres(choice, compiled.centring, with_bounds, reads, bits)
    block, exact = choice.block, choice.exact
    is_selected = group_selector(block, bits)
    for place, query in enumerate(compiled.queries):
        if query.releases in found:
            exact.append(found[query.releases])
        else:
            exact.append(await reads.at_once(query, is_selected if place == 0 else None))
    drawn = await beside(_draws(block.block, exact), drawn_block, block, exact, bits)
    return CachedBlock(chosen=choice.chosen, drawn=drawn), None if centring is not None else block


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _BoundedBlock:
    """A block whose bounds are chosen, or which has none to choose. exact: what follows from the totals that
    they were chosen by."""

    block: CheckedBlock
    exact: list[ExactTable]
    chosen: Mapping[int | None, Chosen]

    def __repr__(self) -> str:
        return "_BoundedBlock(hidden)"


def _with_bounds(
    planned: CheckedBlock, number: int, table: ExactTable, bounded: BoundsOfBlocks, bits: RandomBits
) -> _BoundedBlock:
    totals = totals_of(planned.block, table)
    chosen = choose_bounds(planned, totals, bits)
    block = _bounded(planned.block, number, chosen, bounded)
    if block.paid_as is not planned:
        raise Fault("bounds of another block than was charged")
    exact = [clamped_totals(block.block, totals)] if block.block.is_of_totals else []
    return _BoundedBlock(block=block, exact=exact, chosen=chosen)


async def _with_centres(
    choice: _BoundedBlock,
    scan: CentredScan,
    with_bounds: Callable[[ExactTable], _BoundedBlock],
    reads: _Reads,
    bits: RandomBits,
) -> tuple[_BoundedBlock, dict[tuple[int, ...], ExactTable]]:
    """The block about centres that are released here, and what is read about them, by the releases.

    Raises:
        Fault: Nothing was read between the parts. The block that is returned must be the one whose centres were
            released: released once more about others they would be paid once and drawn twice.
    """
    centred: _BoundedBlock | None = None

    async def between(first: ExactTable) -> str:
        nonlocal centred
        here = choice
        if scan.has_choices:
            here = await in_thread(with_bounds, choice_rows(first))
            first = without_choice_rows(first)
        centres = await in_thread(drawn_centres, here.block, first, bits)
        found = with_centres(here.block.block, centres)
        centred = replace(here, block=check_centred(found, here.block))
        return centres_text(found)

    read = await reads.in_two_parts(scan.query, between)
    if centred is None:
        raise Fault("means were read without their centres")
    return centred, _of_releases(scan, without_choice_rows(read) if scan.has_choices else read)


def choice_rows(read: ExactTable) -> ExactTable:
    """The rows by which bounds are chosen, as `compile_choices` has them."""
    rows = []
    for row in read.rows:
        place, band, *sums, units = row.values
        assert place is not None, "each row has its place"
        if place <= CHOICES:
            rows.append(replace(row, values=(CHOICES - place, band, units, *sums)))
    return replace(read, rows=tuple(rows), releases=())


def without_choice_rows(read: ExactTable) -> ExactTable:
    rows = tuple(row for row in read.rows if row.values[0] is None or row.values[0] > CHOICES)
    return replace(read, rows=rows)


def _of_releases(scan: CentredScan, read: ExactTable) -> dict[tuple[int, ...], ExactTable]:
    """What was read for the means, and for the other releases."""
    if not scan.others:
        return {read.releases: read}
    means = tuple(row for row in read.rows if row.values[0] != OTHERS)
    others = tuple(
        replace(row, values=row.values[1:]) for row in read.rows if row.values[0] == OTHERS
    )
    return {
        read.releases: ExactTable(means, read.slots, read.releases),
        scan.others: ExactTable(others, scan.slots, scan.others),
    }


def _bounded(
    planned: BlockPlan, number: int, chosen: Mapping[int | None, Chosen], bounded: BoundsOfBlocks
) -> CheckedBlock:
    """The block as it is drawn with these bounds: nothing where there were too few units for one."""
    told = partial(with_chosen, found=chosen)
    return bounded(number, bounds_of(planned, chosen), told)


def _columns(
    question: ProtectedQuery,
    private: PrivatePlan,
    tables: Mapping[str, tuple[NoisyTable, frozenset[IntervalColumn]]],
) -> tuple[ColumnError, ...]:
    if not any(block.outputs for block in private.blocks):
        return ()
    released = (table for table, _ in tables.values())
    blocks = list(zip(question.reading.query.blocks, private.blocks, released, strict=True))
    return column_errors(blocks, partial(accuracies, private), question.result_columns)


def _levels(question: ProtectedQuery) -> Iterator[str]:
    """Of GROUPING SETS, whose levels are released one by one."""
    levels = [one for one in question.reading.query.blocks if one.outputs or one.outer_outputs]
    adds_up = any(one.kind in _ADDING_UP for block in levels for one in block.aggregates)
    if len(levels) > 1 and adds_up:
        yield (
            "Parts do not add up to their totals, and may exceed them: each group of each level has noise of"
            " its own."
        )


def _values(
    query: BackendQuery, answers: Mapping[ScalarAnswer, str | None], bits: RandomBits
) -> dict[str, int | str | None]:
    values: dict[str, int | str | None] = {name: bits.below(2**_SEED_BITS) for name in query.seeds}
    values.update({name: answers[answer] for name, answer in query.scalars})
    return values


def _draws(block: BlockPlan, exact: Sequence[ExactTable]) -> int:
    """About how many numbers are handled to draw a block."""
    read = sum(len(table.rows) * len(table.releases) for table in exact)
    return (block.groups() or 0) * len(block.releases) + read


def _displayed(block: BlockPlan, cached: CachedBlock) -> int:
    """About how many numbers are handled to show a block."""
    outputs = (one.expression for one in block.outputs if one.expression is not None)
    intervals = sum(map(_interval_work, (*block.expressions, *outputs)))
    return len(cached.drawn.groups) * (len(block.releases) + intervals)


def _interval_work(expression: NoisyExpression) -> int:
    parts = sum(1 for _ in parts_of(expression))
    return _PER_INTERVAL if parts == 1 else _PER_PART * parts
