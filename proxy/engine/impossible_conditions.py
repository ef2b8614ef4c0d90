"""Conditions that no value of a column meets that the policy knows of: beyond its bounds, or not in its list.

A row may meet them all the same, as a policy says nothing of what is stored. So they are no reason to answer
0, but the likely reason that an answer is NULL, which no larger epsilon changes. By the statement and the
policy alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, product

from typing_extensions import assert_never

from proxy.base.errors import Refusal
from proxy.base.instants import DAY_SECONDS
from proxy.base.sql_types import SqlType
from proxy.engine.policy_limits import bound_text
from proxy.kernel.column_types import conjuncts
from proxy.planner.bounds import bounded
from proxy.planner.column_ranges import constants_beside, pieces
from proxy.planner.facts import ColumnFacts, Facts
from proxy.planner.possible_truth import OtherText, Value, Within, listed_value, truths
from proxy.policy.moving_bounds import bounds_on
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    Policy,
    ProtectedTable,
)
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import children, columns, rebuild, size
from proxy.query.ir.query import Query
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll

_MOST_TRIED = 10_000  # rows of what columns can hold, times parts of the condition
_MOST_SIDES = 4
CONFLICT = "contradict each other, so no row meets them"
_ANY = Within(None, None)
_DAYS, _FAR = 600_000, 10**12  # from 1970 to the years 327 and 3612
_Named = Mapping[tuple[str, str], ir.Expression | Scan]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpossibleConditions:
    """lines: The reasons of bounds, one for each column (unlisted_values.py has those of lists). is_everywhere:
    Each query of the statement has a condition that no known value meets, or has it in each of its FILTERs."""

    lines: tuple[str, ...] = ()
    is_everywhere: bool = False


def impossible_conditions(query: Query, policy: Policy, day: int | None) -> ImpossibleConditions:
    """Find the conditions of a statement that no value meets which the policy knows of.

    Args:
        query: With its parameters replaced by values, in the time zone of the session.
        policy: With bounds and lists.
        day: The present, for bounds that end with it.
    """
    lines, found = dict[str, None](), list[bool]()
    for block in query.blocks:
        of_rows = [*_conditions(block.source), *_own(block.where, block.source)]
        of_each = [list(_own(one.condition, block.source)) for one in block.aggregates]
        checked = {
            part: _checked(part, policy, day)
            for part in chain(of_rows, chain.from_iterable(of_each))
        }
        lines.update(dict.fromkeys(one.line for one in checked.values() if one.line))
        lines.update(dict.fromkeys(_of_one_unit(of_rows, policy)))
        is_never = any(checked[part].is_never for part in of_rows)
        conflicts = () if is_never else tuple(_conflicts(block.where))
        lines.update(dict.fromkeys(conflicts))
        is_never |= bool(conflicts)
        filtered = [any(checked[part].is_never for part in parts) for parts in of_each]
        found.append(is_never or (bool(filtered) and all(filtered)))
    return ImpossibleConditions(lines=tuple(lines), is_everywhere=bool(found) and all(found))


def _of_one_unit(parts: Sequence[ir.Expression], policy: Policy) -> Iterator[str]:
    """Conditions that leave the rows of one unit: what those add is what noise hides."""
    units = {
        (str(name), table.unit.column): table.unit.identifier
        for name, table in policy.tables.items()
        if isinstance(table, ProtectedTable)
        and isinstance(table.unit, IdentifierUnit)
        and table.unit.path is None
    }
    for part in parts:
        if isinstance(part, ir.Comparison) and part.comparator is ir.Comparator.EQ:
            for column, other in ((part.left, part.right), (part.right, part.left)):
                named = next(iter(columns(column)), ("", ""))
                if named in units and isinstance(other, ir.Constant) and len(columns(column)) == 1:
                    one = units[named]
                    yield (
                        f"a condition on {named[1]} leaves one {one}: noise hides what one {one} adds, so the"
                        " answer is NULL or about 0"
                    )


def _conflicts(where: ir.Expression | None) -> Iterator[str]:
    """Columns of which no value meets all conditions together, whatever the policy says."""
    alone: dict[ir.ColumnRef, list[ir.Expression]] = {}
    for part in conjuncts(where):
        named = set(_columns(part))
        if len(named) == 1:
            alone.setdefault(named.pop(), []).append(part)
    for column, parts in alone.items():
        values: Sequence[Value] = ()
        if column.type.is_text:
            texts = {one for one in constants_beside(column, parts) if isinstance(one, str)}
            values = (*texts, OtherText(frozenset(texts)), None)
        elif column.type.is_number or column.type.is_time:
            values = (*pieces(column, parts), None)
        if len(parts) < 2 or not values or len(values) * sum(map(size, parts)) > _MOST_TRIED:
            continue
        tests = [truths(part, {column: 0}) for part in parts]
        if not any(all(True in test((value,)) for test in tests) for value in values):
            yield f"the conditions on {column.column} {CONFLICT}"


@dataclass(frozen=True, slots=True)
class _Checked:
    """is_never: No known value meets it. line: Why, if bounds say so."""

    is_never: bool = False
    line: str = ""


def _own(where: ir.Expression | None, source: Relation) -> Iterator[ir.Expression]:
    """The parts of a condition on the rows of a relation, those that read columns of tables alone."""
    named = _named(source)
    for part in conjuncts(where):
        resolved = _resolved(part, named)
        if resolved is not None and columns(resolved):
            yield resolved


def _conditions(relation: Relation) -> Iterator[ir.Expression]:
    """What a relation asks of each of its rows. Of UNION ALL nothing is asked of all."""
    match relation:
        case Subquery() | GroupByUnit():
            yield from _conditions(relation.source)
            yield from _own(relation.where, relation.source)
        case Join():
            yield from _conditions(relation.left)
            if not relation.left_outer:
                yield from _conditions(relation.right)
                yield from _own(relation.rest, relation)
        case Scan() | UnionAll() | Truncate():
            pass
        case _:
            assert_never(relation)


def _named(relation: Relation) -> _Named:
    """What the columns that a query around can name stand for: tables by their alias, or expressions over
    columns of tables. What is computed in another way is left out."""
    match relation:
        case Scan():
            return {(relation.alias, ""): relation}
        case Join():
            return {**_named(relation.left), **_named(relation.right)}
        case Subquery():
            below = _named(relation.source)
            found = ((name, _resolved(one, below)) for name, one in relation.outputs)
            return {(relation.alias, name): one for name, one in found if one is not None}
        case GroupByUnit():
            below = _named(relation.source)
            keys = enumerate((_resolved(key, below) for key in relation.keys), start=1)
            return {(relation.alias, f"k{number}"): key for number, key in keys if key is not None}
        case UnionAll() | Truncate():
            return {}
        case _:
            assert_never(relation)


def _resolved(expression: ir.Expression, named: _Named) -> ir.Expression | None:
    """The expression over columns of tables, which are named by their tables. None: it reads others."""
    is_known = True

    def change(part: ir.Expression) -> ir.Expression:
        nonlocal is_known
        if not isinstance(part, ir.ColumnRef):
            return part
        table = named.get((part.relation, ""))
        if isinstance(table, Scan):
            return replace(part, relation=str(table.table))
        below = named.get((part.relation, part.column))
        if below is None or isinstance(below, Scan):
            is_known = False
            return part
        return below

    found = rebuild(expression, change)
    return found if is_known else None


def _checked(part: ir.Expression, policy: Policy, day: int | None) -> _Checked:
    listed, facts = dict[ir.ColumnRef, Sequence[Value]](), dict[tuple[str, str], ColumnFacts]()
    for column in _columns(part):
        own = _column_policy(column, policy)
        if own is None:
            continue
        if own.values is not None:
            listed[column] = [listed_value(text, column.type) for text in own.values]
        bounds = bounds_on(own, day)
        if bounds is not None:
            facts[column.relation, column.column] = ColumnFacts(column.type, bounds)
    ranges = _ranges(part, facts)
    if _can_be_true(part, listed, ranges):
        return _Checked()
    wide = {name: replace(one, bounds=_widened(one.bounds)) for name, one in facts.items()}
    anywhere = dict.fromkeys(ranges, _ANY) | _ranges(part, wide)
    if not _can_be_true(part, listed, anywhere):  # of lists, or of whatever value: column = NULL
        return _Checked(is_never=True)
    return _Checked(is_never=True, line=_line(part, listed, ranges, facts))


def _widened(bounds: Bounds | None) -> Bounds | None:
    """About as far as the type reaches, so that what is computed has the ends that it has by itself."""
    if bounds is None:
        return None
    most = {BoundsKind.DATE: _DAYS, BoundsKind.TIMESTAMP: _DAYS * DAY_SECONDS}.get(
        bounds.kind, _FAR
    )
    return Bounds(Fraction(-most), Fraction(most), bounds.kind)


def _columns(part: ir.Expression) -> Iterator[ir.ColumnRef]:
    if isinstance(part, ir.ColumnRef):
        yield part
    for child in children(part):
        yield from _columns(child)


def _column_policy(column: ir.ColumnRef, policy: Policy) -> ColumnPolicy | None:
    for name, table in policy.tables.items():
        if str(name) == column.relation and isinstance(table, ProtectedTable):
            return table.columns.get(column.column)
    return None


def _ranges(part: ir.Expression, facts: Facts) -> dict[ir.Expression, Within]:
    """Within what is compared lies, if it is computed of columns with bounds, and of constants."""
    found = dict[ir.Expression, Within]()
    for side in _sides(part):
        kind = side.type
        if kind is None or not (kind.is_number or kind.is_time) or len(found) == _MOST_SIDES:
            continue
        if isinstance(side, ir.Constant):
            continue
        try:
            interval = bounded(side, facts).interval
        except Refusal:  # no bounds, or none that can be computed
            continue
        if interval is not None:
            scale = DAY_SECONDS if kind is SqlType.DATE else 1
            found[side] = Within(interval.low * scale, interval.high * scale)
    return found


def _sides(part: ir.Expression) -> Iterator[ir.Expression]:
    match part:
        case ir.Comparison():
            yield from (part.left, part.right)
        case ir.In():
            yield part.operand
        case ir.Constant() | ir.Parameter() | ir.ColumnRef():
            pass
        case _:
            for child in children(part):
                yield from _sides(child)


def _can_be_true(
    part: ir.Expression,
    listed: Mapping[ir.ColumnRef, Sequence[Value]],
    ranges: Mapping[ir.Expression, Within],
) -> bool:
    """Whether some values meet it. NULL is a value of each side, as nobody says which columns have it."""
    known: dict[ir.Expression, Sequence[Value]] = {
        side: (one, None) for side, one in ranges.items()
    }
    known |= {column: (*values, None) for column, values in listed.items()}
    number = math.prod(map(len, known.values()))
    if not known or number * size(part) > _MOST_TRIED:
        return True
    test = truths(part, {side: place for place, side in enumerate(known)})
    return any(True in test(row) for row in product(*known.values()))


def _line(
    part: ir.Expression,
    listed: Mapping[ir.ColumnRef, Sequence[Value]],
    ranges: Mapping[ir.Expression, Within],
    facts: Facts,
) -> str:
    named = sorted(frozenset[tuple[str, str]]().union(*map(columns, ranges)) & facts.keys())
    names = list(dict.fromkeys(name for _, name in named))
    if len(named) > 1:
        return (
            f"within the bounds of {' and '.join(names)} in the policy no row meets the condition"
        )
    bounds = facts[named[0]].bounds if named else None
    if bounds is None:  # the type has an end there: the month of a date is 12 at most
        return ""
    low, high = (bound_text(end, bounds.kind) for end in (bounds.low, bounds.high))
    is_time = bounds.kind is not BoundsKind.NUMBER
    above = {side: Within(one.low, None) for side, one in ranges.items() if columns(side)}
    below = {side: Within(None, one.high) for side, one in ranges.items() if columns(side)}
    is_above = _can_be_true(part, listed, {**ranges, **above})
    is_below = _can_be_true(part, listed, {**ranges, **below})
    is_ordered = all(map(_rises, above))  # -x falls with x, and the month of a date does both
    if is_above and not is_below and is_ordered:
        asked = "later ones" if is_time else "larger ones"
        return f"{names[0]} ends at {high} in the policy, and a condition asks for {asked}"
    if is_below and not is_above and is_ordered:
        asked = "earlier ones" if is_time else "smaller ones"
        return f"{names[0]} begins at {low} in the policy, and a condition asks for {asked}"
    return f"{names[0]} is within {low} and {high} in the policy, and a condition asks for others"


def _rises(side: ir.Expression) -> bool:
    """Whether a later or larger value of its column never makes it smaller."""
    match side:
        case ir.Cast(operand=operand) | ir.DateTrunc(operand=operand):
            return _rises(operand)
        case _:
            return isinstance(side, ir.ColumnRef)
