"""From a charged plan to noisy relations: each block is run, released and written as JSON. What was
not delivered is kept."""

from __future__ import annotations

import operator
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from sys import getsizeof
from time import monotonic
from typing import Any, Protocol

from proxy.base.node_parts import parts_getter
from proxy.base.result_columns import IntervalColumn, subquery_name
from proxy.base.stages import Stage
from proxy.drawing.charges import Charge
from proxy.drawing.compiled_blocks import CompiledBlock
from proxy.drawing.drawer import Drawer, DrawingInputs, Lists
from proxy.drawing.kept_answers import AnswerOwner, OwnedAnswer
from proxy.drawing.protected_reads import ProtectedSession
from proxy.drawing.statement_run import Payer, StatementRun
from proxy.engine.accuracy import Accuracy
from proxy.engine.advice import MORE, Advice
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_notices import answer_notices
from proxy.engine.answer_origin import AnswerOrigin
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
)
from proxy.engine.impossible_answers import listed
from proxy.engine.policy_statements import ProtectedQuery
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.planner.lifting import Lift
from proxy.query.ir.expression_walk import column_refs
from proxy.query.ir.noisy_expressions import NoisyExpression, count_parts
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.rebuilding import with_parts
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.release.cached_block import CachedBlock, as_shown, lifted_groups
from proxy.release.choosing_bounds import Chosen
from proxy.release.noisy_relation import NoisyTable, relation_json
from proxy.release.presenting import presented, with_coarse
from proxy.turns.threads import AT_ONCE

# Keeps answers that were charged but not delivered, because PostgreSQL failed in the query around them.
#
# Example: `SELECT count(*)::smallint FROM orders` is charged, and then 40,000 is out of range. The analyst
# sends `SELECT count(*) FROM orders` and gets the same 40,000 without a second charge.
#
# Whom it is shown to: `OwnedAnswer` of drawing/kept_answers.py.

KEPT_SECONDS = 3600.0
_OF_ANALYST = 8
_OF_ALL = 256
# Of memory. An answer has at most what its analyst has in all.
BYTES_OF_ANALYST = 4 * 1024 * 1024
BYTES_OF_ALL = 32 * 1024 * 1024
_GROUP_BYTES = 112  # with its tuples
_NUMBER_BYTES = 168  # a mean has three integers


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UndeliveredAnswer:
    """An answer of one statement. answer: its blocks, for their owner; plan: as of `_without_presentation`;
    receipt: of the charge; octets: of memory, about; until: when it is dropped, None before it is kept."""

    answer: OwnedAnswer
    plan: PrivatePlan
    receipt: str
    octets: int
    until: float | None = None

    def __repr__(self) -> str:
        return f"UndeliveredAnswer(receipt={self.receipt!r})"


def may_be_kept(plan: PrivatePlan, drawn: tuple[CachedBlock, ...]) -> bool:
    """Whether an answer without its texts is small enough. Quick, of each statement."""
    return sum(map(_fixed_octets, drawn, plan.blocks)) <= BYTES_OF_ANALYST


def undelivered_answer(
    owner: AnswerOwner, plan: PrivatePlan, receipt: str, drawn: tuple[CachedBlock, ...]
) -> UndeliveredAnswer | None:
    """Make an answer that can be kept. None: it is too large."""
    if not may_be_kept(plan, drawn):  # else its texts are few
        return None
    octets = sum(map(_fixed_octets, drawn, plan.blocks))
    stripped = _without_presentation(plan)
    octets += sum(map(_text_octets, drawn)) + _plan_octets(stripped)
    if octets > BYTES_OF_ANALYST:
        return None
    answer = OwnedAnswer(owner, drawn)
    return UndeliveredAnswer(answer=answer, plan=stripped, receipt=receipt, octets=octets)


_Key = tuple[str, int | None, PrivatePlan]


