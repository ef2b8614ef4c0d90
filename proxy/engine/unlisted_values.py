"""Constants that a column is compared with, though the policy does not list them among its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.planner.public_keys import constant_text
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import rebuild
from proxy.query.ir.function_names import Comparator
from proxy.query.ir.query import AggregateBlock, Query, changed
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
)

_EQUAL = (Comparator.EQ, Comparator.NE, Comparator.DISTINCT)
_SHOWN = 8  # values of a list; and texts for which a word is looked for
_ALIKE, _MOST_COMPARED = 0.6, 20_000  # as difflib counts it; characters of a word, times values
_Standing = ir.Expression | Scan | tuple[ir.Expression, ...]
_Names = Mapping[tuple[str, str], _Standing]


def unlisted_lines(query: Query, policy: Policy) -> tuple[str, ...]:
    """Say which constants of a question no listed value is, a line for each column.

    Of public facts alone: the question with its parameters, and the policy. No row is looked at.

    Args:
        query: Parameters are replaced by their values.
        policy: With the lists.
    """
    found: dict[tuple[str, tuple[str | None, ...]], dict[str, None]] = {}
    for block in query.blocks:
        for column, values, text in _unlisted(block, policy):
            found.setdefault((column, values), {})[text] = None
    return tuple(_line(column, values, tuple(texts)) for (column, values), texts in found.items())


def _line(column: str, values: tuple[str | None, ...], texts: tuple[str, ...]) -> str:
    shown = ", ".join(map(_quoted, values[:_SHOWN]))
    if len(values) > _SHOWN:
        shown = f"{shown} and {len(values) - _SHOWN:,} more"
    have = "has the values" if len(values) > 1 else "has the value"
    are = "is not one of them" if len(texts) == 1 else "are not among them"
    found = (_nearest(text, values) for text in texts[:_SHOWN])
    near = [near for near in found if near is not None]
    meant = f": did you mean {' or '.join(map(_quoted, dict.fromkeys(near)))}?" if near else ""
    return f"{column} {have} {shown} in the policy; {', '.join(map(_quoted, texts))} {are}{meant}"


def _nearest(text: str, values: tuple[str | None, ...]) -> str | None:
    """The listed word that is spelled most like it, if one is.

    >>> _nearest("payed", ("paid", "shipped", None)), _nearest("PAID", ("paid",)), _nearest("7", ("8",))
    ('paid', 'paid', None)
    """
    words = {value.casefold(): value for value in values if value is not None}
    if not any(map(str.isalpha, text)) or len(words) * len(text) > _MOST_COMPARED:
        return None
    found = get_close_matches(text.casefold(), list(words), n=1, cutoff=_ALIKE)
    return words[found[0]] if found else None


def _quoted(text: str | None) -> str:
    if text is None:
        return "NULL"
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _unlisted(
    block: AggregateBlock, policy: Policy
) -> Iterator[tuple[str, tuple[str | None, ...], str]]:
    """The columns, their lists, and the texts that are compared with them."""
    names = dict(_named(block.source))
    compared: list[tuple[ir.Expression, ir.Expression]] = []

    def visit(part: ir.Expression) -> ir.Expression:
        compared.extend(_pairs(part))
        return part

    changed(block, lambda one: rebuild(one, visit))
    for one in block.compared_keys:
        compared.extend(_pairs(one))
    for side, constant in compared:
        text = constant_text(constant) if isinstance(constant, ir.Constant) else None
        found = None if text is None else _listed(side, names, policy)
        if text is None or found is None:
            continue
        column, values, kind = found
        if not any(_is_same(text, value, kind) for value in values):
            yield column, values, text


def _pairs(part: ir.Expression) -> Iterator[tuple[ir.Expression, ir.Expression]]:
    """What is compared for equality, both ways round."""
    match part:
        case ir.Comparison(comparator=comparator) if comparator in _EQUAL:
            yield part.left, part.right
            yield part.right, part.left
        case ir.In():
            yield from ((part.operand, item) for item in part.items)
        case ir.NullIf():
            yield part.operand, part.other
        case _:
            pass


def _named(relation: Relation) -> Iterator[tuple[tuple[str, str], _Standing]]:
    """What the columns of a relation, and of those below it, stand for; of a table the table itself."""
    match relation:
        case Scan():
            yield (relation.alias, ""), relation
        case Join():
            yield from _named(relation.left)
            yield from _named(relation.right)
        case Subquery():
            yield from _named(relation.source)
            yield from (((relation.alias, name), one) for name, one in relation.outputs)
        case GroupByUnit():
            yield from _named(relation.source)
            keys = enumerate(relation.keys, start=1)
            yield from (((relation.alias, f"k{number}"), key) for number, key in keys)
        case UnionAll():
            for part in relation.parts:
                yield from _named(part)
            for number, several in enumerate(
                zip(*(one.outputs for one in relation.parts), strict=True), 1
            ):
                yield (relation.alias, f"c{number}"), tuple(one for _, one in several)
        case Truncate():
            yield from _named(relation.source)
        case _:
            assert_never(relation)


def _listed(
    expression: ir.Expression, names: _Names, policy: Policy
) -> tuple[str, tuple[str | None, ...], SqlType] | None:
    """The column that an expression is, perhaps as another type of text, with its list and type; None: it is
    computed, or not all of its values are listed."""
    match expression:
        case ir.Cast(operand=operand) if _is_text(expression.type) and _is_text(operand.type):
            return _listed(operand, names, policy)
        case ir.ColumnRef(column=name, relation=relation):
            scan = names.get((relation, ""))
            if isinstance(scan, Scan):
                table = policy.tables.get(scan.table)
                own = table.columns.get(name) if isinstance(table, ProtectedTable) else None
                return (
                    None
                    if own is None or own.values is None
                    else (name, own.values, expression.type)
                )
            below = names.get((relation, name))
            if isinstance(below, tuple):
                return _of_parts([_listed(one, names, policy) for one in below])
            return (
                None if below is None or isinstance(below, Scan) else _listed(below, names, policy)
            )
        case _:
            return None


def _of_parts(
    parts: Sequence[tuple[str, tuple[str | None, ...], SqlType] | None],
) -> tuple[str, tuple[str | None, ...], SqlType] | None:
    """Of UNION ALL: a value of any list may be there."""
    known = [one for one in parts if one is not None]
    if not known or len(known) < len(parts):
        return None
    name, _, kind = known[0]
    return name, tuple(dict.fromkeys(value for _, values, _ in known for value in values)), kind


def _is_text(kind: SqlType | None) -> bool:
    return kind is not None and kind.is_text


def _is_same(text: str, value: str | None, kind: SqlType) -> bool:
    """Whether a listed value equals a constant. Both are texts as PostgreSQL prints them."""
    if value is None or text == value:
        return text == value
    if kind is SqlType.BPCHAR:
        return text.rstrip(" ") == value.rstrip(" ")
    if kind.is_number:
        try:
            return Decimal(text) == Decimal(value)
        except InvalidOperation:
            return False
    return False
