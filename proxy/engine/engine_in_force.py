"""The engine that the listeners ask, which another one replaces when the policy or the catalogue changes."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.engine.query_pipeline import Engine


@dataclass(slots=True)
class EngineInForce:
    """`now` is looked at once for a step of a statement: what has begun ends with the engine it began with."""

    now: Engine
