"""What an analyst can ask where it is not counted how much the policy's bounds cut."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.base.decimals import decimal_text
from proxy.base.written_names import written_name
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, NoisyStatistic
from proxy.policy.policy_model import BoundsKind
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import scans


def cut_questions(block: BlockPlan, aggregate: Aggregate) -> Iterator[str]:
    """Give questions that count the values and the units that the policy's bounds cut of an aggregate.

    Where the name of a column or table is not that of the statement, nothing is given.
    """
    named = {
        column: relation for operand in aggregate.operands for relation, column in columns(operand)
    }
    for column, bounds in block.clamped:
        if column in named and bounds.kind is BoundsKind.NUMBER:
            unit = _unit(block, named[column])
            counted = "count(*)" if unit is None else f"count(DISTINCT {unit})"
            low, high = decimal_text(bounds.low), decimal_text(bounds.high)
            yield f"{counted} with WHERE {written_name(column)} < {low} OR {written_name(column)} > {high}"
    yield from _of_total(block, aggregate)


def _of_total(block: BlockPlan, aggregate: Aggregate) -> Iterator[str]:
    operand = aggregate.operand
    if aggregate.kind is not AggregateKind.SUM or not isinstance(operand, ColumnRef):
        return
    unit = _unit(block, operand.relation)
    tables = list(dict.fromkeys(scan.table for scan in scans(block.source)))
    is_of_some = block.where is not None or aggregate.condition is not None
    if unit is None or len(tables) != 1 or is_of_some:
        return
    table = f"{written_name(tables[0].schema)}.{written_name(tables[0].name)}"
    for answer in block.answers:
        release = block.releases[answer.releases[0]]
        if answer.aggregate != aggregate or not isinstance(release, NoisyStatistic):
            continue
        if release.total is None or release.total.choice is not None:
            continue
        most = decimal_text(release.total.most * release.grid)
        test = f"t < -{most} OR t > {most}" if release.is_signed else f"t > {most}"
        yield (
            f"SELECT count(*) FROM (SELECT {unit}, sum({written_name(operand.column)}) AS t FROM {table}"  # noqa: S608
            f" GROUP BY {unit}) q WHERE {test}"
        )


def _unit(block: BlockPlan, relation: str | None) -> str | None:
    """The column of the unit, if it is one of this table."""
    if not isinstance(block.neighbours, UnitNeighbours):
        return None
    column = block.neighbours.column
    is_there = column.relation == relation and any(
        scan.alias == relation for scan in scans(block.source)
    )
    return written_name(column.column) if is_there else None
