"""A charge, and what it pays for: the capability without which no protected row is read.

The ledger makes a `Charge` once it is durable. A charge begins each of its blocks once, and a `PaidBlock` makes
`PaidQuery`s of the statements of that very block. A session on the protected database takes nothing else.

A block is known by identity, which is stricter than a digest: two blocks that say the same are two, and each is
paid for. Like the kernel's, this is a wall against mistakes, not against code that wants to get around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from datetime import datetime
from typing import Protocol

from proxy.base.errors import Fault
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.compiling import CompiledQuery
from proxy.drawing.kept_answers import AnswerOwner, ClaimedAnswers
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan
from proxy.kernel.plan import BlockPlan
from proxy.kernel.price import NOTHING_PAID, Price
from proxy.kernel.proposal_check import CheckedProposals
from proxy.mechanisms import discrete_gaussian
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.continual import step_noises
from proxy.mechanisms.loss import Loss

# What is kept of a series that is drawn step by step: the noise of each step before it is read, and what was
# drawn of it. Each step is read once, and has one noise, whoever draws it and however often that is begun.

# Of each step, numbers of all releases.
StepNumbers = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StepsSoFar:
    """noise: z of each step so far; drawn: what is shown of the first steps, which is never drawn again."""

    noise: StepNumbers
    drawn: StepNumbers

    def __repr__(self) -> str:
        return "StepsSoFar(hidden)"


class SeriesSteps(Protocol):
    """Of one charge, which pays for all steps.

    due: so many steps have ended, and may be drawn.
    """

    @property
    def due(self) -> int: ...

    async def begun(self) -> StepsSoFar:
        """Of the steps that are due, those that were begun."""
        ...

    async def begin(self, first: int, noise: StepNumbers) -> StepsSoFar:
        """Keep noise, durably, for steps from `first` on that have none; and say which noise they have."""
        ...

    async def store(self, first: int, drawn: StepNumbers) -> StepsSoFar:
        """Keep what was drawn, durably, of steps from `first` on of which nothing is kept; and say what is."""
        ...


async def steps_with_noise(steps: SeriesSteps, block: BlockPlan, bits: RandomBits) -> StepsSoFar:
    """The steps that are due, each with its noise: drawn now, before anything is read, unless it was before."""
    found = await steps.begun()
    missing = steps.due - max(len(found.noise), len(found.drawn))
    if missing <= 0:
        return found
    noises = block.continual.values()
    fresh = [[discrete_gaussian.sample(bits, one.sigma2) for one in noises] for _ in range(missing)]
    return await steps.begin(len(found.noise), fresh)


def noises_of_steps(block: BlockPlan, so_far: StepsSoFar) -> dict[int, list[int]]:
    """What each step of each release gets, by the number of the release."""
    return {
        number: step_noises(noise.factor, [row[place] for row in so_far.noise])
        for place, (number, noise) in enumerate(block.continual.items())
    }


# What is charged: by its own price.
Payable = CheckedPlan | CheckedProposals
_HERE = object()


def _refuse_elsewhere(made: object) -> None:
    if made is not _HERE:
        raise Fault("a charge that the ledger has not made")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PaidQuery:
    """A statement that may be run: that of a block which is charged. Only `PaidBlock.query` makes one."""

    query: CompiledQuery
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        _refuse_elsewhere(made)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PaidBlock:
    """What is drawn now, once. Only a charge makes one.

    Attributes:
        of: What was charged.
    """

    of: CheckedBlock | CheckedProposals
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        _refuse_elsewhere(made)

    def query(self, query: BackendQuery, block: CheckedBlock | CheckedProposals) -> PaidQuery:
        """Let a statement of a block be run.

        Args:
            query: The statement.
            block: What is drawn: the block that is charged, or one that was made of it by a check.

        Raises:
            Fault: It is of another block, or was not compiled; or what is drawn costs nothing, so that
                no protected row may be read for it.
        """
        if self.of.price == NOTHING_PAID:
            raise Fault("a statement of what costs nothing")
        if _paid(block) is not self.of:
            raise Fault("a block that was not charged")
        if not isinstance(query, CompiledQuery) or query.of is not block:
            raise Fault("a statement of another block")
        return PaidQuery(query=query, made=_HERE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Charge:
    """A durable charge, as the ledger has it. Only `charge_in_ledger` makes one, and only the ledger calls it.

    Attributes:
        receipt: None where nothing was paid now.
        plan: What may be drawn under it, each block once.
        price: What stands in the ledger for that, in all currencies.
        paid: What the analyst has paid for it now.
        remaining: What the analyst can still spend in this window. None: of no analyst.
        warnings: Of budgets that are nearly spent.
        owner: Who was charged. None: no analyst.
        claimed: What the ledger keeps of its blocks, where they are cached.
        shown_at: When the analyst was first shown the oldest of them. None: something is new to them.
        steps: Of a series that is drawn step by step, what the ledger keeps of its steps.
    """

    receipt: str | None
    plan: Payable
    price: Price
    paid: Loss
    remaining: Loss | None
    warnings: tuple[str, ...]
    owner: AnswerOwner | None
    claimed: ClaimedAnswers | None
    shown_at: datetime | None
    made: InitVar[object]
    steps: SeriesSteps | None = None
    _begun: list[CheckedBlock | CheckedProposals] = field(default_factory=list)

    def __post_init__(self, made: object) -> None:
        _refuse_elsewhere(made)

    def begin(self, block: CheckedBlock | CheckedProposals) -> PaidBlock:
        """Let a block be read and drawn, once.

        Privacy: it is the very block that was charged, or one that a check made of it, which costs no more.
        With all that was begun before it costs no more than what stands in the ledger (PROOFS.md 5, 16).

        Raises:
            Fault: The charge is for something else, or for less, or the block was begun before.
        """
        paid = _paid(block)
        if not any(one is paid for one in _parts(self.plan)):
            raise Fault("a block that was not charged")
        if any(one is paid for one in self._begun):
            raise Fault("a block that was drawn under its charge")
        if not self.price.covers(sum((one.price for one in self._begun), start=paid.price)):
            raise Fault("a block that costs more than was charged")
        self._begun.append(paid)
        return PaidBlock(of=paid, made=_HERE)


def charge_in_ledger(
    plan: Payable,
    price: Price,
    *,
    receipt: str | None,
    paid: Loss,
    remaining: Loss | None,
    warnings: tuple[str, ...] = (),
    owner: AnswerOwner | None = None,
    claimed: ClaimedAnswers | None = None,
    shown_at: datetime | None = None,
    steps: SeriesSteps | None = None,
) -> Charge:
    """Say of a charge that it is durable. For the ledger alone (`CAPABILITIES` in tests/trusted_base.py)."""
    return Charge(
        receipt=receipt,
        plan=plan,
        price=price,
        paid=paid,
        remaining=remaining,
        warnings=warnings,
        owner=owner,
        claimed=claimed,
        shown_at=shown_at,
        steps=steps,
        made=_HERE,
    )


def begin_free(block: CheckedBlock) -> PaidBlock:
    """Let a block be drawn that costs nothing, by the kernel's own count.

    Privacy: none of its statements may be run (`PaidBlock.query`), so no protected row is read for it.

    Raises:
        Fault: It costs something.
    """
    if _paid(block).price != NOTHING_PAID:
        raise Fault("a block that was not charged")
    return PaidBlock(of=_paid(block), made=_HERE)


def uncharged(query: CompiledQuery) -> PaidQuery:
    """Let a statement be run on data that is nobody's. For the audit alone (`CAPABILITIES`, as above)."""
    return PaidQuery(query=query, made=_HERE)


def _paid(block: CheckedBlock | CheckedProposals) -> CheckedBlock | CheckedProposals:
    return block.paid if isinstance(block, CheckedBlock) else block


def _parts(plan: Payable) -> tuple[CheckedBlock | CheckedProposals, ...]:
    return plan.blocks if isinstance(plan, CheckedPlan) else (plan,)
