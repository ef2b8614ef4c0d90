"""What a statement would cost and how exact it would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_KNOWN = ("privacy", "remaining", "aggregates")


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a statement.

    Attributes:
        name: Of the output column that is this aggregate; `sum(total) in ratio` of one that is computed of it.
        written: The aggregate with its column: `sum(total)`.
        mechanism: That makes it private.
        epsilon: Its part of the statement's.
        error_95: The noise is within this in 95 of 100 answers; None if that depends on the data.
        examples: The error for round numbers of rows or people: `number`, `counted`, `error_95`.
        more: All else that the server says.
    """

    name: str
    written: str
    mechanism: str
    epsilon: float
    error_95: float | None
    examples: tuple[Mapping[str, Any], ...]
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Aggregate:
        expected = given.get("expected") or {}
        name = given.get("name") or given["aggregate"]
        return cls(
            name=name,
            written=given.get("written") or name,  # older servers have the aggregate as `name`
            mechanism=given["mechanism"],
            epsilon=float(given["epsilon"]),
            error_95=given.get("error_95"),
            examples=tuple(expected.get("examples") or ()),
            more=dict(given),
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """The price of a statement. Nothing was read or charged for it.

    Attributes:
        epsilon, delta: What it would cost.
        remaining_epsilon: What is left before it; None if no budget concerns it.
        aggregates: How exact each would be.
        more: All else that the server says.
    """

    epsilon: float
    delta: float
    remaining_epsilon: float | None
    aggregates: tuple[Aggregate, ...]
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Plan:
        """Read the body of `POST /v1/explain`."""
        left = given.get("remaining")
        return cls(
            epsilon=float(given["privacy"]["epsilon"]),
            delta=float(given["privacy"]["delta"]),
            remaining_epsilon=None if left is None else float(left["epsilon"]),
            aggregates=tuple(map(Aggregate.read, given.get("aggregates") or ())),
            more={name: value for name, value in given.items() if name not in _KNOWN},
        )
