"""Outer joins that keep rows of public tables without a protected partner: read as joins that do not.

`products LEFT JOIN orders` has a row for each product that nobody ordered, with NULL in all columns of
orders. That row is nobody's, and whether it is there depends on everybody's rows. So it is not formed;
and an answer is given only where it would change nothing: where each aggregate passes over it
(count(o.id), sum(o.total)) and no key is one of its NULLs; groups of public keys are answered without it,
too. Then the answer over the join without these rows is the answer itself, and what a unit can change of
it is that of the inner join.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.query.bind.join_conditions import aliases
from proxy.query.bind.sources import Sources
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query import AggregateBlock
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    scans,
)
from proxy.query.syntax.from_clause import JoinItem

# --- What is certain of expressions on a row in which some columns are NULL, whatever the others are.


_Truths = frozenset[bool | None]
_ANY: _Truths = frozenset({True, False, None})
_NOT_STRICT = (ir.Comparator.DISTINCT, ir.Comparator.NOT_DISTINCT)


@dataclass(frozen=True, slots=True)
class NullColumns:
    """Of such a row: all columns of the relations, and single ones, (alias, name); zeros: those that are NULL
    or 0."""

    relations: frozenset[str]
    columns: frozenset[tuple[str, str]] = frozenset()
    zeros: frozenset[tuple[str, str]] = frozenset()

    def holds(self, column: tuple[str, str]) -> bool:
        return column[0] in self.relations or column in self.columns


def is_null(expression: ir.Expression, nulls: NullColumns) -> bool:
    """Whether it is NULL there for certain. Functions that are not known to give NULL for NULL are not."""
    match expression:
        case ir.ColumnRef():
            return nulls.holds((expression.relation, expression.column))
        case ir.Constant():
            return expression.value is None
        case ir.Arithmetic():
            return is_null(expression.left, nulls) or is_null(expression.right, nulls)
        case (
            ir.Quotient()
            | ir.NumericCall()
            | ir.TextCall()
            | ir.Extract()
            | ir.DateTrunc()
            | ir.FormattedTime()
            | ir.Bucket()
            | ir.Cast()
            | ir.NullIf()
        ):
            return is_null(expression.operand, nulls)
        case ir.Choose():
            return all(is_null(operand, nulls) for operand in expression.operands)
        case ir.Case():
            return all(is_null(result, nulls) for result in _results(expression, nulls))
        case _:
            return truths(expression, nulls) == {None}


def adds_nothing(expression: ir.Expression, nulls: NullColumns) -> bool:
    """Whether a sum stays as it is by it: NULL or 0."""
    match expression:
        case ir.Constant():
            return expression.value is None or expression.value == 0
        case ir.ColumnRef() if (expression.relation, expression.column) in nulls.zeros:
            return True
        case ir.Case():
            return all(adds_nothing(result, nulls) for result in _results(expression, nulls))
        case ir.Choose() if any(
            isinstance(operand, ir.Constant) for operand in expression.operands
        ):
            return all(adds_nothing(operand, nulls) for operand in expression.operands)
        case _:
            return is_null(expression, nulls)


def truths(condition: ir.Expression, nulls: NullColumns) -> _Truths:
    """What a condition can be there."""
    match condition:
        case ir.Constant(value=bool() | None as value):
            return frozenset({value})
        case ir.Comparison() if condition.comparator not in _NOT_STRICT:
            sides = (condition.left, condition.right)
            return frozenset({None}) if any(is_null(side, nulls) for side in sides) else _ANY
        case ir.In() | ir.InPublic() | ir.Like() if is_null(condition.operand, nulls):
            return frozenset({None, False})  # of an empty list it is false
        case ir.Is() if is_null(condition.operand, nulls):
            return frozenset({condition.truth is None})
        case ir.Not():
            return frozenset(
                None if truth is None else not truth for truth in truths(condition.operand, nulls)
            )
        case ir.Connective():
            found = truths(condition.operands[0], nulls)
            for operand in condition.operands[1:]:  # two at a time: there may be thousands
                pairs = product(found, truths(operand, nulls))
                found = frozenset(_connected(condition.word, pair) for pair in pairs)
            return found
        case ir.ColumnRef() if is_null(condition, nulls):
            return frozenset({None})
        case _:
            return _ANY


def _connected(word: str, given: Iterable[bool | None]) -> bool | None:
    found = set(given)
    decides = word == "OR"  # true for OR, false for AND
    if decides in found:
        return decides
    return None if None in found else not decides


def _results(case: ir.Case, nulls: NullColumns) -> Iterable[ir.Expression]:
    """Those that it can come to."""
    for condition, result in case.whens:
        found = truths(condition, nulls)
        if True in found:
            yield result
        if found == {True}:
            return
    yield case.otherwise


# ---


def without_public_rows(sources: Sources, item: JoinItem, joined: Join) -> Join:
    """An outer join that keeps public rows, as one that does not (the docstring of this module)."""
    is_public = [_is_public(sources, side) for side in (joined.left, joined.right)]
    match is_public:
        case [True, False] if item.left_outer:
            turned = replace(joined, left_outer=False, has_public_outer=True)
            if item.full:
                pairs = tuple((b, a) for a, b in joined.equal)
                turned = replace(
                    turned, left=joined.right, right=joined.left, equal=pairs, left_outer=True
                )
        case [False, True] if item.full:
            turned = replace(joined, has_public_outer=True)
        case _ if item.full:
            _refuse_outer(
                sources,
                item,
                "FULL JOIN is not available between protected tables",
                "Use LEFT JOIN on the privacy unit, or aggregate their rows together: FROM (SELECT ... FROM a"
                " UNION ALL SELECT ... FROM b) q.",
            )
        case _:
            return joined
    public = joined.left if is_public[0] else joined.right
    names = set() if joined.rest is None else {alias for alias, _ in columns(joined.rest)}
    if item.using and item.full:
        _refuse_outer(
            sources,
            item,
            "FULL JOIN with USING is not available",
            "Write it with ON a.key = b.key.",
        )
    if names & aliases(public):
        _refuse_outer(
            sources,
            item,
            "ON of an outer join that keeps rows of a public table may say no more of that table",
            "Put that condition into WHERE, or into a subquery of the public table.",
        )
    return turned


def _refuse_outer(sources: Sources, item: JoinItem, message: str, hint: str) -> NoReturn:
    place = sources.lexed.lexemes[item.place].position
    raise Refusal(Code.UNSUPPORTED, message, hint, place)


def _is_public(sources: Sources, relation: Relation) -> bool:
    protected = {table.name for table in sources.tables.values() if table.protected}
    return all(scan.table not in protected for scan in scans(relation))


def check_added_rows(block: AggregateBlock) -> None:
    """
    Refuses  UNSUPPORTED: rows that are not formed would change an answer, or make a group
    """
    for nulls, place in _passing(_added(block.source), block.where):
        for aggregate in block.aggregates:
            if not _passes_over(aggregate, nulls):
                _refuse(
                    f"{aggregate.kind.value} here counts rows of a public table without partner",
                    place,
                )
        if any(nulls.holds(name) for key in block.keys for name in columns(key.expression)):
            _refuse("a key here is NULL in rows of a public table without partner", place)


_Added = list[tuple[NullColumns, int | None]]


def _added(relation: Relation) -> _Added:
    """The kinds of rows that would be there as well, by what is NULL in them."""
    match relation:
        case Scan():
            return []
        case Join():
            return list(_of_join(relation))
        case Subquery():
            found: _Added = []
            for nulls, place in _passing(_added(relation.source), relation.where):
                empty, zeros = (
                    frozenset(
                        (relation.alias, name)
                        for name, part in relation.outputs
                        if is_so(part, nulls)
                    )
                    for is_so in (is_null, adds_nothing)
                )
                found.append((NullColumns(frozenset(), empty, zeros), place))
            return found
        case GroupByUnit():
            return _none_of(_passing(_added(relation.source), relation.where))
        case UnionAll():
            return _none_of([one for part in relation.parts for one in _added(part)])
        case Truncate():
            raise AssertionError("only the planner truncates rows")
        case _:
            assert_never(relation)


def _of_join(join: Join) -> Iterator[tuple[NullColumns, int | None]]:
    for side, other, place_of in ((join.left, join.right, 0), (join.right, join.left, 1)):
        for nulls, place in _added(side):
            has_no_partner = any(
                nulls.holds((pair[place_of].relation, pair[place_of].column)) for pair in join.equal
            )
            if not has_no_partner:
                yield nulls, place
            elif join.left_outer and place_of == 0:
                relations = nulls.relations | _aliases(other)
                yield NullColumns(relations, nulls.columns, nulls.zeros), place
    if join.has_public_outer:
        protected = join.left if join.left_outer else join.right
        yield NullColumns(_aliases(protected)), join.position


def _passing(found: _Added, where: Expression | None) -> _Added:
    if where is None:
        return found
    return [(nulls, place) for nulls, place in found if True in truths(where, nulls)]


def _none_of(found: _Added) -> _Added:
    for _, place in found:
        _refuse("rows of a public table without partner cannot stand here", place)
    return []


def _aliases(relation: Relation) -> frozenset[str]:
    if isinstance(relation, Join):
        return _aliases(relation.left) | _aliases(relation.right)
    return frozenset({relation.alias})


def _passes_over(aggregate: Aggregate, nulls: NullColumns) -> bool:
    condition: Sequence[Expression] = () if aggregate.condition is None else (aggregate.condition,)
    if any(True not in truths(one, nulls) for one in condition):
        return True
    if aggregate.kind is AggregateKind.SUM:
        return all(adds_nothing(operand, nulls) for operand in aggregate.operands)
    return any(is_null(operand, nulls) for operand in aggregate.operands)


def _refuse(message: str, place: int | None) -> NoReturn:
    raise Refusal(
        Code.UNSUPPORTED,
        message,
        "Count or sum columns of the protected table, e.g. count(o.column), and group by those of the public"
        " one; or write JOIN, or LEFT JOIN with the public table on the right.",
        place,
    )
