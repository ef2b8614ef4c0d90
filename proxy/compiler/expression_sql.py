"""Typed expressions to SQL text with bind parameters: nothing of the client's text passes.

Arithmetic is done in numeric over clamped operands, comparisons in the type in which they cannot raise
(docs/design/sql.md 2). This is our own printer: every operation is in parentheses.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.decimals import real_as_numeric
from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import MOST_DAYS
from proxy.base.zones import Zone
from proxy.compiler.binds import Binds, column_sql, identifier
from proxy.compiler.clamp_sql import clamp_sql
from proxy.compiler.inside_sql import inside_sql
from proxy.compiler.text_sql import beginning, concat_sql, text_call_sql
from proxy.kernel.work_prices import HASHED_LIST, is_hashed_list
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import Cast, Constant, DateTrunc, Shift, TimeBin
from proxy.query.ir.written_numbers import NOT_FINITE

_LARGER = {
    **dict.fromkeys((SqlType.INT2, SqlType.INT4, SqlType.INT8), SqlType.INT8.sql),
    **dict.fromkeys((SqlType.FLOAT4, SqlType.FLOAT8), SqlType.FLOAT8.sql),
}
_LAST_TIMESTAMP_DAY = "294276-12-31"  # PostgreSQL 17 documentation, section 8.5


def condition_sql(expression: ir.Expression, binds: Binds) -> str:
    """A boolean expression."""
    match expression:
        case ir.Comparison():
            left, right = _pair(expression.left, expression.right, binds)
            if expression.comparator.is_of_order and _is_text(expression.left, expression.right):
                left, right = _in_bytes(left), _in_bytes(right)
            return f"({left} {expression.comparator.value} {right})"
        case ir.Connective():
            joined = f" {expression.word} ".join(
                condition_sql(p, binds) for p in expression.operands
            )
            return f"({joined})"
        case ir.Not():
            return f"(NOT {condition_sql(expression.operand, binds)})"
        case ir.Is(truth=None):
            return f"({value_sql(expression.operand, binds)} IS NULL)"
        case ir.Is():
            truth = "TRUE" if expression.truth else "FALSE"
            return f"({condition_sql(expression.operand, binds)} IS {truth})"
        case ir.In():
            return _in(expression, binds)
        case ir.InPublic():
            return _in_public(expression, binds)
        case ir.Like():
            word = "ILIKE" if expression.ignore_case else "LIKE"
            pattern = value_sql(expression.pattern, binds)
            operand = value_sql(expression.operand, binds)
            if expression.ignore_case:
                operand = beginning(operand, expression.operand)
            return f"({operand} {word} {pattern})"
        case _:
            return value_sql(expression, binds)


def value_sql(expression: ir.Expression, binds: Binds) -> str:
    """Any expression, in a form that keeps its kind: numbers may come as numeric."""
    match expression:
        case ir.Inside():
            return inside_sql(expression, binds)
        case (
            ir.Comparison()
            | ir.Connective()
            | ir.Not()
            | ir.Is()
            | ir.In()
            | ir.InPublic()
            | ir.Like()
        ):
            return condition_sql(expression, binds)
        case ir.ColumnRef():
            return column_sql(expression)
        case ir.Constant():
            return _constant(expression, binds)
        case ir.Parameter():
            return binds.scalar(expression, expression.type.sql)
        case ir.TextCall():
            return text_call_sql(expression, value_sql(expression.operand, binds), binds)
        case ir.Concat():
            joined = [value_sql(part, binds) for part in expression.operands]
            return concat_sql(expression, joined)
        case ir.Extract():
            return f"extract({expression.field} FROM {value_sql(expression.operand, binds)})"
        case ir.Clamped() if expression.type.is_time:
            return clamped_sql(expression, binds)
        case ir.DateTrunc():
            return date_trunc_sql(expression, value_sql(expression.operand, binds), binds)
        case ir.Bucket():
            operand = numeric_sql(expression.operand, binds)
            low, high = binds.number(expression.low), binds.number(expression.high)
            count = binds.number(expression.count, "integer")
            return f"pg_catalog.width_bucket({operand}, {low}, {high}, {count})"
        case ir.Shift():
            return shift_sql(expression, value_sql(expression.operand, binds), binds)
        case ir.TimeBin():
            return time_bin_sql(expression, value_sql(expression.operand, binds), binds)
        case ir.FormattedTime():
            operand = value_sql(expression.operand, binds)
            return f"pg_catalog.to_char({operand}, {binds.add(expression.template, 'text')})"
        case ir.Cast() if expression.type.is_text and expression.operand.type is SqlType.BOOL:
            return f"({condition_sql(expression.operand, binds)})::text"
        case ir.Cast() if expression.type.is_text:
            return f"({_printed(expression.operand, binds)})::text"
        case ir.Cast() if expression.operand.type is not None and expression.operand.type.is_text:
            return _read_text(expression, binds)
        case ir.Cast() if expression.type.is_time:
            return cast_time_sql(expression, value_sql(expression.operand, binds), binds)
        case ir.Case():
            return _case(expression, binds)
        case ir.Choose():
            chosen = [_branch(part, expression.type, binds) for part in expression.operands]
            if expression.choice is ir.Choice.COALESCE or not _is_text(expression):
                return f"{expression.choice.value}({', '.join(chosen)})"
            least_of = f"{expression.choice.value}({', '.join(map(_in_bytes, chosen))})"
            return f'({least_of} COLLATE pg_catalog."default")'
        case ir.NullIf():
            left, right = _pair(expression.operand, expression.other, binds)
            return f"nullif({left}, {right})"
        case (
            ir.Clamped()
            | ir.Arithmetic()
            | ir.Quotient()
            | ir.NumericCall()
            | ir.RealCall()
            | ir.Cast()
        ):
            return numeric_sql(expression, binds)
        case _:
            assert_never(expression)


def _is_text(*expressions: ir.Expression) -> bool:
    return all(one.type is None or one.type.is_text for one in expressions)


def _in_bytes(text: str) -> str:
    """By another order than that of bytes one text of a person can take hours: ICU sorts the marks on a letter
    one by one, glibc reads some characters at a fortieth of its pace."""
    return f'({text} COLLATE pg_catalog."C")'


def _printed(operand: ir.Expression, binds: Binds) -> str:
    """A number in the type that prints it: the planner has seen to its digits."""
    return (
        value_sql(operand, binds)
        if isinstance(operand, ir.ColumnRef)
        else numeric_sql(operand, binds)
    )


def _read_text(cast: ir.Cast, binds: Binds) -> str:
    """What raises on a text of another form: of listed values alone, as no plan may hold it
    (kernel/totality.py). A date is one that no DateStyle reads otherwise."""
    text = value_sql(cast.operand, binds)
    if cast.type is SqlType.DATE:
        plain = binds.add("^ *[0-9]{4}(-?)[0-9]{2}\\1[0-9]{2} *$", "text")
        text = f"CASE WHEN {text} !~ {plain} THEN 'other' ELSE {text} END"
    return f"({text})::{cast.type.sql}"


def numeric_sql(expression: ir.Expression, binds: Binds) -> str:
    """A number, in numeric."""
    match expression:
        case ir.Constant():
            value = expression.value
            if value is None:
                return "NULL::numeric"
            return _number(value, "numeric", binds)
        case ir.Clamped():
            return f"({clamped_sql(expression, binds)})::numeric"
        case ir.Arithmetic():
            left, right = numeric_sql(expression.left, binds), numeric_sql(expression.right, binds)
            return f"({left} {expression.operator.value} {right})"
        case ir.Quotient():
            operand = numeric_sql(expression.operand, binds)
            divisor = numeric_sql(expression.divisor, binds)
            if expression.remainder:
                return f"pg_catalog.mod({operand}, {divisor})"
            if expression.type.is_integer:
                return f"pg_catalog.div({operand}, {divisor})"
            return f"({operand} / {divisor})"
        case ir.NumericCall():
            return _rounded(expression, numeric_sql(expression.operand, binds))
        case ir.RealCall():
            return real_call_sql(expression, numeric_sql(expression.operand, binds), binds)
        case ir.Case():
            return _case(expression, binds, number=True)
        case ir.Choose():
            parts = ", ".join(numeric_sql(part, binds) for part in expression.operands)
            return f"{expression.choice.value}({parts})"
        case ir.NullIf():
            operand = numeric_sql(expression.operand, binds)
            return f"nullif({operand}, {numeric_sql(expression.other, binds)})"
        case ir.Cast() if expression.operand.type is SqlType.BOOL:
            return f"({condition_sql(expression.operand, binds)})::integer::numeric"
        case ir.Cast() if expression.operand.type is not None and expression.operand.type.is_text:
            return f"({_read_text(expression, binds)})::numeric"
        case ir.Cast():
            return numeric_sql(expression.operand, binds)
        case ir.Parameter():
            return binds.scalar(expression, "numeric")
        case ir.Extract() | ir.TextCall() | ir.ColumnRef() | ir.Bucket() | ir.Inside():
            return f"({value_sql(expression, binds)})::numeric"
        case _:
            raise AssertionError(f"{type(expression).__name__} is no number")


def clamped_sql(clamped: ir.Clamped, binds: Binds) -> str:
    """A column clamped to its bounds, in its own type.

    NULL stays NULL, NaN and Infinity become the upper bound. Integers with bounds that are not whole are
    cut in numeric.
    """
    return clamp_sql(value_sql(clamped.operand, binds), clamped, binds)


def _rounded(rounded: ir.NumericCall, operand: str) -> str:
    match rounded.function:
        case ir.NumericFunction.NEGATE:
            return f"(- {operand})"
        case ir.NumericFunction.ROUND if rounded.halves_are_even:
            nearest = f"pg_catalog.round({operand}, 0)"  # halves go away from zero: one back from odd ones
            odd = f"CASE pg_catalog.mod({operand}, 2) WHEN 0.5 THEN 1 WHEN -0.5 THEN -1 ELSE 0 END"
            return f"({nearest} - {odd})"
        case ir.NumericFunction.TRUNC | ir.NumericFunction.ROUND:
            return f"pg_catalog.{rounded.function.value}({operand}, {rounded.digits})"
        case (
            ir.NumericFunction.ABS
            | ir.NumericFunction.FLOOR
            | ir.NumericFunction.CEIL
            | ir.NumericFunction.SIGN
        ):
            return f"pg_catalog.{rounded.function.value}({operand})"
        case _:
            assert_never(rounded.function)


def _case(case: ir.Case, binds: Binds, number: bool = False) -> str:
    def branch(part: ir.Expression) -> str:
        return numeric_sql(part, binds) if number else _branch(part, case.type, binds)

    if not case.whens:  # of a key that can have no value
        return branch(case.otherwise)
    whens = " ".join(f"WHEN {condition_sql(a, binds)} THEN {branch(b)}" for a, b in case.whens)
    return f"CASE {whens} ELSE {branch(case.otherwise)} END"


def _branch(part: ir.Expression, kind: SqlType, binds: Binds) -> str:
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


def _constant(constant: ir.Constant, binds: Binds) -> str:
    kind = constant.type or SqlType.TEXT
    name = kind.sql
    if constant.value is None:
        return f"NULL::{name}"
    if isinstance(constant.value, bool):
        return binds.add("true" if constant.value else "false", "boolean")
    if isinstance(constant.value, Fraction):
        return binds.number(constant.value, name if kind.is_number else "numeric")
    return binds.add(constant.value, name)


def _pair(left: ir.Expression, right: ir.Expression, binds: Binds) -> tuple[str, str]:
    """Two operands in a type in which they can be compared without ever raising."""
    kinds = (left.type, right.type)
    if not all(kind is not None and kind.is_number for kind in kinds):
        return value_sql(left, binds), value_sql(right, binds)
    match left, right:
        case ir.ColumnRef(), ir.Constant():
            column, (constant,) = _column_and_constants(left, (right,), binds)
            return column, constant
        case ir.Constant(), ir.ColumnRef():
            column, (constant,) = _column_and_constants(right, (left,), binds)
            return constant, column
        case ir.ColumnRef(), ir.ColumnRef() if same_family(left, right):
            return value_sql(left, binds), value_sql(right, binds)
        case _:
            of_left, of_right = real_beside(left, right), real_beside(right, left)
            return numeric_sql(of_left, binds), numeric_sql(of_right, binds)


def _column_and_constants(
    column: ir.ColumnRef, constants: tuple[ir.Constant, ...], binds: Binds
) -> tuple[str, list[str]]:
    """The column as it is, and the constants in a type that it meets; else all of them in numeric.

    PostgreSQL hashes a long list only if items and column have one type, so whole numbers are printed in the
    column's (kernel.work_prices.is_hashed_list)."""
    kind, is_long = constants_type(column, constants), len(constants) >= HASHED_LIST
    if is_long and kind == "bigint" and is_hashed_list(ir.In(column, constants)):
        kind = column.type.sql
    displayed = numeric_sql(column, binds) if kind is None else value_sql(column, binds)
    cast = kind or "numeric"
    return displayed, [
        f"NULL::{cast}" if c.value is None else _number(c.value, cast, binds) for c in constants
    ]


