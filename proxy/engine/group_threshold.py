"""How many units a private key needs to appear, and what is reported where none has: public numbers only."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from proxy.engine.advice import OF_KEYS
from proxy.engine.unit_words import units_word
from proxy.kernel.key_plans import Selection
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms import partition_selection
from proxy.release.noisy_relation import NoisyTable

_CACHED = 64
_HALF, _MOST = Fraction(1, 2), Fraction(19, 20)


def units_needed(selection: Selection) -> dict[str, int]:
    """With so many units a group appears half of the time, and in 95 of 100 answers."""
    return {"half": _needed(selection, _HALF), "most": _needed(selection, _MOST)}


def threshold_text(selection: Selection) -> str:
    half, most = _needed(selection, _HALF), _needed(selection, _MOST)
    return f"half of those with {half}, 95 % of those with {most}"


def small_groups(block: BlockPlan, noisy: NoisyTable) -> str | None:
    """Say which groups of private keys are missing; None if keys are public, or if no group is there."""
    if block.selection is None or not noisy.rows:
        return None
    units = units_word(block)
    half, most = _needed(block.selection, _HALF), _needed(block.selection, _MOST)
    return (
        f"Small groups are missing: of those with {half:,} {units} half are there, of those with {most:,} 95 of"
        " 100."
    )


def no_group(block: BlockPlan, noisy: NoisyTable) -> str | None:
    """What is reported of an answer of private keys without any group; None where there are some. From what is
    released alone: whether the data has no rows or none with enough units is not known here."""
    if block.selection is None or noisy.rows:
        return None
    neighbours = block.neighbours
    is_row = isinstance(neighbours, RowNeighbours) and neighbours.not_null is None
    of = "rows" if is_row else "units"
    half, most = _needed(block.selection, _HALF), _needed(block.selection, _MOST)
    return (
        f"GROUP BY gives no group: its keys are private, and a key needs {half} {of} to appear half of the "
        f"time, {most} to appear in 95 of 100 answers. {OF_KEYS} or ask the"
        f" data owner for `values` of the key, which are all answered."
    )


@lru_cache(maxsize=_CACHED)
def _needed(selection: Selection, chance: Fraction) -> int:
    return partition_selection.units_for(
        chance, selection.each.epsilon, selection.each.delta, selection.fewest
    )
