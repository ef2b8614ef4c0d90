"""Conditions of a subquery that name the row around it: equalities, and comparisons that one end decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import UNIT_COLUMN, key_column
from proxy.query.bind.join_conditions import aliases, equalities
from proxy.query.bind.scope import Named, Scope
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Expression
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll

_ON_THE_UNIT = (
    "Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND"
    " o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise."
)
ENDS: Mapping[Comparator, tuple[AggregateKind, ...]] = {
    Comparator.LT: (AggregateKind.MIN,),
    Comparator.LE: (AggregateKind.MIN,),
    Comparator.GT: (AggregateKind.MAX,),
    Comparator.GE: (AggregateKind.MAX,),
    Comparator.NE: (AggregateKind.MIN, AggregateKind.MAX),
}
_TURNED = {
    Comparator.LT: Comparator.GT,
    Comparator.LE: Comparator.GE,
    Comparator.GT: Comparator.LT,
    Comparator.GE: Comparator.LE,
    Comparator.NE: Comparator.NE,
}


def aliases_around(scope: Scope) -> Iterator[str]:
    while scope.outer is not None:
        scope = scope.outer
        yield from (named.alias for named in scope.relations)


def written_names(relations: Iterable[Named]) -> dict[str, str]:
    """How the question names them, by our aliases."""
    found = {}
    for named in relations:
        shortest: tuple[str, ...] = min(named.qualifiers, key=len, default=())
        if shortest:
            found[named.alias] = ".".join(shortest)
    return found


def names_any(part: Expression, aliases: frozenset[str]) -> bool:
    return any(alias in aliases for alias, _ in columns(part))


def equal_pair(part: Expression, ours: set[str], theirs: set[str]) -> tuple[ColumnRef, ColumnRef]:
    """The two columns of a condition, that of the row around the subquery first."""
    equal, _ = equalities(part, theirs, ours)
    if len(equal) != 1:
        refuse(
            "only equalities of two columns can name the row around a subquery of a protected table"
        )
    return equal[0]


def order_of(
    part: Expression, ours: set[str], theirs: set[str]
) -> tuple[Comparator, ColumnRef, ColumnRef] | None:
    match part:
        case Comparison(comparator=comparator, left=ColumnRef() as a, right=ColumnRef() as b) if (
            comparator in ENDS
        ):
            if a.relation in ours and b.relation in theirs:
                return comparator, a, b
            if b.relation in ours and a.relation in theirs:
                return _TURNED[comparator], b, a
    return None


def may_lack(relation: Relation, column: ColumnRef) -> bool:
    """Whether rows can be without it, as an outer join has found no partner for them."""
    match relation:
        case Join():
            if column.relation in aliases(relation.right):
                return relation.left_outer or may_lack(relation.right, column)
            return may_lack(relation.left, column)
        case Subquery():
            below = dict(relation.outputs).get(column.column)
            return not isinstance(below, ColumnRef) or may_lack(relation.source, below)
        case UnionAll():
            return any(may_lack(part, column) for part in relation.parts)
        case GroupByUnit():
            keys = {key_column(n): key for n, key in enumerate(relation.keys, start=1)}
            key = keys.get(column.column)
            if key is None:
                return column.column != UNIT_COLUMN
            return not isinstance(key, ColumnRef) or may_lack(relation.source, key)
        case Truncate():
            return may_lack(relation.source, column)
        case Scan():
            return False
        case _:
            assert_never(relation)


def refuse(message: str, hint: str = _ON_THE_UNIT) -> NoReturn:
    raise Refusal(Code.UNSUPPORTED, message, hint)