def _number(value: ir.ConstantValue, kind: str, binds: Binds) -> str:
    """A number that is not NULL: NaN and infinity are texts."""
    if isinstance(value, Fraction):
        return binds.number(value, kind)
    assert isinstance(value, str) and value in NOT_FINITE
    return binds.add(value, kind)


def _in(expression: ir.In, binds: Binds) -> str:
    operand = expression.operand
    constants = tuple(item for item in expression.items if isinstance(item, ir.Constant))
    only_constants = len(constants) == len(expression.items)
    if operand.type is None or not operand.type.is_number:
        displayed = value_sql(operand, binds)
        items = [value_sql(item, binds) for item in expression.items]
    elif isinstance(operand, ir.ColumnRef) and only_constants:
        displayed, items = _column_and_constants(operand, constants, binds)
    else:  # answers of other blocks are numerics
        displayed = numeric_sql(operand, binds)
        items = [numeric_sql(real_beside(item, operand), binds) for item in expression.items]
    return f"({displayed} IN ({', '.join(items)}))"


def _in_public(expression: ir.InPublic, binds: Binds) -> str:
    """Against the values as an array, which is at hand whatever rows come: a subquery would be evaluated when
    the first row asks for it. `x = ANY(array)` is `x IN (...)`, NULLs and the empty list included."""
    operand, output = _pair(expression.operand, expression.output, binds)
    kind = "numeric" if output.endswith("::numeric") else element_type(expression.output.type)
    larger = _LARGER.get(expression.output.type)
    if (
        larger is not None
        and kind != "numeric"
        and expression.operand.type is not expression.output.type
    ):
        operand, kind = f"({operand})::{larger}", larger  # a list is hashed in one type only
    table = f"{identifier(expression.table.schema)}.{identifier(expression.table.name)}"
    own = Binds()
    found = f"SELECT DISTINCT ({output})::{kind} AS v FROM {table} AS {expression.alias}"
    if expression.condition is not None:
        found += f" WHERE {condition_sql(expression.condition, own)}"
    most, octets = limits.PUBLIC_LIST_ELEMENTS, limits.PUBLIC_LIST_BYTES
    counted = "pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o"
    gathered = (
        f"SELECT {counted}, pg_catalog.array_agg(v) AS a FROM ({found} LIMIT {most + 1}) AS f"
    )
    text = f"CASE WHEN n <= {most} AND o <= {octets} THEN coalesce(a::text, '{{}}') END"
    sql = f"SELECT n, o::bigint, {text} FROM ({gathered}) AS g"
    return f"({operand} = ANY({binds.public_list(sql, own, kind)}))"


