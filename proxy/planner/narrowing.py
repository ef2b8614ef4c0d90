"""Public keys narrowed by the statement's conditions: groups for which they cannot be true are not answered.

Only constants of the statement are looked at, so which groups are answered stays public. What is narrowed are
the `values` and `ranges` of columns, for keys alone: clamps stay.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import conjuncts
from proxy.planner.column_ranges import (
    ConditionPart,
    can_be_null,
    constants_beside,
    meeting,
    piece_ends,
    pieces,
    ranges_of,
)
from proxy.planner.computed_labels import combined
from proxy.planner.facts import ColumnFacts, Facts, Range, Values
from proxy.planner.intervals import STEPWISE
from proxy.planner.label_evaluation import LabelWork
from proxy.planner.possible_truth import OtherText, Unknown, Value, listed_value, results, truths
from proxy.planner.public_keys import constant_text, is_computed, key_parts, label_values
from proxy.query.ir.expression_walk import children, columns, size
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    ColumnRef,
    Comparison,
    Connective,
    Constant,
    Expression,
    Extract,
    In,
    InPublic,
    Is,
    Like,
    Not,
    NumericCall,
    NumericFunction,
    Operator,
    Quotient,
)

_ROWS = 2_000  # combinations of what columns of one key can hold
_DAY = 86_400


def narrowed(
    facts: Facts, where: Expression | None, wanted: Collection[_Name] | None = None
) -> Facts:
    """The facts of columns as far as rows for which the condition is true are concerned.

    Given    wanted: columns that are asked about; None: all
    Gives    facts as they are of those for which too much work would be done, in the order of their names
    """
    if where is None or (wanted is not None and not wanted):
        return facts
    changed = dict(facts)
    parts = [ConditionPart(part, columns(part), size(part)) for part in conjuncts(where)]
    for name in sorted(frozenset[_Name]().union(*(part.columns for part in parts))):
        known = facts.get(name)
        if known is None or not (wanted is None or name in wanted):
            continue
        column = ColumnRef(name[1], known.type, None, name[0])
        about = [part for part in parts if name in part.columns]
        changed[name] = _narrowed(column, known, about, facts.labels)
    for alias in {
        fact.of_row.alias
        for name, fact in facts.items()
        if fact.of_row is not None and (wanted is None or name in wanted)
    }:
        changed.update(
            _of_public_row(alias, facts.instead(changed), [part.whole for part in parts])
        )
    return facts.instead(changed)


_Name = tuple[str, str]


def _narrowed(
    column: ColumnRef, known: ColumnFacts, about: Sequence[ConditionPart], labels: LabelWork
) -> ColumnFacts:
    if known.values is not None:
        number = len(known.values)
        within = [part.whole for part in about if labels.allowed(number * part.size)]
        known = replace(known, values=still_possible(column, known.values, within, labels))
    if is_ordered(known.type):
        known = replace(
            known, ranges=_of_whole_days(ranges_of(column, known, about, labels), known.type)
        )
    if known.nullable and not can_be_null(column, about, labels):
        known = replace(known, nullable=False)
    return known


def _of_whole_days(ranges: tuple[Range, ...] | None, kind: SqlType) -> tuple[Range, ...] | None:
    """Of dates, which a condition on seconds may cut within a day: the days of which it holds the start."""
    if ranges is None or kind is not SqlType.DATE:
        return ranges
    whole = [
        Range(
            None if one.low is None else Fraction(math.ceil(one.low)),
            None if one.high is None else Fraction(math.floor(one.high)),
        )
        for one in ranges
    ]
    return tuple(one for one in whole if one.low is None or one.high is None or one.low <= one.high)


def _of_public_row(
    alias: str, facts: Facts, parts: Sequence[Expression]
) -> dict[tuple[str, str], ColumnFacts]:
    """Columns of a public row, narrowed by what conditions say of its other columns."""
    held = {
        name: fact for name, fact in facts.items() if fact.of_row and fact.of_row.alias == alias
    }
    about = [part for part in parts if columns(part) & set(held)]
    named = {ColumnRef(name[1], fact.type, None, name[0]): fact for name, fact in held.items()}
    found = public_rows(named, about, facts.labels)
    if found is None or not about:
        return {}
    changed = {}
    for place, (name, fact) in enumerate(held.items()):
        there = {row[place] for row in found}
        values = None if fact.values is None else tuple(v for v in fact.values if v in there)
        changed[name] = replace(fact, values=values)
    return changed


def public_rows(
    named: Mapping[ColumnRef, ColumnFacts], about: Sequence[Expression], labels: LabelWork
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
    if not labels.allowed(len(rows) * sum(map(size, about))):
        return None
    tests = [truths(part, {column: n for n, column in enumerate(named)}) for part in about]
    kinds = [column.type for column in named]
    found = []
    for row in rows:
        values = [listed_value(text, kind) for text, kind in zip(row, kinds, strict=True)]
        if all(True in test(values) for test in tests):
            found.append(row)
    return found


# Of these the form says which values there are, whatever those of their parts are.
_NUMBERS = (NumericCall, Quotient, Bucket, Arithmetic)
_BY_FORM = (*(Case, Comparison, Connective, Not, Is, In, InPublic, Like), *_NUMBERS)


def has_listed_parts(key: Expression, facts: Facts) -> bool:
    """Whether a row is in no group of a key where one of the key's parts has none of its public values:
    state || kind, but not state = 'x', which is false of any other state."""
    if _is_one_field(key):
        return True
    if isinstance(key, _NUMBERS) and all(
        facts[name].values is None and facts[name].is_clamped for name in columns(key)
    ):
        return True  # what is beyond bounds counts as the nearest of them
    return not isinstance(key, _BY_FORM) or is_computed(key, facts)


def _is_one_field(key: Expression) -> bool:
    """Whether it is a field of a time, written so that each number of the field is another key."""
    match key:
        case Extract():
            return True
        case NumericCall(function=function, operand=operand, digits=digits):
            is_kept = function in STEPWISE or function is NumericFunction.NEGATE
            return is_kept and digits >= 0 and _is_one_field(operand)
        case Cast(operand=operand):
            return _is_one_field(operand)
        case Arithmetic(left=Constant(value=value), right=operand):
            return (value != 0 or key.operator is not Operator.MULTIPLY) and _is_one_field(operand)
        case Arithmetic(right=Constant(value=value), left=operand):
            return (value != 0 or key.operator is not Operator.MULTIPLY) and _is_one_field(operand)
        case Quotient(operand=operand, divisor=Constant(value=value), remainder=False):
            return value == 1 and _is_one_field(operand)
        case _:
            return False


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
    values = still_possible(expression, values, parts, facts.labels)
    possible = _of_parts(expression, facts, parts)
    if possible is not None:
        values = tuple(v for v in values if v in possible)
    possible = _reachable(expression, facts, parts)
    return values if possible is None else tuple(v for v in values if v in possible)


def _of_parts(
    expression: Expression, facts: Facts, about: Sequence[Expression]
) -> frozenset[str | None] | None:
    """What a key can be whose parts have only values with which the conditions may be true; None: any."""
    if not about or not has_listed_parts(expression, facts):
        return None
    parts = key_parts(expression, facts)
    if parts is None or parts == (expression,):
        return None
    values = [
        still_possible(part, label_values(part, facts) or (), about, facts.labels) for part in parts
    ]
    found = combined([expression], parts, values, facts, about)
    return None if found is None else frozenset(text for (text,) in found)


def still_possible(
    key: Expression, values: Values, parts: Iterable[Expression], labels: LabelWork
) -> Values:
    """The values with which no condition is false or NULL for sure. By one key alone."""
    kind, about = key.type, [part for part in parts if holds(part, key)]
    if kind is None or not about:
        return values
    read = [(text, listed_value(text, kind)) for text in values]
    for part in about:
        if not labels.allowed(len(read) * size(part)):
            continue
        test = truths(part, {key: 0})
        outcomes = {text: test((value,)) for text, value in read}
        open_ = [text for text, found in outcomes.items() if True in found and len(found) > 1]
        true = open_ if has_floats(part) else _true_of(part, key, open_, labels)
        there = {text for text, found in outcomes.items() if found == {True}}.union(true)
        read = [(text, value) for text, value in read if text in there]
    return tuple(text for text, _ in read)


def has_floats(part: Expression) -> bool:
    """Whether it is computed in floats, which are no decimals."""
    return (part.type is not None and part.type.is_float) or any(map(has_floats, children(part)))


def _true_of(
    part: Expression, key: Expression, texts: Sequence[str | None], labels: LabelWork
) -> frozenset[str | None]:
    """Of which values of a key a condition on it alone is true, or may be: strpos(key, 'a') > 0."""
    found = labels.evaluated([part], [key], [(text,) for text in texts]) if texts else None
    if found is None:
        return frozenset(texts)
    return frozenset(text for text, (truth,) in zip(texts, found, strict=True) if truth == "true")


def holds(whole: Expression, part: Expression) -> bool:
    return whole == part or any(holds(child, part) for child in children(whole))


def is_ordered(kind: SqlType) -> bool:
    return kind.is_number or kind.is_time


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
    if number > _ROWS or not facts.labels.allowed(number * sum(map(size, about))):
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
        inside = [p for p in pieces(column, about) if _meets(p, known.ranges, scale)]
        return [*inside, *nothing]
    if column.type.is_text:
        texts = {value for value in constants_beside(column, about) if isinstance(value, str)}
        return [*sorted(texts), OtherText(frozenset(texts)), *nothing]
    return [Unknown.UNKNOWN]


def _meets(piece: Value, ranges: tuple[Range, ...] | None, scale: Fraction) -> bool:
    if ranges is None:
        return True
    low, high = piece_ends(piece, 1 / scale, None)
    return any(True for _ in meeting(ranges, [Range(low, high)]))
