"""Keys that are computed of several parts with public values, as state || ' ' || kind or
extract(year FROM d) || '-' || extract(month FROM d). What combinations of parts become the shadow says.

Parts of one time, and columns of one public row, are taken together: not every year has every month.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.planner.column_ranges import ConditionPart, compared, ranges_of
from proxy.planner.facts import ColumnFacts, Facts, Values
from proxy.planner.label_evaluation import LabelWork
from proxy.planner.possible_truth import Truths, Unknown, Value, Within, listed_value, truths
from proxy.planner.time_combinations import times_together
from proxy.planner.time_intervals import is_function_of, value_within
from proxy.query.ir.expression_walk import children, columns, size
from proxy.query.ir.expressions import (
    Arithmetic,
    Case,
    Cast,
    Choose,
    ColumnRef,
    Comparator,
    Comparison,
    Concat,
    Connective,
    Constant,
    Expression,
    Extract,
    In,
    Is,
    Not,
    NullIf,
    NumericCall,
    Quotient,
    TextCall,
)

_WORK = 100_000  # nodes evaluated for one key: some tenths of a second
_EVALUATED = (
    *(Arithmetic, Quotient, NumericCall, TextCall, Concat, Cast, Case, Choose, NullIf),
    *(Comparison, In, Connective, Not, Is),
)
Labels = Callable[[Expression], Values | None]


def parts_of_key(expression: Expression, labels: Labels) -> tuple[Expression, ...] | None:
    """The smallest parts with public values that an expression is made of, constants aside; None: some part has
    none.

    Given    labels: what is publicly known of a part
    """
    found = _parts(expression, labels)
    return None if found is None else tuple(dict.fromkeys(found))


def _parts(expression: Expression, labels: Labels) -> list[Expression] | None:
    if isinstance(expression, Constant):
        return []
    is_evaluated = isinstance(expression, _EVALUATED) and not _casts_time(expression)
    if is_evaluated or (isinstance(expression, Extract) and expression.field == "epoch"):
        below = [_parts(part, labels) for part in children(expression)]
        known = [part for parts in below if parts is not None for part in parts]
        if None not in below:
            return known
    return None if labels(expression) is None else [expression]


def _casts_time(expression: Expression) -> bool:
    kind = expression.operand.type if isinstance(expression, Cast) else None
    return kind is not None and kind.is_time


def combined(
    keys: Sequence[Expression],
    parts: Sequence[Expression],
    values: Sequence[Values],
    facts: Facts,
    about: Sequence[Expression] = (),
) -> list[Values] | None:
    """What keys are together where their parts have any of their values; None: that is not known, or too much.

    Given    values: of each part; about: conditions, of which those count that compare columns of several parts
    """
    held = _held(keys, parts, values, facts, about)
    found = facts.labels.evaluated(keys, parts, [row for row, _ in held])
    if found is None:
        return None
    listed = [
        texts
        for (_, is_listed), texts in zip(held, found, strict=True)
        if is_listed or None not in texts
    ]
    several = list(dict.fromkeys(listed))
    return several if 0 < len(several) <= limits.GROUPS_PER_STATEMENT else None


def _held(
    keys: Sequence[Expression],
    parts: Sequence[Expression],
    values: Sequence[Values],
    facts: Facts,
    about: Sequence[Expression],
) -> list[tuple[Values, bool]]:
    """Combinations of the parts' values, and whether no NULL that is not listed is among them. None at all:
    they are too many."""
    together = list(_together(parts, values, facts))
    most = math.prod(len(each) for _, each in together)
    if most * sum(map(size, keys)) > _WORK:
        return []
    return list(_read(parts, together, values, comparing(parts, facts, about, most)))


def _read(
    parts: Sequence[Expression],
    together: list[tuple[tuple[int, ...], list[Values]]],
    values: Sequence[Values],
    is_possible: Callable[[Texts], bool] | None,
) -> Iterator[tuple[Values, bool]]:
    places = [place for group, _ in together for place in group]
    order = [places.index(place) for place in range(len(parts))]
    for several in product(*(each for _, each in together)):
        texts = [text for group in several for text in group]
        row = tuple(texts[place] for place in order)
        if is_possible is not None and not is_possible(dict(zip(parts, row, strict=True))):
            continue
        yield (
            row,
            all(
                text is not None or None in listed for text, listed in zip(row, values, strict=True)
            ),
        )


def _together(
    parts: Sequence[Expression], values: Sequence[Values], facts: Facts
) -> Iterator[tuple[tuple[int, ...], list[Values]]]:
    """Places of parts and what they can be together; NULL among them wherever a column can be NULL."""
    left = dict(enumerate(parts))
    for places, times in times_together(parts, facts):
        there = [frozenset(values[place]) for place in places]
        listed = [
            group
            for group in times
            if all(text in known for text, known in zip(group, there, strict=True))
        ]
        nothing: Values = (None,) * len(places)
        yield places, [*listed, nothing] if _can_be_null(parts[places[0]], facts) else listed
        for place in places:
            left.pop(place)
    rows: dict[str, list[int]] = {}
    for place, part in left.items():
        row = facts[part.relation, part.column].of_row if isinstance(part, ColumnRef) else None
        rows.setdefault(f"{place}" if row is None else f"row {row.alias}", []).append(place)
    for several in rows.values():
        yield tuple(several), _of_one(several, parts, values, facts)


def _of_one(
    places: Sequence[int], parts: Sequence[Expression], values: Sequence[Values], facts: Facts
) -> list[Values]:
    if len(places) == 1:
        listed = values[places[0]]
        is_missing = None not in listed and _can_be_null(parts[places[0]], facts)
        return [(text,) for text in (*listed, *((None,) if is_missing else ()))]
    of_row = [
        (row, place)
        for part, place in zip((parts[place] for place in places), places, strict=True)
        if isinstance(part, ColumnRef)
        and (row := facts[part.relation, part.column].of_row) is not None
    ]
    there = {place: frozenset(values[place]) for _, place in of_row}
    found = dict.fromkeys(tuple(held[row.place] for row, _ in of_row) for held in of_row[0][0].rows)
    listed_rows: list[Values] = [
        group
        for group in found
        if all(text in there[place] for text, (_, place) in zip(group, of_row, strict=True))
    ]
    if any(row.is_outer for row, _ in of_row):
        listed_rows.append((None,) * len(places))
    return listed_rows


def _can_be_null(part: Expression, facts: Facts) -> bool:
    names: Iterable[tuple[str, str]] = columns(part)
    return any(facts[name].nullable for name in names)


def mapping(
    key: Expression, parts: Sequence[Expression], values: Sequence[Values], facts: Facts
) -> Mapping[Values, str | None] | None:
    """What the key is for each combination of its parts' values, as texts; None: too many, or not known."""
    held = _held([key], parts, values, facts, ())
    texts = facts.labels.evaluated([key], parts, [row for row, _ in held])
    if texts is None:
        return None
    several = zip(held, texts, strict=True)
    return {row: text for (row, listed), (text,) in several if listed or text is not None} or None


