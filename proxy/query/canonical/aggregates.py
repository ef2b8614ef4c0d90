"""Aggregate calls, by name and argument types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.query.bind.expression_reading import exact, exact_but_last, shallow
from proxy.query.canonical import trees
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.comparisons import compared
from proxy.query.canonical.expression_nodes import condition, read
from proxy.query.canonical.values import TypedValue
from proxy.query.canonical.visible_names import VisibleNames
from proxy.query.ir import expressions as ir
from proxy.query.ir.bound_statement import SureTruth
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.times_of_day import is_time_of_day
from proxy.query.ir.typing_rules import avg_type, number, sum_type
from proxy.query.syntax.placeholders import ClientParameter

_KINDS: Mapping[str, AggregateKind] = {
    "count": AggregateKind.COUNT,
    "sum": AggregateKind.SUM,
    "avg": AggregateKind.AVG,
    "min": AggregateKind.MIN,
    "max": AggregateKind.MAX,
    "variance": AggregateKind.VAR_SAMP,
    "var_samp": AggregateKind.VAR_SAMP,
    "var_pop": AggregateKind.VAR_POP,
    "stddev": AggregateKind.STDDEV_SAMP,
    "stddev_samp": AggregateKind.STDDEV_SAMP,
    "stddev_pop": AggregateKind.STDDEV_POP,
}
_PAIRS: Mapping[str, AggregateKind] = {
    kind.value: kind
    for kind in (
        *(AggregateKind.CORR, AggregateKind.COVAR_POP, AggregateKind.COVAR_SAMP),
        *(AggregateKind.REGR_SLOPE, AggregateKind.REGR_INTERCEPT, AggregateKind.REGR_R2),
    )
}
_QUANTILES: Mapping[str, AggregateKind] = {
    "percentile_cont": AggregateKind.QUANTILE_CONT,
    "percentile_disc": AggregateKind.QUANTILE_DISC,
}
_IS_OR = {"bool_or": True, "bool_and": False, "every": False}
_ORDERED = (AggregateKind.MIN, AggregateKind.MAX, AggregateKind.QUANTILE_DISC)
_ROWS = (SqlType.INT8,)

FoundAggregate = Aggregate | tuple[Aggregate, ...] | SureTruth


@dataclass(frozen=True, slots=True)
class _PartOfAggregate:
    """The fraction of a percentile, or what holds it."""

    fraction: Fraction | None = None
    given: ClientParameter | None = None


def read_aggregate(call: trees.Call, scope: VisibleNames) -> FoundAggregate:
    """
    Returns:
        One aggregate; several, whose answers are the elements of an array; or a comparison of two counts.

    Raises:
        Refusal: UNSUPPORTED: other aggregates, types and forms.
    """
    if call.order:
        raise unread(f"ORDER BY in {call.name}")
    scope = replace(scope, aggregate=None, window=None)
    where = None if call.filter is None else condition(call.filter, scope)
    if call.name in _QUANTILES:
        return _quantiles(call, scope, where)
    if call.within:
        raise unread(f"WITHIN GROUP of {call.name}")
    if call.name in _IS_OR:
        return _truth(call, scope, where)
    if call.name in _PAIRS:
        return _pair(call, scope, where)
    kind = _KINDS.get(call.name)
    if kind is None:
        raise unread(f"the aggregate {call.name}")
    if call.is_star:
        return Aggregate(AggregateKind.COUNT_ROWS, None, where, SqlType.INT8)
    if call.is_distinct and kind is not AggregateKind.COUNT:
        raise unread(f"{call.name}(DISTINCT ...)")
    if len(call.arguments) != 1:
        raise unread(f"{call.name} of several arguments")
    kind = AggregateKind.COUNT_DISTINCT if call.is_distinct else kind
    return aggregate_of(kind, read(call.arguments[0], scope), where)


def aggregate_of(kind: AggregateKind, value: TypedValue, where: ir.Expression | None) -> Aggregate:
    if kind in (AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT):
        return _count(kind, value, where)
    of = value.type
    if not (of.is_number or (kind in _ORDERED and of.is_time)):
        raise unread(f"{kind.value}({of.sql or 'this type'})")
    # PostgreSQL casts to double precision by itself for these; else a cast is the client's own.
    is_implied = kind is AggregateKind.QUANTILE_CONT or kind.value in _PAIRS
    operand = value.expression if is_implied else value.exact()
    exact_but_last(shallow(operand))
    return Aggregate(kind, operand, where, _result(kind, of))


def _count(kind: AggregateKind, value: TypedValue, where: ir.Expression | None) -> Aggregate:
    operand = shallow(value.exact())
    if kind is AggregateKind.COUNT_DISTINCT:
        exact(operand)
    else:
        exact_but_last(operand)
    if kind is AggregateKind.COUNT_DISTINCT and is_time_of_day(operand):
        operand = compared(value)
    if isinstance(operand, ir.Constant) and operand.value is not None:
        if kind is AggregateKind.COUNT:
            return Aggregate(AggregateKind.COUNT_ROWS, None, where, SqlType.INT8)
        raise unread("count(distinct) of a constant")
    of = operand.type
    is_whole = of is not None and (of is SqlType.OTHER or of.is_compound)
    if kind is AggregateKind.COUNT_DISTINCT and is_whole:
        raise unread("count(distinct) of this type")  # which may raise once there is a row
    return Aggregate(kind, operand, where, SqlType.INT8)


def _result(kind: AggregateKind, of: SqlType) -> SqlType:
    match kind:
        case AggregateKind.SUM:
            return sum_type(of)
        case AggregateKind.MIN | AggregateKind.MAX | AggregateKind.QUANTILE_DISC:
            return of
        case (
            AggregateKind.AVG
            | AggregateKind.VAR_POP
            | AggregateKind.VAR_SAMP
            | AggregateKind.STDDEV_POP
            | AggregateKind.STDDEV_SAMP
        ):
            return avg_type(of)
        case (
            AggregateKind.QUANTILE_CONT
            | AggregateKind.COVAR_POP
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


def _pair(call: trees.Call, scope: VisibleNames, where: ir.Expression | None) -> Aggregate:
    if len(call.arguments) != 2 or call.is_distinct:
        raise unread(f"this form of {call.name}")
    first, second = (
        aggregate_of(_PAIRS[call.name], read(one, scope), where) for one in call.arguments
    )
    if not all(columns(one.operand) for one in (first, second) if one.operand is not None):
        raise unread(f"{call.name} with a constant, which is 0 or NULL,")
    return replace(first, second=second.operand)


def _quantiles(
    call: trees.Call, scope: VisibleNames, where: ir.Expression | None
) -> Aggregate | tuple[Aggregate, ...]:
    if len(call.arguments) != 1 or len(call.within) != 1 or call.is_distinct:
        raise unread(f"this form of {call.name}")
    order = call.within[0]
    found = aggregate_of(_QUANTILES[call.name], read(order.operand, scope), where)
    fractions = _array(call.arguments[0])
    if fractions is None:
        return _at(found, _fraction(call.arguments[0], scope), order.is_descending)
    if not 0 < len(fractions) <= limits.RELEASES_PER_STATEMENT:
        raise unread("an array of so many percentiles")
    return tuple(_at(found, _fraction(one, scope), order.is_descending) for one in fractions)


def _array(tree: trees.Tree) -> tuple[trees.Tree, ...] | None:
    """The elements of an array of numbers; None: it is none."""
    if isinstance(tree, trees.ArrayOf):
        return tree.elements
    if not isinstance(tree, trees.CastTo) or not tree.type.name.endswith("[]"):
        return None
    inner = tree.operand
    if isinstance(inner, trees.Literal) and isinstance(inner.value, str):
        return tuple(trees.Literal(part.strip()) for part in inner.value.strip("{}").split(","))
    return _array(inner)


def _fraction(tree: trees.Tree, scope: VisibleNames) -> _PartOfAggregate:
    if isinstance(tree, trees.Literal) and isinstance(tree.value, str):
        part: ir.Constant | ir.Parameter = ir.Constant(number(tree.value), SqlType.FLOAT8)
    else:
        part = read(tree, scope).constant()
    source = part.source if isinstance(part, ir.Parameter) else None
    if isinstance(source, ClientParameter):
        return _PartOfAggregate(given=source)
    value = part.value if isinstance(part, ir.Constant) else None
    if not isinstance(value, Fraction) or not 0 <= value <= 1:
        raise unread("a percentile of what is no constant fraction from 0 to 1")
    if value.denominator > 10**limits.FRACTION_DIGITS:
        raise unread("a percentile with so many digits")
    return _PartOfAggregate(fraction=value)


def _at(aggregate: Aggregate, part: _PartOfAggregate, is_descending: bool) -> Aggregate:
    if part.given is not None:
        return replace(aggregate, fraction_given=part.given, is_descending=is_descending)
    fraction = part.fraction
    if fraction is not None and is_descending:
        fraction = 1 - fraction
    return replace(aggregate, fraction=fraction)


def _truth(call: trees.Call, scope: VisibleNames, where: ir.Expression | None) -> SureTruth:
    truth = _truth_operand(call, scope)

    def rows(part: ir.Expression) -> Aggregate:
        both = part if where is None else ir.Connective("AND", (where, part))
        return Aggregate(AggregateKind.COUNT_ROWS, None, both, SqlType.INT8)

    return SureTruth(_IS_OR[call.name], rows(truth), rows(ir.Not(truth)))


def _truth_operand(call: trees.Call, scope: VisibleNames) -> ir.Expression:
    if len(call.arguments) != 1 or call.is_distinct or call.is_star:
        raise unread(f"this form of {call.name}")
    return condition(call.arguments[0], scope)


def is_truth(call: trees.Call) -> bool:
    return call.name in _IS_OR


def truth_of_unit(call: trees.Call, scope: VisibleNames) -> Aggregate:
    """bool_or of the rows of a unit is the maximum of 1 and 0, bool_and their minimum."""
    where = None if call.filter is None else condition(call.filter, scope)
    truth = _truth_operand(call, scope)
    kind = AggregateKind.MAX if _IS_OR[call.name] else AggregateKind.MIN
    one, zero = (ir.Constant(Fraction(value), SqlType.INT4) for value in (1, 0))
    number_of = ir.Case(
        ((truth, one), (ir.Not(truth), zero)), ir.Constant(None, SqlType.INT4), SqlType.INT4
    )
    return Aggregate(kind, number_of, where, SqlType.INT4)
