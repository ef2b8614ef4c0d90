"""Conditions taken apart: which of them are equalities between the two sides of a join."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from proxy.base.sql_types import SqlType
from proxy.query.bind.scope import Named
from proxy.query.bind.sources import Sources
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Connective, Expression
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import Join, Relation, Scan, Subquery


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    if isinstance(expression, Connective) and expression.word == "AND":
        return tuple(part for operand in expression.operands for part in conjuncts(operand))
    return (expression,)


_INTEGERS = (SqlType.INT2, SqlType.INT4, SqlType.INT8)


def of_both(left: ColumnRef, right: ColumnRef, left_outer: bool) -> ColumnRef:
    """What USING makes of two columns that are equal: of two types of integers the larger, as in PostgreSQL. Of
    a LEFT JOIN it is the left one's, as the other may be NULL."""
    types = left.type, right.type
    if left_outer or not all(kind in _INTEGERS for kind in types):
        return left
    return max(left, right, key=lambda column: _INTEGERS.index(column.type))


def equalities(
    condition: Expression, left: set[str], right: set[str]
) -> tuple[list[tuple[ColumnRef, ColumnRef]], list[Expression]]:
    """Equalities between a column of each side, left first; and everything else."""
    equal: list[tuple[ColumnRef, ColumnRef]] = []
    others: list[Expression] = []
    for part in conjuncts(condition):
        match part:
            case Comparison(
                comparator=Comparator.EQ, left=ColumnRef() as a, right=ColumnRef() as b
            ):
                if a.relation in left and b.relation in right:
                    equal.append((a, b))
                    continue
                if b.relation in left and a.relation in right:
                    equal.append((b, a))
                    continue
        others.append(part)
    return equal, others


def with_equalities(relation: Relation, condition: Expression) -> Relation:
    """Joins written with commas, completed by the equalities of WHERE (which stays as it is)."""
    if not isinstance(relation, Join):
        return relation
    left = with_equalities(relation.left, condition)
    right = with_equalities(relation.right, condition)
    if relation.left_outer:
        return replace(relation, left=left, right=right)
    found, _ = equalities(condition, aliases(left), aliases(right))
    return replace(relation, left=left, right=right, equal=(*relation.equal, *found))


def aliases(relation: Relation) -> set[str]:
    if isinstance(relation, Join):
        return aliases(relation.left) | aliases(relation.right)
    return {relation.alias}


# --- Public tables joined by an expression: the expression becomes a column of the relation that it reads.
#
# FROM event e JOIN calendar d ON d.day = e.at::date FROM (SELECT *, at::date AS k FROM event) e JOIN
# calendar d ON d.day = e.k


def computed_keys(sources: Sources, named: Sequence[Named]) -> ComputedKeys:
    """How public tables are joined by expressions over these relations."""
    public = {table.name for table in sources.tables.values() if not table.protected}
    return ComputedKeys(
        named=named, is_public=lambda scan: scan.table in public, new_alias=sources.alias
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Computed:
    """A column of a public table, and the expression over one other relation that it equals."""

    public: ColumnRef
    expression: Expression
    reads: str  # the alias


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedKeys:
    """What is known where a join is read.

    Attributes:
        named: Of each relation the columns that it shows.
        is_public: Whether a table is one.
        new_alias: Makes one that nothing else has.
    """

    named: Sequence[Named]
    is_public: Callable[[Scan], bool]
    new_alias: Callable[[], str]

    def applied(
        self, relation: Relation, conditions: Sequence[Expression]
    ) -> tuple[Relation, list[Expression]]:
        """The joins of a relation completed by conditions that compare a key of a public table, and the other
        conditions."""
        others = []
        for condition in conditions:
            found = self._computed(relation, condition)
            before = relation
            if found is not None and isinstance(relation, Join):
                relation = self._joined(relation, found)
            if relation is before:
                others.append(condition)
        return relation, others

    def _computed(self, relation: Relation, condition: Expression) -> _Computed | None:
        if not isinstance(condition, Comparison) or condition.comparator is not Comparator.EQ:
            return None
        sides = (condition.left, condition.right)
        for column, other in (sides, sides[::-1]):
            if not isinstance(column, ColumnRef) or isinstance(other, ColumnRef):
                continue
            read = {alias for alias, _ in columns(other)}
            if len(read) == 1 and self._is_of_public(relation, column.relation):
                return _Computed(public=column, expression=other, reads=read.pop())
        return None

    def _is_of_public(self, relation: Relation, alias: str) -> bool:
        match relation:
            case Join(left=left, right=right):
                return self._is_of_public(left, alias) or self._is_of_public(right, alias)
            case Scan():
                return relation.alias == alias and self.is_public(relation)
            case Subquery(source=Scan() as table):
                return relation.alias == alias and self.is_public(table)
            case _:
                return False

    def _joined(self, joined: Join, found: _Computed) -> Join:
        """The join where the two relations meet gets the equality, unless it has one of the public table."""
        left, right = aliases(joined.left), aliases(joined.right)
        both = {found.public.relation, found.reads}
        if both <= left and isinstance(joined.left, Join):
            return replace(joined, left=self._joined(joined.left, found))
        if both <= right and isinstance(joined.right, Join):
            return replace(joined, right=self._joined(joined.right, found))
        known = {column.relation for pair in joined.equal for column in pair}
        if found.public.relation in known or len(both) < 2 or not both <= left | right:
            return joined
        kind = found.expression.type or found.public.type
        key = ColumnRef(f"dp_{self.new_alias()}", kind, None, found.reads)
        is_left = found.reads in left
        own = self._with_column(joined.left if is_left else joined.right, key, found.expression)
        if own is None:
            return joined
        pair = (key, found.public) if is_left else (found.public, key)
        joined = replace(joined, equal=(*joined.equal, pair))
        return replace(joined, left=own) if is_left else replace(joined, right=own)

    def _with_column(
        self, relation: Relation, key: ColumnRef, expression: Expression
    ) -> Relation | None:
        """One more column of the part that has the key's alias. None: that is no table and no subquery."""
        match relation:
            case Join(left=left, right=right):
                is_left = key.relation in aliases(left)
                own = self._with_column(left if is_left else right, key, expression)
                if own is None:
                    return None
                return replace(relation, left=own) if is_left else replace(relation, right=own)
            case Scan() | Subquery():
                inner, alias = self.new_alias(), relation.alias

                def moved(part: Expression) -> Expression:
                    if isinstance(part, ColumnRef) and part.relation == alias:
                        return replace(part, relation=inner)
                    return part

                kinds = {
                    name: one.type
                    for known in self.named
                    if known.alias == alias
                    for name, one in known.columns.items()
                }
                if isinstance(relation, Subquery):  # which may have such a column of another join
                    more = {
                        name: one.type for name, one in relation.outputs if one.type is not None
                    }
                    kinds = more | kinds
                shown = [(name, ColumnRef(name, kind, None, inner)) for name, kind in kinds.items()]
                outputs = (*shown, (key.column, rebuild(expression, moved)))
                return Subquery(alias, replace(relation, alias=inner), None, outputs)
            case _:
                return None
