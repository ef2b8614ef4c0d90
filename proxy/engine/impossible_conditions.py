"""Conditions that no value of a column meets that the policy knows of: beyond its bounds, or not in its list.

A row may meet them all the same, as a policy says nothing of what is stored. So they are no reason to answer
0, but the likely reason that an answer is NULL, which no larger epsilon changes. By the statement and the
policy alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from fractions import Fraction
from itertools import chain, product

from typing_extensions import assert_never

from proxy.base.errors import Refusal
from proxy.base.instants import DAY_SECONDS
from proxy.base.sql_types import SqlType
from proxy.engine.policy_limits import bound_text
from proxy.kernel.column_types import conjuncts
from proxy.planner.bounds import bounded
from proxy.planner.column_ranges import (
    ConditionPart,
    can_be_null,
    constants_beside,
    pieces,
    ranges_of,
)
from proxy.planner.facts import ColumnFacts, Facts, Range
from proxy.planner.label_evaluation import LabelWork
from proxy.planner.possible_truth import OtherText, Value, Within, listed_value, truths
from proxy.planner.public_keys import constant_text
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
from proxy.query.ir.expression_walk import children, column_refs, columns, size
from proxy.query.ir.function_names import Comparator
from proxy.query.ir.query import AggregateBlock, Query, changed
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.rebuilding import rebuild
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

_MOST_TRIED = 10_000  # rows of what columns can hold, times parts of the condition
_MOST_SIDES = 4
CONFLICT = "contradict each other, so no row meets them"
_MOST_OF_DAYS = 300_000  # nodes of conditions that are evaluated to count days
_FEW = 100  # an answer on so small a part of the days is told
_ANY = Within(None, None)
_DAYS, _FAR = 600_000, 10**12  # from 1970 to the years 327 and 3612


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpossibleConditions:
    """Why no row meets conditions.

    Attributes:
        lines: The reasons of bounds, one for each column (`unlisted_values` has those of lists).
        is_everywhere: Each query of the statement has a condition that no known value meets, or has it in each
            of its FILTERs.
    """

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
    work = LabelWork(left=_MOST_OF_DAYS)
    for block in query.blocks:
        of_rows = [*_conditions(block.source, block.where), *_own(block.where, block.source)]
        of_each = [
            [part for where in _chosen_by(one) for part in _own(where, block.source)]
            for one in block.aggregates
        ]
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
        filtered = [is_never or any(checked[part].is_never for part in parts) for parts in of_each]
        filtered = filtered or [is_never]
        tables = Counter(str(scan.table) for scan in scans(block.source))
        for number, parts in enumerate(of_each or [[]]):
            if not filtered[number]:
                few = dict(_few_days([*of_rows, *parts], tables, policy, day, work))
                lines.update(dict.fromkeys(few))
                filtered[number] = 0 in few.values()
        found.append(all(filtered))
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


def _few_days(
    parts: Sequence[ir.Expression],
    tables: Mapping[str, int],
    policy: Policy,
    day: int | None,
    work: LabelWork,
) -> Iterator[tuple[str, int]]:
    """Columns of which conditions leave few of the days in the policy or none, each of a table that is read
    once, with their number."""
    for column in dict.fromkeys(chain.from_iterable(map(column_refs, parts))):
        own = _column_policy(column, policy) if tables[column.relation] == 1 else None
        bounds = None if own is None else bounds_on(own, day)
        if bounds is None or bounds.kind is BoundsKind.NUMBER:
            continue
        name = frozenset({(column.relation, column.column)})
        about = [ConditionPart(one, name, size(one)) for one in parts if columns(one) == name]
        step = Fraction(1) if bounds.kind is BoundsKind.DATE else Fraction(1, 10**6)
        known = ColumnFacts(column.type, bounds, step=step)
        left = ranges_of(column, known, about, work)
        if left is None:
            continue
        days = sum(_days_in(one, bounds) for one in left)
        most = _days_in(Range(None, None), bounds)
        if not days and not can_be_null(column, about, work):
            low, high = (bound_text(end, bounds.kind) for end in (bounds.low, bounds.high))
            none = "no day that {} has in the policy, {} to {}, meets the conditions"
            yield none.format(column.column, low, high), 0
        elif days and days * _FEW <= most:
            beyond = ", and rows beyond them" * any(None in (one.low, one.high) for one in left)
            yield (
                f"the conditions leave at most {days:,} of the {most:,} days that {column.column} has in the"
                f" policy{beyond}: of few rows the answer is NULL or mostly noise, at the same price",
                days,
            )


def _days_in(left: Range, bounds: Bounds) -> int:
    low = bounds.low if left.low is None else max(left.low, bounds.low)
    high = bounds.high if left.high is None else min(left.high, bounds.high)
    day = 1 if bounds.kind is BoundsKind.DATE else DAY_SECONDS
    return 0 if high < low else math.floor(high / day) - math.floor(low / day) + 1


def _chosen_by(aggregate: Aggregate) -> Iterator[ir.Expression | None]:
    """What rows have to meet to add to an aggregate: its FILTER, and the condition of a CASE that is NULL or 0
    otherwise."""
    yield aggregate.condition
    match aggregate.operand:
        case ir.Case(whens=((test, _),), otherwise=ir.Constant(value=None)):
            yield test
        case ir.Case(whens=((test, _),), otherwise=ir.Constant(value=0)):
            if aggregate.kind is AggregateKind.SUM:
                yield test
        case _:
            pass


def _conflicts(where: ir.Expression | None) -> Iterator[str]:
    """Columns of which no value meets all conditions together, whatever the policy says."""
    alone: dict[ir.ColumnRef, list[ir.Expression]] = {}
    for part in conjuncts(where):
        named = set(column_refs(part))
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
    named = dict(_named_columns(source))
    for part in conjuncts(where):
        resolved = _resolved(part, named)
        if resolved is not None and columns(resolved):
            yield resolved


def _conditions(relation: Relation, where: ir.Expression | None) -> Iterator[ir.Expression]:
    """What a relation asks of each of its rows that meets a condition. Of UNION ALL nothing is asked of all."""
    match relation:
        case Subquery() | GroupByUnit():
            yield from _conditions(relation.source, relation.where)
            yield from _own(relation.where, relation.source)
        case Join():
            yield from _conditions(relation.left, where)
            if not relation.left_outer or _has_partner(relation.right, where):
                yield from _conditions(relation.right, where)
                yield from _own(relation.rest, relation)
        case Scan() | UnionAll() | Truncate():
            pass
        case _:
            assert_never(relation)


def _has_partner(right: Relation, where: ir.Expression | None) -> bool:
    """Whether a condition leaves out rows without a partner, as EXISTS and IN (SELECT ...) do."""
    for part in conjuncts(where):
        match part:
            case ir.Not(operand=ir.Is(operand=ir.ColumnRef(relation=alias), truth=None)):
                if isinstance(right, Subquery) and alias == right.alias:
                    return True
    return False


def _resolved(expression: ir.Expression, named: _Names) -> ir.Expression | None:
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
        found = (
            None if below is None or isinstance(below, Scan | tuple) else _resolved(below, named)
        )
        is_known &= found is not None
        return found or part

    found = rebuild(expression, change)
    return found if is_known else None


def _checked(part: ir.Expression, policy: Policy, day: int | None) -> _Checked:
    listed, bounded = dict[ir.ColumnRef, Sequence[Value]](), dict[tuple[str, str], ColumnFacts]()
    for column in column_refs(part):
        own = _column_policy(column, policy)
        if own is None:
            continue
        if own.values is not None:
            listed[column] = [listed_value(text, column.type) for text in own.values]
        bounds = bounds_on(own, day)
        if bounds is not None:
            bounded[column.relation, column.column] = ColumnFacts(column.type, bounds)
    facts = Facts(bounded)
    ranges = _ranges(part, facts)
    if _can_be_true(part, listed, ranges):
        return _Checked()
    wide = Facts({name: replace(one, bounds=_widened(one.bounds)) for name, one in facts.items()})
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


# Constants that a column is compared with, though the policy does not list them among its values.

_EQUAL = (Comparator.EQ, Comparator.NE, Comparator.DISTINCT)
_SHOWN = 8  # values of a list; and texts for which a word is looked for
_ALIKE, _MOST_COMPARED = 0.6, 20_000  # as difflib counts it; characters of a word, times values
_Standing = ir.Expression | Scan | tuple[ir.Expression, ...]
_Names = Mapping[tuple[str, str], _Standing]


def unlisted_lines(query: Query, policy: Policy) -> tuple[str, ...]:
    """Say which constants of a question no listed value is, a line for each column.

    Of public facts alone: the question with its parameters, and the policy. No row is looked at.

    Args:
        query: Parameters are replaced by their values.
        policy: With the lists.
    """
    found: dict[tuple[str, tuple[str | None, ...]], dict[str, None]] = {}
    for block in query.blocks:
        for column, values, text in _unlisted(block, policy):
            found.setdefault((column, values), {})[text] = None
    return tuple(
        _unlisted_line(column, values, tuple(texts)) for (column, values), texts in found.items()
    )


def _unlisted_line(column: str, values: tuple[str | None, ...], texts: tuple[str, ...]) -> str:
    shown = ", ".join(map(_quoted, values[:_SHOWN]))
    if len(values) > _SHOWN:
        shown = f"{shown} and {len(values) - _SHOWN:,} more"
    have = "has the values" if len(values) > 1 else "has the value"
    are = "is not one of them" if len(texts) == 1 else "are not among them"
    found = (_nearest(text, values) for text in texts[:_SHOWN])
    near = [near for near in found if near is not None]
    meant = f": did you mean {' or '.join(map(_quoted, dict.fromkeys(near)))}?" if near else ""
    return f"{column} {have} {shown} in the policy; {', '.join(map(_quoted, texts))} {are}{meant}"


def _nearest(text: str, values: tuple[str | None, ...]) -> str | None:
    """The listed word that is spelled most like it, if one is.

    >>> _nearest("payed", ("paid", "shipped", None)), _nearest("PAID", ("paid",)), _nearest("7", ("8",))
    ('paid', 'paid', None)
    """
    words = {value.casefold(): value for value in values if value is not None}
    if not any(map(str.isalpha, text)) or len(words) * len(text) > _MOST_COMPARED:
        return None
    found = get_close_matches(text.casefold(), list(words), n=1, cutoff=_ALIKE)
    return words[found[0]] if found else None


def _quoted(text: str | None) -> str:
    if text is None:
        return "NULL"
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _unlisted(
    block: AggregateBlock, policy: Policy
) -> Iterator[tuple[str, tuple[str | None, ...], str]]:
    """The columns, their lists, and the texts that are compared with them."""
    names = dict(_named_columns(block.source))
    compared: list[tuple[ir.Expression, ir.Expression]] = []

    def visit(part: ir.Expression) -> ir.Expression:
        compared.extend(_pairs(part))
        return part

    changed(block, lambda one: rebuild(one, visit))
    for one in block.compared_keys:
        compared.extend(_pairs(one))
    for side, constant in compared:
        text = constant_text(constant) if isinstance(constant, ir.Constant) else None
        found = None if text is None else _listed(side, names, policy)
        if text is None or found is None:
            continue
        column, values, kind = found
        if not any(_is_same(text, value, kind) for value in values):
            yield column, values, text


def _pairs(part: ir.Expression) -> Iterator[tuple[ir.Expression, ir.Expression]]:
    """What is compared for equality, both ways round."""
    match part:
        case ir.Comparison(comparator=comparator) if comparator in _EQUAL:
            yield part.left, part.right
            yield part.right, part.left
        case ir.In():
            yield from ((part.operand, item) for item in part.items)
        case ir.NullIf():
            yield part.operand, part.other
        case _:
            pass


def _named_columns(relation: Relation) -> Iterator[tuple[tuple[str, str], _Standing]]:
    """What the columns of a relation, and of those below it, stand for; of a table the table itself."""
    match relation:
        case Scan():
            yield (relation.alias, ""), relation
        case Join():
            yield from _named_columns(relation.left)
            yield from _named_columns(relation.right)
        case Subquery():
            yield from _named_columns(relation.source)
            yield from (((relation.alias, name), one) for name, one in relation.outputs)
        case GroupByUnit():
            yield from _named_columns(relation.source)
            keys = enumerate(relation.keys, start=1)
            yield from (((relation.alias, f"k{number}"), key) for number, key in keys)
        case UnionAll():
            for part in relation.parts:
                yield from _named_columns(part)
            for number, several in enumerate(
                zip(*(one.outputs for one in relation.parts), strict=True), 1
            ):
                yield (relation.alias, f"c{number}"), tuple(one for _, one in several)
        case Truncate():
            yield from _named_columns(relation.source)
        case _:
            assert_never(relation)


def _listed(
    expression: ir.Expression, names: _Names, policy: Policy
) -> tuple[str, tuple[str | None, ...], SqlType] | None:
    """The column that an expression is, perhaps as another type of text, with its list and type; None: it is
    computed, or not all of its values are listed."""
    match expression:
        case ir.Cast(operand=operand) if _is_text(expression.type) and _is_text(operand.type):
            return _listed(operand, names, policy)
        case ir.ColumnRef(column=name, relation=relation):
            scan = names.get((relation, ""))
            if isinstance(scan, Scan):
                table = policy.tables.get(scan.table)
                own = table.columns.get(name) if isinstance(table, ProtectedTable) else None
                return (
                    None
                    if own is None or own.values is None
                    else (name, own.values, expression.type)
                )
            below = names.get((relation, name))
            if isinstance(below, tuple):
                return _of_parts([_listed(one, names, policy) for one in below])
            return (
                None if below is None or isinstance(below, Scan) else _listed(below, names, policy)
            )
        case _:
            return None


def _of_parts(
    parts: Sequence[tuple[str, tuple[str | None, ...], SqlType] | None],
) -> tuple[str, tuple[str | None, ...], SqlType] | None:
    """Of UNION ALL: a value of any list may be there."""
    known = [one for one in parts if one is not None]
    if not known or len(known) < len(parts):
        return None
    name, _, kind = known[0]
    return name, tuple(dict.fromkeys(value for _, values, _ in known for value in values)), kind


def _is_text(kind: SqlType | None) -> bool:
    return kind is not None and kind.is_text


def _is_same(text: str, value: str | None, kind: SqlType) -> bool:
    """Whether a listed value equals a constant. Both are texts as PostgreSQL prints them."""
    if value is None or text == value:
        return text == value
    if kind is SqlType.BPCHAR:
        return text.rstrip(" ") == value.rstrip(" ")
    if kind.is_number:
        try:
            return Decimal(text) == Decimal(value)
        except InvalidOperation:
            return False
    return False
