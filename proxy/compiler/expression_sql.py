"""Typed expressions to SQL text with bind parameters: nothing of the client's text passes.

Arithmetic is done in numeric over clamped operands, comparisons in the type in which they cannot raise
(design/SQL.md 2). This is our own printer: every operation is in parentheses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.query.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choose,
    Clamped,
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
    NullIf,
    Parameter,
    Quotient,
    Rounded,
    Rounding,
    TextCall,
    Truncated,
)

# float8 keeps 15 decimal digits; constants beyond these are compared in numeric instead.
_FLOAT_LARGEST = Fraction(10) ** 300
_FLOAT_SMALLEST = Fraction(1, 10**300)
_LAST_TIMESTAMP_DAY = "294276-12-31"  # manual 8.5


@dataclass(slots=True)
class Binds:
    """The bind parameters of one statement; equal values share a name."""

    values: dict[str, object] = field(default_factory=dict)
    scalars: dict[str, int] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)  # names, of those that FROM clauses take
    _names: dict[tuple[object, str], str] = field(default_factory=dict)

    def add(self, value: object, kind: str) -> str:
        """A placeholder with its cast. Text in, so that the cast is PostgreSQL's."""
        key = (tuple(value) if isinstance(value, list) else value, kind)
        name = self._names.get(key)
        if name is None:
            name = f"p{len(self.values) + 1}"
            self._names[key] = name
            self.values[name] = value
        return f"%({name})s::{kind}"

    def seed(self, purpose: str) -> str:
        """A placeholder for a fresh random number; one for each purpose."""
        placeholder = self.add(("seed", purpose), "bigint")
        name = self._names[("seed", purpose), "bigint"]
        if name not in self.seeds:
            self.seeds.append(name)
        return placeholder

    def number(self, value: Fraction | int, kind: str = "numeric") -> str:
        return self.add(decimal_text(Fraction(value)), kind)

    def scalar(self, parameter: Parameter, kind: str) -> str:
        """A placeholder for the answer of an earlier block."""
        name = f"s{parameter.number}"
        self.scalars[name] = parameter.number
        self.values[name] = None
        return f"%({name})s::{kind}"


