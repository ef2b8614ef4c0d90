"""How long statements take on neighbouring data: interleaved runs, a permutation test, and what it reports."""

from __future__ import annotations

import random  # noqa: TID251 - the order of runs, not noise
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from tests.live.neighbour_data import AGAIN, SIDES, WITH, WITHOUT
from tests.live.neighbour_runs import Client
from tests.live.neighbour_statements import Asked
from tests.live.signed_rank import p_value

_RUNS = 30  # of which one that is stalled hides no difference: p <= 4e-6
LEVEL = 1e-4  # of one measurement of one statement
_WARMING = 2
_SEED = 4242


@dataclass(frozen=True, slots=True)
class Times:
    """Nanoseconds by side, run by run."""

    name: str
    taken: Mapping[str, tuple[int, ...]]

    @property
    def p(self) -> float:
        return p_value(self.taken[WITH], self.taken[WITHOUT])

    @property
    def p_of_the_same(self) -> float:
        return p_value(self.taken[WITH], self.taken[AGAIN])

    @property
    def ratio(self) -> float:
        return self._ratio(WITHOUT)

    @property
    def ratio_of_the_same(self) -> float:
        return self._ratio(AGAIN)

    def _ratio(self, other: str) -> float:
        here, there = median(self.taken[WITH]), median(self.taken[other])
        return max(here / there, there / here)

    def __str__(self) -> str:
        here, there, again = (median(self.taken[side]) / 1e6 for side in SIDES)
        return (
            f"{self.name}: with {here:.2f} ms, without {there:.2f} ms (p = {self.p:.1e}),"
            f" with once more {again:.2f} ms (p = {self.p_of_the_same:.1e})"
        )


def distinguishable(
    clients: Mapping[str, Client], statements: Iterable[Asked]
) -> tuple[list[Times], list[Times]]:
    """
    Gives    the times of all statements, and those that two measurements, the second with fresh runs, tell
             apart. Of data that are alike in time a statement is among them with a probability of at most
             LEVEL squared: in 400 statements at most 4e-6 that there is one.
    """
    chance = random.Random(_SEED)
    measured, failed = [], []
    for asked in statements:
        times = _measured(clients, asked, chance)
        measured.append(times)
        if times.p <= LEVEL:
            fresh = _measured(clients, asked, chance)
            if fresh.p <= LEVEL:
                failed.append(fresh)
    return measured, failed


def _measured(clients: Mapping[str, Client], asked: Asked, chance: random.Random) -> Times:
    if asked.is_own:
        for side in SIDES:
            clients[side].again()
    taken: dict[str, list[int]] = {side: [] for side in SIDES}
    for run in range(-_WARMING, _RUNS):
        for side in chance.sample(SIDES, len(SIDES)):
            began = time.perf_counter_ns()
            clients[side].run(asked)
            if run >= 0:
                taken[side].append(time.perf_counter_ns() - began)
    return Times(asked.name, {side: tuple(each) for side, each in taken.items()})


def report(measured: list[Times], failed: list[Times]) -> str:
    """The largest ratios, with and without beside those of the same data, and what is told apart."""
    ratios = sorted((times.ratio for times in measured), reverse=True)
    same = sorted((times.ratio_of_the_same for times in measured), reverse=True)
    lines = [
        f"{len(measured)} statements, {len(measured[0].taken[WITH])} interleaved runs on each side",
        "ratio of medians        largest   median   p <= 1e-4 at first",
        f"with and without        {ratios[0]:7.3f}  {median(ratios):7.3f}"
        f"   {sum(times.p <= LEVEL for times in measured)}",
        f"with and with once more {same[0]:7.3f}  {median(same):7.3f}"
        f"   {sum(times.p_of_the_same <= LEVEL for times in measured)}",
        f"told apart twice: {len(failed)}",
        *map(str, failed),
        "the largest:",
        *map(str, sorted(measured, key=lambda times: -times.ratio)[:5]),
    ]
    return "\n".join(lines)
