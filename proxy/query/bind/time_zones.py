"""Whether what a query asks for depends on the session's time zone, which its answer does not follow.

The protected database computes in UTC. In another zone PostgreSQL reads times without a zone, takes
timestamps apart and truncates them otherwise: until all of that is done in the session's zone, it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import (
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
    DateTrunc,
    Expression,
    Extract,
    In,
    InPublic,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    Parameter,
    Quotient,
    TextCall,
    children,
)
from proxy.query.ir.query import Query
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll
from proxy.query.ir.typing_rules import names_its_zone

_WITHOUT_ZONE = (SqlType.DATE, SqlType.TIMESTAMP)
_HINT = "SET TimeZone = 'UTC', or write times with their zone: '2026-01-31 12:00:00+01'."


def check_zone(query: Query) -> None:
    """
    Given    a query whose parameters are bound, of a session whose time zone is not UTC
    Refuses  UNSUPPORTED: what depends on the zone
    """
    for block in query.blocks:
        expressions = [key.expression for key in block.keys]
        expressions += _given(block.where)
        expressions += _of_aggregates(block.aggregates)
        _check([*expressions, *_of_relation(block.source)])


def _check(expressions: Iterable[Expression]) -> None:
    waiting = list(expressions)
    visited: set[int] = set()
    while waiting:
        part = waiting.pop()
        if id(part) in visited:
            continue
        visited.add(id(part))
        what = _dependent(part)
        if what is not None:
            raise Refusal(
                Code.UNSUPPORTED,
                f"{what} depends on the session's time zone, which is not UTC",
                _HINT,
                _position(part),
            )
        waiting += children(part)
        if isinstance(part, InPublic):
            waiting += [part.output, *_given(part.condition)]


def _dependent(part: Expression) -> str | None:
    """What of this node, apart from its operands, is another in another zone."""
    match part:
        case Constant(value=str() as text, type=SqlType.TIMESTAMPTZ):
            return None if names_its_zone(text) else "a time without its zone"
        case Extract():
            is_instant = part.operand.type is SqlType.TIMESTAMPTZ and part.field != "epoch"
            return f"extract({part.field}) of a timestamp with time zone" if is_instant else None
        case DateTrunc():
            # date_trunc of a date is that of its midnight in the session's zone (PostgreSQL 17 documentation,
            # section 9.9.2).
            depends = part.operand.type is not SqlType.TIMESTAMP
            return "date_trunc() of a date or of a timestamp with time zone" if depends else None
        case Cast(type=SqlType.DATE):
            depends = part.operand.type is SqlType.TIMESTAMPTZ
            return "the date of a timestamp with time zone" if depends else None
        case Comparison():
            return _meeting((part.left, part.right))
        case In():
            return _meeting((part.operand, *part.items))
        case InPublic():
            return _meeting((part.operand, part.output))
        case Choose():
            return _meeting(part.operands)
        case NullIf():
            return _meeting((part.operand, part.other))
        case Case():
            return _meeting((*(result for _, result in part.whens), part.otherwise))
        case (
            Cast()  # between both kinds of timestamp: AT TIME ZONE 'UTC'
            | Constant()
            | Parameter()
            | ColumnRef()
            | Clamped()
            | Connective()
            | Not()
            | Is()
            | Like()
            | Arithmetic()
            | Quotient()
            | NumericCall()
            | TextCall()
            | Bucket()
        ):
            return None
        case _:
            assert_never(part)


def _meeting(parts: Iterable[Expression]) -> str | None:
    kinds = {part.type for part in parts}
    if SqlType.TIMESTAMPTZ in kinds and kinds & set(_WITHOUT_ZONE):
        return "a timestamp with time zone beside a date or a timestamp without one"
    return None


def _of_relation(relation: Relation) -> Iterator[Expression]:
    match relation:
        case Scan():
            return
        case Join():
            yield from _of_relation(relation.left)
            yield from _of_relation(relation.right)
            yield from (
                NullIf(left, right, left.type) for left, right in relation.equal
            )  # which meet as in a comparison
            yield from _given(relation.rest)
        case Subquery():
            yield from _of_relation(relation.source)
            yield from (expression for _, expression in relation.outputs)
            yield from _given(relation.where)
        case GroupByUnit():
            yield from _of_relation(relation.source)
            yield from _given(relation.where)
            yield relation.unit
            yield from _of_aggregates(relation.aggregates)
        case UnionAll():  # its columns have equal types
            for part in relation.parts:
                yield from _of_relation(part)
        case Truncate():
            yield from _of_relation(relation.source)
        case _:
            assert_never(relation)


def _of_aggregates(aggregates: Iterable[Aggregate]) -> list[Expression]:
    return [
        part
        for aggregate in aggregates
        for part in (*aggregate.operands, aggregate.condition)
        if part is not None
    ]


def _given(part: Expression | None) -> list[Expression]:
    return [] if part is None else [part]


def _position(part: Expression) -> int | None:
    if isinstance(part, ColumnRef | Constant | Parameter):
        return part.position
    places = (_position(inner) for inner in children(part))
    return next((place for place in places if place is not None), None)
