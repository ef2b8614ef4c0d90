"""Where the values of an expression lie, as far as the plan and the catalogue prove it.

Nothing is believed of the plan. A range begins with a clamp, a constant, or what the server holds the type of a
stored column to. All other ranges follow from those of operands. A stored number has none: it may be NaN,
infinite, or have 131,072 digits before the point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from proxy.base import limits
from proxy.base.decimals import finite_places
from proxy.base.instants import DAY_SECONDS, seconds_of
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, Table
from proxy.kernel.owners import ColumnName
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.policy.grid import type_least, type_step
from proxy.query.ir.expressions import Constant, Parameter

# PostgreSQL's numeric holds 435,000 binary digits before the point; far below that no step of arithmetic on two
# operands raises.
MOST_BITS = 4_096
# The years 1 to 9999, in seconds since 1970-01-01.
FIRST_SECOND, LAST_SECOND = Fraction(-719_162 * DAY_SECONDS), Fraction(2_932_897 * DAY_SECONDS - 1)
_MODIFIER = re.compile(r"character(?: varying)?\((\d+)\)")


def refused(where: str) -> NotPrivate:
    """Make the refusal of what could raise on a row."""
    return NotPrivate(Rule.TOTALITY, where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What is known of the values of an expression.

    Attributes:
        low: Of a number, or of a time in seconds since 1970-01-01: what is not NULL is finite, no NaN, and not
            below it.
        high: What is not NULL is not above it. Both ends are there, or none is.
        is_null: It is always NULL.
        is_apart: No value is 0, though 0 may lie between the ends.
        characters: A text has no more. None: as many as are stored, or more.
        step: The type of a stored column holds multiples of it only; of a date in days.
        least: The type of a stored column holds nothing below it, but NaN.
        depth: So many operations stand inside one another where PostgreSQL puts the expression in.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    is_null: bool = False
    is_apart: bool = False
    characters: int | None = None
    step: Fraction | None = None
    least: Fraction | None = None
    depth: int = 0

    @property
    def bits(self) -> int | None:
        """Binary digits before the point of the largest size. None: it has no ends.

        >>> around(10).bits, within(Fraction(-3), Fraction(1)).bits, ANYTHING.bits
        (11, 2, None)
        """
        if self.low is None or self.high is None:
            return None
        return max(bits_of(self.low), bits_of(self.high))

    @property
    def distance(self) -> Fraction | None:
        """How far all values are from 0. None: 0 may be among them.

        >>> within(Fraction(-3), Fraction(-2)).distance
        Fraction(2, 1)
        """
        if self.low is None or self.high is None:
            return None
        if self.low > 0:
            return self.low
        return -self.high if self.high < 0 else None


ANYTHING = Value()
NULL = Value(is_null=True, characters=0)


def check_printed_number(*numbers: Fraction) -> None:
    """Let numbers pass that a statement has as the plan has them.

    Totality: each has a finite decimal form. Of a third forty places are printed (base.decimals), which is
    another number: a small one is 0, a clamp that ends there is wider.

    >>> check_printed_number(Fraction(1, 2**70))
    >>> check_printed_number(Fraction(1, 3))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if any(finite_places(number) is None for number in numbers):
        raise refused("a number without a decimal form")


def bits_of(number: Fraction) -> int:
    """Give n, the size of the number being below 2^n."""
    return abs(number.numerator).bit_length() - number.denominator.bit_length() + 1


def within(low: Fraction, high: Fraction) -> Value:
    return Value(low=low, high=high)


def around(bits: int) -> Value:
    """All numbers whose size is at most 2^bits."""
    end = Fraction(2) ** bits
    return Value(low=-end, high=end)


def hull(values: Iterable[Value]) -> Value:
    """What holds of a value that is one of several.

    >>> hull([within(Fraction(1), Fraction(2)), NULL, within(Fraction(-5), Fraction(1))]).low
    Fraction(-5, 1)
    >>> hull([within(Fraction(1), Fraction(2)), ANYTHING]) == ANYTHING
    True
    """
    there = [one for one in values if not one.is_null]
    if len(there) < 2:
        return there[0] if there else NULL
    lows = [one.low for one in there if one.low is not None]
    highs = [one.high for one in there if one.high is not None]
    has_ends = len(lows) == len(highs) == len(there)
    lengths = [one.characters for one in there if one.characters is not None]
    return Value(
        low=min(lows) if has_ends else None,
        high=max(highs) if has_ends else None,
        is_apart=all(one.is_apart for one in there),
        characters=max(lengths) if len(lengths) == len(there) else None,
    )


def stored_value(column: Column) -> Value:
    """Say what the server holds the values of a stored column to (PROOFS.md 22 A2.3).

    A type without a modifier says nothing: a numeric may be anything, and so may a numeric(p, s) of a foreign
    table. numeric(p, s) holds NaN, so that it has no ends.

    >>> stored_value(Column("n", SqlType.NUMERIC, "numeric(5,2)", True, 5, 2)).least
    Fraction(-1000, 1)
    >>> stored_value(Column("n", SqlType.NUMERIC, "numeric", True)) == ANYTHING
    True
    >>> stored_value(Column("t", SqlType.VARCHAR, "character varying(20)", True)).characters
    20
    """
    return Value(
        characters=type_characters(column),
        step=type_step(column) if column.is_enforced else None,
        least=type_least(column) if column.is_enforced else None,
    )


def type_characters(column: Column) -> int | None:
    """The most characters of a column's texts, by its declared type; None: as many as are stored."""
    if column.type is SqlType.ENUM:
        return limits.IDENTIFIER_BYTES
    modifier = _MODIFIER.fullmatch(column.type_name)
    return int(modifier[1]) if modifier is not None and column.is_enforced else None


def constant_value(constant: Constant) -> Value:
    """Say where a constant lies: a number is itself, a time the second that it names.

    A time that is not written in the years 1 to 9999 has no ends. Nothing is raised by a constant as such: it
    is read when the statement begins, whatever rows there are.

    >>> constant_value(Constant("1970-01-02", SqlType.DATE)).low
    Fraction(86400, 1)
    """
    match constant.value:
        case None:
            return NULL
        case Fraction() as number:
            check_printed_number(number)
            return Value(low=number, high=number, is_apart=number != 0)
        case str() as text:
            if len(text.encode("utf-8", "surrogatepass")) > limits.CONSTANT_BYTES:
                raise refused("a constant that is too long")
            kind = constant.type
            if kind is None or not kind.is_time:
                return Value(characters=len(text))
            second = seconds_of(text, is_local=kind is not SqlType.TIMESTAMPTZ)
            return Value(low=second, high=second)
        case _:
            return ANYTHING


def answer_value(answer: Parameter) -> Value:
    """Say where the answer of an earlier block lies: times are printed in the years 1 to 9999 only.

    A number may be anything: its noise has no end (base.instants, release.presenting).
    """
    return within(FIRST_SECOND, LAST_SECOND) if answer.type.is_time else ANYTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnValues:
    """The columns that expressions of a relation can name.

    Attributes:
        computed: What is known of those that a subquery, a group or a window computes.
        tables: The tables of those that are stored, by alias.
    """

    computed: dict[ColumnName, Value] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)

    def value(self, name: ColumnName) -> Value:
        found = self.computed.get(name)
        if found is not None:
            return found
        table = self.tables.get(name[0])
        column = None if table is None else table.column(name[1])
        return ANYTHING if column is None else stored_value(column)

    def beside(self, other: ColumnValues) -> ColumnValues:
        return ColumnValues(
            computed={**self.computed, **other.computed}, tables={**self.tables, **other.tables}
        )
