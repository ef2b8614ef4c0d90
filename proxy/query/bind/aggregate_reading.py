"""Aggregate calls, by allow-list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp
from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.limits import FRACTION_DIGITS
from proxy.base.result_columns import aggregate_column
from proxy.base.sql_types import SqlType
from proxy.query.bind.expression_reading import (
    READERS,
    read_condition,
    read_expression,
    read_measured,
)
from proxy.query.bind.nodes.operands import read_constant
from proxy.query.bind.scope import Readers, Scope, function_name, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.ir.bound_statement import SureTruth
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import Case, Connective, Constant, Expression, Not
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.time_differences import as_seconds_of_day, is_time_of_day
from proxy.query.syntax.placeholders import ClientParameter

_AGGREGATES: Mapping[type[exp.Expr], AggregateKind] = {
    exp.Count: AggregateKind.COUNT,
    exp.Sum: AggregateKind.SUM,
    exp.Avg: AggregateKind.AVG,
    exp.Min: AggregateKind.MIN,
    exp.Max: AggregateKind.MAX,
    exp.Variance: AggregateKind.VAR_SAMP,
    exp.VariancePop: AggregateKind.VAR_POP,
    exp.Stddev: AggregateKind.STDDEV_SAMP,
    exp.StddevSamp: AggregateKind.STDDEV_SAMP,
    exp.StddevPop: AggregateKind.STDDEV_POP,
}


_OTHER_FORMS = (exp.Distinct, exp.Order, exp.Tuple)
_QUANTILES: Mapping[type[exp.Expr], AggregateKind] = {
    exp.PercentileCont: AggregateKind.QUANTILE_CONT,
    exp.PercentileDisc: AggregateKind.QUANTILE_DISC,
}


# Of two arguments; all give double precision (PostgreSQL 17 documentation, section 9.21).
_PAIRS: Mapping[type[exp.Expr], AggregateKind] = {
    exp.Corr: AggregateKind.CORR,
    exp.CovarPop: AggregateKind.COVAR_POP,
    exp.CovarSamp: AggregateKind.COVAR_SAMP,
    exp.RegrSlope: AggregateKind.REGR_SLOPE,
    exp.RegrIntercept: AggregateKind.REGR_INTERCEPT,
    exp.RegrR2: AggregateKind.REGR_R2,
}


def is_aggregate(node: exp.Expr) -> bool:
    while isinstance(node, exp.Filter | exp.WithinGroup):
        node = node.this
    return type(node) in {*_AGGREGATES, *_QUANTILES, *_PAIRS}


def read_aggregate(node: exp.Expr, scope: Scope) -> Aggregate:
    """An aggregate call with its FILTER.

    Refuses  UNSUPPORTED: other forms (DISTINCT but for count, ORDER BY inside, several arguments)
    """
    found = read_aggregates(node, scope)
    if not isinstance(found, Aggregate):
        raise Refusal(
            Code.UNSUPPORTED,
            "an array of percentiles cannot stand here",
            "Take the percentiles one by one: percentile_cont(0.5) WITHIN GROUP (ORDER BY column).",
            position_of(node),
        )
    return found


def read_aggregates(node: exp.Expr, scope: Scope) -> Aggregate | tuple[Aggregate, ...]:
    """As read_aggregate; and several, whose answers are the elements of an array, where percentiles are asked
    for by an array of fractions."""
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        condition = read_condition(node.expression.this, scope)
        node = node.this
    if isinstance(node, exp.WithinGroup):
        return _quantiles(node, scope, condition)
    return _plain(node, scope, condition)


def _plain(node: exp.Expr, scope: Scope, condition: Expression | None) -> Aggregate:
    if type(node) in _PAIRS:
        return _pair(node, scope, condition)
    kind = _AGGREGATES.get(type(node))
    extra = {k for k, v in node.args.items() if v and k not in ("this", "big_int")}
    operand = node.this
    distinct = isinstance(operand, exp.Distinct) and not operand.args.get("on")
    if kind is AggregateKind.COUNT and distinct and len(operand.expressions) == 1:
        kind, operand = AggregateKind.COUNT_DISTINCT, operand.expressions[0]
    if kind is None or extra or isinstance(operand, _OTHER_FORMS):
        raise _other_form(node, "one expression")
    if isinstance(operand, exp.Star):
        return Aggregate(AggregateKind.COUNT_ROWS, None, condition, SqlType.INT8)
    read = read_expression if kind is AggregateKind.COUNT_DISTINCT else read_measured
    return _aggregate_of(kind, read(operand, scope), condition, position_of(node))


def _other_form(node: exp.Expr, of: str) -> Refusal:
    hint = f"Use the plain aggregate of {of}, with FILTER (WHERE ...) if need be."
    if isinstance(node, exp.Count) and node.find(exp.Distinct) is not None:
        hint = "Write count(DISTINCT concat(a, '-', b)) for pairs of values."
    return Refusal(
        Code.UNSUPPORTED,
        f"this form of {function_name(node)} is not available on a protected table",
        hint,
        position_of(node),
    )


def _pair(node: exp.Expr, scope: Scope, condition: Expression | None) -> Aggregate:
    parts = [part for part in (node.this, node.args.get("expression")) if part is not None]
    extra = {k for k, v in node.args.items() if v and k not in ("this", "expression")}
    if extra or len(parts) < 2 or any(isinstance(part, _OTHER_FORMS) for part in parts):
        raise _other_form(node, "two expressions")
    first, second = (
        _aggregate_of(_PAIRS[type(node)], read_measured(part, scope), condition, position_of(node))
        for part in parts
    )
    if not all(columns(part.operand) for part in (first, second) if part.operand is not None):
        raise Refusal(
            Code.UNSUPPORTED,
            f"{function_name(node)} with a constant is 0 or NULL, whatever the rows are",
            "Give it two expressions of columns.",
            position_of(node),
        )
    return replace(first, second=second.operand)


def _quantiles(
    node: exp.Expr, scope: Scope, condition: Expression | None
) -> Aggregate | tuple[Aggregate, ...]:
    kind = _QUANTILES.get(type(node.this))
    ordered = node.expression.expressions
    if kind is None or len(ordered) != 1 or not isinstance(ordered[0], exp.Ordered):
        raise unknown(node)
    fractions = read_fractions(node.this, scope, is_descending=bool(ordered[0].args.get("desc")))
    operand = read_measured(ordered[0].this, scope)
    found = _aggregate_of(kind, operand, condition, position_of(node))
    if isinstance(fractions, Percentile):
        return _at(found, fractions)
    return tuple(_at(found, fraction) for fraction in fractions)


def _at(aggregate: Aggregate, of: Percentile) -> Aggregate:
    return replace(
        aggregate, fraction=of.fraction, fraction_given=of.given, is_descending=of.is_descending
    )


_ORDERED = (
    AggregateKind.MIN,
    AggregateKind.MAX,
    AggregateKind.QUANTILE_CONT,
    AggregateKind.QUANTILE_DISC,
)


def _aggregate_of(
    kind: AggregateKind, operand: Expression, condition: Expression | None, position: int | None
) -> Aggregate:
    if kind is AggregateKind.COUNT_DISTINCT and is_time_of_day(operand):
        operand = as_seconds_of_day(operand)  # as many as there are times
    if kind in (AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT):
        if isinstance(operand, ir.Constant) and operand.value is not None:
            if kind is AggregateKind.COUNT:
                return Aggregate(AggregateKind.COUNT_ROWS, None, condition, SqlType.INT8)
            raise Refusal(
                Code.UNSUPPORTED,
                "count(distinct) of a constant is 0 or 1",
                "Use count(*).",
                position,
            )
        of = operand.type
        is_whole = of is not None and (of is SqlType.OTHER or of.is_compound)
        if kind is AggregateKind.COUNT_DISTINCT and is_whole:
            raise Refusal(  # it may have no equality or no hash, which raises once there is a row
                Code.UNSUPPORTED,
                "count(distinct) of this type is not available on a protected table",
                "Use count(column).",
                position,
            )
        return Aggregate(kind, operand, condition, _result_type(kind, SqlType.INT8))
    of = operand.type
    times = kind in _ORDERED and kind is not AggregateKind.QUANTILE_CONT
    if of is None or not (of.is_number or (times and of.is_time)):
        hint = "It takes a number" + (", a date or a timestamp." if times else ".")
        if of is not None and of.is_text and times:
            hint = "Write count(*), with GROUP BY column, which has a row for each value."
        elif of in (SqlType.INTERVAL, SqlType.DURATION):
            hint = f"Write {kind.value}(extract(epoch FROM later - earlier) / 86400), a number of days."
        raise Refusal(
            Code.UNSUPPORTED,
            f"{kind.value} of {of.sql if of else 'this'} is not available on a protected table",
            _seconds_instead(kind) if is_time_of_day(operand) else hint,
            position,
        )
    return Aggregate(kind, operand, condition, _result_type(kind, of))


def _seconds_instead(kind: AggregateKind) -> str:
    plain = (AggregateKind.MIN, AggregateKind.MAX, AggregateKind.AVG, AggregateKind.SUM)
    form = "extract(epoch FROM column)"
    return f"Write {f'{kind.value}({form})' if kind in plain else form}, of the seconds since midnight."


def _result_type(kind: AggregateKind, of: SqlType) -> SqlType:
    match kind:
        case AggregateKind.SUM:
            return typing_rules.sum_type(of)
        case AggregateKind.MIN | AggregateKind.MAX | AggregateKind.QUANTILE_DISC:
            return of
        case AggregateKind.QUANTILE_CONT:
            # percentile_cont(double precision), PostgreSQL 17 documentation, section 9.21
            return SqlType.FLOAT8
        case (
            AggregateKind.AVG
            | AggregateKind.VAR_POP
            | AggregateKind.VAR_SAMP
            | AggregateKind.STDDEV_POP
            | AggregateKind.STDDEV_SAMP
        ):
            return typing_rules.avg_type(of)
        case (
            AggregateKind.COVAR_POP
            | AggregateKind.COVAR_SAMP
            | AggregateKind.CORR
            | AggregateKind.REGR_SLOPE
            | AggregateKind.REGR_INTERCEPT
            | AggregateKind.REGR_R2
        ):
            return SqlType.FLOAT8
        case AggregateKind.COUNT_ROWS | AggregateKind.COUNT | AggregateKind.COUNT_DISTINCT:
            return SqlType.INT8
        case _:
            assert_never(kind)


@dataclass(frozen=True, slots=True)
class Inner:
    """Where aggregates may stand inside an expression (GROUP BY the unit): they become columns a1, a2, ..."""

    alias: str
    aggregates: list[Aggregate]


def readers_within(inner: Inner) -> Readers:
    """What may stand in an expression in which aggregates are columns of the relation `inner`."""

    def read_inner(node: exp.Expr, scope: Scope) -> Expression:
        within = replace(scope, readers=READERS)
        truth = is_truth(node)
        aggregate = truth_of_unit(node, within) if truth else read_aggregates(node, within)
        if not isinstance(aggregate, Aggregate):
            raise Refusal(
                Code.UNSUPPORTED,
                "percentiles per unit are not available",
                "Use count, sum, avg, min or max.",
                position_of(node),
            )
        if aggregate not in inner.aggregates:
            inner.aggregates.append(aggregate)
        name = aggregate_column(inner.aggregates.index(aggregate) + 1)
        column = ir.ColumnRef(name, aggregate.type, position_of(node), inner.alias)
        if not truth:
            return column
        return ir.Comparison(ir.Comparator.EQ, column, ir.Constant(Fraction(1), SqlType.INT4))

    def read_named(node: exp.Expr, scope: Scope) -> Expression:
        return (read_inner if is_truth(node) else READERS[exp.Anonymous])(node, scope)

    kinds = (*_AGGREGATES, *_PAIRS, *TRUTH_NODES, exp.Filter, exp.WithinGroup)
    return {**READERS, **dict.fromkeys(kinds, read_inner), exp.Anonymous: read_named}


# The fractions of percentile_cont and percentile_disc: one, or an array of them.


_EXACT = frozenset({exp.DType.DOUBLE, exp.DType.DECIMAL})  # others round what is between 0 and 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentile:
    """One fraction, as the fields of an aggregate have it."""

    fraction: Fraction | None = None
    given: ClientParameter | None = None
    is_descending: bool = False


def read_fractions(
    call: exp.Expr, scope: Scope, *, is_descending: bool
) -> Percentile | tuple[Percentile, ...]:
    """
    Given    percentile_cont(...) or percentile_disc(...), without WITHIN GROUP
    Gives    the fraction; of an array all of its elements, in their order
    Refuses  UNSUPPORTED: what is no constant number from 0 to 1, nor an array of some; TOO_COMPLEX
    """
    elements = _elements(call.this)
    if elements is None:
        return _fraction(call.this, call, scope, is_descending=is_descending)
    if not elements:
        raise _refused(call)
    if len(elements) > limits.RELEASES_PER_STATEMENT:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"more than {limits.RELEASES_PER_STATEMENT} percentiles in one array",
            "Ask for fewer: each is an answer with noise of its own.",
            position_of(call),
        )
    return tuple(_fraction(part, call, scope, is_descending=is_descending) for part in elements)


def _elements(node: exp.Expr) -> Sequence[exp.Expr] | None:
    """Of ARRAY[0.25, 0.5] and '{0.25,0.5}'::float8[]; None: it is no array."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Array):
        return list(node.expressions)
    if not isinstance(node, exp.Cast) or node.args["to"].this != exp.DType.ARRAY:
        return None
    of = node.args["to"].expressions
    if len(of) != 1 or of[0].this not in _EXACT or of[0].expressions:
        return None
    inner = _elements(node.this)
    return inner if inner is not None else _written(node.this)


