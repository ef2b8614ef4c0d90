"""The queries of a statement, with the privacy units of their rows and their keys planned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.kernel.key_plans import KeyPlan
from proxy.planner.facts import PlanningContext, PublicRows, RelationWithUnit, typed
from proxy.planner.narrowing import narrowed
from proxy.planner.planned_keys import columns_of_keys, planned_keys
from proxy.planner.tracking import track
from proxy.planner.unit_windows import first_rows
from proxy.query.ir.query import AggregateBlock, Query

BlockWithUnit = tuple[AggregateBlock, RelationWithUnit, tuple[KeyPlan, ...]]


def blocks_with_units(query: Query, known: PlanningContext) -> Iterator[BlockWithUnit]:
    """
    Refuses  TOO_COMPLEX: public keys of all queries together have too many values
    """
    values = 0
    for block in query.blocks:
        found = _with_unit(block, known)
        values += sum(len(key.values or ()) for key in found[2])
        if values > limits.KEY_VALUES_TOGETHER:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"the keys of all queries of the statement together have more than"
                f" {limits.KEY_VALUES_TOGETHER} values",
                "Ask several questions, or narrow the keys in WHERE (=, IN, BETWEEN).",
            )
        yield found


def _with_unit(block: AggregateBlock, known: PlanningContext) -> BlockWithUnit:
    with_unit = track(block.source, known)
    if isinstance(with_unit.ownership, PublicRows):
        raise Refusal(
            Code.UNSUPPORTED,
            "the query reads no protected table",
            "Run it without dp.low(), dp.high() and dp.error().",
        )
    facts = with_unit.facts
    where = None if block.where is None else typed(block.where, facts)
    with_unit = replace(
        with_unit, ownership=first_rows(with_unit.relation, where, with_unit.ownership)
    )
    named = columns_of_keys([typed(key.expression, facts) for key in block.keys], facts)
    block, keys = planned_keys(block, facts, narrowed(facts, where, named), where)
    return block, with_unit, keys
