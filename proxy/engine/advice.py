"""What an analyst can do for a more exact answer.

Lines of the NOTICE are written with the sentences below, as if dp.epsilon could be raised; `Advice.fitted`
makes of them what helps this statement in this session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.base.session_settings import how_to_set
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Mechanism, Privacy
from proxy.query.ir.query import AggregateBlock

MORE = "Raise dp.epsilon, or ask for fewer aggregates or groups at once."
FEWER = "Raise dp.epsilon, or ask for fewer aggregates at once."
BEST = f"{how_to_set('dp.mechanism', Mechanism.BEST.value)}."
RAISE = "Raise dp.epsilon."
OR_RAISE = ", or raise dp.epsilon."
SO_RAISE = "none here, so raise dp.epsilon"
OF_KEYS = "Raise dp.epsilon or dp.delta, ask for fewer aggregates at once, group more coarsely,"
_ASKED = re.compile(rf" Ask for [^.]*{re.escape(OR_RAISE)}")
_LARGEST = "dp.epsilon is the largest that the policy allows: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What helps a statement.

    Attributes:
        can_raise: Whether the session's epsilon is below the largest that the policy allows.
        can_raise_delta: The same of delta.
        has_several: Whether the statement has several aggregates, which share epsilon.
        has_keys: Whether it groups.
        has_conditions: Whether it leaves out rows.
        is_hopeless: The policy knows of no value that meets its conditions: nothing helps.
    """

    can_raise: bool = True
    can_raise_delta: bool = True
    has_several: bool = False
    has_keys: bool = False
    has_conditions: bool = False
    is_hopeless: bool = False

    def fitted(self, lines: Sequence[str]) -> Iterator[str]:
        """Give the lines, with the same advice in the last of them only, and no line twice."""
        lines = list(dict.fromkeys(lines))  # levels of GROUPING SETS have lines in common
        is_best = any(line.endswith(BEST) for line in lines)
        for advice in (BEST, MORE):
            last = max((n for n, line in enumerate(lines) if line.endswith(advice)), default=-1)
            for place, line in enumerate(lines):
                if place != last or (advice is MORE and is_best):
                    lines[place] = line.removesuffix(f" {advice}")
        yield from map(self._changed, lines)

    def _changed(self, line: str) -> str:
        if self.is_hopeless:
            for advice in (MORE, FEWER, BEST, RAISE):
                line = line.removesuffix(f" {advice}")
            line = _ASKED.sub("", line.replace(SO_RAISE, "none here"))
            return line.partition(f" {OF_KEYS}")[0]
        instead = self._instead()
        line = line.replace(OF_KEYS, self._of_keys())
        if self.can_raise and not self.has_several:
            can_widen = self.has_keys or self.has_conditions
            raised = f"Raise dp.epsilon, or {instead}." if can_widen else RAISE
            return line.replace(MORE, raised).replace(FEWER, raised)
        if self.can_raise:
            return line
        for advice in (MORE, FEWER, RAISE):
            line = line.replace(f" {advice}", f" {_LARGEST}{instead}.")
        return line.replace(OR_RAISE, ".").replace(SO_RAISE, f"none here, so {instead}")

    def _of_keys(self) -> str:
        raised, delta = OF_KEYS.split(", ")[0], "Raise dp.delta" * self.can_raise_delta
        several = "ask for fewer aggregates at once" * self.has_several
        ways = (raised if self.can_raise else delta, several, "group more coarsely,")
        text = ", ".join(filter(None, ways))
        return f"{text[0].upper()}{text[1:]}"

    def _instead(self) -> str:
        """What is left where epsilon cannot be raised."""
        if self.has_several:
            return "ask for fewer aggregates or groups at once"
        if self.has_keys:
            return "ask for wider groups or a longer period"
        if self.has_conditions:
            return "ask for a longer period or with fewer conditions"
        return "ask the data owner for a larger max_epsilon"


def advice_for(
    blocks: Sequence[AggregateBlock], loss: Loss, privacy: Privacy, *, is_hopeless: bool
) -> Advice:
    """Say what helps a statement.

    Args:
        blocks: Its queries.
        loss: What it may cost, by the settings of the session.
        privacy: What the policy allows.
        is_hopeless: As of Advice.
    """
    return Advice(
        can_raise=loss.epsilon < privacy.max_epsilon,
        can_raise_delta=loss.delta < privacy.max_delta,
        has_several=sum(len(block.aggregates) for block in blocks) > 1,
        has_keys=any(block.keys for block in blocks),
        has_conditions=any(block.where is not None for block in blocks),
        is_hopeless=is_hopeless,
    )
