"""Public keys narrowed by the statement's conditions: groups for which they cannot be true are not answered.

Only constants of the statement are looked at, so which groups are answered stays public. What is narrowed are
the `values` and `ranges` of columns, for keys alone: clamps stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.planner.computed_labels import combined
from proxy.planner.facts import ColumnFacts, Facts, Range, Values
from proxy.planner.possible_truth import (
    Between,
    OtherText,
    Unknown,
    Value,
    constant_value,
    listed_value,
    results,
    truths,
)
from proxy.planner.public_keys import constant_text, key_parts, label_values
from proxy.planner.unit_truncation import conjuncts
from proxy.query.ir.expression_walk import children, columns, size
from proxy.query.ir.expressions import (
    Case,
    ColumnRef,
    Comparison,
    Connective,
    Constant,
    Expression,
    In,
    InPublic,
    Is,
    Like,
    Not,
)

WORK = 300_000  # of nodes evaluated for one condition: some tenths of a second
_ROWS = 2_000  # combinations of what columns of one key can hold
# Between numbers without a least step: no constant has so many digits.
_TINY = Fraction(1, 10 ** (limits.NUMBER_DIGITS + 50))
_DAY = 86_400


def narrowed(facts: Facts, where: Expression | None) -> Facts:
    """The facts of columns as far as rows for which the condition is true are concerned."""
    if where is None:
        return facts
    changed = dict(facts)
    parts = list(conjuncts(where))
    for name in sorted(columns(where)):
        known = facts.get(name)
        if known is None:
            continue
        column = ColumnRef(name[1], known.type, None, name[0])
        about = [part for part in parts if name in columns(part)]
        if known.values is not None:
            known = replace(known, values=still_possible(column, known.values, about))
        if is_ordered(known.type):
            known = replace(known, ranges=_ranges(column, known, about))
        if known.nullable and not _can_be_null(column, about):
            known = replace(known, nullable=False)
        changed[name] = known
    for alias in {fact.of_row.alias for fact in facts.values() if fact.of_row is not None}:
        changed.update(_of_public_row(alias, changed, parts))
    return changed


def _can_be_null(column: ColumnRef, about: Iterable[Expression]) -> bool:
    """Whether the conditions may be true of a row that has no value there."""
    return all(True in truths(part, {column: 0})((None,)) for part in about if size(part) <= WORK)


def _of_public_row(
    alias: str, facts: Facts, parts: Sequence[Expression]
) -> dict[tuple[str, str], ColumnFacts]:
    """Columns of a public row, narrowed by what conditions say of its other columns."""
    held = {
        name: fact for name, fact in facts.items() if fact.of_row and fact.of_row.alias == alias
    }
    about = [part for part in parts if columns(part) & set(held)]
    named = {ColumnRef(name[1], fact.type, None, name[0]): fact for name, fact in held.items()}
    found = public_rows(named, about)
    if found is None or not about:
        return {}
    changed = {}
    for place, (name, fact) in enumerate(held.items()):
        there = {row[place] for row in found}
        values = None if fact.values is None else tuple(v for v in fact.values if v in there)
        changed[name] = replace(fact, values=values)
    return changed


def public_rows(
    named: Mapping[ColumnRef, ColumnFacts], about: Sequence[Expression]
) -> list[Values] | None:
    """The rows of one public table, in the order of these columns, with which the conditions may be true; None:
    they are too many to look."""
    held = [fact.of_row for fact in named.values() if fact.of_row is not None]
    rows: list[Values] = [tuple(row[one.place] for one in held) for row in held[0].rows]
    if any(one.is_outer for one in held):
        rows.append((None,) * len(held))
    rows = list(dict.fromkeys(rows))
    if not about:
        return rows
    if len(rows) * sum(map(size, about)) > WORK:
        return None
    tests = [truths(part, {column: n for n, column in enumerate(named)}) for part in about]
    kinds = [column.type for column in named]
    found = []
    for row in rows:
        values = [listed_value(text, kind) for text, kind in zip(row, kinds, strict=True)]
        if all(True in test(values) for test in tests):
            found.append(row)
    return found


def key_values(expression: Expression, facts: Facts, where: Expression | None) -> Values | None:
    """The public values of a key that rows can have for which the condition is true; None: they are not public.

    Given    facts: narrowed by the condition
    """
    values = label_values(expression, facts)
    if values is None:
        return None
    parts = list(conjuncts(where))
    if isinstance(expression, ColumnRef):
        return values
    values = still_possible(expression, values, parts)
    possible = _of_parts(expression, facts, parts)
    if possible is not None:
        values = tuple(v for v in values if v in possible)
    possible = _reachable(expression, facts, parts)
    return values if possible is None else tuple(v for v in values if v in possible)


def _of_parts(
    expression: Expression, facts: Facts, about: Sequence[Expression]
) -> frozenset[str | None] | None:
    """What a key can be whose parts have only values with which the conditions may be true; None: any."""
    parts = key_parts(expression, facts)
    if not about or parts is None or parts == (expression,):
        return None
    values = [still_possible(part, label_values(part, facts) or (), about) for part in parts]
    found = combined([expression], parts, values, facts)
    return None if found is None else frozenset(text for (text,) in found)


def still_possible(key: Expression, values: Values, parts: Iterable[Expression]) -> Values:
    """The values with which no condition is false or NULL for sure. By one key alone."""
    kind = key.type
    if kind is None:
        return values
    for part in parts:
        if not holds(part, key) or len(values) * size(part) > WORK:
            continue
        test = truths(part, {key: 0})
        values = tuple(v for v in values if True in test((listed_value(v, kind),)))
    return values


def holds(whole: Expression, part: Expression) -> bool:
    return whole == part or any(holds(child, part) for child in children(whole))


def is_ordered(kind: SqlType) -> bool:
    return kind.is_number or kind.is_time


# --- ranges of a column


def _ranges(
    column: ColumnRef, known: ColumnFacts, parts: Sequence[Expression]
) -> tuple[Range, ...] | None:
    """Where numbers and times can lie, in the unit of bounds."""
    pieces = list(_pieces(column, parts))
    if len(pieces) == 1:
        return known.ranges
    tests = [truths(part, {column: 0}) for part in parts if len(pieces) * size(part) <= WORK]
    there = [all(True in test((piece,)) for test in tests) for piece in pieces]
    if all(there):
        return known.ranges
    scale = Fraction(1, _DAY) if known.type is SqlType.DATE else Fraction(1)
    step = known.step
    found: list[Range] = []
    is_open = False  # the range before goes on
    for piece, is_there in zip(pieces, there, strict=True):
        if is_there:
            low, high = _ends(piece, scale, step)
            if low is not None and high is not None and low > high:
                continue
            found, low = (found[:-1], found[-1].low) if is_open else (found, low)
            found.append(Range(low, high))
        is_open = is_there
    return tuple(_both(known.ranges, found))


def _pieces(column: ColumnRef, parts: Iterable[Expression]) -> Iterator[Value]:
    """Constants that a column is compared with, and what lies between them, in order."""
    points = sorted(_points(column, parts))
    before: Fraction | None = None
    for point in points:
        yield Between(before, point)
        yield point
        before = point
    yield Between(before, None)


def _points(column: ColumnRef, parts: Iterable[Expression]) -> set[Fraction]:
    return {value for value in _beside(column, parts) if isinstance(value, Fraction)}


def _beside(column: ColumnRef, parts: Iterable[Expression]) -> Iterator[Value]:
    """Constants that a column is compared with."""
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        beside: tuple[Expression, ...] = ()
        match part:
            case Comparison(left=left, right=right) if column in (left, right):
                beside = (left, right)
            case In(operand=operand, items=items) if operand == column:
                beside = items
        for one in beside:
            if isinstance(one, Constant):
                yield constant_value(one, column.type)
        waiting += children(part)


def _ends(
    piece: Value, scale: Fraction, step: Fraction | None
) -> tuple[Fraction | None, Fraction | None]:
    """The least and the largest value of a piece."""
    if not isinstance(piece, Between):
        assert isinstance(piece, Fraction)
        return piece * scale, piece * scale
    low = None if piece.low is None else piece.low * scale
    high = None if piece.high is None else piece.high * scale
    if step is None:
        return (None if low is None else low + _TINY), (None if high is None else high - _TINY)
    return (
        None if low is None else (math.floor(low / step) + 1) * step,
        None if high is None else (math.ceil(high / step) - 1) * step,
    )


def _both(before: tuple[Range, ...] | None, now: list[Range]) -> Iterator[Range]:
    for one in now:
        for other in before if before is not None else (Range(None, None),):
            lows = [end for end in (one.low, other.low) if end is not None]
            highs = [end for end in (one.high, other.high) if end is not None]
            low, high = max(lows, default=None), min(highs, default=None)
            if low is None or high is None or low <= high:
                yield Range(low, high)


# --- results of conditions and CASE


def _reachable(
    expression: Expression, facts: Facts, parts: Sequence[Expression]
) -> frozenset[str | None] | None:
    """The texts that a condition or CASE can have; None: any."""
    if not isinstance(expression, Case | Comparison | Connective | Not | Is | In | InPublic | Like):
        return None
    branches: tuple[Expression, ...] = ()
    if isinstance(expression, Case):
        branches = (*(result for _, result in expression.whens), expression.otherwise)
    if not all(isinstance(branch, Constant) for branch in branches):
        return None
    names = sorted(columns(expression))
    known: dict[Expression, int] = {}
    of_each: list[list[Value]] = []
    about = [expression, *(part for part in parts if columns(part) & set(names))]
    for name in names:
        fact = facts[name]
        column = ColumnRef(name[1], fact.type, None, name[0])
        known[column] = len(known)
        of_each.append(_held(column, fact, about))
    number = math.prod(map(len, of_each))
    if number > _ROWS or number * sum(map(size, about)) > WORK:
        return None
    tests = [truths(part, known) for part in about[1:]]
    rows = [row for row in product(*of_each) if all(True in test(row) for test in tests)]
    if not isinstance(expression, Case):
        of = truths(expression, known)
        outcomes = {truth for row in rows for truth in of(row)}
        return frozenset(text for truth, text in _TRUTH_TEXTS.items() if truth in outcomes)
    texts = [constant_text(part) if isinstance(part, Constant) else None for part in branches]
    found = results(expression, known)
    return frozenset(texts[number] for row in rows for number in found(row))


_TRUTH_TEXTS: Mapping[bool | None, str | None] = {True: "true", False: "false", None: None}


def _held(column: ColumnRef, known: ColumnFacts, about: Sequence[Expression]) -> list[Value]:
    """What a column can hold, as far as these expressions tell it apart."""
    nothing: list[Value] = [None] if known.nullable else []
    if column.type is SqlType.BOOL:
        return [True, False, *nothing]
    if is_ordered(column.type):
        scale = Fraction(_DAY) if column.type is SqlType.DATE else Fraction(1)
        inside = [p for p in _pieces(column, about) if _meets(p, known.ranges, scale)]
        return [*inside, *nothing]
    if column.type.is_text:
        texts = {value for value in _beside(column, about) if isinstance(value, str)}
        return [*sorted(texts), OtherText(frozenset(texts)), *nothing]
    return [Unknown.UNKNOWN]


def _meets(piece: Value, ranges: tuple[Range, ...] | None, scale: Fraction) -> bool:
    if ranges is None:
        return True
    low, high = _ends(piece, 1 / scale, None)
    return any(True for _ in _both(ranges, [Range(low, high)]))
