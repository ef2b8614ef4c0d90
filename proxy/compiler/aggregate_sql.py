"""Aggregates over clamped grid indices: exact integers, whatever the order in which rows come.

Measured on ten million rows (tests/bench): a step in numeric costs a row 30 to 110 ns and one in integer 8,
and a group's numeric states take 700 bytes instead of 200, which no longer fit a processor's cache. So a
value becomes an integer first, once per row where an inner SELECT can hold it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from proxy.base.node_parts import nodes
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.clamp_sql import clamp_sql, larger_sql, smaller_sql, within_sql
from proxy.compiler.expression_sql import clamped_sql, condition_sql, numeric_sql, value_sql
from proxy.compiler.whole_numbers import Whole, whole
from proxy.kernel.plan import BlockPlan
from proxy.kernel.statistics import Counted, Measured
from proxy.query.ir.expressions import Clamped, ColumnRef, Expression
from proxy.query.ir.query_aggregates import AggregateKind

# Numeric takes 15 digits of a float, and a product of floats 53 bits: with more steps than that, rounding may
# lead out of the bounds by whole ones; with fewer, by less than half of one.
_FLOAT_EXACT = 2**46
# A heap table has less than 2^41 rows (2^32 pages, 291 rows at most in each): sums of such indices stay
# far below 2^63, and sum(integer) keeps its state in place, in a bigint.
_SMALL_INDEX = 2**22
_LARGEST = {SqlType.INT4: 2**31 - 1, SqlType.INT8: 2**63 - 1}


@dataclass(slots=True)
class RowSource:
    """What the aggregates of one statement take from each row.

    inner: an inner SELECT evaluates each expression once per row and names it; else aggregates stand
    over the relation itself. many: each of few groups has many rows, so that what a row costs matters and
    what a group's state costs does not.
    """

    binds: Binds
    inner: bool
    many: bool = False
    named: dict[str, str] = field(default_factory=dict)

    def take(self, sql: str) -> str:
        return self.named.setdefault(sql, f"x{len(self.named) + 1}") if self.inner else sql

    def column(self, column: ColumnRef) -> ColumnRef:
        """The column as the aggregates can name it."""
        if not self.inner:
            return column
        return replace(column, relation="", column=self.take(column_sql(column)))

    def over(self, source: str) -> str:
        """What aggregates stand over, once they have taken what they need.

        LIMIT ALL keeps the planner from merging the two, and from nothing else (OFFSET 0 would also forbid it
        to work in parallel). So each value is computed once per row. The order of an index is lost.
        """
        if not self.inner:
            return source
        listed = ", ".join(f"{sql} AS {name}" for sql, name in self.named.items())
        return f"(SELECT {listed} FROM {source} LIMIT ALL) r"


def has_computed(plan: BlockPlan) -> bool:
    """Whether it measures more than columns."""
    measured = (one for one in nodes(plan.releases) if isinstance(one, Measured))
    return any(plain_column(one.operand) is None for one in measured)


def filter_sql(condition: Expression | None, rows: RowSource) -> str:
    if condition is None:
        return ""
    return f" FILTER (WHERE {rows.take(condition_sql(condition, rows.binds))})"


def count_sql(counted: Counted, rows: RowSource) -> str:
    """Number of rows, or of those where the operand is not NULL."""
    only = filter_sql(counted.condition, rows)
    return _count(counted.operand, counted.never_null, only, rows)


def _count(operand: Expression | None, never_null: bool, only: str, rows: RowSource) -> str:
    if operand is None or never_null:
        counted = "*"
    elif isinstance(operand, ColumnRef):
        counted = column_sql(rows.column(operand))
    else:
        counted = rows.take(value_sql(operand, rows.binds))
    return f"pg_catalog.count({counted}){only}"


def values_sql(measured: Measured, rows: RowSource) -> str:
    """Number of values that total_sql adds up: its operand is NULL where the index is.

    Never count(*), whatever the catalogue says of NULL: centred_sql multiplies this number, and a row that is
    counted without being added up would move it by the middle of the bounds (PROOFS.md, "Assumptions")."""
    only = filter_sql(measured.condition, rows)
    if measured.index is not None:
        return _count(measured.index, False, only, rows)
    column = plain_column(measured.operand)
    # The clamp keeps NULL and makes none.
    if column is not None and not _is_taken_as_index(column, rows):
        return _count(column, False, only, rows)
    if _whole(measured, rows) is not None:
        # NULL where one of them is, as what is computed of them.
        indices = dict.fromkeys(index_sql(factor, rows) for factor in measured.factors)
        return f"pg_catalog.count({' + '.join(indices)}){only}"
    return f"pg_catalog.count({index_sql(measured, rows)}){only}"


def total_sql(measured: Measured, rows: RowSource) -> str:
    """Sum of the grid indices of the clamped values, a whole number; NULL where there are none."""
    only = filter_sql(measured.condition, rows)
    column = _summed_as_numeric(measured, rows)
    if column is not None:
        return _numeric_total(column, measured, only, rows.binds)
    return f"pg_catalog.sum({index_sql(measured, rows)}){only}"


def _summed_as_numeric(measured: Measured, rows: RowSource) -> ColumnRef | None:
    """A numeric column of whole grid steps is added up as it is: a sum in numeric costs a row 40 ns, and the
    steps to an integer index 100."""
    column = None if measured.index is not None else plain_column(measured.operand)
    is_numeric = column is not None and column.type is SqlType.NUMERIC
    return column if is_numeric and measured.on_grid and rows.many and not rows.inner else None


def _numeric_total(column: ColumnRef, measured: Measured, only: str, binds: Binds) -> str:
    """Exact: the clamp leaves neither NaN nor infinity. (The floor is of a whole number, but where a foreign
    server does not hold values to their type; there a row still moves it by whole steps within the clamp.)"""
    clamp, steps = measured.clamp, 1 / measured.grid
    clamped = clamped_sql(Clamped(column, clamp.low, clamp.high, column.type), binds)
    return f"pg_catalog.floor({_times(f'pg_catalog.sum({clamped}){only}', steps, binds)})"


def centred_total_sql(measured: Measured, rows: RowSource) -> str | None:
    """Sum of y = 2 i - (low + high) of a column that is summed as it is; None for others."""
    column = _summed_as_numeric(measured, rows)
    if column is None:
        return None
    total = _numeric_total(column, measured, filter_sql(measured.condition, rows), rows.binds)
    middle = rows.binds.number(measured.low + measured.high)
    return f"(2 * {total} - {middle} * {values_sql(measured, rows)})"


def extreme_sql(kind: AggregateKind, measured: Measured, rows: RowSource) -> str:
    """Grid index of MIN or MAX of the clamped values.

    For a plain column the extreme is taken in its own type, then clamped and rounded, once per group. It
    is the same number: clamp and rounding are monotone in PostgreSQL's order of the type, in which NaN
    is the largest (PostgreSQL 17 documentation, section 8.1.3) and becomes the upper bound, and NULL is in
    neither. Where an inner
    SELECT makes the index of each numeric anyhow, an extreme of integers is the cheaper one.
    """
    word = f"pg_catalog.{kind.value}"
    only = filter_sql(measured.condition, rows)
    clamp, grid = measured.clamp, measured.grid
    column = None if measured.index is not None else plain_column(measured.operand)
    if column is None or _is_taken_as_index(column, rows):
        return f"{word}({index_sql(measured, rows)}){only}"
    found = f"{word}({column_sql(rows.column(column))}){only}"
    found = clamp_sql(found, Clamped(column, clamp.low, clamp.high, column.type), rows.binds)
    if column.type.is_time:
        found = _instant(found, column.type, rows.binds)
    elif column.type.is_integer and grid == 1:
        return found
    steps, number = 1 / grid, f"({found})::numeric"
    if column.type is SqlType.NUMERIC and steps.denominator != 1:
        # Of 1 and 1.00 either may be found, and their quotients have other digits (relation_sql._ordered_sql).
        number = f"pg_catalog.trim_scale({number})"
    return _rounded(number, steps, rows.binds)


def _instant(value: str, kind: SqlType, binds: Binds) -> str:
    """A date as its day, a timestamp as its second, since 1970; the value is clamped, so it is finite."""
    if kind is SqlType.DATE:
        return f"({value}) - {binds.add('1970-01-01', 'date')}"
    return f"extract(epoch FROM {value})"


def index_sql(measured: Measured, rows: RowSource) -> str:
    """The grid index of one row's value, an exact integer; NULL for NULL.

    The clamp sits directly under the aggregate, on the whole expression (docs/design/sql.md 2.3).
    """
    operand, clamp, grid = measured.operand, measured.clamp, measured.grid
    binds, steps = rows.binds, 1 / grid
    if measured.index is not None:
        stored = column_sql(rows.column(measured.index))
        return _stored_index(stored, measured, binds)
    column = plain_column(operand)
    largest_index = max(abs(clamp.low), abs(clamp.high)) * steps
    if column is not None and column.type.is_float and largest_index >= _FLOAT_EXACT:
        column = None  # cut once more, in numeric
    kind = SqlType.INT4 if largest_index < _SMALL_INDEX else SqlType.INT8
    if column is not None:
        is_whole = column.type.is_integer and grid == 1
        if is_whole or (column.type.is_float and steps.denominator == 1):
            displayed = rows.column(column)
            clamped = clamped_sql(Clamped(displayed, clamp.low, clamp.high, column.type), binds)
            if is_whole:
                return f"({clamped})::{kind.sql}"
            # No underflow: a factor of at least 1 cannot make a float8 smaller (docs/design/sql.md 2.2).
            scale = binds.number(steps, "double precision")
            return f"(({clamped})::double precision * {scale})::{kind.sql}"
        if column.type is SqlType.NUMERIC:
            return rows.take(_numeric_index(column_sql(column), measured, kind, binds))
        clamped = clamped_sql(Clamped(column, clamp.low, clamp.high, column.type), binds)
        if column.type.is_time:
            clamped = _instant(clamped, column.type, binds)
        return rows.take(_rounded(f"({clamped})::numeric", steps, binds))
    computed = _whole(measured, rows)
    if computed is not None:
        low, high = (binds.number(end, "bigint") for end in (measured.low, measured.high))
        return within_sql(computed.printed(), low, high, SqlType.INT8)
    value = numeric_sql(operand, binds)
    low, high = binds.number(clamp.low), binds.number(clamp.high)
    clamped = within_sql(value, low, high, SqlType.NUMERIC)
    return rows.take(_rounded(clamped, steps, binds))


def _whole(measured: Measured, rows: RowSource) -> Whole | None:
    """What is computed of factors, in steps of the grid; None where it is computed in numeric, as where the
    indices of all factors do not add up to a bigint (`values_sql`)."""
    ends = sum(max(abs(factor.low), abs(factor.high)) for factor in measured.factors)
    if ends >= _LARGEST[SqlType.INT8]:
        return None
    factors = {
        factor.operand: Whole(
            step=factor.grid,
            low=factor.low,
            high=factor.high,
            printed=partial(_bigint_index, factor, rows),
        )
        for factor in measured.factors
    }
    found = whole(measured.operand, factors, rows.binds) if factors else None
    return None if found is None else found.finer(measured.grid, rows.binds)


def _bigint_index(factor: Measured, rows: RowSource) -> str:
    return f"({index_sql(factor, rows)})::bigint"


def _stored_index(stored: str, measured: Measured, binds: Binds) -> str:
    """The nearest step to a stored index of a finer grid, of which m are a step.

    What is stored is clamped to m low .. m high, whatever it is. So the distance to m low is at most
    m (high - low), and so many whole steps are in it and a half: 0 .. high - low.
    """

    def number(value: int) -> str:
        return binds.number(value, SqlType.INT4.sql)

    steps, begin = measured.index_steps, measured.low * measured.index_steps
    found = within_sql(stored, number(begin), number(measured.high * steps), SqlType.INT4)
    if steps == 1:
        return found
    distance = f"({found} - {number(begin)} + {number(steps // 2)})"
    return f"({distance} / {number(steps)} + {number(measured.low)})"


def plain_column(operand: Expression) -> ColumnRef | None:
    """The column, where the operand is one, clamped."""
    if isinstance(operand, Clamped) and isinstance(operand.operand, ColumnRef):
        return operand.operand
    return None


def _is_taken_as_index(column: ColumnRef, rows: RowSource) -> bool:
    return rows.inner and column.type is SqlType.NUMERIC


def _numeric_index(value: str, measured: Measured, whole: SqlType, binds: Binds) -> str:
    """Clamped first, so that the cast cannot overflow nor meet NaN; it rounds (PostgreSQL 17 documentation,
    section 8.1.2).

    Where the type's least value has an index, the one comparison in numeric is that with the upper bound, which
    takes NaN with it; the lower one is an integer's.
    """
    top, bottom = measured.clamp.high / measured.grid, measured.clamp.low / measured.grid
    steps = _times(value, 1 / measured.grid, binds)
    if measured.least is not None and -measured.least / measured.grid < _LARGEST[whole]:
        below = smaller_sql(steps, binds.number(top), SqlType.NUMERIC)
        return larger_sql(f"({below})::{whole.sql}", binds.number(bottom, whole.sql), whole)
    clamp = measured.clamp
    low, high = binds.number(clamp.low), binds.number(clamp.high)
    clamped = within_sql(value, low, high, SqlType.NUMERIC)
    return f"({_times(clamped, 1 / measured.grid, binds)})::{whole.sql}"


def _times(value: str, steps: Fraction, binds: Binds) -> str:
    if steps.numerator != 1:
        value = f"{value} * {binds.number(steps.numerator)}"
    if steps.denominator != 1:
        value = f"{value} / {binds.number(steps.denominator)}"
    return value


def _rounded(value: str, steps: Fraction, binds: Binds) -> str:
    """round(value * steps) as bigint; exact for a whole number of steps."""
    return f"pg_catalog.round({_times(value, steps, binds)})::bigint"
