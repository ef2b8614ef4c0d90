"""Mutants of the cut below joins on the unit (planner/unit_truncation.py), and the layer that sees them: how
many
rows of one unit the relation of a plan forms, against what the policy says. Sensitivities cannot show it: rows
are bounded per unit once more above."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.relation_sql import source_sql
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.planner import joins, unit_truncation
from proxy.planner.facts import PlanningContext, RelationWithUnit, UnitRows
from proxy.query.ir.relations import Join
from tests.audit.exact_results import Auditor
from tests.pipeline_world import SCHEMA, walk

# With the most rows of one unit that the policy lets them form: visits 5, orders 6, calls 2, lines 7, notes 4.
_QUESTIONS = (
    ("SELECT count(*) FROM visits a JOIN visits b ON a.uid = b.uid", 25),
    ("SELECT count(*) FROM orders o LEFT JOIN calls c ON o.uid = c.uid", 12),
    (
        "SELECT count(*) FROM notes a JOIN notes b ON a.uid = b.uid JOIN notes c ON b.uid = c.uid",
        64,
    ),
    (
        "SELECT count(*) FROM lines l JOIN orders o ON l.order_id = o.id JOIN calls c ON c.uid = o.uid",
        14,
    ),
    (
        "SELECT count(*) FROM (SELECT uid, i4 FROM calls UNION ALL SELECT uid, i4 FROM calls) q"
        " JOIN orders o ON o.uid = q.uid",
        24,
    ),
    (
        "SELECT count(*) FROM members m JOIN orders o ON m.uid = o.uid JOIN calls c ON c.uid = m.uid",
        12,
    ),
)
_TOO_MANY = "SELECT count(*) FROM visits a" + "".join(
    f" JOIN visits t{i} ON a.uid = t{i}.uid" for i in range(5)
)


def work_complains(auditor: Auditor) -> bool:
    return next(_too_many_rows(auditor), None) is not None


def _too_many_rows(auditor: Auditor) -> Iterator[str]:
    try:
        walk(_TOO_MANY)
        yield _TOO_MANY
    except Refusal:
        pass
    (crowd,) = (base.name for base in auditor.bases if base.name == "crowd")
    for question, most in _QUESTIONS:
        try:
            pipeline = walk(question)
        except Refusal as refused:  # the kernel counts the rows as well (kernel/work.py)
            yield f"{question}: {refused.message}"
            continue
        assert pipeline is not None
        (block,) = pipeline.plan.blocks
        assert isinstance(block.neighbours, UnitNeighbours)
        binds = Binds()
        unit, relation = (
            column_sql(block.neighbours.column),
            source_sql(block.source, [], binds, block.neighbours),
        )
        grouped = f"SELECT count(*) AS n FROM {relation} WHERE {unit} IS NOT NULL GROUP BY {unit}"
        sql = f"SELECT coalesce(max(n), 0) FROM ({grouped}) q".replace(
            f'"{SCHEMA}".', f'"{crowd}".'
        )
        values = {**binds.values, **dict.fromkeys(binds.seeds, 42)}
        row = auditor.connection.execute(sql.encode(), values).fetchone()
        assert row is not None
        if row[0] > most:
            yield f"{question}: {row[0]} rows of a unit, {most} are planned"


def sides_of_a_join_not_cut(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unit_truncation, "truncate_side", lambda side, known: side)


def left_side_of_a_join_not_cut(patch: pytest.MonkeyPatch) -> None:
    real = unit_truncation.truncate_side
    state = {"calls": 0}

    def every_second(side: RelationWithUnit, known: PlanningContext) -> RelationWithUnit:
        state["calls"] += 1
        return side if state["calls"] % 2 else real(side, known)

    patch.setattr(unit_truncation, "truncate_side", every_second)


def product_of_a_join_not_limited(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "JOINED_ROWS_PER_UNIT", 10**9)


def product_of_earlier_joins_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unit_truncation, "multiplied", lambda left, right: max(left, right))


def several_rows_taken_for_one(patch: pytest.MonkeyPatch) -> None:
    """A subquery's rows are taken for one of each unit."""
    real = joins._is_one_row
    patch.setattr(
        joins, "_is_one_row", lambda side: real(side) or not isinstance(side.relation, Join)
    )


def reference_that_is_joined_again_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Only the table of a reference is cut, not the rows that refer to it."""
    real = joins._referred

    def of_target(*given: object) -> RelationWithUnit:
        found = real(*given)  # type: ignore[arg-type]
        assert isinstance(found.ownership, UnitRows)
        return replace(
            found, ownership=replace(found.ownership, untruncated=found.ownership.untruncated[1:])
        )

    patch.setattr(joins, "_referred", of_target)


_Layer = Callable[[Auditor], bool]
WORK_MUTANTS: tuple[tuple[Callable[[pytest.MonkeyPatch], None], _Layer], ...] = (
    (sides_of_a_join_not_cut, work_complains),
    (left_side_of_a_join_not_cut, work_complains),
    (product_of_a_join_not_limited, work_complains),
    (product_of_earlier_joins_forgotten, work_complains),
    (several_rows_taken_for_one, work_complains),
    (reference_that_is_joined_again_forgotten, work_complains),
)
