"""What parts of keys can be together where conditions compare the columns that they are computed of: with
`a.day >= b.day` no row has the year of `a.day` before that of `b.day`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.planner.column_ranges import ConditionPart, compared, ranges_of
from proxy.planner.facts import ColumnFacts, Facts
from proxy.planner.label_work import allowed
from proxy.planner.possible_truth import Truths, Unknown, Value, Within, listed_value, truths
from proxy.planner.time_intervals import is_function_of, value_within
from proxy.query.ir.expression_walk import columns, size
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Constant, Expression

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
    if not conditions or not allowed(work):
        return None
    named = sorted(frozenset[_Name]().union(*map(columns, conditions)))
    several = [_ComparedColumn.of(name, facts[name], parts, conditions) for name in named]
    places = {one: place for place, one in enumerate(one for each in several for one in each.known)}
    tests = [truths(condition, places) for condition in conditions]
    return _Test(columns=several, tests=tests).is_possible


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComparedColumn:
    """parts: those that are computed of it alone. known: it, and functions of it in conditions. found: what
    these are, by the texts of its parts."""

    column: ColumnRef
    facts: ColumnFacts
    parts: tuple[Expression, ...]
    known: tuple[Expression, ...]
    found: dict[tuple[str | None, ...], tuple[Value, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: _Name,
        facts: ColumnFacts,
        parts: Sequence[Expression],
        conditions: Sequence[Expression],
    ) -> _ComparedColumn:
        column = ColumnRef(name[1], facts.type, None, name[0])
        functions = (of for of, _ in compared(conditions) if is_function_of(of, column))
        return cls(
            column=column,
            facts=facts,
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
        ranges = ranges_of(self.column, self.facts, about)
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
