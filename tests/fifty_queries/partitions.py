"""Where answers of sample-and-aggregate may lie: their scale is private, so the test looks behind it.

Partitions depend on a seed that is drawn per question: the interval is the hull of those of several draws.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan, SampleAggregate, SmoothedMedian
from proxy.mechanisms import smoothed_median
from proxy.mechanisms.bits import RandomBits
from proxy.protected.protected_database import ProtectedDatabase
from proxy.release.adding_noise import partition_outputs
from tests.uncharged_statements import read
from tests.unchecked_blocks import compile_block

_DRAWS = 6


@dataclass(frozen=True)
class Law:
    """centre and Laplace scale, in the aggregate's own terms"""

    centre: Fraction
    scale: Fraction


def laws(source: str, block: BlockPlan, bits: RandomBits) -> list[list[Law]]:
    """Per release of an ungrouped block, of several draws."""
    drawn = asyncio.run(_drawn(source, block, bits))
    found: list[list[Law]] = []
    for number, release in enumerate(block.releases):
        assert isinstance(release, SampleAggregate)
        found.append([_law(release, number, tables[0], block.sub_partitions) for tables in drawn])
    return found


async def _drawn(source: str, block: BlockPlan, bits: RandomBits) -> list[list[ExactTable]]:
    data = ProtectedDatabase(source, sessions_max=1)
    await data.open()
    try:
        return [
            [
                await read(data, query, {name: bits.below(2**63) for name in query.seeds})
                for query in compile_block(block)
            ]
            for _ in range(_DRAWS)
        ]
    finally:
        await data.close()


def _law(release: SampleAggregate, number: int, table: ExactTable, cells: int) -> Law:
    outputs = partition_outputs(release, table.slots[number], table.rows, cells)
    assert isinstance(release.mechanism, SmoothedMedian)
    loss = release.mechanism.each
    centre, scale = smoothed_median.private_law(
        outputs, release.low, release.high, loss.epsilon, loss.delta
    )
    return Law(centre * release.output_grid, scale * release.output_grid)


def inside(answer: Decimal, laws: Sequence[Law], tails: float) -> bool:
    """Within so many scales of one of the centres."""
    reach = Fraction(tails)
    low = min(law.centre - reach * law.scale for law in laws)
    return low <= Fraction(answer) <= max(law.centre + reach * law.scale for law in laws)
