"""Values into a query: the client's parameters, and what the shadow has evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.ir.expression_walk import children, size
from proxy.query.ir.expressions import (
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
    In,
    InPublic,
    Like,
    Parameter,
)
from proxy.query.ir.given_fields import COMPLETED, completed
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.rebuilding import each_changed, rebuild, with_parts
from proxy.query.ir.time_differences import as_seconds, as_seconds_of_day
from proxy.query.ir.typing_rules import constant, is_not_finite, settle
from proxy.query.syntax.placeholders import CastParameter, ClientArray, ClientParameter, WrittenText

# By number: a constant; of an array each of its elements.
Values = Mapping[int, Constant | tuple[Constant, ...]]


def bind(block: AggregateBlock, values: Values) -> AggregateBlock:
    """The block with the client's parameters, and what the shadow has evaluated, replaced by constants; a text
    that the question casts ($1::date) is read as that type.

    Refuses  SYNTAX: text that is no value of the type; TOO_COMPLEX: arrays beyond base.limits
    """

    limit = _ArrayLimit()

    def again(part: Expression) -> Expression:
        found = _replaced(part, values, limit)
        _refuse_not_finite(found, is_compared=False)
        return found

    bound = changed(block, again)
    aggregates = each_changed(bound.aggregates, lambda one: _with_fraction(one, values))
    return with_parts(bound, aggregates=aggregates)


def _with_fraction(aggregate: Aggregate, values: Values) -> Aggregate:
    """
    Raises:
        Refusal: UNSUPPORTED: a percentile of what is no number from 0 to 1.
    """
    given = aggregate.fraction_given
    value = None if given is None else values.get(given.number)
    if not isinstance(value, Constant):
        return aggregate
    fraction = value.value
    if not isinstance(fraction, Fraction) or not 0 <= fraction <= 1:
        raise Refusal(
            Code.UNSUPPORTED,
            "a percentile on a protected table takes a fraction from 0 to 1",
            "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column).",
            aggregate.position,
        )
    scale = 10**limits.FRACTION_DIGITS
    fraction = Fraction(round(fraction * scale), scale)
    if aggregate.is_descending:
        fraction = 1 - fraction
    return replace(aggregate, fraction=fraction, fraction_given=None, is_descending=False)


def _refuse_not_finite(part: Expression, *, is_compared: bool) -> None:
    """
    Args:
        is_compared: It is an operand of a comparison.

    Raises:
        Refusal: UNSUPPORTED: NaN or infinity elsewhere, where numbers are computed with.
    """
    if isinstance(part, Constant) and is_not_finite(part) and not is_compared:
        raise Refusal(
            Code.UNSUPPORTED,
            "NaN and infinity are compared with columns only in a query on a protected table",
            "Write column < 'Infinity', column = 'NaN', or pass a finite number.",
            part.position,
        )
    for inner in children(part):
        _refuse_not_finite(inner, is_compared=isinstance(part, Comparison | In))


@dataclass(slots=True)
class _ArrayLimit:
    """For what arrays stand for, in one block. Later passes are as long as that, so it is measured first."""

    nodes: int = 0

    def take(self, elements: int, each: int) -> None:
        """
        Given    each: how large what one element stands for is
        """
        if elements > limits.LIST_ELEMENTS:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"a list on a protected table may not have more than {limits.LIST_ELEMENTS} elements",
                "Use a shorter one.",
            )
        self.nodes += elements * each
        if self.nodes > limits.EXPANDED_NODES:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"the arrays of a query on protected tables stand for more than {limits.EXPANDED_NODES} parts",
                "Use shorter arrays, or fewer of them.",
            )


def _listed(part: In, values: Values, limit: _ArrayLimit) -> Expression:
    """With the elements of an array; of one that is NULL nothing is known, in an empty one is nothing."""
    array = part.items[0] if part.items else None
    if not isinstance(array, Parameter) or not isinstance(array.source, ClientArray):
        return part
    elements = values.get(array.source.number)
    if elements is None:
        return part
    if isinstance(elements, Constant):
        return Constant(None, SqlType.BOOL, array.position)
    if not elements:
        return Constant(False, SqlType.BOOL, array.position)
    limit.take(len(elements), 1)
    if part.operand.type is SqlType.BPCHAR and array.type is SqlType.TEXT:
        # Compared as text, without the blanks at its end: it equals none that has some.
        elements = tuple(one for one in elements if not str(one.value).endswith(" "))
        if not elements:
            return Comparison(Comparator.NE, part.operand, part.operand)
    return replace(part, items=tuple(map(_as_compared, elements)))


def _as_compared(element: Constant) -> Constant:
    match element.type:
        case SqlType.TIME_OF_DAY:
            found = as_seconds_of_day(element)
        case SqlType.INTERVAL:
            found = as_seconds(element)
        case _:
            return element
    assert isinstance(found, Constant)
    return found


def _patterns(part: Like, values: Values, limit: _ArrayLimit) -> Expression:
    """A condition for each element of an array of patterns."""
    array = part.pattern.source if isinstance(part.pattern, Parameter) else None
    elements = values.get(array.number) if isinstance(array, ClientArray) else None
    if elements is None or not isinstance(array, ClientArray):
        return part
    if isinstance(elements, Constant):
        return Constant(None, SqlType.BOOL)
    limit.take(len(elements), size(part))
    each = tuple(replace(part, pattern=element) for element in elements)
    if len(each) < 2:
        return each[0] if each else Constant(array.is_all, SqlType.BOOL)
    return Connective("AND" if array.is_all else "OR", each)


def _replaced(part: Expression, values: Values, limit: _ArrayLimit) -> Expression:
    def change(inner: Expression) -> Expression:
        found = _REPLACED.get(inner.__class__)
        return inner if found is None else found(inner, values, limit)

    return rebuild(part, change)


def _value(part: Parameter, values: Values, _limit: _ArrayLimit) -> Expression:
    match part.source:
        case ClientParameter(number=number):
            found = values.get(number)
            if not isinstance(found, Constant):
                return part
        case CastParameter(number=number, type=kind):
            found = values.get(number)
            if not isinstance(found, Constant):
                return part
            found = Constant(found.value, kind, part.position)
        case WrittenText(text=text, type=kind):  # where no shadow reads it
            found = Constant(text, kind, part.position)
        case _:
            return part
    if found.type is SqlType.INTERVAL:
        return as_seconds(found)
    if found.type is SqlType.TIME_OF_DAY:
        return as_seconds_of_day(found)
    if found.type is part.type and isinstance(part.source, ClientParameter):
        return found
    return settle(Constant(found.value, None, part.position), part.type)


def _looked_up(part: InPublic, values: Values, limit: _ArrayLimit) -> Expression:
    """The condition is of the public table, and is walked by itself."""
    if part.condition is None:
        return part
    return replace(part, condition=_replaced(part.condition, values, limit))


def _given(part: Any, values: Values, _limit: _ArrayLimit) -> Expression:
    """With the fields that parameters hold, all of them at once."""
    if not part.given:
        return cast("Expression", part)
    found: dict[str, Constant] = {}
    for name, source in part.given:
        if isinstance(source, WrittenText):  # where no shadow reads it
            value: Constant | tuple[Constant, ...] | None = constant(source.text, source.type, None)
        else:
            value = values.get(source.number)
        if not isinstance(value, Constant):
            return cast("Expression", part)
        found[name] = value
    return completed(part, found)


_REPLACED: Mapping[type[Expression], Callable[[Any, Values, _ArrayLimit], Expression]] = {
    Parameter: _value,
    In: _listed,
    Like: _patterns,
    **dict.fromkeys(COMPLETED, _given),
    InPublic: _looked_up,
}


def parameters_of(block: AggregateBlock) -> frozenset[int]:
    """The numbers of what is to be bound in it."""
    found: set[int] = set()

    def visit(part: Expression) -> Expression:
        if isinstance(part, Parameter) and isinstance(part.source, ClientParameter | ClientArray):
            found.add(part.source.number)
        for _, source in getattr(part, "given", ()):
            if isinstance(source, ClientParameter):
                found.add(source.number)
        return part

    changed(block, lambda part: rebuild(part, visit))
    found |= {one.fraction_given.number for one in block.aggregates if one.fraction_given}
    return frozenset(found)