def identifier(name: str) -> str:
    """A quoted identifier; per cent signs doubled, as psycopg wants them."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def column_sql(column: ColumnRef) -> str:
    """A column of a relation under the alias that the reader gave it; of an inner SELECT by its name."""
    if not column.relation:
        return column.column
    read_as = "::text" if column.type is SqlType.ENUM else ""
    return f"{column.relation}.{identifier(column.column)}{read_as}"


def condition_sql(expression: Expression, binds: Binds) -> str:
    """A boolean expression."""
    match expression:
        case Comparison():
            left, right = _pair(expression.left, expression.right, binds)
            return f"({left} {expression.comparator.value} {right})"
        case Connective():
            joined = f" {expression.word} ".join(
                condition_sql(p, binds) for p in expression.operands
            )
            return f"({joined})"
        case Not():
            return f"(NOT {condition_sql(expression.operand, binds)})"
        case Is(truth=None):
            return f"({value_sql(expression.operand, binds)} IS NULL)"
        case Is():
            truth = "TRUE" if expression.truth else "FALSE"
            return f"({condition_sql(expression.operand, binds)} IS {truth})"
        case In():
            return _in(expression, binds)
        case InPublic():
            return _in_public(expression, binds)
        case Like():
            word = "ILIKE" if expression.ignore_case else "LIKE"
            pattern = value_sql(expression.pattern, binds)
            return f"({value_sql(expression.operand, binds)} {word} {pattern})"
        case _:
            return value_sql(expression, binds)


def value_sql(expression: Expression, binds: Binds) -> str:
    """Any expression, in a form that keeps its kind: numbers may come as numeric."""
    match expression:
        case Comparison() | Connective() | Not() | Is() | In() | InPublic() | Like():
            return condition_sql(expression, binds)
        case ColumnRef():
            return column_sql(expression)
        case Constant():
            return _constant(expression, binds)
        case Parameter():
            return binds.scalar(expression, expression.type.sql)
        case TextCall():
            arguments = [value_sql(expression.operand, binds) + "::text"]
            for part in expression.arguments:
                assert isinstance(part, Constant)
                assert part.type is not None
                kind = "text" if part.type.is_text else "integer"
                given = (
                    part.value if isinstance(part.value, str) else decimal_text_or_none(part.value)
                )
                arguments.append(binds.add(given, kind))
            return f"pg_catalog.{expression.function.value}({', '.join(arguments)})"
        case Extract():
            return f"extract({expression.field} FROM {value_sql(expression.operand, binds)})"
        case Clamped() if expression.type.is_time:
            return clamped_sql(expression, binds)
        case Truncated():
            return _truncated(expression, binds)
        case Bucket():
            operand = numeric_sql(expression.operand, binds)
            low, high = binds.number(expression.low), binds.number(expression.high)
            count = binds.number(expression.count, "integer")
            return f"pg_catalog.width_bucket({operand}, {low}, {high}, {count})"
        case Cast() if expression.type.is_time:
            return f"({value_sql(expression.operand, binds)})::{expression.type.sql}"
        case Case():
            return _case(expression, binds)
        case Choose():
            parts = ", ".join(_branch(part, expression.type, binds) for part in expression.operands)
            return f"{expression.choice.value}({parts})"
        case NullIf():
            left, right = _pair(expression.operand, expression.other, binds)
            return f"nullif({left}, {right})"
        case Clamped() | Arithmetic() | Quotient() | Rounded() | Cast():
            return numeric_sql(expression, binds)
        case _:
            assert_never(expression)


def numeric_sql(expression: Expression, binds: Binds) -> str:
    """A number, in numeric."""
    match expression:
        case Constant():
            value = expression.value
            if value is None:
                return "NULL::numeric"
            assert isinstance(value, Fraction)
            return binds.number(value)
        case Clamped():
            return f"({clamped_sql(expression, binds)})::numeric"
        case Arithmetic():
            left, right = numeric_sql(expression.left, binds), numeric_sql(expression.right, binds)
            return f"({left} {expression.operator.value} {right})"
        case Quotient():
            operand = numeric_sql(expression.operand, binds)
            divisor = numeric_sql(expression.divisor, binds)
            if expression.remainder:
                return f"pg_catalog.mod({operand}, {divisor})"
            if expression.type.is_integer:
                return f"pg_catalog.div({operand}, {divisor})"
            return f"({operand} / {divisor})"
        case Rounded():
            return _rounded(expression, numeric_sql(expression.operand, binds))
        case Case():
            return _case(expression, binds, number=True)
        case Choose():
            parts = ", ".join(numeric_sql(part, binds) for part in expression.operands)
            return f"{expression.choice.value}({parts})"
        case NullIf():
            operand = numeric_sql(expression.operand, binds)
            return f"nullif({operand}, {numeric_sql(expression.other, binds)})"
        case Cast() if expression.operand.type is SqlType.BOOL:
            return f"({condition_sql(expression.operand, binds)})::integer::numeric"
        case Cast():
            return numeric_sql(expression.operand, binds)
        case Parameter():
            return binds.scalar(expression, "numeric")
        case Extract() | TextCall() | ColumnRef() | Bucket():
            return f"({value_sql(expression, binds)})::numeric"
        case _:
            raise AssertionError(f"{type(expression).__name__} is no number")


def clamped_sql(clamped: Clamped, binds: Binds) -> str:
    """A column cut to its bounds, in its own type.

    NULL stays NULL, NaN and Infinity become the upper bound. Integers with bounds that are not whole are
    cut in numeric.
    """
    return cut_sql(value_sql(clamped.operand, binds), clamped, binds)


def cut_sql(value: str, clamped: Clamped, binds: Binds) -> str:
    """`value`, a number or time of the operand's type, cut to the bounds of `clamped`."""
    kind = _cut_as(clamped)
    if kind.is_time:
        low, high = (binds.add(iso_text(e, kind), kind.sql) for e in (clamped.low, clamped.high))
    else:
        low, high = (binds.number(e, kind.sql) for e in (clamped.low, clamped.high))
    if kind is SqlType.NUMERIC and clamped.type is not SqlType.NUMERIC:
        value = f"({value})::numeric"
    return larger_sql(smaller_sql(value, high, kind), low, kind)