def _written(node: exp.Expr) -> Sequence[exp.Expr]:
    """The numbers in the text of an array; none where anything else is in it."""
    text = str(node.this) if isinstance(node, exp.Literal) and node.is_string else ""
    if text[:1] != "{" or text[-1:] != "}":
        return []
    return [exp.Literal.number(part.strip(" ")) for part in text[1:-1].split(",")]


def _fraction(node: exp.Expr, call: exp.Expr, scope: Scope, *, is_descending: bool) -> Percentile:
    try:
        given = typing_rules.settle(read_constant(node, scope), SqlType.FLOAT8)
    except Refusal:
        raise _refused(call) from None
    source = given.source if isinstance(given, ir.Parameter) and given.type.is_number else None
    if isinstance(source, ClientParameter):
        return Percentile(given=source, is_descending=is_descending)
    value = given.value if isinstance(given, ir.Constant) else None
    if not isinstance(value, Fraction) or not 0 <= value <= 1:
        raise _refused(call)
    if value.denominator > 10**FRACTION_DIGITS:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"the fraction of a percentile has more than {FRACTION_DIGITS} digits",
            "Round it, e.g. 0.95.",
            position_of(call),
        )
    return Percentile(fraction=1 - value if is_descending else value)


def _refused(call: exp.Expr) -> Refusal:
    name = function_name(call)
    return Refusal(
        Code.UNSUPPORTED,
        f"{name} on a protected table takes one constant fraction from 0 to 1, or an array of them",
        f"Write {name}(0.5) WITHIN GROUP (ORDER BY column), with ARRAY[0.25, 0.5] for several.",
        position_of(call),
    )


