"""Blocks that the kernel has not checked, compiled, drawn and released as if it had.

They are for tests of what comes after the kernel. Nothing in proxy/ makes one
(tests/kernel/test_checked_plan.py).

Each function that takes a checked block in proxy/ has its like here, which takes any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from proxy.accounting.events import Event
from proxy.audit import neighbour_audit
from proxy.catalog.catalog_model import TableName
from proxy.compiler import compiling
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.deviation_scan import CentredScan
from proxy.drawing import compiled_blocks
from proxy.drawing.compiled_blocks import CompiledBlock
from proxy.exact.table import ExactTable
from proxy.kernel import checked_plan, proposal_check
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan, together
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic, PrivatePlan
from proxy.kernel.price import NOTHING_PAID, Price, pure_price
from proxy.kernel.proposal_check import CheckedProposals
from proxy.kernel.proposal_plan import TableProposals
from proxy.kernel.world import World
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.deviation_mean import NoisyCentres
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.query.ir.relations import Scan
from proxy.release import adding_noise, choosing_bounds, deviation_means
from proxy.release.choosing_bounds import Chosen, Totals
from proxy.release.drawn_values import DrawnBlock
from proxy.release.noisy_relation import NoisyTable
from proxy.release.presenting import presented
from tests.pipeline_world import CATALOG, POLICIES

_WORLD = World(POLICIES["world"], CATALOG)


def stated_loss(block: BlockPlan) -> Loss:
    """What a block says that it costs."""
    loss = sum((release.loss for release in block.releases), NOTHING)
    chosen = (block.selection, block.rows_choice, block.weight_choice)
    loss = sum((one.loss for one in chosen if one is not None), loss)
    return sum((one.choice.loss for one in block.value_choices), loss)


def unchecked(block: BlockPlan, price: Price | None = None) -> CheckedBlock:
    """Say of a block that it was checked. It was not. Its price is what it says, or another one."""
    if price is None:
        price = pure_price(stated_loss(block))
    return CheckedBlock(block=block, price=price, tables=(), world=_WORLD, made=checked_plan._HERE)


def unchecked_plan(blocks: Sequence[BlockPlan], loss: Loss | None = None) -> CheckedPlan:
    """The same of a plan. loss: what it says that it costs, if that is not the sum of its blocks."""
    found = together([unchecked(block) for block in blocks])
    return found if loss is None else _charged(found.blocks, pure_price(loss), {})


def louder(block: BlockPlan) -> BlockPlan:
    """The block with twice the noise of its one release."""
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic) and isinstance(release.noise, LaplaceNoise)
    noise = replace(release.noise, scale=release.noise.scale * 2)
    return replace(block, releases=(replace(release, noise=noise),))


def priced(loss: Loss, events: Sequence[Event] = (), tables: Sequence[str] = ()) -> CheckedBlock:
    """A block of this price, of which no more is known: for tests of the ledger."""
    nothing = BlockPlan(
        source=Scan("r1", TableName("w", "people")),
        neighbours=RowNeighbours(rows=1, hashed_by=(), not_null=None),
        where=None,
        keys=(),
        grouped=False,
        releases=(),
        answers=(),
        sub_partitions=0,
        intervals=frozenset(),
        selection=None,
    )
    price = Price(epsilon=loss.epsilon, delta=loss.delta, events=tuple(events))
    return CheckedBlock(
        block=nothing, price=price, tables=tuple(tables), world=_WORLD, made=checked_plan._HERE
    )


def charge_of(
    loss: Loss, events: Sequence[Event] = (), tables: Mapping[str, Loss] | None = None
) -> CheckedPlan:
    """A plan of this price, of which no more is known: for tests of the ledger."""
    price = Price(epsilon=loss.epsilon, delta=loss.delta, events=tuple(events))
    return _charged((), price, tables or {})


def _charged(
    blocks: tuple[CheckedBlock, ...], price: Price, tables: Mapping[str, Loss]
) -> CheckedPlan:
    private = PrivatePlan(blocks=tuple(one.block for one in blocks), loss=price.loss)
    return CheckedPlan(
        blocks=blocks, price=price, tables=tables, private=private, made=checked_plan._HERE
    )


def unchecked_proposals(table: TableProposals) -> CheckedProposals:
    """The same of what is proposed for one table."""
    return CheckedProposals(
        proposed=(table,), price=NOTHING_PAID, tables={}, world=_WORLD, made=proposal_check._HERE
    )


def compile_block(block: BlockPlan) -> tuple[BackendQuery, ...]:
    return compiling.compile_block(unchecked(block))


def compile_choices(block: BlockPlan) -> BackendQuery | None:
    return compiling.compile_choices(unchecked(block))


def compile_centres(block: BlockPlan) -> CentredScan | None:
    return compiling.compile_centres(unchecked(block))


def compiled_block(block: BlockPlan) -> CompiledBlock:
    return compiled_blocks.compiled_block(unchecked(block))


def choose_bounds(
    block: BlockPlan, totals: Totals, bits: RandomBits
) -> Mapping[int | None, Chosen]:
    return choosing_bounds.choose_bounds(unchecked(block), totals, bits)


def drawn_centres(
    block: BlockPlan, table: ExactTable, bits: RandomBits
) -> Mapping[int, NoisyCentres]:
    return deviation_means.drawn_centres(unchecked(block), table, bits)


def drawn_block(block: BlockPlan, tables: Sequence[ExactTable], bits: RandomBits) -> DrawnBlock:
    return adding_noise.drawn_block(unchecked(block), tables, bits)


def release_block(block: BlockPlan, tables: Sequence[ExactTable], bits: RandomBits) -> NoisyTable:
    """The noisy relation of one block.

    Given    tables: what the compiled statements of this very block returned
    """
    return presented(block, drawn_block(block, tables, bits))


def compiled(block: BlockPlan) -> tuple[BackendQuery, ...]:
    """As the audit has them."""
    return neighbour_audit.compiled(unchecked(block))