def _cut_as(clamped: Clamped) -> SqlType:
    """The type in which a value is compared with its bounds."""
    kind, ends = clamped.type, (clamped.low, clamped.high)
    if kind.is_integer and not isinstance(clamped.operand, Extract):
        if any(end.denominator != 1 for end in ends):
            return SqlType.NUMERIC
        fits = kind is not SqlType.INT8 and max(map(abs, ends)) < 2**31
        return SqlType.INT4 if fits else SqlType.INT8
    if kind.is_float and isinstance(clamped.operand, ColumnRef):
        return SqlType.FLOAT8
    return kind if kind.is_time else SqlType.NUMERIC


# What PostgreSQL's own max(x) and min(x) compare with (pg_aggregate.aggtransfn). They are strict: NULL stays
# NULL, where greatest(least(x, high), low) makes it `high` (ENGINES, trap 4). And they take x once, where
# CASE takes it up to three times.
_ORDERED = {
    SqlType.INT4: "int4",
    SqlType.INT8: "int8",
    SqlType.NUMERIC: "numeric_",
    SqlType.FLOAT8: "float8",
    SqlType.DATE: "date_",
    SqlType.TIMESTAMP: "timestamp_",
    SqlType.TIMESTAMPTZ: "timestamptz_",
}


def smaller_sql(left: str, right: str, kind: SqlType) -> str:
    """The smaller of two, NULL if one is. NaN is larger than all numbers (manual 8.1.3)."""
    return f"pg_catalog.{_ORDERED[kind]}smaller({left}, {right})"


def larger_sql(left: str, right: str, kind: SqlType) -> str:
    """The larger of two, NULL if one is."""
    return f"pg_catalog.{_ORDERED[kind]}larger({left}, {right})"


def _truncated(truncated: Truncated, binds: Binds) -> str:
    operand = value_sql(truncated.operand, binds)
    if truncated.operand.type is SqlType.DATE:
        operand = f"({operand})::timestamp AT TIME ZONE 'UTC'"
    return f"pg_catalog.date_trunc('{truncated.unit}', {operand})"


def decimal_text_or_none(value: object) -> str | None:
    return decimal_text(value) if isinstance(value, Fraction) else None


def _rounded(rounded: Rounded, operand: str) -> str:
    match rounded.function:
        case Rounding.NEGATE:
            return f"(- {operand})"
        case Rounding.TRUNC | Rounding.ROUND:
            return f"pg_catalog.{rounded.function.value}({operand}, {rounded.digits})"
        case Rounding.ABS | Rounding.FLOOR | Rounding.CEIL | Rounding.SIGN:
            return f"pg_catalog.{rounded.function.value}({operand})"
        case _:
            assert_never(rounded.function)


def _case(case: Case, binds: Binds, number: bool = False) -> str:
    def branch(part: Expression) -> str:
        return numeric_sql(part, binds) if number else _branch(part, case.type, binds)

    whens = " ".join(f"WHEN {condition_sql(a, binds)} THEN {branch(b)}" for a, b in case.whens)
    return f"CASE {whens} ELSE {branch(case.otherwise)} END"


def _branch(part: Expression, kind: SqlType, binds: Binds) -> str:
    """Results of CASE and COALESCE: numbers meet in numeric, everything else in its type.

    A date after the last timestamp, which PostgreSQL would raise 22008 for, meets timestamps as infinity.
    """
    if kind.is_number:
        return numeric_sql(part, binds)
    value = value_sql(part, binds)
    if part.type is SqlType.DATE and kind is not SqlType.DATE:
        last, infinite = binds.add(_LAST_TIMESTAMP_DAY, "date"), binds.add("infinity", "date")
        return f"CASE WHEN {value} > {last} THEN {infinite} ELSE {value} END"
    return value