def element_type(kind: SqlType) -> str:
    """The type of an array of such columns, as column_sql shows them."""
    return "text" if kind in (SqlType.ENUM, SqlType.COLLATED) else kind.sql


def real_call_sql(call: ir.RealCall, operand: str, binds: Binds) -> str:
    """operand: in numeric."""
    match call.function:
        case ir.RealFunction.LN | ir.RealFunction.EXP | ir.RealFunction.SQRT:
            return f"pg_catalog.{call.function.value}({operand})"
        case ir.RealFunction.LOG:
            assert call.constant is not None
            return f"pg_catalog.log({binds.number(call.constant)}, {operand})"
        case ir.RealFunction.POWER:
            assert call.constant is not None
            return f"pg_catalog.power({operand}, {binds.number(call.constant)})"
        case ir.RealFunction.RAISED:
            assert call.constant is not None
            return f"pg_catalog.power({binds.number(call.constant)}, {operand})"
        case _:
            assert_never(call.function)


# float8 keeps 15 decimal digits; constants beyond these are compared in numeric instead.
_FLOAT_LARGEST = Fraction(10) ** 300
_FLOAT_SMALLEST = Fraction(1, 10**300)


def same_family(left: ir.ColumnRef, right: ir.ColumnRef) -> bool:
    """Both integers, both floats or of one type: PostgreSQL compares them as they are."""
    a, b = left.type, right.type
    assert a is not None and b is not None
    return a is b or (a.is_integer and b.is_integer) or (a.is_float and b.is_float)


