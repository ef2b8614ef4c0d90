"""Keys of GROUP BY where they are written again: as columns, word for word, in other words, in GROUPING()."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.query.bind.declared_types import declared_type
from proxy.query.bind.expression_reading import read_expression
from proxy.query.bind.group_keys import WrittenKey
from proxy.query.bind.select_context import SelectContext
from proxy.query.bind.written_parts import is_no_column
from proxy.query.ir import expressions as ir
from proxy.query.ir.bound_statement import KeyValue
from proxy.query.ir.query import Key
from proxy.query.syntax.selects import Span
from proxy.query.syntax.slices import HINT as _RUN_BY_ITSELF
from proxy.query.syntax.slices import parse

_PLAIN = (ir.ColumnRef, ir.Constant, ir.Parameter)


def argument_of_grouping(context: SelectContext, keys: Sequence[WrittenKey], span: Span) -> Key:
    """
    Refuses  UNSUPPORTED: it is not written as in GROUP BY
    """
    # Before it is read as a column: an expression begins with a column that need be no key.
    found = key_in_other_words(context, keys, span)
    if found is None:
        end, column = column_at(context, keys, span[0])
        found = column if end == span[1] else None
    if found is None:
        raise Refusal(
            Code.UNSUPPORTED,
            "an argument of GROUPING() is not a key as it stands in GROUP BY",
            "Write the key in both places with the same words, e.g. GROUPING(column).",
            context.lexed.lexemes[span[0]].position,
        )
    return found.key


def repeated_key_at(
    context: SelectContext, keys: Sequence[WrittenKey], index: int
) -> tuple[int, KeyValue] | None:
    """A key that is an expression, written again word for word."""
    lexemes = context.lexed.lexemes
    for written in keys:
        end = index + len(written.words)
        if (
            len(written.words) > 1
            and end <= len(lexemes)
            and context.words((index, end)) == written.words
        ):
            return end, KeyValue(written.key)
    return None


def key_in_other_words(
    context: SelectContext, keys: Sequence[WrittenKey], span: Span
) -> KeyValue | None:
    """A key that is an expression, with other qualifiers, brackets or spellings than in GROUP BY."""
    computed = [one.key for one in keys if not isinstance(one.key.expression, _PLAIN)]
    if not computed:
        return None
    try:
        node = parse(context.lexed, span, context.sources.placeholders)
        expression = read_expression(node, context.scope)
    except Refusal:
        return None  # it may have aggregates in it
    for key in computed:
        if key.expression == expression:
            name = declared_type(node, expression, context.scope).type_name
            return KeyValue(key, "" if name == key.type_name else name)
    return None


def column_at(
    context: SelectContext, keys: Sequence[WrittenKey], index: int
) -> tuple[int, KeyValue | None]:
    """A column name: a key is one of the noisy relation, any other column of the table is a refusal."""
    lexed = context.lexed
    lexemes = lexed.lexemes
    if not lexemes[index].name or (index > 0 and is_no_column(lexed, index)):
        return index + 1, None
    last = index
    while (
        last + 2 < len(lexemes)
        and lexemes[last + 1].token.token_type is TokenType.DOT
        and lexemes[last + 2].name
    ):
        last += 2
    name = lexemes[last].name
    qualifier = tuple(lexemes[i].name for i in range(index, last, 2))
    if qualifier and not any(qualifier in r.qualifiers for r in context.scope.relations):
        return last + 1, None
    after = lexemes[last + 1].token.token_type if last + 1 < len(lexemes) else None
    if after in (TokenType.L_PAREN, TokenType.STRING):
        return last + 1, None
    found = context.scope.find(qualifier, name)
    for written in keys:
        if found is not None and written.key.expression == found:
            return last + 1, KeyValue(written.key)
    whole_row = not qualifier and any((name,) in r.qualifiers for r in context.scope.relations)
    if found is not None or whole_row:
        shown = lexed.text[lexemes[index].start : lexemes[last].end]
        is_public = _is_public(context, name)
        whose = "" if is_public else " of a protected table"
        raise Refusal(
            Code.RAW_ROWS,
            f'"{name}"{whose} can only be read inside an aggregate or as a GROUP BY key',
            f"Add it to the keys: GROUP BY ..., {shown}." if keys and is_public else _RUN_BY_ITSELF,
            lexemes[index].position,
        )
    return last + 1, None


def _is_public(context: SelectContext, name: str) -> bool:
    """Whether a column is of a public table: PostgreSQL lets it stand beside the key of that table, and as a
    further key it costs nothing."""
    of = [table.protected for table in context.sources.tables.values() if name in table.columns]
    return bool(of) and not any(of)