class UndeliveredAnswers:
    """The answers of one engine, in memory. Each is delivered once. The oldest make room for new ones."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[_Key, UndeliveredAnswer] = OrderedDict()

    def keep(self, answer: UndeliveredAnswer) -> None:
        """Keep an answer for an hour after its first failure."""
        if answer.until is None:
            answer = replace(answer, until=self._clock() + KEPT_SECONDS)
        owner = answer.answer.owner
        key = (owner.analyst, owner.token, answer.plan)
        self._kept[key] = answer
        self._kept.move_to_end(key)
        own = [one for one in self._kept.items() if one[1].answer.owner.analyst == owner.analyst]
        self._make_room(own, _OF_ANALYST, BYTES_OF_ANALYST)
        self._make_room([*self._kept.items()], _OF_ALL, BYTES_OF_ALL)

    def _make_room(
        self, answers: list[tuple[_Key, UndeliveredAnswer]], most: int, most_octets: int
    ) -> None:
        """Drop the first of some answers, until the others are within limits."""
        number, octets = len(answers), sum(answer.octets for _, answer in answers)
        for key, answer in answers:
            if number <= most and octets <= most_octets:
                return
            number -= 1
            octets -= answer.octets
            del self._kept[key]

    def take(self, payer: Payer, plan: PrivatePlan) -> UndeliveredAnswer | None:
        """Remove and return the answer to the same plan that was charged to this name, through this token or
        without one. The statement around it may differ. The person may be another one of the same name."""
        if not self._kept:  # the usual case: no plan is hashed
            return None
        answer = self._kept.pop((payer.analyst, payer.token, _without_presentation(plan)), None)
        if answer is None or answer.until is None or answer.until < self._clock():
            return None
        return answer


def _without_presentation(plan: PrivatePlan) -> PrivatePlan:
    """Leave out the parts of a plan that change only how drawn values are shown: error columns, intervals of
    expressions, and which intervals are columns."""
    blocks = (
        with_parts(block, outputs=(), expressions=(), intervals=frozenset())
        for block in plan.blocks
    )
    return replace(plan, blocks=tuple(blocks))


def _fixed_octets(one: CachedBlock, block: BlockPlan) -> int:
    """Of the memory of a block's groups, without their texts."""
    numbers = len(block.keys) + len(block.releases)
    return len(one.drawn.groups) * (_GROUP_BYTES + numbers * _NUMBER_BYTES)


def _text_octets(one: CachedBlock) -> int:
    keys = chain.from_iterable(group.keys for group in one.drawn.groups)
    return sum(getsizeof(key) for key in keys if key is not None)


