"""What is promised of the rows of a FROM clause: by the policy, from the tables alone; or by the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import columns_in
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    scans,
)
from tests.pipeline_world import JOIN_KEYS, PUBLIC


@dataclass(frozen=True)
class Reach:
    """How many rows of a unit count, in how many groups they are; by_unit: whether rows belong to one (and can
    be nobody's); gone: how many rows neighbours differ in where rows are the unit; per_group: how many
    rows of a unit count in one of several groups; together: in how many partitions of a group the rows
    are (None: each in its own)."""

    rows: int
    groups: int
    by_unit: bool
    gone: int = 0
    per_group: int | None = None
    together: int | None = None

    def partitions(self, groups: int | None) -> int:
        """How many outputs of partitions change at most, over so many groups (None: unknown many)."""
        spread = self.rows if groups is None else min(self.rows, max(1, groups))
        return self.rows if self.together is None else min(self.rows, spread * self.together)


Promise = Callable[[BlockPlan], Reach]
_TABLES: Mapping[str, Reach] = {
    "people": Reach(1, 1, False, 1),
    "events": Reach(1, 1, False, 1),
    "trips": Reach(3, 3, False, 3),
    "visits": Reach(5, 5, True),
    "orders": Reach(6, 2, True, per_group=2),
    "notes": Reach(4, 2, True),
    "members": Reach(1, 1, True),
    "calls": Reach(2, 2, True),
    "lines": Reach(7, 7, True),
}


_MANY = 10**9

# Columns that the server keeps unique.
_KEYS = ("id", "uid of members", "code of places", "k of rates", "e of moods")


def by_policy(block: BlockPlan) -> Reach:
    """From the tables of a FROM clause that reaches protected rows."""
    found = _reach(block.source)
    assert found is not None
    return replace(found, groups=min(found.groups, _groups(block))) if found.by_unit else found


def _groups(block: BlockPlan) -> int:
    """In how many groups a unit can be that has one value of the keys of its one row; many where none is known.

    Simpler than the kernel's rule: keys of tables and subqueries of one row a unit, joined on the unit alone.
    """
    free = [
        n for n, key in enumerate(block.keys) if not _is_of_one_row(block.source, key.expression)
    ]
    if block.combinations is None:
        values = [block.keys[n].values for n in free]
        if any(one is None for one in values):
            return _MANY
        return max(1, prod(len(one or ()) for one in values))
    fixed = [n for n in range(len(block.keys)) if n not in free]
    alike = Counter(tuple(group[n] for n in fixed) for group in block.combinations)
    return max([1, *alike.values()])


def _is_of_one_row(relation: Relation, key: Expression) -> bool:
    names = columns_in(key)
    if not all(_is_on_one_pair(join) for join in _outer_joins(relation)):
        return False
    found = (_origin(relation, ColumnRef(n, SqlType.TEXT, None, alias)) for alias, n in names)
    return all(table in ("members", "one row per unit") for table, _ in found)


def _is_on_one_pair(join: Join) -> bool:
    return len(join.equal) == 1 and join.rest is None


def _outer_joins(relation: Relation) -> Iterator[Join]:
    match relation:
        case Join():
            if relation.left_outer:
                yield relation
            yield from _outer_joins(relation.left)
            yield from _outer_joins(relation.right)
        case Subquery() | Truncate() | GroupByUnit():
            yield from _outer_joins(relation.source)
        case _:
            return


def by_plan(block: BlockPlan) -> Reach:
    """As the plan has it; of the policy only whose rows they are. For relations of any depth."""
    reaches = [_TABLES[scan.table.name] for scan in scans(block.source) if not _is_public(scan)]
    by_unit = any(reach.by_unit for reach in reaches)
    gone = max(reach.gone for reach in reaches)
    unit, groups = block.neighbours, block.groups()
    match unit:
        case RowNeighbours():
            most = min(unit.rows, groups or unit.rows)
            return Reach(unit.rows, most, by_unit, gone, together=unit.partitions)
        case UnitNeighbours():
            cut = unit.groups if unit.groups is not None else groups
            assert cut is not None
            return Reach(unit.rows, cut, by_unit, gone, unit.rows_per_group)
        case _:
            assert_never(unit)


def is_crowded(relation: Relation) -> bool:
    """Whether tables with many rows per unit are multiplied in it."""
    return _degrees(relation)[1] > 1


def _degrees(relation: Relation) -> tuple[int, int]:
    """How many tables are multiplied in its rows, and at most in any relation below it."""
    match relation:
        case Scan():
            one = int(not _is_public(relation) and _TABLES[relation.table.name].by_unit)
            return one, one
        case Join():
            (left, below), (right, beside) = _degrees(relation.left), _degrees(relation.right)
            if relation.is_lookup:
                return left, max(left, below, beside)
            columns = {column.column for pair in relation.equal for column in pair}
            here = max(left, right) if "order_id" in columns else left + right
            return here, max(here, below, beside)
        case Subquery() | Truncate():
            return _degrees(relation.source)
        case GroupByUnit():
            here, below = _degrees(relation.source)
            return (here if relation.keys else 0), below
        case UnionAll():
            each = [_degrees(part) for part in relation.parts]
            return max(here for here, _ in each), max(most for _, most in each)
        case _:
            assert_never(relation)


def _is_public(scan: Scan) -> bool:
    return scan.table in PUBLIC


def _reach(relation: Relation) -> Reach | None:
    match relation:
        case Scan():
            return None if _is_public(relation) else _TABLES[relation.table.name]
        case Join():
            return _joined(relation)
        case Subquery() | Truncate():
            return _reach(relation.source)
        case GroupByUnit():
            return _reach(relation.source) if relation.keys else Reach(1, 1, True)
        case UnionAll():
            parts = [found for part in relation.parts if (found := _reach(part.source))]
            rows = sum(part.rows for part in parts)
            # A unit's groups are cut once, over all parts, to what the first part's table says.
            groups = parts[0].groups if parts[0].groups < parts[0].rows else rows
            gone = max(part.gone for part in parts)
            return replace(parts[0], rows=rows, groups=groups, gone=gone)
        case _:
            assert_never(relation)


def _joined(joined: Join) -> Reach | None:
    left, right = _reach(joined.left), _reach(joined.right)
    if joined.is_lookup:  # at most one row of the right side for each of the left one
        return left
    if left is None or right is None:
        return _repeated(left or right, joined, left is None)
    columns = {column.column for pair in joined.equal for column in pair}
    if "order_id" in columns:  # a row meets the one row that its reference names
        is_path = isinstance(joined.right, Scan) and joined.right.alias.endswith("u")
        return left if is_path else _along_the_reference(joined, left, right)
    if not (left.by_unit and right.by_unit and _is_on_the_unit(joined)):
        return _truncated(joined, left, right)
    rows = left.rows * right.rows
    cuts = [r.groups for r in (left, right) if r.rows > 1 and r.groups < r.rows]
    per_group = None
    if (
        left.per_group is not None or right.per_group is not None
    ):  # and a unit has as many pairs there
        per_group = (left.per_group or left.rows) * (right.per_group or right.rows)
    return Reach(rows, min([rows, *cuts]), True, per_group=per_group)


def _along_the_reference(joined: Join, left: Reach, right: Reach) -> Reach:
    """As many rows as refer, and all others of a left side that is referred to: where one does, all but one."""
    is_left = any(a.column == "order_id" for a, _ in joined.equal)
    refers, target = (left, joined.right) if is_left else (right, joined.left)
    if _degrees(target)[0] > 1:  # an earlier join has repeated what is referred to
        rows = left.rows * right.rows
        return replace(left, rows=rows, groups=rows, per_group=None)
    rows, groups, per_group = refers.rows, refers.groups, refers.per_group
    if joined.left_outer and not is_left:
        rows = left.rows + right.rows - 1
        groups, per_group = rows, None
    return replace(left, rows=rows, groups=min(rows, groups), per_group=per_group)


def _is_on_the_unit(joined: Join) -> bool:
    return any(
        _origin(joined.left, a)[1] == "uid" and _origin(joined.right, b)[1] == "uid"
        for a, b in joined.equal
    )


def _truncated(joined: Join, left: Reach, right: Reach) -> Reach:
    """T_l S_r M_r + T_r S_l M_l, by the best of the equalities."""
    found: list[int] = []
    for a, b in joined.equal:
        ours, theirs = _rule(joined.left, a), _rule(joined.right, b)
        if ours is not None and theirs is not None:
            found.append(ours[0] * theirs[1] * right.rows + theirs[0] * ours[1] * left.rows)
    rows = min(found, default=0)  # by no equality that means anything nothing is promised
    gone = max(left.gone, right.gone, 1)
    return Reach(rows, rows, False, gone, together=left.rows + right.rows)


def _rule(relation: Relation, column: ColumnRef) -> tuple[int, int] | None:
    """Most rows of one value, and how many rows of the cut table one row changes."""
    table, name = _origin(relation, column)
    if name in _KEYS or f"{name} of {table}" in _KEYS:
        return 1, 1
    keys = JOIN_KEYS.get(table, {})
    if name not in keys:
        return None
    keep = keys[name]
    return (1, 1) if keep is None else (keep, 2)


def _origin(relation: Relation, column: ColumnRef) -> tuple[str, str]:
    match relation:
        case Scan():
            return (relation.table.name if relation.alias == column.relation else "", column.column)
        case Join():
            left = _origin(relation.left, column)
            return left if left[0] else _origin(relation.right, column)
        case Truncate():
            return _origin(relation.source, column)
        case Subquery() if relation.alias == column.relation:
            below = dict(relation.outputs).get(column.column)
            return _origin(relation.source, below) if isinstance(below, ColumnRef) else ("", "")
        case GroupByUnit() if relation.alias == column.relation and column.column == "unit":
            return "one row per unit", "uid"
        case GroupByUnit() if relation.alias == column.relation and not relation.keys:
            return "one row per unit", column.column
        case UnionAll() if relation.alias == column.relation:
            first = relation.parts[0]
            place = [name for name, _ in first.outputs].index(column.column)
            found = [
                _origin(part, ColumnRef(part.outputs[place][0], column.type, None, part.alias))
                for part in relation.parts
            ]
            names = {name for _, name in found}
            return ("a union", found[0][1]) if len(names) == 1 else ("", "")
        case _:
            return "", ""


def _repeated(reach: Reach | None, joined: Join, is_left: bool) -> Reach | None:
    """Rows that meet several rows of a public table."""
    if reach is None:
        return None
    side = joined.left if is_left else joined.right
    rules = [_rule(side, pair[0] if is_left else pair[1]) for pair in joined.equal]
    most = min(rule[0] for rule in rules if rule is not None)
    if most == 1:
        return reach
    together = None if reach.by_unit else reach.together or reach.rows
    return replace(reach, rows=reach.rows * most, groups=reach.groups * most, together=together)
