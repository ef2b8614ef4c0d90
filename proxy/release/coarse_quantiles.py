"""Quantiles of which only a step of the grid is known: an error in ranks would promise more."""

from __future__ import annotations

from dataclasses import replace

from proxy.kernel.plan import BlockPlan, OrderStatistic
from proxy.release.noisy_relation import NoisyTable


def with_coarse(block: BlockPlan, noisy: NoisyTable) -> BlockPlan:
    """Note quantiles whose answers are below one step of their grid, in some group. Post-processing.

    A column that holds nothing between its steps has no coarse answers.
    """
    found = set()
    for place, answer in enumerate(block.answers):
        number, *_ = answer.releases
        release = block.releases[number]
        if not isinstance(release, OrderStatistic) or release.measured.on_grid:
            continue
        shown = [one for one in (row.values[place] for row in noisy.rows) if not one.is_missing]
        step = release.measured.grid
        if any(abs(one.index) * one.grid < step for one in shown if not one.type.is_time):
            found.add(number)
    return replace(block, coarse=frozenset(found)) if found else block