# bool_or, bool_and and every: whether some row is so, or all rows are.
#
# One row decides them, so no noise could be added to the answer itself. Over protected rows each is a
# comparison of two answers with their own errors, how many rows are so and how many are not, which is post-
# processing of two counts (ADR 0055). bool_or is true where there surely are rows that are so, and false
# where there surely are others and of these none is to be seen. Over the rows of one privacy unit, in a
# subquery that groups by it, they are exact: the largest or smallest of 0 and 1.


_IS_OR: Mapping[type[exp.Expr], bool] = {exp.LogicalOr: True, exp.LogicalAnd: False}
TRUTH_NODES = tuple(_IS_OR)  # and every(), which the parser does not know
_EVERY = "every"


def is_truth(node: exp.Expr) -> bool:
    """Whether it is a call of one of them, perhaps with FILTER."""
    if isinstance(node, exp.Filter):
        node = node.this
    return type(node) in _IS_OR or (type(node) is exp.Anonymous and node.name.lower() == _EVERY)


def read_truth(node: exp.Expr, scope: Scope) -> SureTruth:
    """
    Refuses  UNSUPPORTED: other forms (DISTINCT, ORDER BY inside, several arguments)
    """
    is_or, truth, condition = _parts(node, scope)

    def rows(part: Expression) -> Aggregate:
        both = part if condition is None else Connective("AND", (condition, part))
        return Aggregate(AggregateKind.COUNT_ROWS, None, both, SqlType.INT8)

    return SureTruth(is_or, rows(truth), rows(Not(truth)))


