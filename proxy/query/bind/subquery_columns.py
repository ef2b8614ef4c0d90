"""Columns that a relation shows to the SELECT around it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.scope import ColumnType, Named, Scope, StarColumn
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
        if len(names) > len(own):
            raise Refusal(
                Code.UNSUPPORTED,
                "a column list has more names than its subquery has columns",
                f"Leave out what is too many: it has {len(own)}.",
            )
        if len(set(displayed)) < len(displayed):
            raise Refusal(
                Code.UNSUPPORTED,
                "a column list gives two columns one name",
                "Give each column a name of its own.",
            )
        outputs = tuple(
            (new, expression)
            for new, (_, expression) in zip(displayed, relation.outputs, strict=True)
        )
        relation = replace(relation, outputs=outputs)
    kinds = dict(zip(displayed, columns.values(), strict=True))
    qualifiers = frozenset({(alias,)}) if alias is not None else frozenset[tuple[str, ...]]()
    return relation, (Named(relation.alias, qualifiers, kinds),)


def all_columns(scope: Scope, qualifier: tuple[str, ...] = ()) -> tuple[StarColumn, ...]:
    """What * stands for, or qualifier.*"""
    if not qualifier and scope.star is not None:
        return scope.star
    return tuple(
        StarColumn(name, ColumnRef(name, kind.type, None, relation.alias), kind)
        for relation in scope.relations
        if not qualifier or qualifier in relation.qualifiers
        for name, kind in relation.columns.items()
    )


def joined_columns(
    left: Scope, right: Scope, using: Mapping[str, ColumnRef]
) -> tuple[StarColumn, ...]:
    """What * stands for of a join: first the columns of USING, each once (PostgreSQL 17 documentation, section
    7.2.1.1)."""
    both = (*all_columns(left), *all_columns(right))
    once = (
        next(one for one in both if one.name == name and one.column == column)
        for name, column in using.items()
    )
    return (*once, *(one for one in both if one.name not in using))


def named_apart(
    outputs: Sequence[tuple[str, Expression, ColumnType]],
) -> list[tuple[str, Expression, ColumnType]]:
    """Of outputs of one name, which nobody can name, the later ones under names of ours: * stands for them
    all."""
    written = {name for name, _, _ in outputs}
    found: dict[str, tuple[Expression, ColumnType]] = {}
    numbers = itertools.count(1)
    for name, expression, kind in outputs:
        own = name
        while own in found or (own is not name and own in written):
            own = f"dp_same_{next(numbers)}"
        found[own] = expression, kind
    return [(name, expression, kind) for name, (expression, kind) in found.items()]


def column_type(expression: Expression, kind: SqlType, scope: Scope) -> ColumnType:
    if isinstance(expression, ColumnRef):
        for relation in scope.relations:
            if relation.alias == expression.relation and expression.column in relation.columns:
                known = relation.columns[expression.column]
                return known if known.type is expression.type else ColumnType(kind, kind.sql)
    return ColumnType(kind, kind.sql)