def constants_type(column: ir.ColumnRef, constants: tuple[ir.Constant, ...]) -> str | None:
    """The type in which a column as it is meets these constants; None: both in numeric."""
    kind = column.type
    assert kind is not None
    values = [c.value for c in constants if c.value is not None]
    numbers = [value for value in values if isinstance(value, Fraction)]
    if kind is SqlType.NUMERIC:
        return "numeric"
    is_finite = len(numbers) == len(values)
    if (
        kind.is_integer
        and is_finite
        and all(n.denominator == 1 and abs(n) < 2**63 for n in numbers)
    ):
        return "bigint"
    if kind.is_float and all(n == 0 or _FLOAT_SMALLEST < abs(n) < _FLOAT_LARGEST for n in numbers):
        return "double precision"
    return None


def real_beside(part: ir.Expression, beside: ir.Expression) -> ir.Expression:
    """A real as a numeric has six digits, of a column and so of a constant beside it."""
    value = part.value if isinstance(part, ir.Constant) and part.type is SqlType.FLOAT4 else None
    if (
        not isinstance(part, ir.Constant)
        or not isinstance(value, Fraction)
        or not _has_reals(beside)
    ):
        return part
    return replace(part, value=real_as_numeric(value))


def _has_reals(expression: ir.Expression) -> bool:
    if isinstance(expression, ir.ColumnRef):
        return expression.type is SqlType.FLOAT4
    return any(map(_has_reals, children(expression)))


