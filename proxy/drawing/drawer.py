"""One block, from its charge to what is drawn: the only place where exact rows are read and noise is added.

The order is: a durable charge is begun, bounds are chosen and checked, statements are run, noise is drawn, and
what others may be shown is stored. What leaves is drawn numbers. Nothing of a charge is given back, whatever
fails.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from proxy.base.errors import Fault
from proxy.base.stages import Stage
from proxy.catalog.catalog_model import Catalog
from proxy.compiler.backend_query import CHOICES, BackendQuery, PublicList
from proxy.compiler.compiling import CompiledQuery, compile_proposal
from proxy.compiler.deviation_scan import CentredScan, centres_text
from proxy.drawing.charges import Charge, PaidBlock, begin_free, noises_of_steps, steps_with_noise
from proxy.drawing.compiled_blocks import CompiledBlock, compiled_block, compiled_bounded
from proxy.drawing.protected_reads import ProtectedData, ProtectedSession
from proxy.drawing.statement_run import StatementRun
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.checked_plan import CheckedBlock, check_centred
from proxy.kernel.plan import BlockPlan, read_tables
from proxy.kernel.proposal_check import CheckedProposals
from proxy.kernel.world import World
from proxy.mechanisms.bits import RandomBits
from proxy.policy.policy_model import Policy
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.release.adding_noise import drawn_block, drawn_series, group_selector
from proxy.release.cached_block import CachedBlock
from proxy.release.choosing_bounds import (
    Chosen,
    ChosenBound,
    choose_bounds,
    clamped_totals,
    totals_of,
)
from proxy.release.deviation_means import drawn_centres
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.proposing_bounds import propose
from proxy.turns.threads import Turn

_SEED_BITS = 63

# Values of public tables, by the list's own SQL and its parameters: a name is one statement's.
Lists = Mapping[tuple[str, tuple[tuple[str, object], ...]], str]
# Checks a block with the bounds that were chosen for it.
Bounding = Callable[[Mapping[int | None, Chosen]], CheckedBlock]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DrawingInputs:
    """What a block is drawn with, beside its rows.

    Attributes:
        run: For which it is drawn.
        compiled: Its statements, if they are at hand.
        answers: Of earlier blocks, as they were shown, for the conditions that compare with them.
        lists: Of public tables.
        bounding: Checks it with bounds.
    """

    run: StatementRun
    compiled: CompiledBlock | None
    answers: Mapping[ScalarAnswer, str | None]
    lists: Lists
    bounding: Bounding


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnAnswer:
    """bounded: the block with its bounds, if it was drawn here, and about no centres."""

    cached: CachedBlock
    bounded: CheckedBlock | None


class Drawer:
    """Draws what was checked against one policy and catalogue, from one database."""

    def __init__(
        self, policy: Policy, catalog: Catalog, data: ProtectedData, bits: RandomBits
    ) -> None:
        self.policy = policy
        self.catalog = catalog
        self.changed: frozenset[str] = frozenset()  # tables of which something relied on is gone
        self._data = data
        self.bits = bits

    def session(self, turn: Turn) -> AbstractAsyncContextManager[ProtectedSession]:
        """As ProtectedData.session."""
        return self._data.session(turn)

    async def draw(
        self,
        charge: Charge | None,
        block: CheckedBlock,
        session: ProtectedSession | None,
        given: DrawingInputs,
    ) -> DrawnAnswer:
        """Read and draw a block.

        Args:
            charge: What pays for it. None: nothing is charged, and it costs nothing.
            block: Before any bound is chosen.
            session: Where it is read. None: nothing is read.
            given: What it is drawn with.

        Raises:
            Fault: It is not charged, or it cannot be read.
            Unfinished: Another has drawn it meanwhile: it is to be claimed anew.
        """
        given.run.refuse_limited()
        self._refuse_of_others(block.world)
        if block.paid_as is not None:
            raise Fault("a block whose bounds were chosen before it was read")
        self._refuse_changed(self.changed_tables(block.block))
        if block.block.is_stepwise:
            return await self._draw_steps(charge, block, session, given)
        claimed = None if charge is None else charge.claimed
        paid = begin_free(block) if charge is None else charge.begin(block)
        compiled = given.compiled
        if compiled is None or compiled.block is not block:
            compiled = await given.run.turn.in_thread(compiled_block, block)
        reads = _Reads(session, paid, given, self.bits)
        drawn = await _drawn(compiled, given, reads, self.bits)
        if claimed is None:
            return drawn
        stored = await claimed.stored(block, drawn.cached)
        is_own = stored.chosen is drawn.cached.chosen
        return DrawnAnswer(cached=stored, bounded=drawn.bounded if is_own else None)

    async def _draw_steps(
        self,
        charge: Charge | None,
        block: CheckedBlock,
        session: ProtectedSession | None,
        given: DrawingInputs,
    ) -> DrawnAnswer:
        """Read and draw the steps of a series that are due, and that nobody has read.

        Privacy: a step is read after its noise is kept, in a snapshot that is taken when all steps before it
        are stored, and what is shown of it is what was stored first, with all that was read there. So all steps
        together are one draw of the block, which the charge pays for (PROOFS.md 33 C3 to C5).

        Returns:
            All steps so far. Others have no group.
        """
        if charge is None or charge.steps is None:
            raise Fault("a series without its steps")
        steps = charge.steps
        paid = charge.begin(block)
        so_far = await steps_with_noise(steps, block.block, self.bits)
        begin = len(so_far.drawn)
        if begin < steps.due:
            if len(so_far.noise) < steps.due:
                raise Fault("a step of a series without noise")
            compiled = given.compiled
            if compiled is None or compiled.block is not block:
                compiled = await given.run.turn.in_thread(compiled_block, block)
            reads = _Reads(session, paid, given, self.bits)
            await reads.renew()
            exact = [await reads.at_once(query, block) for query in compiled.queries]
            with given.run.in_stage(Stage.DRAW):
                noises = await given.run.turn.in_thread(noises_of_steps, block.block, so_far)
                drawn = drawn_series(block, exact, noises, begin)
            so_far = await steps.store(begin, drawn)
        groups = zip(block.block.listed_groups, so_far.drawn, strict=False)
        shown = tuple(DrawnGroup(keys, tuple(map(DrawnNumber, row))) for keys, row in groups)
        return DrawnAnswer(cached=CachedBlock(chosen={}, drawn=DrawnBlock(shown)), bounded=None)

    def changed_tables(self, block: BlockPlan) -> list[str]:
        """Tables that a block reads, of which something that it relies on is gone."""
        if not self.changed:
            return []
        return sorted(self.changed & set(map(str, read_tables(block, self.policy))))

    def _refuse_changed(self, tables: Collection[str]) -> None:
        if tables:
            raise Fault("a table is not what the policy was checked against")

    def _refuse_of_others(self, world: World) -> None:
        if world.policy is not self.policy or world.catalog is not self.catalog:
            raise Fault("what was checked against another policy or catalogue")

    async def proposed(
        self,
        charge: Charge,
        plan: CheckedProposals,
        session: ProtectedSession,
        run: StatementRun,
    ) -> list[tuple[ChosenBound, ...]]:
        """Read and draw proposals of bounds, of each table its own.

        Raises:
            Fault: They are not charged, or cannot be read.
        """
        run.refuse_limited()
        self._refuse_of_others(plan.world)
        self._refuse_changed(self.changed & plan.tables.keys())
        paid = charge.begin(plan)
        found = []
        for number, query in enumerate(proposal_queries(plan)):
            exact = await session.run(paid.query(query, plan), _seeds(query, self.bits))
            found.append(propose(plan, number, exact, self.bits))
        return found


def proposal_queries(plan: CheckedProposals) -> list[CompiledQuery]:
    """Compile the statement of each table for which bounds are proposed."""
    return [compile_proposal(plan, number) for number in range(len(plan.proposed))]


def list_key(wanted: PublicList) -> tuple[str, tuple[tuple[str, object], ...]]:
    return wanted.sql, wanted.parameters


def _seeds(query: BackendQuery, bits: RandomBits) -> dict[str, int | str | None]:
    return {name: bits.below(2**_SEED_BITS) for name in query.seeds}


class _Reads:
    """The statements of one block, each with fresh seeds."""

    def __init__(
        self,
        session: ProtectedSession | None,
        paid: PaidBlock,
        given: DrawingInputs,
        bits: RandomBits,
    ) -> None:
        self._session = session
        self._paid = paid
        self._given = given
        self._bits = bits

    async def renew(self) -> None:
        await self._in_session().renew()

    async def at_once(
        self,
        query: BackendQuery,
        block: CheckedBlock,
        is_selected: Callable[[int], bool] | None = None,
    ) -> ExactTable:
        paid = self._paid.query(query, block)
        with self._given.run.in_stage(Stage.DATA):
            return await self._in_session().run(paid, self._values(query), is_selected)

    async def in_two_parts(
        self,
        query: BackendQuery,
        block: CheckedBlock,
        between: Callable[[ExactTable], Awaitable[str]],
    ) -> ExactTable:
        paid = self._paid.query(query, block)
        with self._given.run.in_stage(Stage.DATA):
            return await self._in_session().run_in_two_parts(paid, self._values(query), between)

    def _in_session(self) -> ProtectedSession:
        if self._session is None:
            raise Fault("a block that is read without a session")
        return self._session

    def _values(self, query: BackendQuery) -> Mapping[str, int | str | None]:
        values = _seeds(query, self._bits)
        values.update({name: self._given.answers[answer] for name, answer in query.scalars})
        values.update({one.name: self._given.lists[list_key(one)] for one in query.lists})
        return values


async def _drawn(
    compiled: CompiledBlock, given: DrawingInputs, reads: _Reads, bits: RandomBits
) -> DrawnAnswer:
    planned, run = compiled.block, given.run
    turn = run.turn

    def with_bounds(table: ExactTable) -> _BoundedBlock:
        return _with_bounds(planned, table, given.bounding, bits)

    choice = _BoundedBlock(block=planned, exact=[], chosen={})
    centring = compiled.centring
    if compiled.choosing is not None and not (centring is not None and centring.has_choices):
        table = await reads.at_once(compiled.choosing, planned)
        # In a thread: of many aggregates the walks take long, of many groups the plan does.
        with run.in_stage(Stage.DRAW):
            choice = await turn.in_thread(with_bounds, table)
        compiled = await turn.in_thread(compiled_bounded, choice.block)
    found: dict[tuple[int, ...], ExactTable] = {}
    if compiled.centring is not None:
        choice, found = await _with_centres(
            choice, compiled.block, compiled.centring, with_bounds, reads, bits, run
        )
    block, exact = choice.block, choice.exact
    is_selected = group_selector(block, bits)
    for place, query in enumerate(compiled.queries):
        if query.releases in found:
            exact.append(found[query.releases])
        else:
            select = is_selected if place == 0 else None
            exact.append(await reads.at_once(query, compiled.block, select))
    with run.in_stage(Stage.DRAW):
        work = _draws(block.block, exact)
        drawn = await turn.in_thread_if_long(work, drawn_block, block, exact, bits)
    return DrawnAnswer(
        cached=CachedBlock(chosen=choice.chosen, drawn=drawn),
        bounded=None if centring is not None else block,
    )


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
    planned: CheckedBlock, table: ExactTable, bounding: Bounding, bits: RandomBits
) -> _BoundedBlock:
    totals = totals_of(planned.block, table)
    chosen = choose_bounds(planned, totals, bits)
    block = bounding(chosen)
    if block.paid_as is not planned:
        raise Fault("bounds of another block than was charged")
    exact = [clamped_totals(block.block, totals)] if block.block.is_of_totals else []
    return _BoundedBlock(block=block, exact=exact, chosen=chosen)


async def _with_centres(
    choice: _BoundedBlock,
    compiled: CheckedBlock,
    scan: CentredScan,
    with_bounds: Callable[[ExactTable], _BoundedBlock],
    reads: _Reads,
    bits: RandomBits,
    run: StatementRun,
) -> tuple[_BoundedBlock, dict[tuple[int, ...], ExactTable]]:
    """Release the centres of means, and read deviations from them.

    The block that is returned is the one whose centres were released. Centres that were released
    once more would be paid once and drawn twice.

    Args:
        choice: The block before its centres are known.
        compiled: The block of which the scan is.
        scan: Its statement of two parts.
        with_bounds: Chooses bounds by the rows of the first part.
        reads: Runs the statement.
        bits: For the noise of centres.
        run: For which they are drawn.

    Returns:
        The block with its centres, and what was read about them, by the releases.

    Raises:
        Fault: Nothing was read between the parts.
    """
    centred: _BoundedBlock | None = None

    async def between(first: ExactTable) -> str:
        nonlocal centred
        here = choice
        with run.in_stage(Stage.DRAW):
            if scan.has_choices:
                here = await run.turn.in_thread(with_bounds, choice_rows(first))
                first = without_choice_rows(first)
            centres = await run.turn.in_thread(drawn_centres, here.block, first, bits)
        centred = replace(here, block=check_centred(centres, here.block))
        return centres_text(centred.block.block)

    read = await reads.in_two_parts(scan.query, compiled, between)
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
    rows: dict[int, list[ExactRow]] = {place: [] for place in scan.beside}
    means = []
    for row in read.rows:
        place, *numbers = row.values
        if place in rows:
            rows[place].append(replace(row, values=tuple(numbers)))
        else:
            means.append(row)
    found = {read.releases: ExactTable(tuple(means), read.slots, read.releases)}
    for place, beside in scan.beside.items():
        table = ExactTable(tuple(rows[place]), beside.slots, beside.releases)
        found[beside.releases] = table
    return found


def _draws(block: BlockPlan, exact: Sequence[ExactTable]) -> int:
    """About how many numbers are handled to draw a block."""
    read = sum(len(table.rows) * len(table.releases) for table in exact)
    summed = sum(len(noise.factor) ** 2 for noise in block.continual.values())
    return (block.groups() or 0) * len(block.releases) + read + summed
