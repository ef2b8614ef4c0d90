"""Blocks of the pipeline's world, released with seeded noise from rows that a test makes up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import (
    BlockPlan,
    DistinctCount,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
)
from proxy.kernel.statistics import Measured, Statistic, of_row
from proxy.release.drawn_values import DrawnBlock, Keys
from tests.pipeline_world import POLICIES, walk
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import drawn_block


def block_of(sql: str, policy: str = "best", **settings: str) -> BlockPlan:
    pipeline = walk(sql, POLICIES[policy], settings={f"dp.{k}": v for k, v in settings.items()})
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    return block


def drawn(block: BlockPlan, groups: Mapping[Keys, Sequence[int]], seed: int) -> DrawnBlock:
    """Draw a block whose only operand has these grid indices, by group."""
    tables = [_table(number, release, groups) for number, release in enumerate(block.releases)]
    return drawn_block(block, tables, SeededBits(seed))


def _table(number: int, release: Release, groups: Mapping[Keys, Sequence[int]]) -> ExactTable:
    rows: list[ExactRow] = []
    slots = Slots(total=0, count=1)
    for keys, values in groups.items():
        match release:
            case OrderStatistic():
                slots = Slots(extreme=0, count=1)
                ordered = sorted(set(values))
                rows += [ExactRow(keys, 0, (value, values.count(value))) for value in ordered]
            case NoisyStatistic():
                of = release.of if isinstance(release.of, tuple) else ()
                total = sum(_of_value(release.statistic, of, value) for value in values)
                rows.append(ExactRow(keys, 0, (total * release.parts, len(values))))
            case RecentredMean(measured=one):
                centred = sum(2 * value - one.low - one.high for value in values)
                rows.append(ExactRow(keys, 0, (centred, len(values))))
            case DistinctCount():
                rows.append(ExactRow(keys, 0, (0, len(set(values)))))
            case _:
                raise AssertionError(type(release))
    return ExactTable(tuple(rows), (slots,), (number,))


def _of_value(statistic: Statistic, of: Sequence[Measured], value: int) -> int:
    match statistic:
        case Statistic.ROWS:
            return 1
        case Statistic.STEPS:
            return value
        case Statistic.CENTRED:
            return 2 * value - of[0].low - of[0].high
        case _:
            raise AssertionError(of_row(statistic, of))