# --- What parts of keys can be together where conditions compare the columns that they are computed of: with
# `a.day >= b.day` no row has the year of `a.day` before that of `b.day`.


_DAY = 86_400
_Name = tuple[str, str]
Texts = Mapping[Expression, str | None]


def comparing(
    parts: Sequence[Expression], facts: Facts, about: Sequence[Expression], combinations: int
) -> Callable[[Texts], bool] | None:
    """Read the conditions that compare columns of several parts.

    Args:
        parts: What keys are computed of, each with public values.
        facts: Of their columns.
        about: All conditions of the statement.
        combinations: How many will be tested.

    Returns:
        Whether some row within the policy's bounds can have these values of the parts. None: all can.
    """
    of_parts = [columns(part) for part in parts]
    conditions = [
        one
        for one in about
        if sum(not names.isdisjoint(columns(one)) for names in of_parts) > 1
        and len(columns(one)) > 1
        and columns(one) <= facts.keys()
    ]
    work = combinations * sum(map(size, conditions))
    if not conditions or not facts.labels.allowed(work):
        return None
    named = sorted(frozenset[_Name]().union(*map(columns, conditions)))
    several = [_ComparedColumn.of(name, facts, parts, conditions) for name in named]
    places = {one: place for place, one in enumerate(one for each in several for one in each.known)}
    tests = [truths(condition, places) for condition in conditions]
    return _Test(columns=several, tests=tests).is_possible


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComparedColumn:
    """parts: those that are computed of it alone. known: it, and functions of it in conditions. found: what
    these are, by the texts of its parts."""

    column: ColumnRef
    facts: ColumnFacts
    labels: LabelWork
    parts: tuple[Expression, ...]
    known: tuple[Expression, ...]
    found: dict[tuple[str | None, ...], tuple[Value, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: _Name,
        facts: Facts,
        parts: Sequence[Expression],
        conditions: Sequence[Expression],
    ) -> _ComparedColumn:
        column = ColumnRef(name[1], facts[name].type, None, name[0])
        functions = (of for of, _ in compared(conditions) if is_function_of(of, column))
        return cls(
            column=column,
            facts=facts[name],
            labels=facts.labels,
            parts=tuple(part for part in parts if columns(part) == {name}),
            known=tuple(dict.fromkeys((column, *functions))),
        )

    def values(self, texts: Texts) -> tuple[Value, ...]:
        own = tuple(texts[part] for part in self.parts)
        if own not in self.found:
            self.found[own] = tuple(self._values(own))
        return self.found[own]

    def _values(self, own: Sequence[str | None]) -> Iterator[Value]:
        within = self._within(own)
        for one in self.known:
            if one == self.column or isinstance(within, Unknown):
                yield within
            else:
                yield value_within(one, self.column, within)

    def _within(self, own: Sequence[str | None]) -> Within | Unknown:
        """Where the column lies whose parts have these texts; in seconds if it is a time.

        Also beyond the policy's bounds, if parts are cut to these.
        """
        about = []
        for part, text in zip(self.parts, own, strict=True):
            constant = _constant(part, text)
            if constant is None:
                return Unknown.UNKNOWN
            equal = Comparison(Comparator.EQ, part, constant)
            about.append(ConditionPart(equal, columns(part), size(equal)))
        ranges = ranges_of(self.column, self.facts, about, self.labels)
        if not ranges:
            return Within(None, None)
        low, high = ranges[0].low, ranges[-1].high
        scale = _DAY if self.facts.type is SqlType.DATE else 1
        return Within(None if low is None else low * scale, None if high is None else high * scale)


def _constant(part: Expression, text: str | None) -> Constant | None:
    """None: of NULL, and of texts of which no value is known."""
    kind = part.type
    if text is None or kind is None or isinstance(value := listed_value(text, kind), Unknown):
        return None
    return Constant(value if isinstance(value, Fraction) and kind.is_number else text, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    columns: Sequence[_ComparedColumn]
    tests: Sequence[Callable[[Sequence[Value]], Truths]]
    found: dict[tuple[Value, ...], bool] = field(default_factory=dict)

    def is_possible(self, texts: Texts) -> bool:
        row = tuple(value for each in self.columns for value in each.values(texts))
        if row not in self.found:
            self.found[row] = all(True in test(row) for test in self.tests)
        return self.found[row]
