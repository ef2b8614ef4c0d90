"""One row of constants in FROM, as WITH p AS (SELECT date '2023-06-01' AS s) ... FROM t, p: its columns are the
expressions that it was made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from proxy.query.syntax.from_clause import Item, JoinItem, QueryItem, TableItem, leaves
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

# Alias and column, to where the expression stands.
ConstantColumns = Mapping[tuple[str, str], Span]
Leaf = TableItem | QueryItem


def without_constant_rows(
    lexed: Lexed, item: Item, columns_of: Callable[[Leaf], ConstantColumns | None]
) -> tuple[Item, ConstantColumns]:
    """Take the leaves out of FROM that are one row of constants, joined with every row.

    Args:
        columns_of: The columns of a leaf; None: it is something else.

    Returns:
        What is left, and the columns of what is not.
    """
    every = leaves(item)
    constant = {leaf.span: found for leaf in every if (found := columns_of(leaf)) is not None}
    if not constant or len(constant) == len(every):
        return item, {}
    left = _left(lexed, item, constant)
    gone = {leaf.span for leaf in every} - {leaf.span for leaf in leaves(left)}
    return left, {key: span for at in gone for key, span in constant[at].items()}


def _left(lexed: Lexed, item: Item, constant: Mapping[Span, ConstantColumns]) -> Item:
    if not isinstance(item, JoinItem) or item.left_outer or item.full:
        return item
    is_true = item.on is not None and [x.word for x in lexed.lexemes[slice(*item.on)]] == ["true"]
    if item.using or not (item.on is None or is_true):
        return item
    for one, other in ((item.left, item.right), (item.right, item.left)):
        if not isinstance(one, JoinItem) and one.span in constant:
            return _left(lexed, other, constant)
    left, right = (_left(lexed, each, constant) for each in (item.left, item.right))
    if left is item.left and right is item.right:
        return item
    return JoinItem(left, right, False, None, (), item.place, span=item.span)


def row_columns(
    lexed: Lexed, query: Span, selects: Iterable[Select], alias: str, names: Sequence[str]
) -> ConstantColumns | None:
    """The columns of SELECT a, b without FROM, or of VALUES (a, b); None: it is something else.

    Args:
        names: Of columns, before those that the query gives.
    """
    first, last = query
    if lexed.lexemes[first].word == "values":
        if lexed.partner[first + 1] + 1 != last:
            return None
        spans = list(split_commas(lexed, first + 2, last - 1))
        own = [f"column{number}" for number in range(1, len(spans) + 1)]
    else:
        select = next((one for one in selects if one.keyword == first), None)
        if select is None or select.end != last or select.distinct:
            return None
        if select.clauses.keys() != {"items"}:
            return None
        items = [_item(lexed, span) for span in split_commas(lexed, *select.clauses["items"])]
        spans, own = [span for span, _ in items], [name for _, name in items]
    found = [*names, *own[len(names) :]]
    if len(found) != len(spans) or len(set(found)) != len(found):
        return None
    return {(alias, name): span for name, span in zip(found, spans, strict=True)}


def _item(lexed: Lexed, span: Span) -> tuple[Span, str]:
    """The expression of an output column, and its name."""
    lexemes = lexed.lexemes
    if span[1] - span[0] > 2 and lexemes[span[1] - 2].word == "as":
        return (span[0], span[1] - 2), lexemes[span[1] - 1].name
    implied = output_name(lexed, span)
    return span, "" if implied is None else implied.name