def _plan_octets(plan: PrivatePlan) -> int:
    """Of a plan with its constants and keys, or of so much of it that it is too large."""
    octets, waiting = 0, list[Any]((plan,))
    seen: set[int] = set()
    while waiting and octets <= BYTES_OF_ANALYST:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        octets += getsizeof(part)
        if isinstance(part, tuple | frozenset):
            waiting += part
        elif (parts := parts_getter(part.__class__)) is not None:
            waiting += parts(part)
    return octets


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
    whether a later statement has the same values; origin: None where nothing protected was read for it;
    keep: makes what is kept if the statement around it fails, None where nothing was charged; times: how times
    of the statement were rounded; limits: what the policy's own numbers leave out, as rules; told: makes what
    is said of the answer, which takes a while, so that the relation can go first; more: what else is said;
    reasons: what the statement has that the policy does not know of, which is said first."""

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
    origin: AnswerOrigin | None = None
    keep: Callable[[], UndeliveredAnswer | None] | None = None
    times: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def is_repeated(self) -> bool:
        """Whether its noise is that of earlier answers."""
        return self.origin is not None and self.origin.is_repeated

    @property
    def withheld(self) -> tuple[str, ...]:
        told = () if self.told is None else self.told().withheld
        return (*self.reasons, *told, *self.more)

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
class ChargedDrawing:
    """How the blocks of a statement are drawn that are not there yet.

    Attributes:
        drawer: Draws them.
        run: For which they are drawn.
        charge: What pays for them. None: nothing does.
        session: Where they are read. None: nothing is read.
        lists: Of public tables.
        known: Answers that are there, by the number of their block.
        instead: What is drawn for a block, where that is another.
    """

    drawer: Drawer
    run: StatementRun
    charge: Charge | None
    session: ProtectedSession | None
    lists: Lists
    known: Mapping[int, CachedBlock]
    instead: Mapping[int, CheckedBlock]

    async def ready(self, number: int, block: CheckedBlock) -> CachedBlock | None:
        """What needs not be drawn."""
        claimed = None if self.charge is None else self.charge.claimed
        if number in self.known or claimed is None:
            return self.known.get(number)
        return await claimed.ready(block)


async def noisy_relation(
    question: ProtectedQuery,
    plan: CheckedPlan,
    lifts: Sequence[Lift | None],
    bounded: BoundsOfBlocks,
    compiled: Sequence[CompiledBlock],
    drawing: ChargedDrawing,
    advice: Advice,
) -> NoisyRelation:
    """The relation of the rewritten statement. Only public keys and what is cached are there where there is no
    session.

    Given    lifts: what is drawn instead of blocks, if of any; bounded: a block with bounds that were chosen;
             compiled: the statements of what is drawn; advice: what helps, where an answer is inexact
    Refuses  Fault: what would be drawn is not charged
    """
    private, run = plan.private, drawing.run
    turn = run.turn
    tables: dict[str, tuple[NoisyTable, frozenset[IntervalColumn]]] = {}
    work = 0
    # Of earlier blocks, for those that compare with them.
    answers: dict[ScalarAnswer, str | None] = {}
    clipped: list[ClippedUnits] = []
    blocks = list(private.blocks)
    shown: list[CachedBlock] = []

    for number, checked in enumerate(plan.blocks):
        lift = lifts[number] if lifts else None
        wanted, planned = checked if lift is None else lift.checked, checked.block
        to_draw = drawing.instead.get(number, wanted)
        cached, bounded_here = await drawing.ready(number, to_draw), None
        if cached is None:
            given = DrawingInputs(
                run=run,
                compiled=compiled[number],
                answers=answers,
                lists=drawing.lists,
                bounding=partial(_bounded, to_draw.block, number, bounded),
            )
            drawn = await drawing.drawer.draw(drawing.charge, to_draw, drawing.session, given)
            cached, bounded_here = drawn.cached, drawn.bounded
        if lift is not None:
            groups = len(cached.drawn.groups)
            cached = await turn.in_thread_if_long(groups, lifted_groups, cached, lift, planned)
        shown.append(cached)
        block = planned
        if cached.chosen:
            if bounded_here is None:
                bounded_here = await turn.in_thread(
                    _bounded, planned, number, bounded, cached.chosen
                )
            block = bounded_here.block
            clipped += clipped_units(block, cached.chosen, number + 1)
        block = as_shown(block, cached)
        work += _displayed(block, cached)
        with run.in_stage(Stage.PRESENT):
            noisy = await turn.in_thread_if_long(work, presented, block, cached.drawn)
        block = with_coarse(with_lost_rows(block, cached.drawn), noisy)
        blocks[number] = block
        tables[subquery_name(number + 1)] = (noisy, block.intervals)
        for scalar in question.reading.query.scalars:
            if scalar.block == number:
                answers[scalar.answer] = noisy.rows[0].values[0].text()
    if any(map(operator.is_not, blocks, private.blocks)):
        private = replace(private, blocks=tuple(blocks))
    with_errors = bool(question.reading.error_columns)
    with run.in_stage(Stage.PRESENT):
        json = await turn.in_thread_if_long(work, relation_json, tables, with_errors=with_errors)
    known = with_places(clipped, blocks) if len(clipped) > 1 else tuple(clipped)
    told = _Once(partial(_told, question, private, tables, known, advice))
    if work > AT_ONCE:
        await turn.in_thread(told)
    return NoisyRelation(json, told, private, known, tuple(shown))


class _Once:
    """Makes what is told of an answer once, for whoever asks first. functools.cache takes longer to make."""

    __slots__ = ("_make", "_told")

    def __init__(self, make: Callable[[], ToldOfAnswer]) -> None:
        self._make = make
        self._told: ToldOfAnswer | None = None

    def __call__(self) -> ToldOfAnswer:
        if self._told is None:
            self._told = self._make()
        return self._told


def _told(
    question: ProtectedQuery,
    private: PrivatePlan,
    tables: Mapping[str, tuple[NoisyTable, frozenset[IntervalColumn]]],
    clipped: Sequence[ClippedUnits],
    advice: Advice,
) -> ToldOfAnswer:
    columns = _columns(question, private, tables)
    noisy = [table for table, _ in tables.values()]
    has_levels = len({block.keys for block in private.blocks}) > 1
    lines = [
        *chain.from_iterable(map(block_notices, private.blocks, noisy, repeat(has_levels))),
        *(one.text() for one in clipped if one.is_poor and noisy[one.block - 1].rows),
    ]
    is_advised = any(line.endswith(MORE) for line in lines)
    lines += (*_levels(question), *large_errors(columns, is_advised=is_advised))
    return ToldOfAnswer(withheld=tuple(advice.fitted(lines)), columns=columns)


def _bounded(
    planned: BlockPlan, number: int, bounded: BoundsOfBlocks, chosen: Mapping[int | None, Chosen]
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


def block_notices(block: BlockPlan, noisy: NoisyTable, has_levels: bool) -> Iterator[str]:
    """Of one block; its groups are named where others have other keys."""
    keys = (next(column_refs(key.expression), None) for key in block.keys)
    names = dict.fromkeys(key.column for key in keys if key is not None)
    by = f" by {listed(list(names))}" if has_levels and names else ""
    return (
        _GROUPS.sub(lambda one: f"{one[0]}{by}", line, 1) for line in answer_notices(block, noisy)
    )


_GROUPS = re.compile(r" of [0-9,]+ groups?")


def _levels(question: ProtectedQuery) -> Iterator[str]:
    """Of GROUPING SETS, whose levels are released one by one."""
    levels = [one for one in question.reading.query.blocks if one.outputs or one.outer_outputs]
    adds_up = any(one.kind in _ADDING_UP for block in levels for one in block.aggregates)
    if len(levels) > 1 and adds_up:
        yield (
            "Parts do not add up to their totals, and may exceed them: each group of each level has noise of"
            " its own."
        )


def _displayed(block: BlockPlan, cached: CachedBlock) -> int:
    """About how many numbers are handled to show a block."""
    outputs = (one.expression for one in block.outputs if one.expression is not None)
    intervals = sum(map(_interval_work, (*block.expressions, *outputs)))
    return len(cached.drawn.groups) * (len(block.releases) + intervals)


def _interval_work(expression: NoisyExpression) -> int:
    parts = count_parts(expression)
    return _PER_INTERVAL if parts == 1 else _PER_PART * parts
