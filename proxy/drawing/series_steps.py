"""What is kept of a series that is drawn step by step: the noise of each step before it is read, and what was
drawn of it. Each step is read once, and has one noise, whoever draws it and however often that is begun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.kernel.plan import BlockPlan
from proxy.mechanisms import discrete_gaussian
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.continual import step_noises

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
