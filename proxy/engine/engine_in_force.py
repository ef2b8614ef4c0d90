"""The engine that the listeners ask, which another one replaces when the policy or the catalogue changes."""

from __future__ import annotations

from dataclasses import dataclass, field

from proxy.engine.query_pipeline import Engine
from proxy.turns.analyst_turns import AnalystTurns


@dataclass(slots=True)
class EngineInForce:
    """`now` is looked at once for a step of a statement: what has begun ends with the engine it began with.

    reading, answering: turns of reading long statements and of making answers, shared by the listeners.
    """

    now: Engine
    reading: AnalystTurns = field(default_factory=AnalystTurns.of_reading)
    answering: AnalystTurns = field(default_factory=AnalystTurns.of_answering)
