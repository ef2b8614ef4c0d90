"""The queries of a statement, with the privacy units of their rows and their keys planned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.kernel.key_plans import KeyPlan
from proxy.planner.anti_joins import as_not_exists
from proxy.planner.computed_keys import narrowed_as_computed
from proxy.planner.facts import Facts, PlanningContext, PublicRows, RelationWithUnit, typed
from proxy.planner.joined_conditions import with_joins
from proxy.planner.neighbours import lacks_bound
from proxy.planner.numbered_rows import first_rows, with_first_rows
from proxy.planner.planned_keys import columns_of_keys, planned_keys
from proxy.planner.tracking import track
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query import AggregateBlock, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockWithUnit:
    """public: the facts of its keys' columns as far as its condition leaves them. where: that condition, with
    what follows from its joins."""

    block: AggregateBlock
    with_unit: RelationWithUnit
    keys: tuple[KeyPlan, ...]
    public: Facts
    where: Expression | None


def blocks_with_units(query: Query, known: PlanningContext) -> Iterator[BlockWithUnit]:
    """
    Refuses  TOO_COMPLEX: public keys of all queries together have too many values
    """
    values = 0
    for block in query.blocks:
        found = _with_unit(block, known)
        values += sum(len(key.values or ()) for key in found.keys)
        if values > limits.KEY_VALUES_TOGETHER:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"the keys of all queries of the statement together have more than"
                f" {limits.KEY_VALUES_TOGETHER} values",
                "Ask several questions, or narrow the keys in WHERE (=, IN, BETWEEN).",
            )
        yield found


def _with_unit(block: AggregateBlock, known: PlanningContext) -> BlockWithUnit:
    without_partner = as_not_exists(block, known)
    if without_partner is not None:
        try:
            return _read_with_unit(without_partner, known)
        except Refusal:
            pass  # a lookup by another column than the unit is read as the join that it is
    return _read_with_unit(block, known)


def _read_with_unit(block: AggregateBlock, known: PlanningContext) -> BlockWithUnit:
    with_unit = track(with_first_rows(block.source, block.where), known)
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
    where = with_joins(where, block.source, facts)
    named = columns_of_keys([typed(key.expression, facts) for key in block.keys], facts)
    public = narrowed_as_computed(facts, where, named)
    can_be_private = not lacks_bound(with_unit.ownership)
    block, keys = planned_keys(block, facts, public, where, can_be_private=can_be_private)
    return BlockWithUnit(block=block, with_unit=with_unit, keys=keys, public=public, where=where)
