"""The types of keys and of columns of subqueries as PostgreSQL declares them, with their modifiers.

Expressions are read for their values: a cast that changes none leaves nothing behind, as name::text. The type
of what is written is found on the parsed tree (PostgreSQL 17, exprTypmod in nodeFuncs.c and select_common_type
in parse_coerce.c). tests/live/test_result_modifiers.py holds it against PostgreSQL's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.casts import CAST_TYPES, written_modifier
from proxy.query.bind.scope import ColumnType, Scope, column_name
from proxy.query.bind.subquery_columns import column_type
from proxy.query.ir.expressions import Expression

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