def _constant(constant: Constant, binds: Binds) -> str:
    kind = constant.type or SqlType.TEXT
    name = "bpchar" if kind is SqlType.BPCHAR else kind.sql  # "character" alone means character(1)
    if constant.value is None:
        return f"NULL::{name}"
    if isinstance(constant.value, bool):
        return binds.add("true" if constant.value else "false", "boolean")
    if isinstance(constant.value, Fraction):
        return binds.number(constant.value, name if kind.is_number else "numeric")
    return binds.add(constant.value, name)


def _is_column(expression: Expression) -> bool:
    return isinstance(expression, ColumnRef)


def _pair(left: Expression, right: Expression, binds: Binds) -> tuple[str, str]:
    """Two operands in a type in which they can be compared without ever raising."""
    kinds = (left.type, right.type)
    if not all(kind is not None and kind.is_number for kind in kinds):
        return value_sql(left, binds), value_sql(right, binds)
    if _is_column(left) and isinstance(right, Constant):
        return value_or_numeric(left, (right,), binds)[0], _constants_like(left, (right,), binds)[0]
    if _is_column(right) and isinstance(left, Constant):
        return _constants_like(right, (left,), binds)[0], value_or_numeric(right, (left,), binds)[0]
    if _is_column(left) and _is_column(right) and _same_family(left, right):
        return value_sql(left, binds), value_sql(right, binds)
    return numeric_sql(left, binds), numeric_sql(right, binds)


def _same_family(left: Expression, right: Expression) -> bool:
    a, b = left.type, right.type
    assert a is not None and b is not None
    return a is b or (a.is_integer and b.is_integer) or (a.is_float and b.is_float)


def _kind_for(column: Expression, constants: tuple[Constant, ...]) -> str | None:
    """The type in which a column as it is meets these constants; None: both in numeric."""
    kind = column.type
    assert kind is not None
    values = [c.value for c in constants if c.value is not None]
    numbers = [value for value in values if isinstance(value, Fraction)]
    if kind is SqlType.NUMERIC:
        return "numeric"
    if kind.is_integer and all(n.denominator == 1 and abs(n) < 2**63 for n in numbers):
        return "bigint"
    if kind.is_float and all(n == 0 or _FLOAT_SMALLEST < abs(n) < _FLOAT_LARGEST for n in numbers):
        return "double precision"
    return None


def value_or_numeric(
    column: Expression, constants: tuple[Constant, ...], binds: Binds
) -> tuple[str, ...]:
    if _kind_for(column, constants) is None:
        return (numeric_sql(column, binds),)
    return (value_sql(column, binds),)


def _constants_like(
    column: Expression, constants: tuple[Constant, ...], binds: Binds
) -> tuple[str, ...]:
    kind = _kind_for(column, constants) or "numeric"
    return tuple(
        f"NULL::{kind}" if not isinstance(c.value, Fraction) else binds.number(c.value, kind)
        for c in constants
    )


def _in(expression: In, binds: Binds) -> str:
    constants = tuple(item for item in expression.items if isinstance(item, Constant))
    assert len(constants) == len(expression.items)
    operand = expression.operand
    if operand.type is None or not operand.type.is_number:
        shown, items = value_sql(operand, binds), [value_sql(c, binds) for c in constants]
    elif _is_column(operand):
        (shown,) = value_or_numeric(operand, constants, binds)
        items = list(_constants_like(operand, constants, binds))
    else:
        shown, items = numeric_sql(operand, binds), [numeric_sql(c, binds) for c in constants]
    return f"({shown} IN ({', '.join(items)}))"


def _in_public(expression: InPublic, binds: Binds) -> str:
    operand, output = _pair(expression.operand, expression.output, binds)
    table = f"{identifier(expression.table.schema)}.{identifier(expression.table.name)}"
    inner = f"SELECT {output} FROM {table} AS {expression.alias}"
    if expression.condition is not None:
        inner += f" WHERE {condition_sql(expression.condition, binds)}"
    return f"({operand} IN ({inner}))"
