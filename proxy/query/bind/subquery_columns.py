"""Columns that a relation shows to the SELECT around it."""

from __future__ import annotations

from dataclasses import replace

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.scope import ColumnType, Named, Scope
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.relations import Relation, Subquery


def renamed(
    relation: Relation, columns: dict[str, ColumnType], names: tuple[str, ...], alias: str | None
) -> tuple[Relation, tuple[Named, ...]]:
    """A subquery under its alias, its first columns renamed by the alias' column list."""
    own = list(columns)
    assert isinstance(relation, Subquery)
    displayed = [*names, *own[len(names) :]]
    if names:
        if len(own) != len(relation.outputs) or len(names) > len(own):
            raise Refusal(
                Code.UNSUPPORTED,
                "a subquery with a column list needs columns of different names",
                "Give each of its columns a name of its own: SELECT a AS x, a AS y.",
            )
        outputs = tuple(
            (new, expression)
            for new, (_, expression) in zip(displayed, relation.outputs, strict=True)
        )
        relation = replace(relation, outputs=outputs)
    kinds = dict(zip(displayed, columns.values(), strict=True))
    qualifiers = frozenset({(alias,)}) if alias is not None else frozenset[tuple[str, ...]]()
    return relation, (Named(relation.alias, qualifiers, kinds),)


def all_columns(scope: Scope, qualifier: str | None) -> list[tuple[str, Expression, ColumnType]]:
    return [
        (name, ColumnRef(name, kind.type, None, relation.alias), kind)
        for relation in scope.relations
        if qualifier is None or (qualifier,) in relation.qualifiers
        for name, kind in relation.columns.items()
    ]


def column_type(expression: Expression, kind: SqlType, scope: Scope) -> ColumnType:
    if isinstance(expression, ColumnRef):
        for relation in scope.relations:
            if relation.alias == expression.relation and expression.column in relation.columns:
                known = relation.columns[expression.column]
                return known if known.type is expression.type else ColumnType(kind, kind.sql)
    return ColumnType(kind, kind.sql)
