"""What the policy promises of the rows of a FROM clause, from the tables alone and not from the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from typing_extensions import assert_never

from proxy.query.relations import Derived, Joined, PerUnit, Relation, Scan, Stacked
from tests.world import PUBLIC


@dataclass(frozen=True)
class Reach:
    """How many rows of a unit count, in how many groups they are; by_unit: whether rows belong to one (and can
    be nobody's); gone: how many rows neighbours differ in where rows are the unit."""

    rows: int
    groups: int
    by_unit: bool
    gone: int = 0


_TABLES: Mapping[str, Reach] = {
    "people": Reach(1, 1, False, 1),
    "events": Reach(1, 1, False, 1),
    "trips": Reach(3, 3, False, 3),
    "visits": Reach(5, 5, True),
    "orders": Reach(6, 2, True),
    "notes": Reach(4, 2, True),
    "members": Reach(1, 1, True),
    "calls": Reach(2, 2, True),
    "lines": Reach(7, 7, True),
}
_CUT_GROUPS = ("orders", "notes")


def reach_of(relation: Relation) -> Reach:
    """Of a FROM clause that reaches protected rows."""
    found = _reach(relation)
    assert found is not None
    return found


def _reach(relation: Relation) -> Reach | None:
    match relation:
        case Scan():
            public = relation.table.name in {name.name for name in PUBLIC}
            return None if public else _TABLES[relation.table.name]
        case Joined():
            return _joined(relation)
        case Derived():
            return _reach(relation.source)
        case PerUnit():
            return Reach(1, 1, True)
        case Stacked():
            parts = [reach_of(part.source) for part in relation.parts]
            rows = sum(part.rows for part in parts)
            groups = rows
            cut = [part.groups for part in parts if part.groups < part.rows]
            # A unit's groups are cut once, over all parts, to what the first part's table says.
            if cut and parts[0].groups < parts[0].rows:
                groups = parts[0].groups
            return replace(parts[0], rows=rows, groups=groups)
        case _:
            assert_never(relation)


def _joined(joined: Joined) -> Reach | None:
    left, right = _reach(joined.left), _reach(joined.right)
    if left is None or right is None:
        return left or right
    columns = {column.column for pair in joined.equal for column in pair}
    if "order_id" in columns:  # a row meets the one row that its reference names
        rows = max(left.rows, right.rows)
        groups = left.groups if left.groups < left.rows else rows
        is_path = isinstance(joined.right, Scan) and joined.right.alias.endswith("u")
        return left if is_path else replace(left, rows=rows, groups=groups)
    rows = left.rows * right.rows
    cuts = [r.groups for r in (left, right) if r.rows > 1 and r.groups < r.rows]
    return Reach(rows, min([rows, *cuts]), True)
