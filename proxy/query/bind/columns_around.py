"""Columns of a SELECT around one aggregate subquery, as columns of the subquery, for their errors.

`SELECT day, n, n - lag(n) OVER (ORDER BY day) FROM (SELECT d AS day, count(*) AS n ... GROUP BY d) q` gives
the rows of the subquery as they are. So an expression over its columns has the error that it would have inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlglot import TokenType, exp

from proxy.base.errors import Refusal
from proxy.query.bind.answer_windows import has_rank
from proxy.query.bind.scope import column_name
from proxy.query.bind.select_context import OutputItem, SelectContext
from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query import COMPUTED_AROUND, OF_A_RANK, OutputColumn
from proxy.query.syntax.output_names import NO_NAME, output_name
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

_OTHER_ROWS = frozenset({"group", "having", "window"})
_CUT = frozenset({"having", "limit", "offset", "fetch"})
# Of an expression over the aggregates of the subquery.
Read = Callable[[exp.Expr], NoisyExpression | None]


def columns_around(
    context: SelectContext, listed: tuple[OutputColumn, ...], read: Read
) -> tuple[OutputColumn, ...]:
    """The columns of the statement's result, in their order.

    Args:
        context: The subquery.
        listed: Its own columns.
        read: Reads an expression in it.

    Returns:
        None at all, if the result has other rows than the subquery, or if its columns are not known.
    """
    around = plain_query_around(context)
    if around is None:
        return ()
    inner = items_by_name(context, listed)
    try:
        found = tuple(_columns(context, around, listed, inner, read))
    except Refusal:
        return ()
    return found


def items_by_name(
    context: SelectContext, listed: tuple[OutputColumn, ...]
) -> dict[str, tuple[OutputItem, OutputColumn]]:
    """The items of a subquery that its names tell apart, with the columns that they are."""
    names = [one.name for one in listed]
    return {
        name: (item, column)
        for name, item, column in zip(names, context.items, listed, strict=True)
        if names.count(name) == 1
    }


def plain_query_around(context: SelectContext) -> Select | None:
    """The SELECT that gives the result's rows, if it reads this one and nothing else."""
    sources, lexed = context.sources, context.lexed
    result = next((one for one in sources.selects if one.keyword == sources.result), None)
    if result is None or result.distinct or _OTHER_ROWS & set(result.clauses):
        return None
    first, last = result.clauses.get("from", (0, 0))
    lexemes, keyword = lexed.lexemes, context.select.keyword
    if first >= last or context.select.distinct:
        return None
    if lexemes[first].token.token_type is TokenType.L_PAREN:
        is_this = keyword == first + 1 and _is_alias(lexed, (lexed.partner[first] + 1, last))
        return result if is_this else None
    bodies = [cte.body for cte in sources.ctes if cte.name == lexemes[first].name]
    is_this = len(bodies) == 1 and bodies[0][0] == keyword and _is_alias(lexed, (first + 1, last))
    return result if is_this and not any(cte.columns for cte in sources.ctes) else None


def _is_alias(lexed: Lexed, span: Span) -> bool:
    """Whether nothing but a name stands there, or nothing at all."""
    words = [one for one in lexed.lexemes[slice(*span)] if one.word != "as"]
    return len(words) <= 1 and all(one.name for one in words)


def _columns(
    context: SelectContext,
    around: Select,
    listed: tuple[OutputColumn, ...],
    inner: Mapping[str, tuple[OutputItem, OutputColumn]],
    read: Read,
) -> Iterator[OutputColumn]:
    has_same_rows = "where" not in around.clauses and not _CUT & set(context.select.clauses)
    for span in split_commas(context.lexed, *around.items):
        node, alias, expression = parse_item(context.lexed, span, context.sources.placeholders)
        if isinstance(node, exp.Star) or (
            isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        ):
            yield from listed
            continue
        implied = output_name(context.lexed, expression)
        name = alias or (NO_NAME if implied is None else implied.name)
        named = [column_name(part)[1] for part in node.find_all(exp.Column)]
        of = [inner[one][1] for one in named if one in inner]
        if len(of) == len(named) and not any(one.expression or one.reason for one in of):
            yield OutputColumn(name, None)  # keys
            continue
        if isinstance(node, exp.Column) and len(of) == 1:
            yield OutputColumn(name, of[0].expression, of[0].reason)
            continue
        can_be_read = len(of) == len(named) and (has_same_rows or not node.find(exp.Window))
        found = read(within_subquery(node, inner)) if can_be_read else None
        none = OF_A_RANK if has_rank(node) else COMPUTED_AROUND
        yield OutputColumn(name, found, "" if found is not None else none)


def within_subquery(
    node: exp.Expr, inner: Mapping[str, tuple[OutputItem, OutputColumn]]
) -> exp.Expr:
    """An expression of the query around, over the columns of the subquery."""
    holder = exp.Paren(this=node.copy())
    for part in list(holder.find_all(exp.Column)):
        part.replace(inner[column_name(part)[1]][0].node.copy())
    found = holder.this
    assert isinstance(found, exp.Expr)
    return found
