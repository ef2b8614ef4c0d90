"""EXPLAIN (FORMAT JSON): what a statement would cost and how exact it would be. No data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proxy.engine.explain_summary import answer_expectations
from proxy.engine.explain_text import FreeBlock, charge_of, lifted_text, unit_text, units_of
from proxy.engine.group_threshold import units_needed
from proxy.kernel.plan import PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.planner.lifting import Lift
from proxy.policy.odds_words import odds_json
from proxy.query.ir.query import AggregateBlock

_NO_FREE: Mapping[int, FreeBlock] = {}


def explain_json(
    plan: PrivatePlan,
    remaining: Loss | None,
    sql: Sequence[str],
    free: Mapping[int, FreeBlock] = _NO_FREE,
    lifts: Sequence[Lift | None] = (),
    times: Sequence[str] = (),
    mechanism: str | None = None,
    asked: Sequence[AggregateBlock] = (),
    about: int | None = None,
) -> dict[str, object]:
    """Write the facts of EXPLAIN and EXPLAIN (VERBOSE) as fields. Arguments: as of both."""
    left = (
        None
        if remaining is None
        else {"epsilon": float(remaining.epsilon), "delta": float(remaining.delta)}
    )
    charge = charge_of(plan, free)
    return {
        "privacy": {"epsilon": float(plan.loss.epsilon), "delta": float(plan.loss.delta)},
        "charge": {"epsilon": float(charge.epsilon), "delta": float(charge.delta)},
        "odds": odds_json(plan.loss, units_of(plan)),
        "remaining": left,
        "blocks": [
            {
                "tables": list(block.tables()),
                "unit": unit_text(block),
                "keys": len(block.keys),
                "groups": block.groups(),
                "units_needed": None if block.selection is None else units_needed(block.selection),
                "sql": statement,
                **lifted_text(number, free, lifts),
                **(free[number].as_json() if number in free else {}),
            }
            for number, (block, statement) in enumerate(zip(plan.blocks, sql, strict=True))
        ],
        "aggregates": [
            {**entry.as_json(), **name.as_json(), "expected": expected.as_json()}
            for entry, name, expected in answer_expectations(plan, asked, about)
        ],
        **({} if mechanism is None else {"mechanism": mechanism}),
        **({"times": list(times)} if times else {}),
    }