# date_trunc() and casts among dates and timestamps, by the clock of a zone.
#
# The statement runs in a session whose TimeZone is UTC: another zone is named where it counts.


_SECOND = 10**6
_DAY = 86_400 * _SECOND
_FIRST = -719_162 * _DAY  # 0001-01-01, in microseconds since 1970-01-01
_EARLIEST = _FIRST - MOST_DAYS * _DAY


def date_trunc_sql(date_trunc: DateTrunc, operand: str, binds: Binds) -> str:
    zone = _zone_sql(date_trunc.zone, binds)
    if date_trunc.operand.type is SqlType.DATE:
        operand = f"({operand})::timestamp AT TIME ZONE " + (zone or "'UTC'")
    by_zone = "" if zone is None or date_trunc.type is SqlType.TIMESTAMP else f", {zone}"
    return f"pg_catalog.date_trunc('{date_trunc.unit}', {operand}{by_zone})"


def cast_time_sql(cast: Cast, operand: str, binds: Binds) -> str:
    source, zone = cast.operand.type, _zone_sql(cast.zone, binds)
    if zone is None or SqlType.TIMESTAMPTZ not in (cast.type, source) or cast.type is source:
        return f"({operand})::{cast.type.sql}"
    if source is SqlType.DATE:
        operand = f"({operand})::timestamp"
    return f"(({operand}) AT TIME ZONE {zone})"


def shift_sql(shift: Shift, operand: str, binds: Binds) -> str:
    """Months, then days, then seconds, each with a sign of its own: what an interval of several parts means can
    depend on IntervalStyle. A date becomes a timestamp by the first of them."""
    if shift.type is SqlType.DATE:
        return f"({operand} + {binds.number(shift.days, 'integer')})"
    parts = [f"{shift.months} mons"] if shift.months else []
    parts += [f"{shift.days} days"] if shift.days else []
    if shift.microseconds or not parts:
        sign = "-" if shift.microseconds < 0 else ""
        whole, rest = divmod(abs(shift.microseconds), _SECOND)
        hours, seconds = divmod(whole, 3600)
        parts += [f"{sign}{hours} hours"] if hours else []
        parts += [f"{sign}{seconds}.{rest:06} seconds"] if seconds or rest or not parts else []
    for part in parts:
        operand = f"({operand} + {binds.add(part, 'interval')})"
    return operand


def time_bin_sql(time_bin: TimeBin, operand: str, binds: Binds) -> str:
    """By date_bin() from an origin before every time that is clamped and moved: of times before it the versions
    of PostgreSQL put those on an edge into different bins (timestamp.c, timestamp_bin; until 16.2)."""
    width = binds.add(f"{time_bin.width} microseconds", "interval")
    if time_bin.width % _SECOND == 0:
        width = binds.add(f"{time_bin.width // _SECOND} seconds", "interval")
    days, rest = divmod((_EARLIEST - time_bin.origin) % time_bin.width, _DAY)
    kind = time_bin.type.sql
    first = binds.add(iso_text(Fraction(_FIRST, _SECOND), time_bin.type), kind)
    before = Shift(Constant(None, time_bin.type), 0, -MOST_DAYS - days, -rest, time_bin.type)
    return f"pg_catalog.date_bin({width}, {operand}, {shift_sql(before, first, binds)})"


def _zone_sql(zone: Zone | None, binds: Binds) -> str | None:
    """None: UTC."""
    return None if zone is None or zone.is_utc else binds.add(zone.name, "text")
