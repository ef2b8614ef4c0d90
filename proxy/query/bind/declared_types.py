"""The types of keys and of columns of subqueries as PostgreSQL declares them, with their modifiers.

Expressions are read for their values: a cast that changes none leaves nothing behind, as name::text. The type
of what is written is found on the parsed tree (PostgreSQL 17, exprTypmod in nodeFuncs.c and select_common_type
in parse_coerce.c). tests/live/test_result_modifiers.py holds it against PostgreSQL's own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.casts import CAST_TYPES, written_modifier
from proxy.query.bind.scope import ColumnType, Named, Scope, StarColumn, column_name
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.relations import Relation, Subquery

# --- Columns that a relation shows to the SELECT around it.


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


# ---

_MODIFIER = re.compile(r"\([0-9, ]+\)")
_CHARACTER = ("character", "bpchar")
_TEXTS = ("text", "character varying", *_CHARACTER)


def declared_type(node: exp.Expr, expression: Expression, scope: Scope) -> ColumnType:
    """
    Args:
        node: What is written.
        expression: What it was read as.

    Returns:
        The type of the expression, with the name that PostgreSQL has for that of the node.
    """
    known = column_type(expression, expression.type or SqlType.TEXT, scope)
    name = _Declared(scope).of(node)
    return known if name is None else known._replace(type_name=name)


def without_modifier(name: str) -> str:
    """
    >>> without_modifier("character varying(10)"), without_modifier("timestamp(3) with time zone")
    ('character varying', 'timestamp with time zone')
    >>> without_modifier("character(2)")  # "character" would be character(1)
    'bpchar'
    """
    plain = _MODIFIER.sub("", name)
    return "bpchar" if plain == "character" else plain


@dataclass(frozen=True, slots=True)
class _Declared:
    scope: Scope

    def of(self, node: exp.Expr) -> str | None:
        """None: of an untyped constant, or not known here."""
        match node:
            case exp.Paren():
                return self.of(node.this)
            case exp.Column():
                return self._column(node)
            case exp.Cast():
                return _cast_to(node)
            case exp.Case():
                branches = (
                    node.args.get("default"),
                    *(one.args["true"] for one in node.args["ifs"]),
                )
                return self._common(branches)
            case exp.Coalesce() | exp.Greatest() | exp.Least():
                return self._common((node.this, *node.expressions))
            case exp.Nullif():
                return self._nullif(node)
            case _:
                return None

    def _column(self, node: exp.Column) -> str | None:
        found = self.scope.find(*column_name(node))
        return None if found is None else column_type(found, found.type, self.scope).type_name

    def _common(self, branches: tuple[exp.Expr | None, ...]) -> str | None:
        """The first text decides among texts; a modifier stays where all have it."""
        names = [None if one is None else self.of(one) for one in branches]
        if names[0] is not None and len(set(names)) == 1:
            return names[0]
        texts = list(self._texts(branches, names))
        return texts[0] if texts and all(texts) else None

    def _texts(
        self, branches: tuple[exp.Expr | None, ...], names: list[str | None]
    ) -> Iterator[str | None]:
        """Types of the branches that have one; None of what is no text, or not known here."""
        for branch, name in zip(branches, names, strict=True):
            if name is not None:
                plain = without_modifier(name)
                yield plain if plain in _TEXTS else None
            elif not _is_untyped(branch):
                yield None

    def _nullif(self, node: exp.Nullif) -> str | None:
        """The left operand as the operator = takes it: that of texts is text, but of two of character(n)."""
        left, right = self.of(node.this), self.of(node.expression)
        if left is None:
            return None
        plain = without_modifier(left)
        other = plain if _is_untyped(node.expression) else without_modifier(right or "")
        if plain in _TEXTS:
            padded = plain in _CHARACTER and other in _CHARACTER
            return left if padded else "text"
        return left if other == plain or plain == "numeric" else None


def _is_untyped(node: exp.Expr | None) -> bool:
    return (
        node is None
        or isinstance(node, exp.Null)
        or (isinstance(node, exp.Literal) and node.is_string)
    )


def _cast_to(node: exp.Cast) -> str | None:
    wanted = node.args["to"]
    target = CAST_TYPES.get(wanted.this)
    if target is None:
        return None
    modifier = written_modifier(wanted.expressions)
    match target:
        case SqlType.VARCHAR if modifier:
            return f"{target.sql}({modifier[0]})"
        case SqlType.NUMERIC if modifier:
            return f"{target.sql}({modifier[0]},{modifier[1] if len(modifier) > 1 else 0})"
        case _:
            return target.sql
