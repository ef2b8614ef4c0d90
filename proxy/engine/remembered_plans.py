"""Plans of questions that are asked again: whoever asks the same in the same settings gets the same plan.

A plan is a function of what `_request_of` holds, and of the policy, the catalogue and public values
(PlanningContext, with which all that is remembered ends): of no clock, no chance and no protected row. What
else may change is asked at each run: budget, session, tables that have changed, the server's rules of time
zones, lists of public tables. Seeds and noise are drawn when it runs.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from proxy.engine.noisy_answers import Bounded, CompiledBlock
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.session_zone import ZonesUsed
from proxy.engine.settings import Settings
from proxy.planner.plan import PrivatePlan
from proxy.query.statement_reading import Reading

_CACHED = 64
_ARGUMENTS = 4_096  # characters, beyond which a plan is large and hardly asked for twice
# What other sessions may wait for. Without keys and with so few characters of arguments a statement takes about
# as long whatever they are: the longest list has 32 elements.
_QUICK_SECONDS = 0.002
_QUICK_ARGUMENTS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuery:
    """A question that could be run now. bounded: a block planned again, its private bounds chosen. compiled:
    the statements of each block. seconds: of a processor, that planning and compiling took."""

    settings: Settings
    private: PrivatePlan
    bounded: Bounded
    zones: ZonesUsed
    compiled: tuple[CompiledBlock, ...] = ()
    seconds: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembered:
    """reading: of which the plan is; held, so that no other object can have its identity."""

    reading: Reading
    prepared: PreparedQuery


class RememberedPlans:
    """The plans that were asked for last, each for its analyst: how long another waits tells nobody what they
    asked. Refusals are not kept."""

    def __init__(self) -> None:
        self._cached: OrderedDict[object, _Remembered] = OrderedDict()
        self._quick: OrderedDict[int, Reading] = OrderedDict()  # by identity

    def is_quick(self, question: ProtectedQuery, arguments: tuple[str | None, ...]) -> bool:
        """Whether it was planned before, with whatever arguments, and so quickly that a thread takes longer."""
        known = self._quick.get(id(question.reading))
        return known is not None and _characters(arguments) <= _QUICK_ARGUMENTS

    def find(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        analyst: str,
    ) -> PreparedQuery | None:
        request = _request_of(question, arguments, settings, analyst)
        found = self._cached.get(request)
        if found is None:
            return None
        assert found.reading is question.reading
        self._cached.move_to_end(request)
        return found.prepared

    def keep(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        analyst: str,
        prepared: PreparedQuery,
    ) -> None:
        self._note(question.reading, prepared)
        if _characters(arguments) > _ARGUMENTS:
            return
        request = _request_of(question, arguments, settings, analyst)
        self._cached[request] = _Remembered(reading=question.reading, prepared=prepared)
        self._cached.move_to_end(request)
        while len(self._cached) > _CACHED:
            self._cached.popitem(last=False)

    def _note(self, reading: Reading, prepared: PreparedQuery) -> None:
        self._quick.pop(id(reading), None)
        has_keys = any(block.keys for block in prepared.private.blocks)
        if prepared.seconds <= _QUICK_SECONDS and not has_keys:
            self._quick[id(reading)] = reading
            while len(self._quick) > _CACHED:
                self._quick.popitem(last=False)


def _characters(arguments: tuple[str | None, ...]) -> int:
    return sum(len(value) for value in arguments if value is not None)


def _request_of(
    question: ProtectedQuery,
    arguments: tuple[str | None, ...],
    settings: Mapping[str, str],
    analyst: str,
) -> object:
    """A reading is one object for each statement as it was read (PolicyStatements): comparing two by value
    would take as long as planning. Beside it, all that planning is given."""
    return (
        analyst,
        id(question.reading),
        question.parameter_oids,
        question.constants,
        question.with_errors,
        arguments,
        frozenset(settings.items()),
    )
