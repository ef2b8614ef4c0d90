"""Mutants of joins by truncation (planner/truncation.py, planner/joins.py, compiler/relation_sql.py)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from proxy.base.sql_types import SqlType
from proxy.compiler import relation_sql
from proxy.compiler.binds import Binds
from proxy.compiler.identifiers import column_sql
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours
from proxy.planner import joins, neighbours, planning, truncation
from proxy.planner.facts import PlanningContext, RowOwnership
from proxy.planner.truncated_parts import TruncatedPart, joined_parts
from proxy.planner.truncation import KeyRule
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Relation, Truncate
from tests.audit import truncated
from tests.audit.exact_results import Auditor


def truncation_complains(auditor: Auditor) -> bool:
    return next(truncated.violations(auditor), None) is not None


def refused_join_complains(auditor: Auditor) -> bool:
    questions = tuple(truncated.planned())
    return next(truncated.violations(auditor, questions), None) is not None


def truncation_is_too_dear(auditor: Auditor) -> bool:
    return next(truncated.too_dear(), None) is not None


def wider_joins_complain(auditor: Auditor) -> bool:
    for join, told_apart in truncated.WIDER:
        planned = truncated.rows_by_table(join)
        found = truncated.change_by_table(auditor, join, told_apart)
        if any(found[table] > planned[table] for table in found):
            return True
    return False


def _with_rules(patch: pytest.MonkeyPatch, change: Callable[[KeyRule], KeyRule]) -> None:
    real = truncation.key_rule

    def changed(relation: Relation, column: ColumnRef, known: PlanningContext) -> KeyRule | None:
        found = real(relation, column, known)
        return None if found is None else change(found)

    patch.setattr(truncation, "key_rule", changed)


def evicted_row_forgotten(patch: pytest.MonkeyPatch) -> None:
    """S = 1 for DropExcess: that a row takes the place of another is not counted."""
    _with_rules(patch, lambda rule: replace(rule, changed=1))


def partners_of_a_row_forgotten(patch: pytest.MonkeyPatch) -> None:
    """T = 1: that a row meets several is not counted."""
    _with_rules(patch, lambda rule: replace(rule, most=1))


def change_of_one_side_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(truncation, "changed_rows", lambda parts: parts[-1].joined)


def rows_of_a_side_forgotten(patch: pytest.MonkeyPatch) -> None:
    """M = 1: a unit of several rows changes each side by one."""
    patch.setattr(truncation, "_rows", lambda side: 1)


def partitions_of_a_cut_join_paid_once(patch: pytest.MonkeyPatch) -> None:
    real = neighbours.neighbours_of

    def one(
        ownership: RowOwnership, groups: int | None, chosen: int | None, reach: int | None = None
    ) -> Neighbours:
        found = real(ownership, groups, chosen, reach)
        if isinstance(found, RowNeighbours) and found.partitions is not None:
            found = replace(found, partitions=1)
        return found

    patch.setattr(planning, "neighbours_of", one)


def partitions_by_row_after_a_cut_join(patch: pytest.MonkeyPatch) -> None:
    """Rows of one key are not together, though the plan pays for the keys only."""
    real = neighbours.neighbours_of

    def by_row(
        ownership: RowOwnership, groups: int | None, chosen: int | None, reach: int | None = None
    ) -> Neighbours:
        found = real(ownership, groups, chosen, reach)
        if isinstance(found, RowNeighbours) and found.partitions is not None:
            key = found.hashed_by[0]
            if key.column == "t":
                found = replace(found, hashed_by=(replace(key, column="i4", type=SqlType.INT4),))
        return found

    patch.setattr(planning, "neighbours_of", by_row)


def _without_cut(patch: pytest.MonkeyPatch, is_mutated: Callable[[Truncate], bool]) -> None:
    real = relation_sql._truncate

    def changed(kept: Truncate, binds: Binds) -> str:
        return real(replace(kept, most=10**6) if is_mutated(kept) else kept, binds)

    patch.setattr(relation_sql, "_truncate", changed)


def excess_of_a_key_kept(patch: pytest.MonkeyPatch) -> None:
    _without_cut(patch, lambda kept: kept.most is not None and kept.place == "dp_place")


def excess_of_a_unit_kept_before_a_join(patch: pytest.MonkeyPatch) -> None:
    _without_cut(patch, lambda kept: kept.place == "dp_place_of_unit")


def row_that_is_not_alone_kept(patch: pytest.MonkeyPatch) -> None:
    """DropNonUnique keeps one of several rows instead of none, as if that changed no more."""
    real = relation_sql._truncate

    def first(kept: Truncate, binds: Binds) -> str:
        return real(kept, binds).replace('"dp_place" = 1', '"dp_place" >= 1')

    patch.setattr(relation_sql, "_truncate", first)


def rows_kept_by_arrival(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(relation_sql, "_hash_order", lambda kept, binds: "1")


def rows_without_a_unit_compete(patch: pytest.MonkeyPatch) -> None:
    real = relation_sql._truncate

    def kept_too(kept: Truncate, binds: Binds) -> str:
        sql = real(kept, binds)
        if kept.place != "dp_place_of_unit":
            return sql
        return sql.replace(f"{column_sql(kept.present[0])} IS NOT NULL", "TRUE", 1)

    patch.setattr(relation_sql, "_truncate", kept_too)


def side_cut_by_a_public_table_in_it(patch: pytest.MonkeyPatch) -> None:
    """The one public row of a value is taken for the one row of the side with it."""
    patch.setattr(truncation, "holds_the_rows", lambda side, place: True)


def repeated_by_a_public_table_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(joins, "_repeated", lambda ownership, most: ownership)


def repeated_by_a_public_table_without_a_cut(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(joins, "truncate_public", lambda relation, column, rule, known: relation)


def partner_that_comes_alone_counts_once(patch: pytest.MonkeyPatch) -> None:
    """The row without partner that it takes away is not counted."""

    def once(part: TruncatedPart) -> int:
        return part.rows * math.prod(cut.changed for cut in part.truncations) * part.factor

    patch.setattr(TruncatedPart, "joined", property(once))


def earlier_joins_of_a_row_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A third table's rows meet rows of one of the first two, not their pairs."""
    real = joined_parts

    def forgetful(
        left: Sequence[TruncatedPart],
        right: Sequence[TruncatedPart],
        most: tuple[int, int],
        places: tuple[int, int],
        *,
        outer_on: str | None,
        is_alone: bool,
    ) -> tuple[TruncatedPart, ...]:
        found = real(left, right, most, places, outer_on=outer_on, is_alone=is_alone)
        return tuple(
            replace(part, factor=max(1, part.factor // max(parts[place].factor, 1)))
            for part, parts, place in zip(
                found,
                (*[right] * len(left), *[left] * len(right)),
                (*[places[1]] * len(left), *[places[0]] * len(right)),
                strict=True,
            )
        )

    patch.setattr(truncation, "joined_parts", forgetful)


def cut_by_the_first_key_alone(patch: pytest.MonkeyPatch) -> None:
    """Of a table that is joined with two others on two keys."""
    real = relation_sql._truncate

    def first(kept: Truncate, binds: Binds) -> str:
        below = kept.source
        is_second = isinstance(below, Truncate) and below.place == kept.place == "dp_place"
        return real(replace(kept, most=10**6) if is_second else kept, binds)

    patch.setattr(relation_sql, "_truncate", first)


_Layer = Callable[[Auditor], bool]
TRUNCATION_MUTANTS: tuple[tuple[Callable[[pytest.MonkeyPatch], None], _Layer], ...] = (
    (evicted_row_forgotten, truncation_complains),
    (partners_of_a_row_forgotten, truncation_complains),
    (change_of_one_side_forgotten, truncation_complains),
    (rows_of_a_side_forgotten, truncation_complains),
    (partitions_of_a_cut_join_paid_once, truncation_is_too_dear),
    (partitions_by_row_after_a_cut_join, truncation_complains),
    (excess_of_a_key_kept, truncation_complains),
    (excess_of_a_unit_kept_before_a_join, truncation_complains),
    (row_that_is_not_alone_kept, truncation_complains),
    (rows_kept_by_arrival, truncation_complains),
    (rows_without_a_unit_compete, truncation_complains),
    (side_cut_by_a_public_table_in_it, refused_join_complains),
    (repeated_by_a_public_table_forgotten, truncation_complains),
    (repeated_by_a_public_table_without_a_cut, truncation_complains),
    (partner_that_comes_alone_counts_once, wider_joins_complain),
    (earlier_joins_of_a_row_forgotten, wider_joins_complain),
    (cut_by_the_first_key_alone, wider_joins_complain),
)