def truth_of_unit(node: exp.Expr, scope: Scope) -> Aggregate:
    """The same of the rows of a unit, as 1 and 0: bool_or is their maximum, bool_and their minimum.

    Refuses  as read_truth
    """
    is_or, truth, condition = _parts(node, scope)
    kind = AggregateKind.MAX if is_or else AggregateKind.MIN
    nothing = Constant(None, SqlType.INT4)
    number = Case(((truth, _number(1)), (Not(truth), _number(0))), nothing, SqlType.INT4)
    return Aggregate(kind, number, condition, SqlType.INT4)


def _number(value: int) -> Constant:
    return Constant(Fraction(value), SqlType.INT4)


def _parts(node: exp.Expr, scope: Scope) -> tuple[bool, Expression, Expression | None]:
    """Whether it is bool_or; of what; its FILTER."""
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        condition = read_condition(node.expression.this, scope)
        node = node.this
    if isinstance(node, exp.Anonymous):
        operand = node.expressions[0] if len(node.expressions) == 1 else None
    else:
        only(node, "this")
        operand = node.this
    if operand is None or isinstance(operand, exp.Distinct | exp.Order | exp.Tuple | exp.Star):
        raise Refusal(
            Code.UNSUPPORTED,
            "this form of bool_or(), bool_and() or every() is not available on a protected table",
            "Use it of one condition, with FILTER (WHERE ...) if need be: bool_or(column > 5).",
            position_of(node),
        )
    return _IS_OR.get(type(node), False), read_condition(operand, scope), condition
