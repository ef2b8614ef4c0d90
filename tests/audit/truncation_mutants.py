"""Mutants of joins by truncation (kernel/join_rules.py and truncation_rules.py, which the planner asks, too;
planner/truncation.py, planner/joins.py, compiler/relation_sql.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from proxy.base.sql_types import SqlType
from proxy.compiler import relation_sql
from proxy.compiler.binds import Binds, column_sql
from proxy.kernel import join_rules, truncation_rules
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours
from proxy.kernel.owners import ColumnName, OfUnit, Rows
from proxy.planner import joins, neighbours, planning
from proxy.planner.facts import RowOwnership
from proxy.query.ir.relations import Join, Truncate
from tests.audit import truncated
from tests.audit.exact_results import Auditor


def truncation_complains(auditor: Auditor) -> bool:
    return next(truncated.violations(auditor), None) is not None


def truncation_is_too_dear(auditor: Auditor) -> bool:
    return next(truncated.too_dear(), None) is not None


def wider_joins_complain(auditor: Auditor) -> bool:
    for join, told_apart in truncated.WIDER:
        planned = truncated.rows_by_table(join)
        found = truncated.change_by_table(auditor, join, told_apart)
        if any(found[table] > planned[table] for table in found):
            return True
    return False


_Joined = Callable[[Join, Rows, Rows, ColumnName, ColumnName], Rows | None]


def _with_joined_rows(patch: pytest.MonkeyPatch, change: Callable[[_Joined], _Joined]) -> None:
    patch.setattr(join_rules, "_joined_by", change(join_rules._joined_by))


def evicted_row_forgotten(patch: pytest.MonkeyPatch) -> None:
    """S = 1 for DropExcess: that a row takes the place of another is not counted."""
    real = truncation_rules.key_cut

    def changed(cut: Truncate, by: ColumnName, rows: Rows, present: frozenset[ColumnName]) -> Rows:
        return replace(real(cut, by, rows, present), changed=rows.changed)

    patch.setattr(truncation_rules, "key_cut", changed)


def partners_of_a_row_forgotten(patch: pytest.MonkeyPatch) -> None:
    """T = 1: that a row meets several is not counted."""

    def alone(rows: Rows) -> Rows:
        return replace(rows, most=tuple((column, 1) for column, _ in rows.most))

    _with_joined_rows(
        patch, lambda real: lambda join, a, b, x, y: real(join, alone(a), alone(b), x, y)
    )


def change_of_one_side_forgotten(patch: pytest.MonkeyPatch) -> None:
    _with_joined_rows(
        patch, lambda real: lambda join, a, b, x, y: real(join, replace(a, changed=0), b, x, y)
    )


def rows_of_a_side_forgotten(patch: pytest.MonkeyPatch) -> None:
    """M = 1: a unit of several rows changes each side by one."""
    real = truncation_rules.unit_cut

    def changed(*of: Any) -> OfUnit:
        found = real(*of)
        return found if found.rows is None else replace(found, rows=replace(found.rows, changed=1))

    patch.setattr(truncation_rules, "unit_cut", changed)


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


def repeated_by_a_public_table_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(joins, "_repeated", lambda ownership, most: ownership)


def repeated_by_a_public_table_without_a_cut(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(joins, "truncate_public", lambda relation, column, rule, known: relation)


def partner_that_comes_alone_counts_once(patch: pytest.MonkeyPatch) -> None:
    """The row without partner that it takes away is not counted."""

    def changed(real: _Joined) -> _Joined:
        def once(join: Join, a: Rows, b: Rows, x: ColumnName, y: ColumnName) -> Rows | None:
            found, inner = real(join, a, b, x, y), real(replace(join, left_outer=False), a, b, x, y)
            return None if found is None or inner is None else replace(found, changed=inner.changed)

        return once

    _with_joined_rows(patch, changed)


def earlier_joins_of_a_row_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A third table's rows meet rows of one of the first two, not their pairs."""

    def changed(real: _Joined) -> _Joined:
        def forgetful(join: Join, a: Rows, b: Rows, x: ColumnName, y: ColumnName) -> Rows | None:
            found = real(join, a, b, x, y)
            return None if found is None else replace(found, most=(*a.most, *b.most))

        return forgetful

    _with_joined_rows(patch, changed)


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
    (repeated_by_a_public_table_forgotten, truncation_complains),
    (repeated_by_a_public_table_without_a_cut, truncation_complains),
    (partner_that_comes_alone_counts_once, wider_joins_complain),
    (earlier_joins_of_a_row_forgotten, wider_joins_complain),
    (cut_by_the_first_key_alone, wider_joins_complain),
)
